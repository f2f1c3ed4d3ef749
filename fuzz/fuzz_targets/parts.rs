//! See `argreduce_fuzz::parts`.
#![no_main]

use argreduce_fuzz::{Outcome, parts};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match parts(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
