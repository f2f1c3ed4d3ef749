//! How fast memory comes in other orders than its own, with nothing computed: what limits the shapes that no cache
//! holds, whatever a kernel does with them. Each order is compared with a plain read of the same bytes, in turn, both
//! of them flushed before. Knows nothing of kernels.
//!
//! ```text
//! taskset -c 1 cargo bench --bench memory
//! ```

#[path = "../benches/shapes/evict.rs"]
mod evict;

/// What `evict.rs` reads where it cannot flush.
mod ceiling {
    #[allow(dead_code, reason = "x86-64 flushes")]
    pub fn read(bytes: &[u8]) {
        std::hint::black_box(super::read_plainly(bytes));
    }
}

use argreduce_kernels::{Hint, Tuning};
use multiversion::multiversion;
use std::hint::black_box;
use std::time::Instant;

/// What is read before the next row is: four vectors of 32 bytes, which is what columns are reduced by.
const STEP: usize = 128;

/// Blocks of `block` bytes, one after the other. Each is `rows` rows that follow each other in memory, read across
/// panels of `panel` bytes, `at_once` rows at a time, step by step.
struct Order {
    name: &'static str,
    block: usize,
    rows: usize,
    panel: usize,
    at_once: usize,
    prefetch: Ahead,
    /// Step by step from the end of each panel, against the direction of memory, as where ties go to the last index.
    from_its_end: bool,
}

/// What is prefetched before a step.
#[derive(Clone, Copy, PartialEq)]
enum Ahead {
    Nothing,
    /// What is that many bytes further on in memory, in the direction of reading.
    Along(usize),
    /// The same place of the rows that come next, or after the last ones, of the first of the next panel.
    NextRows,
}

const MIB: usize = 1 << 20;
const BYTES: usize = 64 * MIB;

const WHOLE: usize = usize::MAX;

/// Memory as one block, which is read as it lies.
const ITS_OWN: Order = Order {
    name: "its own",
    block: WHOLE,
    rows: 1,
    panel: WHOLE,
    at_once: 1,
    prefetch: Ahead::Nothing,
    from_its_end: false,
};
const FROM_ITS_END: Order = Order { from_its_end: true, ..ITS_OWN };
const MANY_ROWS: Order = Order { rows: 320, panel: 4 << 10, ..ITS_OWN };
const STREAMING: Order = Order { prefetch: Ahead::NextRows, ..MANY_ROWS };
/// Every second of 200 columns over 21 rows, of 32 and of 64 bits: as many of each row as the buffer holds for all
/// rows, and what comes next is prefetched.
const EVERY_SECOND: Order = Order { rows: 21, panel: 768, prefetch: Ahead::Along(768), ..ITS_OWN };

