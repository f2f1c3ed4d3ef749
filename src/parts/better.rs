//! Which of two partial answers is better, many at a time, without a branch that depends on data. Nothing here knows
//! where the answers came from.
//!
//! ```text
//! for each block of partials, which the L1 cache holds:
//!     ranks   = -2 where the other value is better, -1 where both are equal, 0 where it is worse
//!     before  = other index < index, or > for the last of equals
//!     takes   = (rank -2, or rank -1 and before, or nothing here yet) and something there
//!     values  = select(takes, other values, values)
//!     indices = select(takes, other indices, indices)
//! ```
//!
//! Three kinds of passes: ranks, by values; takes, by indices; and select. Each is a plain loop over lanes of one
//! width, and from one to the next goes one byte for each partial. So vectors are full whatever the widths of elements
//! and of indices are, and there is one pass for each width, not for each pair of widths. Where vectors have masks of
//! one bit for each lane, whatever its width, all is one loop.

use super::lanes::{Bytes, CHUNK, Lane, Narrow, Pass, Vectors};
use crate::exec::Bits;
use crate::{AxisDirection, DataType, Isa, NanPolicy, Options, ReduceFunction};
use std::ops::{BitAnd, BitXor};
use std::slice::from_mut;

/// What the better of two depends on, beside the two; and the vectors to use.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) data_type: DataType,
    pub(super) function: ReduceFunction,
    pub(super) options: Options,
    pub(super) isa: Isa,
}

impl Rule {
    fn is_unsigned(self) -> bool {
        matches!(self.data_type, DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64 | DataType::Bool)
    }
}

/// Lanes of a chunk.
type Chunk<B> = [Bits<B>; CHUNK];

/// The values or the indices of both sides: slices of one length. The better of two goes to `here`.
pub(super) struct Sides<'a, X> {
    pub(super) here: &'a mut [X],
    pub(super) there: &'a [X],
}

impl<'a, B: Copy> Sides<'a, Bits<B>> {
    /// Whole chunks, and what is left.
    fn split(self) -> (Sides<'a, Chunk<B>>, Sides<'a, Bits<B>>) {
        let (here, last_here) = self.here.as_chunks_mut();
        let (there, last_there) = self.there.as_chunks();
        (Sides { here, there }, Sides { here: last_here, there: last_there })
    }

    /// Less than a chunk, filled up with copies of the first of each side; none if there are none.
    #[inline(never)]
    fn fill(&self) -> Option<[Chunk<B>; 2]> {
        let fill = |lanes: &[Bits<B>]| {
            let mut chunk = [*lanes.first()?; CHUNK];
            chunk[..lanes.len()].copy_from_slice(lanes);
            Some(chunk)
        };
        Some([fill(self.here)?, fill(self.there)?])
    }
}

impl<B> Sides<'_, Chunk<B>> {
    /// Some chunks at a time.
    fn blocks(&mut self, chunks: usize) -> impl Iterator<Item = Sides<'_, Chunk<B>>> {
        let others = self.there.chunks(chunks);
        self.here.chunks_mut(chunks).zip(others).map(|(here, there)| Sides { here, there })
    }
}

/// The bytes of both sides that all passes go through before the next do. See docs/tuning.md#not-measured.
const BLOCK_BYTES: usize = 16 << 10;

/// The most chunks in as many bytes: of elements and indices of one byte.
const MAX_CHUNKS: usize = BLOCK_BYTES / 2 / CHUNK / 2;

/// Merges partials, given by elements of width `B` and indices of width `J`.
pub(super) fn merge<B: Width, J: Width>(rule: Rule, values: Sides<'_, Bits<B>>, indices: Sides<'_, Bits<J>>) {
    let ((values, last_values), (indices, last_indices)) = (values.split(), indices.split());
    if !values.here.is_empty() {
        merge_chunks(rule, values, indices);
    }
    if let (Some([mut value, other_value]), Some([mut index, other_index])) = (last_values.fill(), last_indices.fill())
    {
        let values = Sides { here: from_mut(&mut value), there: &[other_value] };
        merge_chunks(rule, values, Sides { here: from_mut(&mut index), there: &[other_index] });
        let len = last_values.here.len();
        last_values.here.copy_from_slice(&value[..len]);
        last_indices.here.copy_from_slice(&index[..len]);
    }
}

