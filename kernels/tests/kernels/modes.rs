//! The answer does not depend on the floating-point mode of the thread.

use crate::case::{Case, Sample};
use crate::merge;
use argreduce_guard::{FloatMode, few};
use argreduce_kernels::{Isa, LoopDim};
use half::{bf16, f16};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

const ONCE: LoopDim = LoopDim::ONE;

/// Each of this machine's modes, for every type of floats: flushed, subnormals would be zeros.
pub fn check_all(isa: Isa) {
    for mode in FloatMode::ALL {
        mode.run(|| {
            Case::<f32>::new(isa).check_subnormals(f32::from_bits);
            Case::<f64>::new(isa)
                .check_subnormals(|bits| f64::from_bits(u64::from(bits & 3) | u64::from(bits >> 31) << 63));
            merge::check_with::<f32, u32>(isa);
            merge::check_with::<f64, u8>(isa);
        });
    }
    // Their kernels order integers: so where the machine is slow, two modes say enough.
    for mode in few(0..FloatMode::ALL.len(), 4).map(|n| FloatMode::ALL[n]) {
        mode.run(|| {
            Case::<f16>::new(isa).check_subnormals(|bits| f16::from_bits(bits as u16 & 3 | (bits >> 16) as u16));
            Case::<bf16>::new(isa).check_subnormals(|bits| bf16::from_bits(bits as u16 & 3 | (bits >> 16) as u16));
        });
    }
}

impl<T: Sample> Case<T> {
    /// Calls of every strategy, of zeros and subnormals of both signs, and some of them with a NaN. `float` makes a
    /// number of a sign and two bits of its fraction.
    fn check_subnormals(&self, float: fn(u32) -> T) {
        let mut rng = SmallRng::seed_from_u64(7);
        let mut data = |len: usize| -> Vec<T> {
            let top = rng.random_range(1..4);
            let mut data: Vec<T> =
                (0..len).map(|_| float(rng.random_range(0..=top) | if rng.random() { 1 << 31 } else { 0 })).collect();
            if rng.random_range(0..4) == 0 {
                data[rng.random_range(0..len)] = T::SPECIAL[T::SPECIAL.len() - 1 - rng.random_range(0..3)];
            }
            data
        };
        let lanes = self.lanes;
        let larger = [20 * lanes + 1, 70 * lanes + 3, 300 * lanes];
        for len in few(1..5 * lanes + 3, 29).chain(few(0..3, 3).map(|n| larger[n])) {
            let row = LoopDim { size: len, stride: 1 };
            // One row in either direction, three rows, and the same as columns; a row in segments.
            self.check(&data(len), 0, ONCE, ONCE, &[row]);
            self.check(&data(len), len - 1, ONCE, ONCE, &[LoopDim { stride: -1, ..row }]);
            let rows = LoopDim { size: 3, stride: len as isize };
            self.check(&data(3 * len), 0, ONCE, rows, &[row]);
            self.check(&data(3 * len), 0, ONCE, row, &[rows]);
            self.check(&data(3 * len), 0, ONCE, ONCE, &[rows, row]);
            // Outputs of three neighbours: narrow, or gathered.
            let (narrow, tall) = (LoopDim { size: 3, stride: 1 }, LoopDim { size: len, stride: 3 });
            self.check(&data(3 * len), 0, ONCE, narrow, &[tall]);
            self.check(&data(3 * len), 0, ONCE, tall, &[narrow]);
        }
    }
}
