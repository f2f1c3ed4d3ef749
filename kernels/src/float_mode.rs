//! The floating-point mode of the thread: whether subnormals are flushed to zero, how results are rounded, which
//! exceptions trap. Knows nothing of kernels.
//!
//! The mode is the caller's: a library that was built with `-ffast-math` sets flush-to-zero when it is loaded, for the
//! thread that loads it and for all that this thread starts. Then subnormals compare as zeros, and a comparison with a
//! NaN may trap. So what compares floats [checks](is_default) the mode first, and if it is another one, runs [in the
//! default one](in_default).
//!
//! That is so on x86 with SSE2 and on aarch64. On other machines the mode is taken as it is: some have none that
//! changes a comparison, others (32-bit ARM, AltiVec, MIPS) do.

/// What the compiler expects, and every thread starts with.
#[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"))]
mod control {
    use core::arch::asm;

    /// MXCSR: flush-to-zero, the rounding, the masks of exceptions, and denormals-are-zeros. The other bits are flags
    /// that operations set, and of no consequence.
    const MODE: u32 = 0xffc0;
    /// Subnormals are kept, results are rounded to the nearest, and no exception traps.
    const DEFAULT: u32 = 0x1f80;

    /// A register's value.
    pub(super) type Control = u32;

    #[inline(always)]
    pub(super) fn read() -> Control {
        let mut control = 0;
        // SAFETY: writes the register to a variable.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags)) };
        control
    }

    /// # Safety
    /// - Nothing is computed with floats in this mode but what expects it.
    pub(super) unsafe fn write(control: Control) {
        // SAFETY: reads the register from a variable; the caller promises what else follows.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack)) };
    }

    #[inline(always)]
    pub(super) fn is_default(control: Control) -> bool {
        control & MODE == DEFAULT
    }

    pub(super) fn with_default(control: Control) -> Control {
        control & !MODE | DEFAULT
    }
}

#[cfg(target_arch = "aarch64")]
mod control {
    use core::arch::asm;

    /// FPCR.
    pub(super) type Control = u64;

    #[inline(always)]
    pub(super) fn read() -> Control {
        let control;
        // SAFETY: reads a register. (Not `nomem`, so that it stays in the order of what else is done to the register.)
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nostack, preserves_flags)) };
        control
    }

    /// # Safety
    /// - Nothing is computed with floats in this mode but what expects it.
    pub(super) unsafe fn write(control: Control) {
        // SAFETY: writes a register; the caller promises what follows.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack)) };
    }

    /// No bit is set: subnormals are kept, NaNs too, results are rounded to the nearest, and no exception traps.
    #[inline(always)]
    pub(super) fn is_default(control: Control) -> bool {
        control == 0
    }

    pub(super) fn with_default(_: Control) -> Control {
        0
    }
}

#[cfg(not(any(
    all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"),
    target_arch = "aarch64"
)))]
mod control {
    pub(super) type Control = ();

    pub(super) fn read() -> Control {}

    /// # Safety
    /// - None: nothing is written.
    pub(super) unsafe fn write((): Control) {}

    pub(super) fn is_default((): Control) -> bool {
        true
    }

    pub(super) fn with_default((): Control) -> Control {}
}

/// Whether the thread is in the default mode.
#[inline(always)]
pub fn is_default() -> bool {
    control::is_default(control::read())
}

/// Sets a mode when it is dropped, whether by a return or by a panic.
struct Restore(control::Control);

impl Drop for Restore {
    fn drop(&mut self) {
        // SAFETY: the mode that the caller of `in_default` was in: what follows is the caller's.
        unsafe { control::write(self.0) };
    }
}

/// Runs something in the default mode, and restores the mode in the end. What it runs has to be in a function that is
/// `#[inline(never)]`: the compiler may move floating-point operations to where the mode is another one, but not out of
/// such a function.
#[cold]
#[inline(never)]
pub fn in_default(run: &mut dyn FnMut()) {
    let control = control::read();
    let _restore = Restore(control);
    // SAFETY: it is the mode that the compiler and all that follows expect.
    unsafe { control::write(control::with_default(control)) };
    run();
}
