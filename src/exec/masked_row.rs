//! One contiguous row under a mask: piece by piece, without loops over tiles, which would take longer than a short row.
//!
//! ```text
//! for each piece:
//!     all of it is there:                   position = kernel(the input, there)
//!     nothing is:                           none
//!     there are bits, and enough elements:  position = kernel(the input, under bits)
//!     else:                                 position = kernel(a copy, with what never wins for what is not there)
//!     keep it if its element is better than the best so far
//! ```
#![allow(unsafe_code)]

use super::call::{KernelCall, ValuePlaces};
use super::input::{BoundPlan, ElementsRef, Order};
use super::masked::{Bits, CallMask, Loser};
use super::presence::Coverage;
use super::row::find_in_contiguous;
use super::slices::OutputSlices;
use super::split::unbeatable_key;
use super::tiles::{Buffer, Grid};
use super::write::write_one;
use crate::DataType;
use crate::mask::MaskFormat;
use crate::planner::MASKED_BYTES;
use argreduce_kernels::{InputMask, Kernel, LoopDim, key, with_element_bits, with_reduced_type};
use std::mem::MaybeUninit;
use std::slice::from_ref;

/// The most bytes of a piece that is read in place. Not measured.
const PIECE_BYTES: usize = 64 << 10;

/// Answers the only output of a plan, the best of a
/// [contiguous row](crate::planner::ExecPlan::is_contiguous_row) under a mask whose places are side by side from
/// `first` on.
pub(crate) fn run_masked_row(
    bound: &BoundPlan<'_>,
    (mask, first): (&CallMask<'_>, usize),
    slices: &mut OutputSlices<'_>,
) {
    assert!(bound.plan().is_contiguous_row());
    let position = match bound.kernel() {
        None => mask.places().at(first).then_some(0),
        Some((.., kernel)) => {
            with_element_bits!(bound.plan().element_bytes(), B => find::<B>(bound, kernel, mask, first))
        }
    };
    let output = bound.plan().shape().output.start;
    match position {
        Some(position) => write_one(bound, position, output, slices),
        None => mask.write_one_nothing(output, 0, slices),
    }
}

#[inline(never)]
fn find<B: Bits>(bound: &BoundPlan<'_>, kernel: &'static Kernel, mask: &CallMask<'_>, first: usize) -> Option<u32> {
    let (shape, data_type) = (bound.plan().shape(), bound.input().data_type());
    let (start, len) = (shape.input.start, shape.input.first().size);
    let (loser, unbeatable) = (Loser::<B>::of(data_type, bound.order()), unbeatable_key(bound));
    let mut buffer = Buffer::new();
    let (mut best, mut at) = (None, 0);
    while at < len {
        let piece = Piece { bound, kernel, mask, loser, start: start + at, first: first + at };
        let (found, visited) = piece.find(len - at, best.is_some(), &mut buffer);
        if visited == len {
            return found.map(|(position, _)| position);
        }
        if let Some((position, value)) = found {
            let key = key_of(data_type, bound.order(), value);
            if best.is_none_or(|(best, _)| key > best) {
                best = Some((key, at as u32 + position));
            }
            if unbeatable.is_some_and(|unbeatable| key >= unbeatable) {
                break;
            }
        }
        at += visited;
    }
    best.map(|(_, position)| position)
}

/// The key of an element, of which these are the bits.
pub(super) fn key_of<B: Bits>(data_type: DataType, (function, policy): Order, bits: B) -> i64 {
    with_reduced_type!(data_type, T => {
        assert!(size_of::<T>() == size_of::<B>());
        // SAFETY: an element of that type and size.
        key(function, policy, unsafe { (&raw const bits).cast::<T>().read_unaligned() })
    })
}

/// What begins at a place of the input, and at one of the mask.
struct Piece<'a, B> {
    bound: &'a BoundPlan<'a>,
    kernel: &'static Kernel,
    mask: &'a CallMask<'a>,
    loser: Loser<B>,
    start: usize,
    first: usize,
}

