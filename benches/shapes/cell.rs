//! A cell of the grid: type, shape, data, options and size; and its geometry, which is all that measuring it takes.
//! Knows nothing of time.

use crate::pattern::{Pattern, Row};
use argreduce::{AxisDirection, DataType, Layout, NanPolicy, ReduceFunction};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub data_type: DataType,
    pub shape: Shape,
    pub pattern: Pattern,
    pub options: Options,
    pub size: Size,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// As many rows of that length as the size allows; the last axis is reduced.
    Rows(usize),
    /// One row.
    Row,
    /// `[outer, r, inner]` over the middle axis.
    Columns {
        r: usize,
        inner: usize,
    },
    /// Images `[n, c, h, w]` over several axes.
    Images(&'static [isize]),
    View(View),
    /// A shape that a reader would recognise, as it is, whatever the size.
    Named {
        name: &'static str,
        sizes: &'static [usize],
        axes: &'static [isize],
    },
}

/// What is not packed. Rows are of [`VIEW_ROW`] elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// A matrix over its last axis, stored the other way around.
    Transposed,
    /// `[a, r, b]` over the middle axis, stored as `[b, r, a]`: the answers are not written in the order in which
    /// memory is read.
    Permuted,
    /// Rows of every second element.
    EverySecond,
    /// The same of rows of 100.
    EverySecondShort,
    /// `[outer, 21, inner]` over the middle axis, of which every second inner element is taken.
    EverySecondColumn,
    /// Rows from right to left.
    Reversed,
    /// Each row eight times.
    Broadcast,
    /// The middle of images of 64 x 64, over 4 channels.
    Crop,
    /// A matrix in Fortran order, whole.
    Fortran,
    /// Three planes, seen as pixels of three values, whole.
    Planes,
    /// Images with 64 channels last, seen as if those came first, each whole.
    ChannelsLast,
}

impl View {
    pub const ALL: [View; 11] = [
        View::Transposed,
        View::Permuted,
        View::EverySecond,
        View::EverySecondShort,
        View::EverySecondColumn,
        View::Reversed,
        View::Broadcast,
        View::Crop,
        View::Fortran,
        View::Planes,
        View::ChannelsLast,
    ];
}

const VIEW_ROW: usize = 1000;

/// The options of a call; [`Options::Plain`] is argmax, ties to the first, NaN propagated, indices only, as `u32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Options {
    Plain,
    Decreasing,
    Ignore,
    ArgMin,
    /// Indices, and the elements there.
    Values,
    /// Indices as `i64`.
    I64,
    /// Both.
    I64Values,
    /// Both, and ties to the last.
    I64ValuesDecreasing,
    /// Indices to every second place.
    Strided,
    /// The same as `i64`, and values.
    StridedI64Values,
    /// Indices in the order of the axes turned around, and values.
    TransposedValues,
}

impl Options {
    pub fn function(self) -> ReduceFunction {
        if self == Options::ArgMin { ReduceFunction::ArgMin } else { ReduceFunction::ArgMax }
    }

    pub fn direction(self) -> AxisDirection {
        match self {
            Options::Decreasing | Options::I64ValuesDecreasing => AxisDirection::Decreasing,
            _ => AxisDirection::Increasing,
        }
    }

    pub fn nan_policy(self) -> NanPolicy {
        if self == Options::Ignore { NanPolicy::Ignore } else { NanPolicy::Propagate }
    }

    /// Whether indices are `i64`.
    pub fn is_wide(self) -> bool {
        use Options::{I64, I64Values, I64ValuesDecreasing, StridedI64Values};
        matches!(self, I64 | I64Values | I64ValuesDecreasing | StridedI64Values)
    }

    pub fn has_values(self) -> bool {
        use Options::{I64Values, I64ValuesDecreasing, StridedI64Values, TransposedValues, Values};
        matches!(self, Values | I64Values | I64ValuesDecreasing | StridedI64Values | TransposedValues)
    }

    /// Where indices go, which are of these sizes.
    pub fn output_layout(self, sizes: &[usize]) -> Layout {
        let mut strides = vec![1; sizes.len()];
        let mut step = if matches!(self, Options::Strided | Options::StridedI64Values) { 2 } else { 1 };
        for n in 0..sizes.len() {
            let axis = if self == Options::TransposedValues { n } else { sizes.len() - 1 - n };
            strides[axis] = step;
            step *= sizes[axis] as isize;
        }
        Layout::strided(sizes, &strides, 0).expect("a small rank")
    }
}

/// Bytes of input that a cell is scaled to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// 256 KiB or a little less.
    L2,
    /// 64 MiB or more, read from memory.
    Dram,
    /// As many, to see how one row grows.
    Bytes(usize),
    /// Whatever a shape has that is not scaled.
    Own,
}

