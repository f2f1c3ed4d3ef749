//! How a problem is run: which strategy takes it, by its shape and the type of its elements. All thresholds between strategies stand here.

use crate::collapse::{Problem, count};
use crate::run::LONGEST_VISIT;
use crate::{DataType, Isa, NanPolicy, ReduceFunction, Strategy};
use argreduce_kernels::tuning::SelectTuning;
use argreduce_kernels::{IndexWriter, Kernel, Prefetch, Tuning, kernel_of};

/// What there is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) problem: Problem,
    /// How many elements each output is chosen from, as far as they are looked at.
    pub(crate) visited: usize,
    /// `None` where each output has a single element to choose from.
    pub(crate) kernel: Option<(Strategy, Kernel)>,
    /// What writes indices of positions.
    pub(crate) writer: &'static IndexWriter,
    /// For tiles: whether the elements are likely beyond the L2 cache, and then what to ask for.
    pub(crate) prefetch: Prefetch,
    /// Whether there is but one output, chosen from one loop: the loops around a tile cost as much as a row of 64 elements.
    pub(crate) is_single: bool,
    /// And this from neighbours in the order of their addresses, or from but one element.
    pub(crate) is_packed_row: bool,
}

impl Work {
    /// Nothing.
    pub(crate) const EMPTY: Work = Work {
        problem: Problem::EMPTY,
        visited: 0,
        kernel: None,
        writer: IndexWriter::PORTABLE,
        prefetch: Prefetch::Nothing,
        is_single: false,
        is_packed_row: false,
    };

    /// Decides how to do what the problem says. `None` where there is no kernel for the ISA. Sizes are in bytes.
    pub(crate) fn choose(
        &mut self,
        isa: Isa,
        element: DataType,
        (function, policy): (ReduceFunction, NanPolicy),
    ) -> Option<()> {
        let (problem, element_size) = (&self.problem, element.size());
        self.visited = count(problem.reduced());
        self.writer = IndexWriter::of(isa)?;
        let bytes = count(problem.input.kept()).saturating_mul(self.visited).saturating_mul(element_size);
        let tuning = Tuning::current();
        self.prefetch = tuning.prefetch(bytes);
        self.kernel = match choose_isa_and_strategy(
            problem,
            self.visited,
            isa,
            element,
            &tuning.select,
            ByHalves::of(tuning, self.prefetch, element),
        ) {
            Some((isa, strategy)) => Some((strategy, kernel_of(element, isa, strategy, function, policy)?)),
            None => None,
        };
        let has_one_loop = problem.values.is_empty() && problem.reduced().len() == 1 && problem.index().len() == 1;
        self.is_single = has_one_loop && self.visited <= LONGEST_VISIT;
        let is_row = problem.input.first().stride == 1 && self.visited.saturating_mul(element_size) < LONGEST_ROW_BYTES;
        self.is_packed_row = self.is_single && (is_row || self.kernel.is_none());
        Some(())
    }
}

/// What vectors of half the width take where there are wider ones, because of the CPU.
#[derive(Clone, Copy, Default)]
struct ByHalves {
    /// One row, where memory is slower than either.
    rows: bool,
    /// Long lines of columns, where memory is slower than either.
    lines: bool,
    /// What is packed: where memory is slower than either, and integers of 8 and 16 bits.
    packed: bool,
}

impl ByHalves {
    fn of(tuning: &Tuning, prefetch: Prefetch, element: DataType) -> Self {
        let (jumps, is_half) = (prefetch == Prefetch::Jumps, matches!(element, DataType::F16 | DataType::Bf16));
        let takes = &tuning.half_vectors;
        ByHalves {
            rows: jumps && takes.far_rows,
            lines: prefetch == Prefetch::Everything && takes.far_columns,
            packed: jumps && takes.far_gathers || takes.small_gathers && element.size() <= 2 && !is_half,
        }
    }
}

