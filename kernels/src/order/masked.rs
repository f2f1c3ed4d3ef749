//! An order of elements under a mask: in place of what is not there, it sees something else. Only loading differs.

use super::{ArgOrder, Mask, Vec};
use crate::memory::mask::InputMask;
use crate::simd::ops::{ByteMaskOps, SimdOps};

/// The order `O` under a mask.
#[derive(Clone, Copy)]
pub(crate) struct MaskedOrder<O: ArgOrder> {
    order: O,
    mask: InputMask,
    /// What the mask fills with.
    fill: O::Lane,
}

impl<O: ArgOrder> MaskedOrder<O> {
    const LANES: usize = <O::Simd as SimdOps<O::Lane>>::LANES;

    /// # Safety
    /// - What the order loads are elements that the mask has bits of, with [`InputMask::PADDING`] after that of the
    ///   last one, of a type with the size and alignment of its lanes.
    /// - Bits and what it fills with, such an element, may be read as long as the order is used.
    #[inline(always)]
    pub(crate) unsafe fn new(order: O, mask: InputMask) -> Self {
        // SAFETY: the caller's promise.
        let fill = unsafe { mask.fill.cast::<O::Lane>().read() };
        MaskedOrder { order, mask, fill }
    }

    /// Bits from that of an element on: as many as are asked for, and any others. Of those beyond the last element, it
    /// does not matter what they are.
    ///
    /// # Safety
    /// - The mask has the bit of that element, and `PADDING` after that of its last one.
    #[inline(always)]
    unsafe fn bits_of<const COUNT: usize>(self, at: *const O::Lane) -> u64 {
        let n = self.mask.number(at);
        // SAFETY: the caller's promise: these bytes begin with that of the bit, and the others are no more than
        // `PADDING`.
        unsafe {
            let from = self.mask.bits.add(n / 8);
            let low = u64::from_le(from.cast::<u64>().read_unaligned()) >> (n % 8);
            // One word has at least 57 of them.
            if const { COUNT <= 56 } { low } else { low | u64::from(from.add(8).read()) << 1 << (63 - n % 8) }
        }
    }
}

/// How many vectors of so many lanes take their masks from one word: not more than registers hold.
const fn vectors_in_word(lanes: usize) -> usize {
    if lanes < 8 { 8 } else { 64 / lanes }
}

/// How many lanes those have, of so many vectors.
const fn lanes_in_word(lanes: usize, vectors: usize) -> usize {
    let most = vectors_in_word(lanes);
    lanes * if vectors < most { vectors } else { most }
}

impl<O: ArgOrder<Simd: ByteMaskOps<O::Lane>>> ArgOrder for MaskedOrder<O> {
    type Lane = O::Lane;
    type Simd = O::Simd;
    const IS_MAX: bool = O::IS_MAX;
    const NAN_WINS: bool = O::NAN_WINS;
    const NAN_LOSES: bool = O::NAN_LOSES;
    const MAY_EXIT_EARLY: bool = O::MAY_EXIT_EARLY;
    const HAS_FAST: bool = O::HAS_FAST;
    type NanAcc = O::NanAcc;
    type Fast = MaskedOrder<O::Fast>;

    #[inline(always)]
    fn simd(self) -> O::Simd {
        self.order.simd()
    }

    #[inline(always)]
    fn nan_wins(self) -> bool {
        self.order.nan_wins()
    }

    #[inline(always)]
    unsafe fn read(self, at: *const O::Lane) -> O::Lane {
        // SAFETY: the element may be read, as the caller says, and has a bit, as `new` was told.
        unsafe { self.mask.read(at) }
    }

    #[inline(always)]
    unsafe fn load(self, at: *const O::Lane) -> Vec<Self> {
        // SAFETY: a vector of elements, as the caller says.
        let [vector] = unsafe { self.load_several(at) };
        vector
    }

