//! Random cases: views of a block of memory, of any rank, axes and strides; and what there is to choose, each by a
//! number of its own, of which 0 is the plainest, so that a case that fails becomes plain.

use super::call::typed_indices;
use super::case::{Asked, Case, Data, Format};
use super::executor::{WIDTHS, Way};
use super::{dense_or_sparse, orders, rng};
use argreduce::{DataType, Key, Layout, with_element_type};
use argreduce_guard::Edge;
use proptest::prelude::*;
use rand::RngExt;
use rand::rngs::SmallRng;

/// The types of indices that plans for bytes have.
pub const INDEX_TYPES: [DataType; 6] =
    [DataType::U32, DataType::I64, DataType::U8, DataType::U16, DataType::I32, DataType::U64];

/// A view of a block of memory, axes, and where to write.
#[derive(Debug, Clone)]
pub struct View {
    pub layout: Layout,
    pub axes: Vec<isize>,
    pub output: Option<Layout>,
}

/// The type of elements, that of indices, the order; whether it is of bytes, of both functions; what is asked for,
/// whether that is new; the mask, and where its bits or its axes are; the executor, and its width; whether it is a
/// part, the fill, the edge of memory, whether it is the best so far, and the key.
pub type Choices = [u8; 16];

/// A case of a view.
pub fn case(view: &View, choices: Choices, seed: u64) -> Case {
    let [
        data_type,
        index_type,
        order,
        bytes,
        both,
        asked,
        new,
        mask,
        place,
        executor,
        width,
        part,
        fill,
        edge,
        walk,
        key,
    ] = choices.map(usize::from);
    let data_type = DataType::ALL[data_type % DataType::ALL.len()];
    let mut case = Case {
        output: view.output,
        margins: (part % 3 == 1).then_some(seed as u32),
        order: orders().nth(order % 8).expect("eight orders"),
        key: key_of(data_type, key),
        is_both: both % 3 == 2,
        is_typed: bytes % 2 == 0,
        mask: match mask % 8 {
            2 => Some(Format::Bits(place % 20)),
            3 => Some(Format::Bools),
            4 => Some(Format::Bytes),
            5 => Some(Format::Strided),
            6 => Some(Format::BytesStrided),
            7 => Some(Format::Broadcast(place)),
            _ => None,
        },
        executor: match executor % 32 {
            0..10 => None,
            // Those that take their time are rare.
            31 => Some((Way::ALL[7 + width % 2], 3)),
            n => Some((Way::ALL[n % 7], WIDTHS[width % WIDTHS.len()])),
        },
        asked: Asked::ALL[asked % Asked::ALL.len()],
        is_new: new % 2 == 1,
        edge: Edge::ALL[edge % 2],
        seed,
        ..Case::new(&view.layout, &view.axes, data_type, INDEX_TYPES[0])
    };
    if walk % 3 > 0 && case.axes.len() == 1 {
        case.walk = Some(walk % 3 == 2);
        case.output = case.output.map(|_| output_so_far(&case.layout, seed));
        let is_made = case.asked == Asked::Indices || case.asked == Asked::Mixed && case.is_both;
        case.asked = if is_made { Asked::Indices } else { Asked::Values };
    }
    let index_types = if case.is_typed { typed_indices(data_type) } else { &INDEX_TYPES[..] };
    let index_type = index_types[index_type % index_types.len()];
    case.index_type = if case.fits(index_type) { index_type } else { index_types[0] };
    let signed_or_not = if case.index_type.name().starts_with('i') { -9 } else { 200 };
    case.fill = [None, Some(7), Some(100), Some(signed_or_not)][fill % 4];
    case
}

/// What elements of a type are compared by: one that is as likely as all others is themselves.
pub fn key_of(data_type: DataType, choice: usize) -> Key {
    match choice % 8 {
        0..4 => Key::Value,
        4 | 5 => Key::Magnitude,
        _ => with_element_type!(data_type, T => {
            let to = <T as argreduce_guard::Sample>::SPECIAL;
            let numbers: Vec<_> = to.iter().filter(|to| !argreduce::Element::is_nan(**to)).collect();
            Key::distance(*numbers[choice / 8 % numbers.len()])
        }),
    }
}

/// Places for the best so far: of neighbours, every second one, backwards, or the first axis fastest.
fn output_so_far(layout: &Layout, seed: u64) -> Layout {
    let (sizes, rank) = (layout.sizes(), layout.sizes().len());
    let (order, steps): (Vec<usize>, _) = match seed % 4 {
        0 => ((0..rank).collect(), 1),
        1 => ((0..rank).collect(), 2),
        2 => ((0..rank).collect(), -1),
        _ => ((0..rank).rev().collect(), 1),
    };
    strided(sizes, &vec![steps; rank], &order, 3)
}

