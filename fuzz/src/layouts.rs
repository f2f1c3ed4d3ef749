//! Validation alone: sizes, strides, offsets and axes of any kind, most of them near where arithmetic overflows. What
//! is accepted has to be what the model accepts, and a plan for it has to hold: with slices that are too short, and,
//! where no more than a few elements are visited, with an answer.

use crate::case::Sample;
use crate::model;
use crate::outcome::Outcome;
use arbitrary::{Result, Unstructured};
use argreduce::{ArgReduce, AxisDirection, Error, Index, Isa, Layout, NanPolicy, ReduceFunction, drop_axes};
use std::cell::OnceCell;

/// See the file.
pub fn layouts(bytes: &[u8]) -> Outcome {
    match Input::draw(&mut Unstructured::new(bytes)) {
        Ok(input) => {
            let class = input.check();
            Outcome::Checked(class)
        }
        Err(_) => Outcome::Rejected,
    }
}

#[derive(Debug)]
struct Input {
    sizes: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    axes: Vec<isize>,
    output: Option<(Vec<usize>, Vec<isize>, usize)>,
    order: (ReduceFunction, AxisDirection, NanPolicy),
}

impl Input {
    fn draw(u: &mut Unstructured<'_>) -> Result<Input> {
        let rank = u.arbitrary::<u8>()? as usize % 10;
        let sizes = (0..rank).map(|_| size(u)).collect::<Result<Vec<_>>>()?;
        let (strides, offset) = strides(u, &sizes)?;
        let reduced: u16 = u.arbitrary()?;
        let mut axes: Vec<isize> =
            (0..rank.min(8)).filter(|axis| reduced >> axis & 1 != 0).map(|a| a as isize).collect();
        if reduced >= 0xf000 {
            axes.push(if u.arbitrary()? { u.arbitrary()? } else { u.arbitrary::<i8>()?.into() });
        }
        let output = if u.arbitrary()? {
            let mut sizes: Vec<usize> = sizes
                .iter()
                .enumerate()
                .map(|(n, &size)| if axes.contains(&(n as isize)) { 1 } else { size })
                .collect();
            if u.ratio(1, 16)? {
                sizes.push(size(u)?);
            }
            let (strides, offset) = self::strides(u, &sizes)?;
            Some((sizes, strides, offset))
        } else {
            None
        };
        let order: u8 = u.arbitrary()?;
        let bit = |n: u32| usize::from(order >> n & 1);
        let order = (ReduceFunction::ALL[bit(0)], AxisDirection::ALL[bit(1)], NanPolicy::ALL[bit(2)]);
        Ok(Input { sizes, strides, offset, axes, output, order })
    }

    fn check(&self) -> u64 {
        let Input { sizes, strides, offset, axes, output, .. } = self;
        // Packed, and with strides.
        match (Layout::contiguous(sizes), model::count(sizes)) {
            (Ok(layout), Some(count)) if sizes.len() <= 8 => {
                assert_eq!((layout.element_count(), layout.required_len()), (count, count), "{self:?}");
            }
            (Err(Error::RankTooHigh { .. }), _) if sizes.len() > 8 => {}
            (Err(Error::TooManyElements { .. } | Error::OffsetOverflow { .. }), None) => {}
            // A slice of `isize::MAX` bytes has no place `isize::MAX`.
            (Err(Error::OffsetOverflow { .. }), Some(count)) if count == isize::MAX as usize => {}
            (result, count) => panic!("{self:?}: {result:?}, but {count:?} elements"),
        }
        let layout = checked(sizes, strides, *offset);
        let output = output.as_ref().map(|(sizes, strides, offset)| checked(sizes, strides, *offset));
        let reduced = if sizes.len() <= 8 { model::reduced(axes, sizes.len()) } else { None };
        let dropped = drop_axes(sizes, axes);
        assert_eq!(dropped.is_ok(), reduced.is_some(), "{self:?}: {dropped:?}");
        let class = |kind: u64| {
            let digits = [sizes.len(), axes.len(), output.is_some().into(), self.order.1 as usize];
            digits.into_iter().fold(kind, |number, digit| number * 16 + digit as u64)
        };
        let Some(layout) = layout else { return class(0) };
        let output = match output {
            None => None,
            Some(None) => return class(1),
            Some(output) => output,
        };
        self.plan::<u8, u32>(&layout, output.as_ref(), reduced.as_deref());
        self.plan::<f64, i32>(&layout, output.as_ref(), reduced.as_deref());
        self.plan::<u8, i64>(&layout, output.as_ref(), reduced.as_deref());
        let is_planned = self.plan::<f32, u64>(&layout, output.as_ref(), reduced.as_deref());
        class(2 + u64::from(is_planned))
    }

