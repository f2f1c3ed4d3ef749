//! The instruction sets: one module each, a token and the table of operations of [`crate::lanes`]. Everything that pulp gives
//! stays in here.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod portable;

/// The numbers of `$lanes` lanes as integers of type `$count`, from 0 up, and down to 0.
macro_rules! iotas {
    ($count:ty, $lanes:expr) => {{
        let mut table = [[0; $lanes]; 2];
        let mut lane = 0;
        while lane < $lanes {
            (table[0][lane], table[1][lane]) = (lane as $count, ($lanes - 1 - lane) as $count);
            lane += 1;
        }
        table
    }};
}
pub(crate) use iotas;
