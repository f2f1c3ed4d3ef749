//! Everything against the reference: every type on every ISA, by every order, over fixed shapes around the edges of
//! vectors and blocks; and any call, of random ranks, views, axes and outputs: under masks, on threads, to indices,
//! values and partial answers, of one function and of both, of types and of bytes, whole and in parts.

mod common;

use argreduce::{ArgReduce, DataType, Isa, Layout, Mask, Partial, reference, with_element_type};
use argreduce_guard::{few, is_slow};
use common::case::{Asked, Case, Data, Format, Order};
use common::executor::{WIDTHS, Way, Wayward};
use common::problem::{self, Choices, INDEX_TYPES, View, case, presence};
use common::shapes::{self, Axes, BLOCKS, SHAPES};
use common::{Sample, check, dense_or_sparse, orders, places, rng, sample};
use proptest::prelude::*;
use rand::RngExt;
use rand::rngs::SmallRng;

#[test]
fn rows_of_every_length() {
    fn rows<T: Sample>() {
        let lanes = Isa::detect().vector_bytes() / size_of::<T>();
        let mut rng = rng(1);
        for len in few(1..5 * lanes + 4, 7) {
            let layout = Layout::strided(&[3, len], &[len as isize + 1, 1], len % lanes).unwrap();
            check(&sample::<T>(&mut rng, layout.required_len()), &layout, (&[1], DataType::I32), None);
        }
    }
    for_each_type!(rows());
}

#[test]
fn columns_of_every_width() {
    fn columns<T: Sample>() {
        let lanes = Isa::detect().vector_bytes() / size_of::<T>();
        let mut rng = rng(2);
        for width in few(1..5 * lanes + 4, 7) {
            let layout =
                Layout::strided(&[2, 3, width], &[3 * width as isize, width as isize, 1], width % lanes).unwrap();
            check(&sample::<T>(&mut rng, layout.required_len()), &layout, (&[1], DataType::U32), None);
        }
    }
    for_each_type!(columns());
}

/// Windows that overlap: rows and columns at once. As many of them as a vector has lanes, and one more or less; of
/// lengths around those up to which they are columns, and which a lane counts.
#[test]
fn overlapping_windows() {
    fn windows<T: Sample>() {
        let lanes = Isa::detect().vector_bytes() / size_of::<T>();
        let longest = 1024 / size_of::<T>();
        let sizes = [longest + 1, 2, 3, 8, 50, 255, 256, 257, longest];
        let mut rng = rng(3);
        for size in few(0..sizes.len(), 5).map(|n| sizes[n]) {
            for count in [lanes - 1, lanes, lanes + 1, 5 * lanes + 3] {
                let input = sample::<T>(&mut rng, count + size - 1);
                let windows = Layout::contiguous(&[input.len()]).unwrap().windows(0, size, 1).unwrap();
                check(&input, &windows, (&[1], DataType::I64), None);
                // Of several rows, and without the elements between the windows of one and the next.
                let input = sample::<T>(&mut rng, 2 * (count + size + 2));
                let rows = Layout::contiguous(&[2, count + size + 2]).unwrap().windows(1, size, 1).unwrap();
                check(&input, &rows, (&[2], DataType::U32), None);
            }
        }
    }
    for_each_type!(windows());
}

/// Columns that end early: all but one have what nothing can beat in early rows, and that one has it in some row, about
/// where it is looked for, or nowhere.
#[test]
fn columns_that_settle() {
    fn columns<T: Sample>([plain, best]: [T; 2]) {
        // One pass, panels, several panels and segments, narrow columns, gathered ones.
        let shapes: [(&[usize], &[isize]); 6] = [
            (&[70, 70], &[0]),
            (&[300, 70], &[0]),
            (&[9, 40, 300], &[0, 1]),
            (&[5, 3, 90, 40], &[0, 2]),
            (&[6000, 3], &[0]),
            (&[300, 5], &[0]),
        ];
        for (sizes, axes) in few(0..shapes.len(), 4).map(|n| shapes[n]) {
            let layout = Layout::contiguous(sizes).unwrap();
            let width = sizes[sizes.len() - 1];
            let rows = layout.required_len() / width;
            let places = [0, 31, 32, 33, 64, 65, 255, 256, rows - 1, rows];
            for late in few(0..places.len(), 2).map(|n| places[n]) {
                let mut input = vec![plain; rows * width];
                for (n, element) in input.iter_mut().enumerate() {
                    let (row, column) = (n / width, n % width);
                    let first = if column == width / 2 { late } else { 20 + column % 7 };
                    // From there on, more of them.
                    if row >= first && (row - first) % 11 == 0 {
                        *element = best;
                    }
                }
                check(&input, &layout, (axes, DataType::I32), None);
            }
        }
    }
    columns::<u8>([254, 255]);
    columns::<u8>([1, 0]);
    columns::<i8>([0, i8::MIN]);
    columns::<bool>([false, true]);
    columns::<f32>([1.0, f32::NAN]);
    columns::<half::f16>([half::f16::ONE, half::f16::NAN]);
}

