//! Elements under a mask: copies in which something else is in place of those that are not there. Knows nothing of
//! orders, and not what never wins.
//!
//! ```text
//! for each group of elements, as many as a word has bits, or a vector bytes:
//!     their bits, or a mask of bytes
//!     for each vector of the group: copy = select(its part of those, vector, fill)
//! ```

use crate::dispatch::{Everywhere, Isa, with_isa};
use crate::simd::ops::{ByteMaskOps, EQ, SimdOps};
use crate::simd::token::SimdOp;
use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

/// Which of some neighbours are there.
#[derive(Clone, Copy, Debug)]
pub enum Presence<'a> {
    /// From this bit on, the least significant of each byte first: those whose bit is set.
    Bits(&'a [u8], usize),
    /// Those whose byte is not 0.
    Bytes(&'a [u8]),
}

impl Presence<'_> {
    /// Whether element `n` is there.
    ///
    /// # Panics
    /// If there is no such bit or byte.
    #[inline(always)]
    pub fn at(self, n: usize) -> bool {
        match self {
            Presence::Bits(bits, first) => bits[(first + n) / 8] >> ((first + n) % 8) & 1 != 0,
            Presence::Bytes(bytes) => bytes[n] != 0,
        }
    }

    /// Of the first eight, a byte each, the least significant of the first: 1 for those that are there, or 0.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn first_eight(self) -> u64 {
        let bytes = match self {
            Presence::Bits(bits, first) => ((bits_from(bits, first, 8) & 0xff) * EACH_BYTE) & 0x8040_2010_0804_0201,
            Presence::Bytes(bytes) => {
                bytes.first_chunk().map_or_else(|| panic!("fewer than eight"), |&eight| u64::from_le_bytes(eight))
            }
        };
        ones_where_set(bytes)
    }

    /// For how many neighbours there is an answer.
    fn count(self) -> usize {
        match self {
            Presence::Bits(bits, first) => bits.len().saturating_mul(8).saturating_sub(first),
            Presence::Bytes(bytes) => bytes.len(),
        }
    }
}

/// Copies elements under a mask by the vectors of an ISA.
///
/// ```
/// use argreduce_kernels::{MaskedCopier, Presence};
/// use core::mem::MaybeUninit;
/// let (elements, mut copy) = ([1.5_f32, 0.0, 2.5, 0.0, 3.5], [MaybeUninit::uninit(); 3]);
/// let presence = Presence::Bits(&[0b1000_0000, 0b0000_0001], 6);
/// // SAFETY: there are as many elements, two apart.
/// let copy = unsafe { MaskedCopier::PORTABLE.copy(elements.as_ptr(), 2, presence, -1.0, &mut copy) };
/// assert_eq!(copy, [-1.0, 2.5, 3.5]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MaskedCopier {
    /// Of elements of 1, 2, 4 and 8 bytes.
    copy: [unsafe fn(copy: MaskedCopy<'_>); 4],
    pack: unsafe fn(presence: Presence<'_>, len: usize, words: &mut [u64]),
}

/// What is copied: so many elements, from addresses `stride` elements apart to neighbours. There is an answer for each.
#[derive(Clone, Copy)]
struct MaskedCopy<'a> {
    from: *const (),
    stride: isize,
    presence: Presence<'a>,
    /// An element.
    fill: *const (),
    to: *mut (),
    len: usize,
}

/// The copier of an ISA.
const fn copier<S>() -> &'static MaskedCopier
where
    S: ByteMaskOps<u8> + ByteMaskOps<i16> + ByteMaskOps<i32> + ByteMaskOps<i64>,
{
    const { &MaskedCopier { copy: [copy::<S, u8>, copy::<S, i16>, copy::<S, i32>, copy::<S, i64>], pack: pack::<S> } }
}

impl MaskedCopier {
    /// The one that every machine can run.
    pub const PORTABLE: &'static MaskedCopier = copier::<Everywhere>();

    /// That of an ISA, or `None` where this machine or this build does not have it.
    pub fn of(isa: Isa) -> Option<&'static MaskedCopier> {
        if isa.is_available() { with_isa!(isa, S => copier::<S>()) } else { None }
    }

    /// Writes a bit for each of so many neighbours, the least significant of each word first: set for those that are
    /// there. Bits beyond the last one are not.
    ///
    /// # Panics
    /// If there are more words than they take, or fewer; or no answer for each.
    pub fn pack(&self, presence: Presence<'_>, len: usize, words: &mut [u64]) {
        assert_eq!(words.len(), len.div_ceil(64));
        assert!(len <= presence.count());
        // SAFETY: the ISA is there, as in `copy`.
        unsafe { (self.pack)(presence, len, words) };
    }

    /// Copies those of some elements, `stride` apart, that are there, and writes `fill` in place of the others. Reads
    /// them all. Returns the copy.
    ///
    /// # Panics
    /// If there is no answer for each, or elements have not the size and alignment of an unsigned integer.
    ///
    /// # Safety
    /// - All of the elements may be read.
    pub unsafe fn copy<'t, T: Copy>(
        &self,
        from: *const T,
        stride: isize,
        presence: Presence<'_>,
        fill: T,
        to: &'t mut [MaybeUninit<T>],
    ) -> &'t mut [T] {
        let (from, places, len) = (from.cast(), to.as_mut_ptr().cast(), to.len());
        // SAFETY: the caller promises the elements. Then each place is written.
        unsafe {
            self.copy_run(from, stride, presence, fill, (places, len));
            &mut *(&raw mut *to as *mut [T])
        }
    }

    /// Writes `fill` in place of those of some elements that are not there.
    ///
    /// # Panics
    /// As [`MaskedCopier::copy`].
    pub fn fill<T: Copy>(&self, presence: Presence<'_>, fill: T, elements: &mut [T]) {
        let (places, len) = (elements.as_mut_ptr(), elements.len());
        // SAFETY: what is read and written are the elements, and a group is read before it is written: twice is the
        // same.
        unsafe { self.copy_run(places.cast_const(), 1, presence, fill, (places, len)) };
    }

    /// # Safety
    /// - All of the elements may be read, and as many places written.
    unsafe fn copy_run<T: Copy>(
        &self,
        from: *const T,
        stride: isize,
        presence: Presence<'_>,
        fill: T,
        (to, len): (*mut T, usize),
    ) {
        assert!(len <= presence.count());
        let size = [1, 2, 4, 8].iter().position(|&size| size == size_of::<T>());
        let size = size.expect("elements have 1, 2, 4 or 8 bytes");
        assert_eq!(align_of::<T>(), [align_of::<u8>(), align_of::<u16>(), align_of::<u32>(), align_of::<u64>()][size]);
        let copy =
            MaskedCopy { from: from.cast(), stride, presence, fill: (&raw const fill).cast(), to: to.cast(), len };
        // SAFETY: the ISA is there: `of` gives no copier without, and nothing else but `PORTABLE` does. The caller
        // promises elements and places, and the answers are as asserted.
        unsafe { (self.copy[size])(copy) };
    }
}

