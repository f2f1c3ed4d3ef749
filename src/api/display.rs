//! What a plan displays: what it reduces, what that collapsed to, and how it will run.

use super::erased::ErasedPlan;
use super::plan::Plan;
use crate::{DataType, Element, Index};
use argreduce_kernels::{LoopDim, Strategy};
use std::fmt;

impl<T: Element, I: Index> fmt::Display for Plan<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt_as(f, self.erased.function().name(), T::DATA_TYPE, I::NAME)
    }
}

impl<T: Element, I: Index> fmt::Debug for Plan<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_debug(f, "Plan", self, &[("erased", &self.erased)])
    }
}

/// What holds a plan is often printed with all that it holds, so that this is short: the name of the type, and what the
/// plan displays. Its fields, loops and pointers to functions among them, are for the long form, `{:#?}`.
pub(crate) fn fmt_debug(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    displayed: &dyn fmt::Display,
    fields: &[(&str, &dyn fmt::Debug)],
) -> fmt::Result {
    if !f.alternate() {
        return write!(f, "{name}({displayed})");
    }
    let mut debug = f.debug_struct(name);
    fields.iter().for_each(|(field, value)| _ = debug.field(field, value));
    debug.finish()
}

impl ErasedPlan {
    /// As a plan for what has that name.
    pub(super) fn fmt_as(
        &self,
        f: &mut fmt::Formatter<'_>,
        function: &str,
        data_type: DataType,
        index_type: &str,
    ) -> fmt::Result {
        if self.walk().is_some() {
            f.write_str("cumulative ")?;
        }
        write!(f, "{function} of {data_type} ")?;
        if let Some(start) = self.part_start() {
            let sizes = self.input().sizes();
            write!(f, "{sizes:?} at {start:?} of ")?;
        }
        let (sizes, axes) = (self.sizes(), self.axes());
        write!(f, "{sizes:?} over axes ")?;
        fmt_sizes(f, (0..sizes.len()).filter(|&axis| axes.contains(axis)))?;
        write!(f, " to {index_type} ")?;
        let drops_axes = f.alternate();
        let drops_axes = drops_axes && self.walk().is_none();
        let outputs = self.output().sizes().iter().enumerate();
        fmt_sizes(f, outputs.filter(|&(axis, _)| !(drops_axes && axes.contains(axis))).map(|(_, &size)| size))?;
        f.write_str(", ")?;
        self.options().fmt_words(f)?;
        f.write_str(": ")?;
        if self.output().element_count() == 0 {
            return f.write_str("no outputs");
        }
        if let Some(walk) = self.walk() {
            let which = if walk.is_reversed { "from the end" } else { "so far" };
            return write!(f, "{which}, {}", self.isa());
        }
        if self.empty_axis().is_some() {
            return f.write_str("nothing to choose from");
        }
        let (shape, kernel) = (self.exec().shape(), self.exec().kernel());
        write!(f, "outputs ")?;
        fmt_loops(f, shape.kept_dims())?;
        f.write_str(" of ")?;
        fmt_loops(f, shape.reduced_dims())?;
        if shape.is_split() {
            f.write_str(", merged over ")?;
            fmt_loops(f, shape.split_dims())?;
        }
        if !shape.output.broadcast_dims().is_empty() {
            f.write_str(", copied to ")?;
            fmt_loops(f, shape.output.broadcast_dims())?;
        }
        match kernel {
            Some((isa, ..)) if self.exec().windows().is_some() => write!(f, ", windows that overlap, {isa}"),
            Some((isa, strategy @ Strategy::SegmentedRows, _)) if !strategy.is_in_place(shape.reduced_dims()) => {
                write!(f, ", gathered segmented rows, {isa}")
            }
            Some((isa, strategy, _)) => write!(f, ", {strategy}, {isa}"),
            None => f.write_str(", trivial"),
        }
    }
}

fn fmt_loops(f: &mut fmt::Formatter<'_>, loops: &[LoopDim]) -> fmt::Result {
    fmt_sizes(f, loops.iter().map(|l| l.size))
}

