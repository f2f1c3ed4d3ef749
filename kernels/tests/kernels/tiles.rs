//! Which tiles are tried: for each strategy, sizes around all that it counts by, and what leaves a search in an unusual
//! state.

use crate::case::{Case, Sample, first_best};
use argreduce_guard::{Edge, Guarded, few};
use argreduce_kernels::NanPolicy::{Ignore, Propagate};
use argreduce_kernels::ReduceFunction::{ArgMax, ArgMin};
use argreduce_kernels::{
    KernelArgs, LoopDim, PANEL_BYTES, PANEL_VECTORS, SCRATCH_BYTES, Strategy, StridedIter, Tuning, WorkingSet,
    offset_at,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

const ONCE: LoopDim = LoopDim::ONE;

impl<T: Sample> Case<T> {
    pub fn run_all(&self) {
        self.run_hostile_states();
        self.run_beyond_scratch();
        self.run_beyond_panels();
        self.run_beyond_buffers();
        self.run_rows_of_columns();
        self.run_row_groups();
        self.run_dense_runs();
        self.run_short_rows();
        self.run_only_best();
        self.run_aligned();
        self.run_apart();
        self.run_uneven();
        self.run_long_rows();
        self.run_joined_blocks();
        self.run_interleaved();
        self.run_interleaved_columns();
        if size_of::<T>() <= 2 {
            self.run_beyond_counts();
        }
        let mut rng = SmallRng::seed_from_u64(size_of::<T>() as u64);
        // A row of every length up to several vectors plus 3, at every misalignment of a vector, in both directions.
        for len in few(1..5 * self.lanes + 4, 3) {
            let data = self.random(&mut rng, self.lanes + len);
            // Portable vectors wider than any machine's stand for control flow only.
            let starts = if self.isa.vector_bytes() > 32 && self.isa.name().starts_with("portable") {
                0..2
            } else {
                0..self.lanes
            };
            for start in few(starts, 13) {
                self.check(&data, start, ONCE, ONCE, &[LoopDim { size: len, stride: 1 }]);
            }
            self.check(&data, len, ONCE, ONCE, &[LoopDim { size: len, stride: -1 }]);
        }
        // Each special value on a plain background at each place, alone and as one of two: first, last, and either side
        // of every edge.
        let len = 5 * self.lanes + 2;
        for &special in T::SPECIAL {
            for &plain in [T::default(), T::SPECIAL[0], T::SPECIAL[1]].iter() {
                for place in few(0..len, 29) {
                    let mut data = vec![plain; len];
                    data[place] = special;
                    self.check(&data, 0, ONCE, ONCE, &[LoopDim { size: len, stride: 1 }]);
                    data[len - 1 - place] = special;
                    self.check(&data, len - 1, ONCE, ONCE, &[LoopDim { size: len, stride: -1 }]);
                }
            }
        }
        // Columns of every width up to several vectors plus 3, at every misalignment.
        for width in few(1..9 * self.lanes + 4, 11) {
            let (start, rows) = (width % self.lanes, 1 + width % 5);
            let data = self.random(&mut rng, start + 2 * rows * width);
            let outer = LoopDim { size: 2, stride: (rows * width) as isize };
            let fastest = LoopDim { size: rows, stride: width as isize };
            self.check(&data, start, outer, LoopDim { size: width, stride: 1 }, &[fastest]);
            // The same block, reduced along its rows instead.
            self.check(&data, start, outer, fastest, &[LoopDim { size: width, stride: 1 }]);
        }
        // Several rows of every length that fits the registers, and of some that do not: next to each other, where a
        // load may reach from one row into the next, and apart, where it may not; in both directions. Of short ones,
        // more than go side by side.
        let lens = (1..=9 * self.lanes).chain((1..12).map(|n| (4 * n + 9) * self.lanes + 5 * n));
        let lens: Vec<usize> = lens.collect();
        for len in few(0..lens.len(), 7).map(|n| lens[n]) {
            let rows = if len <= 4 * self.lanes { self.lanes + 3 } else { 3 };
            for gap in [0, 1] {
                let data = self.random(&mut rng, 2 * rows * (len + gap));
                let outer = LoopDim { size: 2, stride: (rows * (len + gap)) as isize };
                let inner = LoopDim { size: rows, stride: (len + gap) as isize };
                let row = |stride| [LoopDim { size: len, stride }];
                self.check_by(&[Strategy::Rows], &data, 0, [outer, inner], &row(1));
                self.check_by(&[Strategy::Rows], &data, len - 1, [outer, inner], &row(-1));
            }
        }
        // Narrow rows of outputs, and many of them, so that several lie side by side; with what is left over, and
        // without; in both directions.
        let widths = 2..self.lanes + 1;
        for width in few(0..widths.len(), 3).filter_map(|n| widths.clone().nth(n)) {
            let rows = 2 * self.lanes + width * width % 97;
            let data = self.random(&mut rng, 2 * rows * width);
            let outer = LoopDim { size: 2, stride: (rows * width) as isize };
            let fastest = LoopDim { size: rows, stride: width as isize };
            let outputs = [outer, LoopDim { size: width, stride: 1 }];
            self.check_by(&[Strategy::NarrowColumns], &data, 0, outputs, &[fastest]);
            let downwards = LoopDim { stride: -fastest.stride, ..fastest };
            self.check_by(&[Strategy::NarrowColumns], &data, (rows - 1) * width, outputs, &[downwards]);
        }
        // Many narrow rows of outputs, and so several panels that are gathered.
        for width in few(1..self.lanes + 2, 5) {
            let (blocks, rows) = (5 * self.lanes + 1, 2 + width % 3);
            let data = self.random(&mut rng, blocks * rows * width);
            let outer = LoopDim { size: blocks, stride: (rows * width) as isize };
            let fastest = LoopDim { size: rows, stride: width as isize };
            let inner = LoopDim { size: width, stride: 1 };
            self.check_by(&[Strategy::GatheredColumns], &data, 0, [outer, inner], &[fastest]);
        }
        // Several reduced loops, short and long, with strides of both signs around and inside the kept ones.
        for _ in few(0..60, 5) {
            let sizes: [usize; 5] = std::array::from_fn(|_| rng.random_range(1..=6));
            let mut loops = [ONCE; 5];
            let (mut stride, mut start) = (1, 0);
            let mut order = [0, 1, 2, 3, 4];
            for n in 0..5 {
                order.swap(n, rng.random_range(n..5));
            }
            for n in order {
                let size = if n == 4 { sizes[n] * rng.random_range(1..=self.lanes) } else { sizes[n] };
                loops[n] = LoopDim { size, stride };
                if rng.random() {
                    start += (size - 1) * stride as usize;
                    loops[n].stride = -stride;
                }
                stride *= size as isize;
            }
            let data = self.random(&mut rng, stride as usize);
            let [outer, a, b, inner, c] = loops;
            let is_there = |(position, offset)| offset_at(&loops, position) == offset;
            assert!(StridedIter::new(&loops).enumerate().all(is_there), "{loops:?}");
            self.check(&data, start, outer, inner, &[a, b, c]);
            self.check(&data, start, a, c, &[outer, inner, b]);
        }
    }

    /// Where nothing is better than what a search starts with: each value alone (the identities of minimum and maximum
    /// among them, and each NaN), and each beside the last, which is a NaN if there is one. Whatever a search holds by
    /// then, the position has to be in the extent.
    fn run_hostile_states(&self) {
        let lanes = self.lanes;
        let lens = [1, 2, lanes - 1, lanes, lanes + 1, 4 * lanes, 9 * lanes + 1, 33 * lanes + 2];
        let last = T::SPECIAL[T::SPECIAL.len() - 1];
        for (&value, len) in T::SPECIAL.iter().flat_map(|value| few(0..8, 3).map(move |n| (value, lens[n].max(1)))) {
            for second in [value, last] {
                let data: Vec<T> = (0..3 * len).map(|n| if n % 2 == 0 { value } else { second }).collect();
                let (row, rows) = (LoopDim { size: len, stride: 1 }, LoopDim { size: 3, stride: len as isize });
                let backwards = LoopDim { stride: -1, ..row };
                self.check(&data, 0, ONCE, rows, &[row]);
                self.check(&data, len - 1, ONCE, rows, &[backwards]);
                self.check(&data, 0, ONCE, row, &[rows]);
                self.check(&data, 0, ONCE, ONCE, &[rows, row]);
                // Narrow rows of outputs over many rows.
                self.check(&data, 0, ONCE, LoopDim { size: 3, stride: 1 }, &[LoopDim { size: len, stride: 3 }]);
            }
        }
        // One value, but two others in it, each in a block of its own: what the fast path does not accept, the exact
        // order has to find. Of a length that is lane-indexed, and of one that is blocked; the first of several rows
        // without the others.
        let values = T::SPECIAL;
        for (n, len) in
            few(0..values.len().pow(3), 61).flat_map(|n| [12 * lanes + 2, 33 * lanes + 2].map(|len| (n, len)))
        {
            let [plain, first, second] =
                [1, values.len(), values.len().pow(2)].map(|step| values[n / step % values.len()]);
            let mut data = vec![plain; 3 * len];
            for row in 1..3 {
                (data[row * len + len / 3], data[row * len + len / 2]) = (first, second);
            }
            let rows = LoopDim { size: 3, stride: len as isize };
            self.check_by(&[Strategy::Rows], &data, 0, [ONCE, rows], &[LoopDim { size: len, stride: 1 }]);
        }
        // So many rows that they go side by side; as their length is odd, every second of them starts with the second
        // value.
        for (&value, len) in
            T::SPECIAL.iter().flat_map(|value| [2, lanes - 1, 2 * lanes + 1].map(|len| (value, len | 1)))
        {
            for second in [value, last] {
                let data: Vec<T> = (0..(lanes + 1) * len).map(|n| if n % 2 == 0 { value } else { second }).collect();
                let rows = LoopDim { size: lanes + 1, stride: len as isize };
                self.check_by(&[Strategy::Rows], &data, 0, [ONCE, rows], &[LoopDim { size: len, stride: 1 }]);
                self.check_by(&[Strategy::Rows], &data, len - 1, [ONCE, rows], &[LoopDim { size: len, stride: -1 }]);
            }
        }
    }

    /// Rows in which one element alone is the best, at any place: of those that are read in several parts at once, each
    /// part counts.
    fn run_only_best(&self) {
        let extreme = |function| T::SPECIAL[first_best(function, Ignore, T::SPECIAL.iter().copied()) as usize];
        let (smallest, largest) = (extreme(ArgMin), extreme(ArgMax));
        // The first is the longest whose positions an 8-bit lane holds.
        for len in [8 * self.lanes, 9 * self.lanes - 1, 13 * self.lanes + 1] {
            for place in few(0..len, 17) {
                let mut data = vec![T::SPECIAL[5]; len];
                (data[place], data[(place + len / 2) % len]) = (smallest, largest);
                self.check_by(&[Strategy::Rows], &data, 0, [ONCE; 2], &[LoopDim { size: len, stride: 1 }]);
                self.check_by(&[Strategy::Rows], &data, len - 1, [ONCE; 2], &[LoopDim { size: len, stride: -1 }]);
            }
        }
    }

    /// Rows so long that vectors are aligned, from several places in a vector on: the only best in each part of the
    /// row, and around what is seen twice, also where that is more because of where the row lies.
    fn run_aligned(&self) {
        let vectors = match self.isa.vector_bytes() {
            64 => 80,
            32 => 520,
            _ => return,
        };
        let lanes = self.lanes;
        let extreme = |function, policy| T::SPECIAL[first_best(function, policy, T::SPECIAL.iter().copied()) as usize];
        let extremes = (extreme(ArgMin, Ignore), extreme(ArgMax, Ignore));
        // The last before the last block, and NaN, if there is one, in the first alone.
        let edges = |len| [(len - 4 * lanes - 1, extremes), (lanes, (extreme(ArgMax, Propagate), T::SPECIAL[5]))];
        for len in [vectors * lanes, vectors * lanes + 3] {
            let parts = (0..16).map(|n| n * (len - 1) / 15);
            let ends = (1..20).flat_map(|n| [n * (lanes / 2), len - n * (lanes / 2)]);
            let places: Vec<_> = parts.chain(ends).collect();
            let some =
                few(0..3 * places.len(), 23).map(|n| ([1, lanes / 2, lanes - 1][n % 3], places[n / 3], extremes));
            for (start, place, (value, other)) in some.chain(edges(len).map(|(place, data)| (lanes - 1, place, data))) {
                let mut data = vec![T::SPECIAL[5]; start + len];
                (data[start + place], data[start + (place + len / 2) % len]) = (value, other);
                for (start, stride) in [(start, 1), (start + len - 1, -1)] {
                    self.check_by(&[Strategy::Rows], &data, start, [ONCE; 2], &[LoopDim { size: len, stride }]);
                }
            }
        }
    }

    /// Two blocks of rows, each before a guard page of its own, in either order of addresses: what lies between the
    /// elements of a tile is not the kernel's to read, even if both ends are. (Of a view of an array, it may be
    /// somebody else's to write.)
    fn run_apart(&self) {
        let mut rng = SmallRng::seed_from_u64(10);
        for len in few(1..2 * self.lanes + 3, 5) {
            let blocks = Edge::ALL.map(|_| Guarded::copy_of(&self.random(&mut rng, 3 * len), Edge::End));
            for [first, second] in [[0, 1], [1, 0]].map(|order| order.map(|n: usize| &blocks[n])) {
                let bytes = second.as_ptr().addr().wrapping_sub(first.as_ptr().addr()).cast_signed();
                let apart = bytes / size_of::<T>() as isize;
                let outer = LoopDim { size: 2, stride: apart };
                let (row, rows) = (LoopDim { size: len, stride: 1 }, LoopDim { size: 3, stride: len as isize });
                let one = LoopDim { size: 1, stride: 1 };
                for (inner, reduced) in [(rows, row), (row, rows), (ONCE, one)] {
                    for (function, policy) in [(ArgMin, Propagate), (ArgMax, Ignore)] {
                        let of_block = |block: &[T]| -> Vec<u32> {
                            let visited = |output| {
                                StridedIter::new(std::slice::from_ref(&reduced))
                                    .map(move |offset| block[(output + offset) as usize])
                            };
                            StridedIter::new(&[inner])
                                .map(|output| first_best(function, policy, visited(output)))
                                .collect()
                        };
                        let expected = [of_block(first), of_block(second)].concat();
                        for strategy in Strategy::ALL.into_iter().filter(|s| s.takes(inner, &[reduced], self.lanes)) {
                            let (input, reduced) = (first.as_ptr().cast(), &[reduced]);
                            let working_set = if policy == Ignore { WorkingSet::Llc } else { WorkingSet::L2 };
                            let tuning = Tuning::current();
                            let args = KernelArgs { input, outer, inner, reduced, working_set, tuning };
                            // SAFETY: `expected` was found by reading every element of the tile.
                            let found = unsafe { self.run(strategy, function, policy, &args) };
                            assert!(found == expected, "{strategy}: {found:?} instead of {expected:?}\n{args:?}");
                        }
                    }
                }
            }
        }
    }

    /// Outputs that are not evenly spaced, however near the last of a row is to the first of the next; and rows with
    /// gaps between them.
    fn run_uneven(&self) {
        let mut rng = SmallRng::seed_from_u64(12);
        for (outer, inner) in [(5, 2), (2, 6)] {
            let data = self.random(&mut rng, 80);
            let [outer, inner] = [outer, inner].map(|stride| LoopDim { size: 3, stride });
            self.check(&data, 0, outer, inner, &[LoopDim { size: 4, stride: 20 }]);
        }
        // Lines of a vector and more, of elements with others in between: each is gathered for itself.
        for size in few(0..5, 2)
            .map(|n| [self.lanes, self.lanes + 1, 4 * self.lanes, 4 * self.lanes + 3, 9 * self.lanes + 5][n])
        {
            for stride in [2, -2, 5] {
                let len = (size - 1) * isize::unsigned_abs(stride) + 1;
                let [row, outer] = [len + 1, 3 * (len + 1) + 1];
                let data = self.random(&mut rng, 3 * outer);
                let start = if stride < 0 { len - 1 } else { 0 };
                let (outer, inner) = (LoopDim { size: 3, stride: outer as isize }, LoopDim { size, stride });
                let rows = LoopDim { size: 3, stride: row as isize };
                self.check_by(&[Strategy::GatheredColumns], &data, start, [outer, inner], &[rows]);
            }
        }
        // Narrow rows of outputs over many rows that do not follow each other.
        let rows = LoopDim { size: 2 * self.lanes, stride: 4 };
        let data = self.random(&mut rng, 4 * rows.size);
        self.check(&data, 0, ONCE, LoopDim { size: 3, stride: 1 }, &[rows]);
    }

    /// More than a narrow lane can count: blocks of four vectors in rows, rows in columns. The best element is the
    /// last, or the one on either side of where the count starts anew.
    fn run_beyond_counts(&self) {
        let counted = 1_usize << (8 * size_of::<T>());
        // Bytes can count so little that all places are tried everywhere.
        let part = |of: usize| if size_of::<T>() == 1 { 1 } else { of };
        let (default, best) = (T::default(), T::SPECIAL[T::SPECIAL.len() - 1]);
        // In a block, there are four vectors or eight.
        let blocks = [4, 8].map(|vectors| counted * vectors * self.lanes);
        let rows = blocks.map(|len| [(len + 1, len), (len + 1, len - 1), (len, len - 1)]);
        for (len, place) in few(0..6, part(6)).map(|n| rows.as_flattened()[n]) {
            let mut data = vec![default; len];
            data[place] = best;
            self.check_by(&[Strategy::Rows], &data, 0, [ONCE, ONCE], &[LoopDim { size: len, stride: 1 }]);
        }
        // What is read twice so that other blocks are aligned is one block more.
        for len in few(0..2, part(2)).map(|n| blocks[n] - 2) {
            let start = self.lanes - 1;
            let mut data = vec![default; start + len];
            data[start + len - 1] = best;
            self.check_by(&[Strategy::Rows], &data, start, [ONCE; 2], &[LoopDim { size: len, stride: 1 }]);
        }
        if size_of::<T>() == 1 {
            // Joined blocks are counted too.
            let len = 8 * blocks[0] + 1;
            for place in few(0..3, 3).map(|n| [len - 2 - 32 * self.lanes, len - 2, len - 1][n]) {
                let mut data = vec![default; len];
                data[place] = best;
                self.check_by(&[Strategy::Rows], &data, 0, [ONCE; 2], &[LoopDim { size: len, stride: 1 }]);
            }
        }
        if size_of::<T>() == 1 {
            // Several such rows: they are not for the search that takes four at once.
            let (len, rows) = (blocks[1] + 1, 5);
            let mut data = vec![default; rows * len];
            (0..rows).for_each(|row| data[row * len + row * 30_011 % len] = best);
            let rows = LoopDim { size: rows, stride: len as isize };
            self.check_by(&[Strategy::Rows], &data, 0, [ONCE, rows], &[LoopDim { size: len, stride: 1 }]);
        }
        if size_of::<T>() == 1 {
            // Segments of two interleaved outputs, the best of which is in the last one that is counted together, and
            // in the first one after it.
            let (len, segments) = (8 * self.lanes, counted / 2 + 2);
            for place in [counted / 2 - 1, counted / 2] {
                let mut data = vec![default; 2 * segments * len];
                (data[2 * place * len + 7], data[(2 * place + 1) * len + 8]) = (best, best);
                let (inner, slower) =
                    (LoopDim { size: 2, stride: len as isize }, LoopDim { size: segments, stride: 2 * len as isize });
                let reduced = [slower, LoopDim { size: len, stride: 1 }];
                self.check_by(&[Strategy::SegmentedRows], &data, 0, [ONCE, inner], &reduced);
            }
        }
        let width = self.lanes + 1;
        let columns = [
            (counted + 1, counted - 1),
            (counted, counted - 2),
            (counted - 1, counted - 2),
            (2 * counted, 2 * counted - 2),
        ];
        for (rows, place) in few(0..columns.len(), part(columns.len())).map(|n| columns[n]) {
            // By one vector at a time, two or four.
            for width in
                [width, width + self.lanes, width + 3 * self.lanes].iter().take(if size_of::<T>() == 1 { 3 } else { 1 })
            {
                let mut data = vec![default; rows * width];
                data[place * width..].fill(best);
                let outputs = [ONCE, LoopDim { size: *width, stride: 1 }];
                self.check_by(
                    &[Strategy::Columns],
                    &data,
                    0,
                    outputs,
                    &[LoopDim { size: rows, stride: *width as isize }],
                );
            }
        }
        // The same where several rows are put side by side: the best is in the first block of them, on either side of
        // its end, or in the last, which is too few rows to fill a vector, and reaches back.
        let width = 3.min(self.lanes - 1);
        let block = (counted - 1) * (2 * self.lanes / width);
        for place in few(0..5, part(5)).map(|n| [0, block - self.lanes, block - 1, block, 2 * block + 1][n]) {
            let rows = 2 * block + 2;
            let mut data = vec![default; rows * width];
            data[place * width + place % width] = best;
            let outputs = [ONCE, LoopDim { size: width, stride: 1 }];
            let fastest = LoopDim { size: rows, stride: width as isize };
            self.check_by(&[Strategy::NarrowColumns], &data, 0, outputs, &[fastest]);
            data.reverse();
            let downwards = LoopDim { stride: -fastest.stride, ..fastest };
            self.check_by(&[Strategy::NarrowColumns], &data, (rows - 1) * width, outputs, &[downwards]);
        }
    }

    /// Wider than a panel, over few rows that are far apart; the last panel is shorter than a tile.
    fn run_beyond_panels(&self) {
        let mut rng = SmallRng::seed_from_u64(9);
        for width in [1, 2].map(|panels| panels * PANEL_BYTES / size_of::<T>() + 3) {
            let rows = 9;
            let stride = width.max((256 << 10) / rows / size_of::<T>() + 1);
            let data = self.random(&mut rng, (rows - 1) * stride + width);
            let outputs = [ONCE, LoopDim { size: width, stride: 1 }];
            self.check_by(&[Strategy::Columns], &data, 0, outputs, &[LoopDim { size: rows, stride: stride as isize }]);
        }
    }

    /// Rows of several tiles of columns that follow each other: a special value in one of them, again two rows on, and
    /// another in between.
    fn run_rows_of_columns(&self) {
        let (width, rows) = (9 * self.lanes + 3, 12);
        let last = T::SPECIAL[T::SPECIAL.len() - 1];
        let (inner, fastest) = (LoopDim { size: width, stride: 1 }, LoopDim { size: rows, stride: width as isize });
        for (&special, plain) in
            T::SPECIAL.iter().flat_map(|special| [T::default(), T::SPECIAL[0]].map(|plain| (special, plain)))
        {
            for n in few(0..6, 3) {
                let place = n * (width * (rows - 2) - 1) / 5;
                let mut data = vec![plain; width * rows];
                data[place] = special;
                self.check_by(&[Strategy::Columns], &data, 0, [ONCE, inner], &[fastest]);
                (data[place + width], data[place + 2 * width]) = (last, special);
                self.check_by(&[Strategy::Columns], &data, 0, [ONCE, inner], &[fastest]);
            }
        }
    }

    /// So many rows that they are taken in groups of eight after the first, and what is left one by one: the best in
    /// rows at either end of a group, again in the same group and in the next, and among values that are equal to it;
    /// of as many vectors as a register tile has, and of narrow columns.
    fn run_row_groups(&self) {
        let mut rng = SmallRng::seed_from_u64(17);
        let fewest = (12 * self.lanes).max(128);
        for n in few(0..4, 2) {
            let rows = fewest + [0, 1, 9, 20][n];
            for width in [self.lanes, self.lanes + 1, 3 * self.lanes + 2, 4 * self.lanes + 1] {
                let (inner, fastest) =
                    (LoopDim { size: width, stride: 1 }, LoopDim { size: rows, stride: width as isize });
                let data = self.random(&mut rng, rows * width);
                self.check_by(&[Strategy::Columns], &data, 0, [ONCE, inner], &[fastest]);
                let to_last = (rows - 1) * width;
                let downwards = LoopDim { stride: -fastest.stride, ..fastest };
                self.check_by(&[Strategy::Columns], &data, to_last, [ONCE, inner], &[downwards]);
                for (&special, plain) in T::SPECIAL.iter().zip(T::SPECIAL.iter().rev().cycle().skip(n)) {
                    let mut data = vec![*plain; rows * width];
                    for (place, element) in data.iter_mut().enumerate() {
                        let (row, column) = (place / width, place % width);
                        // A group for each column, a row in it, the one after that, which may be in the next group, and
                        // one of the last rows.
                        let first = 1 + column * 8 % (rows - 9) + column % 8;
                        if row == first || row == first + 1 || column % 3 == 0 && row + column % 11 + 1 == rows {
                            *element = special;
                        }
                    }
                    self.check_by(&[Strategy::Columns], &data, 0, [ONCE, inner], &[fastest]);
                }
            }
            let width = 3.min(self.lanes);
            let rows = 2 * self.lanes / width * (rows + 1) + n;
            let data = self.random(&mut rng, rows * width);
            let (inner, fastest) = (LoopDim { size: width, stride: 1 }, LoopDim { size: rows, stride: width as isize });
            self.check_by(&[Strategy::NarrowColumns], &data, 0, [ONCE, inner], &[fastest]);
            let downwards = LoopDim { stride: -fastest.stride, ..fastest };
            self.check_by(&[Strategy::NarrowColumns], &data, (rows - 1) * width, [ONCE, inner], &[downwards]);
        }
    }

    /// So many rows that they are gathered in several parts, each for as many outputs as the buffer has room for.
    fn run_beyond_buffers(&self) {
        let mut rng = SmallRng::seed_from_u64(13);
        let rows = PANEL_VECTORS * self.lanes + 3;
        for len in few(0..4, 2).map(|n| [2, 3, 9, 21][n]) {
            let data = self.random(&mut rng, rows * len);
            let inner = LoopDim { size: rows, stride: len as isize };
            self.check_by(&[Strategy::GatheredColumns], &data, 0, [ONCE, inner], &[LoopDim { size: len, stride: 1 }]);
        }
        // Rows of bytes that are nearly as long as a tile.
        let (width, blocks) = ((4 * self.lanes).saturating_sub(15).max(2), 113);
        let data = self.random(&mut rng, blocks * 2 * width);
        let (outer, inner) = (LoopDim { size: blocks, stride: 2 * width as isize }, LoopDim { size: width, stride: 1 });
        let fastest = LoopDim { size: 2, stride: width as isize };
        self.check_by(&[Strategy::GatheredColumns], &data, 0, [outer, inner], &[fastest]);
    }

    /// Runs of narrow rows that follow each other: with what is left over of 16 bytes, of a vector of runs, and of
    /// the rows that fit the buffer (86 rows of 3 are one too many by vectors of 32 bytes, 85 by 64); next to each
    /// other, apart and backwards.
    fn run_dense_runs(&self) {
        let mut rng = SmallRng::seed_from_u64(14);
        let counts = [self.lanes - 1, self.lanes, 3 * self.lanes + 1, 9 * self.lanes + 2].map(|n| n.max(1));
        let shapes = [
            (9, 2),
            (9, 3),
            (10, 5),
            (21, 3),
            (64, 2),
            (100, 2),
            (13, 8),
            (255, 2),
            (256, 2),
            (85, 3),
            (86, 3),
            (300, 3),
        ];
        for n in few(0..4 * shapes.len(), 7) {
            let ((rows, width), runs) = (shapes[n / 4], counts[n % 4]);
            for (gap, is_reversed) in [(0, false), (1, false), (0, true)] {
                let step = rows * width + gap;
                let data = self.random(&mut rng, runs * step);
                let stride = if is_reversed { -(step as isize) } else { step as isize };
                let start = if is_reversed { (runs - 1) * step } else { 0 };
                let (outer, inner) = (LoopDim { size: runs, stride }, LoopDim { size: width, stride: 1 });
                let fastest = LoopDim { size: rows, stride: width as isize };
                self.check_by(&[Strategy::GatheredColumns], &data, start, [outer, inner], &[fastest]);
                // One best for each run, from the last row on: among few values, the first rows have it.
                let mut data = vec![T::default(); runs * step];
                for run in 0..runs {
                    let row = (rows - 1 + run * 7) % rows;
                    data[run * step + row * width + run % width] = T::SPECIAL[T::SPECIAL.len() - 1];
                }
                self.check_by(&[Strategy::GatheredColumns], &data, start, [outer, inner], &[fastest]);
            }
        }
    }

    /// Rows and runs of a few elements that follow each other: of each length that is transposed at once, and one
    /// more; fewer of them than a vector has lanes, as many, and some more; rows in both directions.
    fn run_short_rows(&self) {
        let mut rng = SmallRng::seed_from_u64(19);
        let last = T::SPECIAL[T::SPECIAL.len() - 1];
        let counts = [self.lanes - 1, self.lanes, self.lanes + 1, 2 * self.lanes + 1, 5 * self.lanes + 3];
        // The last two are the longest of which the buffer holds as many as a vector has lanes, and more.
        let longest = 8192 / self.isa.vector_bytes();
        let lens: Vec<_> = (3..=16).chain([18, 21, 27, 31, 40, longest, longest + 1]).collect();
        for n in few(0..lens.len() * counts.len(), 3) {
            let (len, count) = (lens[n / counts.len()], counts[n % counts.len()].max(1));
            let random = self.random(&mut rng, count * len);
            // One best for each row: among few values, the first elements have it.
            let mut sparse = vec![T::default(); count * len];
            (0..count).for_each(|row| sparse[row * len + row * 17 % len] = last);
            for data in [random, sparse] {
                let rows = LoopDim { size: count, stride: len as isize };
                for (start, stride) in [(0, 1), (len - 1, -1)] {
                    self.check_by(
                        &[Strategy::GatheredColumns],
                        &data,
                        start,
                        [ONCE, rows],
                        &[LoopDim { size: len, stride }],
                    );
                }
                for width in (2..=4).filter(|width| len.is_multiple_of(*width)) {
                    let (inner, fastest) =
                        (LoopDim { size: width, stride: 1 }, LoopDim { size: len / width, stride: width as isize });
                    self.check_by(&[Strategy::GatheredColumns], &data, 0, [rows, inner], &[fastest]);
                }
            }
        }
    }

    /// Long enough for several segments, or read streams, the best element in each of them, and beyond.
    fn run_long_rows(&self) {
        let (default, best) = (T::default(), T::SPECIAL[T::SPECIAL.len() - 1]);
        let specials = [best, T::SPECIAL[0], T::SPECIAL[1]];
        // Of 16-bit floats, the second and the third are for the fast path, by either function.
        let plains = [default, T::SPECIAL[2], T::SPECIAL[3]];
        let strategies = &[Strategy::Rows, Strategy::SegmentedRows];
        let len = (1 << 20) / size_of::<T>() + 5;
        for n in few(0..9, 5) {
            let (place, special, plain) = (n * (len - 1) / 8, specials[n % 3], plains[(n + n / 3) % 3]);
            let mut data = vec![plain; len];
            data[place] = special;
            // The same again further on in the order of visiting, which must not count.
            self.check_by(strategies, &data, 0, [ONCE, ONCE], &[LoopDim { size: len, stride: 1 }]);
            data[(place + len / 3).min(len - 1)] = special;
            self.check_by(strategies, &data, 0, [ONCE, ONCE], &[LoopDim { size: len, stride: 1 }]);
            self.check_by(strategies, &data, len - 1, [ONCE, ONCE], &[LoopDim { size: len, stride: -1 }]);
        }
        // Rows of some KiB; the best of each is elsewhere, and there again further on.
        let (len, rows) = ((6 << 10) / size_of::<T>() + 3, 89);
        let mut data = vec![default; rows * len];
        for row in 0..rows {
            let place = row * 977 % len;
            data[row * len + place] = best;
            data[row * len + place + (len - place) / 2] = best;
        }
        let rows = LoopDim { size: rows, stride: len as isize };
        self.check_by(&[Strategy::Rows], &data, 0, [ONCE, rows], &[LoopDim { size: len, stride: 1 }]);
        self.check_by(&[Strategy::Rows], &data, len - 1, [ONCE, rows], &[LoopDim { size: len, stride: -1 }]);
    }

    /// Rows whose blocks may be joined: the best element in each part of some joined blocks and on either side of where
    /// they meet, there again further on, and few values everywhere; by the tuning of each microarchitecture.
    fn run_joined_blocks(&self) {
        let shortest = (16 << 10) / size_of::<T>();
        let part = 4 * self.lanes;
        let mut rng = SmallRng::seed_from_u64(13);
        for len in few(0..4, 2).map(|n| [shortest, shortest + 1, shortest + 8 * part - 1, 2 * shortest + 7][n]) {
            let row = LoopDim { size: len, stride: 1 };
            let places = [0, part - 1, part, 3 * part, 7 * part + 1, 8 * part - 1, 8 * part, 17 * part, len - 1];
            for (n, &place) in few(0..places.len(), 4).map(|n| (n, &places[n])) {
                let mut data = vec![T::SPECIAL[n % 2]; len];
                data[place] = T::SPECIAL[T::SPECIAL.len() - 1 - n % 3];
                data[place + (len - place) / 2] = data[place];
                self.check_by(&[Strategy::Rows], &data, 0, [ONCE; 2], &[row]);
                self.check_by(&[Strategy::Rows], &data, len - 1, [ONCE; 2], &[LoopDim { stride: -1, ..row }]);
            }
            let data = self.random(&mut rng, 3 * len);
            let rows = LoopDim { size: 3, stride: len as isize };
            self.check_by(&[Strategy::Rows], &data, 0, [ONCE, rows], &[row]);
            self.check_by(&[Strategy::Rows], &data, len - 1, [ONCE, rows], &[LoopDim { stride: -1, ..row }]);
        }
    }

    /// Outputs in several segments each, next to those of other outputs, so that they are interleaved, or apart from
    /// them: more outputs than are interleaved at a time, a special value in one segment of each, in another place
    /// every time, and again in the last.
    fn run_interleaved(&self) {
        let (len, outputs) = (8 * self.lanes + 5, 34);
        let next = len + 1;
        // Two loops over two segments each.
        let near = ([4 * outputs * next, 2 * outputs * next], next);
        let apart = ([2 * next, next], 4 * next);
        let specials = [T::SPECIAL[0], T::SPECIAL[1], T::SPECIAL[T::SPECIAL.len() - 1]];
        for (n, (special, plain)) in
            specials.iter().flat_map(|special| [T::default(), T::SPECIAL[0]].map(|plain| (*special, plain))).enumerate()
        {
            for (strides, output) in few(0..2, 1).map(|n| [near, apart][n]) {
                let slower = strides.map(|stride| LoopDim { size: 2, stride: stride as isize });
                let start_of = |o: usize, segment| o * output + offset_at(&slower, segment) as usize;
                let mut data = vec![plain; start_of(outputs - 1, 3) + len];
                for o in (0..outputs).filter(|o| o % 5 != n % 5) {
                    data[start_of(o, (o + n) % 4) + o * 37 % len] = special;
                    data[start_of(o, 3) + len - 1 - o] = special;
                }
                let inner = LoopDim { size: outputs, stride: output as isize };
                let loops = |stride| [slower[0], slower[1], LoopDim { size: len, stride }];
                self.check_by(&[Strategy::SegmentedRows], &data, 0, [ONCE, inner], &loops(1));
                self.check_by(&[Strategy::SegmentedRows], &data, len - 1, [ONCE, inner], &loops(-1));
            }
        }
    }

    /// Rows of outputs in several segments, each next to those of other rows of outputs: more than are interleaved at a
    /// time, with rows beyond what a byte counts, and a special value in one segment of each, in another place every
    /// time, and again in the last.
    fn run_interleaved_columns(&self) {
        let (rows, segments, output_rows) = (45, 7, 18);
        let specials = [T::SPECIAL[0], T::SPECIAL[1], T::SPECIAL[T::SPECIAL.len() - 1]];
        for (n, special) in specials.into_iter().enumerate() {
            for width in few(0..3, 2).map(|n| [self.lanes, 3 * self.lanes - 1, 5 * self.lanes + 1][n]) {
                let (block, segment) = (rows * width, output_rows * rows * width);
                let mut data = vec![T::default(); segments * segment];
                for l in (0..output_rows).filter(|l| l % 5 != n) {
                    data[(l + n) % segments * segment + l * block + l * 31 % block] = special;
                    data[(segments - 1) * segment + (l + 1) * block - 1 - l % width] = special;
                }
                let of = |size, stride: usize| LoopDim { size, stride: stride as isize };
                let outputs = [of(output_rows, block), of(width, 1)];
                self.check_by(&[Strategy::Columns], &data, 0, outputs, &[of(segments, segment), of(rows, width)]);
            }
        }
    }

    /// More than the buffer for gathered elements holds, in one loop or across two, the best element on either side of
    /// its end.
    fn run_beyond_scratch(&self) {
        let (default, best) = (T::default(), T::SPECIAL[T::SPECIAL.len() - 1]);
        let held = SCRATCH_BYTES / size_of::<T>();
        for place in [held - 1, held, 2 * held - 1, 2 * held] {
            let mut data = vec![default; 4 * held + 2];
            data[2 * place] = best;
            let (outer, inner) = (LoopDim { size: 2, stride: 1 }, ONCE);
            let fastest = LoopDim { size: 2 * held + 1, stride: 2 };
            self.check_by(&[Strategy::SegmentedRows], &data, 0, [outer, inner], &[fastest]);
            let loops = [LoopDim { size: 2, stride: 2 * held as isize }, LoopDim { size: held, stride: 2 }];
            self.check_by(&[Strategy::SegmentedRows], &data, 0, [outer, inner], &loops[..]);
        }
        for width in [2, self.lanes + 1, 5 * self.lanes] {
            // Rows of one vector, or of four.
            for held in [held / self.lanes, held / self.lanes / 4] {
                let places = [held - 1, held, 2 * held - 1, 2 * held];
                for row in few(0..4, 2).map(|n| places[n]) {
                    let rows = 2 * held + 1;
                    let mut data = vec![default; 2 * width * rows];
                    data[2 * width * row..].fill(best);
                    let outputs = [ONCE, LoopDim { size: width, stride: 2 }];
                    let fastest = LoopDim { size: rows, stride: 2 * width as isize };
                    self.check_by(&[Strategy::GatheredColumns], &data, 0, outputs, &[fastest]);
                }
            }
        }
    }

    fn random(&self, rng: &mut SmallRng, len: usize) -> Vec<T> {
        // Mostly two values, so that the first of many ties has to be found; or all of them.
        let first = rng.random_range(0..T::SPECIAL.len() - 1);
        let values = if rng.random() { T::SPECIAL } else { &T::SPECIAL[first..][..2] };
        (0..len).map(|_| values[rng.random_range(0..values.len())]).collect()
    }
}