/// # Safety
/// - The machine has the ISA.
/// - As for [`CopyRun`].
unsafe fn copy<S: ByteMaskOps<B>, B: Copy>(MaskedCopy { from, stride, presence, fill, to, len }: MaskedCopy<'_>) {
    // SAFETY: the caller's promise.
    unsafe {
        let (simd, fill) = (S::assume(), fill.cast::<B>().read());
        simd.vectorize(CopyRun { simd, from: from.cast::<B>(), stride, presence, fill, to: to.cast::<B>(), len });
    }
}

/// # Safety
/// - The machine has the ISA.
unsafe fn pack<S: SimdOps<u8>>(presence: Presence<'_>, len: usize, words: &mut [u64]) {
    // SAFETY: the caller's promise.
    unsafe {
        let simd = S::assume();
        simd.vectorize(PackRun { simd, presence, len, words });
    }
}

/// To run it is safe.
struct PackRun<'a, S> {
    simd: S,
    presence: Presence<'a>,
    len: usize,
    words: &'a mut [u64],
}

impl<S: SimdOps<u8>> SimdOp for PackRun<'_, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let PackRun { simd, presence, len, words } = self;
        let whole = len / 64;
        for (n, word) in words[..whole].iter_mut().enumerate() {
            *word = match presence {
                Presence::Bits(bits, first) => bits_from(bits, first + 64 * n, 64),
                Presence::Bytes(bytes) => pack_group(simd, &bytes.as_chunks().0[n]),
            };
        }
        let (Some(last), rest) = (words.get_mut(whole), len % 64) else { return };
        *last = match presence {
            // Those of a whole word that ends with them.
            Presence::Bits(bits, first) if whole > 0 => bits_from(bits, first + len - 64, 64) >> (64 - rest),
            Presence::Bytes(bytes) if whole > 0 => {
                bytes[..len].last_chunk().map_or(0, |group| pack_group(simd, group)) >> (64 - rest)
            }
            _ => (len - rest..len).rev().fold(0, |word, n| word << 1 | u64::from(presence.at(n))),
        };
    }
}