/// In one line, also with `{:#}`, for which a list of the standard library has several.
fn fmt_sizes(f: &mut fmt::Formatter<'_>, sizes: impl Iterator<Item = usize>) -> fmt::Result {
    f.write_str("[")?;
    for (n, size) in sizes.enumerate() {
        let comma = if n > 0 { ", " } else { "" };
        write!(f, "{comma}{size}")?;
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use crate::{ArgReduce, DataType, Isa, Key, Layout};
    use std::fmt;

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
        let layout = Layout::contiguous(&[3, 40]).unwrap();
        let plan = ArgReduce::argmax(&layout).axes(&[1]).isa(Isa::Portable).cumulative();
        let text = "cumulative argmax of f32 [3, 40] over axes [1] to u32 [3, 40], increasing, nan propagate: ";
        for (plan, way) in [(plan, "so far, portable"), (plan.reverse(), "from the end, portable")] {
            assert_eq!(format!("{:#}", plan.plan::<f32, u32>().unwrap()), format!("{text}{way}"));
        }
        let plan = ArgReduce::argmax(&layout).axes(&[1]).isa(Isa::Portable).by(Key::distance(1.5_f32));
        let text = "argmax of f32 [3, 40] over axes [1] to u32 [3, 1], increasing, nan propagate, by distance to 1.5: ";
        assert_eq!(plan.plan::<f32, u32>().unwrap().to_string(), format!("{text}outputs [3] of [40], rows, portable"));
        // Only a part is said to be one.
        let layout = Layout::contiguous(&[3, 40]).unwrap();
        let what = |reduce: ArgReduce<'_>| {
            let plan = reduce.axes(&[1]).plan::<f32, u32>().unwrap();
            plan.to_string().split_once(" to ").unwrap().0.to_string()
        };
        assert_eq!(what(ArgReduce::argmax(&layout)), "argmax of f32 [3, 40] over axes [1]");
        let part = what(ArgReduce::argmax(&layout).window(&[3, 90], &[0, 50]));
        assert_eq!(part, "argmax of f32 [3, 40] at [0, 50] of [3, 90] over axes [1]");
        // With `{:#}`, the sizes of the output are those without the reduced axes, and that is all.
        let plan = ArgReduce::argmax(&layout).axes(&[1]).plan::<f32, u32>().unwrap();
        assert_eq!(format!("{plan:#}"), plan.to_string().replace(" to u32 [3, 1], ", " to u32 [3], "));
        let plan = ArgReduce::argmax(&layout).all_axes().plan_untyped(DataType::F32, DataType::U32).unwrap();
        assert_eq!(format!("{plan:#}"), plan.to_string().replace(" to u32 [1, 1], ", " to u32 [], "));
    }

    /// What holds a plan prints it in a line, and all of it where that is asked for.
    #[test]
    fn debug_is_short() {
        let layout = Layout::contiguous(&[3, 40]).unwrap();
        let reduce = ArgReduce::argmax(&layout).axes(&[1]);
        let plan = reduce.plan::<f32, u32>().unwrap();
        assert_eq!(format!("{:?}", Some(plan)), format!("Some(Plan({plan}))"));
        let untyped = reduce.plan_untyped(DataType::F32, DataType::U32).unwrap();
        assert_eq!(format!("{untyped:?}"), format!("UntypedPlan({plan})"));
        let reduce = ArgReduce::argminmax(&layout).axes(&[1]);
        let both = reduce.plan_both::<f32, u32>().unwrap();
        assert_eq!(format!("{both:?}"), format!("PlanBoth({both})"));
        let untyped_both = reduce.plan_both_untyped(DataType::F32, DataType::U32).unwrap();
        assert_eq!(format!("{untyped_both:?}"), format!("UntypedPlanBoth({both})"));
        let mut stream = ArgReduce::argmin(&layout).axes(&[0]).stream::<f32, i64>(0).unwrap();
        stream.push(&layout, &[0.0; 120]).unwrap();
        let said = "ArgStream(argmin of f32 to i64 [1, 40], increasing, nan propagate, 3 along axis 0 so far)";
        assert_eq!(format!("{stream:?}"), said);

        let names = ["Plan {", "UntypedPlan {", "PlanBoth {", "UntypedPlanBoth {", "ArgStream {"];
        let all: [&dyn fmt::Debug; 5] = [&plan, &untyped, &both, &untyped_both, &stream];
        for (name, one) in names.into_iter().zip(all) {
            let long = format!("{one:#?}");
            assert!(long.starts_with(name) && long.contains("index_start") && long.lines().count() > 50, "{long}");
        }
    }
}
