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
//! Three kinds of passes: ranks, by values; takes, by indices; and select. Each is a plain loop over lanes of one width,
//! and from one to the next goes one byte for each partial. So vectors are full whatever the widths of elements and of
//! indices are, and there is one pass for each width, not for each pair of widths.

use super::lanes::{Bytes, CHUNK, Lane, Narrow, Pass, Vectors};
use crate::exec::{Bits, SelectBits, as_bits, as_bits_mut};
use crate::{AxisDirection, DataType, Element, Isa, NanPolicy, Options, ReduceFunction};
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
    pub(super) fn of<T: Element>(here: &'a mut [T], there: &'a [T]) -> Self {
        Sides { here: as_bits_mut(here), there: as_bits(there) }
    }

    /// Those of the other side are bytes, of as many indices.
    pub(super) fn of_indices(here: &'a mut [B], there: &'a [u8]) -> Self
    where
        B: Element + bytemuck::AnyBitPattern,
    {
        Sides::of(here, bytemuck::cast_slice(there))
    }

    /// Whole chunks, and what is left.
    fn split(self) -> (Sides<'a, Chunk<B>>, Sides<'a, Bits<B>>) {
        let (here, last_here) = self.here.as_chunks_mut();
        let (there, last_there) = self.there.as_chunks();
        (Sides { here, there }, Sides { here: last_here, there: last_there })
    }

    /// Less than a chunk, filled up with copies of the first of each side; none if there are none.
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

/// The bytes of both sides that all passes go through before the next do.
const BLOCK_BYTES: usize = 16 << 10;

/// The most chunks in as many bytes: of elements and indices of one byte.
const MAX_CHUNKS: usize = BLOCK_BYTES / 2 / CHUNK / 2;

/// Merges partials, given by elements of width `B` and indices of width `J`.
pub(super) fn merge<B: Width, J: Width>(rule: Rule, values: Sides<'_, Bits<B>>, indices: Sides<'_, Bits<J>>) {
    let vectors = Vectors::of(rule.isa);
    let ((mut values, last_values), (mut indices, last_indices)) = (values.split(), indices.split());
    let chunks = BLOCK_BYTES / 2 / CHUNK / (size_of::<B>() + size_of::<J>());
    let bytes = &mut [[0; CHUNK]; MAX_CHUNKS];
    for (values, indices) in values.blocks(chunks).zip(indices.blocks(chunks)) {
        merge_block(rule, vectors, values, indices, bytes);
    }
    if let (Some([mut value, other_value]), Some([mut index, other_index])) = (last_values.fill(), last_indices.fill())
    {
        let values = Sides { here: from_mut(&mut value), there: &[other_value] };
        merge_block(rule, vectors, values, Sides { here: from_mut(&mut index), there: &[other_index] }, bytes);
        let len = last_values.here.len();
        last_values.here.copy_from_slice(&value[..len]);
        last_indices.here.copy_from_slice(&index[..len]);
    }
}

/// Merges at most [`MAX_CHUNKS`] chunks.
fn merge_block<B: Width, J: Width>(
    rule: Rule,
    vectors: Vectors,
    values: Sides<'_, Chunk<B>>,
    indices: Sides<'_, Chunk<J>>,
    bytes: &mut [Bytes; MAX_CHUNKS],
) {
    let bytes = &mut bytes[..values.here.len()];
    B::rank(rule, vectors, &values, bytes);
    let flip = if rule.options.direction == AxisDirection::Decreasing { J::MAX } else { J::SIGN };
    vectors.run(Take { flip, here: indices.here, there: indices.there, bytes });
    vectors.run(Select { sides: values, takes: bytes });
    vectors.run(Select { sides: indices, takes: bytes });
}

/// An unsigned integer as wide as elements or indices.
pub(super) trait Width: SelectBits {
    /// The signed one.
    type Signed: Lane;
    const SIGN: Self::Signed;
    /// All bits but the sign.
    const MAX: Self::Signed;

    /// Ranks the values of chunks: see [`Order::rank`].
    fn rank(rule: Rule, vectors: Vectors, sides: &Sides<'_, Chunk<Self>>, ranks: &mut [Bytes]);

    /// All bits if the other index is to be taken, or none.
    fn takes(here: Self, there: Self, rank: i8, flip: Self::Signed) -> Self::Signed;
}

macro_rules! widths {
    ($($bits:ident as $signed:ident $(, $float:ident => $order:expr)*;)+) => {$(
        impl Width for $bits {
            type Signed = $signed;
            const SIGN: $signed = $signed::MIN;
            const MAX: $signed = $signed::MAX;

            fn rank(rule: Rule, vectors: Vectors, sides: &Sides<'_, Chunk<$bits>>, ranks: &mut [Bytes]) {
                let (here, there, is_min) = (&*sides.here, sides.there, rule.function == ReduceFunction::ArgMin);
                match rule.data_type {
                    $(DataType::$float => {
                        // Where NaN is the worst, it is the best of the reverse order: that of the sides exchanged.
                        let is_reversed = rule.options.nan_policy == NanPolicy::Ignore;
                        let (here, there) = if is_reversed { (there, here) } else { (here, there) };
                        let order = Floats { flip: if is_min ^ is_reversed { 1 << ($bits::BITS - 1) } else { 0 }, kind: $order };
                        vectors.run(Rank { order, here, there, ranks });
                    })*
                    _ => {
                        let flip = (if is_min { -1 } else { 0 }) ^ (if rule.is_unsigned() { $signed::MIN } else { 0 });
                        vectors.run(Rank { order: Integers { flip }, here, there, ranks });
                    }
                }
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
            fn rank(self, here: $bits, there: $bits) -> $signed {
                let (here, there) = (here as $signed ^ self.flip, there as $signed ^ self.flip);
                -$signed::from(there > here) - $signed::from(there >= here)
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

/// From the bits of two elements to -2 if the other one is better, -1 if both are equal, 0 if it is worse.
trait Order<B: Width>: Copy {
    fn rank(self, here: B, there: B) -> B::Signed;
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
    ($($float:ident: $bits:ident as $signed:ident)+) => {$(
        impl Order<$bits> for Floats<$bits, Full> {
            #[inline(always)]
            fn rank(self, here: $bits, there: $bits) -> $signed {
                let (here, there) = ($float::from_bits(here ^ self.flip), $float::from_bits(there ^ self.flip));
                // Of what is compared with a NaN, only the negation is true.
                let is_better = !(there <= here) & !here.is_nan();
                let is_as_good = !(there < here) & (!here.is_nan() | there.is_nan());
                -$signed::from(is_better) - $signed::from(is_as_good)
            }
        }
    )+};
}
floats!(f32: u32 as i32 f64: u64 as i64);

impl Order<u16> for Floats<u16, Half> {
    #[inline(always)]
    fn rank(self, here: u16, there: u16) -> i16 {
        // The magnitude, negated where the sign is set, so that -0 equals +0; and one key for all NaNs.
        let key = |bits: u16| {
            let bits = (bits ^ self.flip) as i16;
            let (magnitude, sign) = (bits & i16::MAX, bits >> 15);
            if magnitude > self.kind.infinity { i16::MAX } else { (magnitude ^ sign) - sign }
        };
        Integers { flip: 0_i16 }.rank(key(here) as u16, key(there) as u16)
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
                lanes[n] = self.order.rank(here[n].get(), there[n].get());
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
                better[n] = B::select(here[n], there[n], takes[n]);
            }
            *here = better;
        }
    }
}
