//! A greedy sampler whose vocabulary is sharded over the ranks: each finds the best of its own logits, and an
//! all-reduce merges what they found. Nothing here knows how many ranks there are, or how they share the vocabulary.
//!
//! ```text
//! once:       plan      the shard as a window of the whole [batch, vocabulary]
//!             datatype  the fields of a partial answer, so that its padding is not sent
//!             merge     this crate's merge, as a commutative operation of MPI
//! each step:  partials  (logit, token) of each sequence, in this shard
//!             best      the all-reduce of these
//! ```

use argreduce::{ArgReduce, Element, Error, Layout, Merge, Options, Partial, Plan, f16};
use mpi::collective::UserOperation;
use mpi::datatype::{DynBuffer, DynBufferMut, SystemDatatype, UserDatatype};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence};
use mpi::{Address, Count};
use std::mem::offset_of;
use std::ops::Range;
use std::slice;

/// The type of a token: an index in the vocabulary.
pub type Token = u32;

/// The best logit of a sequence so far, and its token.
pub type Best<T> = Partial<T, Token>;

/// A type of logits, and what MPI knows it as.
pub trait Logit: Element {
    fn datatype() -> SystemDatatype;
}

impl Logit for f32 {
    fn datatype() -> SystemDatatype {
        f32::equivalent_datatype()
    }
}

impl Logit for f16 {
    /// MPI has no 16-bit floats. It moves the bits, and leaves comparing to the operation.
    fn datatype() -> SystemDatatype {
        u16::equivalent_datatype()
    }
}

/// One rank's part of a greedy sampler.
pub struct Sampler<'a, T: Logit> {
    world: &'a SimpleCommunicator,
    plan: Plan<T, Token>,
    datatype: UserDatatype,
    merge: UserOperation<'static>,
    partials: Vec<Best<T>>,
    best: Vec<Best<T>>,
}

impl<'a, T: Logit> Sampler<'a, T> {
    /// For logits `[batch, vocabulary]`, of which this rank has `[batch, shard]`, packed. Shards may differ in size,
    /// and be empty, but together they have to be the vocabulary; `options`, `batch` and `vocabulary` are the same on
    /// all ranks.
    ///
    /// # Errors
    /// Those of [`ArgReduce::plan`].
    pub fn new(
        world: &'a SimpleCommunicator,
        options: Options,
        [batch, vocabulary]: [usize; 2],
        shard: Range<usize>,
    ) -> Result<Self, Error> {
        let layout = Layout::contiguous(&[batch, shard.len()])?;
        let reduce = ArgReduce::argmax(&layout).axes(&[1]).options(options);
        let plan = reduce.window(&[batch, vocabulary], &[0, shard.start]).plan()?;
        let (datatype, merge, none) = (datatype::<T>(), operation::<T>(plan.merge()), vec![Best::NONE; batch]);
        Ok(Sampler { world, plan, datatype, merge, partials: none.clone(), best: none })
    }

    /// The best logit and its token, for each sequence: the same on all ranks. All of them have to call this.
    ///
    /// # Errors
    /// [`Error::TooShort`] for fewer logits than the shard has. The other ranks wait then: whoever runs them has to end
    /// them all.
    ///
    /// # Panics
    /// If there are as many sequences as 32 bits do not count.
    pub fn sample(&mut self, logits: &[T]) -> Result<&[Best<T>], Error> {
        self.plan.run(logits, &mut self.partials)?;
        let count = self.count();
        // SAFETY: Both hold `count` partials, of which the datatype is, and live until the all-reduce is over.
        let (partials, mut best) = unsafe {
            (
                DynBuffer::from_raw(self.partials.as_ptr(), count, self.datatype.as_ref()),
                DynBufferMut::from_raw(self.best.as_mut_ptr(), count, self.datatype.as_ref()),
            )
        };
        self.world.all_reduce_into(&partials, &mut best, &self.merge);
        Ok(&self.best)
    }

    fn count(&self) -> Count {
        self.best.len().try_into().expect("MPI counts in 32 bits")
    }

    /// How many bytes a message with the partial answers of all sequences has.
    pub fn message_bytes(&self) -> usize {
        self.world.pack_size(self.count(), &self.datatype) as usize
    }
}

/// The two fields of a partial answer, as MPI sees them: what lies between them is not sent.
fn datatype<T: Logit>() -> UserDatatype {
    // With the token last, and nothing wider before it, a partial ends where MPI takes it to end.
    const { assert!(offset_of!(Best<T>, index) + size_of::<Token>() == size_of::<Best<T>>()) };
    let offsets = [offset_of!(Best<T>, value) as Address, offset_of!(Best<T>, index) as Address];
    UserDatatype::structured(&[1, 1], &offsets, &[T::datatype(), Token::equivalent_datatype()])
}

/// What merges partial answers, as an operation of MPI. It is commutative, so that MPI may merge as it likes.
fn operation<T: Logit>(merge: Merge) -> UserOperation<'static> {
    UserOperation::commutative(move |other, mut acc| {
        if acc.is_empty() {
            return;
        }
        let (other, other_len, acc_len) = (other.as_ptr().cast::<Best<T>>(), other.len(), acc.len());
        let acc = acc.as_mut_ptr().cast::<Best<T>>();
        assert!(other.is_aligned() && acc.is_aligned(), "MPI has buffers of its own, aligned for any type");
        // SAFETY: MPI calls this in an all-reduce of partials only, with two buffers of that many; they do not overlap.
        let (acc, other) =
            unsafe { (slice::from_raw_parts_mut(acc, acc_len), slice::from_raw_parts(other, other_len)) };
        merge.partials(acc, other).expect("two buffers of one length, and the plan's ISA");
    })
}
