//! The library as the table uses it: as it is here ([`New`]), and as it was at another commit ([`Old`]). Knows nothing
//! of time.
//!
//! `ci/versus` builds this program with a second library, `old`, and the `cfg` `versus`. Without it the old one is the
//! new one, and nothing asks it. All that is timed of the library goes through here: what an old interface does not
//! have is an error of `plans`, and a commit that this file does not compile with cannot be compared. Where an old
//! library has other names than the new one, a module below is written in those, and `ci/versus` says which, by the
//! value of the `cfg`.

use crate::cell::{Cell, Geometry};
use anyhow::{Context, Result};
use std::fmt::Display;

/// Whether there are two libraries, and their comparison is all that is measured.
pub const IS_VERSUS: bool = cfg!(versus);

pub struct New;
#[cfg(versus)]
pub struct Old;
#[cfg(not(versus))]
pub use self::New as Old;

/// Element types of a library.
pub trait By<Library>: Sized + 'static {
    /// The plan of a cell, as text too.
    type Plans: Display;

    fn plans(cell: &Cell, geometry: &Geometry) -> Result<Self::Plans>;

    /// Answers the cell, into those of the outputs that it asks for.
    fn run(plans: &Self::Plans, input: &[Self], indices: &mut [u32], wide: &mut [i64], values: &mut [Self]);

    /// Answers with `u32` indices alone.
    fn run_narrow(plans: &Self::Plans, input: &[Self], indices: &mut [u32]);

    fn argmax(row: &[Self]) -> usize;

    /// What makes a plan for a packed tensor of these sizes, and drops it.
    fn plan_maker(sizes: &[usize], axes: &[isize]) -> Result<impl Fn()>;
}

macro_rules! library {
    ($Library:ident: $module:ident of $library:ident) => {
        mod $module {
            use super::*;
            use std::{fmt, hint::black_box};
            use $library::{ArgReduce, Element, Index, Layout, Plan, SliceExt};

            pub struct Plans<T> {
                narrow: Plan<T, u32>,
                /// The same into indices as `i64`, where the cell asks for those.
                wide: Option<Plan<T, i64>>,
                has_values: bool,
            }

            impl<T: Element> fmt::Display for Plans<T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.narrow.fmt(f)
                }
            }

            /// Layouts and options have the same numbers and names in both libraries, if not the same types.
            fn plan<T: Element, I: Index>(cell: &Cell, geometry: &Geometry) -> Result<Plan<T, I>> {
                let layout = |of: &argreduce::Layout| Layout::strided(of.sizes(), of.strides(), of.offset());
                let (input, output) = (layout(&geometry.layout)?, layout(&cell.output_layout(geometry))?);
                let reduce = ArgReduce::new(cell.options.function().to_string().parse()?, &input).axes(&geometry.axes);
                let reduce = reduce.direction(cell.options.direction().to_string().parse()?);
                let reduce = reduce.nan_policy(cell.options.nan_policy().to_string().parse()?);
                reduce.output_layout(&output).plan().with_context(|| format!("planning {cell}"))
            }

            impl<T: Element> By<$Library> for T {
                type Plans = Plans<T>;

                fn plans(cell: &Cell, geometry: &Geometry) -> Result<Plans<T>> {
                    let wide = cell.options.is_wide().then(|| plan(cell, geometry)).transpose()?;
                    Ok(Plans { narrow: plan(cell, geometry)?, wide, has_values: cell.options.has_values() })
                }

                fn run(plans: &Plans<T>, input: &[T], indices: &mut [u32], wide: &mut [i64], values: &mut [T]) {
                    let Plans { narrow, wide: wide_plan, has_values } = plans;
                    match wide_plan {
                        Some(plan) if *has_values => plan.run(input, (wide, values)),
                        Some(plan) => plan.run(input, wide),
                        None if *has_values => narrow.run(input, (indices, values)),
                        None => narrow.run(input, indices),
                    }
                    .expect("slices of their lengths");
                }

                fn run_narrow(plans: &Plans<T>, input: &[T], indices: &mut [u32]) {
                    plans.narrow.run(input, indices).expect("slices of their lengths");
                }

                fn argmax(row: &[T]) -> usize {
                    SliceExt::argmax(row).expect("not empty")
                }

                fn plan_maker(sizes: &[usize], axes: &[isize]) -> Result<impl Fn()> {
                    let layout = Layout::contiguous(sizes)?;
                    Ok(move || {
                        let reduce = ArgReduce::argmax(black_box(&layout)).axes(black_box(axes));
                        _ = black_box(reduce.plan::<T, u32>());
                    })
                }
            }
        }
    };
}

library!(New: of_new of argreduce);
#[cfg(all(versus, not(versus = "before_input")))]
library!(Old: of_old of old);
#[cfg(versus = "before_input")]
mod before_input;
