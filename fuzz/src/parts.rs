//! Parts of a tensor: cut into boxes, each reduced by a plan with a window, merged two at a time in an order of the
//! input's, against the answers for the whole.

use crate::check::{answers, with_index_type};
use crate::sample::Sample;
use crate::{Outcome, Problem, model};
use arbitrary::{Arbitrary, Result, Unstructured};
use argreduce::{ArgReduce, Error, Index, Isa, Layout, Partial, with_element_type};

/// See the file.
pub fn parts(bytes: &[u8]) -> Outcome {
    let u = &mut Unstructured::new(bytes);
    let Ok((choices, problem)) = draw(u) else { return Outcome::Rejected };
    with_index_type!(problem.index_type, I => {
        with_element_type!(problem.data_type, T => check::<T, I>(&choices, &problem));
    });
    Outcome::Checked(problem.class())
}

/// Where to cut, and what to merge: the elements are all that is left, so that these come first.
struct Choices {
    /// Which box, which axis, and where.
    cuts: Vec<[u8; 3]>,
    /// Which two boxes, over and over, and how.
    merges: [u8; 4],
}

fn draw(u: &mut Unstructured<'_>) -> Result<(Choices, Problem)> {
    let count = u.arbitrary::<u8>()? % 8;
    let cuts = (0..count).map(|_| u.arbitrary()).collect::<Result<_>>()?;
    Ok((Choices { cuts, merges: u.arbitrary()? }, Problem::arbitrary(u)?))
}

/// A box of a tensor: its sizes, and where it begins.
#[derive(Clone, Debug)]
struct Part {
    start: Vec<usize>,
    sizes: Vec<usize>,
}

impl Choices {
    /// Boxes that make up the whole, some of them empty.
    fn cut(&self, sizes: &[usize]) -> Vec<Part> {
        let mut parts = vec![Part { start: vec![0; sizes.len()], sizes: sizes.to_vec() }];
        for &[part, axis, at] in self.cuts.iter().filter(|_| !sizes.is_empty()) {
            let (part, axis) = (part as usize % parts.len(), axis as usize % sizes.len());
            let mut second = parts[part].clone();
            let at = at as usize % (second.sizes[axis] + 1);
            parts[part].sizes[axis] = at;
            (second.start[axis], second.sizes[axis]) = (second.start[axis] + at, second.sizes[axis] - at);
            parts.push(second);
        }
        parts
    }
}

fn check<T: Sample, I: Index>(choices: &Choices, problem: &Problem) {
    let Problem { order: (function, direction, policy), ref layout, ref axes, .. } = *problem;
    let elements = problem.data.elements::<T>(layout.required_len());
    let Some(indices) = answers::<T, I>(problem, &elements) else { return };
    let (sizes, isas) = (layout.sizes(), Isa::available().collect::<Vec<_>>());
    let reduced = model::reduced(axes, sizes.len()).expect("there are answers");
    let (best, isa) = (model::best(problem.order, layout, &reduced, &elements), |n: usize| isas[n % isas.len()]);
    let outputs = model::output_sizes(sizes, &reduced);
    let packed = Layout::contiguous(&outputs).expect("the sizes of an output");

    let mut found = Vec::new();
    for (n, part) in choices.cut(sizes).iter().enumerate() {
        let whole = |layout: Layout, axis: usize| {
            let (start, size) = (part.start[axis] as isize, part.sizes[axis] as isize);
            layout.slice(axis as isize, start..start + size, 1).expect("a part of the layout")
        };
        let view = (0..sizes.len()).fold(*layout, whole);
        let reduce = ArgReduce::new(function, &view).axes(axes).direction(direction).nan_policy(policy);
        let plan = reduce.isa(isa(n)).window(sizes, &part.start).plan::<T, I>().expect("the whole has a plan");
        let mut partials = vec![Partial::<T, I>::NONE; plan.output_layout().element_count()];
        match plan.run(&elements, &mut partials) {
            Ok(()) => {}
            // The index of the last element would say that there is none.
            Err(Error::IndexTooLarge { .. }) => {
                let reduced = sizes.iter().zip(&reduced).filter(|&(_, &reduced)| reduced);
                let largest = reduced.map(|(&size, _)| size).product::<usize>() - 1;
                assert_eq!(I::at(largest as isize, 0, 0), I::NONE, "{plan} of {part:?} of {problem:?}");
                return;
            }
            Err(error) => panic!("{error}: {plan} of {part:?} of {problem:?}"),
        }
        // At their places among those of the whole.
        let mut all = vec![Partial::NONE; packed.element_count()];
        let first: isize = (0..sizes.len())
            .filter(|&axis| !reduced[axis])
            .map(|axis| part.start[axis] as isize * packed.strides()[axis])
            .sum();
        for (place, partial) in model::places(plan.output_layout().sizes(), packed.strides()).zip(partials) {
            all[first as usize + place as usize] = partial;
        }
        found.push((all, plan.merge()));
    }
    for &choice in choices.merges.iter().cycle() {
        if found.len() == 1 {
            break;
        }
        let (other, _) = found.swap_remove(choice as usize % found.len());
        let n = choice as usize / 8 % found.len();
        let (acc, merge) = &mut found[n];
        merge.isa(isa(choice as usize)).partials(acc, &other).expect("both are as long");
    }
    let (merged, _) = &found[0];
    let merged: Vec<_> = merged.iter().map(|partial| (partial.index, partial.value.bits())).collect();
    let index = |&index: &usize| I::at(index as isize, 0, 0);
    let places = best.iter().map(|&(_, place)| elements[place].bits());
    assert_eq!(merged, indices.iter().map(index).zip(places).collect::<Vec<_>>(), "{problem:?}");
}
