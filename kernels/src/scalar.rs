//! One element after another: what every strategy is for plain arrays where the compiler [makes no
//! vectors](crate::tuning::isa::TARGET_HAS_VECTORS) of them. There, each operation on an array is as many as it has
//! lanes, and masks and counts of lanes are numbers in memory: all that saves operations elsewhere costs some. Knows
//! nothing of vectors and strategies.

use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::walk::offset_at;
use crate::order::number::PROPAGATE;
use crate::outputs::{Outputs, Written};
use crate::scan::{MergeArgs, ScanArgs, read_index, write_index};
use crate::simd::portable::Portable;
use crate::simd::token::Simd;
use crate::tuning::Tuning;
use crate::tuning::isa::TARGET_HAS_VECTORS;
use crate::types::{Element, NanPolicy, ReduceFunction, key};
use core::hint::select_unpredictable;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Whether the kernels of an ISA are these.
pub(crate) const fn replaces<S: Simd>() -> bool {
    !TARGET_HAS_VECTORS && !S::TUNING.has_instructions
}

/// Elements that are compared before there is a branch. Not measured.
const GROUP: usize = 4;

/// The shortest rows that are compared so: in shorter ones, nearly each group has one that is better. Not measured.
const MIN_GROUPED: usize = 32;

/// Columns whose best are kept while their rows are read: beside each other in memory, and so few that they stay in L1.
/// Not measured.
const COLUMNS: usize = 512;

/// What a [`crate::Kernel`] points to.
///
/// # Safety
/// - As [`crate::Kernel::run`], and there are as many positions as the call has outputs.
pub(crate) unsafe fn of_args<T: Element, const MAX: bool, const NAN: u8>(
    args: &KernelArgs<'_>,
    (): (),
    mut outputs: Outputs<'_>,
) -> Written {
    let (fastest, inner) = (args.innermost_reduced(), args.inner);
    let is_of_columns = inner.size > 1 && inner.stride.unsigned_abs() < fastest.stride.unsigned_abs();
    let places = outputs.positions.half_width();
    // (If there is no output, there is no row of them either.)
    for (o, places) in places.chunks_mut(inner.size.max(1)).enumerate() {
        let first = args.input.cast::<T>().wrapping_offset(o as isize * args.outer.stride);
        let at = |n: usize| first.wrapping_offset(n as isize * inner.stride);
        // SAFETY: the caller promises the elements of these outputs.
        unsafe {
            if is_of_columns {
                for (n, places) in places.chunks_mut(COLUMNS).enumerate() {
                    let first = at(n * COLUMNS);
                    if inner.stride == 1 {
                        columns::<T, MAX, NAN>(first, 1, args.reduced, places);
                    } else {
                        columns::<T, MAX, NAN>(first, inner.stride, args.reduced, places);
                    }
                }
            } else if let &[LoopDim { size, stride: 1 }] = args.reduced {
                for (n, place) in places.iter_mut().enumerate() {
                    place.write(best_of_row::<T, MAX, NAN>(at(n), size));
                }
            } else {
                for (n, place) in places.iter_mut().enumerate() {
                    place.write(best::<T, MAX, NAN>(at(n), args.reduced));
                }
            }
        }
    }
    // SAFETY: every machine has plain arrays; all positions are written.
    unsafe { outputs.positions.widen(Portable::<16>::assume()) };
    Written::Nothing
}

/// The position in one row, in the direction of memory.
///
/// # Safety
/// - As [`crate::Kernel::of_row`].
pub(crate) unsafe fn of_row<T: Element, const MAX: bool, const NAN: u8>(
    first: *const (),
    len: usize,
    _: &'static Tuning,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { best_of_row::<T, MAX, NAN>(first.cast(), len) }
}

/// Whether one is better than the best so far, or they do not compare.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN makes it true, on purpose")]
fn may_win<T: PartialOrd, const MAX: bool>(value: T, best: T) -> bool {
    if MAX { !(value <= best) } else { !(value >= best) }
}

