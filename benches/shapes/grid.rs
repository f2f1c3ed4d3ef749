//! Which cells there are: the full grid, and the part of it that runs in a few minutes. Knows nothing of how they are
//! measured.

use crate::cell::{Cell, Options, Shape, Size, View};
use crate::pattern::Pattern;
use argreduce::DataType;

/// All types but bool, which runs the kernels of u8.
pub const TYPES: [DataType; 12] = [
    DataType::F32,
    DataType::F16,
    DataType::Bf16,
    DataType::F64,
    DataType::I8,
    DataType::U8,
    DataType::I16,
    DataType::U16,
    DataType::I32,
    DataType::U32,
    DataType::I64,
    DataType::U64,
];

const LLM_LOGITS: Shape = Shape::Named { name: "llm-logits", sizes: &[1, 128_256], axes: &[1] };

/// Shapes that a reader would recognise, by the types that they come in.
pub const NAMED: [(DataType, Shape); 8] = [
    (DataType::F32, LLM_LOGITS),
    (DataType::F16, LLM_LOGITS),
    (DataType::Bf16, LLM_LOGITS),
    (DataType::F32, Shape::Named { name: "classifier", sizes: &[1024, 1000], axes: &[1] }),
    (DataType::F32, Shape::Named { name: "segmentation-nchw", sizes: &[1, 21, 512, 512], axes: &[1] }),
    (DataType::F32, Shape::Named { name: "segmentation-nhwc", sizes: &[8, 512, 512, 21], axes: &[3] }),
    (DataType::U8, Shape::Named { name: "rgb-image", sizes: &[4096, 4096, 3], axes: &[2] }),
    (DataType::F32, Shape::Named { name: "whole-tensor", sizes: &[64, 64, 64, 64], axes: &[0, 1, 2, 3] }),
];

const ROWS: [usize; 18] = [2, 3, 4, 5, 7, 8, 10, 16, 21, 32, 64, 80, 100, 255, 1000, 4096, 32_000, 128_256];
const COLUMN_R: [usize; 7] = [2, 3, 4, 10, 21, 64, 1000];
const COLUMN_INNER: [usize; 10] = [2, 3, 5, 7, 8, 16, 31, 64, 1000, 50_176];
const IMAGE_AXES: [&[isize]; 5] = [&[2, 3], &[0, 2, 3], &[0, 2], &[1, 2], &[0, 1, 2, 3]];

/// Tall columns whose rows are a power of two apart: where pages, prefetchers and cache sets bite.
const TALL_R: [usize; 3] = [64, 256, 1000];
const TALL_INNER: [usize; 3] = [4096, 16_384, 65_536];

const PATTERNS: [Pattern; 6] =
    [Pattern::Ascending, Pattern::Descending, Pattern::AllEqual, Pattern::FewDistinct, Pattern::Nan5, Pattern::NanLast];
const OPTIONS: [Options; 4] = [Options::Decreasing, Options::Ignore, Options::ArgMin, Options::Values];

/// One of each way to run, for patterns and options.
const REPRESENTATIVES: [Shape; 7] = [
    Shape::Rows(4),
    Shape::Rows(21),
    Shape::Rows(1000),
    Shape::Row,
    Shape::Columns { r: 21, inner: 1000 },
    Shape::Columns { r: 10, inner: 5 },
    Shape::Columns { r: 1000, inner: 16 },
];

/// Where answers are many beside what is read, so that it matters how wide their indices are, and where they go.
const MANY_OUTPUTS: [Shape; 11] = [
    Shape::Rows(2),
    Shape::Rows(3),
    Shape::Rows(7),
    Shape::Rows(21),
    Shape::Columns { r: 2, inner: 32_768 },
    Shape::Columns { r: 3, inner: 1000 },
    Shape::Columns { r: 7, inner: 64 },
    Shape::Columns { r: 10, inner: 5 },
    Shape::Columns { r: 10, inner: 17 },
    Shape::View(View::Permuted),
    Shape::View(View::EverySecondColumn),
];

/// What is asked for there.
const OUTPUTS: [Options; 8] = [
    Options::I64,
    Options::Values,
    Options::I64Values,
    Options::I64ValuesDecreasing,
    Options::Decreasing,
    Options::Strided,
    Options::StridedI64Values,
    Options::TransposedValues,
];

