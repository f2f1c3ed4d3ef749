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
        let message = format!("{name} is misaligned: its address has to be a multiple of {}", align_of::<T>());
        return Err(Failure::new(ARGREDUCE_MISALIGNED, message));
    }
    Ok(())
}

#[cold]
fn null(name: &str) -> Failure {
    Failure::new(ARGREDUCE_NULL_POINTER, format!("{name} is NULL"))
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

/// # Safety
/// `pointer` is null, or points to that many bytes, which nobody writes during `'a`.
pub(super) unsafe fn buffer<'a>(pointer: *const c_void, bytes: usize, name: &str) -> Result<&'a [u8], Failure> {
    if bytes == 0 {
        return Ok(&[]);
    }
    check_buffer(pointer, bytes, name)?;
    // SAFETY: `check_buffer` has found it not null, and the size one that a slice can have; the bytes are there, as the
    // caller promises.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast(), bytes) })
}

/// # Safety
/// `pointer` is null, or points to that many bytes, which nobody else reads or writes during `'a`.
pub(super) unsafe fn buffer_mut<'a>(pointer: *mut c_void, bytes: usize, name: &str) -> Result<&'a mut [u8], Failure> {
    if bytes == 0 {
        return Ok(&mut []);
    }
    check_buffer(pointer, bytes, name)?;
    // SAFETY: as in `buffer`; and nobody else touches them, as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), bytes) })
}

fn check_buffer(pointer: *const c_void, bytes: usize, name: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(null(name));
    }
    check_size(bytes, name)?;
    if (pointer as usize).checked_add(bytes).is_none() { Err(too_large(bytes, name)) } else { Ok(()) }
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

/// A buffer's name, where it is, and how many bytes it has.
pub(super) type Named<'a> = (&'a str, *const c_void, usize);

/// That what is written shares no byte with what is read, nor with what else is written: then, and only then, all of
/// it may be borrowed at the same time.
pub(super) fn check_all_apart(read: &[Named<'_>], written: &[Named<'_>]) -> Result<(), Failure> {
    for (n, &to) in written.iter().enumerate() {
        read.iter().chain(&written[..n]).try_for_each(|&other| check_apart(other, to))?;
    }
    Ok(())
}

/// That two buffers share no byte: then, and only then, one of them may be borrowed to be written.
pub(super) fn check_apart(
    (name, start, bytes): Named<'_>,
    (other, other_start, other_bytes): Named<'_>,
) -> Result<(), Failure> {
    let (start, other_start) = (start as usize, other_start as usize);
    let is_before = |start: usize, bytes: usize, other: usize| start.saturating_add(bytes) <= other;
    if is_before(start, bytes, other_start) || is_before(other_start, other_bytes, start) {
        return Ok(());
    }
    if start == 0 || other_start == 0 || bytes == 0 || other_bytes == 0 {
        // Shares nothing, whatever it will be refused for.
        return Ok(());
    }
    Err(Failure::new(ARGREDUCE_BUFFERS_OVERLAP, format!("{name} and {other} overlap: they must not share a byte")))
}
