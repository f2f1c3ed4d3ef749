//! Scans on one ISA: lines along memory and across, by every order and either rule for equals, in both directions, with
//! indices of both widths that rise or fall, in one call or two, against a plain loop; nothing beyond the lines is
//! touched, and values keep their bits. And the better of two arrays of answers.

use crate::case::Sample;
use argreduce_guard::{Edge, Guarded, few};
use argreduce_kernels::NanPolicy::{self, Ignore, Propagate};
use argreduce_kernels::ReduceFunction::{self, ArgMax, ArgMin};
use argreduce_kernels::{Isa, LoopDim, MergeArgs, ScanArgs, Scanner, better, scanner_of};
use bytemuck::{Pod, bytes_of};
use std::ptr::null_mut;

const ORDERS: [(ReduceFunction, NanPolicy); 4] =
    [(ArgMin, Propagate), (ArgMax, Propagate), (ArgMin, Ignore), (ArgMax, Ignore)];

/// What is said of an answer that nobody wrote.
const UNWRITTEN: u64 = 0xabab_abab_abab_abab;

/// An index: 32 or 64 bits.
trait Index: Pod + PartialEq + std::fmt::Debug {
    fn of(n: u64) -> Self;
}

macro_rules! index {
    ($($t:ident)+) => {$(
        impl Index for $t {
            fn of(n: u64) -> $t {
                n as $t
            }
        }
    )+};
}
index!(u32 u64);

/// Lines of a slice, and how they are scanned.
#[derive(Clone, Copy, Debug)]
struct Case {
    isa: Isa,
    order: (ReduceFunction, NanPolicy),
    lines: LoopDim,
    steps: LoopDim,
    newest_wins: bool,
    indices_fall: bool,
    first_index: u64,
    line_index_step: u64,
    /// So many steps are a call of their own.
    first_steps: usize,
    has_values: bool,
    edge: Edge,
}

