//! The numbers that pick a path at run time, by the CPU: one constant table for each microarchitecture, and nothing
//! else that names a CPU. No answer depends on any of them.
//!
//! ```text
//! once:              CPUID: vendor, family, size of L2  ->  a table            (detect.rs; zen4.rs, zen5.rs, ...)
//! for each plan:     table.half_vectors                 ->  strategy and ISA   (the facade's planner)
//!                    table.working_set(bytes of the input) ->  which cache likely holds it
//! for each call:     KernelArgs::tuning                 ->  the other fields, which kernels read
//! ```
//!
//! Tables are values that callers hand to a kernel ([`KernelArgs::tuning`](crate::KernelArgs::tuning)): so tests run
//! each of them on any machine. A CPU that nobody has measured gets `generic.rs`, which assumes little. Numbers that
//! shape code cannot be chosen at run time: they are in one constant table for each ISA, `isa.rs`.
//!
//! A number is a field if two tables differ. All others are constants beside what they decide. What each number trades,
//! and what was measured, is in `docs/tuning.md`, by its name. What kernels rely
//! on is checked when a table is compiled (`Tuning::checked`), and no other tables can be made.

#[cfg(target_arch = "x86_64")]
mod detect;
mod generic;
mod intel;
pub(crate) mod isa;
mod table;
mod zen2;
mod zen4;
mod zen5;

pub(crate) use table::MIN_HUGE_ROW_BYTES;
pub use table::{
    ColumnTuning, HalfVectorTuning, MAX_READ_STREAMS, MIN_STREAM_BYTES, PrefetchTuning, RowTuning, Tuning, WorkingSet,
};

impl Tuning {
    /// One for each microarchitecture.
    pub const ALL: [&'static Tuning; 5] =
        [&zen2::TUNING, &zen4::TUNING, &zen5::TUNING, &intel::TUNINGS[0], &generic::TUNING];

    /// Of this machine. CPUID is read once: where it is virtual, that takes a microsecond. Of other machines than
    /// x86-64, nothing was measured.
    ///
    /// ```
    /// use argreduce_kernels::Tuning;
    /// assert_eq!(Tuning::current(), Tuning::current());
    /// ```
    #[inline]
    pub fn current() -> &'static Tuning {
        #[cfg(target_arch = "x86_64")]
        return detect::current();
        #[cfg(not(target_arch = "x86_64"))]
        return &generic::TUNING;
    }
}
