//! Keys, beside the comparison that they stand for.

use argreduce_guard::Sample;
use argreduce_kernels::{DataType, Element, NanPolicy, ReduceFunction, better, key, with_element_type};

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
    for data_type in DataType::ALL {
        with_element_type!(data_type, T => keys_rank(<T as Sample>::SPECIAL));
    }
}
