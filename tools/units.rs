//! What a core does per cycle: how many vector operations start, how long each takes until another can use what it came
//! to, and how long a short loop takes by where it starts. So the limits of kernels can be told from what they only
//! wait for, where a model of the CPU is of another one. Knows nothing of kernels; x86-64 with AVX2.
//!
//! ```text
//! taskset -c 1 cargo bench --bench units
//! ```

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;
    use std::time::Instant;

    const ROUNDS: usize = 20_000;
    /// The fastest of these is printed: what else the machine does makes some slower, and none faster.
    const TRIALS: usize = 50;

    /// Some instructions over and over, from `$offset` bytes after a multiple of 64 on: a function of how often. They
    /// may use all vectors, and `rax`, `rsi` (a buffer of 64 bytes) and `rdi` (another).
    macro_rules! looped {
        ($offset:literal, $($line:expr),+) => {{
            fn run(times: usize) {
                let (from, mut to) = ([1_u8; 64], [0_u8; 64]);
                // SAFETY: it reads and writes nothing but the two buffers.
                unsafe {
                    asm!(
                        "jmp 3f", ".p2align 6", concat!(".skip ", $offset, ", 0x90"), "3:", "2:", $($line,)+
                        "dec {times}", "jnz 2b",
                        times = inout(reg) times => _, in("rsi") from.as_ptr(), in("rdi") to.as_mut_ptr(), out("rax") _,
                        out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                        out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                        out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _, options(nostack),
                    );
                }
            }
            run as fn(usize)
        }};
    }

    /// Six copies of an instruction that do not depend on each other, or of a pair, the second on the first.
    macro_rules! six {
        ($before:literal, $after:literal) => {
            looped!(
                "0",
                concat!($before, "ymm0", $after),
                concat!($before, "ymm1", $after),
                concat!($before, "ymm2", $after),
                concat!($before, "ymm3", $after),
                concat!($before, "ymm4", $after),
                concat!($before, "ymm5", $after)
            )
        };
        ($before:literal, $after:literal, $second:literal, $of:literal) => {
            looped!(
                "0",
                concat!($before, "ymm0", $after),
                concat!($second, "ymm6", $of, "ymm0"),
                concat!($before, "ymm1", $after),
                concat!($second, "ymm7", $of, "ymm1"),
                concat!($before, "ymm2", $after),
                concat!($second, "ymm8", $of, "ymm2"),
                concat!($before, "ymm3", $after),
                concat!($second, "ymm9", $of, "ymm3"),
                concat!($before, "ymm4", $after),
                concat!($second, "ymm10", $of, "ymm4"),
                concat!($before, "ymm5", $after),
                concat!($second, "ymm11", $of, "ymm5")
            )
        };
    }

    /// A loop as that over rows of 21 u8: 63 bytes of instructions.
    macro_rules! short_loops {
        ($($offset:literal)+) => {
            [$(($offset, looped!($offset, "vpxor ymm4, ymm0, [rsi]", "vpor ymm4, ymm2, ymm4",
                "vpunpcklbw ymm5, ymm3, ymm4", "vpunpckhbw ymm4, ymm3, ymm4",
                "vpminuw ymm4, ymm5, ymm4", "vextracti128 xmm5, ymm4, 1",
                "vpminuw xmm4, xmm4, xmm5", "vphminposuw xmm4, xmm4", "vmovd eax, xmm4", "movzx eax, al",
                "mov [rdi], eax", "vpor ymm6, ymm7, ymm8", "vpor ymm6, ymm7, ymm9"))),+]
        };
    }

    pub fn run(rounds: usize) {
        let nanoseconds = |run: fn(usize)| {
            let trial = |_| {
                let start = Instant::now();
                run(rounds);
                start.elapsed().as_secs_f64() / rounds as f64 * 1e9
            };
            (0..TRIALS).map(trial).fold(f64::INFINITY, f64::min)
        };
        // Not additions: from Golden Cove on, Intel's cores add small constants before anything starts, four of them in
        // a cycle.
        let cycle = nanoseconds(looped!("0", "not rax", "not rax", "not rax", "not rax")) / 4.0;
        println!("{:.2} GHz, by a chain of complements\n", 1.0 / cycle);
        println!("Operations per cycle:");
        let per_cycle = [
            ("comparison of i64", 6, six!("vpcmpgtq ", ", ymm14, ymm15")),
            ("comparison of i32", 6, six!("vpcmpgtd ", ", ymm14, ymm15")),
            ("blend", 6, six!("vpblendvb ", ", ymm13, ymm14, ymm15")),
            (
                "comparison of i64, then a blend by it",
                12,
                six!("vpcmpgtq ", ", ymm14, ymm15", "vpblendvb ", ", ymm13, ymm14, "),
            ),
            ("comparison of f32", 6, six!("vcmpgtps ", ", ymm14, ymm15")),
            ("maximum of f32", 6, six!("vmaxps ", ", ymm14, ymm15")),
            (
                "comparison of f32, then a blend by it",
                12,
                six!("vcmpgtps ", ", ymm14, ymm15", "vpblendvb ", ", ymm13, ymm14, "),
            ),
            ("maximum of i32", 6, six!("vpmaxsd ", ", ymm14, ymm15")),
            ("zip within halves", 6, six!("vpunpcklbw ", ", ymm14, ymm15")),
            ("shuffle of bytes", 6, six!("vpshufb ", ", ymm14, ymm15")),
            ("shuffle across halves", 6, six!("vpermq ", ", ymm15, 0x4e")),
            ("shift", 6, six!("vpsrlw ", ", ymm15, 8")),
            ("load of 32 bytes", 6, six!("vmovdqu ", ", [rsi]")),
        ];
        for (name, operations, run) in per_cycle {
            println!("{:6.2}  {name}", f64::from(operations) * cycle / nanoseconds(run));
        }
        println!("Cycles until the next, which uses what it came to:");
        let chains = [
            ("comparison of i64", looped!("0", "vpcmpgtq ymm0, ymm15, ymm0", "vpcmpgtq ymm0, ymm15, ymm0")),
            (
                "comparison of i64, then a blend by it",
                looped!(
                    "0",
                    "vpcmpgtq ymm1, ymm15, ymm0",
                    "vpblendvb ymm0, ymm15, ymm0, ymm1",
                    "vpcmpgtq ymm1, ymm15, ymm0",
                    "vpblendvb ymm0, ymm15, ymm0, ymm1"
                ),
            ),
            ("blend", looped!("0", "vpblendvb ymm0, ymm14, ymm0, ymm15", "vpblendvb ymm0, ymm14, ymm0, ymm15")),
            ("maximum of f32", looped!("0", "vmaxps ymm0, ymm15, ymm0", "vmaxps ymm0, ymm15, ymm0")),
            ("maximum of i32", looped!("0", "vpmaxsd ymm0, ymm15, ymm0", "vpmaxsd ymm0, ymm15, ymm0")),
            ("shuffle across halves", looped!("0", "vpermq ymm0, ymm0, 0x4e", "vpermq ymm0, ymm0, 0x4e")),
        ];
        for (name, run) in chains {
            println!("{:6.2}  {name}", nanoseconds(run) / cycle / 2.0);
        }
        println!(
            "Cycles of a loop of 15 instructions in 64 bytes or so, by how many bytes after a multiple of 64 it starts:"
        );
        for (offset, run) in short_loops!("0" "4" "8" "12" "16" "24" "32" "40" "48" "56" "60") {
            println!("{:6.2}  {offset}", nanoseconds(run) / cycle);
        }
    }

    pub fn all(is_test: bool) {
        if std::is_x86_feature_detected!("avx2") {
            run(if is_test { 100 } else { ROUNDS });
        } else {
            println!("no AVX2 here");
        }
    }
}

fn main() {
    // `cargo test` and `cargo bench -- --test` only see whether it runs.
    let is_test = !std::env::args().any(|argument| argument == "--bench")
        || std::env::args().any(|argument| argument == "--test");
    #[cfg(target_arch = "x86_64")]
    x86_64::all(is_test);
    #[cfg(not(target_arch = "x86_64"))]
    println!("x86-64 only ({is_test})");
}
