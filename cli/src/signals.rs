//! What is done when a signal ends the process: Ctrl-C, `kill`, a closed terminal. It must not know what there is
//! to do.

use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How long a signal may wait: too short for a person to notice.
const PAUSE: Duration = Duration::from_millis(20);

/// From now on, a signal that ends the process does so after `clean`, and as if it had not been caught.
pub fn clean_up_by(clean: impl Fn() + Send + 'static) -> io::Result<()> {
    let caught = Arc::new(AtomicUsize::new(0));
    let watched = Arc::clone(&caught);
    let watch = move || {
        loop {
            thread::sleep(PAUSE);
            let signal = watched.load(Ordering::SeqCst);
            if signal != 0 {
                clean();
                // Comes back for none of these signals.
                let _ = emulate_default_handler(signal as i32);
            }
        }
    };
    thread::Builder::new().stack_size(1 << 17).spawn(watch)?;
    // Caught, and that is all: so a file that is larger than `ulimit` allows is an error of writing.
    #[cfg(unix)]
    flag::register_usize(signal_hook::consts::SIGXFSZ, Arc::default(), 1)?;
    #[cfg(unix)]
    let more = &[signal_hook::consts::SIGHUP];
    #[cfg(not(unix))]
    let more = &[];
    for &signal in TERM_SIGNALS.iter().chain(more).filter(|&&signal| !is_ignored(signal)) {
        flag::register_usize(signal, Arc::clone(&caught), signal as usize)?;
    }
    Ok(())
}

/// Whether the process was started so that the signal does nothing (`nohup`, a script's background). So it has to
/// stay. Linux is the only system that tells a safe program.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
