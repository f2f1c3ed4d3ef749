//! What `ci/wasm` calls in a module of WebAssembly: targets, by seeds in place of libFuzzer's bytes. There are no
//! files, no arguments and no unwinding there, and a panic ends the module: so it says first what it was.

use crate::{Outcome, TARGETS, random_bytes};
use argreduce::{DataType, Isa};
use std::panic;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Shows a text.
    fn say(text: *const u8, len: usize);
}

fn show(text: &str) {
    // SAFETY: the host reads so many bytes, within the call.
    unsafe { say(text.as_ptr(), text.len()) };
}

/// Tries a target on the bytes of one seed after another, until so many were an input of it, and tells how many seeds
/// that took. Says which ISAs, and of which types.
#[unsafe(no_mangle)]
extern "C" fn try_target(target: usize, first_seed: u64, inputs: usize) -> u64 {
    panic::set_hook(Box::new(|panic| show(&panic.to_string())));
    let (name, target) = TARGETS[target];
    let isas: Vec<_> = Isa::available().map(Isa::name).collect();
    let types: Vec<_> = DataType::ALL.iter().filter(|kind| kind.has_kernels()).map(|kind| kind.name()).collect();
    show(&format!("{name}: {} ({})", isas.join(", "), types.join(" ")));
    let (mut seed, mut checked) = (first_seed, 0);
    while checked < inputs {
        if let Outcome::Checked(_) = target(&random_bytes(seed)) {
            checked += 1;
        }
        seed += 1;
    }
    seed - first_seed
}