/// Elements and what is there, as the seed says.
pub fn data(case: &Case) -> Data {
    let rng = &mut rng(case.seed);
    let there = presence(rng, case.layout.element_count());
    with_element_type!(case.data_type, T => {
        let is_sparse = rng.random_range(0..3) == 0;
        Data::new::<T>(&dense_or_sparse(rng, case.layout.required_len(), is_sparse), there)
    })
}

/// What is there: nothing, some, all but some, everything, or runs.
pub fn presence(rng: &mut SmallRng, len: usize) -> Vec<bool> {
    match rng.random_range(0..6) {
        0 => vec![false; len],
        1 => vec![true; len],
        2 => (0..len).map(|_| rng.random_range(0..100) == 0).collect(),
        3 => (0..len).map(|_| rng.random_range(0..100) != 0).collect(),
        4 => (0..len).map(|_| rng.random()).collect(),
        _ => {
            let run = 1 + rng.random_range(0..200);
            (0..len).map(|n| n / run % 2 == 0).collect()
        }
    }
}

/// Draws data for a case, and checks it.
pub fn check(case: &Case) {
    let data = data(case);
    case.check(&data, &case.expected(&data));
}

/// One axis: its size, how its step relates to that of a packed tensor, and whether it is reduced.
fn axis() -> impl Strategy<Value = (usize, isize, bool)> {
    let size = prop_oneof![4 => 1..6_usize, 2 => 6..40_usize, 1 => Just(1), 1 => 60..140_usize];
    let step = prop_oneof![6 => Just(1_isize), 2 => Just(-1), 1 => Just(0), 1 => Just(2), 1 => Just(-3)];
    (size, step, any::<bool>())
}

pub fn view() -> impl Strategy<Value = View> {
    let axes = proptest::collection::vec(axis(), 0..=8);
    let packed = Just((0..8_usize).collect::<Vec<_>>());
    // Most tensors are in memory in the order of their axes.
    let orders = (prop_oneof![packed.clone(), packed.clone().prop_shuffle()], packed.prop_shuffle());
    let output_steps = proptest::option::of(proptest::collection::vec(prop_oneof![Just(1), Just(-1), Just(2)], 8));
    (axes, orders, output_steps, 0..70_usize, any::<u8>()).prop_map(
        |(mut axes, (memory_order, axis_order), output_steps, offset, negative)| {
            // Large tensors would only be slow.
            let mut count = 1;
            for (size, ..) in &mut axes {
                if count * *size > 3000 {
                    *size = 1 + *size % 3;
                }
                if count * *size > 6000 {
                    *size = 1;
                }
                count *= *size;
            }
            let rank = axes.len();
            let sizes: Vec<usize> = axes.iter().map(|&(size, ..)| size).collect();
            let steps: Vec<isize> = axes.iter().map(|&(_, step, _)| step).collect();
            let layout = strided(&sizes, &steps, &memory_order, offset);
            let reduced: Vec<usize> = axis_order.into_iter().filter(|&axis| axis < rank && axes[axis].2).collect();
            let output = output_steps.map(|steps| {
                let sizes: Vec<usize> =
                    (0..rank).map(|axis| if reduced.contains(&axis) { 1 } else { sizes[axis] }).collect();
                strided(&sizes, &steps[..rank], &memory_order, offset)
            });
            let from_end =
                |axis: usize| if negative >> axis & 1 == 1 { axis as isize - rank as isize } else { axis as isize };
            View { layout, axes: reduced.into_iter().map(from_end).collect(), output }
        },
    )
}

/// Any call.
pub fn cases() -> impl Strategy<Value = Case> {
    (view(), any::<Choices>(), any::<u64>()).prop_map(|(view, choices, seed)| case(&view, choices, seed))
}

/// A layout with its axes in the given order in memory, each axis `step` times as far apart as it would be packed.
fn strided(sizes: &[usize], steps: &[isize], memory_order: &[usize], extra: usize) -> Layout {
    let (mut strides, mut stride, mut offset) = (vec![0; sizes.len()], 1, extra);
    for &axis in memory_order.iter().rev().filter(|&&axis| axis < sizes.len()) {
        strides[axis] = stride * steps[axis];
        if steps[axis] < 0 {
            offset += (sizes[axis] - 1) * strides[axis].unsigned_abs();
        }
        stride *= sizes[axis] as isize * steps[axis].abs().max(1);
    }
    Layout::strided(sizes, &strides, offset).unwrap()
}
