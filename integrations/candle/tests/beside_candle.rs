//! Beside candle's own argmin and argmax, and its min and max: every type, view, axis and function that it has, on data
//! full of ties, without NaN. Then all orders against argreduce's reference, also where candle has no answer or
//! another.

use argreduce::reference;
use argreduce_candle::{ArgReduction, AxisDirection, NanPolicy, Options, ReduceFunction, TensorExt};
use candle_core::op::BackpropOp;
use candle_core::{CpuStorage, D, DType, Device, IndexOp, Result, Storage, Tensor, WithDType};
use half::{bf16, f16};

const TYPES: [DType; 10] = [
    DType::U8,
    DType::U32,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::BF16,
    DType::F16,
    DType::F32,
    DType::F64,
    DType::F8E4M3,
];
const FUNCTIONS: [ReduceFunction; 2] = [ReduceFunction::ArgMin, ReduceFunction::ArgMax];

/// `len` numbers from 0 to 6, without a period that a shape could share.
fn numbers(len: usize) -> Vec<f32> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % 7
    };
    (0..len).map(|_| next() as f32).collect()
}

fn tensor(dims: &[usize], dtype: DType) -> Result<Tensor> {
    Tensor::from_vec(numbers(dims.iter().product()), dims, &Device::Cpu)?.to_dtype(dtype)
}

/// Each order of `rank` axes.
fn permutations(rank: usize) -> Vec<Vec<usize>> {
    if rank == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(rank - 1).into_iter();
    let insert = |order: Vec<usize>, at: usize| [&order[..at], &[rank - 1], &order[at..]].concat();
    shorter.flat_map(|order| (0..rank).map(move |at| insert(order.clone(), at))).collect()
}

/// Each kind of view that candle makes without a copy, and views of views.
fn views(dtype: DType) -> Result<Vec<(String, Tensor)>> {
    let mut views = vec![];
    for dims in [&[7][..], &[1], &[5, 9], &[1, 70], &[70, 1], &[3, 4, 33], &[2, 3, 4, 17], &[2, 1, 3, 2, 5]] {
        let whole = tensor(dims, dtype)?;
        for order in permutations(dims.len()) {
            let permuted = whole.permute(order.as_slice())?;
            // Each axis cut on both sides, and then permuted, and the other way round.
            for axis in 0..dims.len() {
                if dims[axis] > 2 {
                    let cut = whole.narrow(axis, 1, dims[axis] - 2)?.permute(order.as_slice())?;
                    views.push((format!("{dims:?} without the ends of axis {axis}, as {order:?}"), cut));
                }
                if permuted.dim(axis)? > 1 {
                    let last = permuted.narrow(axis, permuted.dim(axis)? - 1, 1)?;
                    views.push((format!("{dims:?} as {order:?}, the last of axis {axis}"), last.clone()));
                    let dropped = last.squeeze(axis)?;
                    views.push((format!("{dims:?} as {order:?}, the last of axis {axis}, dropped"), dropped));
                }
                let more = permuted.unsqueeze(axis)?;
                let broadcast: Vec<usize> =
                    more.dims().iter().enumerate().map(|(n, &size)| if n == axis { 6 } else { size }).collect();
                views.push((format!("{dims:?} as {order:?}, 6 times at {axis}"), more.broadcast_as(broadcast)?));
            }
            views.push((format!("{dims:?} as {order:?}"), permuted));
        }
    }
    let whole = tensor(&[6, 8, 10], dtype)?;
    views.push(("ranges of all axes".into(), whole.i((1..5, 2..7, 3..9))?));
    views.push(("a chunk".into(), whole.chunk(3, 1)?.remove(1)));
    views.push(("flattened".into(), whole.i(2..)?.flatten(0, 1)?));
    views.push(("one position, transposed".into(), whole.i((.., 3, ..))?.t()?));
    views.push(("one element in all places".into(), whole.i((0, 0, ..1))?.broadcast_as((4, 5, 6))?));
    Ok(views)
}

