//! Pages that may be used, between others that may not.

use std::ptr::null_mut;

/// Some pages, and on either side as many bytes that nobody may touch as a stray access is likely to miss by.
pub(crate) struct Region {
    start: *mut u8,
    len: usize,
}

/// Address space, not memory.
const GUARD_BYTES: usize = 1 << 16;

/// So that most slices of a test fit into one region, and it is made once.
const LEAST_BYTES: usize = 1 << 14;

impl Region {
    pub(crate) const ALIGNMENT: usize = 4096;

    pub(crate) fn new(bytes: usize) -> Region {
        // SAFETY: takes a number and gives one: no memory is involved.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).expect("a page has a size");
        assert!(page.is_multiple_of(Self::ALIGNMENT) && GUARD_BYTES.is_multiple_of(page));
        let len = bytes.max(LEAST_BYTES).next_power_of_two().next_multiple_of(page);
        // SAFETY: a new mapping, where the system finds room, then a part of it (`start` lies as many bytes within it
        // as there are before it).
        unsafe {
            let all = libc::mmap(
                null_mut(),
                len + 2 * GUARD_BYTES,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANON,
                -1,
                0,
            );
            assert!(all != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
            let start = all.cast::<u8>().add(GUARD_BYTES);
            let status = libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE);
            assert!(status == 0, "mprotect: {}", std::io::Error::last_os_error());
            Region { start, len }
        }
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// None at all.
impl Default for Region {
    fn default() -> Region {
        Region { start: null_mut(), len: 0 }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if !self.start.is_null() {
            // SAFETY: `new` has mapped so much from there on, and `Guarded`, which had it, is gone.
            unsafe { libc::munmap(self.start.sub(GUARD_BYTES).cast(), self.len + 2 * GUARD_BYTES) };
        }
    }
}