impl<B: Bits> Piece<'_, B> {
    /// The position of the first best of what is there of the piece, and that element; and how many of the elements
    /// that are `left` the piece has. If there is an answer before, none as bad as what never wins: that is no better.
    fn find(
        &self,
        left: usize,
        has_answer: bool,
        buffer: &mut Buffer<{ MASKED_BYTES / 8 }>,
    ) -> (Option<(u32, B)>, usize) {
        let places = self.mask.places();
        // The bits with their padding.
        let bits = places.bytes.len().saturating_sub(InputMask::PADDING).saturating_mul(8).saturating_sub(self.first);
        let run = |size| LoopDim { size, stride: 1 };
        let in_place = run(left.min(bits).min(PIECE_BYTES / size_of::<B>()).min(self.kernel.max_masked_row_len()));
        let is_in_place = places.format == MaskFormat::Bits && self.kernel.takes_masks(&[in_place]);
        let len = if is_in_place { in_place.size } else { left.min(MASKED_BYTES / size_of::<B>()) };
        let (found, is_whole) = match places.coverage(self.first, (&[], run(len))) {
            Coverage::Nothing => return (None, len),
            Coverage::All => (self.find_in(self.bound.input(), self.start, len), true),
            Coverage::Some if is_in_place => (self.find_under(&in_place), false),
            Coverage::Some => (self.find_in_copy(len, buffer), false),
        };
        if is_whole || !self.loser.is_like(found.1) {
            return (Some(found), len);
        }
        if has_answer {
            return (None, len);
        }
        // All that is there is as bad as what is not: so the first of it.
        let there = (0..len).find(|&n| places.at(self.first + n));
        // SAFETY: a place of the row, whose elements are of that size.
        (there.map(|n| (n as u32, unsafe { self.bound.input().read(self.start + n) })), len)
    }

    /// In elements that are all there: the plan's, or a copy of them.
    fn find_in(&self, elements: ElementsRef<'_>, start: usize, len: usize) -> (u32, B) {
        // SAFETY: the row is the only loop of a bound plan, and goes upwards over neighbours; the kernel is for them.
        unsafe {
            let position = find_in_contiguous(self.kernel, self.bound.order(), elements, (start, len));
            (position, elements.read(start + position as usize))
        }
    }

    fn find_in_copy(&self, len: usize, buffer: &mut Buffer<{ MASKED_BYTES / 8 }>) -> (u32, B) {
        let (input, presence) = (self.bound.input(), self.mask.places().from(self.first));
        let from = input.address(self.start as isize).cast();
        // SAFETY: so many neighbours are elements of the row. What is copied are such, or what is one.
        let copy = unsafe {
            let copy = self.mask.copier().copy(from, 1, presence, self.loser.bits, buffer.places::<B>(len));
            ElementsRef::of_bits(copy, input.data_type())
        };
        self.find_in(copy, 0, len)
    }

    /// As the kernel reads the input under bits.
    fn find_under(&self, run: &LoopDim) -> (u32, B) {
        let (plan, input) = (self.bound.plan(), self.bound.input());
        let grid = Grid { start: self.start as isize, dims: [LoopDim::ONE; 2] };
        let of_first_bit = input.address(self.start as isize).wrapping_byte_sub(self.first % 8 * size_of::<B>());
        let bits = &self.mask.places().bytes[self.first / 8..];
        let mask = InputMask::new(of_first_bit, bits, (&raw const self.loser.bits).cast());
        let (mut position, mut value) = ([MaybeUninit::uninit()], [MaybeUninit::<B>::uninit()]);
        let places = ValuePlaces::of_buffer(&mut value[..], input.data_type());
        // SAFETY: so many neighbours are elements of the row, for which the kernel is; it takes masks of them, and this
        // one has a bit for each, with its padding, and fills with an element. All of it lives as long as the call.
        let call = unsafe { KernelCall::new(self.kernel, input, grid, from_ref(run), plan.working_set()).under(mask) };
        let (positions, _) = call.find((&mut position[..]).into(), Some(places));
        // SAFETY: a kernel writes every value.
        (positions[0], unsafe { value[0].assume_init() })
    }
}

#[cfg(test)]
mod tests {
    use crate::{ArgReduce, AxisDirection, Element, Error, Isa, Layout, Mask, NanPolicy, ReduceFunction, input};
    use argreduce_kernels::key;

