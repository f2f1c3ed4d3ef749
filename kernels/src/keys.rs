//! Keys: what elements are compared by in place of themselves, how far each is from a value. Copies of elements as
//! their keys, packed. Knows nothing of orders.
//!
//! ```text
//! floats             |x - q|, rounded once to their type; of q = 0, all bits but the sign
//! integers           |x - q|, as unsigned integers of their size
//! bool               whether they differ
//! ```
//!
//! The compiler makes vectors of these loops, which have no branch and no order to keep: so they are inside the region
//! of an ISA, and no operation of its table is needed.

use crate::dispatch::{Isa, with_isa};
use crate::float_mode;
use crate::memory::args::LoopDim;
use crate::memory::walk::StridedIter;
use crate::simd::token::{Simd, SimdOp};
use crate::types::{DataType, Element};
use half::{bf16, f16};

/// An element that has a key: how far it is from another, in as many bits.
trait Keyed: Element {
    /// What keys are.
    type Key: Element;

    fn distance(x: Self::Pod, q: Self::Pod) -> Self::Pod;
}

macro_rules! keyed {
    ($($t:ident to $key:ident: $x:ident, $q:ident => $distance:expr;)+) => {$(
        impl Keyed for $t {
            type Key = $key;

            #[inline(always)]
            fn distance($x: Self::Pod, $q: Self::Pod) -> Self::Pod {
                $distance
            }
        }
    )+};
}

keyed! {
    u8 to u8: x, q => x.abs_diff(q);
    u16 to u16: x, q => x.abs_diff(q);
    u32 to u32: x, q => x.abs_diff(q);
    u64 to u64: x, q => x.abs_diff(q);
    i8 to u8: x, q => x.abs_diff(q) as i8;
    i16 to u16: x, q => x.abs_diff(q) as i16;
    i32 to u32: x, q => x.abs_diff(q) as i32;
    i64 to u64: x, q => x.abs_diff(q) as i64;
    f32 to f32: x, q => (x - q).abs();
    f64 to f64: x, q => (x - q).abs();
    // Of q = 0 there is nothing to compute, and the compiler makes a loop of its own for it.
    f16 to f16: x, q => f16::from_bits(match q.to_bits() << 1 {
        0 => x.to_bits() & MAGNITUDE,
        _ => round_f16(widen_f16(x.to_bits()) - widen_f16(q.to_bits())),
    });
    bf16 to bf16: x, q => bf16::from_bits(match q.to_bits() << 1 {
        0 => x.to_bits() & MAGNITUDE,
        _ => round_bf16(widen_bf16(x.to_bits()) - widen_bf16(q.to_bits())),
    });
    // Any byte but 0 is true.
    bool to bool: x, q => u8::from((x != 0) != (q != 0));
}

/// All bits of a 16-bit float but the sign.
const MAGNITUDE: u16 = 0x7fff;

/// Of a float of 16 bits as its bits, the same number. (Without branches: those of the crate `half` have some.)
#[inline(always)]
fn widen_f16(bits: u16) -> f32 {
    let (magnitude, sign) = (u32::from(bits & 0x7fff), u32::from(bits & 0x8000) << 16);
    // By how much the exponents differ; twice as much for infinity and NaN, whose exponent is the last one.
    let bias = if magnitude >= 0x7c00 { 224 << 23 } else { 112 << 23 };
    let shifted = (magnitude << 13) + bias;
    // A subnormal has no bit before its first one.
    let subnormal = f32::from_bits((magnitude << 13) + (113 << 23)) - f32::from_bits(113 << 23);
    let magnitude = if magnitude < 0x400 { subnormal.to_bits() } else { shifted };
    f32::from_bits(magnitude | sign)
}

