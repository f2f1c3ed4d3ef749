//! The crate argminmax, by the instruction set of the kernels that it is compared with: by AVX2 it is what a machine
//! without AVX-512 has. Knows nothing of shapes or of time.

use argreduce::{ArgReduce, Isa, Layout, NanPolicy, ReduceFunction};
use half::{bf16, f16};
use std::sync::LazyLock;

pub trait Peer: Sized + 'static {
    /// Its answer for one slice after another, with the same rule for NaN. It has no axes, so a call per row is what
    /// its user writes.
    fn peer<'a>(
        rows: impl Iterator<Item = &'a [Self]>,
        function: ReduceFunction,
        policy: NanPolicy,
        indices: &mut [u32],
    );
}

/// Whether kernels run by AVX2, so that its choice is made for it: it knows no way to ask for less than the machine
/// has.
static IS_AVX2: LazyLock<bool> = LazyLock::new(|| {
    let layout = Layout::contiguous(&[1]).expect("a size");
    let plan = ArgReduce::argmax(&layout).axes(&[0]).plan::<u8, u32>();
    plan.is_ok_and(|plan| plan.isa() == Isa::Avx2)
});

/// Each call has a loop of its own, so that choosing it costs nothing per row.
fn answer_each<'a, T: 'a>(rows: impl Iterator<Item = &'a [T]>, indices: &mut [u32], call: impl Fn(&'a [T]) -> usize) {
    for (row, index) in rows.zip(indices) {
        *index = call(row) as u32;
    }
}

macro_rules! peers {
    ($($t:ident: $set:ident, $propagate:ident.$policy_max:ident, $policy_min:ident, $ignore:ident;)+) => {$(
        impl Peer for $t {
            fn peer<'a>(
                rows: impl Iterator<Item = &'a [Self]>,
                function: ReduceFunction,
                policy: NanPolicy,
                indices: &mut [u32],
            ) {
                #[cfg(target_arch = "x86_64")]
                if *IS_AVX2 {
                    use argminmax::dtype_strategy::*;
                    use argminmax::simd::*;
                    /// A call with the question that its dispatch asks.
                    macro_rules! call {
                        ($strategy:ident, $function:ident) => {
                            answer_each(rows, indices, |row| {
                                assert!(is_x86_feature_detected!("avx2"));
                                // SAFETY: AVX2 is there, and SSE4.1 with it.
                                unsafe { $set::<$strategy>::$function(row) }
                            })
                        };
                    }
                    return match (function, policy) {
                        (ReduceFunction::ArgMax, NanPolicy::Propagate) => call!($propagate, argmax),
                        (ReduceFunction::ArgMin, NanPolicy::Propagate) => call!($propagate, argmin),
                        (ReduceFunction::ArgMax, NanPolicy::Ignore) => call!($ignore, argmax),
                        (ReduceFunction::ArgMin, NanPolicy::Ignore) => call!($ignore, argmin),
                        _ => unreachable!("an order that the crate argminmax does not have"),
                    };
                }
                #[allow(unused_imports, reason = "integers have no NaN")]
                use argminmax::{ArgMinMax, NaNArgMinMax};
                match (function, policy) {
                    (ReduceFunction::ArgMax, NanPolicy::Propagate) => {
                        answer_each(rows, indices, |row| row.$policy_max())
                    }
                    (ReduceFunction::ArgMin, NanPolicy::Propagate) => {
                        answer_each(rows, indices, |row| row.$policy_min())
                    }
                    (ReduceFunction::ArgMax, NanPolicy::Ignore) => answer_each(rows, indices, |row| row.argmax()),
                    (ReduceFunction::ArgMin, NanPolicy::Ignore) => answer_each(rows, indices, |row| row.argmin()),
                    _ => unreachable!("as above"),
                }
            }
        }
    )+};
}

// By what it takes where there is AVX2, and no more: of 8-bit types that is SSE4.1.
peers! {
    i8: SSE, Int.argmax, argmin, Int;
    u8: SSE, Int.argmax, argmin, Int;
    i16: AVX2, Int.argmax, argmin, Int;
    u16: AVX2, Int.argmax, argmin, Int;
    i32: AVX2, Int.argmax, argmin, Int;
    u32: AVX2, Int.argmax, argmin, Int;
    i64: AVX2, Int.argmax, argmin, Int;
    u64: AVX2, Int.argmax, argmin, Int;
    f32: AVX2, FloatReturnNaN.nanargmax, nanargmin, FloatIgnoreNaN;
    f16: AVX2, FloatReturnNaN.nanargmax, nanargmin, FloatIgnoreNaN;
    bf16: AVX2, FloatReturnNaN.nanargmax, nanargmin, FloatIgnoreNaN;
    f64: AVX2, FloatReturnNaN.nanargmax, nanargmin, FloatIgnoreNaN;
}
