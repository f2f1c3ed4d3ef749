//! How much stack something takes: it runs on a thread whose stack was painted before, and what is not painted any more
//! was written to.

use std::ptr::null_mut;

/// Painted on the stack.
const PAINT: u8 = 0xa5;

/// More than anything takes that is measured.
const STACK_BYTES: usize = 256 << 10;

/// How many bytes of a stack are written to while something runs on a thread of its own: what the thread itself takes
/// is among them.
///
/// # Panics
/// If it panics.
pub fn stack_bytes(work: impl FnOnce() + Send) -> usize {
    type Task<'a> = Option<Box<dyn FnOnce() + Send + 'a>>;
    extern "C" fn run(task: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: what is passed below, where nobody touches it until this has returned.
        let task = unsafe { &mut *task.cast::<Task<'_>>() };
        // A panic cannot leave this function: the process ends.
        task.take().expect("it runs once")();
        null_mut()
    }
    let mut task: Task<'_> = Some(Box::new(work));
    // SAFETY: a mapping that nobody else has, which is the stack of one thread; that has ended, as `pthread_join` says,
    // before the mapping is read and given back.
    unsafe {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        let stack = libc::mmap(null_mut(), STACK_BYTES, protection, flags, -1, 0);
        assert!(stack != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
        stack.cast::<u8>().write_bytes(PAINT, STACK_BYTES);
        let mut attributes = std::mem::zeroed();
        assert_eq!(libc::pthread_attr_init(&mut attributes), 0);
        assert_eq!(libc::pthread_attr_setstack(&mut attributes, stack, STACK_BYTES), 0);
        let mut thread = std::mem::zeroed();
        assert_eq!(libc::pthread_create(&mut thread, &attributes, run, (&raw mut task).cast()), 0);
        assert_eq!(libc::pthread_join(thread, null_mut()), 0);
        libc::pthread_attr_destroy(&mut attributes);
        let bytes = std::slice::from_raw_parts(stack.cast::<u8>(), STACK_BYTES);
        // By lines first: a test asks thousands of times.
        let lines = bytes.chunks_exact(64).take_while(|line| *line == [PAINT; 64]).count();
        let painted = 64 * lines + bytes[64 * lines..].iter().take_while(|&&byte| byte == PAINT).count();
        assert_eq!(libc::munmap(stack, STACK_BYTES), 0);
        STACK_BYTES - painted
    }
}

#[cfg(test)]
mod tests {
    use super::stack_bytes;
    use std::hint::black_box;

    #[test]
    fn sees_what_is_taken() {
        let least = stack_bytes(|| ());
        let found = stack_bytes(|| {
            black_box(&mut [1_u8; 100_000]);
        });
        assert!(
            (100_000..110_000).contains(&(found - least)),
            "{found} bytes, and {least} of a thread that does nothing"
        );
    }
}
