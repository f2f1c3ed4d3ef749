//! Parts of a larger tensor: each is reduced where it is, and the partial answers merge to exactly the answer for the
//! whole.
//!
//! A tensor may be spread over chunks, files, processes or machines, or come as a stream. A
//! [window](crate::layout::Window) says where a part lies in the whole: then its indices are those in the whole. A
//! [`Partial`](crate::Partial) is the best element of a part and its
//! index. A [`Merge`] makes one of two.
//!
//! ```text
//! part:   plan.window(whole, start)     only the steps of the index, and where it starts, know of the window
//!         plan.run_partials(..)         (value, index) for each output; NONE for an empty part
//! merge:  the better of two             by class (NaN or number), then by value, then by index in the whole
//! finish: the index of each partial     at the places of the output
//! ```
//!
//! Why this is exact: any two partials that are not `NONE` have different indices, so that one is strictly better than
//! the other: a total order. The best of a set does not depend on the order or the grouping in which it is found. The
//! order is that of the kernels, so that it does not matter either whether two elements meet in a kernel or in a merge.
//!
//! | file | what it has |
//! |---|---|
//! | `merge.rs` | merging, as callers see it |
//! | `plan.rs` | plans that give partials, and indices from partials |
//! | `both.rs` | the same of both functions at once |
//! | `untyped.rs` | the same for types that are known at run time |
//! | `stream.rs` | chunks along one axis, one after another |

mod both;
mod merge;
mod plan;
mod stream;
mod untyped;

pub use merge::Merge;
pub use stream::ArgStream;