/// Where vectors of 64 bytes are too wide, those of half the width take what they are better at: every machine with AVX-512 has AVX2.
fn choose_isa_and_strategy(
    problem: &Problem,
    visited: usize,
    isa: Isa,
    element: DataType,
    select: &SelectTuning,
    by_halves: ByHalves,
) -> Option<(Isa, Strategy)> {
    let element_size = element.size();
    let by = |isa| choose_strategy(problem, visited, isa, element, select);
    let strategy = by(isa)?;
    if isa != Isa::Avx512 {
        return Some((isa, strategy));
    }
    Some(match strategy {
        Strategy::Rows
            if count(problem.input.kept()) > 1
                && visited.saturating_mul(element_size) <= select.max_half_vector_row_bytes =>
        {
            (Isa::Avx2, by(Isa::Avx2)?)
        }
        // A row that is read in several places. (One row of 64 MiB, GB/s by AVX-512 and AVX2, medians of five: u8 24 and 33, f32 27 and 31, f64 26 and 31, i64 24 and 32, f16 31 and
        // 31, where a plain read takes 24; Zen 4. Rows that are read in one place are as fast by either.)
        Strategy::Pieces
            if by_halves.rows
                && visited.saturating_mul(element_size) >= LONGEST_ROW_BYTES
                && strategy.is_in_place(problem.reduced()) =>
        {
            (Isa::Avx2, strategy)
        }
        // Long lines that go by one after another: what memory brings is sooner looked at than it comes.
        Strategy::Columns
            if by_halves.lines
                && problem.inner().size.saturating_mul(element_size) >= select.min_half_vector_line_bytes =>
        {
            (Isa::Avx2, strategy)
        }
        // Fewer blocks at a time, so that memory is read more nearly in its order. (Beyond L3, GB/s by AVX-512 and AVX2: 10 rows of 2 and 21 of 3 u8 10 and 14, 8 and 12, 10 rows of 2 and of 5
        // and 21 of 3 f32 13 and 21, 14 and 17, 17 and 21, rows of 10 u8 16 and 18, of 21 f16 12 and 21, one by one 16; only of 21 rows of 5 u8 14 and 12; 64 bits as fast by either.
        // In L2, by AVX-512 over AVX2: 10 rows of 2, 3 and 5, 21 of 2 and 8, 64 of 7 u8 0.68, 0.80, 0.69, 0.69, 0.81, 0.81, i16 0.69, 0.79, 0.75, 0.79, 0.86, 0.86, rows of 10 0.92 and 0.80, of 5 1.05, 2
        // to 4 rows 0.86 to 1.06, but f16 0.76 to 1.09, rows of 21 1.07, of which the smallest is looked for 1.27; f32 and 64 bits 1.0 to 1.2; Zen 4.)
        Strategy::PackedColumns if by_halves.packed => (Isa::Avx2, by(Isa::Avx2)?),
        Strategy::PackedColumns | Strategy::FoldedColumns => match by(Isa::Avx2) {
            // Lines that need no packing then, nor folding. (Zen 5, in L2, GB/s by AVX-512 and AVX2: 3 rows of 31 f32 47 and 78, of 64 u8 54 and 96, of 8 i64 19
            // and 57; images of 56 u8 over the first and the third axis, beyond L3, 6 and 17.)
            Some(Strategy::Columns) if strategy == Strategy::PackedColumns || visited <= select.max_unfolded_rows => {
                (Isa::Avx2, Strategy::Columns)
            }
            Some(Strategy::FoldedColumns)
                if bytes_of_block(problem, visited, element_size) < select.min_wide_folded_bytes =>
            {
                (Isa::Avx2, Strategy::FoldedColumns)
            }
            _ => (isa, strategy),
        },
        _ => (isa, strategy),
    })
}