pub fn check<T: Sample>(isa: Isa) {
    let lanes = isa.vector_bytes() / size_of::<T>();
    let data = |kind: usize, len: usize| -> Vec<T> {
        let random = |n: usize| (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let value = |n: usize| match kind {
            0 => T::SPECIAL[random(n) as usize % T::SPECIAL.len()],
            1 => T::random(random(n)),
            2 => T::ranked((n as u32).wrapping_mul(0x51_2367)),
            // Few that differ, and NaN after a while.
            _ => T::SPECIAL[if n % 97 == 96 { T::SPECIAL.len() - 1 } else { 5 - n % 61 / 60 }],
        };
        (0..len).map(value).collect()
    };
    let mut turn = 0;
    for len in few(1..3 * lanes + 2, 5).chain(few(9 * lanes - 1..9 * lanes + 2, 2)).chain([25 * lanes + 3]) {
        for way in few(0..32, 5) {
            turn += 1;
            let (newest_wins, indices_fall, is_reversed) = (way & 1 != 0, way & 2 != 0, way & 4 != 0);
            let gap = turn % 3;
            // Along or across: in rows of neighbours.
            let (rows, neighbours) = if way & 8 == 0 { (turn % 3 + 1, len) } else { (turn % 4 + 1, lanes + len) };
            let row = LoopDim { size: neighbours, stride: 1 };
            let others = LoopDim { size: rows, stride: (neighbours + gap) as isize };
            let (lines, mut steps) = if way & 8 == 0 { (others, row) } else { (row, others) };
            if is_reversed {
                steps.stride = -steps.stride;
            }
            let case = Case {
                isa,
                order: ORDERS[(turn + way / 16) % 4],
                lines,
                steps,
                newest_wins,
                indices_fall,
                first_index: if indices_fall { 5_000_000_000 } else { (u64::from(u32::MAX) - 100) * (turn as u64 % 2) },
                line_index_step: if way & 8 == 0 { 1000 } else { 0 },
                first_steps: if turn % 5 < 2 { turn % (steps.size + 1) } else { 0 },
                has_values: (turn / 2 + way) % 3 != 0,
                edge: Edge::ALL[turn / 3 % 2],
            };
            for kind in 0..4 {
                let data = data(kind, case.reach());
                if (turn + kind) % 2 == 0 { case.run::<T, u32>(&data) } else { case.run::<T, u64>(&data) }
            }
        }
    }
    for len in few(1..3 * lanes, 3).chain([11 * lanes + 1]) {
        for (n, order) in ORDERS.into_iter().enumerate() {
            let (earlier, later) = (data(n % 4, len), data((len + n) % 2, len + 3).split_off(3));
            check_merge::<T, u32>(isa, order, [&earlier, &later], len % 2 == 0);
            check_merge::<T, u64>(isa, order, [&earlier, &later], len % 2 == 1);
        }
    }
}

fn scanner<T: Sample>(isa: Isa, (function, policy): (ReduceFunction, NanPolicy)) -> Scanner {
    scanner_of(T::DATA_TYPE, isa, function, policy).expect("an ISA that is there")
}

/// Whether what is visited later wins.
fn wins<T: Sample>((function, policy): (ReduceFunction, NanPolicy), new: T, old: T, newest_wins: bool) -> bool {
    if newest_wins { !better(function, policy, old, new) } else { better(function, policy, new, old) }
}

impl Case {
    /// How many elements there are, from the lowest of the lines to the highest.
    fn reach(&self) -> usize {
        [self.lines, self.steps].map(|l| (l.size - 1) * l.stride.unsigned_abs()).iter().sum::<usize>() + 1
    }

    /// Where the first line begins.
    fn first(&self) -> usize {
        if self.steps.stride < 0 { (self.steps.size - 1) * self.steps.stride.unsigned_abs() } else { 0 }
    }

    fn run<T: Sample, I: Index>(self, data: &[T]) {
        let scanner = scanner::<T>(self.isa, self.order);
        assert!(scanner.takes(self.lines, self.steps));
        let is_along = self.steps.stride.abs() == 1;
        let stride = if is_along { self.lines.stride } else { self.steps.stride };
        let input = Guarded::copy_of(data, self.edge);
        let mut indices = Guarded::filled(I::of(UNWRITTEN), data.len(), self.edge);
        let mut values = Guarded::filled(T::SPECIAL[0], data.len(), self.edge);
        let mut best = Guarded::filled(T::SPECIAL[0], self.lines.size, self.edge);
        let mut best_indices = Guarded::filled(I::of(UNWRITTEN), self.lines.size, self.edge);
        let (mut expected, mut expected_values) = (indices.to_vec(), values.to_vec());
        let (mut expected_best, mut expected_best_indices) = (best.to_vec(), best_indices.to_vec());
        for l in 0..self.lines.size {
            for s in 0..self.steps.size {
                let place = |s| {
                    (self.first() + l * self.lines.stride as usize).wrapping_add_signed(s as isize * self.steps.stride)
                };
                let (new, first) = (data[place(s)], self.first_index + l as u64 * self.line_index_step);
                if s == 0 || wins(self.order, new, expected_best[l], self.newest_wins) {
                    expected_best[l] = new;
                    expected_best_indices[l] =
                        I::of(if self.indices_fall { first - s as u64 } else { first + s as u64 });
                }
                expected[place(s)] = expected_best_indices[l];
                if self.has_values {
                    expected_values[place(s)] = expected_best[l];
                }
            }
        }
        for (from, to) in [(0, self.first_steps), (self.first_steps, self.steps.size)] {
            if from == to {
                continue;
            }
            let at = self.first().wrapping_add_signed(from as isize * self.steps.stride);
            let moved = from as u64;
            let args = ScanArgs {
                input: input.as_ptr().wrapping_add(at).cast(),
                lines: self.lines,
                steps: LoopDim { size: to - from, ..self.steps },
                index_bytes: size_of::<I>(),
                indices: indices.as_mut_ptr().wrapping_add(at).cast(),
                index_stride: stride,
                values: if self.has_values { values.as_mut_ptr().wrapping_add(at).cast() } else { null_mut() },
                value_stride: stride,
                first_index: if self.indices_fall { self.first_index - moved } else { self.first_index + moved },
                line_index_step: self.line_index_step,
                indices_fall: self.indices_fall,
                newest_wins: self.newest_wins,
                best: [best.as_mut_ptr().cast(), best_indices.as_mut_ptr().cast()],
                begins: from == 0,
            };
            // SAFETY: all lines are in the slices, as the loops above have seen.
            unsafe { scanner.scan(&args) };
        }
        let bits = |values: &[T]| -> Vec<u64> { values.iter().map(|value| value.bits()).collect() };
        assert_eq!(indices[..], expected, "{self:?} of {data:?}");
        assert_eq!(bits(&values), bits(&expected_values), "values: {self:?} of {data:?}");
        assert_eq!(best_indices[..], expected_best_indices, "the last: {self:?} of {data:?}");
        assert_eq!(bits(&best), bits(&expected_best), "the last value: {self:?} of {data:?}");
    }
}

fn check_merge<T: Sample, I: Index>(
    isa: Isa,
    order: (ReduceFunction, NanPolicy),
    [earlier, later]: [&[T]; 2],
    newest_wins: bool,
) {
    let len = earlier.len();
    for edge in Edge::ALL {
        let [earlier, later] = [earlier, later].map(|values| Guarded::copy_of(values, edge));
        let index = |add: usize| (0..len).map(|n| I::of((n + add) as u64)).collect::<Vec<I>>();
        let (earlier_indices, later_indices) = (Guarded::copy_of(&index(0), edge), Guarded::copy_of(&index(len), edge));
        let mut values = Guarded::filled(T::SPECIAL[0], len, edge);
        let mut indices = Guarded::filled(I::of(UNWRITTEN), len, edge);
        let args = MergeArgs {
            len,
            index_bytes: size_of::<I>(),
            earlier: [earlier.as_ptr().cast(), earlier_indices.as_ptr().cast()],
            later: [later.as_ptr().cast(), later_indices.as_ptr().cast()],
            better: [values.as_mut_ptr().cast(), indices.as_mut_ptr().cast()],
            newest_wins,
        };
        let scanner = scanner::<T>(isa, order);
        // SAFETY: all of them are as long, and of these types.
        unsafe { scanner.merge(&args) };
        for n in 0..len {
            let is_new = wins(order, later[n], earlier[n], newest_wins);
            let (value, index) = if is_new { (later[n], later_indices[n]) } else { (earlier[n], earlier_indices[n]) };
            let what = || format!("{order:?} {newest_wins} of {:?} and {:?}", earlier[n], later[n]);
            assert_eq!(indices[n], index, "{}", what());
            assert_eq!(bytes_of(&values[n]), bytes_of(&value), "{}", what());
        }
    }
}
