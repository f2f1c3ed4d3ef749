//! Slices for tests that lie flush against pages which nobody may touch: one byte too far, read or written, ends the
//! process, without a sanitizer and on any Unix, emulated or not. It knows nothing of what is tested.
//!
//! Mappings are used again and again by the thread that made them: two system calls for each slice would be most of a
//! test's time. Beside that, what all tests share: whether to take [`few`] cases, [values](Sample) of each type, the
//! [floating-point modes](FloatMode) of callers, and [cases](directml) for descriptors.

pub mod directml;
mod few;
mod float_mode;
mod huge_pages;
#[cfg(not(loom))]
mod sample;
#[cfg(unix)]
mod stack;

#[cfg_attr(not(unix), path = "plain.rs")]
#[cfg_attr(unix, path = "pages.rs")]
mod region;

pub use few::{few, is_slow};
pub use float_mode::FloatMode;
pub use huge_pages::advise_huge_pages;
use region::Region;
#[cfg(not(loom))]
pub use sample::Sample;
#[cfg(unix)]
pub use stack::stack_bytes;
use std::cell::RefCell;
use std::mem::take;
use std::ops::{Deref, DerefMut};

/// Which end of a slice touches a guard page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The byte before the first element.
    Start,
    /// The byte after the last element.
    End,
}

impl Edge {
    /// Both.
    pub const ALL: [Edge; 2] = [Edge::Start, Edge::End];
}

/// A slice of its own, flush against a guard page. (Where there are no such pages, an ordinary slice of its own.)
///
/// ```
/// use argreduce_guard::{Edge, Guarded};
/// let mut guarded = Guarded::copy_of(&[1, 2, 3], Edge::End);
/// guarded[2] = 9;
/// assert_eq!(*guarded, [1, 2, 9]);
/// ```
pub struct Guarded<T> {
    region: Region,
    first: *mut T,
    len: usize,
}

thread_local! {
    /// Regions of this thread that are not in use.
    static FREE: RefCell<Vec<Region>> = const { RefCell::new(Vec::new()) };
}

impl<T: Copy> Guarded<T> {
    /// A copy of `elements`.
    pub fn copy_of(elements: &[T], edge: Edge) -> Self {
        let guarded = Self::uninitialised(elements.len(), edge);
        // SAFETY: `first` has room for as many elements, by `uninitialised`, and nothing else points there: the region
        // is this value's alone until it is dropped.
        unsafe { guarded.first.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        guarded
    }

    /// `len` times the same.
    pub fn filled(value: T, len: usize, edge: Edge) -> Self {
        Self::copy_of(&vec![value; len], edge)
    }

    fn uninitialised(len: usize, edge: Edge) -> Self {
        let bytes = len.checked_mul(size_of::<T>()).expect("more bytes than memory");
        assert!(align_of::<T>() <= Region::ALIGNMENT);
        let mut region = FREE.with_borrow_mut(|free| {
            let fitting = free.iter().position(|region| region.len() >= bytes);
            fitting.map_or_else(|| Region::new(bytes), |n| free.swap_remove(n))
        });
        let skipped = match edge {
            Edge::Start => 0,
            Edge::End => region.len() - bytes,
        };
        let first = region.start().wrapping_add(skipped).cast::<T>();
        assert!(first.is_aligned());
        Guarded { region, first, len }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        let region = take(&mut self.region);
        // A thread that ends has no list any more: then the region is given back.
        let _ = FREE.try_with(|free| free.borrow_mut().push(region));
    }
}

impl<T> Deref for Guarded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: both ways to make one initialise `len` elements, which stay this value's until it is dropped;
        // borrowed as `self` is.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and borrowed as `self` is, by nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.len) }
    }
}