/// A bit for each byte that is not 0: by vectors, where their masks are bits.
#[inline(always)]
fn pack_group<S: SimdOps<u8>>(simd: S, group: &[u8; 64]) -> u64 {
    if const { S::BITS_PER_LANE != 1 } {
        return group.as_chunks().0.iter().rev().fold(0, |word, &eight| word << 8 | pack_eight(eight));
    }
    let (mut zeros, mut n) = (0, 0);
    while n < 64 {
        // SAFETY: the group is some vectors.
        let bytes = unsafe { simd.load(group[n..][..S::LANES].as_ptr()) };
        zeros |= simd.movemask(simd.compare::<EQ>(bytes, simd.splat(0))) << n;
        n += S::LANES;
    }
    !zeros
}

const TOP_BITS: u64 = u64::from_le_bytes([0x80; 8]);
/// 1 in each byte.
const EACH_BYTE: u64 = u64::from_le_bytes([1; 8]);

/// Of eight bytes, 1 for each that is not 0: what that is shows in its top bit.
#[inline(always)]
fn ones_where_set(bytes: u64) -> u64 {
    ((((bytes & !TOP_BITS) + !TOP_BITS) | bytes) >> 7) & EACH_BYTE
}

/// A bit for each of eight bytes that is not 0, side by side.
#[inline(always)]
fn pack_eight(bytes: [u8; 8]) -> u64 {
    ones_where_set(u64::from_le_bytes(bytes)).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// To run it is safe if the elements may be read, there is an answer for each, and the places may be written.
struct CopyRun<'a, S, B> {
    simd: S,
    from: *const B,
    stride: isize,
    presence: Presence<'a>,
    fill: B,
    to: *mut B,
    len: usize,
}

impl<S: ByteMaskOps<B>, B: Copy> SimdOp for CopyRun<'_, S, B> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let CopyRun { simd, from, stride, presence, fill, to, len } = self;
        let (bytes, most) = const { (<S as SimdOps<u8>>::LANES, most_bits(<S as SimdOps<B>>::LANES)) };
        let splat = SimdOps::<B>::splat(simd, fill);
        // SAFETY: the caller promises elements and places; each group is within them.
        unsafe {
            match presence {
                Presence::Bits(bits, first) if stride == 1 && len >= bytes => {
                    let copy_bits = |group, n| {
                        let bits = bits_from(bits, first + n, group);
                        let select = |v, elements| simd.select_by_bits(bits, v, elements, splat);
                        copy_group(simd, group, from.add(n), select, to.add(n));
                    };
                    if len >= most {
                        for_each_group(most, len, |n| copy_bits(most, n));
                    } else {
                        for_each_group(bytes, len, |n| copy_bits(bytes, n));
                    }
                }
                Presence::Bytes(of_all) if stride == 1 && len >= bytes => for_each_group(bytes, len, |n| {
                    // SAFETY: as many bytes as a vector has.
                    let of_group = SimdOps::<u8>::load(simd, of_all[n..][..bytes].as_ptr());
                    let zeros = SimdOps::<u8>::compare::<EQ>(simd, of_group, SimdOps::<u8>::splat(simd, 0));
                    let select = |v, elements| SimdOps::<B>::select(simd, simd.widen(&zeros, v), splat, elements);
                    copy_group(simd, bytes, from.add(n), select, to.add(n));
                }),
                _ => {
                    for n in 0..len {
                        let element = from.offset(n as isize * stride).read();
                        to.add(n).write(select_unpredictable(presence.at(n), element, fill));
                    }
                }
            }
        }
    }
}

/// How many bits are taken at a time, if there are as many: a word, but not more than for 8 vectors of so many lanes,
/// whose masks registers hold.
const fn most_bits(lanes: usize) -> usize {
    if lanes < 8 { 8 * lanes } else { 64 }
}

/// Calls a function for each group of so many elements, with the number of its first. The last group overlaps the one
/// before: it is copied twice, and the same. There is at least one.
#[inline(always)]
fn for_each_group(group: usize, len: usize, mut copy: impl FnMut(usize)) {
    let mut n = 0;
    while n < len {
        n = n.min(len - group);
        copy(n);
        n += group;
    }
}

/// Copies so many elements, a multiple of those of a vector: what is selected for each vector and its number.
///
/// # Safety
/// - As many may be read, and as many places written.
#[inline(always)]
unsafe fn copy_group<S: SimdOps<B>, B: Copy>(
    simd: S,
    len: usize,
    from: *const B,
    select: impl Fn(usize, S::Vector) -> S::Vector,
    to: *mut B,
) {
    let mut n = 0;
    while n < len / S::LANES {
        // SAFETY: so many vectors are a group, which the caller promises.
        unsafe {
            let elements = simd.load(from.add(n * S::LANES));
            to.add(n * S::LANES).cast::<S::Vector>().write_unaligned(select(n, elements));
        }
        n += 1;
    }
}