/// The bytes to aim at, and those that may come of it because a shape has only whole rows.
struct Budget {
    bytes: usize,
    most: usize,
}

impl Size {
    fn budget(self, smoke: bool) -> Budget {
        match self {
            Size::L2 => Budget { bytes: 256 << 10, most: 256 << 10 },
            Size::Dram if smoke => Budget { bytes: 512 << 10, most: 2 << 20 },
            Size::Dram => Budget { bytes: 64 << 20, most: 512 << 20 },
            Size::Bytes(bytes) => Budget { bytes, most: if smoke { 2 << 20 } else { bytes } },
            Size::Own => Budget { bytes: 0, most: if smoke { 5 << 20 } else { usize::MAX } },
        }
    }
}

/// What a cell collapses to, for the targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Class {
    /// Contiguous runs of that many elements are reduced.
    Rows {
        run: usize,
    },
    /// All of it is one row.
    Row,
    /// The contiguous inner extent is kept.
    Columns {
        r: usize,
        inner: usize,
    },
    View,
}

/// All that measuring a cell takes.
#[derive(Clone, Debug)]
pub struct Geometry {
    pub layout: Layout,
    pub axes: Vec<isize>,
    pub class: Class,
    pub outputs: usize,
    /// Elements that any way of answering has to read.
    pub touched: usize,
    /// Where the rows are in memory, for the patterns; only packed shapes have any.
    pub row: Row,
    /// The length of a row, where the rows lie one behind the other: where the crate argminmax can answer.
    pub peer_row: Option<usize>,
}

impl Cell {
    /// `None` where the shape has no such size.
    pub fn geometry(&self, smoke: bool) -> Option<Geometry> {
        let budget = self.size.budget(smoke);
        let elements = budget.bytes / self.data_type.size();
        let geometry = self.shape.geometry(elements, self.size == Size::Dram)?;
        (geometry.layout.required_len() * self.data_type.size() <= budget.most).then_some(geometry)
    }

    /// The same shape and size with random data and no options, where this cell differs from it.
    pub fn plain(&self) -> Option<Cell> {
        let plain = Cell { pattern: Pattern::Random, options: Options::Plain, ..*self };
        (plain != *self).then_some(plain)
    }

    /// Where indices go.
    pub fn output_layout(&self, geometry: &Geometry) -> Layout {
        let one = |(axis, &size)| if geometry.axes.contains(&(axis as isize)) { 1 } else { size };
        let sizes: Vec<usize> = geometry.layout.sizes().iter().enumerate().map(one).collect();
        self.options.output_layout(&sizes)
    }
}

impl Shape {
    fn geometry(self, elements: usize, round_up: bool) -> Option<Geometry> {
        // How often a shape of that many elements fits; at least once.
        let times = |unit: usize| if round_up { elements.div_ceil(unit) } else { (elements / unit).max(1) };
        match self {
            Shape::Rows(r) => Some(rows(&[times(r), r], &[1], Class::Rows { run: r }, r)),
            Shape::Row => Some(rows(&[elements], &[0], Class::Row, elements)),
            Shape::Columns { r, inner } => Some(columns(&[times(r * inner), r, inner], r, inner)),
            Shape::Images(axes) => Some(images(
                if round_up { [times(64 * 56 * 56), 64, 56, 56] } else { [times(16 * 32 * 32), 16, 32, 32] },
                axes,
            )),
            Shape::View(view) => view.geometry(times),
            Shape::Named { sizes, axes, .. } => {
                let [axis] = *axes else { return Some(rows(sizes, axes, Class::Row, sizes.iter().product())) };
                let (r, inner) = (sizes[axis as usize], sizes[axis as usize + 1..].iter().product());
                let class = if inner > 1 {
                    Class::Columns { r, inner }
                } else if sizes[0] == 1 {
                    Class::Row
                } else {
                    Class::Rows { run: r }
                };
                Some(packed(sizes, axes, class, Row { len: r, stride: inner }))
            }
        }
    }
}

fn packed(sizes: &[usize], axes: &[isize], class: Class, row: Row) -> Geometry {
    let layout = Layout::contiguous(sizes).expect("a small rank");
    let peer_row = (row.stride == 1).then_some(row.len);
    finish(layout, axes, class, layout.element_count(), row, peer_row)
}

fn rows(sizes: &[usize], axes: &[isize], class: Class, len: usize) -> Geometry {
    packed(sizes, axes, class, Row { len, stride: 1 })
}

fn columns(sizes: &[usize], r: usize, inner: usize) -> Geometry {
    packed(sizes, &[1], Class::Columns { r, inner }, Row { len: r, stride: inner })
}

