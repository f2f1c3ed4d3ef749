//! Windows that overlap, told by strides alone: a loop over what an output is chosen from visits elements as far apart
//! as those of a loop over the outputs, or as some steps of it. Nothing here looks at elements.
//!
//! ```text
//! along     reduced (w, 1)        kept (n, step)           windows of a series
//! dilated   reduced (w, d)        kept (n, 1), or (n, d)   of d series that are interleaved, or of one; gathered
//! stacked   reduced (w, pitch)    kept (n, pitch), (m, 1)  of whole rows, a lane for each of the m columns
//! image     reduced (h, pitch), (w, 1)    kept (n, pitch), (m, 1)   of rows of windows
//! ```
//!
//! Reduced strides may be negative: all of them, then, which is what "the last of equals" collapses to.

use super::collapse::CollapsedShape;
use super::nest::MAX_LOOPS;
use argreduce_kernels::LoopDim;

/// How windows lie in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    pub(crate) way: WindowWay,
    /// The number, among the loops over the outputs, of that along which windows move, from row to row where there are
    /// rows.
    along: usize,
    /// That of the loop from column to column.
    across: Option<usize>,
    /// How many elements a window has along that, or rows.
    pub(crate) len: usize,
    /// How many elements of a row a window has.
    pub(crate) width: usize,
    /// From one element of a window to the next, or one row; upwards.
    pub(crate) stride: usize,
    /// From the first element of a window to that of the next, in such steps.
    pub(crate) step: usize,
    /// Whether they are visited backwards.
    pub(crate) is_backward: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowWay {
    /// Series, one after another. `interleaved` of them have outputs side by side.
    Series { interleaved: usize },
    /// Rows of outputs, whose windows have one column or several.
    Rows,
    /// The same of one column, of rows that follow each other, so that one loop is along and across.
    WholeRows,
}

impl Windows {
    /// Those of a shape. `None` where there are none, or their elements are not all visited.
    pub(crate) fn of(shape: &CollapsedShape) -> Option<Windows> {
        if shape.is_split() || shape.is_masked {
            return None;
        }
        let kept = shape.kept_dims();
        let find = |fits: &dyn Fn(&LoopDim) -> bool| kept.iter().rposition(fits);
        let neighbours = find(&|l| l.stride == 1);
        match *shape.reduced_dims() {
            [LoopDim { size: len, stride }] if len > 1 => {
                let (stride, is_backward) = (stride.unsigned_abs(), stride < 0);
                let of =
                    |way, along, across, step| Windows { way, along, across, len, width: 1, stride, step, is_backward };
                let along = find(&|l| {
                    let apart = l.stride.unsigned_abs();
                    apart > 0 && apart.is_multiple_of(stride) && apart / stride < len
                });
                let is_wide = |&n: &usize| kept[n].size >= MIN_COLUMNS && kept[n].size <= stride;
                match along {
                    Some(along)
                        if stride > 1
                            && kept[along].stride.unsigned_abs() == stride
                            && neighbours.is_some_and(|n| is_wide(&n)) =>
                    {
                        Some(of(WindowWay::Rows, along, neighbours, 1))
                    }
                    Some(along) => {
                        let step = kept[along].stride.unsigned_abs() / stride;
                        Some(of(WindowWay::Series { interleaved: 1 }, along, None, step))
                    }
                    None => {
                        let along = neighbours.filter(|&n| stride > 1 && kept[n].size > stride)?;
                        let are_rows = stride >= MIN_COLUMNS && len <= MAX_GATHERED_LEN;
                        let way =
                            if are_rows { WindowWay::WholeRows } else { WindowWay::Series { interleaved: stride } };
                        Some(of(way, along, None, 1))
                    }
                }
            }
            [LoopDim { size: len, stride: pitch }, LoopDim { size: width, stride }] if len > 1 && stride.abs() == 1 => {
                let stride_of_rows = pitch.unsigned_abs();
                let (along, across) = (find(&|l| l.stride.unsigned_abs() == stride_of_rows)?, neighbours?);
                let fits = along != across
                    && (pitch < 0) == (stride < 0)
                    && kept[across].size >= MIN_COLUMNS
                    && kept[across].size + width - 1 <= stride_of_rows;
                fits.then_some(Windows {
                    way: WindowWay::Rows,
                    along,
                    across: Some(across),
                    len,
                    width,
                    stride: stride_of_rows,
                    step: 1,
                    is_backward: pitch < 0,
                })
            }
            _ => None,
        }
    }

