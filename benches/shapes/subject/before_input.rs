//! The library of an older commit, from before a call was an `Input` and an `Output`: what the table asks of it, in the
//! names that it had. Nothing here changes with the library of now.

use super::{By, Old};
use crate::cell::{Cell, Geometry};
use anyhow::{Context, Result};
use old::{ArgReduce, Element, Index, Layout, Plan, SliceExt};
use std::{fmt, hint::black_box};

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

impl<T: Element> By<Old> for T {
    type Plans = Plans<T>;

    fn plans(cell: &Cell, geometry: &Geometry) -> Result<Plans<T>> {
        let wide = cell.options.is_wide().then(|| plan(cell, geometry)).transpose()?;
        Ok(Plans { narrow: plan(cell, geometry)?, wide, has_values: cell.options.has_values() })
    }

    fn run(plans: &Plans<T>, input: &[T], indices: &mut [u32], wide: &mut [i64], values: &mut [T]) {
        let Plans { narrow, wide: wide_plan, has_values } = plans;
        match wide_plan {
            Some(plan) if *has_values => plan.run_with_values(input, wide, values),
            Some(plan) => plan.run(input, wide),
            None if *has_values => narrow.run_with_values(input, indices, values),
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