#[rustfmt::skip]
const ORDERS: [Order; 33] = [
    ITS_OWN,
    Order { name: "its own, 16 KiB ahead prefetched", prefetch: Ahead::Along(16 << 10), ..ITS_OWN },
    Order { name: "3 streams", rows: 3, at_once: 3, ..ITS_OWN },
    Order {
        name: "3 streams, 1 KiB ahead prefetched",
        rows: 3,
        at_once: 3,
        prefetch: Ahead::Along(1 << 10),
        ..ITS_OWN
    },
    Order { name: "4 streams", rows: 4, at_once: 4, ..ITS_OWN },
    Order {
        name: "4 streams, 4 KiB ahead prefetched",
        rows: 4,
        at_once: 4,
        prefetch: Ahead::Along(4 << 10),
        ..ITS_OWN
    },
    Order { name: "8 streams", rows: 8, at_once: 8, ..ITS_OWN },
    Order { name: "320 rows of 200 KiB, across 4 KiB, 8 at once", at_once: 8, ..MANY_ROWS },
    Order { name: "the same, 1 KiB ahead prefetched", at_once: 8, prefetch: Ahead::Along(1 << 10), ..MANY_ROWS },
    Order { name: "the same, the next 8 prefetched", at_once: 8, ..STREAMING },
    Order { name: "across 16 KiB, 8 at once", panel: 16 << 10, at_once: 8, ..MANY_ROWS },
    Order { name: "across 4 KiB, one after another, the next prefetched", ..STREAMING },
    Order { name: "across 8 KiB, the same", panel: 8 << 10, ..STREAMING },
    Order { name: "across 16 KiB, the same", panel: 16 << 10, ..STREAMING },
    Order { name: "across 64 KiB, the same", panel: 64 << 10, ..STREAMING },
    Order { name: "across 8 KiB, 2 at once, the next prefetched", panel: 8 << 10, at_once: 2, ..STREAMING },
    Order {
        name: "4096 rows of 16 KiB, across 8 KiB, one after another, the next prefetched",
        rows: 4096,
        panel: 8 << 10,
        ..STREAMING
    },
    Order { name: "4096 rows of 16 KiB, across 4 KiB, 8 at once", rows: 4096, at_once: 8, ..MANY_ROWS },
    Order { name: "the same, the next 8 prefetched", rows: 4096, at_once: 8, ..STREAMING },
    Order { name: "2 rows of 4 KiB at once, then the next two", block: 8 << 10, rows: 2, at_once: 2, ..ITS_OWN },
    Order { name: "2 rows of 6 KiB", block: 12 << 10, rows: 2, at_once: 2, ..ITS_OWN },
    Order { name: "2 rows of 8 KiB", block: 16 << 10, rows: 2, at_once: 2, ..ITS_OWN },
    Order { name: "2 rows of 16 KiB", block: 32 << 10, rows: 2, at_once: 2, ..ITS_OWN },
    Order { name: "2 rows of 32 KiB", block: 64 << 10, rows: 2, at_once: 2, ..ITS_OWN },
    Order { name: "21 rows of 1536 bytes, across 768, the next 768 prefetched", block: 21 * 1536, ..EVERY_SECOND },
    Order { name: "21 rows of 3072 bytes, the same", block: 21 * 3072, ..EVERY_SECOND },
    Order {
        name: "21 rows of 3072 bytes, across 768, nothing prefetched",
        block: 21 * 3072,
        prefetch: Ahead::Nothing,
        ..EVERY_SECOND
    },
    Order { name: "from its end", ..FROM_ITS_END },
    Order { name: "from its end, 16 KiB ahead prefetched", prefetch: Ahead::Along(16 << 10), ..FROM_ITS_END },
    Order { name: "blocks of 64 KiB, each from its end", block: 64 << 10, ..FROM_ITS_END },
    Order { name: "4 streams, each from its end", rows: 4, at_once: 4, ..FROM_ITS_END },
    Order {
        name: "the same, 1 KiB ahead prefetched",
        rows: 4,
        at_once: 4,
        prefetch: Ahead::Along(1 << 10),
        ..FROM_ITS_END
    },
    Order { name: "8 streams, the same", rows: 8, at_once: 8, prefetch: Ahead::Along(1 << 10), ..FROM_ITS_END },
];

/// How many trials are done.
const TRIALS: usize = 15;

fn main() {
    let is_smoke = !std::env::args().any(|argument| argument == "--bench")
        || std::env::args().any(|argument| argument == "--test");
    let (mut bytes, trials) = (vec![1; if is_smoke { MIB } else { BYTES }], if is_smoke { 1 } else { TRIALS });
    let bytes = &mut bytes[..];
    println!("Memory with nothing computed, {} MiB: GB/s, and over a plain read.\n", bytes.len() / MIB);
    for order in &ORDERS {
        report(order.name, bytes, trials, 1.0, |bytes| read(order, bytes));
    }
    let name = "crops of 48 x 48 elements of 32 bits, of 4 planes of 64 x 64 in turn: of what is read";
    report(name, bytes, trials, PART_OF_CROPS, |bytes| read_crops(bytes));
    for (is_apart, places) in [(false, "one after another"), (true, "64 places in turn")] {
        let name = format!("64 answers of 4 bytes for each 21 rows of 64 bytes, stored to {places}");
        report(&name, bytes, trials, 1.0, |bytes| read_and_store(is_apart, bytes));
    }
}

