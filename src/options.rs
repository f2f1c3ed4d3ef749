//! The options that all calls share, as one value: which of equal elements to take, where NaN stands, and what elements
//! are compared by.

use crate::{Key, NanPolicy};
use std::fmt;

/// Which of equal elements to take: DirectML's `DML_AXIS_DIRECTION`, ONNX's `select_last_index`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AxisDirection {
    /// The one with the smallest index.
    #[default]
    Increasing,
    /// The one with the largest index.
    #[doc(alias("last", "select_last_index"))]
    Decreasing,
}

argreduce_kernels::names!(AxisDirection: Increasing = "increasing", Decreasing = "decreasing");

/// Which of equal elements to take, where NaN stands, and what elements are compared by: for slices, packed tensors,
/// plans, and arrays of the crate `ndarray`.
///
/// By default ties go to the first, NaN is before all numbers, and elements are compared by themselves. Where options
/// are taken, a direction, a policy or a [key](Key) alone will do.
///
/// ```
/// use argreduce::{ArgReduce, AxisDirection, Layout, NanPolicy, Options, ReduceFunction, SliceExt};
///
/// let xs = [1.0, 5.0, f32::NAN, 5.0];
/// assert_eq!(xs.argmax(), Some(2));
/// assert_eq!(xs.arg_reduce(ReduceFunction::ArgMax, NanPolicy::Ignore), Some(1));
///
/// let last_number = Options::new().direction(AxisDirection::Decreasing).nan_policy(NanPolicy::Ignore);
/// assert_eq!(xs.arg_reduce(ReduceFunction::ArgMax, last_number), Some(3));
/// let columns = ArgReduce::argmax(&Layout::contiguous(&[2, 2])?).axes(&[0]).options(last_number);
/// let of_columns: Vec<u32> = columns.plan()?.collect(&xs)?;
/// assert_eq!(of_columns, [0, 1]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    pub(crate) direction: AxisDirection,
    pub(crate) nan_policy: NanPolicy,
    pub(crate) key: Key,
}

impl Options {
    /// Ties go to the first, NaN is before all numbers, and elements are compared by themselves.
    pub const fn new() -> Self {
        Options { direction: AxisDirection::Increasing, nan_policy: NanPolicy::Propagate, key: Key::Value }
    }

    /// Which of equal elements to take.
    #[must_use]
    pub const fn direction(self, direction: AxisDirection) -> Self {
        Options { direction, ..self }
    }

    /// Where NaN stands among the numbers.
    #[must_use]
    pub const fn nan_policy(self, nan_policy: NanPolicy) -> Self {
        Options { nan_policy, ..self }
    }

    /// What elements are compared by.
    #[must_use]
    pub const fn by(self, key: Key) -> Self {
        Options { key, ..self }
    }
}

impl Options {
    /// As plans say them: `increasing, nan propagate`, and the key, if elements are not compared by themselves.
    pub(crate) fn fmt_words(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, nan {}", self.direction, self.nan_policy)?;
        if self.key != Key::Value { write!(f, ", by {}", self.key) } else { Ok(()) }
    }
}

impl From<AxisDirection> for Options {
    fn from(direction: AxisDirection) -> Self {
        Options::new().direction(direction)
    }
}

impl From<NanPolicy> for Options {
    fn from(nan_policy: NanPolicy) -> Self {
        Options::new().nan_policy(nan_policy)
    }
}

impl From<Key> for Options {
    fn from(key: Key) -> Self {
        Options::new().by(key)
    }
}