    /// Rows of one piece and of several, in bits of any offset, with and without padding, and in bytes; with elements
    /// as bad as what never wins, and with nothing there in some pieces or in all.
    #[test]
    fn rows_of_any_length() {
        fn check<T: Element>(of: fn(usize) -> T) {
            for len in [1, 2, 5, 16, 400, 5000, 20_000, 70_000, 140_001] {
                let orders = ReduceFunction::ALL.into_iter().flat_map(|f| NanPolicy::ALL.map(|policy| (f, policy)));
                for ((function, policy), (one_of, skipped)) in orders
                    .flat_map(|order| [(1, 0), (2, 0), (3, 66_000), (977, 0), (5, 200_000)].map(|there| (order, there)))
                {
                    let row: Vec<T> = (0..len).map(|n| of(n * 7919 % 100_003)).collect();
                    let there: Vec<bool> = (0..len).map(|n| n >= skipped && n * 31 % one_of == 0).collect();
                    let mut best: Option<(i64, usize)> = None;
                    for n in (0..len).filter(|&n| there[n]) {
                        let key = key(function, policy, row[n]);
                        if best.is_none_or(|(best, _)| key > best) {
                            best = Some((key, n));
                        }
                    }
                    let expected = best.map_or(-1, |(_, n)| n as i64);
                    let bits = |offset: usize, padding: usize| -> Vec<u8> {
                        let mut bits = vec![0; (len + offset).div_ceil(8) + padding];
                        (0..len).filter(|&n| there[n]).for_each(|n| bits[(n + offset) / 8] |= 1 << ((n + offset) % 8));
                        bits
                    };
                    let (bits, shifted) = (bits(0, 0), bits(5, 9));
                    for isa in Isa::available() {
                        let layout = Layout::contiguous(&[len]).unwrap();
                        let plan = ArgReduce::new(function, &layout).all_axes().nan_policy(policy).fill(-1).isa(isa);
                        let plan = plan.plan::<T, i64>().unwrap();
                        for mask in [Mask::bools(&there), Mask::bits(&bits, 0), Mask::bits(&shifted, 5)] {
                            let (mut index, mut value) = ([0], [row[0]]);
                            plan.run(input(&row).masked(mask), (&mut index, &mut value)).unwrap();
                            assert_eq!(index[0], expected, "{plan}: 1 of {one_of} from {skipped} on");
                            let is_right = |(best, _)| key(function, policy, value[0]) == best;
                            assert!(best.is_none_or(is_right), "{plan}: {:?}", value[0]);
                        }
                    }
                }
            }
        }
        check(|n| if n % 400 == 7 { f32::NAN } else { n as f32 - 50_000.0 });
        check(|n| if n % 3 == 0 { f64::NEG_INFINITY } else { f64::NAN });
        check(|n| (n % 3) as u8);
        check(|n| n as i16);
        check(|_| u64::MAX);
    }

    /// Both at once, ties to the last, elements that begin somewhere, and what is an error.
    #[test]
    fn rows_of_other_calls() {
        let data: Vec<bool> = (0..30_000).map(|n| n % 1000 == 999).collect();
        let there: Vec<bool> = (0..29_990).map(|n| n % 7 > 0 && n > 5).collect();
        let layout = Layout::strided(&[29_990], &[1], 10).unwrap();
        let first = |best: bool| (0..29_990).find(|&n| there[n] && data[n + 10] == best).unwrap() as u32;
        let last = |best: bool| (0..29_990).rfind(|&n| there[n] && data[n + 10] == best).unwrap() as u32;
        let masked = input(&data).masked(Mask::bools(&there));
        for isa in Isa::available() {
            let both = ArgReduce::argminmax(&layout).all_axes().isa(isa);
            let plan = both.plan_both::<bool, u32>().unwrap();
            assert_eq!(plan.collect::<Vec<u32>>(masked).unwrap(), [false, true].map(|best| vec![first(best)]));
            let of_last = both.direction(AxisDirection::Decreasing).plan_both::<bool, u32>().unwrap();
            assert_eq!(of_last.collect::<Vec<u32>>(masked).unwrap(), [false, true].map(|best| vec![last(best)]));
            let plan = ArgReduce::argmax(&layout).all_axes().isa(isa).plan::<bool, u32>().unwrap();
            let (none, mut index) = (vec![false; 29_990], [7]);
            let error = plan.run(input(&data).masked(Mask::bools(&none)), &mut index).unwrap_err();
            assert_eq!(error, Error::NothingThere { output: vec![] });
        }
    }
}
