//! Segments of one slice: what callers say, checked. Nothing here knows of reductions.

use crate::Error;

/// Where the segments of a slice begin and end: segment `n` is from offset `n` up to the next, so that `n` segments
/// take `n + 1` offsets. What lists of Arrow, awkward arrays and compressed sparse rows are.
///
/// It stands where a [layout](crate::Layout) does, in [`ArgReduce::argmax`](crate::ArgReduce::argmax) and its sisters,
/// for [`ArgReduce::plan_segments`](crate::ArgReduce::plan_segments). Offsets are borrowed, and any of
/// [`u32`, `i32`, `i64`, `u64` and `usize`](Offset). Elements before the first of them, and after the last, belong to
/// no segment.
///
/// ```
/// use argreduce::{ArgReduce, Segments};
/// // The words of three sentences; the second has none.
/// let (scores, offsets) = ([0.5, 0.75, 0.75, 0.25, 1.0], [0, 3, 3, 5]);
/// let plan = ArgReduce::argmax(&Segments::new(&offsets)?).fill(-1).plan_segments::<f32, i64>()?;
/// assert_eq!(plan.collect::<Vec<i64>>(&scores)?, [1, -1, 1]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a> {
    pub(crate) offsets: Offsets<'a>,
    /// The first offset and the last.
    pub(crate) ends: [usize; 2],
    /// How many elements the longest segment has.
    pub(crate) longest: usize,
}

impl<'a> Segments<'a> {
    /// Looks at each offset once.
    ///
    /// # Errors
    /// [`Error::TooShort`] if there is none, and [`Error::OffsetOutOfRange`] for the first that is less than the one
    /// before it, or negative, or too large.
    ///
    /// ```
    /// use argreduce::Segments;
    /// let error = Segments::new(&[0, 3, 2, 5]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "offset 2 at position 2, where segment 1 ends, is out of range: 3 to 9223372036854775807 are allowed"
    /// );
    /// ```
    pub fn new<O: Offset>(offsets: &'a [O]) -> Result<Segments<'a>, Error> {
        O::offsets(offsets).segments(isize::MAX as usize)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Offsets that are read at once. Not measured.
pub(crate) const BLOCK: usize = 512;

impl<'a> Offsets<'a> {
    /// Checked: up to `most`.
    pub(crate) fn segments(self, most: usize) -> Result<Segments<'a>, Error> {
        let (mut bounds, mut end, mut longest) = ([0; BLOCK + 1], 0, 0);
        if self.len() == 0 {
            return Err(Error::TooShort { slice: "offsets", element_type: "integers", required: 1, len: 0 });
        }
        for start in (0..self.len()).step_by(BLOCK) {
            let bounds = &mut bounds[..(BLOCK + 1).min(self.len() - start)];
            longest = longest.max(self.read(start, bounds, [end, most], most)?);
            end = bounds[bounds.len() - 1];
        }
        self.read(0, &mut bounds[..1], [0, most], most)?;
        Ok(Segments { offsets: self, ends: [bounds[0], end], longest })
    }

    /// Copies some, each of which is read once: what a caller says of foreign memory may not hold. They ascend between
    /// two ends, in steps of at most `longest`, or else it is an error. The longest step.
    #[inline(always)]
    pub(crate) fn read(
        &self,
        first: usize,
        to: &mut [usize],
        [mut min, most]: [usize; 2],
        longest: usize,
    ) -> Result<usize, Error> {
        self.copy(first, to);
        let (mut at, mut all, mut step) = (to[0], 0, 0);
        for &offset in &*to {
            (step, all, at) = (step.max(offset.wrapping_sub(at)), all | offset, offset);
        }
        if to[0] >= min && at <= most && step <= longest && all <= isize::MAX as usize {
            return Ok(step);
        }
        let mut max = most;
        for (n, &offset) in to.iter().enumerate() {
            if !(min..=max).contains(&offset) {
                return Err(Error::OffsetOutOfRange { position: first + n, offset: offset as isize, min, max });
            }
            (min, max) = (offset, most.min(offset.saturating_add(longest)));
        }
        unreachable!("one of them is wrong")
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type of offsets: `u32`, `i32`, `u64`, `i64` or `usize`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type for offsets",
    note = "offsets are `u32`, `i32`, `u64`, `i64` or `usize`"
)]
pub trait Offset: sealed::Sealed + Copy {
    /// Of a type that is a value.
    #[doc(hidden)]
    fn offsets(offsets: &[Self]) -> Offsets<'_>;
}

macro_rules! offsets {
    ($($t:ident as $signed:ident $name:ident)+) => {
        /// Offsets of a type that is a value, and that callers cannot name.
        #[derive(Clone, Copy, Debug)]
        #[doc(hidden)]
        pub enum Offsets<'a> {
            $($name(&'a [$t]),)+
        }

        impl Offsets<'_> {
            pub(crate) fn len(&self) -> usize {
                match self {
                    $(Offsets::$name(offsets) => offsets.len(),)+
                }
            }

            /// Copies some: what no `isize` holds is larger than any that does.
            #[allow(unsafe_code)]
            #[inline(always)]
            fn copy(&self, first: usize, to: &mut [usize]) {
                match self {
                    $(Offsets::$name(offsets) => for (to, offset) in to.iter_mut().zip(&offsets[first..]) {
                        // SAFETY: a reference can be read.
                        let offset = unsafe { std::ptr::read_volatile(offset) } as $signed;
                        *to = usize::try_from(offset).unwrap_or(offset as usize | !(usize::MAX >> 1));
                    })+
                }
            }
        }

        $(
            impl sealed::Sealed for $t {}
            impl Offset for $t {
                fn offsets(offsets: &[$t]) -> Offsets<'_> {
                    Offsets::$name(offsets)
                }
            }
        )+
    };
}

offsets!(u32 as u32 U32  i32 as i64 I32  u64 as u64 U64  i64 as i64 I64  usize as usize Usize);
