//! The answer does not depend on the floating-point mode of the thread.

use crate::case::{Case, Sample};
use crate::merge;
use argreduce_guard::{FloatMode, few};
use argreduce_kernels::{DataType, Element, Isa, LoopDim, with_element_type};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

const ONCE: LoopDim = LoopDim::ONE;

/// Each of this machine's modes, for every type of floats: flushed, subnormals would be zeros.
pub fn check_all(isa: Isa) {
    for data_type in DataType::ALL {
        with_element_type!(data_type, T => check::<<T as Element>::Pod>(isa));
    }
    FloatMode::ALL.iter().for_each(|mode| {
        mode.run(|| {
            merge::check_with::<f32, u32>(isa);
            merge::check_with::<f64, u8>(isa);
        })
    });
}

fn check<T: Sample>(isa: Isa) {
    if T::NAN.is_some() && T::DATA_TYPE.has_kernels() {
        // Kernels of narrow ones order integers: so where the machine is slow, two modes say enough.
        let modes = few(0..FloatMode::ALL.len(), if size_of::<T>() < 4 { 4 } else { 1 });
        modes.for_each(|n| FloatMode::ALL[n].run(|| Case::<T>::new(isa).check_subnormals()));
    }
}

impl<T: Sample> Case<T> {
    /// Calls of every strategy, of zeros and subnormals of both signs, and some of them with a NaN.
    fn check_subnormals(&self) {
        let mut rng = SmallRng::seed_from_u64(7);
        let mut data = |len: usize| -> Vec<T> {
            let top = rng.random_range(1..4);
            let mut data: Vec<T> = (0..len)
                .map(|_| {
                    T::of_bits(rng.random_range(0..=top) | u64::from(rng.random::<bool>()) << (8 * size_of::<T>() - 1))
                })
                .collect();
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
