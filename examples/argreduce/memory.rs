//! Memory that may be refused: an error, where a plain `Vec` would abort. It must not know what the memory is for.

use anyhow::{Result, anyhow};

/// Makes room for so many elements more.
pub fn reserve<T>(elements: &mut Vec<T>, more: usize) -> Result<()> {
    let count = elements.len() + more;
    let refused = |_| anyhow!("not enough memory for {count} elements of {} bytes", size_of::<T>());
    elements.try_reserve_exact(more).map_err(refused)
}

/// Room for so many elements.
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
