//! What argreduce_last_error() hands out: one place for each thread, as long as the thread lives, whatever is called
//! in between.

use super::*;
use crate::api::failure::{Failure, MESSAGE_BYTES, guarded};
use std::cell::RefCell;
use std::sync::mpsc::{Sender, channel};
use std::thread;

fn fail_with(message: &str) {
    assert_eq!(guarded(|| Err(Failure::new(ARGREDUCE_INTERNAL, message))), ARGREDUCE_INTERNAL);
}

#[test]
fn a_new_thread_has_no_message() {
    thread::spawn(|| assert_eq!(message(), "")).join().unwrap();
}

/// As C does by `printf("%d %s", argreduce_compile(..), argreduce_last_error())`, which may ask for the message first.
#[test]
fn a_pointer_outlives_the_calls_after_it() {
    let at_first = thread::spawn(|| {
        let pointer = argreduce_last_error();
        for length in [1, 7, 100, MESSAGE_BYTES, 10_000] {
            fail_with(&"x".repeat(length));
            assert_eq!(argreduce_last_error(), pointer);
            // SAFETY: valid as long as this thread lives.
            assert_eq!(unsafe { CStr::from_ptr(pointer) }.to_bytes().len(), length.min(MESSAGE_BYTES - 1));
        }
        // A success leaves it alone.
        compile(&desc(&[2, 3], &[1])).unwrap();
        assert_eq!((argreduce_last_error(), message()), (pointer, "x".repeat(MESSAGE_BYTES - 1)));
    });
    at_first.join().unwrap();
}

#[test]
fn each_thread_has_a_place_of_its_own() {
    fail_with("of the first thread");
    let pointer = argreduce_last_error();
    let other = thread::spawn(move || {
        fail_with("of the second thread");
        (argreduce_last_error() as usize, message())
    });
    let (other, text) = other.join().unwrap();
    assert_eq!(text, "of the second thread");
    assert_eq!(message(), "of the first thread");
    assert!(other.abs_diff(pointer as usize) >= MESSAGE_BYTES);
}

#[test]
fn a_long_message_is_cut_at_a_whole_character() {
    let most = MESSAGE_BYTES - 1;
    for character in ["x", "é", "字", "🦀"] {
        for before in 0..4 {
            let text = ".".repeat(before) + &character.repeat(MESSAGE_BYTES);
            fail_with(&text);
            // `message` would panic if it were not UTF-8.
            let found = message();
            assert!(text.starts_with(&found) && found.len() <= most && found.len() + character.len() > most, "{found}");
        }
    }
    // The longest that is whole, and one that the buffer had more of before.
    for text in ["x".repeat(most), "short".into(), String::new()] {
        fail_with(&text);
        assert_eq!(message(), text);
    }
    fail_with("a\0b");
    assert_eq!(message(), "a?b");
}

/// Fails once more while its thread ends, and sends what the message is then, and the address.
struct FailsAtTheEnd(Sender<(String, usize)>);

impl Drop for FailsAtTheEnd {
    fn drop(&mut self) {
        let before = (message(), argreduce_last_error() as usize);
        fail_with("at the end");
        for found in [before, (message(), argreduce_last_error() as usize)] {
            self.0.send(found).unwrap();
        }
    }
}

thread_local! {
    static AT_THE_END: RefCell<Option<FailsAtTheEnd>> = const { RefCell::new(None) };
}

#[test]
fn a_message_is_there_until_its_thread_has_ended() {
    let (to, from) = channel();
    let pointer = thread::spawn(|| {
        // Destructors run in the reverse order of first use: so this one runs after any that a message might have.
        AT_THE_END.set(Some(FailsAtTheEnd(to)));
        fail_with("before the end");
        argreduce_last_error() as usize
    });
    let pointer = pointer.join().unwrap();
    let found: Vec<_> = from.iter().collect();
    assert_eq!(found, [("before the end".to_string(), pointer), ("at the end".to_string(), pointer)]);
}
