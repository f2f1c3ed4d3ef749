//! Keys, beside the comparison that they stand for.

use argreduce_kernels::{Element, NanPolicy, ReduceFunction, better, key};
use half::{bf16, f16};

/// By class and by the numbers themselves, as the contract says it.
fn is_better<T: Element>(function: ReduceFunction, policy: NanPolicy, a: T, b: T) -> bool {
    #[allow(clippy::eq_op, reason = "only NaN differs from itself")]
    let (a_is_nan, b_is_nan) = (a != a, b != b);
    assert_eq!((a.is_nan(), b.is_nan()), (a_is_nan, b_is_nan), "{a:?}, {b:?}");
    match (a_is_nan, b_is_nan) {
        (false, false) if function == ReduceFunction::ArgMin => a < b,
        (false, false) => a > b,
        (true, true) => false,
        (a_is_nan, _) => a_is_nan == (policy == NanPolicy::Propagate),
    }
}

fn keys_rank<T: Element>(values: &[T]) {
    for function in ReduceFunction::ALL {
        for policy in NanPolicy::ALL {
            for &a in values {
                for &b in values {
                    let expected = is_better(function, policy, a, b);
                    let is_above = key(function, policy, a) > key(function, policy, b);
                    assert_eq!(is_above, expected, "{function} {policy}: {a:?}, {b:?}");
                    assert_eq!(better(function, policy, a, b), expected, "{function} {policy}: {a:?}, {b:?}");
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
