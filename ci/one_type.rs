//! For `ci/package`: a program of which argreduce has the kernels of `f32` and `u8` alone. With `--cfg left_out` it
//! asks for those of another type, and does not compile.

use argreduce::{ArgReduce, DataType, Layout, Mask, SliceExt, argmax_masked, argminmax};

fn main() -> Result<(), argreduce::Error> {
    let scores = [1.0_f32, 9.0, 2.0, 7.0, 0.0, 7.0];
    assert_eq!(scores.repeat(1000).argmax(), Some(1));
    assert_eq!([7_u8; 300].argmin(), Some(0));
    assert_eq!(argminmax::<_, i64>(&scores, &[2, 3], &[1])?, (vec![0, 1], vec![1, 0]));
    let there = scores.map(|score| score < 5.0);
    assert_eq!(argmax_masked::<_, u32>(&scores, &[2, 3], &[1], Mask::bools(&there))?, [2, 1]);
    #[cfg(left_out)]
    assert_eq!([7.0_f64; 300].argmax(), Some(0));

    let layout = Layout::contiguous(&[300])?;
    for data_type in DataType::ALL {
        let plan = ArgReduce::argmax(&layout).all_axes().plan_untyped(data_type, DataType::I64);
        match data_type {
            DataType::F32 | DataType::U8 => assert!(plan.is_ok()),
            _ => {
                let expected = format!(
                    "this build has no kernels for {data_type}: they need the feature {} of argreduce",
                    data_type.feature().unwrap()
                );
                assert_eq!(plan.unwrap_err().to_string(), expected);
            }
        }
    }
    Ok(())
}
