//! Which of two partial answers is better, many at a time, without a branch that depends on data. Nothing here knows
//! where the answers came from.
//!
//! ```text
//! for each partial:
//!     here, there = key(value), key(other value)       in whose order the better is larger: NaN and -0 included
//!     before = other index < index, or > for the last of equals
//!     takes  = (there > here, or there = here and before, or nothing here yet) and something there
//!     value, index = select(takes, other value, value), select(takes, other index, index)
//! ```
//!
//! One loop, which the compiler turns into vectors of the ISA. All is there once for each width of elements and of
//! indices, for integers and for floats: keys are as wide as the elements.

use crate::exec::Bits;
use crate::index::{Indices, for_width};
use crate::{AxisDirection, DataType, Index, Isa, NanPolicy, Options, ReduceFunction};
use argreduce_kernels::IndexBits;
use std::ops::BitXor;

/// What the better of two depends on, beside the two; and the vectors to use.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) data_type: DataType,
    pub(super) function: ReduceFunction,
    pub(super) options: Options,
    pub(super) isa: Isa,
}

impl Rule {
    /// Of a float: the bits of infinity.
    fn infinity(self) -> Option<u64> {
        Some(match self.data_type {
            DataType::F16 => half::f16::INFINITY.to_bits().into(),
            DataType::Bf16 => half::bf16::INFINITY.to_bits().into(),
            DataType::F32 => f32::INFINITY.to_bits().into(),
            DataType::F64 => f64::INFINITY.to_bits(),
            _ => return None,
        })
    }

    fn is_unsigned(self) -> bool {
        matches!(self.data_type, DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64 | DataType::Bool)
    }
}

/// An integer as wide as an element. (No generic function, so that its code is in this crate, and once.)
pub(super) trait Width: Copy {
    /// Merges elements of that width. The indices of the other side are bytes, of the type that those of this one have.
    fn merge(
        rule: Rule,
        values: &mut [Bits<Self>],
        indices: Indices<'_>,
        other_values: &[Bits<Self>],
        other_indices: &[u8],
    );
}

macro_rules! widths {
    ($($bits:ident as $key:ident)+) => {$(
        impl Width for $bits {
            fn merge(
                rule: Rule,
                values: &mut [Bits<$bits>],
                mut indices: Indices<'_>,
                other_values: &[Bits<$bits>],
                other_indices: &[u8],
            ) {
                let flip = if rule.function == ReduceFunction::ArgMin { -1 } else { 0 };
                let sign = if rule.is_unsigned() { $key::MIN } else { 0 };
                let nan = if rule.options.nan_policy == NanPolicy::Propagate { $key::MAX } else { $key::MIN };
                for_width!(&mut indices, indices => {
                    let indices = indices.all();
                    let other_indices = bytemuck::cast_slice(other_indices);
                    match rule.infinity() {
                        None => {
                            let keys = IntegerKeys { flip: flip ^ sign };
                            vectorize(rule, Sides { keys, values, indices, other_values, other_indices });
                        }
                        Some(infinity) => {
                            let keys = FloatKeys { infinity: infinity as $key, nan: nan ^ flip, flip };
                            vectorize(rule, Sides { keys, values, indices, other_values, other_indices });
                        }
                    }
                });
            }
        }

        impl Keys<$bits> for IntegerKeys<$key> {
            type Key = $key;

            #[inline(always)]
            fn key(self, bits: $bits) -> $key {
                bits as $key ^ self.flip
            }
        }

        impl Keys<$bits> for FloatKeys<$key> {
            type Key = $key;

            #[inline(always)]
            fn key(self, bits: $bits) -> $key {
                let (magnitude, sign) = (bits as $key & $key::MAX, bits as $key >> ($key::BITS - 1));
                let number = (magnitude ^ sign).wrapping_sub(sign);
                (if magnitude > self.infinity { self.nan } else { number }) ^ self.flip
            }
        }
    )+};
}
widths!(u8 as i8 u16 as i16 u32 as i32 u64 as i64);

/// From the bits of an element to an integer as wide, in whose order the better element is larger: as
/// [`argreduce_kernels::key`], whose integers are wider.
trait Keys<B>: Copy {
    type Key: Ord;
    fn key(self, bits: B) -> Self::Key;
}

/// Keys of integers.
#[derive(Clone, Copy)]
struct IntegerKeys<K> {
    /// All bits, where the smaller is better; and the sign, where numbers have none.
    flip: K,
}

/// Keys of floats: the magnitude, negated where the sign is set, so that -0 equals +0; and one key for all NaNs.
#[derive(Clone, Copy)]
struct FloatKeys<K> {
    infinity: K,
    /// Before it is flipped.
    nan: K,
    flip: K,
}