/// Where nothing is better than what a search starts with: one value alone, whichever it is (the identities of minimum
/// and maximum among them), NaN alone, and both. What a search has found by then is not an index, so that none may come
/// out that is not in the extent.
#[test]
fn hostile_states() {
    fn hostile<T: Sample>() {
        let lanes = Isa::detect().vector_bytes() / size_of::<T>();
        let lens = [2 * lanes + 1, 1, 2, 3, 7, lanes, 9 * lanes + 1];
        let other = T::SPECIAL[T::SPECIAL.len() - 1];
        for one in few(0..T::SPECIAL.len(), 3).map(|n| T::SPECIAL[n]) {
            for len in few(0..lens.len(), 4).map(|n| lens[n]) {
                for (first, second) in [(one, one), (one, other)] {
                    let data: Vec<T> = (0..2 * 3 * len).map(|n| if n % 2 == 0 { first } else { second }).collect();
                    // Rows, columns, segmented rows; and all of them backwards.
                    for (sizes, axes) in [(&[2, 3, len][..], &[2][..]), (&[2, 3, len], &[1]), (&[2, 3, len], &[0, 2])] {
                        let packed = Layout::contiguous(sizes).unwrap();
                        let strides: Vec<isize> = packed.strides().iter().map(|stride| -stride).collect();
                        let backwards = Layout::strided(sizes, &strides, data.len() - 1).unwrap();
                        // The values: an index beyond the extent would not name one.
                        check(&data, &packed, (axes, DataType::I32), None);
                        check(&data, &backwards, (axes, DataType::U64), None);
                    }
                }
            }
        }
    }
    for_each_type!(hostile());
}

/// More outputs than a tile, more rows than a narrow lane counts, longer rows than a narrow lane counts blocks.
#[test]
fn beyond_one_tile() {
    fn large<T: Sample>() {
        let mut rng = rng(3);
        let cases = [
            (&[1030, 2][..], &[1][..]),
            (&[700, 3, 3], &[1]),
            (&[3, 300, 40], &[1]),
            (&[2, 1300, 3], &[1]),
            (&[1, 140_000], &[1]),
            (&[2, 5, 2500], &[1]),
        ];
        for (sizes, axes) in few(0..cases.len(), 6).map(|n| cases[n]) {
            let layout = Layout::contiguous(sizes).unwrap();
            check(&sample::<T>(&mut rng, layout.required_len()), &layout, (axes, DataType::U64), None);
        }
    }
    for_each_type!(large());
}