/// Merges whole chunks. Outlined, because there are two calls.
#[inline(never)]
fn merge_chunks<B: Width, J: Width>(rule: Rule, mut values: Sides<'_, Chunk<B>>, mut indices: Sides<'_, Chunk<J>>) {
    let vectors = Vectors::of(rule.isa);
    let chunks = BLOCK_BYTES / 2 / CHUNK / (size_of::<B>() + size_of::<J>());
    let flip = if rule.options.direction == AxisDirection::Decreasing { J::MAX } else { J::SIGN };
    let bytes = &mut [[0; CHUNK]; MAX_CHUNKS];
    for (values, indices) in values.blocks(chunks).zip(indices.blocks(chunks)) {
        B::with_order(rule, Block { vectors, values, indices, flip, bytes });
    }
}

/// At most [`MAX_CHUNKS`] chunks.
struct Block<'a, B, J: Width> {
    vectors: Vectors,
    values: Sides<'a, Chunk<B>>,
    indices: Sides<'a, Chunk<J>>,
    /// What indices are xored with, so that the smaller one, as signed numbers, wins ties.
    flip: J::Signed,
    /// One for each partial.
    bytes: &'a mut [Bytes; MAX_CHUNKS],
}

impl<B: Width, J: Width> WithOrder<B> for Block<'_, B, J> {
    fn run<O: Order<B>>(self, order: O, is_reversed: bool) {
        let Block { vectors, values, indices, flip, bytes } = self;
        let at_once = AtOnce { order, is_reversed, values, indices, flip };
        let Err(AtOnce { values, indices, .. }) = vectors.run_by_masks(at_once) else { return };
        let bytes = &mut bytes[..values.here.len()];
        let (here, there) = if is_reversed { (values.there, &*values.here) } else { (&*values.here, values.there) };
        vectors.run(Rank { order, here, there, ranks: bytes });
        vectors.run(Take { flip, here: indices.here, there: indices.there, bytes });
        vectors.run(Select { sides: values, takes: bytes });
        vectors.run(Select { sides: indices, takes: bytes });
    }
}

/// All passes as one, for vectors that have masks of their own, which go with lanes of any width.
struct AtOnce<'a, B, J: Width, O> {
    order: O,
    is_reversed: bool,
    values: Sides<'a, Chunk<B>>,
    indices: Sides<'a, Chunk<J>>,
    flip: J::Signed,
}

impl<B: Width, J: Width, O: Order<B>> Pass for AtOnce<'_, B, J, O> {
    #[inline(always)]
    fn run<N: Narrow>(self, _: N) {
        let AtOnce { order, is_reversed, values, indices, flip } = self;
        let values = values.here.as_flattened_mut().iter_mut().zip(values.there.as_flattened());
        let indices = indices.here.as_flattened_mut().iter_mut().zip(indices.there.as_flattened());
        for ((value, other_value), (index, other_index)) in values.zip(indices) {
            let (here, there) = if is_reversed { (*other_value, *value) } else { (*value, *other_value) };
            let better = order.compare(here.get(), there.get());
            let takes = J::is_taken(index.get(), other_index.get(), better, flip);
            (*value, *index) = if takes { (*other_value, *other_index) } else { (*value, *index) };
        }
    }
}

/// An unsigned integer as wide as elements or indices.
pub(super) trait Width: Copy + BitAnd<Output = Self> + BitXor<Output = Self> {
    /// The signed one.
    type Signed: Lane;
    const SIGN: Self::Signed;
    /// All bits but the sign.
    const MAX: Self::Signed;

