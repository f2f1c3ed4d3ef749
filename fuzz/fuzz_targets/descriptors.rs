//! See `argreduce_fuzz::descriptors`.
#![no_main]

use argreduce_fuzz::{Outcome, descriptors};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match descriptors(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
