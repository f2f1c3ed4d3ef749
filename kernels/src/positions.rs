//! Where kernels write what they find. Nothing here knows of calls or orders.

use crate::simd::token::Simd;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A place for the position of each output: integers of 32 or of 64 bits, which need not be initialised.
///
/// The width is known at run time only, so that one kernel serves both: it is asked once for some vectors of positions.
///
/// ```
/// use argreduce_kernels::Positions;
/// let mut indices = [0_u64; 3];
/// let positions = Positions::from(&mut indices[..]);
/// assert_eq!(positions.len(), 3);
/// ```
#[derive(Debug)]
pub struct Positions<'a> {
    first: *mut (),
    len: usize,
    /// Whether each has 64 bits.
    are_wide: bool,
    lifetime: PhantomData<&'a mut [MaybeUninit<u64>]>,
}

/// An integer that positions, or indices, are written as.
pub trait Position: Copy + Into<u64> {
    /// From a number that fits, and so has no more than 32 bits.
    #[doc(hidden)]
    fn of(number: u64) -> Self;
}

/// The places of [`Positions`], by the type of their integers.
pub(crate) enum Places<'a> {
    U32(&'a mut [MaybeUninit<u32>]),
    U64(&'a mut [MaybeUninit<u64>]),
}

/// An expression for places of each type.
macro_rules! for_places {
    ($positions:expr, $places:ident => $body:expr) => {
        match $positions.places() {
            $crate::positions::Places::U32($places) => $body,
            $crate::positions::Places::U64($places) => $body,
        }
    };
}
pub(crate) use for_places;

macro_rules! integers {
    ($($t:ident)+) => {$(
        impl Position for $t {
            #[inline(always)]
            fn of(number: u64) -> $t {
                number as $t
            }
        }
    )+};
}

integers!(u8 u16 u32 u64);

macro_rules! places {
    ($($place:ty),+) => {$(
        impl<'a> From<&'a mut [$place]> for Positions<'a> {
            #[inline(always)]
            fn from(places: &'a mut [$place]) -> Self {
                let (first, len) = (places.as_mut_ptr().cast(), places.len());
                Positions { first, len, are_wide: size_of::<$place>() == size_of::<u64>(), lifetime: PhantomData }
            }
        }
    )+};
}

places!(u32, MaybeUninit<u32>, u64, MaybeUninit<u64>);

impl<'a> Positions<'a> {
    /// How many there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn place(&self, n: usize) -> *mut () {
        self.first.wrapping_byte_add((n * size_of::<u32>()) << u32::from(self.are_wide))
    }

    /// All of them.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Positions<'_> {
        Positions { ..*self }
    }

    /// Those from `start` on, `len` of them.
    #[inline(always)]
    pub(crate) fn part(self, start: usize, len: usize) -> Self {
        assert!(start <= self.len && len <= self.len - start);
        Positions { first: self.place(start), len, ..self }
    }

    /// The first `n` of them; the others stay.
    #[inline(always)]
    pub(crate) fn take(&mut self, n: usize) -> Self {
        let (first, all) = (self.first, self.len);
        assert!(n <= all);
        (self.first, self.len) = (self.place(n), all - n);
        Positions { first, len: n, ..*self }
    }

    /// By their type.
    #[inline(always)]
    pub(crate) fn places(&mut self) -> Places<'_> {
        // SAFETY: they are (a part of) a slice of integers of that size, which is borrowed for as long as `self` lives.
        // No place becomes uninitialised: all that write here write integers.
        unsafe {
            if self.are_wide {
                // Out of the way of the other width, which has less to write, and so less time.
                rarer();
                Places::U64(core::slice::from_raw_parts_mut(self.first.cast(), self.len))
            } else {
                Places::U32(core::slice::from_raw_parts_mut(self.first.cast(), self.len))
            }
        }
    }

    /// Writes the position of output `n`.
    #[inline(always)]
    pub(crate) fn write(&mut self, n: usize, position: u32) {
        self.reborrow().part(n, 1).write_all(&[position]);
    }

    /// The position of output `n`.
    ///
    /// # Safety
    /// - It was written.
    #[inline(always)]
    #[allow(clippy::useless_conversion, reason = "of narrow ones, it is none")]
    pub(crate) unsafe fn read(&mut self, n: usize) -> u64 {
        // SAFETY: the caller's promise.
        for_places!(self, places => unsafe { places[n].assume_init() }.into())
    }

    /// Writes as many of them as there are numbers.
    #[inline(always)]
    pub(crate) fn write_all<C: Copy + Into<u64>>(&mut self, numbers: &[C]) {
        assert_eq!(numbers.len(), self.len);
        for_places!(self, places => write_all(places, numbers.iter().copied()));
    }

    /// As many places of 32 bits in the same memory, from its start on: what is written there [is
    /// widened](Positions::widen) then.
    #[inline(always)]
    pub(crate) fn half_width(&mut self) -> &mut [MaybeUninit<u32>] {
        // SAFETY: as in `places`; wide ones have room for twice as many.
        unsafe { core::slice::from_raw_parts_mut(self.first.cast(), self.len) }
    }

    /// Widens what was written to [half of the width](Positions::half_width), if these places are wider.
    ///
    /// # Safety
    /// - All of those were written.
    #[inline(always)]
    pub(crate) unsafe fn widen<S: Simd>(&mut self, simd: S) {
        if let Places::U64(places) = self.places() {
            // SAFETY: the caller's promise.
            unsafe { widen(simd, places) };
        }
    }
}

