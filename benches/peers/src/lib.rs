//! The crate argminmax for `measure.py`: a call for each row of a packed matrix, which is what its user writes.

use argminmax::{ArgMinMax, NaNArgMinMax};
use half::f16;
use std::slice;

macro_rules! exports {
    ($($name:ident: $t:ty, $function:path;)+) => {$(
        /// The index of the largest element of each row.
        ///
        /// # Safety
        ///
        /// `rows * len` elements at `x` may be read, and `rows` indices at `indices` may be written; nobody else writes
        /// to either meanwhile. `len` is not 0.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(x: *const $t, rows: usize, len: usize, indices: *mut i64) {
            // SAFETY: the caller says that these elements and these indices are there, and nobody else's to write.
            let (x, indices) =
                unsafe { (slice::from_raw_parts(x, rows * len), slice::from_raw_parts_mut(indices, rows)) };
            for (row, index) in x.chunks_exact(len).zip(indices) {
                *index = $function(&row) as i64;
            }
        }
    )+};
}

exports! {
    argmax_float32: f32, ArgMinMax::argmax;
    argmax_float16: f16, ArgMinMax::argmax;
    argmax_uint8: u8, ArgMinMax::argmax;
    nanargmax_float32: f32, NaNArgMinMax::nanargmax;
    nanargmax_float16: f16, NaNArgMinMax::nanargmax;
}
