//! One element after another: what every strategy is for plain arrays where the compiler [makes no
//! vectors](crate::tuning::isa::TARGET_HAS_VECTORS) of them. There, each operation on an array is as many as it has
//! lanes, and masks and counts of lanes are numbers in memory: all that saves operations elsewhere costs some. Knows
//! nothing of vectors and strategies.

use crate::memory::args::{KernelArgs, LoopDim};
use crate::order::number::PROPAGATE;
use crate::outputs::{Outputs, Written};
use crate::simd::portable::Portable;
use crate::simd::token::Simd;
use crate::tuning::Tuning;
use crate::tuning::isa::TARGET_HAS_VECTORS;
use crate::types::Element;

/// Whether the kernels of an ISA are these.
pub(crate) const fn replaces<S: Simd>() -> bool {
    !TARGET_HAS_VECTORS && !S::TUNING.has_instructions
}

/// Elements that are compared before there is a branch; and outputs that are side by side. Not measured.
const GROUP: usize = 4;

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
    let is_of_columns = inner.stride.unsigned_abs() < fastest.stride.unsigned_abs();
    let mut places = outputs.positions.half_width().iter_mut();
    for o in 0..args.outer.size {
        let first = args.input.cast::<T>().wrapping_offset(o as isize * args.outer.stride);
        let mut n = 0;
        while n < inner.size {
            let at = first.wrapping_offset(n as isize * inner.stride);
            // SAFETY: the caller promises the elements of these outputs.
            unsafe {
                if is_of_columns && inner.size - n >= GROUP {
                    for position in best_of_each::<T, MAX, NAN>(at, inner.stride, args.reduced) {
                        places.next().expect("one for each output").write(position);
                    }
                    n += GROUP;
                } else {
                    places.next().expect("one for each output").write(best::<T, MAX, NAN>(at, args.reduced));
                    n += 1;
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
    unsafe { best::<T, MAX, NAN>(first.cast(), &[LoopDim { size: len, stride: 1 }]) }
}

/// Whether one is better than the best so far, or they do not compare.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN makes it true, on purpose")]
fn may_win<T: PartialOrd, const MAX: bool>(value: T, best: T) -> bool {
    if MAX { !(value <= best) } else { !(value >= best) }
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
    /// It is a NaN that wins.
    is_final: bool,
}

impl<T: Element> Best<T> {
    #[inline(always)]
    fn update<const MAX: bool, const NAN: u8>(&mut self, value: T, position: u32) {
        if may_win::<T, MAX>(value, self.value) && !self.is_final {
            if is_nan(value) {
                // Where NaN loses, the first of all elements stays until there is a number.
                self.is_final = NAN == PROPAGATE;
            }
            if !is_nan(value) || self.is_final {
                (self.value, self.position) = (value, position);
            }
        }
    }

    /// Goes on with the elements of a loop, of which the first has that position.
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
    ) {
        let mut n = 0;
        while n + GROUP <= size && !self.is_final {
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
            }
            (at, n) = (at.wrapping_offset(GROUP as isize * stride), n + GROUP);
        }
        while n < size {
            // SAFETY: the caller's promise.
            self.update::<MAX, NAN>(unsafe { at.read() }, start + n as u32);
            (at, n) = (at.wrapping_offset(stride), n + 1);
        }
    }
}

/// The position of the best of a reduction.
///
/// # Safety
/// - All elements that the loops reach may be read; there is one.
unsafe fn best<T: Element, const MAX: bool, const NAN: u8>(first: *const T, reduced: &[LoopDim]) -> u32 {
    // SAFETY: the caller's promise.
    let value = unsafe { first.read() };
    let mut best = Best { value, position: 0, is_final: NAN == PROPAGATE && is_nan(value) };
    for_each_row(first, reduced, |row, LoopDim { size, stride }, start| {
        // SAFETY: elements that the loops reach.
        unsafe {
            if stride == 1 {
                best.visit::<MAX, NAN>(row, size, 1, start);
            } else {
                best.visit::<MAX, NAN>(row, size, stride, start);
            }
        }
        best.is_final
    });
    best.position
}

/// The positions of the best of `GROUP` reductions, one `step` after the other.
///
/// # Safety
/// - As for [`best`], of all of them.
unsafe fn best_of_each<T: Element, const MAX: bool, const NAN: u8>(
    first: *const T,
    step: isize,
    reduced: &[LoopDim],
) -> [u32; GROUP] {
    // SAFETY: the caller's promise.
    let load = |at: *const T, n: usize| unsafe { at.wrapping_offset(n as isize * step).read() };
    let mut best = [0, 1, 2, 3].map(|n| load(first, n));
    let mut positions = [0; GROUP];
    for_each_row(first, reduced, |row, LoopDim { size, stride }, start| {
        let mut at = row;
        for position in start..start + size as u32 {
            for n in 0..GROUP {
                let value = load(at, n);
                // A NaN that wins stays, and one that loses does not come.
                let loses = if NAN == PROPAGATE { is_nan(best[n]) } else { is_nan(value) };
                if may_win::<T, MAX>(value, best[n]) && !loses {
                    (best[n], positions[n]) = (value, position);
                }
            }
            at = at.wrapping_offset(stride);
        }
        false
    });
    positions
}

/// Hands out the rows of a reduction: where each begins, its loop, and the position of its first element; until it is
/// told that it is enough.
#[inline(always)]
fn for_each_row<T>(first: *const T, reduced: &[LoopDim], mut visit: impl FnMut(*const T, LoopDim, u32) -> bool) {
    let [slower @ .., fastest] = reduced else { return };
    let rows: usize = slower.iter().map(|one| one.size).product();
    for n in 0..rows {
        let (mut offset, mut left) = (0, n);
        for one in slower.iter().rev() {
            offset += (left % one.size) as isize * one.stride;
            left /= one.size;
        }
        if visit(first.wrapping_offset(offset), *fastest, (n * fastest.size) as u32) {
            return;
        }
    }
}
