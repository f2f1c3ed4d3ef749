//! From errors to what C has for them: a code to return, and a message for this thread. Panics end here too.

use super::codes::*;
use ::argreduce::Error;
use ::argreduce::directml::BrokenRule;
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a function failed.
#[derive(Debug)]
pub(crate) struct Failure {
    status: argreduce_status,
    message: String,
}

impl Failure {
    pub(crate) fn new(status: argreduce_status, message: impl Into<String>) -> Failure {
        Failure { status, message: message.into() }
    }

    pub(super) fn with_status(self, status: argreduce_status) -> Failure {
        Failure { status, ..self }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { status: status(&error), message: error.to_string() }
    }
}

fn status(error: &Error) -> argreduce_status {
    match error {
        Error::RankTooHigh { .. } => ARGREDUCE_RANK,
        Error::TooManyElements { .. } | Error::WholeTooLarge { .. } => ARGREDUCE_TOO_MANY_ELEMENTS,
        Error::WindowOutOfRange { .. } => ARGREDUCE_WINDOW,
        Error::OffsetTooLarge { .. } => ARGREDUCE_OFFSET,
        Error::OffsetOverflow { .. } => ARGREDUCE_STRIDE,
        Error::BeforeStart { .. } => ARGREDUCE_BEFORE_START,
        Error::AxisOutOfRange { .. } => ARGREDUCE_AXIS_OUT_OF_RANGE,
        Error::DuplicateAxis { .. } => ARGREDUCE_DUPLICATE_AXIS,
        Error::EmptyReduction { .. } => ARGREDUCE_EMPTY_REDUCTION,
        Error::IndexTooLarge { .. } => ARGREDUCE_INDEX_TOO_LARGE,
        Error::NotAnIndexType { .. } => ARGREDUCE_OUTPUT_TYPE,
        Error::OutputRank { .. } => ARGREDUCE_OUTPUT_RANK,
        Error::OutputSize { .. } => ARGREDUCE_OUTPUT_SIZE,
        Error::OutputOverlaps => ARGREDUCE_OUTPUT_OVERLAPS,
        Error::IsaNotAvailable { .. } | Error::UnknownIsa { .. } => ARGREDUCE_ISA,
        Error::NothingThere { .. } => ARGREDUCE_NOTHING_THERE,
        Error::FillOutOfRange { .. } => ARGREDUCE_FILL_OUT_OF_RANGE,
        Error::MaskMismatch { .. } | Error::MaskRank { .. } | Error::MaskSize { .. } | Error::MaskTooShort { .. } => {
            ARGREDUCE_MASK_MISMATCH
        }
        Error::CumulativeAxes { .. } | Error::CumulativeMismatch { .. } => ARGREDUCE_CUMULATIVE_MISMATCH,
        Error::KeyIsNan { .. } => ARGREDUCE_KEY_IS_NAN,
        Error::OffsetOutOfRange { .. } => ARGREDUCE_SEGMENT_OFFSET,
        Error::SegmentsMismatch { .. } => ARGREDUCE_SEGMENTS_MISMATCH,
        Error::TooShort { .. } => ARGREDUCE_BUFFER_TOO_SHORT,
        Error::Misaligned { .. } => ARGREDUCE_MISALIGNED,
        Error::DirectMl(rule) => match rule {
            BrokenRule::DimensionCount { .. } => ARGREDUCE_RANK,
            BrokenRule::DimensionCountsDiffer { .. } => ARGREDUCE_OUTPUT_RANK,
            BrokenRule::SizeZero { .. } => ARGREDUCE_SIZE,
            BrokenRule::TooManyElements { .. } => ARGREDUCE_TOO_MANY_ELEMENTS,
            BrokenRule::TotalTensorSizeTooSmall { .. } => ARGREDUCE_TOTAL_SIZE,
            BrokenRule::TotalTensorSizeNotMultipleOf4 { .. } => ARGREDUCE_TOTAL_SIZE_MULTIPLE,
            BrokenRule::OutputSize { .. } => ARGREDUCE_OUTPUT_SIZE,
            BrokenRule::OutputDataType { .. } => ARGREDUCE_OUTPUT_TYPE,
            BrokenRule::Axis { .. } => ARGREDUCE_AXIS_OUT_OF_RANGE,
            BrokenRule::DuplicateAxis { .. } => ARGREDUCE_DUPLICATE_AXIS,
            BrokenRule::BufferTooSmall { .. } => ARGREDUCE_BUFFER_TOO_SHORT,
            _ => ARGREDUCE_INTERNAL,
        },
        // Not to be had from here (a stride count is always the rank), or new: then it deserves a code.
        _ => ARGREDUCE_INTERNAL,
    }
}

/// Runs the body of an exported function: no panic gets out, and a failure leaves its message.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> argreduce_status {
    // After a panic nothing of `body` is used any more.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => ARGREDUCE_OK,
        Ok(Err(failure)) => record(failure),
        Err(panic) => record(panicked(panic)),
    }
}

/// One copy for all functions.
#[cold]
#[inline(never)]
fn panicked(panic: Box<dyn Any + Send>) -> Failure {
    let text =
        panic.downcast::<&str>().map(|text| text.to_string()).or_else(|panic| panic.downcast().map(|text| *text));
    // Dropping anything but text could throw again.
    let text: String = text.unwrap_or_else(|panic| {
        std::mem::forget(panic);
        "a panic".into()
    });
    Failure::new(ARGREDUCE_INTERNAL, format!("a bug of argreduce, please report it: {text}"))
}

/// Of the message of a thread, with the NUL at its end. The header says so, too.
pub(crate) const MESSAGE_BYTES: usize = 512;

thread_local! {
    /// The last message of the thread. It stays at one address, which C keeps. It starts as a constant and has no
    /// destructor: so it can be used while the thread ends, by the destructors of others.
    static LAST_MESSAGE: [Cell<u8>; MESSAGE_BYTES] = const { [const { Cell::new(0) }; MESSAGE_BYTES] };
}

#[cold]
#[inline(never)]
fn record(failure: Failure) -> argreduce_status {
    let text = text(&failure.message, MESSAGE_BYTES);
    // Where thread-local memory is the system's own, it may be gone while a thread ends.
    let _ = LAST_MESSAGE.try_with(|last| last.iter().zip(text).for_each(|(to, byte)| to.set(byte)));
    failure.status
}

/// A text as C has it: in at most that many bytes, of which the last is a NUL. What is too long is cut at the end of a
/// character.
pub(super) fn text(text: &str, bytes: usize) -> impl Iterator<Item = u8> {
    let end = (0..bytes.min(text.len() + 1)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].bytes().map(|byte| if byte == 0 { b'?' } else { byte }).chain([0])
}

pub(super) fn last_message() -> *const c_char {
    LAST_MESSAGE.try_with(|last| last.as_ptr().cast()).unwrap_or(c"".as_ptr())
}
