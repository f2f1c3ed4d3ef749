//! Which strategy and which kernel run a shape, by the shape, the type of its elements and the ISA. Where two curves
//! cross is the same on all CPUs so far, so the thresholds are here, beside what they decide.

use super::collapse::CollapsedShape;
use super::limits::MIN_SEGMENTED_ROW_BYTES;
use super::nest::count;
use crate::{DataType, Element, Isa};
use argreduce_kernels::{Strategy, Tuning, WorkingSet, with_element_type};

/// In a `const` block, where elements are a type of the caller's: what reduces those without kernels does not compile.
pub(crate) const fn require_kernels<T: Element>() {
    assert!(T::DATA_TYPE.has_kernels(), "{}", T::DATA_TYPE.no_kernels());
}

/// The ISA of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanIsa {
    pub(crate) widest: Isa,
    /// Whether the caller forced it, so that all kernels have to be of it.
    pub(crate) is_forced: bool,
}

/// What the CPU does faster with vectors of 256 bits than with wider ones.
#[derive(Clone, Copy, Default)]
pub(super) struct Prefer256Bit {
    /// One row that is read from memory.
    rows: bool,
    /// Columns of wide rows that are read from memory.
    columns: bool,
    /// Gathered columns: those that are read from memory, and small integers.
    gathers: bool,
}

impl Prefer256Bit {
    pub(super) fn of(tuning: &Tuning, working_set: WorkingSet, element: DataType) -> Self {
        let is_f16 = is_short_float(element);
        let exceeds_l2 = working_set != WorkingSet::L2;
        let takes = &tuning.half_vectors;
        Prefer256Bit {
            rows: exceeds_l2 && takes.rows_beyond_l2,
            columns: working_set == WorkingSet::Dram && takes.columns_beyond_l3,
            gathers: exceeds_l2 && takes.gathers_beyond_l2 || element.size() <= takes.max_gathered_bytes && !is_f16,
        }
    }
}

/// The longest rows of several, in bytes, that vectors of half the width take. See
/// docs/tuning.md#max_half_vector_row_bytes.
const MAX_HALF_VECTOR_ROW_BYTES: usize = 32;

/// The shortest rows of columns, in bytes, that they take where memory is slower than either. See
/// docs/tuning.md#half_vectorscolumns_beyond_l3.
const MIN_HALF_VECTOR_COLUMNS_ROW_BYTES: usize = 768;

/// Up to how many rows columns that are narrow in whole vectors, and fill those of half the width, take the latter. See
/// docs/tuning.md#max_half_vector_column_rows.
const MAX_HALF_VECTOR_COLUMN_ROWS: usize = 24;

/// The fewest bytes of narrow columns that take whole vectors, not those of half the width. See
/// docs/tuning.md#min_full_vector_narrow_bytes.
const MIN_FULL_VECTOR_NARROW_BYTES: usize = 2048;

/// The fewest bytes of narrow columns that are not gathered: half of it for rows of half a vector and more. See
/// docs/tuning.md#min_narrow_bytes.
const MIN_NARROW_BYTES: usize = 1024;

/// The fewest rows of columns of one vector that are not gathered. See docs/tuning.md#min_column_rows.
const MIN_COLUMN_ROWS: usize = 4;

/// The fewest rows that are transposed. See docs/tuning.md#min_transposed_rows.
const MIN_TRANSPOSED_ROWS: usize = 64;

/// The fewest bytes of rows that are transposed where they are not much slower one by one. See
/// docs/tuning.md#min_transposed_bytes.
const MIN_TRANSPOSED_BYTES: usize = 1536;

/// The longest rows of 16-bit floats that are transposed, in elements. See docs/tuning.md#max_transposed_f16_len.
const MAX_TRANSPOSED_F16_LEN: usize = 31;

/// The longest windows that overlap which are answered as columns, in bytes. See docs/tuning.md#max_window_bytes.
const MAX_WINDOW_BYTES: usize = 1 << 10;

