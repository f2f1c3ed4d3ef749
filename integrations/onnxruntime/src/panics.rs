//! Where panics end: ONNX Runtime calls from C++, and a panic that left for it would end the process. What panics is
//! none of this file's business.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// What the body gives, or the text of its panic, as a message.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    // After a panic nothing of `body` is used any more.
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        format!("a bug of argreduce, please report it: {text}")
    })
}

/// The first panic of several tasks, which other threads run.
#[derive(Default)]
pub struct FirstPanic(Mutex<Option<Box<dyn Any + Send>>>);

impl FirstPanic {
    /// Runs a task, and keeps its panic if there was none before.
    pub fn keep(&self, task: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(task)) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
    }

    /// Goes on with the panic that was kept, if there is one.
    pub fn resume(self) {
        if let Some(panic) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_message() {
        assert_eq!(caught(|| 1), Ok(1));
        let message = |text| Err(format!("a bug of argreduce, please report it: {text}"));
        assert_eq!(caught(|| -> u8 { panic!("on purpose") }), message("on purpose"));
        assert_eq!(caught(|| -> u8 { panic!("on purpose {}", 1) }), message("on purpose 1"));
        assert_eq!(caught(|| -> u8 { std::panic::panic_any(1) }), message("a panic"));
    }

    #[test]
    fn the_first_panic_of_tasks_resumes() {
        let first = FirstPanic::default();
        for n in 0..4 {
            first.keep(|| assert!(n == 0, "task {n}"));
        }
        assert_eq!(caught(|| first.resume()), Err("a bug of argreduce, please report it: task 1".into()));
        assert_eq!(caught(|| FirstPanic::default().resume()), Ok(()));
    }
}
