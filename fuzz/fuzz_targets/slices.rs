//! See `argreduce_fuzz::slices`.
#![no_main]

use argreduce_fuzz::{Outcome, slices};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match slices(bytes) {
        Outcome::Rejected => Corpus::Reject,
        Outcome::Checked(_) => Corpus::Keep,
    }
});