/// candle's own, with both forms of the result.
fn own(view: &Tensor, axis: usize, function: ReduceFunction, keepdim: bool) -> Result<(Tensor, Tensor)> {
    Ok(match (function, keepdim) {
        (ReduceFunction::ArgMin, false) => (view.argmin(axis)?, view.min(axis)?),
        (ReduceFunction::ArgMin, true) => (view.argmin_keepdim(axis)?, view.min_keepdim(axis)?),
        (_, false) => (view.argmax(axis)?, view.max(axis)?),
        (_, true) => (view.argmax_keepdim(axis)?, view.max_keepdim(axis)?),
    })
}

/// All of a tensor, in row-major order.
fn elements<T: WithDType>(tensor: &Tensor) -> Result<Vec<T>> {
    tensor.flatten_all()?.to_vec1::<T>()
}

/// Bits, as numbers that compare: NaN too.
fn same(left: &Tensor, right: &Tensor) -> Result<bool> {
    if left.dims() != right.dims() || left.dtype() != right.dtype() {
        return Ok(false);
    }
    // In release builds, candle's conversion of a zero of f8e4m3 to f64 does not end.
    let wide = |tensor: &Tensor| match tensor.dtype() {
        DType::F8E4M3 => tensor.to_dtype(DType::F32)?.to_dtype(DType::F64),
        _ => tensor.to_dtype(DType::F64),
    };
    let bits = |tensor: &Tensor| elements::<f64>(&wide(tensor)?);
    Ok(bits(left)?.iter().map(|x| x.to_bits()).eq(bits(right)?.iter().map(|x| x.to_bits())))
}

#[test]
fn one_axis_of_every_view_and_type_as_candle_has_it() -> Result<()> {
    let mut compared = 0;
    for dtype in TYPES {
        for (name, view) in views(dtype)? {
            for axis in 0..view.rank() {
                for (function, keepdim) in FUNCTIONS.into_iter().flat_map(|f| [(f, false), (f, true)]) {
                    let reduction = ArgReduction::new(function, &[axis as isize]);
                    let reduction = if keepdim { reduction.keepdim() } else { reduction };
                    let indices = view.arg_reduce(&reduction)?;
                    let both = view.arg_reduce_with_values(&reduction)?;
                    let (own_indices, own_values) = own(&view, axis, function, keepdim)?;
                    let what = format!("{function} of {dtype:?} {name} over {axis}, keepdim {keepdim}");
                    assert!(same(&indices, &own_indices)?, "{what}: {indices} is not {own_indices}");
                    assert!(same(&both.0, &own_indices)?, "{what}: {} is not {own_indices}", both.0);
                    assert!(same(&both.1, &own_values)?, "{what}: {} is not {own_values}", both.1);
                    compared += 1;
                }
            }
        }
    }
    // docs/conformance.md has the number.
    println!("{compared} reductions as candle has them");
    assert_eq!(compared, COMPARED);
    Ok(())
}

/// See docs/conformance.md.
const COMPARED: usize = 463_960;

/// Each list of axes of this rank, ascending.
fn subsets(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1 << rank).map(move |set: usize| (0..rank).filter(|axis| set >> axis & 1 == 1).collect())
}

/// Every order over every set of axes, given in descending order, against the reference on the same elements.
fn against_reference<T: WithDType + argreduce::Element>(name: &str, view: &Tensor) -> Result<usize> {
    let input = elements::<T>(view)?;
    let layout = argreduce::Layout::contiguous(view.dims()).map_err(candle_core::Error::wrap)?;
    let mut compared = 0;
    for axes in subsets(view.rank()) {
        let reduced: Vec<bool> = (0..view.rank()).map(|axis| axes.contains(&axis)).collect();
        let backwards: Vec<isize> = axes.iter().rev().map(|&axis| axis as isize).collect();
        for function in FUNCTIONS {
            for direction in [AxisDirection::Increasing, AxisDirection::Decreasing] {
                for nan_policy in [NanPolicy::Propagate, NanPolicy::Ignore] {
                    let options = Options::new().direction(direction).nan_policy(nan_policy);
                    let reduction = ArgReduction::new(function, &backwards).options(options);
                    let indices = elements::<u32>(&view.arg_reduce(&reduction)?)?;
                    let order = (function, direction, nan_policy);
                    let expected = reference::arg_reduce(order, &layout, &reduced, &input);
                    let what = format!("{order:?} of {:?} {name} over {axes:?}", T::DTYPE);
                    assert!(indices.iter().map(|&index| index as usize).eq(expected), "{what}");
                    compared += 1;
                }
            }
        }
    }
    Ok(compared)
}

