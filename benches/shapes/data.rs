//! The values that are reduced: patterns, the memory that holds them, and how they are kept from being learnt. Knows a
//! shape only as a reduced extent and the distance between two elements of it.
//!
//! **What the branch predictor may not know.** A kernel that branches on data looks fast on a small array that it has
//! seen a hundred times: the predictor remembers the array. Beyond L3 there are more than 4 Mi elements, which nothing
//! remembers. In L2 there is no room for several arrays (two of 256 KiB fill it), so there is one, and it is rotated in
//! place, by another random number of elements, before every trial: each row then starts somewhere else, and so do its
//! running maxima. After that, and before each timed call, the array is read once, so that every contender finds it in
//! L2, with the same part of it in L1. The regular patterns (ascending, ...) are as they are, learnable, and a NaN that
//! closes each row has to stay there: they are rotated by whole rows at most.

use crate::element::Sample;
use crate::pattern::{Pattern, Row};
use argreduce::Element;
use argreduce_guard::advise_huge_pages;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

/// Fills whole rows, and a part of one at the end.
pub fn fill<T: Sample>(pattern: Pattern, row: Row, rng: &mut SmallRng, values: &mut [T]) {
    let mut each = |make: &mut dyn FnMut(&mut SmallRng, usize) -> T| {
        for rows in values.chunks_mut(row.len * row.stride) {
            for (position, line) in rows.chunks_mut(row.stride).enumerate() {
                line.iter_mut().for_each(|value| *value = make(rng, position));
            }
        }
    };
    let rank = |position: usize| ((position as u64) << 32).checked_div(row.len as u64).unwrap_or(0) as u32;
    let nan = T::NAN.unwrap_or_default();
    match pattern {
        Pattern::Random => each(&mut |rng, _| T::random(rng.next_u64())),
        Pattern::Ascending => each(&mut |_, position| T::ranked(rank(position))),
        Pattern::Descending => each(&mut |_, position| T::ranked(!rank(position))),
        Pattern::AllEqual => each(&mut |_, _| T::ranked(rank(row.len / 2))),
        Pattern::FewDistinct => each(&mut |rng, _| T::ranked(rng.next_u32() << 30)),
        Pattern::Nan5 => {
            each(&mut |rng, _| if rng.next_u32() < u32::MAX / 20 { nan } else { T::random(rng.next_u64()) })
        }
        Pattern::NanLast => {
            each(&mut |rng, position| if position + 1 == row.len { nan } else { T::random(rng.next_u64()) })
        }
    }
}

/// Moves all values by a random distance, those that fall off one end to the other, as far as the pattern stays what it
/// is.
pub fn rotate<T>(pattern: Pattern, row: Row, rng: &mut SmallRng, values: &mut [T]) {
    let step = match pattern {
        Pattern::Random | Pattern::FewDistinct | Pattern::Nan5 => 1,
        Pattern::NanLast => row.len * row.stride,
        Pattern::Ascending | Pattern::Descending | Pattern::AllEqual => return,
    };
    if let steps @ 1.. = (values.len() / step) as u64 {
        values.rotate_left((rng.next_u64() % steps) as usize * step);
    }
}

/// The same values in every run.
pub fn seeded() -> SmallRng {
    SmallRng::seed_from_u64(1)
}

/// A vector of numbers that starts at a cache line, so that no contender pays for loads that straddle two; or some
/// bytes after it, as an allocator often places it: see [`offset`].
#[derive(Default)]
pub struct Buffer<T> {
    lines: Vec<Line>,
    len: usize,
    element: std::marker::PhantomData<T>,
}

#[derive(Clone)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "read through the slice of the buffer")] [u8; 64]);

/// `ARGREDUCE_BENCH_OFFSET`: how many bytes after a cache line buffers start, less than a line and as many as whole
/// elements of any type take; otherwise 0.
fn offset() -> usize {
    static OFFSET: LazyLock<usize> = LazyLock::new(|| {
        let bytes = std::env::var("ARGREDUCE_BENCH_OFFSET").ok().and_then(|bytes| bytes.parse().ok());
        bytes.filter(|bytes| *bytes < size_of::<Line>() && bytes % 8 == 0).unwrap_or(0)
    });
    *OFFSET
}

/// `ARGREDUCE_BENCH_PAGES=huge`: buffers are in huge pages, as NumPy's large arrays are on Linux. Otherwise in those
/// that a `Vec` gets: of 4 KiB, unless the system is set up to give huge ones unasked.
static HAS_HUGE_PAGES: LazyLock<bool> = LazyLock::new(|| match std::env::var("ARGREDUCE_BENCH_PAGES").as_deref() {
    Ok("huge") => true,
    Ok("") | Err(_) => false,
    Ok(other) => panic!("ARGREDUCE_BENCH_PAGES is '{other}': 'huge' is allowed, or nothing"),
});

impl<T: Sample> Buffer<T> {
    /// Room for `len` elements; those that it gets are 0, and the others stay.
    pub fn grow_to(&mut self, len: usize) {
        if len > self.len {
            let lines = (offset() + len * size_of::<T>()).div_ceil(size_of::<Line>());
            if *HAS_HUGE_PAGES && lines > self.lines.len() {
                // New memory, of which nothing was touched.
                let mut in_huge_pages = Vec::with_capacity(lines);
                advise_huge_pages(in_huge_pages.spare_capacity_mut()).expect("ARGREDUCE_BENCH_PAGES=huge");
                in_huge_pages.append(&mut self.lines);
                self.lines = in_huge_pages;
            }
            self.lines.resize(lines, Line([0; _]));
            self.len = len;
        }
    }
}

impl<T: Sample> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: from the offset on, the lines have room for `len` elements, are initialised and aligned to 8 bytes,
        // and any bytes are a `T`: every `Sample` is an integer or a float.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().byte_add(offset()).cast(), self.len) }
    }
}

impl<T: Sample> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: as in `deref`, and the lines are borrowed as long.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().byte_add(offset()).cast(), self.len) }
    }
}

/// The values as they lie in memory.
pub fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: no `Element` has padding, and bytes have no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