fn images([n, c, h, w]: [usize; 4], axes: &[isize]) -> Geometry {
    let class = match axes {
        [2, 3] | [0, 2, 3] => Class::Rows { run: h * w },
        [0, 2] => Class::Columns { r: n * h, inner: w },
        [1, 2] => Class::Columns { r: c * h, inner: w },
        _ => Class::Row,
    };
    let row = Row { len: n * c * h * w, stride: 1 };
    let peer_row = match axes {
        [2, 3] => Some(h * w),
        [0, 1, 2, 3] => Some(row.len),
        _ => None,
    };
    Geometry { peer_row, ..packed(&[n, c, h, w], axes, class, row) }
}

fn finish(layout: Layout, axes: &[isize], class: Class, touched: usize, row: Row, peer_row: Option<usize>) -> Geometry {
    let kept = layout.sizes().iter().enumerate().filter(|&(axis, _)| !axes.contains(&(axis as isize)));
    let outputs = kept.map(|(_, &size)| size).product();
    Geometry { layout, axes: axes.to_vec(), class, outputs, touched, row, peer_row }
}

impl View {
    fn geometry(self, times: impl Fn(usize) -> usize) -> Option<Geometry> {
        const R: usize = VIEW_ROW;
        let over = |axes: &[isize], sizes: &[usize], strides: &[isize], offset: usize, touched: usize| {
            let layout = Layout::strided(sizes, strides, offset).ok()?;
            // Nothing is filled or rotated by rows here.
            let row = Row { len: 1, stride: 1 };
            Some(finish(layout, axes, Class::View, touched.min(layout.required_len()), row, None))
        };
        let view = |sizes: &[usize], strides: &[isize], offset: usize, axis: isize, touched: usize| {
            over(&[axis], sizes, strides, offset, touched)
        };
        match self {
            View::Transposed => {
                let n = times(R);
                view(&[n, R], &[1, n as isize], 0, 1, n * R)
            }
            View::Permuted => {
                let n = times(21 * 64);
                view(&[64, 21, n], &[1, 64, 21 * 64], 0, 1, n * 21 * 64)
            }
            View::EverySecond | View::EverySecondShort => {
                let r = if self == View::EverySecond { R } else { 100 };
                let n = times(2 * r);
                view(&[n, r], &[2 * r as isize, 2], 0, 1, n * 2 * r)
            }
            View::EverySecondColumn => {
                let n = times(21 * 400);
                view(&[n, 21, 200], &[21 * 400, 400, 2], 0, 1, n * 21 * 400)
            }
            View::Reversed => {
                let n = times(R);
                view(&[n, R], &[R as isize, -1], R - 1, 1, n * R)
            }
            View::Broadcast => {
                let n = times(R);
                view(&[n, 8, R], &[R as isize, 0, 1], 0, 2, n * R)
            }
            View::Crop => {
                let n = times(4 * 64 * 64);
                view(&[n, 4, 48, 48], &[4 * 64 * 64, 64 * 64, 64, 1], 8 * 64 + 8, 1, n * 4 * 48 * 48)
            }
            View::Fortran => {
                let n = times(R);
                over(&[0, 1], &[R, n], &[1, R as isize], 0, n * R)
            }
            View::Planes => {
                let (h, w) = (times(3 * 64), 64);
                over(&[0, 1, 2], &[h, w, 3], &[w as isize, 1, (h * w) as isize], 0, 3 * h * w)
            }
            View::ChannelsLast => {
                let n = times(64 * 16 * 16);
                over(&[1, 2, 3], &[n, 64, 16, 16], &[64 * 256, 1, 64 * 16, 64], 0, n * 64 * 256)
            }
        }
    }
}

/// What filters are matched against, and the beginning of a line.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {} {}", self.data_type, self.shape, self.pattern.name(), self.options, self.size)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Rows(r) => write!(f, "rows-{r}"),
            Shape::Row => f.write_str("row"),
            Shape::Columns { r, inner } => write!(f, "columns-{r}x{inner}"),
            Shape::Images(axes) => write!(f, "images-{}", joined(axes, "")),
            Shape::View(view) => write!(f, "view-{}", format!("{view:?}").to_lowercase()),
            Shape::Named { name, .. } => f.write_str(name),
        }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::L2 => f.write_str("L2"),
            Size::Dram => f.write_str("DRAM"),
            Size::Own => f.write_str("own"),
            Size::Bytes(bytes @ 0x10_0000..) => write!(f, "{}MiB", bytes >> 20),
            Size::Bytes(bytes) => write!(f, "{}KiB", bytes >> 10),
        }
    }
}

/// `256x1000`.
pub fn joined<T: fmt::Display>(values: &[T], between: &str) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}
