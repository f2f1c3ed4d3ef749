//! The one check: a reduction on every ISA of this machine (and of this build: with `--cfg wide_portable`, portable
//! vectors of 16, 32 and 64 bytes) against a model, and the model against the reference, on slices flush against guard
//! pages. If it is not valid, each has to refuse it.

use crate::draw::Problem;
use crate::model;
use crate::sample::Sample;
use argreduce::{ArgReduce, Error, Index, Isa, Layout, with_element_type};
use argreduce_guard::{Edge, Guarded};

/// An expression with `$I` for the type of indices.
macro_rules! with_index_type {
    ($index_type:expr, $I:ident => $body:expr) => {{
        macro_rules! body {
            ($t:ty) => {{
                type $I = $t;
                $body
            }};
        }
        match $index_type {
            argreduce::DataType::I32 => body!(i32),
            argreduce::DataType::I64 => body!(i64),
            argreduce::DataType::U32 => body!(u32),
            argreduce::DataType::U8 => body!(u8),
            argreduce::DataType::U16 => body!(u16),
            _ => body!(u64),
        }
    }};
}
pub(crate) use with_index_type;

/// Checks a reduction.
///
/// # Panics
/// If anything is wrong; and what reads or writes beyond a slice ends the process.
pub fn check(problem: &Problem) {
    with_index_type!(problem.index_type, I => {
        with_element_type!(problem.data_type, T => check_typed::<T, I>(problem));
    });
}

fn check_typed<T: Sample, I: Index>(problem: &Problem) {
    let elements = problem.data.elements::<T>(problem.layout.required_len());
    answers::<T, I>(problem, &elements);
}

/// The indices of the elements, in row-major order of the outputs, if the reduction is valid: by the model, and as
/// every ISA says.
pub(crate) fn answers<T: Sample, I: Index>(problem: &Problem, elements: &[T]) -> Option<Vec<usize>> {
    let Problem { order, ref layout, ref axes, ref output, edge, .. } = *problem;
    let (sizes, strides) = (layout.sizes(), layout.strides());
    let expected = model::reduced(axes, sizes.len()).filter(|reduced| {
        let fits = |output: &Layout| output.sizes() == model::output_sizes(sizes, reduced);
        output.as_ref().is_none_or(fits) && model::indices_fit(sizes, reduced, I::MAX)
    });
    // Behind a guard page, from the lowest element on, or before one.
    let before = |(&size, &stride): (&usize, &isize)| (size.max(1) - 1) * stride.min(0).unsigned_abs();
    let skipped = match edge {
        Edge::Start if layout.element_count() > 0 => {
            layout.offset() - sizes.iter().zip(strides).map(before).sum::<usize>()
        }
        _ => 0,
    };
    let layout = &Layout::strided(sizes, strides, layout.offset() - skipped).expect("was one before");
    let input = Guarded::copy_of(&elements[skipped..], edge);
    let overlaps = output.as_ref().map_or(Some(false), |output| model::overlaps(output.sizes(), output.strides()));

    let mut answers = None;
    for isa in Isa::available() {
        let (function, direction, policy) = order;
        let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
        let reduce = if let Some(output) = output { reduce.output_layout(output) } else { reduce };
        let (plan, reduced) = match (reduce.plan::<T, I>(), &expected) {
            (Ok(plan), Some(reduced)) if overlaps != Some(true) => (plan, reduced),
            (Err(_), None) => continue,
            (Err(Error::OutputOverlaps), Some(_)) if overlaps != Some(false) => continue,
            (result, _) => panic!("{isa} of {problem:?}: {result:?}"),
        };
        let required = plan.output_layout().required_len();
        let answers = answers.get_or_insert_with(|| {
            let best = model::best(order, layout, reduced, &input);
            let (indices, places): (Vec<_>, Vec<_>) = best.into_iter().unzip();
            let best = places.into_iter().map(|place: usize| input[place].bits()).collect();
            // Nothing between the outputs is written.
            let mut written = vec![untouched::<I>(); required];
            let output = plan.output_layout();
            for (place, &index) in model::places(output.sizes(), output.strides()).zip(&indices) {
                written[(output.offset() as i128 + place) as usize] = I::at(index as isize, 0, 0);
            }
            Answers { indices, best, written }
        });
        let mut indices = Guarded::filled(untouched::<I>(), required, edge);
        plan.run(&input[..], &mut indices[..]).expect("slices are long enough");
        assert_eq!(*indices, *answers.written, "{plan} of {problem:?}");
        let mut values = Guarded::filled(T::default(), answers.indices.len(), edge);
        indices.fill(untouched());
        plan.run(&input[..], (&mut indices[..], &mut values[..])).expect("slices are long enough");
        assert_eq!(*indices, *answers.written, "{plan}, with values, of {problem:?}");
        assert!(
            values.iter().map(|value| value.bits()).eq(answers.best.iter().copied()),
            "{plan}, values, of {problem:?}"
        );
        // One element less, and nothing is written.
        if let Some((_, shorter)) = input.split_last().filter(|_| layout.element_count() > 0) {
            indices.fill(untouched());
            plan.run(shorter, &mut indices[..]).expect_err("the input is too short");
            assert!(indices.iter().all(|&index| index == untouched()), "{plan} wrote, and failed");
        }
    }
    answers.map(|answers| answers.indices)
}

struct Answers<I> {
    indices: Vec<usize>,
    best: Vec<u64>,
    written: Vec<I>,
}

/// An index that no problem here has.
fn untouched<I: Index>() -> I {
    I::at(-77, 0, 0)
}
