//! Memory in huge pages, for benchmarks: what is read in pages of 4 KiB waits for their addresses, too.

use std::io::{Error, Result};
use std::mem::MaybeUninit;

/// Asks the system to take huge pages for the whole pages of some memory that was not touched yet.
///
/// # Errors
/// Those of `madvise`; or the system is not Linux, which alone is asked.
///
/// ```
/// let mut memory = Vec::<u64>::with_capacity(1 << 20);
/// let answer = argreduce_guard::advise_huge_pages(memory.spare_capacity_mut());
/// assert!(answer.is_ok() || !std::fs::exists("/sys/kernel/mm/transparent_hugepage")?);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: takes a number and gives one: no memory is involved.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).expect("a page has a size");
        let range = memory.as_mut_ptr_range();
        let start = range.start.addr().next_multiple_of(page);
        let len = range.end.addr().saturating_sub(start) / page * page;
        // SAFETY: whole pages within the memory, whose content is the same in pages of any size.
        match unsafe { libc::madvise(range.start.with_addr(start).cast(), len, libc::MADV_HUGEPAGE) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = memory;
        Err(Error::from(std::io::ErrorKind::Unsupported))
    }
}