/// Whether one is better than the best so far: a NaN that wins stays, and one that loses does not come. (No branch is
/// between both tests.)
#[inline(always)]
fn wins<T: PartialOrd + Copy, const MAX: bool, const NAN: u8>(value: T, best: T) -> bool {
    may_win::<T, MAX>(value, best) & !is_nan(if NAN == PROPAGATE { best } else { value })
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: PartialOrd + Copy>(value: T) -> bool {
    value != value
}

/// The best so far of some elements, and its position.
struct Best<T> {
    value: T,
    position: u32,
}

impl<T: Element> Best<T> {
    /// Whether nothing can be better: it is a NaN that wins.
    #[inline(always)]
    fn is_final<const NAN: u8>(&self) -> bool {
        NAN == PROPAGATE && is_nan(self.value)
    }

    /// Takes an element if it is better.
    #[inline(always)]
    fn update<const MAX: bool, const NAN: u8>(&mut self, value: T, position: u32) {
        if wins::<T, MAX, NAN>(value, self.value) {
            (self.value, self.position) = (value, position);
        }
    }

    /// Goes on with the elements of a loop, of which the first has that position, and tells whether the best is final.
    ///
    /// # Safety
    /// - They may be read.
    #[inline(always)]
    unsafe fn visit<const MAX: bool, const NAN: u8>(
        &mut self,
        mut at: *const T,
        size: usize,
        stride: isize,
        start: u32,
    ) -> bool {
        let mut n = 0;
        while size >= MIN_GROUPED && n + GROUP <= size {
            let mut group = [self.value; GROUP];
            let mut may_any = false;
            for (i, value) in group.iter_mut().enumerate() {
                // SAFETY: the caller's promise: there are `GROUP` more.
                *value = unsafe { at.wrapping_offset(i as isize * stride).read() };
                may_any |= may_win::<T, MAX>(*value, self.value);
            }
            if may_any {
                for (i, value) in group.into_iter().enumerate() {
                    self.update::<MAX, NAN>(value, start + (n + i) as u32);
                }
                if self.is_final::<NAN>() {
                    return true;
                }
            }
            (at, n) = (at.wrapping_offset(GROUP as isize * stride), n + GROUP);
        }
        while n < size {
            // SAFETY: the caller's promise.
            let value = unsafe { at.read() };
            // Without a branch: in short rows, it would often be mispredicted.
            let wins = wins::<T, MAX, NAN>(value, self.value);
            self.value = select_unpredictable(wins, value, self.value);
            self.position = select_unpredictable(wins, start + n as u32, self.position);
            (at, n) = (at.wrapping_offset(stride), n + 1);
        }
        self.is_final::<NAN>()
    }
}

/// The position of the best of some neighbours.
///
/// # Safety
/// - They may be read; there is one.
#[inline(always)]
unsafe fn best_of_row<T: Element, const MAX: bool, const NAN: u8>(first: *const T, len: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let mut best = Best { value: first.read(), position: 0 };
        best.visit::<MAX, NAN>(first.wrapping_add(1), len - 1, 1, 1);
        best.position
    }
}

/// The position of the best of a reduction.
///
/// # Safety
/// - All elements that the loops reach may be read; there is one.
unsafe fn best<T: Element, const MAX: bool, const NAN: u8>(first: *const T, reduced: &[LoopDim]) -> u32 {
    // SAFETY: the caller's promise.
    let mut best = Best { value: unsafe { first.read() }, position: 0 };
    for_each_row(first, reduced, |row, LoopDim { size, stride }, start| {
        // SAFETY: the elements that the loops reach.
        unsafe { best.visit::<MAX, NAN>(row, size, stride, start) }
    });
    best.position
}

/// Writes the positions of the best of some reductions, at most [`COLUMNS`], one `step` after the other.
///
/// # Safety
/// - As for [`best`], of all of them.
#[inline(always)]
unsafe fn columns<T: Element, const MAX: bool, const NAN: u8>(
    first: *const T,
    step: isize,
    reduced: &[LoopDim],
    places: &mut [MaybeUninit<u32>],
) {
    // SAFETY: the caller's promise.
    let load = |row: *const T, n: usize| unsafe { row.wrapping_offset(n as isize * step).read() };
    let (mut best, mut positions) = ([T::ZERO; COLUMNS], [0; COLUMNS]);
    let (best, positions) = (&mut best[..places.len()], &mut positions[..places.len()]);
    for (n, best) in best.iter_mut().enumerate() {
        *best = load(first, n);
    }
    for_each_row(first, reduced, |row, LoopDim { size, stride }, start| {
        for i in 0..size {
            let row = row.wrapping_offset(i as isize * stride);
            for (n, (best, position)) in best.iter_mut().zip(&mut *positions).enumerate() {
                let value = load(row, n);
                if wins::<T, MAX, NAN>(value, *best) {
                    (*best, *position) = (value, start + i as u32);
                }
            }
        }
        false
    });
    for (place, position) in places.iter_mut().zip(positions) {
        place.write(*position);
    }
}

/// Hands out the rows of a reduction: where each begins, its loop, and the position of its first element; until it is
/// told that it is enough.
#[inline(always)]
fn for_each_row<T>(first: *const T, reduced: &[LoopDim], mut visit: impl FnMut(*const T, LoopDim, u32) -> bool) {
    let [slower @ .., fastest] = reduced else { return };
    let rows: usize = slower.iter().map(|one| one.size).product();
    for n in 0..rows {
        if visit(first.wrapping_offset(offset_at(slower, n)), *fastest, (n * fastest.size) as u32) {
            return;
        }
    }
}

