//! Writes a small corpus for each target: `seeds FOLDER [TARGET]` fills `FOLDER/TARGET` with a few hundred inputs, one
//! of each kind that random bytes lead to. The same inputs each time.

use argreduce_fuzz::{Outcome, TARGETS, random_bytes};
use std::collections::HashSet;
use std::path::Path;

/// Inputs that are tried for a target, and the most that are kept.
const TRIED: u64 = 20_000;
const KEPT: usize = 400;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("usage: seeds FOLDER [TARGET]");
    let only = arguments.next();
    for (name, target) in TARGETS.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)) {
        let folder = Path::new(&folder).join(name);
        std::fs::create_dir_all(&folder)?;
        let mut classes = HashSet::new();
        for n in 0..TRIED {
            let bytes = random_bytes(n);
            if let Outcome::Checked(class) = target(&bytes)
                && classes.insert(class)
            {
                std::fs::write(folder.join(format!("seed-{n:05}")), bytes)?;
            }
            if classes.len() == KEPT {
                break;
            }
        }
        println!("{name}: {} seeds", classes.len());
    }
    Ok(())
}

/// What code with coverage calls: here nobody looks at it, and libFuzzer, which has these functions, would bring a
/// `main` of its own.
macro_rules! ignored {
    ($($name:ident)+) => {$(
        // SAFETY: the name is one that the compiler reserves for such functions; they return nothing, and may ignore
        // what they are given.
        #[unsafe(no_mangle)]
        extern "C" fn $name() {}
    )+};
}
ignored! {
    __sanitizer_cov_8bit_counters_init __sanitizer_cov_pcs_init __sanitizer_cov_trace_pc_indir
    __sanitizer_cov_trace_switch
    __sanitizer_cov_trace_cmp1 __sanitizer_cov_trace_cmp2 __sanitizer_cov_trace_cmp4 __sanitizer_cov_trace_cmp8
    __sanitizer_cov_trace_const_cmp1 __sanitizer_cov_trace_const_cmp2 __sanitizer_cov_trace_const_cmp4
    __sanitizer_cov_trace_const_cmp8
}