/// Reads a part of the bytes in some order, in turn with a plain read of all of them, and prints how fast.
fn report(name: &str, bytes: &mut [u8], trials: usize, part: f64, read: impl Fn(&mut [u8]) -> Lanes) {
    let (mut speeds, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..trials {
        let (plain, ordered) = (time(bytes, |bytes| read_plainly(bytes)), time(bytes, &read));
        speeds.push(bytes.len() as f64 * part / ordered * 1e-9);
        ratios.push(plain * part / ordered);
    }
    println!("{:6.1} {:6.2}  {name}", median(&mut speeds), median(&mut ratios));
}

/// What crops of 48 of 64 rows, and 192 of the 256 bytes of each, are of all bytes.
const PART_OF_CROPS: f64 = 0.75 * 0.75;

/// ORs the same 192 bytes of a row of each of four planes, then those of the next row.
#[multiversion(targets("x86_64+avx2"))]
fn read_crops(bytes: &[u8]) -> Lanes {
    const ROW: usize = 256;
    const PLANE: usize = 64 * ROW;
    let mut so_far = Lanes::default();
    for image in bytes.as_chunks::<{ 4 * PLANE }>().0 {
        for row in 8..56 {
            for plane in 0..4 {
                let start = plane * PLANE + row * ROW + 32;
                or(&mut so_far, &image[start..start + STEP]);
                or(&mut so_far, &image[start + STEP..start + 192]);
            }
        }
    }
    so_far
}

/// ORs the first bytes by blocks, and stores answers in the others, those of a block one after another, or as far from
/// each other as there are blocks: what columns of 8 bits are whose outputs are kept in another order.
#[multiversion(targets("x86_64+avx2"))]
fn read_and_store(is_apart: bool, bytes: &mut [u8]) -> Lanes {
    const LINE: usize = 64;
    const BLOCK: usize = 21 * LINE;
    let blocks = bytes.len() / (BLOCK + 4 * LINE);
    let (input, output) = bytes.split_at_mut(blocks * BLOCK);
    let mut so_far = Lanes::default();
    for (n, block) in input.chunks_exact(BLOCK).enumerate() {
        for line in block.as_chunks::<LINE>().0 {
            or(&mut so_far, line);
        }
        let [a, b, c, d, ..] = so_far[0].to_ne_bytes();
        for place in 0..LINE {
            output.as_chunks_mut::<4>().0[if is_apart { place * blocks + n } else { n * LINE + place }] = [a, b, c, d];
        }
    }
    so_far
}

fn time(bytes: &mut [u8], read: impl Fn(&mut [u8]) -> Lanes) -> f64 {
    evict::evict(bytes);
    let start = Instant::now();
    black_box(read(bytes));
    start.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// ORs all bytes, but what is left of them by the division into blocks, of those by that into rows, and of rows by that
/// into steps.
#[multiversion(targets("x86_64+avx2"))]
fn read(order: &Order, bytes: &[u8]) -> Lanes {
    let block = order.block.min(bytes.len());
    let row_bytes = block / order.rows / STEP * STEP;
    let panel = order.panel.min(row_bytes);
    let mut so_far = Lanes::default();
    for first_byte in (0..=bytes.len() - block).step_by(block) {
        for start in (0..row_bytes).step_by(panel) {
            let width = panel.min(row_bytes - start);
            for first in (0..order.rows).step_by(order.at_once) {
                let after = first + order.at_once;
                let next = if after < order.rows { after * row_bytes + start } else { start + panel };
                for at in (0..width).step_by(STEP) {
                    let at = if order.from_its_end { (width - STEP) - at } else { at };
                    for row in first..after.min(order.rows) {
                        let here = first_byte + row * row_bytes + start + at;
                        match order.prefetch {
                            Ahead::Nothing => {}
                            Ahead::Along(distance) if order.from_its_end => {
                                prefetch(bytes, here.wrapping_sub(distance))
                            }
                            Ahead::Along(distance) => prefetch(bytes, here + distance),
                            Ahead::NextRows => prefetch(bytes, first_byte + next + (row - first) * row_bytes + at),
                        }
                        or(&mut so_far, &bytes[here..here + STEP]);
                    }
                }
            }
        }
    }
    so_far
}

/// The same in the order of memory.
#[multiversion(targets("x86_64+avx2"))]
fn read_plainly(bytes: &[u8]) -> Lanes {
    let mut so_far = Lanes::default();
    for step in bytes.as_chunks::<STEP>().0 {
        or(&mut so_far, step);
    }
    so_far
}

/// As many words as a step has.
type Lanes = [u64; STEP / 8];

#[inline(always)]
fn or(so_far: &mut Lanes, step: &[u8]) {
    for (lane, word) in so_far.iter_mut().zip(step.as_chunks::<8>().0) {
        *lane |= u64::from_ne_bytes(*word);
    }
}

/// Prefetches the cache lines of a step, if they exist, into the cache that kernels prefetch into.
#[inline(always)]
fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.get(at..at.saturating_add(STEP)).unwrap_or_default().chunks(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let line = line.as_ptr().cast();
        // SAFETY: every x86-64 has SSE, and no address is wrong.
        unsafe {
            match Tuning::current().prefetch.hint {
                Hint::L1 => _mm_prefetch::<_MM_HINT_T0>(line),
                Hint::L2 => _mm_prefetch::<_MM_HINT_T1>(line),
            }
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}
