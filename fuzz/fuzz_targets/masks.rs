//! See `argreduce_fuzz::masks`.
#![no_main]

use argreduce_fuzz::{Outcome, masks};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match masks(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