/// Every index type, for every way of indices to the output: packed lines, longer than a tile and shorter than a
/// vector, lines with gaps, in another order, backwards; of even, reversed and uneven steps, and with no element
/// looked at.
#[test]
fn every_index_type() {
    fn all<T: Sample>(index_type: DataType) {
        let mut rng = rng(6);
        type Case = (&'static [usize], Option<&'static [isize]>, &'static [isize], Option<&'static [isize]>);
        let cases: [Case; 16] = [
            (&[2, 4100], None, &[0], None),
            (&[4500, 2], None, &[1], None),
            (&[300, 9], None, &[1], None),
            (&[60, 21, 5], None, &[1], None),
            (&[40, 5, 64], None, &[1], None),
            (&[1100, 3], None, &[1], Some(&[2, 0])),
            (&[30, 3, 40], None, &[1], Some(&[41, 0, 1])),
            (&[30, 3, 7], None, &[1], Some(&[9, 0, 1])),
            // In the order of the input's memory, which is not that of the output.
            (&[70, 3, 80], Some(&[1, 70, 210]), &[1], None),
            (&[200, 3], None, &[1], Some(&[-1, 0])),
            // Every third place, and the other way around, more lines than are written at a time.
            (&[400, 3], None, &[1], Some(&[-3, 0])),
            (&[400, 2], None, &[1], Some(&[3, 0])),
            (&[7, 3, 300], None, &[1], Some(&[1, 0, 7])),
            // A broadcast axis between reduced ones, and after them.
            (&[50, 3, 4, 5], Some(&[15, 5, 0, 1]), &[1, 2, 3], None),
            (&[50, 3, 5], Some(&[3, 1, 0]), &[1, 2], None),
            (&[300, 3], Some(&[1, 0]), &[1], None),
        ];
        for (sizes, strides, axes, output) in few(0..cases.len(), 3).map(|n| cases[n]) {
            let packed = Layout::contiguous(sizes).unwrap();
            let layout = Layout::strided(sizes, strides.unwrap_or(packed.strides()), 0).unwrap();
            let output = output.map(|strides| {
                let sizes: Vec<usize> = (0..sizes.len())
                    .map(|axis| if axes.contains(&(axis as isize)) { 1 } else { sizes[axis] })
                    .collect();
                let first = (sizes[0] - 1) * strides[0].min(0).unsigned_abs();
                Layout::strided(&sizes, strides, first).unwrap()
            });
            let input = sample::<T>(&mut rng, layout.required_len());
            check(&input, &layout, (axes, index_type), output.as_ref());
        }
    }
    for (data_type, index_type) in [
        (DataType::U8, DataType::U8),
        (DataType::F32, DataType::U8),
        (DataType::I64, DataType::U8),
        (DataType::U8, DataType::U16),
        (DataType::F32, DataType::U16),
        (DataType::U8, DataType::U64),
        (DataType::I64, DataType::U64),
        (DataType::F32, DataType::I64),
        (DataType::U16, DataType::I32),
    ] {
        with_element_type!(data_type, T => all::<T>(index_type));
    }
}

/// More outputs than the larger tile that is answered where the indices go, in one line and in many.
#[test]
fn beyond_one_direct_tile() {
    let cases = [[2, 2, 17_000], [9000, 2, 3]];
    for sizes in few(0..cases.len(), 2).map(|n| cases[n]) {
        let layout = Layout::contiguous(&sizes).unwrap();
        check(&sample::<u8>(&mut rng(4), layout.required_len()), &layout, (&[1], DataType::U32), None);
        check(&sample::<half::f16>(&mut rng(4), layout.required_len()), &layout, (&[1], DataType::I64), None);
    }
}

/// More outputs than the tile of those whose neighbours are of different lines: short lines, and longer ones.
#[test]
fn beyond_one_tile_across() {
    let cases = [[5, 2, 1000], [64, 3, 150]];
    for [inner, rows, outer] in few(0..cases.len(), 2).map(|n| cases[n]) {
        let strides = [1, inner as isize, (rows * inner) as isize];
        let layout = Layout::strided(&[inner, rows, outer], &strides, 0).unwrap();
        check(&sample::<u8>(&mut rng(5), layout.required_len()), &layout, (&[1], DataType::U32), None);
    }
}

/// Reduced axes that memory has in another order than the index, so that partial answers are merged: rows and columns
/// of them, few and many; more outputs than a window, kept axes faster, slower and between; backwards; steps of two.
#[test]
fn memory_order() {
    fn views<T: Sample>() {
        type View = (&'static [(usize, isize)], &'static [isize]); // sizes and strides, axes
        let cases: [View; 9] = [
            (&[(40, 1), (70, 40)], &[0, 1]),
            (&[(9, 1), (300, 9)], &[0, 1]),
            (&[(12, 20), (20, 1), (3, 240)], &[0, 1, 2]),
            (&[(15, 1), (13, 15), (17, 195)], &[0, 1, 2]),
            (&[(8, 1), (9, 1300 * 8), (1300, 8)], &[0, 1]),
            (&[(2, 2304), (48, 1), (6, 48 * 8), (8, 48)], &[1, 2, 3]),
            (&[(30, 5), (5, 1), (20, 150)], &[0, 2]),
            (&[(40, -2), (70, 90)], &[0, 1]),
            (&[(16, 1), (10, -16), (3, 0), (4, 160)], &[0, 1, 3]),
        ];
        for (n, (axes, reduced)) in few(0..cases.len(), 3).map(|n| (n, cases[n])) {
            let (sizes, strides): (Vec<_>, Vec<_>) = axes.iter().copied().unzip();
            let before = axes.iter().map(|&(size, stride)| (size - 1) * stride.min(0).unsigned_abs()).sum();
            let layout = Layout::strided(&sizes, &strides, before).unwrap();
            let plan = ArgReduce::argmax(&layout).axes(reduced).plan::<T, i64>().unwrap();
            assert!(plan.to_string().contains("merged over"), "{plan}");
            check(&sample::<T>(&mut rng(n as u64), layout.required_len()), &layout, (reduced, DataType::I64), None);
        }
    }
    for_each_type!(views());
}

