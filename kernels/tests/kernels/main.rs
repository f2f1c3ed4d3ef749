//! One differential test of the kernels, generic over the ISA and the element type, instantiated for every ISA that
//! this machine can run; with `--cfg wide_portable` also for portable vectors of 32 and 64 bytes, which run the control
//! flow of wide ISAs anywhere.
//!
//! On an emulated machine, a tenth to a hundredth as fast, `ARGREDUCE_TESTS=few` takes only some of the places,
//! lengths or starts of each loop, and the edges of memory by turns: still every kernel, type and order.

mod case;
mod indices;
mod keys;
mod merge;
mod modes;
mod scan;
mod scatter;
mod tiles;
mod tuning;

use argreduce_kernels::{DataType, Element, Isa, by_name};
use case::Case;
use std::io::Write;
use std::sync::Once;

/// Whether this machine has an ISA. If not, the log says so, unless that was asked for: then the test fails.
fn is_exercised(isa: Isa) -> bool {
    static SAID: Once = Once::new();
    let is_asked_for = std::env::var("ARGREDUCE_ISA").is_ok_and(|name| name == isa.name());
    assert!(isa.is_available() || !is_asked_for, "ARGREDUCE_ISA={isa}, but this machine does not have it");
    if !isa.is_available() {
        // Not `eprintln`, which is not shown where a test passes.
        let line = format!("NOT EXERCISED: {isa}: this machine does not have it\n");
        SAID.call_once(|| std::io::stderr().write_all(line.as_bytes()).unwrap());
    }
    isa.is_available()
}

/// A test for each ISA and type, and one of floating-point modes.
macro_rules! isas {
    ($($(#[$cfg:meta])* $name:ident: $isa:ident;)+) => {$(
        $(#[$cfg])*
        mod $name {
            use super::*;
            isas!($isa, i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 f16 bf16);

            #[test]
            fn float_modes() {
                if is_exercised(Isa::$isa) {
                    modes::check_all(Isa::$isa);
                }
            }
        }
    )+};
    ($isa:ident, $($t:ident)+) => {
        // (`bool` has the kernels of `u8`.)
        const _: () = assert!([$(stringify!($t)),+, "bool"].len() == DataType::ALL.len(), "a type without a test");
        $(
            #[test]
            fn $t() {
                if <by_name::$t as Element>::DATA_TYPE.has_kernels() && is_exercised(Isa::$isa) {
                    Case::<by_name::$t>::new(Isa::$isa).run_all();
                    merge::check::<by_name::$t>(Isa::$isa);
                    scan::check::<by_name::$t>(Isa::$isa);
                }
            }
        )+
    };
}

isas! {
    portable_16_bytes: Portable;
    #[cfg(wide_portable)]
    portable_32_bytes: Portable32;
    #[cfg(wide_portable)]
    portable_64_bytes: Portable64;
    #[cfg(target_arch = "x86_64")]
    avx2: Avx2;
    #[cfg(target_arch = "x86_64")]
    avx512: Avx512;
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    neon: Neon;
}
