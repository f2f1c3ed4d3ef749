//! Proof that an ISA is there, and the function that may use it. Knows nothing of operations.

use crate::tuning::isa::IsaTuning;
use core::mem::needs_drop;
use core::ptr::from_ref;

/// Proof that this machine has an ISA: a value of the type exists only where its instructions may run.
///
/// # Safety
/// Operations are methods of the token that nothing else is asked for. So an implementor promises that
/// - there is a value only where the machine has the ISA: one is made by [`Simd::assume`], which asks for that, or of a
///   value that is the same proof;
/// - [`Simd::is_available`] is true only where the machine has it;
/// - [`Simd::vectorize`] runs the operation once, on this thread, and gives what it gives.
pub(crate) unsafe trait Simd: Copy + 'static {
    /// The token, unchecked.
    ///
    /// # Safety
    /// - The machine has the ISA.
    unsafe fn assume() -> Self;

    /// Whether it has.
    fn is_available() -> bool;

    /// Whether an ISA that is there is worth the frequency of the core.
    fn is_preferred() -> bool {
        true
    }

    /// What shapes code for it. A branch on a constant is compiled to one side only, so it is tested as a constant.
    const TUNING: IsaTuning;

    /// Runs `op` inside a function that has the ISA's target features. All that `op` calls must be
    /// `#[inline(always)]`: a helper that stays outside of that function turns each intrinsic into a call.
    ///
    /// # Safety
    /// - As for [`SimdOp::eval`] of this operation.
    #[inline(always)]
    unsafe fn vectorize<T: SimdOp>(self, op: T) -> T::Output {
        // The target has its features.
        // SAFETY: the caller's promise.
        unsafe { op.eval_outlined() }
    }

    /// [`Simd::vectorize`] from inside such a function, as a separate, outlined call: keeps a long operation out of the
    /// code and the registers of its callers.
    ///
    /// # Safety
    /// - As for [`SimdOp::eval`] of this operation.
    #[inline(never)]
    unsafe fn call_outlined<T: SimdOp>(self, op: T) -> T::Output {
        const { assert!(!needs_drop::<T>()) };
        // SAFETY: the caller's promise.
        unsafe { self.vectorize(ByRef(&op)) }
    }

    /// [`Simd::call_outlined`] of a closure: nothing is asked of who runs one.
    #[inline(always)]
    fn outlined<R, F: FnMut() -> R>(self, task: F) -> R {
        // SAFETY: `eval` of a closure does nothing but call it, which is safe.
        unsafe { self.call_outlined(task) }
    }

    /// [`Simd::vectorize`] of a closure.
    #[inline(always)]
    fn vectorized<R, F: FnMut() -> R>(self, task: F) -> R {
        // SAFETY: as in [`Simd::outlined`].
        unsafe { self.vectorize(task) }
    }
}

/// `while $one { $body; $next }`, but if `$unrolls`, twice as long as there are `$two`, and once more if there is
/// `$one`.
///
/// How fast a loop of about 64 bytes runs may depend on the address that the linker gives it, because instructions are
/// fetched by aligned blocks. Unrolled twice, it is as fast anywhere. Longer loops do not gain. See
/// docs/tuning.md#unrolling-short-loops.
macro_rules! repeat {
    ($unrolls:expr, $one:expr, $two:expr, $next:expr, $body:block) => {
        if $unrolls {
            while $two {
                $body
                $next;
                $body
                $next;
            }
            if $one {
                $body
                $next;
            }
        } else {
            while $one {
                $body
                $next;
            }
        }
    };
}
pub(crate) use repeat;

/// What runs inside [`Simd::vectorize`]: a closure that is marked `#[inline(always)]`, or a type whose `eval` is.
///
/// A closure is another type in each copy of the function that it is in: so one that is there to have few copies is in
/// a function with few parameters.
pub(crate) trait SimdOp {
    type Output;
    /// # Safety
    /// - What an operation says of the pointers that it holds, or what the function that it is a part of requires.
    unsafe fn eval(self) -> Self::Output;
    /// [`SimdOp::eval`] as a call, for ISAs without target features.
    ///
    /// # Safety
    /// - As for [`SimdOp::eval`].
    #[inline(never)]
    unsafe fn eval_outlined(self) -> Self::Output
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { self.eval() }
    }
}

/// Not by `FnOnce`, for which the compiler puts a function in between that nothing forces inline.
impl<R, F: FnMut() -> R> SimdOp for F {
    type Output = R;

    #[inline(always)]
    unsafe fn eval(mut self) -> R {
        self()
    }
}

/// An operation by reference. If it were moved, the copy would be read in other parts than it was just written in, and
/// each read would wait for all writes before it. See docs/tuning.md#reasons-behind-the-shape-of-the-code.
struct ByRef<'a, T>(&'a T);

impl<T: SimdOp> SimdOp for ByRef<'_, T> {
    type Output = T::Output;

    #[inline(always)]
    unsafe fn eval(self) -> T::Output {
        // SAFETY: the caller's promise; it is taken once, and has nothing to drop.
        unsafe { from_ref(self.0).read().eval() }
    }
}

#[cfg(test)]
mod tests {
    /// As often as a plain loop, and with the same end, whether it is unrolled or not.
    #[test]
    fn repeats_as_a_plain_loop_does() {
        for unrolls in [false, true] {
            for count in 0..7 {
                let (mut left, mut place, mut bodies) = (count, 0, 0);
                repeat!(unrolls, left > 0, left >= 2, (left, place) = (left - 1, place + 3), {
                    bodies += 1;
                });
                assert_eq!((left, place, bodies), (0, 3 * count, count), "unrolled: {unrolls}");
            }
        }
    }
}
