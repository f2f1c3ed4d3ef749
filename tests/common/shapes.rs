//! Shapes that take each way there is, as sizes, strides, and whether an axis is reduced.

use super::problem::View;
use argreduce::Layout;

pub type Axes = &'static [(usize, isize, bool)]; // size, stride, whether it is reduced

/// Of each strategy some; outputs that are divided along each of their loops; few outputs, down to one; several reduced
/// loops, backwards too; broadcast on either side.
pub const SHAPES: [(&str, Axes); 21] = [
    ("rows", &[(70, 50, false), (50, 1, true)]),
    ("rows of three dimensions", &[(5, 30_000, false), (30, 701, false), (600, 1, true)]),
    ("few rows", &[(3, 3000, false), (2900, 1, true)]),
    ("one row", &[(9000, 1, true)]),
    ("one row backwards", &[(9000, -1, true)]),
    ("every second of one row", &[(7000, 2, true)]),
    ("pieces of one output", &[(40, 300, true), (250, 1, true)]),
    ("pieces of few outputs", &[(40, 900, true), (3, 300, false), (250, 1, true)]),
    ("short pieces", &[(300, 40, true), (2, 20, false), (3, 5, true)]),
    ("columns", &[(3, 7000, false), (7, 1000, true), (1000, 1, false)]),
    ("wide columns", &[(4, 9000, true), (9000, 1, false)]),
    ("few columns", &[(500, 70, true), (64, 1, false)]),
    ("columns of two loops", &[(2, 40_000, false), (600, 65, true), (2, 32, false), (31, 1, false)]),
    ("narrow columns", &[(3000, 3, true), (3, 1, false)]),
    ("gathered columns", &[(1500, 12, false), (6, 2, true)]),
    ("trivial", &[(700, 7, false), (30, 0, true)]),
    ("broadcast outputs", &[(5, 0, false), (600, 9, false), (9, 1, true), (2, 0, false)]),
    ("broadcast, one output", &[(5, 0, false), (9000, 1, true)]),
    ("Fortran order", &[(70, 1, true), (1000, 70, true)]),
    ("planes", &[(50, 60, true), (60, 1, true), (3, 3000, true)]),
    ("channels last", &[(3, 7000, false), (10, 1, true), (700, 10, true)]),
];

/// What is cut into blocks, if there is a mask: along one axis, and both, and less than one; blocks whose rows are
/// further apart than those of the mask, by no multiple of 8; memory in another order; nothing to reduce.
pub const BLOCKS: [(&str, Axes); 19] = [
    ("blocks cut along both axes", &[(70, 300, true), (300, 1, false)]),
    ("columns apart", &[(60, 135, true), (130, 1, false)]),
    ("rows apart", &[(20, 701, false), (700, 1, true)]),
    ("few short rows", &[(3, 50, false), (50, 1, true)]),
    ("rows of two blocks", &[(7, 2100, false), (2100, 1, true)]),
    ("a row of many", &[(40_000, 1, true)]),
    ("a row for several threads", &[(100_000, 1, true)]),
    ("rows for several threads", &[(3, 30_000, false), (30_000, 1, true)]),
    ("more outputs than a block", &[(5000, 12, false), (12, 1, true)]),
    ("taller columns", &[(900, 60, true), (60, 1, false)]),
    ("less than one block", &[(70, 90, true), (90, 1, false)]),
    ("many rows of three", &[(300, 3, false), (3, 1, true)]),
    ("narrow and tall", &[(9, 2100, false), (700, 3, true), (3, 1, false)]),
    ("every other axis", &[(2, 615, false), (5, 123, true), (3, 41, false), (41, 1, true)]),
    ("around another", &[(4, 1800, true), (3, 600, false), (600, 1, true)]),
    ("transposed", &[(60, 1, true), (50, 60, true)]),
    ("backwards and apart", &[(30, -80, false), (40, 2, true)]),
    ("a broadcast axis of two", &[(20, 1, false), (30, 0, true), (2, 20, true)]),
    ("nothing to reduce", &[(33, 5, false), (5, 1, false)]),
];

pub fn layout(axes: &[(usize, isize, bool)]) -> Layout {
    let (sizes, strides): (Vec<_>, Vec<_>) = axes.iter().map(|&(size, stride, _)| (size, stride)).unzip();
    let before = axes.iter().map(|&(size, stride, _)| (size - 1) * stride.min(0).unsigned_abs()).sum();
    Layout::strided(&sizes, &strides, before).unwrap()
}

pub fn reduced_axes(axes: &[(usize, isize, bool)]) -> Vec<isize> {
    (0..axes.len() as isize).filter(|&axis| axes[axis as usize].2).collect()
}

/// Output layouts: packed, with gaps, and in the other order.
pub fn outputs(axes: &[(usize, isize, bool)]) -> [Option<Layout>; 3] {
    let sizes: Vec<usize> = axes.iter().map(|&(size, _, reduced)| if reduced { 1 } else { size }).collect();
    let strided = |axes: &mut dyn Iterator<Item = usize>, gap: isize| {
        let (mut strides, mut stride) = (vec![0; sizes.len()], gap);
        for axis in axes {
            strides[axis] = stride;
            stride *= sizes[axis] as isize;
        }
        Layout::strided(&sizes, &strides, 3).ok()
    };
    [None, strided(&mut (0..sizes.len()).rev(), 2), strided(&mut (0..sizes.len()), 1)]
}

/// With one of the output layouts.
pub fn view(axes: &[(usize, isize, bool)], output: usize) -> View {
    View { layout: layout(axes), axes: reduced_axes(axes), output: outputs(axes)[output] }
}