    /// Goes on with the order of the values.
    fn with_order<W: WithOrder<Self>>(rule: Rule, with: W);

    /// -2 for the better, -1 for what is as good, 0 for the worse.
    fn rank(is_better: bool, is_as_good: bool) -> Self::Signed;

    /// All bits if the other index is to be taken, or none.
    fn takes(here: Self, there: Self, rank: i8, flip: Self::Signed) -> Self::Signed;

    /// As many bits, all set or none.
    fn mask(takes: i8) -> Self;

    /// Whether the other index is to be taken.
    fn is_taken(here: Self, there: Self, better: (bool, bool), flip: Self::Signed) -> bool;
}

/// What goes on with an order; if that is reversed, with the sides exchanged.
pub(super) trait WithOrder<B> {
    fn run<O: Order<B>>(self, order: O, is_reversed: bool);
}

macro_rules! widths {
    ($($bits:ident as $signed:ident $(, $float:ident => $order:expr)*;)+) => {$(
        impl Width for $bits {
            type Signed = $signed;
            const SIGN: $signed = $signed::MIN;
            const MAX: $signed = $signed::MAX;

            fn with_order<W: WithOrder<$bits>>(rule: Rule, with: W) {
                let is_min = rule.function == ReduceFunction::ArgMin;
                match rule.data_type {
                    $(DataType::$float => {
                        // Where NaN is the worst, it is the best of the reverse order: that of the sides exchanged.
                        let is_reversed = rule.options.nan_policy == NanPolicy::Ignore;
                        let flip = if is_min ^ is_reversed { 1 << ($bits::BITS - 1) } else { 0 };
                        with.run(Floats { flip, kind: $order }, is_reversed);
                    })*
                    _ => {
                        let flip = (if is_min { -1 } else { 0 }) ^ (if rule.is_unsigned() { $signed::MIN } else { 0 });
                        with.run(Integers { flip }, false);
                    }
                }
            }

            #[inline(always)]
            fn mask(takes: i8) -> $bits {
                takes as $bits
            }

            #[inline(always)]
            fn rank(is_better: bool, is_as_good: bool) -> $signed {
                -$signed::from(is_better) - $signed::from(is_as_good)
            }

            #[inline(always)]
            fn is_taken(here: $bits, there: $bits, (is_better, is_as_good): (bool, bool), flip: $signed) -> bool {
                let is_before = (there as $signed ^ flip) < (here as $signed ^ flip);
                (is_better | (is_as_good & is_before) | (here == $bits::MAX)) & (there != $bits::MAX)
            }

            #[inline(always)]
            fn takes(here: $bits, there: $bits, rank: i8, flip: $signed) -> $signed {
                let is_before = (there as $signed ^ flip) < (here as $signed ^ flip);
                let is_better = ($signed::from(rank) - $signed::from(is_before)) < -1;
                -$signed::from((is_better | (here == $bits::MAX)) & (there != $bits::MAX))
            }
        }

        impl Order<$bits> for Integers<$signed> {
            #[inline(always)]
            fn compare(self, here: $bits, there: $bits) -> (bool, bool) {
                let (here, there) = (here as $signed ^ self.flip, there as $signed ^ self.flip);
                (there > here, there >= here)
            }
        }
    )+};
}
widths! {
    u8 as i8;
    u16 as i16, F16 => Half { infinity: 0x7c00 }, Bf16 => Half { infinity: 0x7f80 };
    u32 as i32, F32 => Full;
    u64 as i64, F64 => Full;
}

/// From the bits of two elements to whether the other one is better, and whether it is as good or better.
pub(super) trait Order<B>: Copy {
    fn compare(self, here: B, there: B) -> (bool, bool);
}

/// That of integers: the larger is better, once these bits are flipped. All, where the smaller is better; and the sign,
/// where numbers have none.
#[derive(Clone, Copy)]
struct Integers<K> {
    flip: K,
}

/// That of floats: any NaN is better than all numbers, and of these the larger, once the sign is flipped.
#[derive(Clone, Copy)]
struct Floats<B, F> {
    flip: B,
    kind: F,
}