/// Every fifth element is NaN, and infinities and both zeros are there.
fn special<T: WithDType>(dims: &[usize]) -> Result<Tensor> {
    let of = |x: f32| match x {
        0. => f64::NAN,
        1. => f64::NEG_INFINITY,
        2. => f64::INFINITY,
        3. => -0.,
        4. => 0.,
        x => x as f64,
    };
    let data = numbers(dims.iter().product()).into_iter().map(|x| T::from_f64(of(x))).collect::<Vec<T>>();
    let len = data.len();
    Tensor::from_vec(data, len, &Device::Cpu)?.reshape(dims)
}

fn special_views<T: WithDType + argreduce::Element>() -> Result<usize> {
    let whole = special::<T>(&[3, 4, 5, 40])?;
    let all_nan = Tensor::full(f32::NAN, (3, 40), &Device::Cpu)?.to_dtype(T::DTYPE)?;
    Ok(against_reference::<T>("whole", &whole)?
        + against_reference::<T>("permuted", &whole.permute((2, 0, 3, 1))?)?
        + against_reference::<T>("cut", &whole.i((1.., .., 1..4, 3..))?)?
        + against_reference::<T>("broadcast", &whole.i((0, .., 0, ..))?.unsqueeze(1)?.broadcast_as((4, 3, 40))?)?
        + against_reference::<T>("nothing but NaN", &all_nan)?)
}

#[test]
fn every_order_over_several_axes_as_the_reference_has_it() -> Result<()> {
    let floats = special_views::<f32>()? + special_views::<f64>()? + special_views::<f16>()? + special_views::<bf16>()?;
    let mut integers = 0;
    for (name, view) in
        [("whole", tensor(&[3, 4, 50], DType::U32)?), ("permuted", tensor(&[3, 4, 50], DType::U32)?.t()?)]
    {
        integers += against_reference::<u8>(name, &view.to_dtype(DType::U8)?)?
            + against_reference::<u32>(name, &view)?
            + against_reference::<i16>(name, &view.to_dtype(DType::I16)?)?
            + against_reference::<i32>(name, &view.to_dtype(DType::I32)?)?
            + against_reference::<i64>(name, &view.to_dtype(DType::I64)?)?;
    }
    println!("{floats} reductions of floats and {integers} of integers as the reference has them");
    assert_eq!((floats, integers), (1920, 640));
    Ok(())
}

/// The rows of the table in docs/conformance.md.
#[test]
fn where_candle_is_different() -> Result<()> {
    let (nan, inf, max) = (f32::NAN, f32::INFINITY, f32::MAX);
    // The input; what candle has; the first and the last with NaN ignored, and propagated.
    let rows = [
        ([nan, 1., 3., 3.], 0, [2, 3, 0, 0]),
        ([1., nan, 3., nan], 2, [2, 2, 1, 3]),
        ([nan; 4], 0, [0, 3, 0, 3]),
        ([-inf; 4], 0, [0, 3, 0, 3]),
        ([-inf, -max, -inf, -inf], 1, [1, 1, 1, 1]),
        ([nan, -max, -max, -inf], 0, [1, 2, 0, 0]),
    ];
    for (row, own, ours) in rows {
        let largest = Tensor::new(&row, &Device::Cpu)?;
        let smallest = largest.neg()?;
        assert_eq!([largest.argmax(0)?.to_scalar::<u32>()?, smallest.argmin(0)?.to_scalar()?], [own; 2], "{row:?}");
        let orders = [NanPolicy::Ignore, NanPolicy::Propagate]
            .into_iter()
            .flat_map(|policy| [AxisDirection::Increasing, AxisDirection::Decreasing].map(|ties| (policy, ties)));
        for ((nan_policy, direction), ours) in orders.zip(ours) {
            let options = Options::new().direction(direction).nan_policy(nan_policy);
            for (tensor, function) in [(&largest, ReduceFunction::ArgMax), (&smallest, ReduceFunction::ArgMin)] {
                let found = tensor.arg_reduce(&ArgReduction::new(function, &[0]).options(options))?;
                assert_eq!(found.to_scalar::<u32>()?, ours, "{function} of {row:?}, {options:?}");
            }
        }
    }
    // No outputs: an error of candle's, and an empty tensor here.
    let empty = Tensor::zeros((0, 3), DType::F32, &Device::Cpu)?;
    assert!(empty.argmax(1).is_err());
    assert_eq!(empty.argmax_over(1)?.dims(), [0]);
    Ok(())
}