    /// Plans, on every ISA, and runs.
    fn plan<T: Sample, I: Index>(&self, layout: &Layout, output: Option<&Layout>, reduced: Option<&[bool]>) -> bool {
        let sizes = layout.sizes();
        let is_valid = reduced.is_some_and(|reduced| {
            output.is_none_or(|output| output.sizes() == model::output_sizes(sizes, reduced))
                && model::indices_fit(sizes, reduced, I::MAX)
        });
        let overlaps = output.map_or(Some(false), |output| model::overlaps(output.sizes(), output.strides()));
        let mut is_planned = false;
        let answers = OnceCell::new();
        for isa in Isa::available() {
            let (function, direction, policy) = self.order;
            let reduce = ArgReduce::new(function, layout).axes(&self.axes).direction(direction).nan_policy(policy);
            let reduce = if let Some(output) = output { reduce.output_layout(output) } else { reduce };
            match reduce.isa(isa).plan::<T, I>() {
                Ok(plan) => {
                    assert!(is_valid && overlaps != Some(true), "{plan} of {self:?}");
                    is_planned = true;
                    self.run(&plan, layout, reduced.unwrap_or_default(), &answers);
                }
                // Whether many elements share a place may be too hard to tell.
                Err(Error::OutputOverlaps) => assert!(overlaps != Some(false), "overlap of {self:?}"),
                Err(error) => assert!(!is_valid, "{error} of {self:?}"),
            }
        }
        is_planned
    }

    /// Slices that are too short are refused; with slices that suffice, and few elements to visit, there is an answer.
    /// It is the same for all ISAs, and so is kept.
    fn run<T: Sample, I: Index>(
        &self,
        plan: &argreduce::Plan<T, I>,
        layout: &Layout,
        reduced: &[bool],
        answers: &OnceCell<Option<Answers<T, I>>>,
    ) {
        let (needs, writes) = (layout.required_len(), plan.output_layout().required_len());
        if needs.max(writes) > MOST {
            let (input, mut indices) = (vec![T::default(); needs.min(MOST)], vec![untouched::<I>(); writes.min(MOST)]);
            assert!(matches!(plan.run(&input, &mut indices), Err(Error::TooShort { .. })), "{plan}");
            return;
        }
        let Some(answers) = answers.get_or_init(|| self.answers(layout, plan.output_layout(), reduced)) else { return };
        let mut indices = vec![untouched::<I>(); writes];
        plan.run(&answers.input[..], &mut indices).expect("slices are long enough");
        assert_eq!(indices, answers.written, "{plan} of {self:?}");
    }