/// The one place where shapes are told apart; sizes in bytes. `None` where there is nothing to choose from.
fn choose_strategy(
    problem: &Problem,
    visited: usize,
    isa: Isa,
    element: DataType,
    select: &SelectTuning,
) -> Option<Strategy> {
    let (vector_size, element_size) = (isa.vector_bytes(), element.size());
    let lanes = vector_size / element_size;
    if visited == 1 {
        return None;
    }
    let takes = |strategy: Strategy| strategy.takes(problem.inner(), problem.reduced(), lanes);
    let block = bytes_of_block(problem, visited, element_size);
    let folds = isa != Isa::Portable
        && takes(Strategy::FoldedColumns)
        && block >= smallest_folded(problem.inner().size, lanes, vector_size, select);
    // Lines of one vector of few rows are gathered side by side first.
    let has_columns = takes(Strategy::Columns) && (problem.inner().size > lanes || visited >= select.min_column_rows);
    let outputs = count(problem.input.kept());
    let has_lanes = outputs >= lanes.div_ceil(2);
    Some(if takes(Strategy::Rows) && !packs(outputs, visited, isa, element, select) {
        let bytes = visited.saturating_mul(element_size);
        if bytes < LONGEST_ROW_BYTES { Strategy::Rows } else { Strategy::Pieces }
    } else if folds {
        Strategy::FoldedColumns
    } else if has_columns {
        Strategy::Columns
    } else if has_lanes && !Strategy::Pieces.is_near(problem.reduced()) {
        Strategy::PackedColumns
    } else {
        Strategy::Pieces
    })
}

/// Bytes of columns from which on folding them is faster than packing, or than taking lines of one vector as they are.
fn smallest_folded(width: usize, lanes: usize, vector_size: usize, select: &SelectTuning) -> usize {
    if width == lanes {
        2 * vector_size * vector_size
    } else if width * 2 >= lanes {
        select.min_folded_bytes / 2
    } else {
        select.min_folded_bytes
    }
}

/// Rows of so many bytes, or more, are read in several places at once by kernels for pieces, where that is faster. (Of what L3 holds, 0.75 to
/// 0.87 of the speed of one place; Zen 4.)
pub(crate) const LONGEST_ROW_BYTES: usize = 32 << 20;

fn bytes_of_block(problem: &Problem, visited: usize, element_size: usize) -> usize {
    visited.saturating_mul(problem.inner().size).saturating_mul(element_size)
}

