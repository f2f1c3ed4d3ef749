//! For `ci/package`: a program for which argreduce has the kernels of `f32` and `u8` alone. With `--cfg left_out="..."`
//! it asks for those of `f64`, by one way in, and is not built.

use argreduce::{ArgReduce, DataType, Layout, Mask, SliceExt, argmax, argminmax, input};

fn main() -> Result<(), argreduce::Error> {
    let scores = [1.0_f32, 9.0, 2.0, 7.0, 0.0, 7.0];
    assert_eq!(scores.repeat(1000).argmax(), Some(1));
    assert_eq!([7_u8; 300].argmin(), Some(0));
    assert_eq!(argminmax::<Vec<i64>, _, _>(&scores, &[2, 3], &[1])?, [[0, 1], [1, 0]]);
    let there = scores.map(|score| score < 5.0);
    let masked = input(&scores).masked(Mask::bools(&there));
    assert_eq!(argmax::<Vec<u32>, _, _>(masked, &[2, 3], &[1])?, [2, 1]);

    let layout = Layout::contiguous(&[300])?;
    let reduce = ArgReduce::argmax(&layout).all_axes();
    #[cfg(left_out = "slice")]
    [7.0_f64; 3].nanargmax();
    #[cfg(left_out = "both")]
    [7.0_f64; 3].argminmax();
    #[cfg(left_out = "plan")]
    reduce.plan::<f64, u32>()?;
    #[cfg(left_out = "stream")]
    reduce.stream::<f64, u32>(0)?;
    for data_type in DataType::ALL {
        let plan = reduce.plan_untyped(data_type, DataType::I64);
        match data_type {
            DataType::F32 | DataType::U8 => assert!(plan.is_ok()),
            _ => {
                let feature = data_type.feature().unwrap();
                let expected = format!("without kernels for {data_type}: they need its feature {feature}; it has ");
                let error = plan.unwrap_err().to_string();
                assert!(error.contains(&expected) && error.ends_with("those for f32 u8"), "{error}");
            }
        }
    }
    Ok(())
}
