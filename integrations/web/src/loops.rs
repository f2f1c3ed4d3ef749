//! Plain loops, as one would write them in Rust without a library: what the compiler makes of them is what `bench.mjs`
//! compares with. Indices are those of the first of the largest; there is no NaN.

use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Of each row.
#[inline(always)]
fn rows<T: Copy + PartialOrd>(x: &[T], len: usize, indices: &mut [u32]) {
    for (row, index) in x.chunks_exact(len).zip(indices) {
        let (mut best, mut at) = (row[0], 0);
        for (n, &value) in row.iter().enumerate() {
            if value > best {
                (best, at) = (value, n as u32);
            }
        }
        *index = at;
    }
}

/// Of each column, row by row.
#[inline(always)]
fn columns<T: Copy + PartialOrd>(x: &[T], columns: usize, best: &mut [T], indices: &mut [u32]) {
    best.copy_from_slice(&x[..columns]);
    indices.fill(0);
    for (n, row) in x.chunks_exact(columns).enumerate() {
        for ((&value, best), index) in row.iter().zip(&mut *best).zip(&mut *indices) {
            if value > *best {
                (*best, *index) = (value, n as u32);
            }
        }
    }
}

macro_rules! loops {
    ($($t:ident $rows:ident $columns:ident)+) => {$(
        /// # Safety
        /// - There are `outputs * len` elements, and as many indices as outputs.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $rows(x: *const $t, outputs: usize, len: usize, indices: *mut u32) {
            // SAFETY: the caller's promise.
            unsafe { rows(from_raw_parts(x, outputs * len), len, from_raw_parts_mut(indices, outputs)) }
        }

        /// # Safety
        /// - There are `outputs * len` elements, and as many places for values and indices as outputs.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $columns(x: *const $t, outputs: usize, len: usize, indices: *mut u32, best: *mut $t) {
            // SAFETY: the caller's promise.
            unsafe {
                let (best, indices) = (from_raw_parts_mut(best, outputs), from_raw_parts_mut(indices, outputs));
                columns(from_raw_parts(x, outputs * len), outputs, best, indices)
            }
        }
    )+};
}

loops! {
    f32 rows_f32 columns_f32
    f64 rows_f64 columns_f64
    u8 rows_u8 columns_u8
    i16 rows_i16 columns_i16
}
