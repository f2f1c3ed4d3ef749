//! Merging on one ISA: values of a type with indices of every width, by every order, of any length, against the rule as
//! plain code; nothing beyond the pairs is touched, and values keep their bits.

use crate::case::Sample;
use argreduce_guard::{Edge, Guarded, few};
use argreduce_kernels::NanPolicy::{self, Ignore, Propagate};
use argreduce_kernels::ReduceFunction::{self, ArgMax, ArgMin};
use argreduce_kernels::{Isa, better, merger};
use bytemuck::{Pod, cast_slice};
use std::fmt::Debug;

/// A function, a policy, and whether the last of equals wins.
type Order = (ReduceFunction, NanPolicy, bool);

/// An unsigned integer that indices are bits of.
pub trait IndexBits: Pod + Ord + Debug {
    const NONE: Self;
    fn of(n: usize) -> Self;
}

macro_rules! index_bits {
    ($($t:ident)+) => {$(
        impl IndexBits for $t {
            const NONE: $t = $t::MAX;

            /// Half of them small, the others in the upper half of all.
            fn of(n: usize) -> $t {
                if n % 2 == 0 { (n % 100) as $t } else { $t::MAX - (n % 100) as $t }
            }
        }
    )+};
}
index_bits!(u8 u16 u32 u64);

pub fn check<T: Sample>(isa: Isa) {
    check_with::<T, u8>(isa);
    check_with::<T, u16>(isa);
    check_with::<T, u32>(isa);
    check_with::<T, u64>(isa);
}

pub fn check_with<T: Sample, I: IndexBits>(isa: Isa) {
    let group = isa.vector_bytes();
    // A batch: see `BATCH_BYTES` of `merge.rs`.
    let batch = (8 << 10) / (size_of::<T>() + size_of::<I>()) / 64 * 64;
    let orders = [ArgMin, ArgMax]
        .map(|function| [Propagate, Ignore].map(|policy| [(function, policy, false), (function, policy, true)]));
    for &order in few(0..8, 3).map(|n| &orders.as_flattened().as_flattened()[n]) {
        for len in few(0..2 * group + 3, 13).chain(few(batch - 1..batch + 2, 3)).chain([2 * batch + group + 5]) {
            check_len::<T, I>(isa, order, len);
        }
    }
}

fn check_len<T: Sample, I: IndexBits>(isa: Isa, order: Order, len: usize) {
    // Every value meets every other one, and nothing, with indices of either order.
    let value = |n: usize| T::SPECIAL[n % T::SPECIAL.len()];
    let side = |step: usize, shift: usize| -> (Vec<T>, Vec<I>) {
        let at = |n: usize| n / step + n * 5 + shift + len;
        let index = |n: usize| if at(n) % 9 == 0 { I::NONE } else { I::of(at(n) * 7 % 89) };
        ((0..len).map(|n| value(at(n))).collect(), (0..len).map(index).collect())
    };
    let (here, there) = (side(7, 3), side(3, 0));
    let pairs = |(values, indices): &(Vec<T>, Vec<I>)| -> Vec<(T, I)> {
        values.iter().copied().zip(indices.iter().copied()).collect()
    };
    let merged = pairs(&here).into_iter().zip(pairs(&there)).map(|(here, there)| better_of(order, here, there));
    let (expected, expected_indices): (Vec<T>, Vec<I>) = merged.unzip();

    let (function, policy, last) = order;
    let Some(merger) = merger(isa, T::DATA_TYPE, size_of::<I>(), function, policy, last) else {
        assert!(!T::DATA_TYPE.has_kernels(), "the machine has the ISA");
        return;
    };
    for edge in Edge::ALL {
        let (mut values, mut indices) = (Guarded::copy_of(&here.0, edge), Guarded::copy_of(&here.1, edge));
        let (others, other_indices) = (Guarded::copy_of(&there.0, edge), Guarded::copy_of(&there.1, edge));
        let to = [values.as_mut_ptr().cast(), indices.as_mut_ptr().cast()];
        // SAFETY: all of them are of these types, and `len` long.
        unsafe { merger.merge(len, to, [others.as_ptr().cast(), other_indices.as_ptr().cast()]) };
        let bytes = |values: &[T]| -> Vec<u8> { cast_slice(values).to_vec() };
        assert!(
            bytes(&values) == bytes(&expected) && indices[..] == expected_indices[..],
            "{order:?} of {len} {} and {} by {isa}: {values:?} {indices:?} of {here:?} and {there:?}, instead of \
             {expected:?} {expected_indices:?}",
            T::DATA_TYPE,
            std::any::type_name::<I>(),
            values = &values[..],
            indices = &indices[..],
        );
    }
}

/// The rule: nothing loses, then the better value wins, then the first index, or the last.
fn better_of<T: Sample, I: IndexBits>(order: Order, here: (T, I), there: (T, I)) -> (T, I) {
    let (function, policy, last) = order;
    let takes = if here.1 == I::NONE || there.1 == I::NONE {
        there.1 != I::NONE
    } else if better(function, policy, there.0, here.0) || better(function, policy, here.0, there.0) {
        better(function, policy, there.0, here.0)
    } else if last {
        there.1 > here.1
    } else {
        there.1 < here.1
    };
    if takes { there } else { here }
}

#[test]
#[should_panic(expected = "indices of 3 bytes")]
fn indices_of_another_size() {
    merger(Isa::Portable, argreduce_kernels::DataType::F32, 3, ArgMax, Propagate, false);
}