/// A view of a layout is reduced as the elements that it shows are.
#[test]
fn views_of_layouts() {
    let input: Vec<f32> = (0..120).map(|n| ((n * 37) % 19) as f32).collect();
    let layout = Layout::contiguous(&[4, 5, 6]).unwrap();
    let views = [
        layout.select(1, -1),
        layout.permute(&[2, 0, 1]),
        layout.slice(2, 1.., 2),
        layout.slice(0, .., -1),
        layout.slice(1, 1..4, -2),
        layout.select(0, 2).and_then(|view| view.broadcast(&[3, 5, 6])),
    ];
    for view in views {
        let view = view.unwrap();
        for axis in 0..view.sizes().len() as isize {
            check(&input, &view, (&[axis], DataType::U32), None);
        }
    }
}

#[test]
fn views() {
    let input: Vec<f32> = (0..60).map(|n| ((n * 37) % 19) as f32).collect();
    let view = |sizes: &[usize], strides: &[isize], offset, axes: &[isize]| {
        check(&input, &Layout::strided(sizes, strides, offset).unwrap(), (axes, DataType::U32), None);
    };
    view(&[4, 5], &[1, 4], 0, &[0]); // transposed
    view(&[4, 5], &[1, 4], 0, &[1]);
    view(&[4, 5], &[1, 4], 0, &[0, 1]);
    view(&[3, 10], &[20, 2], 1, &[1]); // every second element
    view(&[3, 20], &[-20, -1], 59, &[1]); // reversed
    view(&[3, 20], &[-20, 1], 40, &[0]);
    view(&[7, 20], &[0, 1], 0, &[1]); // a kept axis broadcast
    view(&[3, 2, 5, 4], &[0, 4, 0, 1], 0, &[3]); // two of them, around another
    view(&[20, 7], &[1, 0], 0, &[1]); // a reduced axis broadcast: the first or the last
    view(&[2, 7, 5, 3], &[20, 0, 2, 0], 3, &[1, 2, 3]); // around another, so that index steps are longer
    view(&[2, 4, 7, 3], &[12, 3, 0, 1], 0, &[1, 2, 3]); // between others, so that they are uneven
    view(&[50, 8], &[1, 1], 0, &[1]); // windows that overlap
    view(&[50, 8], &[1, 1], 0, &[0]);
    view(&[4, 6], &[10, 1], 13, &[0, 1]); // a crop
}

#[test]
fn outputs() {
    let input: Vec<i16> = (0..120).map(|n| ((n * 37) % 19) as i16).collect();
    let layout = Layout::contiguous(&[4, 5, 6]).unwrap();
    let into = |strides: &[isize], offset, axes: &[isize]| {
        let sizes: Vec<usize> =
            (0..3).map(|n| if axes.contains(&n) { 1 } else { layout.sizes()[n as usize] }).collect();
        let output = Layout::strided(&sizes, strides, offset).unwrap();
        check(&input, &layout, (axes, DataType::I64), Some(&output));
        check(&input, &layout, (axes, DataType::U32), Some(&output));
    };
    into(&[1, 4, 99], 0, &[2]); // transposed
    into(&[20, -2, 0], 8, &[2]); // reversed, with gaps
    into(&[8, 0, 1], 3, &[1]); // lines with gaps between them
    into(&[-7, 0, -1], 40, &[1]);
    into(&[3, 0, 2], 1, &[1, 2]);
    into(&[30, 6, 1], 0, &[]);
    into(&[0, 0, 0], 5, &[0, 1, 2]);
}