/// `count` bits from number `first` on, the lowest first: a multiple of 8, and at most 64.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
fn bits_from(bits: &[u8], first: usize, count: usize) -> u64 {
    let (byte, shift) = (first / 8, first % 8);
    let bytes = &bits[byte..][..count / 8];
    let mut word = [0; 8];
    // Lengths that are known are one load.
    match count {
        64 => word.copy_from_slice(bytes),
        32 => word[..4].copy_from_slice(bytes),
        16 => word[..2].copy_from_slice(bytes),
        _ => word[..count / 8].copy_from_slice(bytes),
    }
    let word = u64::from_le_bytes(word);
    if shift == 0 {
        return word;
    }
    let next = u64::from(bits[byte + count / 8]);
    (word >> shift) | (next << (count - shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic]
    fn no_bits_beyond_the_end() {
        let (elements, to) = ([0_u8; 4], &mut [MaybeUninit::uninit(); 4]);
        // SAFETY: as many elements are there.
        unsafe { MaskedCopier::PORTABLE.copy(elements.as_ptr(), 1, Presence::Bits(&[0xff], 5), 0, to) };
    }

    #[test]
    fn packs_bits_and_bytes() {
        let bytes: Vec<u8> = (0..600).map(|n| [0, 1, 0x80, 255, 0, 2, 0, 0x7f][n * n % 31 % 8]).collect();
        let check = |presence: Presence<'_>, len: usize| {
            for copier in Isa::available().map(|isa| MaskedCopier::of(isa).unwrap()) {
                let mut words = vec![u64::MAX; len.div_ceil(64)];
                copier.pack(presence, len, &mut words);
                let bit = |n: usize| words[n / 64] >> (n % 64) & 1 != 0;
                assert!((0..64 * words.len()).all(|n| bit(n) == (n < len && presence.at(n))), "{presence:?}, {len}");
            }
        };
        for len in 0..300 {
            check(Presence::Bytes(&bytes[len..2 * len]), len);
            for first in [0, 1, 7, 12] {
                check(Presence::Bits(&bytes[..(first + len).div_ceil(8)], first), len);
            }
        }
    }

    #[test]
    fn copies_what_is_there() {
        fn check<T: Copy + PartialEq + core::fmt::Debug>(of: impl Fn(usize) -> T) {
            let elements: Vec<T> = (0..600).map(&of).collect();
            for copier in Isa::available().map(|isa| MaskedCopier::of(isa).unwrap()) {
                for (len, stride) in (0..200).flat_map(|len| [0, 1, 2, -1, -3].map(|stride| (len, stride))) {
                    let there: Vec<u8> = (0..len).map(|n| [0, 1, 1, 255, 0, 2][n * n % 31 % 6]).collect();
                    let first = if stride < 0 { 599 } else { 0 };
                    let element = |n: usize| elements[(first as isize + n as isize * stride) as usize];
                    let expected: Vec<T> =
                        (0..len).map(|n| if there[n] != 0 { element(n) } else { of(1000) }).collect();
                    let check = |presence: Presence<'_>| {
                        let mut copy = vec![MaybeUninit::new(of(2000)); len];
                        let first = &raw const elements[first];
                        // SAFETY: 200 elements are there, three apart.
                        let copy = unsafe { copier.copy(first, stride, presence, of(1000), &mut copy) };
                        assert_eq!(copy, expected, "{len}, {stride}, {presence:?}");
                        let mut in_place: Vec<T> = (0..len).map(element).collect();
                        copier.fill(presence, of(1000), &mut in_place);
                        assert_eq!(in_place, expected, "{len}, {stride}, {presence:?}");
                    };
                    check(Presence::Bytes(&there));
                    for shift in [0, 1, 7, 12] {
                        let mut bits = vec![0xa5_u8; (len + shift).div_ceil(8)];
                        for (n, &is_there) in there.iter().enumerate() {
                            let (byte, bit) = ((n + shift) / 8, 1 << ((n + shift) % 8));
                            bits[byte] = bits[byte] & !bit | if is_there != 0 { bit } else { 0 };
                        }
                        check(Presence::Bits(&bits, shift));
                    }
                }
            }
        }
        check(|n| n as u8);
        check(|n| n as u16);
        check(|n| n as f32);
        check(|n| n as i64);
    }
}