#[inline(always)]
fn widen_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds the magnitude of a difference of such floats to the nearest one, of two the even one. Of those in 32 bits,
/// and rounded to these before: both roundings give what one would, because the mantissa has more than twice the bits.
#[inline(always)]
fn round_f16(difference: f32) -> u16 {
    let magnitude = difference.to_bits() & 0x7fff_ffff;
    let rounded = (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13;
    let normal = rounded.wrapping_sub(112 << 10).min(0x7c00);
    // A difference is a multiple of the smallest subnormal, and that is the last bit of what is between 1/2 and 1.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let number = if magnitude < 113 << 23 { subnormal } else { normal };
    let number = if magnitude > 0x7f80_0000 { 0x7e00 } else { number };
    number as u16
}

#[inline(always)]
fn round_bf16(difference: f32) -> u16 {
    let magnitude = difference.to_bits() & 0x7fff_ffff;
    let rounded = (magnitude + 0x7fff + (magnitude >> 16 & 1)) >> 16;
    let number = if magnitude > 0x7f80_0000 { 0x7fc0 } else { rounded };
    number as u16
}

/// Copies elements of a type as their keys, by the vectors of an ISA.
///
/// ```
/// use argreduce_kernels::{DataType, Isa, KeyCopier, LoopDim};
/// use core::mem::MaybeUninit;
/// let (elements, mut keys) = ([1_i32, -1, 2, i32::MIN, 9], [MaybeUninit::<u32>::uninit(); 3]);
/// let copier = KeyCopier::new(Isa::Portable, DataType::I32, None).unwrap();
/// assert_eq!(copier.key_type(), DataType::U32);
/// // SAFETY: there are as many elements, two apart, and places.
/// unsafe { copier.copy(elements.as_ptr().cast(), &[], LoopDim { size: 3, stride: 2 }, keys.as_mut_ptr().cast()) };
/// // SAFETY: all are written.
/// assert_eq!(keys.map(|key| unsafe { key.assume_init() }), [1, 2, 9]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KeyCopier {
    copy: Enter,
    q: u64,
    key_type: DataType,
}

type Enter = unsafe fn(copy: KeyCopy<'_>);

/// What is copied, from addresses along loops to neighbours.
#[derive(Clone, Copy)]
struct KeyCopy<'a> {
    from: *const (),
    slower: &'a [LoopDim],
    run: LoopDim,
    to: *mut (),
    /// The bits of what the distance is to.
    q: u64,
}

impl KeyCopier {
    /// For elements of a type: their distance to one of which these are the bits, or their magnitude. `None` where that
    /// is the element itself, and where this build has no kernels for it.
    ///
    /// # Panics
    /// If the machine does not have the ISA.
    pub fn new(isa: Isa, element: DataType, q: Option<u64>) -> Option<KeyCopier> {
        assert!(isa.is_available());
        with_element_type!(element, T => {
            let key_type = <T as Keyed>::Key::DATA_TYPE;
            // Nothing is below 0.
            let is_element = q.is_none() && T::ANY_NAN.is_none() && key_type == element;
            if const { !T::DATA_TYPE.has_kernels() } || is_element {
                return None;
            }
            let copy = with_isa!(isa, S => {
                let copy: Enter = enter::<S, T>;
                copy
            });
            Some(KeyCopier { copy: copy.expect("it is available"), q: q.unwrap_or(0), key_type })
        })
    }

    /// The bits of the element that the distance is to: of a magnitude, those of 0.
    pub fn bits(&self) -> u64 {
        self.q
    }

    /// What keys are: of signed integers, the unsigned ones; of all others, the same.
    pub fn key_type(&self) -> DataType {
        self.key_type
    }

    /// Writes the keys of the elements along some loops, the `run` the fastest, side by side.
    ///
    /// # Safety
    /// - All of the elements may be read, and are of the type.
    /// - As many places may be written. They are apart from the elements, or the same if those are side by side.
    pub unsafe fn copy(&self, from: *const (), slower: &[LoopDim], run: LoopDim, to: *mut ()) {
        // SAFETY: the ISA is there, and the caller promises elements and places.
        unsafe { (self.copy)(KeyCopy { from, slower, run, to, q: self.q }) }
    }
}

/// # Safety
/// - The machine has the ISA.
/// - As for [`KeyCopier::copy`].
unsafe fn enter<S: Simd, T: Keyed>(copy: KeyCopy<'_>) {
    if const { T::ANY_NAN.is_some() } && !float_mode::is_default() {
        // SAFETY: the caller's promise.
        return float_mode::in_default(&mut || unsafe { enter_in_default::<S, T>(copy) });
    }
    // SAFETY: the caller's promise.
    unsafe { enter_in_default::<S, T>(copy) }
}