/// Every combination of what a call reads, who does it, and where its answers go, of small tensors.
#[test]
fn every_combination() {
    let mut rng = rng(21);
    let shapes: [Axes; 3] = [
        &[(4, 30, false), (5, 6, true), (6, 1, false)],
        &[(7, 33, false), (33, 1, true)],
        &[(3, 50, true), (2, 25, false), (5, 5, true), (5, 1, false)],
    ];
    // Of bytes, of both functions, what is asked for, new, the mask, the executor.
    let choices: [&[u8]; 6] =
        [&[0, 1], &[0, 2], &[0, 1, 2, 3, 4, 5], &[0, 1], &[0, 2, 3, 4, 5, 6, 7], &[0, 10, 12, 13]];
    let count = choices.iter().map(|choices| choices.len()).product();
    for n in few(0..count, 20) {
        let mut left = n;
        let [bytes, both, asked, new, mask, executor] = choices.map(|choices| {
            let choice = choices[left % choices.len()];
            left /= choices.len();
            choice
        });
        let [data_type, index_type, order, place, width, part, fill, edge, walk, key]: [u8; 10] = rng.random();
        let view = shapes::view(shapes[n % 3], rng.random_range(0..3));
        let choices = [
            data_type, index_type, order, bytes, both, asked, new, mask, place, executor, width, part, fill, edge,
            walk, key,
        ];
        problem::check(&case(&view, choices, rng.random()));
    }
}

/// Each shape with each type, and any of the rest.
#[test]
fn every_shape() {
    let mut rng = rng(31);
    let shapes: Vec<Axes> = SHAPES.iter().chain(&BLOCKS).map(|(_, axes)| *axes).collect();
    for n in few(0..shapes.len() * DataType::ALL.len(), 40) {
        for _ in 0..4 {
            let view = shapes::view(shapes[n % shapes.len()], rng.random_range(0..3));
            let mut choices: Choices = rng.random();
            choices[0] = (n / shapes.len()) as u8;
            problem::check(&case(&view, choices, rng.random()));
        }
    }
}

/// Every strategy, cut along the outputs and along the reduction, on as many threads as an executor says, which does as
/// it pleases.
#[test]
fn whatever_an_executor_does() {
    let types = DataType::ALL.len();
    for n in few(0..SHAPES.len() * types * WIDTHS.len(), 30) {
        let (shape, element, width) = (n % SHAPES.len(), n / SHAPES.len() % types, n / SHAPES.len() / types);
        let turn = shape * WIDTHS.len() + width + element;
        let View { layout, axes, output } = shapes::view(SHAPES[shape].1, turn % 3);
        let case = Case {
            output,
            order: orders().nth(turn % 8).unwrap(),
            asked: [Asked::Indices, Asked::Values, Asked::Partials][n % 3],
            seed: n as u64,
            ..Case::new(&layout, &axes, DataType::ALL[element], INDEX_TYPES[turn % 2])
        };
        let data = problem::data(&case);
        let expected = case.expected(&data);
        for way in [Way::Nothing, Way::ALL[turn % Way::ALL.len()]] {
            Case { executor: Some((way, WIDTHS[width])), ..case.clone() }.check(&data, &expected);
        }
    }
}

/// The best so far along rows and across columns: of lengths around those of vectors and blocks, more lines than a
/// group has, more steps than a tile, and parts on threads, fewer and more than there are lines.
#[test]
fn best_so_far() {
    let shapes: [(&[usize], isize); 14] = [
        (&[1], 0),
        (&[2, 7], 1),
        (&[3, 300], 1),
        (&[1, 5000], 1),
        (&[40, 70], 0),
        (&[3, 40, 33], 1),
        (&[1100, 5], 1),
        (&[5, 1100], 0),
        (&[2000, 3], 0),
        (&[2, 1500, 2], 1),
        (&[7, 2300], 0),
        (&[300, 20], 0),
        (&[0, 3], 1),
        (&[3, 0], 1),
    ];
    let (types, mut rng) = (DataType::ALL.len(), rng(41));
    for n in few(0..shapes.len() * types * 8, 30) {
        let (sizes, axis) = shapes[n % shapes.len()];
        let view = View { layout: Layout::contiguous(sizes).unwrap(), axes: vec![axis], output: None };
        let mut choices: Choices = rng.random();
        (choices[0], choices[14]) = ((n / shapes.len() % types) as u8, 1 + (n % 2) as u8);
        let case = case(&view, choices, rng.random());
        assert_eq!(case.walk, Some(n % 2 == 1));
        problem::check(&case);
        // All of it in place, and under a mask, on threads.
        let case = Case { mask: None, is_both: false, asked: Asked::Values, executor: None, ..case };
        problem::check(&case);
        problem::check(&Case { executor: Some((Way::ALL[n % 7], WIDTHS[n % WIDTHS.len()])), ..case.clone() });
        problem::check(&Case { mask: Some(Format::Bits(3)), executor: Some((Way::InOrder, 3)), fill: Some(9), ..case });
    }
}

