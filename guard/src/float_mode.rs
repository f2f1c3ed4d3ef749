//! Floating-point modes that a caller may be in. It knows nothing of what runs in them.

use std::io::{Write, stderr};
use std::sync::Mutex;

/// A mode that is not the one that threads start with.
///
/// ```
/// use argreduce_guard::FloatMode;
/// for mode in FloatMode::ALL {
///     assert_eq!(mode.run(|| 6 * 7), 42);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatMode {
    name: &'static str,
    /// What differs in the control register.
    bits: Control,
}

impl FloatMode {
    /// Runs something in this mode, and checks that it is still the mode afterwards. What runs may trap where it
    /// computes with floats.
    ///
    /// # Panics
    /// If what runs has changed the mode.
    pub fn run<R>(self, run: impl FnOnce() -> R) -> R {
        let before = Restore(read());
        let wanted = before.0 ^ self.bits;
        write(wanted);
        // What the machine took: some have no traps, and valgrind has rounding alone.
        let set = read() & MODE;
        let result = outlined(run);
        let left = read() & MODE;
        drop(before);
        assert_eq!(left, set, "the mode {} was not restored", self.name);
        if set != wanted & MODE {
            self.say_missing();
        }
        result
    }

    /// Once for each mode.
    fn say_missing(self) {
        static SAID: Mutex<Vec<&str>> = Mutex::new(Vec::new());
        let mut said = SAID.lock().unwrap();
        if !said.contains(&self.name) {
            said.push(self.name);
            let line = format!("NOT EXERCISED: the floating-point mode {}: this machine does not have it\n", self.name);
            // Not `eprintln`, which is not shown where a test passes.
            stderr().write_all(line.as_bytes()).unwrap();
        }
    }
}

/// Sets what the control register was, also after a panic.
struct Restore(Control);

impl Drop for Restore {
    fn drop(&mut self) {
        write(self.0);
    }
}

/// No floating-point operation is moved into it, or out of it.
#[inline(never)]
fn outlined<R>(run: impl FnOnce() -> R) -> R {
    run()
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"))]
mod register {
    use super::FloatMode;
    use std::arch::asm;

    /// MXCSR.
    pub(super) type Control = u32;
    pub(super) const MODE: u32 = 0xffc0;

    impl FloatMode {
        /// Those of this machine. Of MXCSR: denormals-are-zeros is bit 6, flush-to-zero bit 15, the rounding bits 13
        /// and 14; and bits 7 to 12 keep exceptions from trapping.
        pub const ALL: &[FloatMode] = &[
            FloatMode { name: "flushed", bits: 0x8040 },
            FloatMode { name: "subnormals are zeros", bits: 0x0040 },
            FloatMode { name: "results are flushed", bits: 0x8000 },
            FloatMode { name: "rounded down", bits: 0x2000 },
            FloatMode { name: "rounded towards zero", bits: 0x6000 },
            FloatMode { name: "all but inexact results trap", bits: 0x0f80 },
            FloatMode { name: "flushed, and invalid operations trap", bits: 0x80c0 },
        ];
    }

    pub(super) fn read() -> Control {
        let mut control = 0;
        // SAFETY: writes the register to a variable.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack)) };
        control
    }

    pub(super) fn write(control: Control) {
        // SAFETY: reads the register from a variable. What runs in another mode is what the test is about.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use super::FloatMode;
    use std::arch::asm;

    /// FPCR.
    pub(super) type Control = u64;
    pub(super) const MODE: u64 = u64::MAX;

    impl FloatMode {
        /// Those of this machine. Of FPCR: bit 24 flushes, bit 19 flushes 16-bit floats, bit 25 makes one NaN of all,
        /// bits 22 and 23 are the rounding, and bit 8 makes invalid operations trap.
        pub const ALL: &[FloatMode] = &[
            FloatMode { name: "flushed", bits: 1 << 24 },
            FloatMode { name: "16-bit floats are flushed", bits: 1 << 19 },
            FloatMode { name: "one NaN", bits: 1 << 25 },
            FloatMode { name: "rounded down", bits: 2 << 22 },
            FloatMode { name: "invalid operations trap", bits: 1 << 8 },
        ];
    }

    pub(super) fn read() -> Control {
        let control;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nostack)) };
        control
    }

    pub(super) fn write(control: Control) {
        // SAFETY: writes a register. What runs in another mode is what the test is about.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack)) };
    }
}

#[cfg(not(any(
    all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"),
    target_arch = "aarch64"
)))]
mod register {
    use super::FloatMode;

    pub(super) type Control = u32;
    pub(super) const MODE: u32 = 0;

    impl FloatMode {
        /// None that this crate could set.
        pub const ALL: &[FloatMode] = &[];
    }

    pub(super) fn read() -> Control {
        0
    }

    pub(super) fn write(_: Control) {}
}

use register::{Control, MODE, read, write};
