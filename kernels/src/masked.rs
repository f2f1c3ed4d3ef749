//! Elements under a mask: which of them are there, a byte for each; and copies in which something else is in place of
//! those that are not. Knows nothing of orders, and not what never wins.

use crate::dispatch::{Isa, with_isa};
use crate::simd::portable::Portable;
use crate::simd::token::Simd;
use core::mem::MaybeUninit;

/// Copies elements under a mask by the vectors of an ISA, and makes bytes of bits.
///
/// ```
/// use argreduce_kernels::MaskedCopier;
/// use core::mem::MaybeUninit;
/// let mut there = [MaybeUninit::new(9); 3];
/// let there = MaskedCopier::PORTABLE.expand(&[0b1010_0000, 0b0000_0001], 6, &mut there);
/// assert_eq!(there, [0, 1, 1]);
///
/// let (elements, mut copy) = ([1.5_f32, 0.0, 2.5, 0.0, 3.5], [MaybeUninit::uninit(); 3]);
/// // SAFETY: there are as many elements, two apart.
/// let copy = unsafe { MaskedCopier::PORTABLE.copy(elements.as_ptr(), 2, there, -1.0, &mut copy) };
/// assert_eq!(copy, [-1.0, 2.5, 3.5]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MaskedCopier {
    expand: unsafe fn(bits: &[u8], shift: u32, there: &mut [MaybeUninit<u8>]),
    /// Of elements of 1, 2, 4 and 8 bytes.
    copy: [unsafe fn(copy: MaskedCopy<'_>); 4],
}

/// What is copied: as many elements as `there` has, from addresses `stride` elements apart to neighbours.
#[derive(Clone, Copy)]
struct MaskedCopy<'a> {
    from: *const (),
    stride: isize,
    there: &'a [u8],
    /// An element.
    fill: *const (),
    to: *mut (),
}

/// The copier of an ISA.
const fn copier<S: Simd>() -> &'static MaskedCopier {
    const { &MaskedCopier { expand: expand::<S>, copy: [copy::<S, u8>, copy::<S, u16>, copy::<S, u32>, copy::<S, u64>] } }
}

impl MaskedCopier {
    /// The one that every machine can run.
    pub const PORTABLE: &'static MaskedCopier = copier::<Portable<16>>();

    /// That of an ISA, or `None` where this machine or this build does not have it.
    pub fn of(isa: Isa) -> Option<&'static MaskedCopier> {
        if isa.is_available() { with_isa!(isa, S => copier::<S>()) } else { None }
    }

    /// Writes a byte for each bit from number `first` on, the least significant of a byte first: 1 where it is set,
    /// else 0. Returns what was written.
    ///
    /// # Panics
    /// If there are fewer bits.
    pub fn expand<'t>(&self, bits: &[u8], first: usize, there: &'t mut [MaybeUninit<u8>]) -> &'t mut [u8] {
        let end = first.checked_add(there.len()).expect("as many bits");
        let bits = &bits[first / 8..end.div_ceil(8).max(first / 8)];
        // SAFETY: the ISA is there: `of` gives no copier without, and nothing else but `PORTABLE` does. Then each byte
        // is written.
        unsafe {
            (self.expand)(bits, (first % 8) as u32, there);
            &mut *(&raw mut *there as *mut [u8])
        }
    }

    /// Copies those of some elements, `stride` apart, for which `there` has another byte than 0, and writes `fill` in
    /// place of the others. Reads them all. Returns the copy.
    ///
    /// # Panics
    /// If there are not as many places as bytes, or elements have not the size and alignment of an unsigned integer.
    ///
    /// # Safety
    /// - All of the elements may be read.
    pub unsafe fn copy<'t, T: Copy>(
        &self,
        from: *const T,
        stride: isize,
        there: &[u8],
        fill: T,
        to: &'t mut [MaybeUninit<T>],
    ) -> &'t mut [T] {
        assert_eq!(there.len(), to.len());
        let size = [1, 2, 4, 8].iter().position(|&size| size == size_of::<T>());
        let size = size.expect("elements have 1, 2, 4 or 8 bytes");
        assert_eq!(align_of::<T>(), [align_of::<u8>(), align_of::<u16>(), align_of::<u32>(), align_of::<u64>()][size]);
        let (from, fill, places) = (from.cast(), (&raw const fill).cast(), to.as_mut_ptr().cast());
        // SAFETY: the ISA as in `expand`; the caller's promise, and as many places as asserted. Then each is written.
        unsafe {
            (self.copy[size])(MaskedCopy { from, stride, there, fill, to: places });
            &mut *(&raw mut *to as *mut [T])
        }
    }
}