/// # Safety
/// - As for [`enter`].
#[inline(never)]
unsafe fn enter_in_default<S: Simd, T: Keyed>(copy: KeyCopy<'_>) {
    let q = with_bits!(size_of::<T>(), B => {
        let bits = copy.q as B;
        // SAFETY: the bits of an element, which has that size.
        unsafe { (&raw const bits).cast::<T::Pod>().read_unaligned() }
    });
    // SAFETY: the caller's promise.
    unsafe { S::assume().vectorize(KeyTile::<T> { copy, q }) };
}

/// To run it is safe if the elements may be read, and the places written.
struct KeyTile<'a, T: Keyed> {
    copy: KeyCopy<'a>,
    q: T::Pod,
}

/// Runs of fewer bytes are copied as they are first, and become keys together: of fewer, a loop by vectors has no step.
/// Not measured.
const MIN_RUN_BYTES: usize = 128;

impl<T: Keyed> SimdOp for KeyTile<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn eval(self) {
        let KeyTile { copy: KeyCopy { from, slower, run: LoopDim { size, stride }, to, .. }, q } = self;
        let (from, to) = (from.cast::<T::Pod>(), to.cast::<T::Pod>());
        let is_in_place = core::ptr::eq(from, to);
        let is_long = size * size_of::<T>() >= MIN_RUN_BYTES || slower.is_empty();
        let is_direct = stride == 1 && is_long && !is_in_place;
        // The fastest of the loops is a plain one, which takes less time for each step.
        let (slower, runs) = slower.split_last().map_or((slower, LoopDim::ONE), |(last, slower)| (slower, *last));
        let mut written = 0;
        // SAFETY: the caller promises all that the loops reach, and as many places.
        unsafe {
            for offset in StridedIter::new(slower) {
                let mut run = 0;
                while run < runs.size {
                    let (from, to) = (from.offset(offset + run as isize * runs.stride), to.add(written));
                    let mut n = 0;
                    if is_direct {
                        while n < size {
                            to.add(n).write(T::distance(from.add(n).read(), q));
                            n += 1;
                        }
                    } else if !is_in_place {
                        while n < size {
                            to.add(n).write(from.offset(n as isize * stride).read());
                            n += 1;
                        }
                    }
                    (run, written) = (run + 1, written + size);
                }
            }
            let mut n = if is_direct { written } else { 0 };
            while n < written {
                to.add(n).write(T::distance(to.add(n).read(), q));
                n += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::MaybeUninit;

    /// The keys of some elements, by an ISA: side by side, in place, and some apart.
    #[allow(clippy::useless_conversion, reason = "of one of the widths")]
    fn check<T: Keyed, K: Element>(q: Option<T>, elements: &[T], key: impl Fn(T) -> K) {
        let bits = |x: T| {
            with_bits!(size_of::<T>(), B => {
                // SAFETY: any bits are an integer.
                u64::from(unsafe { (&raw const x).cast::<B>().read_unaligned() })
            })
        };
        // SAFETY: any bits are an integer.
        let bits_of = |x: K| with_bits!(size_of::<K>(), B => u64::from(unsafe { (&raw const x).cast::<B>().read() }));
        for isa in Isa::available() {
            let copier = KeyCopier::new(isa, T::DATA_TYPE, q.map(bits)).unwrap();
            assert_eq!(copier.key_type(), K::DATA_TYPE);
            for (len, stride) in (0..150).chain([elements.len()]).flat_map(|len| [1, 2, -1, 0].map(|s| (len, s))) {
                let len = if stride == 2 { len / 2 } else { len };
                let first = if stride < 0 { elements.len() - 1 } else { 0 };
                let place = |n: usize| (first as isize + n as isize * stride) as usize;
                let expected: Vec<K> = (0..len).map(|n| key(elements[place(n)])).collect();
                let (mut keys, run) = (vec![MaybeUninit::<K>::uninit(); len], LoopDim { size: len, stride });
                let is_right = |keys: &[MaybeUninit<K>]| {
                    // SAFETY: they have been written.
                    let keys: Vec<K> = keys.iter().map(|key| unsafe { key.assume_init() }).collect();
                    let are_right =
                        keys.iter().zip(&expected).all(|(&a, &b)| bits_of(a) == bits_of(b) || a.is_nan() && b.is_nan());
                    assert!(are_right, "{isa} {len} {stride}: {keys:?} {expected:?}");
                };
                let from = &raw const elements[first];
                // SAFETY: as many elements are there, and places.
                unsafe { copier.copy(from.cast(), &[], run, keys.as_mut_ptr().cast()) };
                is_right(&keys);
                if stride == 1 {
                    let mut elements = elements[..len].to_vec();
                    let to = elements.as_mut_ptr().cast::<()>();
                    // SAFETY: in place.
                    unsafe { copier.copy(to, &[], run, to) };
                    // SAFETY: keys have the size of elements.
                    is_right(unsafe { core::slice::from_raw_parts(to.cast(), len) });
                }
                // As two runs.
                if stride.abs() == 1 && len % 2 == 0 {
                    let slower = LoopDim { size: 2, stride: stride * (len / 2) as isize };
                    let run = LoopDim { size: len / 2, stride };
                    keys.fill(MaybeUninit::uninit());
                    // SAFETY: as above.
                    unsafe { copier.copy(from.cast(), &[slower], run, keys.as_mut_ptr().cast()) };
                    is_right(&keys);
                }
            }
        }
    }

    #[test]
    fn keys_of_integers() {
        macro_rules! each {
            ($($t:ident $key:ident)+) => {$(
                let ends = [$t::MIN, $t::MIN + 1, $t::MAX, $t::MAX - 1, 0, 1, $t::MAX / 2];
                let elements: Vec<$t> = (0..300).map(|n| ends[n % 7].wrapping_add((n / 11) as $t)).collect();
                for q in ends.into_iter().chain([77]) {
                    check(Some(q), &elements, |x| (i128::from(x) - i128::from(q)).unsigned_abs() as $key);
                }
                if stringify!($t) != stringify!($key) {
                    check(None, &elements, |x| i128::from(x).unsigned_abs() as $key);
                } else {
                    assert!(KeyCopier::new(Isa::Portable, $t::DATA_TYPE, None).is_none());
                }
            )+};
        }
        each!(i8 u8 i16 u16 i32 u32 i64 u64 u8 u8 u16 u16 u32 u32 u64 u64);
        let truths: Vec<bool> = (0..300).map(|n| n % 3 == 0).collect();
        check(Some(true), &truths, |x| !x);
        check(Some(false), &truths, |x| x);
    }

    /// Of all 16-bit floats, the distance to some; and that to 0 with no operation of floats.
    #[test]
    fn keys_of_small_floats() {
        macro_rules! each {
            ($($t:ident)+) => {$(
                let all: Vec<$t> = (0..=u16::MAX).map($t::from_bits).collect();
                check(None, &all, |x| $t::from_bits(x.to_bits() & 0x7fff));
                let ends = [$t::MAX, $t::MIN, $t::INFINITY, $t::MIN_POSITIVE, $t::MIN_POSITIVE_SUBNORMAL, $t::ZERO];
                for q in ends.into_iter().chain([0x0123, 0x3555, 0xbfff, 0x7001, 0x83ff].map($t::from_bits)) {
                    check(Some(q), &all, |x| $t::from_f32((x.to_f32() - q.to_f32()).abs()));
                }
            )+};
        }
        each!(f16 bf16);
    }

    #[test]
    fn keys_of_floats() {
        macro_rules! each {
            ($($t:ident)+) => {$(
                let ends = [$t::MAX, $t::INFINITY, $t::MIN_POSITIVE, $t::from_bits(1), -0.0, 1.5, $t::NAN, -1e-30];
                let elements: Vec<$t> = (0..300).map(|n| ends[n % 8] * (n as $t / 3.0 - 50.0)).collect();
                check(None, &elements, |x| x.abs());
                for q in [$t::MIN, $t::INFINITY, $t::MIN_POSITIVE * 1.5, 0.0, 7.25] {
                    check(Some(q), &elements, |x| (x - q).abs());
                }
            )+};
        }
        each!(f32 f64);
    }
}