/// What no L2 cache holds is read part by part: of the outputs, or of what they are chosen from; for both functions at
/// once too.
#[test]
fn beyond_caches() {
    let mut rng = rng(34);
    // Each width of elements, and each kind.
    let types = [DataType::U8, DataType::F16, DataType::F32, DataType::I64];
    for n in few(0..5 * types.len(), 5) {
        let data_type = types[n / 5];
        let len = if is_slow() { 40_000 } else { 3 << 20 } / data_type.size();
        let (rows, axes) = [(1, &[1_isize][..]), (7, &[1]), (len / 300, &[1]), (len / 300, &[0]), (50, &[0, 1])][n % 5];
        let layout = Layout::contiguous(&[rows, len / rows]).unwrap();
        let mut case = Case::new(&layout, axes, data_type, DataType::U32);
        (case.is_both, case.order) = (true, orders().nth(rng.random_range(0..8)).unwrap());
        // Most of it alike, so that the answers are far apart.
        let data = with_element_type!(data_type, T => {
            Data::new::<T>(&dense_or_sparse(&mut rng, layout.required_len(), true), vec![])
        });
        let expected = case.expected(&data);
        for executor in [None, Some((Way::Beside, 2))] {
            Case { executor, ..case.clone() }.check(&data, &expected);
        }
    }
}

/// What is masked is better than all else: it has to be seen as not there, wherever it is.
#[test]
fn what_is_masked_never_wins() {
    fn masked<T: Sample>() {
        let layout = Layout::contiguous(&[700]).unwrap();
        let case = Case::new(&layout, &[0], T::DATA_TYPE, DataType::U32);
        let case = Case { mask: Some(Format::Bools), asked: Asked::Values, ..case };
        let (places, count) = ([0, 1, 63, 64, 300, 699], T::SPECIAL.len());
        for n in few(0..count * count * 8, 25) {
            let (one, other) = (T::SPECIAL[n % count], T::SPECIAL[n / count % count]);
            let order = orders().nth(n / count / count).unwrap();
            let case = Case { order, ..case.clone() };
            // It alone is not there, and it alone is.
            for (turn, is_there) in [false, true].into_iter().enumerate() {
                let at = places[(n + n / count + turn) % places.len()];
                let input: Vec<T> = (0..700).map(|n| if n == at { one } else { other }).collect();
                let data = Data::new(&input, (0..700).map(|n| (n == at) == is_there).collect());
                case.check(&data, &case.expected(&data));
            }
        }
    }
    for_each_type!(masked());
}

/// Holds a reduction of axes of which some are broadcast, in the input and the mask, and the first of these is huge,
/// against the reference of two steps along it, of which the first is the first, and the second the last.
fn check_broadcast<T: Sample>(rng: &mut SmallRng, sizes: &[usize], broadcast: &[usize], axes: &[isize], order: Order) {
    let (rank, (function, direction, policy)) = (sizes.len(), order);
    let (mut strides, mut len) = (vec![0; rank], 1);
    for axis in (0..rank).rev().filter(|axis| !broadcast.contains(axis)) {
        strides[axis] = len as isize;
        len *= sizes[axis];
    }
    let (input, there): (Vec<T>, _) = (sample(rng, len), presence(rng, len));
    let few = Layout::strided(sizes, &strides, 0).unwrap();
    let at = places(&few);
    let reduced: Vec<bool> = (0..rank as isize).map(|axis| axes.contains(&axis)).collect();
    let expected = reference::arg_reduce_masked(order, &few, &reduced, &input, |n| there[at[n]]);

    // As a part that begins at step 1 of a larger tensor.
    let mut long = sizes.to_vec();
    long[broadcast[0]] = (1 << 56) / few.element_count();
    let (whole, start): (Vec<usize>, _) = (long.iter().map(|&size| size + 2).collect(), vec![1; rank]);
    let in_whole = |index: usize| {
        let (mut left, mut found, mut step) = (index, 0, 1);
        for axis in (0..rank).rev().filter(|&axis| reduced[axis]) {
            let n = left % sizes[axis];
            found += step * (1 + if n > 0 && axis == broadcast[0] { long[axis] - 1 } else { n });
            (left, step) = (left / sizes[axis], step * whole[axis]);
        }
        found as i64
    };
    let wanted: Vec<i64> = expected.iter().map(|index| index.map_or(-1, in_whole)).collect();
    let layout = Layout::strided(&long, &strides, 0).unwrap();
    let reduce = ArgReduce::new(function, &layout).axes(axes).direction(direction).nan_policy(policy).fill(-1);
    let reduce = reduce.window(&whole, &start);
    let (plan, mask) = (reduce.plan::<T, i64>().unwrap(), Mask::strided(&there, &layout));
    let (mut indices, mut values) = (vec![-7; wanted.len()], vec![T::default(); wanted.len()]);
    let x = argreduce::input(&input).masked(mask);
    plan.run(x, (&mut indices, &mut values)).unwrap();
    assert_eq!(indices, wanted, "{plan}\n{input:?}\n{there:?}");
    let mut partials = vec![Partial::NONE; wanted.len()];
    plan.run(x.on(&Wayward::new(Way::Beside, 3)), &mut partials).unwrap();
    let of_partials: Vec<_> = partials.iter().map(|partial| (partial.index, partial.value.bits())).collect();
    let of_values: Vec<_> = indices.iter().zip(&values).map(|(&index, value)| (index, value.bits())).collect();
    assert_eq!(of_partials, of_values, "{plan}");
    let both = reduce.plan_both::<T, i64>().unwrap();
    let found: [Vec<i64>; 2] = both.collect(x.on(&Wayward::new(Way::Reversed, 2))).unwrap();
    assert_eq!(found[function as usize], wanted, "{both}");
}