    /// What to run a plan on, and what it is to write, unless that is too many elements to visit.
    fn answers<T: Sample, I: Index>(
        &self,
        layout: &Layout,
        output: &Layout,
        reduced: &[bool],
    ) -> Option<Answers<T, I>> {
        let input: Vec<T> = (0..layout.required_len()).map(|n| T::of_bits(n as u64 * 7 % 3)).collect();
        let mut written = vec![untouched(); output.required_len()];
        if output.element_count() == 0 {
            return Some(Answers { input, written });
        }
        // Reduced axes that repeat an element are not visited.
        let (mut few, mut first) = (layout.sizes().to_vec(), 0);
        let mut step = 1;
        let mut steps = vec![0; few.len()];
        for axis in (0..few.len()).rev().filter(|&axis| reduced[axis]) {
            steps[axis] = step;
            if layout.strides()[axis] == 0 && few[axis] > 1 {
                first += if self.order.1 == AxisDirection::Decreasing { (few[axis] - 1) * step } else { 0 };
                step = step.wrapping_mul(few[axis]);
                few[axis] = 1;
            } else {
                step = step.wrapping_mul(few[axis]);
            }
        }
        if model::count(&few).is_none_or(|count| count > MOST) {
            return None;
        }
        let few = Layout::strided(&few, layout.strides(), layout.offset()).expect("a part of the layout");
        let expected = model::best(self.order, &few, reduced, &input);
        for (place, (mut index, _)) in model::places(output.sizes(), output.strides()).zip(expected) {
            let mut whole = first;
            for axis in (0..reduced.len()).rev().filter(|&axis| reduced[axis]) {
                whole += index % few.sizes()[axis] * steps[axis];
                index /= few.sizes()[axis];
            }
            written[(output.offset() as i128 + place) as usize] = I::at(whole as isize, 0, 0);
        }
        Some(Answers { input, written })
    }
}

struct Answers<T, I> {
    input: Vec<T>,
    written: Vec<I>,
}

/// The longest slices that are made.
const MOST: usize = 4096;

/// An index that no reduction here has.
fn untouched<I: Index>() -> I {
    I::at(-77, 0, 0)
}

/// A layout, if there is one: as the model says.
fn checked(sizes: &[usize], strides: &[isize], offset: usize) -> Option<Layout> {
    let (layout, expected) = (Layout::strided(sizes, strides, offset), model::required_len(sizes, strides, offset));
    let found = layout.as_ref().ok().map(Layout::required_len);
    assert_eq!(found, expected, "{sizes:?} {strides:?} {offset}: {layout:?}");
    layout.ok()
}

/// Small, or around a power of two, or anything.
fn size(u: &mut Unstructured<'_>) -> Result<usize> {
    let (kind, n): (u8, u8) = u.arbitrary()?;
    Ok(match kind {
        0..100 => n as usize % 5,
        100..150 => n as usize,
        150..240 => 1_usize.rotate_left(n.into()).wrapping_add_signed(n as isize / 64 - 1),
        240..245 => isize::MAX as usize,
        _ => u.arbitrary()?,
    })
}

fn strides(u: &mut Unstructured<'_>, sizes: &[usize]) -> Result<(Vec<isize>, usize)> {
    let (mut strides, mut stride) = (vec![0_isize; sizes.len()], 1_isize);
    let mut before = 0_usize;
    for axis in (0..sizes.len()).rev() {
        strides[axis] = match u.arbitrary::<u8>()? {
            0..120 => stride,
            120..150 => stride.wrapping_neg(),
            150..190 => 0,
            190..210 => u.arbitrary::<i8>()?.into(),
            // As far apart as those of another axis, as windows are.
            210..220 => strides[u.arbitrary::<u8>()? as usize % sizes.len()],
            220..245 => {
                let n: u8 = u.arbitrary()?;
                1_isize.rotate_left(n.into()).wrapping_add(n as isize / 64 - 1)
            }
            _ => u.arbitrary()?,
        };
        stride = stride.wrapping_mul(sizes[axis].max(1) as isize);
        let last = sizes[axis].saturating_sub(1);
        before = before.wrapping_add(last.wrapping_mul(strides[axis].min(0).unsigned_abs()));
    }
    let offset = match u.arbitrary::<u8>()? {
        0..150 => before,
        150..200 => before.wrapping_add(u.arbitrary::<u8>()?.into()),
        200..230 => before.wrapping_sub(u.arbitrary::<u8>()?.into()),
        230..245 => (isize::MAX as usize).wrapping_sub(u.arbitrary::<u8>()?.into()),
        _ => u.arbitrary()?,
    };
    // Sometimes not one for each axis.
    if u.ratio(1, 64)? {
        strides.push(1);
    }
    Ok((strides, offset))
}
