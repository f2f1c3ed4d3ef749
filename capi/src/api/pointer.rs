//! From pointers to references: what can be checked of a pointer is checked here, and a failure names the argument.

use super::codes::*;
use super::failure::Failure;
use std::ffi::c_void;

/// Not null, and aligned.
pub(super) fn check<T>(pointer: *const T, name: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(null(name));
    }
    if !pointer.is_aligned() {
        return Err(misaligned(align_of::<T>(), name));
    }
    Ok(())
}

#[cold]
fn null(name: &str) -> Failure {
    Failure::new(ARGREDUCE_NULL_POINTER, format!("{name} is NULL"))
}

#[cold]
pub(super) fn misaligned(alignment: usize, name: &str) -> Failure {
    let message = format!("{name} is misaligned: its address has to be a multiple of {alignment}");
    Failure::new(ARGREDUCE_MISALIGNED, message)
}

/// # Safety
/// `pointer` is null, or misaligned, or points to a `T` that nobody writes during `'a`.
pub(super) unsafe fn get<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    check(pointer, name)?;
    // SAFETY: `check` has found it neither null nor misaligned; then it points to a `T`, as the caller promises.
    Ok(unsafe { &*pointer })
}

/// # Safety
/// As [`get`], with `len` of them, which is few. No pointer is needed for none.
pub(super) unsafe fn list<'a, T>(pointer: *const T, len: u32, name: &str) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    check(pointer, name)?;
    // SAFETY: `check` has found it neither null nor misaligned; then it points to `len` of them, as the caller
    // promises.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len as usize) })
}

/// What messages call a buffer, where it is, and how many bytes it has.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'n> {
    pub(super) name: &'n str,
    pub(super) start: *const c_void,
    pub(super) bytes: usize,
}

/// What a buffer needs: at least so many bytes, at a multiple of the alignment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) bytes: usize,
    pub(super) alignment: usize,
}

impl Need {
    /// Whether an address is aligned. Alignments are powers of two: to divide by them would take longer than all else.
    #[inline(always)]
    fn is_met_at(&self, start: *const c_void) -> bool {
        start as usize & (self.alignment - 1) == 0
    }
}

impl Buffer<'_> {
    pub(super) const NONE: Buffer<'static> = Buffer { name: "", start: std::ptr::null(), bytes: 0 };

    /// Whether nothing is said of it.
    #[inline(always)]
    pub(super) fn is_left_out(&self) -> bool {
        self.start.is_null() && self.bytes == 0
    }

    /// # Safety
    /// `start` is null, or points to that many bytes, which nobody writes during `'a`.
    #[inline(always)]
    pub(super) unsafe fn read<'a>(&self, need: Need) -> Result<&'a [u8], Failure> {
        self.check(need)?;
        // SAFETY: `check` has found a size that a slice can have, and a start that is not null unless that is 0; the
        // bytes are there, as the caller promises.
        Ok(if self.bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.start.cast(), self.bytes) } })
    }

    /// # Safety
    /// `start` is null, or points to that many bytes, which nobody else reads or writes during `'a`.
    #[inline(always)]
    pub(super) unsafe fn write<'a>(&self, need: Need) -> Result<&'a mut [u8], Failure> {
        self.check(need)?;
        let start = self.start.cast_mut().cast();
        // SAFETY: as in `read`; and nobody else touches them, as the caller promises.
        Ok(if self.bytes == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(start, self.bytes) } })
    }

    /// Not null, beyond what memory can hold, misaligned, or short. Of 0 bytes, only not short.
    #[inline(always)]
    fn check(&self, need: Need) -> Result<(), Failure> {
        let &Buffer { start, bytes, .. } = self;
        let ends = isize::try_from(bytes).is_ok() && (start as usize).checked_add(bytes).is_some();
        let is_right = ends && !start.is_null() && need.is_met_at(start) || bytes == 0;
        if is_right && bytes >= need.bytes { Ok(()) } else { Err(self.refused(need)) }
    }

    /// What is wrong with it.
    #[cold]
    #[inline(never)]
    fn refused(&self, need: Need) -> Failure {
        let &Buffer { name, start, bytes } = self;
        if bytes > 0 && start.is_null() {
            return null(name);
        }
        if isize::try_from(bytes).is_err() || (start as usize).checked_add(bytes).is_none() {
            return too_large(bytes, name);
        }
        if bytes > 0 && !need.is_met_at(start) {
            return misaligned(need.alignment, name);
        }
        let message = format!("{name} has {bytes} bytes: the operator needs {}", need.bytes);
        Failure::new(ARGREDUCE_BUFFER_TOO_SHORT, message)
    }

    /// Whether there are no bytes that it could share with another one, whatever it will be refused for.
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.start.is_null() || self.bytes == 0
    }

    /// That it shares no byte with another one: then, and only then, one of them may be borrowed to be written.
    #[inline(always)]
    pub(super) fn check_apart(&self, other: &Buffer<'_>) -> Result<(), Failure> {
        let is_before = |one: &Buffer<'_>, other: &Buffer<'_>| {
            (one.start as usize).saturating_add(one.bytes) <= other.start as usize
        };
        if is_before(self, other) || is_before(other, self) || self.is_nothing() || other.is_nothing() {
            return Ok(());
        }
        Err(self.overlaps(other))
    }

    #[cold]
    #[inline(never)]
    fn overlaps(&self, other: &Buffer<'_>) -> Failure {
        let message = format!("{} and {} overlap: they must not share a byte", self.name, other.name);
        Failure::new(ARGREDUCE_BUFFERS_OVERLAP, message)
    }
}

/// That what is written shares no byte with what is read, nor with what else is written: then, and only then, all of
/// it may be borrowed at the same time.
pub(super) fn check_apart(read: &[Buffer<'_>], written: &[Buffer<'_>]) -> Result<(), Failure> {
    for (n, to) in written.iter().enumerate().filter(|(_, to)| !to.is_nothing()) {
        for other in read.iter().chain(&written[..n]) {
            other.check_apart(to)?;
        }
    }
    Ok(())
}

/// Whether memory can have that many bytes in one piece.
pub(super) fn check_size(bytes: usize, name: &str) -> Result<(), Failure> {
    if isize::try_from(bytes).is_err() { Err(too_large(bytes, name)) } else { Ok(()) }
}

#[cold]
fn too_large(bytes: usize, name: &str) -> Failure {
    let message = format!("{name} cannot have {bytes} bytes: memory does not hold as many");
    Failure::new(ARGREDUCE_BUFFER_TOO_LARGE, message)
}
