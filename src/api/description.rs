//! What a caller asks for, as it was said: `builder.rs` has the words, and a plan checks it.

use crate::layout::{AxisError, AxisSet, Window};
use crate::{Isa, Layout, Options, ReduceFunction, Segments};

/// What to reduce and how: the input's layout, the axes, and the options, in any order; then [`ArgReduce::plan`].
///
/// ```
/// use argreduce::{ArgReduce, AxisDirection, Layout};
///
/// let scores = Layout::contiguous(&[2, 3, 4])?;
/// let plan = ArgReduce::argmax(&scores).axes(&[1]).direction(AxisDirection::Decreasing).plan::<f32, u32>()?;
/// let mut classes = [0; 8];
/// plan.run(&[1.0; 24], &mut classes)?;
/// assert_eq!(classes, [2; 8]); // all are equal: the last one
/// # Ok::<(), argreduce::Error>(())
/// ```
///
/// The axes have to be said. All else has a default. The input's layout is copied, so that a function may return what
/// it describes of a layout of its own; an [output layout](ArgReduce::output_layout) and a
/// [window](ArgReduce::window) are borrowed.
///
/// ```
/// # use argreduce::{ArgReduce, Error, Layout};
/// fn classes(images: usize) -> Result<ArgReduce<'static>, Error> {
///     let scores = Layout::contiguous(&[images, 21, 64, 64])?;
///     Ok(ArgReduce::argmax(&scores).axes(&[1]))
/// }
/// assert_eq!(classes(8)?.plan::<f32, u32>()?.output_layout().sizes(), [8, 1, 64, 64]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a description does nothing until it is planned and run"]
pub struct ArgReduce<'a> {
    /// None, if both are meant.
    pub(crate) function: Option<ReduceFunction>,
    /// Of segments, one axis along them.
    pub(crate) input: Layout,
    pub(crate) segments: Option<Segments<'a>>,
    pub(crate) axes: Result<AxisSet, AxisError>,
    pub(crate) options: Options,
    pub(crate) output: Option<&'a Layout>,
    pub(crate) isa: Option<Isa>,
    pub(crate) window: Option<Window<'a>>,
    pub(crate) fill: Option<i64>,
    /// Whether each element has an answer: the best so far; and whether that is from the end.
    pub(crate) is_cumulative: bool,
    pub(crate) is_reversed: bool,
    /// Whether indices are those in the whole, not in the segment.
    pub(crate) is_absolute: bool,
}

/// What is reduced: `&Layout`, or `&Segments`. Made by [`From`] alone.
#[derive(Clone, Copy, Debug)]
pub struct Reduced<'a> {
    pub(super) input: Layout,
    pub(super) segments: Option<Segments<'a>>,
}

impl From<&Layout> for Reduced<'_> {
    #[inline(always)]
    fn from(&input: &Layout) -> Self {
        Reduced { input, segments: None }
    }
}

impl<'a> From<&Segments<'a>> for Reduced<'a> {
    fn from(&segments: &Segments<'a>) -> Self {
        let input = Layout::contiguous(&[segments.count()]).expect("no more than a slice has");
        Reduced { input, segments: Some(segments) }
    }
}