#[test]
fn the_methods_take_what_candles_take() -> Result<()> {
    let x = tensor(&[2, 3, 4], DType::F32)?;
    assert!(same(&x.argmax_over(D::Minus1)?, &x.argmax(D::Minus1)?)?);
    assert!(same(&x.argmin_over(1)?, &x.argmin(1)?)?);
    assert_eq!(x.argmax_over((0, 2))?.dims(), [3]);
    assert_eq!(x.argmin_over([2, 0, 1])?.to_scalar::<u32>()?, x.flatten_all()?.argmin(0)?.to_scalar::<u32>()?);
    assert_eq!(x.arg_reduce(&ArgReduction::argmin(&[-1, 0]).keepdim())?.dims(), [1, 3, 1]);
    assert_eq!(x.apply_op1_no_bwd(&ArgReduction::argmax(&[1]))?.dims(), [2, 4]);
    Ok(())
}

#[test]
fn an_index_has_no_gradient_and_what_it_gathers_has() -> Result<()> {
    let x = candle_core::Var::from_tensor(&tensor(&[3, 4], DType::F32)?)?;
    let best = x.arg_reduce(&ArgReduction::argmax(&[1]).keepdim())?;
    let gradients = x.gather(&best, 1)?.sum_all()?.backward()?;
    let expected = best.broadcast_as((3, 4))?.eq(&Tensor::arange(0_u32, 4, &Device::Cpu)?.broadcast_as((3, 4))?)?;
    assert!(same(gradients.get(&x).unwrap(), &expected.to_dtype(DType::F32)?)?);
    assert!(best.to_dtype(DType::F32)?.sum_all()?.backward()?.get(&x).is_none());
    Ok(())
}

#[test]
fn threads_change_no_answer() -> Result<()> {
    // Beyond the size from which on a call is divided, and strided.
    let x = tensor(&[21, 600, 512], DType::F32)?;
    for view in [x.clone(), x.permute((2, 0, 1))?] {
        for axis in 0..3 {
            let one = pool(1).install(|| view.argmax_over(axis))?;
            let three = pool(3).install(|| view.arg_reduce_with_values(&ArgReduction::argmax(&[axis as isize])))?;
            assert!(same(&one, &three.0)? && same(&one, &view.argmax(axis)?)? && same(&three.1, &view.max(axis)?)?);
        }
    }
    Ok(())
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn bad_input_is_an_error_that_names_it() -> Result<()> {
    fn fails<T>(result: Result<T>, message: &str) {
        let error = result.err().expect(message).to_string();
        assert!(error.contains(message), "{error}, where {message} was expected");
    }
    let x = tensor(&[2, 3], DType::F32)?;
    fails(x.argmax_over(2), "dimension index 2 out of range");
    fails(x.argmax_over((1, 1)), "duplicate dim index");
    fails(x.arg_reduce(&ArgReduction::argmax(&[-3])), "argmax of a tensor of [2, 3]: axis -3 is out of range");
    fails(x.arg_reduce_with_values(&ArgReduction::argmin(&[1, -1])), "argmin of a tensor of [2, 3]: axis");
    let empty = Tensor::zeros((2, 0), DType::F32, &Device::Cpu)?;
    fails(empty.argmax_over(1), "argmax of a tensor of [2, 0]: ");
    let bits = Storage::Cpu(CpuStorage::F4(vec![0; 6]));
    let small = Tensor::from_storage(bits, (2, 3), BackpropOp::none(), false);
    fails(small.argmax_over(1), "argmax of f4: allowed are u8, u32, i16, i32, i64, bf16, f16, f32, f64 and f8e4m3");
    fails(small.arg_reduce_with_values(&ArgReduction::argmin(&[1])), "argmin of f4: allowed are u8");
    let deep = Tensor::zeros(&[1; 9][..], DType::F32, &Device::Cpu)?;
    fails(deep.argmax_over(0), "argmax of a tensor of [1, 1, 1, 1, 1, 1, 1, 1, 1]: ");
    Ok(())
}