/// Floats of 32 and 64 bits.
#[derive(Clone, Copy)]
struct Full;

/// Floats of 16 bits: what is above infinity is NaN.
#[derive(Clone, Copy)]
struct Half {
    infinity: i16,
}

macro_rules! floats {
    ($($float:ident: $bits:ident)+) => {$(
        impl Order<$bits> for Floats<$bits, Full> {
            #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "what is compared with a NaN is wanted: see below")]
            #[inline(always)]
            fn compare(self, here: $bits, there: $bits) -> (bool, bool) {
                let (here, there) = ($float::from_bits(here ^ self.flip), $float::from_bits(there ^ self.flip));
                // Of what is compared with a NaN, only the negation is true.
                let is_better = !(there <= here) & !here.is_nan();
                (is_better, !(there < here) & (!here.is_nan() | there.is_nan()))
            }
        }
    )+};
}
floats!(f32: u32 f64: u64);

impl Order<u16> for Floats<u16, Half> {
    #[inline(always)]
    fn compare(self, here: u16, there: u16) -> (bool, bool) {
        // The magnitude, negated where the sign is set, so that -0 equals +0; and one key for all NaNs.
        let [here, there] = [here, there].map(|bits| {
            let bits = (bits ^ self.flip) as i16;
            let (magnitude, sign) = (bits & i16::MAX, bits >> 15);
            let nan = -i16::from(magnitude > self.kind.infinity);
            (((magnitude ^ sign) - sign) & !nan) | (i16::MAX & nan)
        });
        (there > here, there >= here)
    }
}

/// Ranks, by the values of both sides.
struct Rank<'a, B, O> {
    order: O,
    here: &'a [Chunk<B>],
    there: &'a [Chunk<B>],
    ranks: &'a mut [Bytes],
}

impl<B: Width, O: Order<B>> Pass for Rank<'_, B, O> {
    #[inline(always)]
    fn run<N: Narrow>(self, narrow: N) {
        for ((here, there), ranks) in self.here.iter().zip(self.there).zip(self.ranks) {
            let mut lanes = [B::Signed::from(0); CHUNK];
            for n in 0..CHUNK {
                let (is_better, is_as_good) = self.order.compare(here[n].get(), there[n].get());
                lanes[n] = B::rank(is_better, is_as_good);
            }
            *ranks = narrow.narrow(lanes);
        }
    }
}

/// From ranks to whether the other partial is to be taken, by the indices of both sides.
struct Take<'a, J: Width> {
    /// What indices are xored with, so that the smaller one, as signed numbers, wins ties.
    flip: J::Signed,
    here: &'a [Chunk<J>],
    there: &'a [Chunk<J>],
    bytes: &'a mut [Bytes],
}

impl<J: Width> Pass for Take<'_, J> {
    #[inline(always)]
    fn run<N: Narrow>(self, narrow: N) {
        for ((here, there), bytes) in self.here.iter().zip(self.there).zip(self.bytes) {
            let mut lanes = [J::Signed::from(0); CHUNK];
            for n in 0..CHUNK {
                lanes[n] = J::takes(here[n].get(), there[n].get(), bytes[n], self.flip);
            }
            *bytes = narrow.narrow(lanes);
        }
    }
}

/// The values or the indices of those that are taken.
struct Select<'a, B> {
    sides: Sides<'a, Chunk<B>>,
    takes: &'a [Bytes],
}

impl<B: Width> Pass for Select<'_, B> {
    #[inline(always)]
    fn run<N: Narrow>(self, _: N) {
        for ((here, there), takes) in self.sides.here.iter_mut().zip(self.sides.there).zip(self.takes) {
            // Not in place: the compiler does not know that nothing else is there.
            let mut better = *here;
            for n in 0..CHUNK {
                better[n] = Bits::select(here[n], there[n], B::mask(takes[n]));
            }
            *here = better;
        }
    }
}
