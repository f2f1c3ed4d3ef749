//! Everything against the reference: every type on every ISA, by every order, over fixed shapes around the edges of
//! vectors and blocks, and over random ranks, views, axes and outputs.

mod common;

use argreduce::{ArgReduce, Index, Isa, Layout};
use argreduce_guard::{few, is_slow};
use common::problem::{Problem, problem};
use common::{Sample, check, rng, sample};
use proptest::prelude::*;

#[test]
fn rows_of_every_length() {
    fn rows<T: Sample>() {
        let lanes = Isa::detect().vector_bytes() / size_of::<T>();
        let mut rng = rng(1);
        for len in few(1..5 * lanes + 4, 7) {
            let layout = Layout::strided(&[3, len], &[len as isize + 1, 1], len % lanes).unwrap();
            check::<T, i32>(&sample(&mut rng, layout.required_len()), &layout, &[1], None);
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
            check::<T, u32>(&sample(&mut rng, layout.required_len()), &layout, &[1], None);
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
                check::<T, i64>(&input, &windows, &[1], None);
                // Of several rows, and without the elements between the windows of one and the next.
                let input = sample::<T>(&mut rng, 2 * (count + size + 2));
                let rows = Layout::contiguous(&[2, count + size + 2]).unwrap().windows(1, size, 1).unwrap();
                check::<T, u32>(&input, &rows, &[2], None);
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
            for late in [0, 31, 32, 33, 64, 65, 255, 256, rows - 1, rows] {
                let mut input = vec![plain; rows * width];
                for (n, element) in input.iter_mut().enumerate() {
                    let (row, column) = (n / width, n % width);
                    let first = if column == width / 2 { late } else { 20 + column % 7 };
                    // From there on, more of them.
                    if row >= first && (row - first) % 11 == 0 {
                        *element = best;
                    }
                }
                check::<T, i32>(&input, &layout, axes, None);
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
                        check::<T, i32>(&data, &packed, axes, None);
                        check::<T, u64>(&data, &backwards, axes, None);
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
            check::<T, u64>(&sample(&mut rng, layout.required_len()), &layout, axes, None);
        }
    }
    for_each_type!(large());
}

/// Every index type, for every way of indices to the output: packed lines, longer than a tile and shorter than a
/// vector, lines with gaps, in another order, backwards; of even, reversed and uneven steps, and with no element
/// looked at.
#[test]
fn every_index_type() {
    fn all<T: Sample, I: Index>() {
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
            check::<T, I>(&sample(&mut rng, layout.required_len()), &layout, axes, output.as_ref());
        }
    }
    all::<u8, u8>();
    all::<f32, u8>();
    all::<i64, u8>();
    all::<u8, u16>();
    all::<f32, u16>();
    all::<u8, usize>();
    all::<i64, usize>();
    all::<f32, i64>();
    all::<u16, i32>();
}

/// More outputs than the larger tile that is answered where the indices go, in one line and in many.
#[test]
fn beyond_one_direct_tile() {
    let cases = [[2, 2, 17_000], [9000, 2, 3]];
    for sizes in few(0..cases.len(), 2).map(|n| cases[n]) {
        let layout = Layout::contiguous(&sizes).unwrap();
        check::<u8, u32>(&sample(&mut rng(4), layout.required_len()), &layout, &[1], None);
        check::<half::f16, i64>(&sample(&mut rng(4), layout.required_len()), &layout, &[1], None);
    }
}

/// More outputs than the tile of those whose neighbours are of different lines: short lines, and longer ones.
#[test]
fn beyond_one_tile_across() {
    let cases = [[5, 2, 1000], [64, 3, 150]];
    for [inner, rows, outer] in few(0..cases.len(), 2).map(|n| cases[n]) {
        let strides = [1, inner as isize, (rows * inner) as isize];
        let layout = Layout::strided(&[inner, rows, outer], &strides, 0).unwrap();
        check::<u8, u32>(&sample(&mut rng(5), layout.required_len()), &layout, &[1], None);
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
            check::<T, i64>(&sample(&mut rng(n as u64), layout.required_len()), &layout, reduced, None);
        }
    }
    for_each_type!(views());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_slow() { 120 } else { 1500 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_problems(problem in problem()) {
        fn check_type<T: Sample>(problem: &Problem) {
            if T::DATA_TYPE == problem.data_type {
                let input = sample::<T>(&mut rng(problem.seed), problem.layout.required_len());
                // Indices as wide as positions are written straight to their places.
                let check = if problem.seed & 2 == 0 { check::<T, i64> } else { check::<T, u32> };
                check(&input, &problem.layout, &problem.axes, problem.output.as_ref());
            }
        }
        for_each_type!(check_type(&problem));
    }

    #[test]
    fn random_problems_of_every_index_type(problem in problem()) {
        let Problem { layout, axes, output, seed, .. } = &problem;
        let sizes = layout.sizes();
        let axis = |&axis: &isize| if axis < 0 { axis + sizes.len() as isize } else { axis } as usize;
        let reduced: usize = axes.iter().map(|a| sizes[axis(a)]).product();
        let check = match seed % 4 {
            0 | 1 if reduced <= 256 => check::<f32, u8>,
            2 => check::<f32, u16>,
            _ => check::<f32, usize>,
        };
        check(&sample(&mut rng(*seed), layout.required_len()), layout, axes, output.as_ref());
    }
}
