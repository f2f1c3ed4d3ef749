//! What a plan displays: what it reduces, what that collapsed to, and how it will run.

use super::erased::ErasedPlan;
use super::plan::Plan;
use crate::{DataType, Element, Index};
use argreduce_kernels::{LoopDim, Strategy};
use std::fmt;

impl<T: Element, I: Index> fmt::Display for Plan<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f, T::DATA_TYPE, I::NAME)
    }
}

impl ErasedPlan {
    pub(crate) fn fmt(&self, f: &mut fmt::Formatter<'_>, data_type: DataType, index_type: &str) -> fmt::Result {
        self.fmt_as(f, self.function().name(), data_type, index_type)
    }

    /// As a plan for what has that name.
    pub(super) fn fmt_as(
        &self,
        f: &mut fmt::Formatter<'_>,
        function: &str,
        data_type: DataType,
        index_type: &str,
    ) -> fmt::Result {
        let axes: &mut dyn Iterator<Item = usize> =
            &mut (0..self.sizes().len()).filter(|&axis| self.axes().contains(axis));
        write!(f, "{function} of {data_type} ")?;
        if let Some(start) = self.part_start() {
            let sizes = self.input().sizes();
            write!(f, "{sizes:?} at {start:?} of ")?;
        }
        write!(f, "{:?} over axes ", self.sizes())?;
        f.debug_list().entries(axes).finish()?;
        write!(f, " to {} {:?}, {}, nan {}: ", index_type, self.output().sizes(), self.direction(), self.nan_policy())?;
        if self.output().element_count() == 0 {
            return f.write_str("no outputs");
        }
        if self.empty_axis().is_some() {
            return f.write_str("nothing to choose from");
        }
        let (shape, kernel) = (self.exec().shape(), self.exec().kernel());
        write!(f, "outputs ")?;
        fmt_sizes(f, shape.kept_dims())?;
        f.write_str(" of ")?;
        fmt_sizes(f, shape.reduced_dims())?;
        if shape.is_split() {
            f.write_str(", merged over ")?;
            fmt_sizes(f, shape.split_dims())?;
        }
        if !shape.output.broadcast_dims().is_empty() {
            f.write_str(", copied to ")?;
            fmt_sizes(f, shape.output.broadcast_dims())?;
        }
        match kernel {
            Some((isa, strategy @ Strategy::SegmentedRows, _)) if !strategy.is_in_place(shape.reduced_dims()) => {
                write!(f, ", gathered segmented rows, {isa}")
            }
            Some((isa, strategy, _)) => write!(f, ", {strategy}, {isa}"),
            None => f.write_str(", trivial"),
        }
    }
}

fn fmt_sizes(f: &mut fmt::Formatter<'_>, loops: &[LoopDim]) -> fmt::Result {
    f.debug_list().entries(loops.iter().map(|l| l.size)).finish()
}

#[cfg(test)]
mod tests {
    use crate::{ArgReduce, Isa, Layout};

    /// What a plan says of how it will run.
    #[test]
    fn says_how_it_runs() {
        let how = |sizes: &[usize], strides: &[isize], axes: &[isize]| {
            let layout = Layout::strided(sizes, strides, 0).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(axes).isa(Isa::Portable).plan::<f32, u32>().unwrap();
            plan.to_string().split_once("propagate: ").unwrap().1.to_string()
        };
        assert_eq!(how(&[3, 40], &[40, 1], &[1]), "outputs [3] of [40], rows, portable");
        assert_eq!(how(&[2, 100, 32], &[3200, 32, 1], &[0, 2]), "outputs [100] of [2, 32], segmented rows, portable");
        assert_eq!(how(&[2, 31], &[40, 1], &[0, 1]), "outputs [] of [2, 31], gathered segmented rows, portable");
        assert_eq!(how(&[3, 40], &[0, 1], &[1]), "outputs [] of [40], copied to [3], rows, portable");
        assert_eq!(how(&[3, 40], &[1, 0], &[1]), "outputs [3] of [1], trivial");
        assert_eq!(how(&[0, 40], &[40, 1], &[1]), "no outputs");
        assert_eq!(how(&[40, 50], &[1, 40], &[0, 1]), "outputs [] of [50], merged over [40], columns, portable");
        // Only a part is said to be one.
        let layout = Layout::contiguous(&[3, 40]).unwrap();
        let what = |reduce: ArgReduce<'_>| {
            let plan = reduce.axes(&[1]).plan::<f32, u32>().unwrap();
            plan.to_string().split_once(" to ").unwrap().0.to_string()
        };
        assert_eq!(what(ArgReduce::argmax(&layout)), "argmax of f32 [3, 40] over axes [1]");
        let part = what(ArgReduce::argmax(&layout).window(&[3, 90], &[0, 50]));
        assert_eq!(part, "argmax of f32 [3, 40] at [0, 50] of [3, 90] over axes [1]");
    }
}