/// An axis along which both the input and the mask are broadcast is answered without a walk along it.
#[test]
fn nothing_is_scanned_along_what_is_broadcast() {
    fn of_type<T: Sample>() {
        let mut rng = rng(19);
        for order in orders() {
            for _ in 0..3 {
                let mut check = |sizes: &[usize], broadcast: &[usize], axes: &[isize]| {
                    check_broadcast::<T>(&mut rng, sizes, broadcast, axes, order);
                };
                check(&[2], &[0], &[0]);
                check(&[2, 3], &[0], &[0, 1]);
                check(&[3, 2, 5], &[1], &[1, 2]);
                check(&[3, 2, 5], &[1], &[0, 1, 2]);
                check(&[2, 2, 40], &[0, 1], &[0, 1]);
                check(&[300, 2], &[1], &[1]);
            }
        }
    }
    for_each_type!(of_type(): u8 f32 f16 bf16 i64);
}

/// The most elements of a view.
const MOST: usize = 3000;

/// A view of a view, and so on, of a packed tensor.
fn view(rng: &mut SmallRng) -> Layout {
    let sizes: Vec<usize> = (0..rng.random_range(1..=3)).map(|_| rng.random_range(1..=9)).collect();
    let mut view = Layout::contiguous(&sizes).unwrap();
    for _ in 0..rng.random_range(1..=6) {
        view = changed(rng, &view).filter(|view| (1..=MOST).contains(&view.element_count())).unwrap_or(view);
    }
    view
}

fn changed(rng: &mut SmallRng, view: &Layout) -> Option<Layout> {
    let sizes = view.sizes();
    let axis = rng.random_range(0..sizes.len());
    let (at, size) = (axis as isize, sizes[axis]);
    let view = match rng.random_range(0..8) {
        0..3 => {
            let mut axes: Vec<isize> = (0..sizes.len() as isize).collect();
            (1..axes.len()).for_each(|n| axes.swap(n, rng.random_range(0..=n)));
            view.permute(&axes)
        }
        3..6 => view.windows(at, rng.random_range(1..=size), rng.random_range(1..=2)),
        6 => view.slice(at, .., [-1, 2, -2][rng.random_range(0..3)]),
        _ => view.broadcast(&[&[rng.random_range(1..=9)], sizes].concat()),
    };
    // Of too high a rank.
    view.ok()
}

/// Any call of a view, on tasks that are done in turn, which takes less time than threads.
fn check_view(rng: &mut SmallRng, layout: Layout, axes: Vec<isize>) {
    let mut case = case(&View { layout, axes, output: None }, rng.random(), rng.random());
    case.executor = case.executor.map(|_| (Way::InOrder, rng.random_range(1..=5)));
    problem::check(&case);
}

/// Windows of a transposed matrix, and pooling over a transposed image.
#[test]
fn windows_of_what_is_transposed() {
    let mut rng = rng(18);
    let matrix = Layout::contiguous(&[8, 5]).and_then(|matrix| matrix.permute(&[1, 0])?.windows(0, 2, 1)).unwrap();
    assert_eq!((matrix.sizes(), matrix.strides()), (&[4, 8, 2][..], &[1, 5, 1][..]));
    let image = Layout::contiguous(&[3, 7, 7]).and_then(|image| image.permute(&[0, 2, 1]));
    let pooled = image.and_then(|image| image.windows(0, 3, 1)?.windows(1, 5, 1)?.windows(2, 3, 1)).unwrap();
    for _ in few(0..300, 10) {
        check_view(&mut rng, matrix, vec![0, 1]);
        check_view(&mut rng, pooled, vec![3, 4, 5]);
    }
}

