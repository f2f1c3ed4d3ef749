//! See `argreduce_fuzz::segments`.
#![no_main]

use argreduce_fuzz::{Outcome, segments};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match segments(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