/// Widens in place. A call, one for all kernels of an ISA.
///
/// # Safety
/// - The narrow ones were written.
#[inline(always)]
unsafe fn widen<S: Simd>(simd: S, places: &mut [MaybeUninit<u64>]) {
    let (wide, len) = (places.as_mut_ptr().cast::<u64>(), places.len());
    let narrow = wide.cast::<u32>();
    let some = len - len % WIDENED;
    // The last ones first: a wide one begins no earlier than its narrow one, so that what is not read yet stays.
    // SAFETY: the caller promises the narrow ones and lends the wide ones; each part is within them, and read before it
    // is written.
    unsafe {
        simd.call_outlined(
            #[inline(always)]
            move || {
                for n in (some..len).rev() {
                    wide.add(n).write(narrow.add(n).read().into());
                }
                for n in (0..some / WIDENED).rev() {
                    let positions = narrow.cast::<[u32; WIDENED]>().add(n).read();
                    wide.cast::<[u64; WIDENED]>().add(n).write(positions.map(u64::from));
                }
            },
        );
    }
}

/// How many are widened at a time. Not measured.
const WIDENED: usize = 16;

/// A hint: the compiler takes a branch that calls this to be rare.
#[cold]
#[inline]
pub(crate) fn rarer() {}

/// Writes as many as there are places, or numbers. With a length that is known, the compiler has whole vectors.
#[inline(always)]
pub(crate) fn write_all<P: Position>(places: &mut [MaybeUninit<P>], numbers: impl IntoIterator<Item = impl Into<u64>>) {
    for (place, number) in places.iter_mut().zip(numbers) {
        place.write(P::of(number.into()));
    }
}

/// Writes the counts of the lanes of a vector, one to each place.
#[inline(always)]
pub(crate) fn write_counts<P: Position, C: Copy + Into<u64>>(places: &mut [MaybeUninit<P>], counts: &[C]) {
    assert_eq!(places.len(), counts.len());
    if const { size_of::<P>() == size_of::<C>() } {
        // As a whole: by one, the compiler shares what it does for both widths, and narrows counts by many small
        // pieces.
        // SAFETY: as many of the same size, and both are unsigned integers.
        unsafe { places.as_mut_ptr().cast::<C>().copy_from_nonoverlapping(counts.as_ptr(), counts.len()) };
    } else {
        write_all(places, counts.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::portable::Portable;

    fn check<P: Position + Default + PartialEq + core::fmt::Debug + From<u8>>()
    where
        for<'a> Positions<'a>: From<&'a mut [P]>,
    {
        let mut places = [P::default(); 8];
        let mut positions = Positions::from(&mut places[1..]);
        positions.take(2).write_all(&[1_u8, 2]);
        positions.write(1, 4);
        positions.reborrow().part(3, 2).write_all(&[6_u64, 7]);
        positions.write(0, 3);
        assert_eq!(positions.len(), 5);
        assert_eq!(places, [0, 1, 2, 3, 4, 0, 6, 7].map(P::from));
    }

    #[test]
    fn narrow_places_are_widened() {
        for len in 0..70 {
            let mut places = [0_u64; 70];
            let mut positions = Positions::from(&mut places[..len]);
            for (n, place) in positions.half_width().iter_mut().enumerate() {
                place.write(u32::MAX - n as u32);
            }
            // SAFETY: all of them were written just now; this is everywhere.
            unsafe { positions.widen(Portable::<16>::assume()) };
            let expected = |n: usize| if n < len { u64::from(u32::MAX - n as u32) } else { 0 };
            assert_eq!(places, core::array::from_fn(expected), "{len}");
        }
    }

    #[test]
    fn places_are_where_a_slice_has_them() {
        check::<u32>();
        check::<u64>();
    }

    #[test]
    fn no_place_is_beyond_the_slice() {
        fn fails(what: impl FnOnce(Positions<'_>) + std::panic::UnwindSafe) {
            let failed = std::panic::catch_unwind(|| what(Positions::from(&mut [0_u64; 4][..])));
            assert!(failed.is_err());
        }
        fails(|positions| _ = positions.part(2, 3));
        fails(|positions| _ = positions.part(5, 0));
        fails(|positions| _ = positions.part(1, usize::MAX));
        fails(|mut positions| _ = positions.take(5));
        fails(|mut positions| positions.write(4, 0));
        fails(|mut positions| positions.write_all(&[0_u32; 5]));
    }
}
