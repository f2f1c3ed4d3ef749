//! See `argreduce_fuzz::layouts`.
#![no_main]

use argreduce_fuzz::{Outcome, layouts};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match layouts(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
