//! Keys, beside the comparison that they stand for.

use argreduce_kernels::{Element, NanPolicy, ReduceFunction, better, key};
use half::{bf16, f16};

fn keys_rank<T: Element>(values: &[T]) {
    for function in ReduceFunction::ALL {
        for policy in NanPolicy::ALL {
            for &a in values {
                for &b in values {
                    let is_above = key(function, policy, a) > key(function, policy, b);
                    assert_eq!(is_above, better(function, policy, a, b), "{function} {policy}: {a:?}, {b:?}");
                }
            }
        }
    }
}

/// Keys have the order of the contract, of all types.
#[test]
fn keys() {
    macro_rules! integers {
        ($($t:ident)+) => {$(keys_rank(&[$t::MIN, $t::MIN + 1, 0, 1, $t::MAX / 2, $t::MAX / 2 + 1, $t::MAX - 1,
            $t::MAX]);)+};
    }
    macro_rules! floats {
        ($($t:ident)+) => {$({
            let positive = [0, 1, 2].map($t::from_bits).into_iter().chain([$t::MIN_POSITIVE, $t::MAX,
                $t::INFINITY]);
            let nans = [$t::INFINITY.to_bits() + 1, $t::NAN.to_bits(), $t::NAN.to_bits() | 1].map($t::from_bits);
            keys_rank(&positive.chain(nans).flat_map(|x| [x, -x]).collect::<Vec<_>>());
        })+};
    }
    integers!(i8 u8 i16 u16 i32 u32 i64 u64);
    floats!(f16 bf16 f32 f64);
    keys_rank(&[false, true]);
}
