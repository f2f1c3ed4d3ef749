//! The one check: a case on every ISA of this machine (and of this build: with `--cfg wide_portable`, portable vectors
//! of 16, 32 and 64 bytes) against the reference, and the reference against a model, on slices flush against guard
//! pages. If it is not valid, each has to refuse it.

use crate::call::Call;
use crate::case::{Asked, Case, Data, Expected, max_index};
use crate::draw::Problem;
use crate::model;
use argreduce::{DataType, Element, Error, Isa, Key, with_element_type};

/// Checks a reduction, to indices and to values, of types where there are plans of them.
///
/// # Panics
/// If anything is wrong; and what reads or writes beyond a slice ends the process.
pub fn check(problem: &Problem) {
    answers(problem);
}

/// The elements, and the indices of the best, in row-major order of the outputs, if the reduction is valid: by the
/// model, and as every ISA says.
pub(crate) fn answers(problem: &Problem) -> Option<(Data, Vec<usize>)> {
    let case = problem.case();
    check_case(&Case { asked: Asked::Indices, ..case.clone() }, || problem.data(|_| true))?;
    let (data, expected) = check_case(&Case { asked: Asked::Values, ..case }, || problem.data(|_| true))?;
    let index = |index: &Option<u64>| index.expect("without a mask all is there") as usize;
    let indices = expected[0].indices.iter().map(index).collect();
    Some((data, indices))
}

/// Checks a case: what it read and was to find, if it is valid.
pub(crate) fn check_case(case: &Case, data: impl FnOnce() -> Data) -> Option<(Data, Vec<Expected>)> {
    let is_valid = is_valid(case);
    for isa in Isa::available() {
        match (Call::planned_of(case, Some(isa)), is_valid) {
            (Ok(_), Some(true)) => {}
            (Err(_), Some(false)) => {}
            (Ok(_), None) => {}
            // Whether many elements share a place may be too hard to tell.
            (Err(Error::OutputOverlaps), None) => return None,
            // What is said of a part, nobody says again.
            (Err(_), None) if case.margins.is_some() => return None,
            (result, _) => panic!("{isa}: {result:?}\n{case:?}"),
        }
    }
    if is_valid == Some(false) {
        return None;
    }
    let data = data();
    let expected = case.expected(&data);
    if let (Key::Value, None, None, None, false) = (case.key, case.walk, case.mask, case.margins, case.is_empty()) {
        with_element_type!(case.data_type, T => model::compare::<T>(case, &data, &expected));
    }
    case.check(&data, &expected);
    Some((data, expected))
}

/// What elements of a type are compared by, as a number says.
pub(crate) fn key_of(data_type: DataType, choice: u8) -> Key {
    match choice % 4 {
        0 | 1 => Key::Value,
        2 => Key::Magnitude,
        _ => with_element_type!(data_type, T => {
            let q = <T as argreduce_guard::Sample>::of_bits(u64::from(choice) * 0x0101_0101_0101_0101);
            if Element::is_nan(q) { Key::Magnitude } else { Key::distance(q) }
        }),
    }
}

/// Whether there is a plan, as far as the model says.
fn is_valid(case: &Case) -> Option<bool> {
    let sizes = case.layout.sizes();
    let Some(reduced) = model::reduced(&case.axes, sizes.len()) else { return Some(false) };
    let (output, max) = (&case.output, max_index(case.index_type));
    if case.walk.is_some() {
        // (None has an output layout.)
        let axis = reduced.iter().position(|&reduced| reduced)?;
        return if case.margins.is_some() {
            None
        } else {
            Some(sizes.contains(&0) || sizes[axis] as u128 - 1 <= max.into())
        };
    }
    if output.is_some_and(|output| output.sizes() != model::output_sizes(sizes, &reduced)) {
        return Some(false);
    }
    if case.margins.is_some() {
        return None;
    }
    if !model::indices_fit(sizes, &reduced, max) {
        return Some(false);
    }
    output.map_or(Some(false), |output| model::overlaps(output.sizes(), output.strides())).map(|overlaps| !overlaps)
}