/// Whether so many rows of so many elements are faster as packed columns than one by one: to transpose them takes a few
/// shuffles, and a row the time of some twenty instructions, however short.
fn packs(rows: usize, visited: usize, isa: Isa, element: DataType, select: &SelectTuning) -> bool {
    let size = element.size();
    let longest = match (isa, element) {
        (Isa::Avx512, DataType::F16 | DataType::Bf16) => select.max_packed_f16_len,
        (Isa::Avx2, DataType::F16 | DataType::Bf16) => select.max_packed_f16_len - 3,
        _ => 12,
    };
    let is_short = match size {
        1 | 4 => visited <= 6,
        _ => visited <= 4,
    };
    let is_packed = match size {
        1 | 2 => visited <= longest,
        4 => visited == 9 || visited == 10,
        _ => visited <= 5,
    };
    rows >= select.min_packed_rows
        && (is_short || is_packed && rows.saturating_mul(visited * size) >= select.min_packed_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::AxisSet;
    use crate::{AxisDirection, Layout};
    use DataType::{F16, F32, F64, I16, U8};

    fn problem(sizes: &[usize], axes: &[isize]) -> Problem {
        let input = Layout::contiguous(sizes).unwrap();
        let set = AxisSet::new(axes, sizes.len()).unwrap();
        let kept = |axis| if set.contains(axis) { 1 } else { sizes[axis] };
        let output = Layout::contiguous(&(0..sizes.len()).map(kept).collect::<Vec<_>>()).unwrap();
        Problem::new(&input, set, AxisDirection::Increasing, &output)
    }

    /// What is too narrow for 64 bytes goes by 32, from both sides of each limit; nothing else does.
    #[test]
    fn halves_vectors() {
        use Isa::{Avx2, Avx512, Portable};
        use Strategy::{Columns, FoldedColumns, PackedColumns, Pieces, Rows};
        let chosen_by = |by_halves, isa, sizes: &[usize], axes: &[isize], element| {
            let problem = problem(sizes, axes);
            choose_isa_and_strategy(
                &problem,
                count(problem.reduced()),
                isa,
                element,
                &Tuning::current().select,
                by_halves,
            )
        };
        let chosen =
            |isa, sizes: &[usize], axes: &[isize], element| chosen_by(ByHalves::default(), isa, sizes, axes, element);
        assert_eq!(chosen(Avx512, &[100, 8], &[1], F32), Some((Avx2, Rows)));
        assert_eq!(chosen(Avx512, &[100, 9], &[1], F32), Some((Avx512, PackedColumns)));
        assert_eq!(chosen(Avx512, &[100, 11], &[1], F32), Some((Avx512, Rows)));
        assert_eq!(chosen(Avx512, &[100, 31], &[1], F16), Some((Avx512, PackedColumns)));
        assert_eq!(chosen(Avx512, &[100, 32], &[1], F16), Some((Avx512, Rows)));
        assert_eq!(chosen(Avx512, &[8], &[0], F32), Some((Avx512, Rows)));
        assert_eq!(chosen(Avx512, &[100, 3, 7], &[1], F32), Some((Avx512, PackedColumns)));
        assert_eq!(chosen(Avx512, &[100, 3, 15], &[1], F32), Some((Avx2, Columns)));
        assert_eq!(chosen(Avx512, &[100, 3, 16], &[1], F32), Some((Avx2, Columns)));
        assert_eq!(chosen(Avx512, &[100, 3, 32], &[1], F32), Some((Avx512, Columns)));
        assert_eq!(chosen(Avx512, &[100, 24, 15], &[1], F32), Some((Avx2, Columns)));
        assert_eq!(chosen(Avx512, &[100, 25, 15], &[1], F32), Some((Avx512, FoldedColumns)));
        assert_eq!(chosen(Avx512, &[100, 21, 7], &[1], F32), Some((Avx2, FoldedColumns)));
        assert_eq!(chosen(Avx512, &[100, 73, 7], &[1], F32), Some((Avx2, FoldedColumns)));
        assert_eq!(chosen(Avx512, &[100, 74, 7], &[1], F32), Some((Avx512, FoldedColumns)));
        assert_eq!(chosen(Avx512, &[100, 64, 8], &[1], F32), Some((Avx512, FoldedColumns)));
        assert_eq!(chosen(Avx512, &[100, 18, 7], &[1], F32), Some((Avx512, PackedColumns)));
        assert_eq!(chosen(Avx512, &[8 << 20], &[0], F32), Some((Avx512, Pieces)));
        let by_halves = ByHalves { rows: true, lines: true, packed: true };
        let far_row = |sizes: &[usize]| chosen_by(by_halves, Avx512, sizes, &[0], F32);
        assert_eq!(far_row(&[8 << 20]), Some((Avx2, Pieces)));
        assert_eq!(far_row(&[(8 << 20) - 1]), Some((Avx512, Rows)));
        let far = |sizes: &[usize]| chosen_by(by_halves, Avx512, sizes, &[1], F32);
        assert_eq!(far(&[2048, 32, 192]), Some((Avx2, Columns)));
        assert_eq!(far(&[2048, 32, 191]), Some((Avx512, Columns)));
        assert_eq!(far(&[2048, 18, 7]), Some((Avx2, PackedColumns)));
        let zen4 = Tuning::ALL.into_iter().find(|tuning| tuning.name == "zen4").unwrap();
        let packed = |element| {
            let by_halves = ByHalves::of(zen4, Prefetch::Nothing, element);
            chosen_by(by_halves, Avx512, &[100, 10, 5], &[1], element)
        };
        for element in [DataType::Bool, DataType::I8, U8, I16, DataType::U16] {
            assert_eq!(packed(element), Some((Avx2, PackedColumns)));
        }
        assert_eq!(packed(F16), Some((Avx512, PackedColumns)));
        assert_eq!(packed(F32), Some((Avx512, PackedColumns)));
        assert_eq!(chosen(Avx512, &[2048, 32, 192], &[1], F32), Some((Avx512, Columns)));
        assert_eq!(chosen(Portable, &[100, 8], &[1], F32), Some((Portable, Rows)));
        assert_eq!(chosen(Avx512, &[100, 1], &[1], F32), None);
    }

    /// Each limit from both sides, by vectors of 32 bytes. No answer depends on what is chosen, so that no other test sees a limit move.
    #[test]
    fn tells_shapes_apart() {
        use Strategy::{Columns, FoldedColumns, PackedColumns, Pieces, Rows};
        let chosen = |sizes: &[usize], axes: &[isize], element| {
            let problem = problem(sizes, axes);
            choose_strategy(&problem, count(problem.reduced()), Isa::Avx2, element, &Tuning::current().select)
        };
        type Case = (&'static [usize], &'static [isize], DataType, Option<Strategy>);
        let cases: [Case; 47] = [
            (&[100, 1], &[1], F32, None),
            (&[100, 2], &[1], F32, Some(PackedColumns)),
            // Rows, or so many short ones that it is worth it.
            (&[100, 6], &[1], F32, Some(PackedColumns)),
            (&[100, 7], &[1], F32, Some(Rows)),
            (&[100, 8], &[1], F32, Some(Rows)),
            (&[100, 9], &[1], F32, Some(PackedColumns)),
            (&[100, 10], &[1], F32, Some(PackedColumns)),
            (&[100, 11], &[1], F32, Some(Rows)),
            (&[127, 12], &[1], U8, Some(Rows)),
            (&[128, 12], &[1], U8, Some(PackedColumns)),
            (&[500, 7], &[1], U8, Some(PackedColumns)),
            (&[500, 13], &[1], U8, Some(Rows)),
            (&[100, 12], &[1], I16, Some(PackedColumns)),
            (&[100, 13], &[1], I16, Some(Rows)),
            (&[100, 28], &[1], F16, Some(PackedColumns)),
            (&[100, 29], &[1], F16, Some(Rows)),
            (&[153, 5], &[1], I16, Some(Rows)),
            (&[154, 5], &[1], I16, Some(PackedColumns)),
            (&[100, 5], &[1], F64, Some(PackedColumns)),
            (&[100, 6], &[1], F64, Some(Rows)),
            (&[63, 2], &[1], U8, Some(Rows)),
            (&[64, 2], &[1], U8, Some(PackedColumns)),
            (&[63, 4], &[1], F64, Some(Rows)),
            (&[64, 4], &[1], F64, Some(PackedColumns)),
            // Rows that no cache holds.
            (&[1, (32 << 20) - 1], &[1], U8, Some(Rows)),
            (&[1, 32 << 20], &[1], U8, Some(Pieces)),
            (&[10, 8 << 20], &[1], F32, Some(Pieces)),
            // Columns, unless they are one vector, or less, and short.
            (&[2, 16], &[0], F32, Some(Columns)),
            (&[2, 9], &[0], F32, Some(Columns)),
            (&[3, 8], &[0], F32, Some(PackedColumns)),
            (&[4, 8], &[0], F32, Some(Columns)),
            (&[9, 7], &[0], F32, Some(PackedColumns)),
            // Folded from 1 KiB on, and from 512 bytes on where lines are half a vector or more.
            (&[31, 4], &[0], F32, Some(PackedColumns)),
            (&[32, 4], &[0], F32, Some(FoldedColumns)),
            (&[85, 3], &[0], F32, Some(Pieces)),
            (&[86, 3], &[0], F32, Some(FoldedColumns)),
            (&[511, 2], &[0], U8, Some(Pieces)),
            (&[512, 2], &[0], U8, Some(FoldedColumns)),
            // Of lines of one vector, from 2 KiB on.
            (&[63, 8], &[0], F32, Some(Columns)),
            (&[64, 8], &[0], F32, Some(FoldedColumns)),
            (&[1000, 9], &[0], F32, Some(Columns)),
            // Stretches that are long, or elements that are near each other; of few outputs, any.
            (&[2, 100, 31], &[0, 2], F32, Some(PackedColumns)),
            (&[2, 100, 32], &[0, 2], F32, Some(Pieces)),
            (&[2, 3, 31], &[0, 2], F32, Some(Pieces)),
            (&[50, 2, 100, 2], &[0, 2], F32, Some(PackedColumns)),
            (&[3, 100, 256, 4], &[0, 2], F32, Some(Pieces)),
            (&[3, 100, 255, 4], &[0, 2], F32, Some(PackedColumns)),
        ];
        for (sizes, axes, element, expected) in cases {
            assert_eq!(chosen(sizes, axes, element), expected, "{sizes:?} over {axes:?}, {element}");
        }
    }
}