/// Whether the scans of an ISA are these: plain loops serve those who would not gain enough for the code of vectors.
pub(crate) const fn replaces_scans<S: Simd>() -> bool {
    !S::TUNING.has_special_cases() && !cfg!(wide_portable)
}

/// The order as numbers.
#[inline(always)]
fn key_of<T: Element, const MAX: bool, const NAN: u8>(element: T) -> i64 {
    let function = if MAX { ReduceFunction::ArgMax } else { ReduceFunction::ArgMin };
    key(function, if NAN == PROPAGATE { NanPolicy::Propagate } else { NanPolicy::Ignore }, element)
}

/// Whether something new wins over what was visited before.
#[inline(always)]
fn wins_over(new: i64, old: i64, newest_wins: bool) -> bool {
    new > old || newest_wins && new == old
}

/// What a [`crate::Scanner`] points to: line by line where elements of a line are neighbours, else step by step.
///
/// # Safety
/// - As [`crate::Scanner::scan`].
pub(crate) unsafe fn scan<T: Element, const MAX: bool, const NAN: u8>(args: &ScanArgs) {
    let (lines, steps) = (args.lines, args.steps);
    // SAFETY: the caller's promise, of each line and step.
    unsafe {
        if steps.stride.abs() == 1 {
            for line in 0..lines.size {
                scan_line::<T, MAX, NAN>(
                    args,
                    line,
                    0..steps.size,
                    [args.index_stride, args.value_stride],
                    [steps.stride; 2],
                );
            }
        } else {
            for step in 0..steps.size {
                for line in 0..lines.size {
                    let apart = [args.index_stride, args.value_stride];
                    scan_line::<T, MAX, NAN>(args, line, step..step + 1, [1; 2], apart);
                }
            }
        }
    }
}

/// Some steps of a line. Answers are so far from those of the next line, and of the next step: indices, and values.
///
/// # Safety
/// - As for [`scan`].
#[inline(always)]
unsafe fn scan_line<T: Element, const MAX: bool, const NAN: u8>(
    args: &ScanArgs,
    line: usize,
    steps: Range<usize>,
    per_line: [isize; 2],
    per_step: [isize; 2],
) {
    let first = args.input.cast::<T>().wrapping_offset(line as isize * args.lines.stride);
    // SAFETY: the caller promises the element.
    let element = |step: usize| unsafe { first.wrapping_offset(step as isize * args.steps.stride).read() };
    let first_index = args.first_index.wrapping_add(args.line_index_step.wrapping_mul(line as u64));
    let index = |step: usize| match args.indices_fall {
        true => first_index.wrapping_sub(step as u64),
        false => first_index.wrapping_add(step as u64),
    };
    let best = args.best[0].cast::<T>().wrapping_add(line);
    // SAFETY: the caller promises the best of each line, and places for the answers.
    unsafe {
        let (mut value, mut at) = match args.begins && steps.start == 0 {
            true => (element(0), index(0)),
            false => (best.read(), read_index(args.best[1], line as isize, args.index_bytes)),
        };
        for step in steps {
            let new = element(step);
            if wins_over(key_of::<T, MAX, NAN>(new), key_of::<T, MAX, NAN>(value), args.newest_wins) {
                (value, at) = (new, index(step));
            }
            let [to_index, to_value] = [0, 1].map(|n: usize| line as isize * per_line[n] + step as isize * per_step[n]);
            write_index(args.indices, to_index, args.index_bytes, at);
            if !args.values.is_null() {
                args.values.cast::<T>().wrapping_offset(to_value).write(value);
            }
        }
        best.write(value);
        write_index(args.best[1], line as isize, args.index_bytes, at);
    }
}

/// What a [`crate::Scanner`] points to, for two arrays of answers.
///
/// # Safety
/// - As [`crate::Scanner::merge`].
pub(crate) unsafe fn merge_scans<T: Element, const MAX: bool, const NAN: u8>(args: &MergeArgs) {
    let sides = [args.earlier, args.later];
    for n in 0..args.len {
        // SAFETY: the caller promises as many of each.
        unsafe {
            let [old, new] = sides.map(|side| side[0].cast::<T>().add(n).read());
            let is_new = wins_over(key_of::<T, MAX, NAN>(new), key_of::<T, MAX, NAN>(old), args.newest_wins);
            let index = read_index(sides[usize::from(is_new)][1], n as isize, args.index_bytes);
            write_index(args.better[1], n as isize, args.index_bytes, index);
            if !args.better[0].is_null() {
                args.better[0].cast::<T>().add(n).write(if is_new { new } else { old });
            }
        }
    }
}