/// The cells of a type.
pub fn cells(data_type: DataType, is_full: bool) -> Vec<Cell> {
    let mut grid = Grid { data_type, cells: Vec::new() };
    let both = [Size::L2, Size::Dram];
    let is_one_of = |types: &[DataType]| types.contains(&data_type);
    let has_views = is_full || is_one_of(&[DataType::F32, DataType::U8]);

    if is_full {
        grid.plain(ROWS.map(Shape::Rows), &both);
        grid.plain(columns(&COLUMN_R, &COLUMN_INNER), &both);
    } else {
        grid.plain([2, 3, 7, 10, 21, 64, 100, 1000, 4096, 32_000].map(Shape::Rows), &[Size::L2]);
        grid.plain([3, 10, 100, 1000].map(Shape::Rows), &[Size::Dram]);
        if is_one_of(&[DataType::F32, DataType::U8, DataType::F16, DataType::I64]) {
            grid.plain(columns(&[3, 21, 1000], &[3, 8, 31, 64, 1000]), &[Size::L2]);
            grid.plain(columns(&[3, 21], &[5, 64, 50_176]), &[Size::Dram]);
        }
    }
    grid.plain([Shape::Row], &both);
    if is_full && is_one_of(&[DataType::F32, DataType::U8, DataType::F16]) {
        grid.plain(columns(&TALL_R, &TALL_INNER), &[Size::Dram]);
    }
    if has_views {
        grid.plain(IMAGE_AXES.map(Shape::Images), &both);
        grid.plain(View::ALL.map(Shape::View), &both);
    }
    if is_full || is_one_of(&[DataType::F32, DataType::U8, DataType::F16, DataType::I64]) {
        for (n, (shape, options)) in
            MANY_OUTPUTS.iter().flat_map(|&shape| OUTPUTS.map(|options| (shape, options))).enumerate()
        {
            // From memory, a part of them by turns: those take long.
            let is_far = is_full || n % 3 == 0;
            grid.add(shape, Pattern::Random, options, if is_far { &both } else { &both[..1] });
        }
    }
    for (_, shape) in NAMED.into_iter().filter(|&(named, _)| named == data_type) {
        grid.plain([shape], &[Size::Own]);
        grid.add(shape, Pattern::Random, Options::I64, &[Size::Own]);
    }

    let sizes = if is_full { &both[..] } else { &both[..1] };
    if has_views || is_one_of(&[DataType::F16]) {
        let is_float = is_one_of(&[DataType::F32, DataType::F16, DataType::Bf16, DataType::F64]);
        for shape in if is_full { &REPRESENTATIVES[..] } else { &REPRESENTATIVES[1..5] } {
            for pattern in PATTERNS.into_iter().filter(|pattern| is_float || !pattern.has_nan()) {
                grid.add(*shape, pattern, Options::Plain, sizes);
            }
            for options in OPTIONS.into_iter().filter(|&options| is_float || options != Options::Ignore) {
                grid.add(*shape, Pattern::Random, options, sizes);
            }
            if is_float {
                grid.add(*shape, Pattern::Nan5, Options::Ignore, sizes);
            }
        }
    }
    if data_type == DataType::F32 || is_full && data_type == DataType::U8 {
        let kib = if is_full {
            &[4, 16, 64, 1 << 10, 4 << 10, 16 << 10, 256 << 10, 1 << 20][..]
        } else {
            &[4, 1 << 10, 4 << 10]
        };
        for kib in kib {
            grid.plain([Shape::Row], &[Size::Bytes(kib << 10)]);
        }
    }
    grid.cells
}

fn columns(r: &[usize], inner: &[usize]) -> Vec<Shape> {
    r.iter().flat_map(|&r| inner.iter().map(move |&inner| Shape::Columns { r, inner })).collect()
}

struct Grid {
    data_type: DataType,
    cells: Vec<Cell>,
}

impl Grid {
    fn plain(&mut self, shapes: impl IntoIterator<Item = Shape>, sizes: &[Size]) {
        for shape in shapes {
            self.add(shape, Pattern::Random, Options::Plain, sizes);
        }
    }

    fn add(&mut self, shape: Shape, pattern: Pattern, options: Options, sizes: &[Size]) {
        let data_type = self.data_type;
        for &size in sizes {
            let cell = Cell { data_type, shape, pattern, options, size };
            if !self.cells.contains(&cell) {
                self.cells.push(cell);
            }
        }
    }
}
