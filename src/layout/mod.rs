//! Layouts: where the elements of a tensor are in a slice. Nothing here knows of reductions, and nothing reads
//! elements.
//!
//! A [`Layout`] is sizes, strides and an offset that have passed every check that needs no data. Element
//! `[c0, c1, ..]` is at place `offset + c0 * strides[0] + c1 * strides[1] + ..` of the slice.
//!
//! ```text
//! lowest  = offset + the sum of (size - 1) * stride over the negative strides      must be at least 0
//! highest = offset + the sum of (size - 1) * stride over the positive strides      must be below isize::MAX
//! required_len = highest + 1
//! ```
//!
//! From there on, arithmetic on places cannot overflow, and a slice of `required_len` elements holds all of them.
//!
//! | file | what it has |
//! |---|---|
//! | `axes.rs` | lists of axes, checked: a set of dimensions; one number for each axis |
//! | `strided.rs` | the layout and its checks |
//! | `view.rs` | layouts of parts of a tensor: sliced, permuted, broadcast |
//! | `overlap.rs` | whether two elements of a layout can share a place, as those of an output must not |
//! | `unravel.rs` | from an index over several axes to its coordinates |
//! | `window.rs` | where a part lies in the whole |

mod axes;
mod overlap;
mod strided;
mod unravel;
mod view;
mod window;

pub use axes::drop_axes;
pub(crate) use axes::{AxisError, AxisSet, PerAxis, dimension};
pub(crate) use overlap::may_overlap;
pub use strided::Layout;
pub(crate) use unravel::coordinates_of;
pub use unravel::{Coordinates, unravel};
pub(crate) use window::Window;