/// How many partials are merged at a time: enough that the compiler makes a loop of it.
pub(super) const BLOCK: usize = 256;

/// What is to be merged: slices of one length.
struct Sides<'a, B, J, C> {
    keys: C,
    values: &'a mut [Bits<B>],
    indices: &'a mut [J],
    other_values: &'a [Bits<B>],
    other_indices: &'a [J],
}

/// The same, with what a loop over it needs. If `COPIES`, each block is copied before it is written: where a store
/// under a mask is slow, the compiler must not see that the old value is there already.
struct Loop<'a, B, J, C, const COPIES: bool> {
    sides: Sides<'a, B, J, C>,
    order: Order<C, J>,
}

/// Which of two partials is better.
#[derive(Clone, Copy)]
struct Order<C, J> {
    keys: C,
    /// What indices are xored with, so that the smaller wins ties.
    index_flip: J,
    /// The index of nothing.
    none: J,
}

impl<C, J: Copy + Ord + BitXor<Output = J>> Order<C, J> {
    /// The better of two partials.
    #[inline(always)]
    fn better<B: Copy>(self, here: (Bits<B>, J), there: (Bits<B>, J)) -> (Bits<B>, J)
    where
        C: Keys<B>,
    {
        let (key, other_key) = (self.keys.key(here.0.get()), self.keys.key(there.0.get()));
        let is_before = (there.1 ^ self.index_flip) < (here.1 ^ self.index_flip);
        let is_better = (other_key > key) | ((other_key == key) & is_before) | (here.1 == self.none);
        let takes = is_better & (there.1 != self.none);
        (if takes { there.0 } else { here.0 }, if takes { there.1 } else { here.1 })
    }
}

impl<B, J, C, const COPIES: bool> pulp::NullaryFnOnce for Loop<'_, B, J, C, COPIES>
where
    B: Copy,
    J: Copy + Ord + BitXor<Output = J>,
    C: Keys<B>,
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Loop { order, sides: Sides { values, indices, other_values, other_indices, .. } } = self;
        let (values, last_values) = values.as_chunks_mut::<BLOCK>();
        let (indices, last_indices) = indices.as_chunks_mut::<BLOCK>();
        let (other_values, last_other_values) = other_values.as_chunks::<BLOCK>();
        let (other_indices, last_other_indices) = other_indices.as_chunks::<BLOCK>();
        let others = other_values.iter().zip(other_indices);
        for ((values, indices), (other_values, other_indices)) in values.iter_mut().zip(indices).zip(others) {
            if COPIES {
                let (old_values, old_indices) = (*values, *indices);
                for n in 0..BLOCK {
                    let there = (other_values[n], other_indices[n]);
                    (values[n], indices[n]) = order.better((old_values[n], old_indices[n]), there);
                }
            } else {
                for n in 0..BLOCK {
                    let there = (other_values[n], other_indices[n]);
                    (values[n], indices[n]) = order.better((values[n], indices[n]), there);
                }
            }
        }
        let others = last_other_values.iter().zip(last_other_indices);
        for ((value, index), (&other_value, &other_index)) in last_values.iter_mut().zip(last_indices).zip(others) {
            (*value, *index) = order.better((*value, *index), (other_value, other_index));
        }
    }
}

/// Merges inside a function that has the ISA's target features, or without any.
fn vectorize<B, J, C>(rule: Rule, sides: Sides<'_, B, J, C>)
where
    B: Copy,
    J: Index + IndexBits + BitXor<Output = J>,
    C: Keys<B>,
{
    let index_flip = if rule.options.direction == AxisDirection::Decreasing { J::NONE } else { J::default() };
    let order = Order { keys: sides.keys, index_flip, none: J::NONE };
    #[cfg(target_arch = "x86_64")]
    {
        if rule.isa == Isa::Avx512
            && let Some(simd) = pulp::x86::V4::try_new()
        {
            return simd.vectorize(Loop::<_, _, _, false> { sides, order });
        }
        if rule.isa == Isa::Avx2
            && let Some(simd) = pulp::x86::V3::try_new()
        {
            return simd.vectorize(Loop::<_, _, _, true> { sides, order });
        }
    }
    #[cfg(target_arch = "aarch64")]
    if rule.isa == Isa::Neon
        && let Some(simd) = pulp::aarch64::Neon::try_new()
    {
        return simd.vectorize(Loop::<_, _, _, false> { sides, order });
    }
    pulp::NullaryFnOnce::call(Loop::<_, _, _, false> { sides, order });
}