/// Whether the kernel of a strategy takes the calls for the outputs of a shape, by vectors of so many lanes: they have
/// the shape's reduced loops, and the inner loop is [`CollapsedShape::inner_dim`]. Of that, a tile or a part has all
/// steps, or more than any vector has lanes.
pub(crate) fn takes(shape: &CollapsedShape, strategy: Strategy, lanes: usize) -> bool {
    strategy.takes(shape.inner_dim(), shape.reduced_dims(), lanes)
}

/// Whether elements are floats of 16 bits, whose keys take several operations.
fn is_short_float(element: DataType) -> bool {
    element.size() == 2 && with_element_type!(element, T => T::ANY_NAN.is_some())
}

/// What a strategy is selected from.
pub(super) struct Selection<'a> {
    pub(super) shape: &'a CollapsedShape,
    pub(super) reduction_len: usize,
    pub(super) element: DataType,
}

impl Selection<'_> {
    /// The elements of one output.
    pub(super) fn row_bytes(&self) -> usize {
        self.reduction_len.saturating_mul(self.element.size())
    }

    /// From the lowest element to the highest one. Where windows overlap, that is less than what is visited.
    pub(super) fn span_bytes(&self) -> usize {
        let loops = self.shape.input.output_dims().iter().chain(self.shape.reduced_dims());
        let steps = loops.map(|l| (l.size - 1).saturating_mul(l.stride.unsigned_abs()));
        steps.fold(1, usize::saturating_add).saturating_mul(self.element.size())
    }

    /// The elements of all outputs along the fastest loop.
    fn fast_loop_bytes(&self) -> usize {
        self.row_bytes().saturating_mul(self.shape.inner_dim().size)
    }

    /// The strategy, and the ISA that is fastest at it. Where AVX-512 is not forced, and vectors of 64 bytes are too
    /// wide for the shape, that is AVX2, which every machine with AVX-512 has. `None` where each output has one
    /// element.
    pub(super) fn isa_and_strategy(&self, isa: PlanIsa, prefer_256_bit: Prefer256Bit) -> Option<(Isa, Strategy)> {
        let (shape, PlanIsa { widest: isa, is_forced }) = (self.shape, isa);
        let strategy = self.strategy(isa)?;
        if is_forced || isa != Isa::Avx512 {
            return Some((isa, strategy));
        }
        let narrower = || self.strategy(Isa::Avx2);
        let strategy_of_avx2 = match strategy {
            Strategy::Rows => {
                let is_short = self.row_bytes() <= MAX_HALF_VECTOR_ROW_BYTES;
                if is_short && count(shape.input.output_dims()) > 1 { narrower() } else { None }
            }
            // A row that is read in several streams: what is read in one stream is as fast with either.
            Strategy::SegmentedRows => {
                let has_streams =
                    self.row_bytes() >= MIN_SEGMENTED_ROW_BYTES && strategy.is_in_place(shape.reduced_dims());
                (prefer_256_bit.rows && has_streams).then_some(strategy)
            }
            // Columns of wide rows: memory is slower than either.
            Strategy::Columns => {
                let row_bytes = shape.inner_dim().size.saturating_mul(self.element.size());
                (prefer_256_bit.columns && row_bytes >= MIN_HALF_VECTOR_COLUMNS_ROW_BYTES).then_some(strategy)
            }
            // With shorter vectors, fewer rows are gathered at a time, so that memory is read more nearly in its order.
            Strategy::GatheredColumns if prefer_256_bit.gathers => narrower(),
            // A row that fills the narrower vector need not be gathered, nor share it with others.
            Strategy::GatheredColumns | Strategy::NarrowColumns => narrower().filter(|narrower| match narrower {
                Strategy::Columns => {
                    strategy == Strategy::GatheredColumns || self.reduction_len <= MAX_HALF_VECTOR_COLUMN_ROWS
                }
                Strategy::NarrowColumns => self.fast_loop_bytes() < MIN_FULL_VECTOR_NARROW_BYTES,
                _ => false,
            }),
        };
        Some(strategy_of_avx2.map_or((isa, strategy), |strategy| (Isa::Avx2, strategy)))
    }

    /// The strategy that is fastest for the shape, by one ISA. `None` where each output has one element.
    fn strategy(&self, isa: Isa) -> Option<Strategy> {
        if self.reduction_len == 1 {
            return None;
        }
        let (inner, reduced) = (self.shape.inner_dim(), self.shape.reduced_dims());
        let (vector_size, lanes) = (isa.vector_bytes(), isa.vector_bytes() / self.element.size());
        let takes = |strategy: Strategy| takes(self.shape, strategy, lanes);
        // The fewest bytes for which narrow columns are faster than gathered ones, or than columns where a row of
        // outputs fills a vector.
        let min_narrow_bytes = match inner.size {
            width if width == lanes => 2 * vector_size * vector_size,
            width if width * 2 >= lanes => MIN_NARROW_BYTES / 2,
            _ => MIN_NARROW_BYTES,
        };
        let is_narrow =
            isa != Isa::Portable && takes(Strategy::NarrowColumns) && self.fast_loop_bytes() >= min_narrow_bytes;
        // Of few rows, outputs that fill exactly one vector are gathered instead.
        let has_columns = takes(Strategy::Columns) && (inner.size > lanes || self.reduction_len >= MIN_COLUMN_ROWS);
        // Windows that overlap: the elements of an output are neighbours, and so are the outputs.
        let are_windows = takes(Strategy::Rows) && has_columns && self.row_bytes() <= MAX_WINDOW_BYTES;
        let outputs = count(self.shape.input.output_dims());
        let in_batches = cfg!(not(target_family = "wasm")) && isa != Isa::Portable;
        let is_near = || Strategy::SegmentedRows.is_near(inner, reduced, self.element.size(), in_batches);
        Some(if are_windows {
            Strategy::Columns
        } else if takes(Strategy::Rows) && !self.should_transpose_rows(outputs, isa) {
            if self.row_bytes() < MIN_SEGMENTED_ROW_BYTES { Strategy::Rows } else { Strategy::SegmentedRows }
        } else if is_narrow {
            Strategy::NarrowColumns
        } else if has_columns {
            Strategy::Columns
        } else if outputs >= lanes.div_ceil(2) && !is_near() {
            Strategy::GatheredColumns
        } else {
            Strategy::SegmentedRows
        })
    }

    /// Whether rows are faster transposed, as gathered columns, than one after another. To transpose them takes a few
    /// shuffles; a row takes some twenty instructions, however short it is. See
    /// docs/tuning.md#which-short-rows-are-transposed.
    fn should_transpose_rows(&self, rows: usize, isa: Isa) -> bool {
        let len = self.reduction_len;
        let max_len = match (isa, is_short_float(self.element)) {
            (Isa::Avx512, true) => MAX_TRANSPOSED_F16_LEN,
            (Isa::Avx2, true) => MAX_TRANSPOSED_F16_LEN - 3,
            _ => 12,
        };
        // Short lengths are transposed in any case, medium ones only if there are many bytes.
        let (is_short, is_medium) = match self.element.size() {
            1 => (len <= 6, len <= max_len),
            2 => (len <= 4, len <= max_len),
            4 => (len <= 6, len == 9 || len == 10),
            _ => (len <= 4, len <= 5),
        };
        let has_many_bytes = || rows.saturating_mul(self.row_bytes()) >= MIN_TRANSPOSED_BYTES;
        rows >= MIN_TRANSPOSED_ROWS && (is_short || is_medium && has_many_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::AxisSet;
    use crate::{AxisDirection, Layout};
    use DataType::{F16, F32, F64, I16, U8};

    fn shape(sizes: &[usize], axes: &[isize]) -> CollapsedShape {
        let input = Layout::contiguous(sizes).unwrap();
        let set = AxisSet::new(axes, sizes.len()).unwrap();
        let kept = |axis| if set.contains(axis) { 1 } else { sizes[axis] };
        let output = Layout::contiguous(&(0..sizes.len()).map(kept).collect::<Vec<_>>()).unwrap();
        CollapsedShape::new(&input, set, AxisDirection::Increasing, &output)
    }

    fn selection(shape: &CollapsedShape, element: DataType) -> Selection<'_> {
        Selection { shape, reduction_len: count(shape.reduced_dims()), element }
    }

    /// What is too narrow for vectors of 64 bytes takes those of 32, from both sides of each limit; nothing else does.
    #[test]
    fn halves_vectors() {
        use Isa::{Avx2, Avx512, Portable};
        use Strategy::{Columns, GatheredColumns, NarrowColumns, Rows, SegmentedRows};
        let chosen_by = |prefer_256_bit, widest, sizes: &[usize], axes: &[isize], element| {
            let select = |is_forced| {
                selection(&shape(sizes, axes), element).isa_and_strategy(PlanIsa { widest, is_forced }, prefer_256_bit)
            };
            assert!(select(true).is_none_or(|(isa, _)| isa == widest), "a forced ISA is forced");
            select(false)
        };
        let chosen = |isa, sizes: &[usize], axes: &[isize], element| {
            chosen_by(Prefer256Bit::default(), isa, sizes, axes, element)
        };
        assert_eq!(chosen(Avx512, &[100, 8], &[1], F32), Some((Avx2, Rows)));
        assert_eq!(chosen(Avx512, &[100, 9], &[1], F32), Some((Avx512, GatheredColumns)));
        assert_eq!(chosen(Avx512, &[100, 11], &[1], F32), Some((Avx512, Rows)));
        assert_eq!(chosen(Avx512, &[100, 31], &[1], F16), Some((Avx512, GatheredColumns)));
        assert_eq!(chosen(Avx512, &[100, 32], &[1], F16), Some((Avx512, Rows)));
        assert_eq!(chosen(Avx512, &[8], &[0], F32), Some((Avx512, Rows)));
        assert_eq!(chosen(Avx512, &[100, 3, 7], &[1], F32), Some((Avx512, GatheredColumns)));
        assert_eq!(chosen(Avx512, &[100, 3, 15], &[1], F32), Some((Avx2, Columns)));
        assert_eq!(chosen(Avx512, &[100, 3, 16], &[1], F32), Some((Avx2, Columns)));
        assert_eq!(chosen(Avx512, &[100, 3, 32], &[1], F32), Some((Avx512, Columns)));
        assert_eq!(chosen(Avx512, &[100, 24, 15], &[1], F32), Some((Avx2, Columns)));
        assert_eq!(chosen(Avx512, &[100, 25, 15], &[1], F32), Some((Avx512, NarrowColumns)));
        assert_eq!(chosen(Avx512, &[100, 21, 7], &[1], F32), Some((Avx2, NarrowColumns)));
        assert_eq!(chosen(Avx512, &[100, 73, 7], &[1], F32), Some((Avx2, NarrowColumns)));
        assert_eq!(chosen(Avx512, &[100, 74, 7], &[1], F32), Some((Avx512, NarrowColumns)));
        assert_eq!(chosen(Avx512, &[100, 64, 8], &[1], F32), Some((Avx512, NarrowColumns)));
        assert_eq!(chosen(Avx512, &[100, 18, 7], &[1], F32), Some((Avx512, GatheredColumns)));
        assert_eq!(chosen(Avx512, &[8 << 20], &[0], F32), Some((Avx512, SegmentedRows)));
        let prefer_256_bit = Prefer256Bit { rows: true, columns: true, gathers: true };
        let row = |sizes: &[usize]| chosen_by(prefer_256_bit, Avx512, sizes, &[0], F32);
        assert_eq!(row(&[8 << 20]), Some((Avx2, SegmentedRows)));
        assert_eq!(row(&[(8 << 20) - 1]), Some((Avx512, Rows)));
        let columns = |sizes: &[usize]| chosen_by(prefer_256_bit, Avx512, sizes, &[1], F32);
        assert_eq!(columns(&[2048, 32, 192]), Some((Avx2, Columns)));
        assert_eq!(columns(&[2048, 32, 191]), Some((Avx512, Columns)));
        assert_eq!(columns(&[2048, 18, 7]), Some((Avx2, GatheredColumns)));
        for tuning in Tuning::ALL {
            for element in [DataType::Bool, DataType::I8, U8, I16, DataType::U16, F16, F32] {
                let prefer_256_bit = Prefer256Bit::of(tuning, WorkingSet::L2, element);
                let is_small = element.size() <= tuning.half_vectors.max_gathered_bytes && element != F16;
                let isa = if is_small { Avx2 } else { Avx512 };
                let gathered = chosen_by(prefer_256_bit, Avx512, &[100, 10, 5], &[1], element);
                assert_eq!(gathered, Some((isa, GatheredColumns)), "{}", tuning.name);
            }
        }
        assert_eq!(chosen(Avx512, &[2048, 32, 192], &[1], F32), Some((Avx512, Columns)));
        assert_eq!(chosen(Portable, &[100, 8], &[1], F32), Some((Portable, Rows)));
        assert_eq!(chosen(Avx512, &[100, 1], &[1], F32), None);
    }

    /// Each limit from both sides, with vectors of 32 bytes. No answer depends on what is selected, so that no other
    /// test sees a limit move.
    #[test]
    fn tells_shapes_apart() {
        use Strategy::{Columns, GatheredColumns, NarrowColumns, Rows, SegmentedRows};
        let chosen =
            |sizes: &[usize], axes: &[isize], element| selection(&shape(sizes, axes), element).strategy(Isa::Avx2);
        type Case = (&'static [usize], &'static [isize], DataType, Option<Strategy>);
        let cases: [Case; 47] = [
            (&[100, 1], &[1], F32, None),
            (&[100, 2], &[1], F32, Some(GatheredColumns)),
            // Rows, unless they are short, and enough of them that transposing pays.
            (&[100, 6], &[1], F32, Some(GatheredColumns)),
            (&[100, 7], &[1], F32, Some(Rows)),
            (&[100, 8], &[1], F32, Some(Rows)),
            (&[100, 9], &[1], F32, Some(GatheredColumns)),
            (&[100, 10], &[1], F32, Some(GatheredColumns)),
            (&[100, 11], &[1], F32, Some(Rows)),
            (&[127, 12], &[1], U8, Some(Rows)),
            (&[128, 12], &[1], U8, Some(GatheredColumns)),
            (&[500, 7], &[1], U8, Some(GatheredColumns)),
            (&[500, 13], &[1], U8, Some(Rows)),
            (&[100, 12], &[1], I16, Some(GatheredColumns)),
            (&[100, 13], &[1], I16, Some(Rows)),
            (&[100, 28], &[1], F16, Some(GatheredColumns)),
            (&[100, 29], &[1], F16, Some(Rows)),
            (&[153, 5], &[1], I16, Some(Rows)),
            (&[154, 5], &[1], I16, Some(GatheredColumns)),
            (&[100, 5], &[1], F64, Some(GatheredColumns)),
            (&[100, 6], &[1], F64, Some(Rows)),
            (&[63, 2], &[1], U8, Some(Rows)),
            (&[64, 2], &[1], U8, Some(GatheredColumns)),
            (&[63, 4], &[1], F64, Some(Rows)),
            (&[64, 4], &[1], F64, Some(GatheredColumns)),
            // Rows that exceed the caches.
            (&[1, (32 << 20) - 1], &[1], U8, Some(Rows)),
            (&[1, 32 << 20], &[1], U8, Some(SegmentedRows)),
            (&[10, 8 << 20], &[1], F32, Some(SegmentedRows)),
            // Columns, unless they are one vector, or less, and short.
            (&[2, 16], &[0], F32, Some(Columns)),
            (&[2, 9], &[0], F32, Some(Columns)),
            (&[3, 8], &[0], F32, Some(GatheredColumns)),
            (&[4, 8], &[0], F32, Some(Columns)),
            (&[9, 7], &[0], F32, Some(GatheredColumns)),
            // Narrow from 1 KiB on, and from 512 bytes on where rows are half a vector or more.
            (&[31, 4], &[0], F32, Some(GatheredColumns)),
            (&[32, 4], &[0], F32, Some(NarrowColumns)),
            (&[85, 3], &[0], F32, Some(SegmentedRows)),
            (&[86, 3], &[0], F32, Some(NarrowColumns)),
            (&[511, 2], &[0], U8, Some(SegmentedRows)),
            (&[512, 2], &[0], U8, Some(NarrowColumns)),
            // Of rows of one vector, from 2 KiB on.
            (&[63, 8], &[0], F32, Some(Columns)),
            (&[64, 8], &[0], F32, Some(NarrowColumns)),
            (&[1000, 9], &[0], F32, Some(Columns)),
            // Segments of 32 elements and more, or elements that are a few apart; of few outputs, any.
            (&[2, 100, 31], &[0, 2], F32, Some(GatheredColumns)),
            (&[2, 100, 32], &[0, 2], F32, Some(SegmentedRows)),
            (&[2, 3, 31], &[0, 2], F32, Some(SegmentedRows)),
            (&[50, 2, 100, 2], &[0, 2], F32, Some(GatheredColumns)),
            (&[3, 100, 192, 4], &[0, 2], F32, Some(SegmentedRows)),
            (&[3, 100, 191, 4], &[0, 2], F32, Some(GatheredColumns)),
        ];
        for (sizes, axes, element, expected) in cases {
            assert_eq!(chosen(sizes, axes, element), expected, "{sizes:?} over {axes:?}, {element}");
        }
    }

    /// Rows of every `step`th element, from both sides of their limits: gathered one after another, not side by side.
    #[test]
    fn near_rows_are_gathered_alone() {
        let strategy = |len: usize, step: isize, element, isa| {
            let input = Layout::strided(&[100, len], &[step * len as isize, step], 0).unwrap();
            let output = Layout::contiguous(&[100, 1]).unwrap();
            let set = AxisSet::new(&[1], 2).unwrap();
            let shape = CollapsedShape::new(&input, set, AxisDirection::Increasing, &output);
            selection(&shape, element).strategy(isa).unwrap()
        };
        for (shortest, step, element, isa) in [
            (24, 2, F32, Isa::Avx2),
            (24, 4, I16, Isa::Neon),
            (48, 2, U8, Isa::Avx512),
            (192, 5, F32, Isa::Avx2),
            (192, 2, F32, Isa::Portable),
        ] {
            let chosen = [shortest - 1, shortest].map(|len| strategy(len, step, element, isa));
            let expected = [Strategy::GatheredColumns, Strategy::SegmentedRows];
            assert_eq!(chosen, expected, "{shortest} {element}, {step} apart, {isa}");
        }
        // Where outputs are nearer to each other than their elements, never.
        let shape = shape(&[100, 191, 4], &[1]);
        assert_eq!(selection(&shape, U8).strategy(Isa::Avx512), Some(Strategy::GatheredColumns));
    }

    /// Windows of step 1, from both sides of their limit; and what they span, which is not what is visited.
    #[test]
    fn windows_are_columns() {
        let windows = |len: usize, size: usize, step: usize, element| {
            let input = Layout::contiguous(&[len]).unwrap().windows(0, size, step).unwrap();
            let output = Layout::contiguous(&[input.sizes()[0], 1]).unwrap();
            let set = AxisSet::new(&[1], 2).unwrap();
            let shape = CollapsedShape::new(&input, set, AxisDirection::Increasing, &output);
            let selection = selection(&shape, element);
            (selection.strategy(Isa::Avx2), selection.span_bytes())
        };
        assert_eq!(windows(1000, 128, 1, F64), (Some(Strategy::Columns), 8000));
        assert_eq!(windows(1000, 129, 1, F64), (Some(Strategy::Rows), 8000));
        assert_eq!(windows(1100, 1024, 1, U8), (Some(Strategy::Columns), 1100));
        assert_eq!(windows(1100, 1025, 1, U8), (Some(Strategy::Rows), 1100));
        // Fewer than a vector has lanes; and of another step.
        assert_eq!(windows(14, 8, 1, F32).0, Some(Strategy::Rows));
        assert_eq!(windows(15, 8, 1, F32).0, Some(Strategy::Columns));
        assert_eq!(windows(1000, 50, 2, F32).0, Some(Strategy::Rows));
    }
}