/// Windows that move, of which what they have in common is looked at once: of series, forwards and backwards, by steps,
/// dilated, of interleaved series; of the rows of a matrix, or its columns, and of images; few and many, in a batch.
#[test]
fn moving_windows() {
    let (mut rng, mut overlapping) = (rng(19), [0; 6]);
    let count = if is_slow() { 36 } else { 1500 };
    for n in 0..count {
        let (layout, axes) = moving(&mut rng, n % 6);
        let plan = ArgReduce::argmax(&layout).axes(&axes).plan::<f32, u64>().unwrap();
        overlapping[n % 6] += usize::from(plan.to_string().contains("windows that overlap"));
        check_view(&mut rng, layout, axes);
    }
    // Those that are drawn are what this is about.
    assert!(overlapping.iter().all(|&plans| plans > count / 6 / 8), "{overlapping:?}");
    // Longer than a block.
    for len in few(0..3, 3).map(|n| [1030, 2600, 5000][n]) {
        let layout = Layout::contiguous(&[len + 2200]).and_then(|series| series.windows(0, len, 1)).unwrap();
        check_view(&mut rng, layout, vec![1]);
    }
}

/// Windows of some kind, and their axes.
fn moving(rng: &mut SmallRng, kind: usize) -> (Layout, Vec<isize>) {
    let (len, others) = (rng.random_range(2..=200), rng.random_range(1..=300));
    let (rows, columns) = (rng.random_range(2..=30), rng.random_range(60..=150));
    let (layout, axes) = match kind {
        0 => (Layout::contiguous(&[len + others]).and_then(|series| series.windows(0, len, 1)), vec![1]),
        1 => {
            let step = rng.random_range(1..=5);
            (Layout::contiguous(&[2, len + others]).and_then(|series| series.windows(1, len, step)), vec![2])
        }
        // Dilated: of series side by side, or of one.
        2 => {
            let dilation = rng.random_range(2..=90_i32) as isize;
            let step = [1, dilation, 2 * dilation][rng.random_range(0..3)];
            (Layout::strided(&[others, len], &[step, dilation], 3), vec![1])
        }
        3 => (Layout::contiguous(&[rows + 9, columns]).and_then(|matrix| matrix.windows(0, rows, 1)), vec![2]),
        4 => {
            let width = rng.random_range(1..=rows);
            let image = Layout::contiguous(&[2, rows + 7, columns + width]);
            (image.and_then(|image| image.windows(1, rows, 1)?.windows(2, width, 1)), vec![3, 4])
        }
        // Of some columns of a wider image; and the same, seen as windows of columns of rows, which lie in another
        // order in memory: each of those is looked at alone.
        _ => {
            let image = Layout::contiguous(&[rows + 5, columns + 20])
                .and_then(|image| image.slice(1, 3..columns as isize + 16, 1));
            let windows = image.and_then(|image| image.windows(0, rows, 1)?.windows(1, 3, 1));
            let order = [[0, 2, 1, 3], [1, 3, 0, 2]][rng.random_range(0..2)];
            (windows.and_then(|windows| windows.permute(&order)), vec![1, 3])
        }
    };
    let mut layout = layout.unwrap();
    for axis in 0..layout.sizes().len() as isize {
        if rng.random_range(0..4) == 0 {
            layout = layout.slice(axis, .., -1).unwrap();
        }
    }
    (layout, axes)
}

/// Views of views: permuted, turned round, cut, broadcast, and windows of windows. Then several axes are as far apart
/// in memory, kept ones and reduced ones, so that it is close which loop is the fastest: what the planner says of it
/// has to be what the kernel is given.
#[test]
fn views_of_views() {
    let mut rng = rng(17);
    for _ in 0..if is_slow() { 500 } else { 50_000 } {
        let view = view(&mut rng);
        let axes = (0..view.sizes().len() as isize).filter(|_| rng.random()).collect();
        check_view(&mut rng, view, axes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_slow() { 240 } else { 6000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_cases(case in problem::cases()) {
        problem::check(&case);
    }
}