/// # Safety
/// - The machine has the ISA.
unsafe fn expand<S: Simd>(bits: &[u8], shift: u32, there: &mut [MaybeUninit<u8>]) {
    // SAFETY: the caller's promise; the closure requires nothing.
    unsafe {
        S::assume().vectorize(
            #[inline(always)]
            move || {
                let (groups, rest) = there.as_chunks_mut::<8>();
                let (whole, len) = (groups.len(), rest.len());
                let byte = |n: usize| {
                    let next = if shift > 0 { bits.get(n + 1).copied().unwrap_or(0) } else { 0 };
                    (u16::from_le_bytes([bits[n], next]) >> shift) as u8
                };
                for (n, group) in groups.iter_mut().enumerate() {
                    *group = spread(byte(n)).map(MaybeUninit::new);
                }
                if len > 0 {
                    rest.iter_mut().zip(spread(byte(whole))).for_each(|(to, bit)| *to = MaybeUninit::new(bit));
                }
            },
        )
    }
}

/// A byte for each bit, the least significant first: 0 or 1.
#[inline(always)]
fn spread(byte: u8) -> [u8; 8] {
    // Each byte gets all bits, and keeps its own; then any becomes the highest, and that the lowest.
    let own = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    (((own + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101).to_le_bytes()
}

/// # Safety
/// - The machine has the ISA; of elements as wide as `B`, there are as many as `there` has bytes, and as many places.
unsafe fn copy<S: Simd, B: Copy>(MaskedCopy { from, stride, there, fill, to }: MaskedCopy<'_>) {
    let (from, to) = (from.cast::<B>(), to.cast::<B>());
    // SAFETY: the caller's promise: each element and each place is among as many.
    unsafe {
        let fill = fill.cast::<B>().read();
        S::assume().vectorize(
            #[inline(always)]
            move || {
                let each = |stride: isize| {
                    for (n, &is_there) in there.iter().enumerate() {
                        let element = from.offset(n as isize * stride).read();
                        to.add(n).write(if is_there != 0 { element } else { fill });
                    }
                };
                // A stride that is known is a loop over vectors.
                if stride == 1 { each(1) } else { each(stride) }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each ISA, each shift and length.
    #[test]
    fn bits_become_bytes() {
        let bits: Vec<u8> = (0..40_u32).map(|n| (n * n * 37 + 11) as u8).collect();
        for copier in Isa::available().map(|isa| MaskedCopier::of(isa).unwrap()) {
            for (first, len) in (0..20).flat_map(|first| (0..300).map(move |len| (first, len))) {
                let mut there = vec![MaybeUninit::new(7); len];
                let expected: Vec<u8> = (first..first + len).map(|n| bits[n / 8] >> (n % 8) & 1).collect();
                assert_eq!(copier.expand(&bits, first, &mut there), expected, "{first}, {len}");
            }
        }
    }

    #[test]
    #[should_panic]
    fn no_bits_beyond_the_end() {
        MaskedCopier::PORTABLE.expand(&[0xff], 5, &mut [MaybeUninit::uninit(); 4]);
    }

    #[test]
    fn copies_what_is_there() {
        fn check<T: Copy + PartialEq + core::fmt::Debug>(of: impl Fn(usize) -> T) {
            let elements: Vec<T> = (0..600).map(&of).collect();
            for copier in Isa::available().map(|isa| MaskedCopier::of(isa).unwrap()) {
                for (len, stride) in (0..130).flat_map(|len| [0, 1, 2, -1, -4].map(|stride| (len, stride))) {
                    let there: Vec<u8> = (0..len).map(|n| [0, 1, 1, 255, 0, 2][n * n % 31 % 6]).collect();
                    let first = if stride < 0 { 599 } else { 0 };
                    let element = |n: usize| elements[(first as isize + n as isize * stride) as usize];
                    let expected: Vec<T> =
                        (0..len).map(|n| if there[n] != 0 { element(n) } else { of(1000) }).collect();
                    let mut copy = vec![MaybeUninit::new(of(2000)); len];
                    // SAFETY: 130 elements are there, four apart.
                    let copy = unsafe { copier.copy(&raw const elements[first], stride, &there, of(1000), &mut copy) };
                    assert_eq!(copy, expected, "{len}, {stride}");
                }
            }
        }
        check(|n| n as u8);
        check(|n| n as u16);
        check(|n| n as f32);
        check(|n| n as i64);
    }
}