    /// Whether there is room for what they have in common, and enough columns for vectors of so many lanes.
    pub(crate) fn fit(&self, shape: &CollapsedShape, lanes: usize) -> bool {
        let [along, across] = self.loops(shape.kept_dims());
        match self.way {
            WindowWay::Series { interleaved } => {
                let is_near = self.stride == 1 && interleaved == 1;
                self.len <= if is_near { MAX_LEN } else { MAX_GATHERED_LEN } && self.step <= MAX_STEP
            }
            WindowWay::WholeRows => along.size >= self.stride && self.stride >= lanes && self.len <= MAX_GATHERED_LEN,
            WindowWay::Rows => across.size >= lanes && self.width <= MAX_GATHERED_LEN / 2,
        }
    }

    /// Whether they are faster so than one by one, of elements of so many bytes.
    pub(crate) fn pay(&self, bytes: usize) -> bool {
        let (len, [least, least_bytes]) = match self.way {
            WindowWay::Series { .. } => (self.len / self.step, LEAST_OF_SERIES),
            _ if self.width == 1 => (self.len, LEAST_OF_ROWS),
            _ => (self.len * self.width, LEAST_OF_IMAGES),
        };
        len >= least && len * bytes >= least_bytes
    }

    /// About how many elements are visited, to answer so many windows: some for each of them, and all of the first of
    /// those that follow each other.
    pub(crate) fn visits(&self, shape: &CollapsedShape, windows: usize) -> usize {
        let along = self.loops(shape.kept_dims())[0].size;
        let firsts = (windows / along.max(1)).saturating_mul(self.len);
        windows.saturating_mul(VISITS).saturating_add(firsts)
    }

    /// The fewest steps of a loop over the outputs that are worth a part of their own: with less, parts have much of
    /// what windows are chosen from in common.
    pub(super) fn least_part(&self, cut: usize) -> usize {
        match self.way {
            WindowWay::WholeRows if cut == self.along => MIN_PART * self.len * self.stride,
            _ if cut == self.along => MIN_PART * self.len.div_ceil(self.step),
            _ => 1,
        }
    }

    /// The loop along which windows move, of one of the nests, and that from column to column, or one step.
    pub(crate) fn loops(&self, outputs: &[LoopDim]) -> [LoopDim; 2] {
        [outputs[self.along], self.across.map_or(LoopDim::ONE, |across| outputs[across])]
    }

    /// The other loops of that nest, and how many there are.
    pub(crate) fn others(&self, outputs: &[LoopDim]) -> ([LoopDim; MAX_LOOPS], usize) {
        let (mut others, mut len) = ([LoopDim::ONE; MAX_LOOPS], 0);
        for (_, &l) in outputs.iter().enumerate().filter(|&(n, _)| n != self.along && Some(n) != self.across) {
            others[len] = l;
            len += 1;
        }
        (others, len)
    }
}

/// The fewest columns that are answered side by side: as many as the widest vectors have lanes. Not measured.
const MIN_COLUMNS: usize = 64;

/// The fewest elements of windows that are not looked at alone, for each step, and their fewest bytes. See
/// docs/tuning.md#windows.
const LEAST_OF_SERIES: [usize; 2] = [16, 80];

/// The same of windows of one column. See docs/tuning.md#windows.
const LEAST_OF_ROWS: [usize; 2] = [14, 72];

/// The same of windows of several columns. See docs/tuning.md#windows.
const LEAST_OF_IMAGES: [usize; 2] = [9, 48];

/// As much work as to visit so many elements, for each window. Not measured.
const VISITS: usize = 8;

/// How many times as long as a window a part is at least. Not measured.
const MIN_PART: usize = 2;

/// The longest windows: 32 bits hold indices in several of them. Not measured.
const MAX_LEN: usize = 1 << 31;

/// The longest step. Not measured.
const MAX_STEP: usize = 64;

/// The longest windows of elements that are gathered. Not measured.
const MAX_GATHERED_LEN: usize = 1024;
