//! Memory that may be refused: an error, where a plain `Vec` would abort. It must not know what the memory is for.

use anyhow::{Result, anyhow};
use std::hint::black_box;

/// Kept free while all that is large is allocated, for all that is small: that would abort without memory.
const SPARE_BYTES: usize = 1 << 22;

/// Allocates what is large, and leaves room for what is small.
pub fn large<T>(allocate: impl FnOnce() -> Result<T>) -> Result<T> {
    let spare = black_box(room::<u8>(SPARE_BYTES)?);
    let large = allocate();
    drop(spare);
    large
}

/// Makes room for that many more elements.
pub fn reserve<T>(elements: &mut Vec<T>, more: usize) -> Result<()> {
    let count = elements.len() + more;
    let refused = |_| anyhow!("not enough memory for {count} elements of {} bytes", size_of::<T>());
    elements.try_reserve_exact(more).map_err(refused)
}

/// Room for that many elements.
pub fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    reserve(&mut elements, count)?;
    Ok(elements)
}

/// So many elements, each of them the default.
pub fn defaults<T: Clone + Default>(count: usize) -> Result<Vec<T>> {
    let mut elements = room(count)?;
    elements.resize(count, T::default());
    Ok(elements)
}

/// So many bytes of 0 and a few more, aligned as any element is.
pub fn bytes(count: usize) -> Result<Vec<u64>> {
    defaults(count.div_ceil(size_of::<u64>()))
}
