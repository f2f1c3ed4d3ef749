//! See `argreduce_fuzz::calls`.
#![no_main]

use argreduce_fuzz::{Outcome, calls};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match calls(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
