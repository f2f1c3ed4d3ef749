//! An expression plugin for polars: where the largest element of a column is.
//!
//! A column lies in chunks, and a chunk with nulls has a bitmap beside its values, which is a mask of argreduce as it
//! is. So each chunk is a part of the whole: nothing is copied, and the answers of the parts are merged.

use argreduce::{ArgReduce, Element, Error, Layout, Mask, NanPolicy, Partial, input};
use polars::prelude::*;
use pyo3_polars::derive::polars_expr;

/// Nothing is in it: it makes the library a module, which is what maturin packs. polars opens the library itself.
#[pyo3::pymodule]
mod _argreduce_polars {}

/// What polars calls, with the column.
#[polars_expr(output_type=UInt64)]
fn argreduce_arg_max(inputs: &[Series]) -> PolarsResult<Series> {
    let column = &inputs[0];
    macro_rules! for_each_type {
        ($($dtype:ident $typed:ident)*) => {
            match column.dtype() {
                $(DataType::$dtype => position(column.$typed()?),)*
                other => polars_bail!(InvalidOperation: "argreduce_arg_max needs a column of numbers, not {other}"),
            }
        };
    }
    let position = for_each_type! {
        Int8 i8 Int16 i16 Int32 i32 Int64 i64 UInt8 u8 UInt16 u16 UInt32 u32 UInt64 u64 Float32 f32 Float64 f64
    };
    let position = position.map_err(|error| polars_err!(ComputeError: "{error}"))?;
    Ok(Series::new(column.name().clone(), [position]))
}

/// The position in the whole column, if anything but nulls is in it.
fn position<T: PolarsNumericType<Native: Element>>(column: &ChunkedArray<T>) -> Result<Option<u64>, Error> {
    let (whole, mut start, mut best) = ([column.len()], [0], [Partial::NONE]);
    // An empty chunk changes nothing, and would be an error where it is all there is.
    for chunk in column.downcast_iter().filter(|chunk| chunk.len() > 0) {
        let part = Layout::contiguous(&[chunk.len()])?;
        let reduce = ArgReduce::argmax(&part).all_axes().nan_policy(NanPolicy::Ignore);
        let reduce = if part.sizes() == whole { reduce } else { reduce.window(&whole, &start) };
        let plan = reduce.plan()?;

        // There may be a bitmap without nulls: it would only be read in vain.
        let validity = chunk.validity().filter(|there| there.unset_bits() > 0);
        let mask = validity.map(|there| {
            // A slice of a column begins at any bit.
            let (bytes, offset, _) = there.as_slice();
            Mask::bits(bytes, offset)
        });
        let mut partial = [Partial::NONE];
        plan.run(input(&chunk.values()[..]).masked(mask), &mut partial)?;
        plan.merge().partials(&mut best, &partial)?;
        start[0] += chunk.len();
    }
    let [best] = best;
    Ok((!best.is_none()).then_some(best.index))
}
