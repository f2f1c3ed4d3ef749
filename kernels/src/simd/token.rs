//! Proof that an ISA is there, and the region of code that may use it.

use crate::tuning::isa::IsaTuning;

/// Proof that this machine has an ISA: a value of the type exists only where its instructions may run.
pub(crate) trait Token: Copy + 'static {
    /// The token, unchecked.
    ///
    /// # Safety
    /// - The machine has the ISA.
    unsafe fn assume() -> Self;

    /// What shapes code for it. Asked in `const` blocks: of what the compiler knows to be a constant, it makes one
    /// branch alone.
    const TUNING: IsaTuning;

    /// Runs `task` inside a function that has the ISA's target features. All that `task` calls must be
    /// `#[inline(always)]`: a helper that stays outside the region turns each intrinsic into a call.
    ///
    /// # Safety
    /// - As for [`Task::run`] of this task.
    unsafe fn enter<T: Task>(self, task: T) -> T::Output;

    /// [`Token::enter`] as a call of its own, from inside such a function: keeps a long task out of the code and the
    /// registers of its callers.
    ///
    /// # Safety
    /// - As for [`Task::run`] of this task.
    #[inline(never)]
    unsafe fn call<T: Task + Copy>(self, task: T) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { self.enter(By(&task)) }
    }
}

/// `while $one { $body; $next }`, but if `$unrolls`, twice as long as there are `$two`, and once more if there is
/// `$one`.
///
/// A loop that fits a fetch block of the instruction cache is fast or slow by where the linker puts it. Twice as
/// long, it is as fast anywhere.
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

/// What runs inside [`Token::enter`]: a closure, but with `run` marked `#[inline(always)]`.
pub(crate) trait Task {
    /// What it found.
    type Output;
    /// # Safety
    /// - What a task says of the pointers that it holds, or what the function asks for that it is a part of.
    unsafe fn run(self) -> Self::Output;
    /// As a function of its own, where no target features make one.
    ///
    /// # Safety
    /// - As for [`Task::run`].
    #[inline(never)]
    unsafe fn run_apart(self) -> Self::Output
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { self.run() }
    }
}

/// A task where it lies. Moved as a whole, it would be read in other parts than it was written in just before, and so
/// only once all that came before has ended: the stores could not be forwarded.
struct By<'a, T>(&'a T);

impl<T: Task + Copy> Task for By<'_, T> {
    type Output = T::Output;

    #[inline(always)]
    unsafe fn run(self) -> T::Output {
        // SAFETY: the caller's promise.
        unsafe { (*self.0).run() }
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
