//! See `argreduce_fuzz::tensors`.
#![no_main]

use argreduce_fuzz::{Outcome, tensors};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match tensors(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