    /// As many masks as registers hold are taken from one word.
    #[inline(always)]
    unsafe fn load_several<const V: usize>(self, at: *const O::Lane) -> [Vec<Self>; V] {
        let (lanes, simd) = (Self::LANES, self.simd());
        let fill = simd.splat(self.fill);
        let (mut vectors, mut bits, mut n) = ([fill; V], 0, 0);
        while n < V {
            let in_word = n % const { vectors_in_word(Self::LANES) };
            // SAFETY: the caller's promise: so many vectors, and their bits.
            unsafe {
                let at = at.add(n * lanes);
                if in_word == 0 {
                    bits = match const { lanes_in_word(Self::LANES, V) } {
                        ..=56 => self.bits_of::<56>(at),
                        _ => self.bits_of::<64>(at),
                    };
                }
                vectors[n] = self.order.encode(simd.select_by_bits(bits, in_word, simd.load(at), fill));
            }
            n += 1;
        }
        vectors
    }

    #[inline(always)]
    unsafe fn load_first_n(self, at: *const O::Lane, n: usize) -> Vec<Self> {
        let (simd, fill) = (self.simd(), self.simd().splat(self.fill));
        // SAFETY: the caller's promise: of the bits beyond them, it does not matter what they are.
        unsafe { self.order.encode(simd.select_by_bits(self.bits_of::<64>(at), 0, simd.load_first_n(at, n), fill)) }
    }

    #[inline(always)]
    fn encode(self, raw: Vec<Self>) -> Vec<Self> {
        self.order.encode(raw)
    }

    #[inline(always)]
    fn decode(self, lanes: Vec<Self>) -> Vec<Self> {
        self.order.decode(lanes)
    }

    #[inline(always)]
    fn lost(self, lanes: Vec<Self>) -> Mask<Self> {
        self.order.lost(lanes)
    }

    #[inline(always)]
    fn gt_total_order(self, a: Vec<Self>, b: Vec<Self>) -> Mask<Self> {
        self.order.gt_total_order(a, b)
    }

    #[inline(always)]
    fn accumulate_nan<const V: usize>(self, nan_acc: O::NanAcc, vectors: &[Vec<Self>; V]) -> O::NanAcc {
        self.order.accumulate_nan(nan_acc, vectors)
    }

    #[inline(always)]
    fn settled(self, best: Vec<Self>) -> Mask<Self> {
        self.order.settled(best)
    }

    #[inline(always)]
    fn is_absorbing(self, best: Vec<Self>, nan_acc: O::NanAcc) -> bool {
        self.order.is_absorbing(best, nan_acc)
    }

    #[inline(always)]
    fn fast(self) -> Self::Fast {
        let MaskedOrder { order, mask, fill } = self;
        MaskedOrder { order: order.fast(), mask, fill }
    }

    #[inline(always)]
    fn accepts(self, best: Vec<Self>, nan_acc: O::NanAcc) -> bool {
        self.order.accepts(best, nan_acc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::elements::{OrderFactory, Shared};
    use crate::order::number::PROPAGATE;
    use crate::simd::portable::Portable;

    /// All ways to load see the fill in place of what is not there, wherever bits begin.
    #[test]
    fn loads_see_the_fill() {
        static FILL: i32 = -7;
        let elements: [i32; 150] = core::array::from_fn(|n| n as i32);
        let bits: [u8; 28] = core::array::from_fn(|n| (n * n * 37 + 91 * n + 5) as u8);
        for skipped in 0..8 {
            // Bit number `skipped` is that of the first.
            let first = elements.as_ptr().wrapping_sub(skipped);
            let mask = InputMask::new(first.cast(), &bits, (&raw const FILL).cast());
            // SAFETY: every machine has it; there are bits of all elements, and their padding.
            let order = unsafe { MaskedOrder::new(Shared::<Portable<16>, i32, true, PROPAGATE>::make(()), mask) };
            let seen = |n: usize| {
                let bit = n + skipped;
                if bits[bit / 8] >> (bit % 8) & 1 != 0 { elements[n] } else { FILL }
            };
            for (n, at) in elements.windows(32).map(<[i32]>::as_ptr).enumerate() {
                // SAFETY: there are 32 elements from there on.
                unsafe {
                    assert_eq!(order.read(at), seen(n));
                    assert_eq!(order.load(at), core::array::from_fn(|lane| seen(n + lane)));
                    assert_eq!(order.load_first_n(at, 3)[..3], [seen(n), seen(n + 1), seen(n + 2)]);
                    let loaded: [[i32; 4]; 8] = order.load_several(at);
                    assert_eq!(loaded.as_flattened(), core::array::from_fn::<_, 32, _>(|lane| seen(n + lane)));
                }
            }
        }
    }
}
