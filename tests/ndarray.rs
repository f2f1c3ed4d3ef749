//! Arrays and views of the crate `ndarray`, against the reference on a packed copy.

mod common;

use argreduce::{
    ArrayExt, AxisDirection, Error, Executor, Layout, NanPolicy, Options, ReduceFunction, Sequential, drop_axes,
    reference, unravel,
};
use common::{Sample, orders, rng, sample};
use ndarray::{
    Array, Array0, Array1, Array2, Array3, ArrayD, ArrayView, ArrayViewD, Axis, IxDyn, Slice, arr0, array, s,
};
use std::cell::Cell;

/// Every order, over the axes, against the reference.
fn check<T: Sample>(view: ArrayViewD<T>, axes: &[isize]) {
    let packed: Vec<T> = view.iter().copied().collect();
    let layout = Layout::contiguous(view.shape()).unwrap();
    let rank = view.ndim();
    let mut reduced = vec![false; rank];
    axes.iter().for_each(|&axis| reduced[axis.rem_euclid(rank.max(1) as isize) as usize] = true);
    for order in orders() {
        let expected = reference::arg_reduce(order, &layout, &reduced, &packed);
        let expected: Vec<i64> = expected.into_iter().map(|index| index as i64).collect();
        let (function, direction, policy) = order;
        let options = Options::new().direction(direction).nan_policy(policy);
        let (found, values) = view.arg_reduce::<i64>(function, axes, options, None, &Sequential).unwrap();
        let sizes = drop_axes(view.shape(), axes).unwrap();
        assert_eq!([found.shape(), values.shape()], [&sizes[..]; 2]);
        // The values are those at the indices, wherever they are in memory.
        let best = |(n, &index): (usize, &i64)| at_index(&view, axes, n, index as usize).bits();
        let expected_bits: Vec<u64> = expected.iter().enumerate().map(best).collect();
        assert_eq!(values.iter().map(|value| value.bits()).collect::<Vec<_>>(), expected_bits);
        if let (&[axis], true) = (axes, options == Options::new()) {
            let is_min = function == ReduceFunction::ArgMin;
            assert_eq!(if is_min { view.argmin_axis::<i64>(axis) } else { view.argmax_axis(axis) }.unwrap(), found);
            assert_eq!(if is_min { view.argmin_axes::<i64>(axes) } else { view.argmax_axes(axes) }.unwrap(), found);
        }
        assert_eq!(found.into_raw_vec_and_offset().0, expected, "{order:?} {:?} {:?}", view.shape(), view.strides());
    }
}

/// The element of output `n`, counted over the kept axes, at an index over the reduced ones.
fn at_index<T: Copy>(view: &ArrayViewD<T>, axes: &[isize], mut n: usize, index: usize) -> T {
    let along = unravel(index, view.shape(), axes).unwrap();
    let mut along = along.iter().rev();
    let mut coordinates = vec![0; view.ndim()];
    for axis in (0..view.ndim()).rev() {
        let is_reduced = axes.iter().any(|&reduced| reduced.rem_euclid(view.ndim() as isize) as usize == axis);
        if is_reduced {
            coordinates[axis] = *along.next().unwrap();
        } else {
            (coordinates[axis], n) = (n % view.shape()[axis], n / view.shape()[axis]);
        }
    }
    view[&coordinates[..]]
}

#[test]
fn views_of_every_kind() {
    fn views<T: Sample>() {
        let mut rng = rng(11);
        for _ in 0..3 {
            let array = ArrayD::from_shape_vec(IxDyn(&[4, 5, 18]), sample::<T>(&mut rng, 360)).unwrap();
            let wide = array.slice_axis(Axis(1), Slice::from(2..3));
            let views = [
                array.view(),
                array.t(),
                array.view().permuted_axes(IxDyn(&[1, 2, 0])),
                array.slice_axis(Axis(2), Slice::from(..).step_by(-1)),
                array.slice_axis(Axis(2), Slice::from(1..).step_by(3)),
                array.slice_axis(Axis(1), Slice::from(..4).step_by(-3)),
                array.slice_axis(Axis(0), Slice::from(1..3)),
                wide.broadcast(IxDyn(&[4, 7, 18])).unwrap(),
                array.slice_axis(Axis(0), Slice::from(..1).step_by(-1)),
            ];
            for view in views {
                for axes in [&[0][..], &[1], &[-1], &[2, 0], &[0, 1, 2], &[]] {
                    check(view.view(), axes);
                }
            }
        }
    }
    for_each_type!(views());
}

/// Broadcast axes of stride 0, reversed in ndarray's own way (a stride of -0 is 0, but an inverted axis starts
/// elsewhere).
#[test]
fn negative_and_zero_strides() {
    let mut reversed = array![[1_i32, 5, 5], [7, 0, 7]];
    reversed.invert_axis(Axis(1));
    assert_eq!(reversed.strides(), [3, -1]);
    assert_eq!(reversed.argmax_axes::<u32>(&[1]).unwrap(), array![0, 0].into_dyn());
    reversed.invert_axis(Axis(0));
    assert_eq!(reversed.argmin_axes::<u32>(&[0, 1]).unwrap(), Array::from_elem(IxDyn(&[]), 1));

    let row = array![3_u8, 9, 9];
    let rows = row.broadcast((1_000_000, 3)).unwrap();
    assert_eq!(rows.strides(), [0, 1]);
    assert_eq!(rows.argmax_axes::<i32>(&[0, 1]).unwrap(), Array::from_elem(IxDyn(&[]), 1));
    let last = Options::new().direction(AxisDirection::Decreasing).nan_policy(NanPolicy::Ignore);
    let found = rows.arg_reduce::<i32>(ReduceFunction::ArgMax, &[0], last, None, &Sequential);
    assert_eq!(found.unwrap().0, Array1::from_elem(3, 999_999).into_dyn());
}

/// One axis: the types say how many dimensions are left.
#[test]
fn one_axis_less() {
    let one: Array1<u32> = array![[3, 9, 9], [7, 0, 7]].argmax_axis(-1).unwrap();
    assert_eq!(one, array![1, 0]);
    let none: Array0<i64> = array![3_u8, 9, 9].argmin_axis(0).unwrap();
    assert_eq!(none, arr0(0));
    let two: Array2<u32> = Array3::<f32>::zeros((4, 5, 6)).argmin_axis(1).unwrap();
    assert_eq!(two, Array2::<u32>::zeros((4, 6)));
    let dynamic: ArrayD<u32> = Array3::<f32>::zeros((4, 5, 6)).into_dyn().argmax_axis(0).unwrap();
    assert_eq!(dynamic, Array2::<u32>::zeros((5, 6)).into_dyn());

    let array = array![[1.0, f32::NAN, 5.0], [f32::NAN, f32::NAN, f32::NAN]];
    let (indices, values): (ArrayD<u64>, ArrayD<f32>) =
        array.t().arg_reduce(ReduceFunction::ArgMin, &[0], NanPolicy::Ignore, None, &Sequential).unwrap();
    assert_eq!(indices, array![0, 0].into_dyn());
    assert!(values[0] == 1.0 && values[1].is_nan());

    for axis in [2, -3, isize::MAX, isize::MIN] {
        assert_eq!(array.argmax_axis::<u32>(axis), Err(Error::AxisOutOfRange { axis, rank: 2 }));
    }
    assert_eq!(Array2::<f32>::zeros((3, 0)).argmax_axis::<u32>(0).unwrap().shape(), [0]);
    assert_eq!(
        Array2::<f32>::zeros((3, 0)).argmax_axis::<u32>(1),
        Err(Error::EmptyReduction { axis: 1, of: "tensor" })
    );
    assert_eq!(ArrayD::<f32>::zeros(IxDyn(&[1; 9])).argmax_axis::<u32>(2), Err(Error::RankTooHigh { rank: 9 }));
}

/// The executor is lent once, and changes no answer.
#[test]
fn on_threads() {
    struct Counting(Cell<usize>);
    impl Executor for Counting {
        fn width(&self) -> usize {
            3
        }
        fn min_task_bytes(&self) -> usize {
            1
        }
        fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            self.0.set(self.0.get() + 1);
            (0..tasks).for_each(task);
        }
    }
    let executor = &Counting(Cell::new(0));
    let array = Array3::from_shape_fn((60, 62, 42), |(x, y, z)| (x * 7 + y * 13 + z * 5) % 31);
    let array = array.mapv(|n| n as f32);
    let (view, last) = (array.slice(s![.., ..;-2, 1..]), AxisDirection::Decreasing);
    let (min, max) = (ReduceFunction::ArgMin, ReduceFunction::ArgMax);
    for (n, (function, axes)) in [(min, &[1_isize][..]), (max, &[-1]), (min, &[0, 2])].into_iter().enumerate() {
        let alone = view.arg_reduce::<u32>(function, axes, last, None, &Sequential);
        assert_eq!(view.arg_reduce(function, axes, last, None, executor), alone);
        assert_eq!(executor.0.get(), n + 1);
    }
    let wrong = view.arg_reduce::<u32>(max, &[3], last, None, executor);
    assert_eq!(wrong, Err(Error::AxisOutOfRange { axis: 3, rank: 3 }));
    assert_eq!(executor.0.get(), 3);
}

/// Results that no memory holds, of arrays that need little or none.
#[test]
#[cfg(target_pointer_width = "64")]
fn results_of_any_size() {
    let row = Array1::<u8>::zeros(1);
    let repeated = row.broadcast((1_usize << 62, 1)).unwrap();
    let error = |len| Err(Error::OutOfMemory { slice: "output", element_type: "u64", len });
    assert_eq!(repeated.argmax_axis::<u64>(1), error(1 << 62));
    // No elements, of more bytes than can be addressed.
    let nothing = Array3::<u8>::zeros((0, 1 << 61, 1));
    assert_eq!(nothing.argmax_axis::<u64>(1).unwrap().shape(), [0, 1]);
    assert_eq!(nothing.argmax_axis::<u64>(2).map(|_| ()), Ok(()));
}

#[test]
fn owners_ranks_and_empty_arrays() {
    assert_eq!(arr0(4_f64).argmax_axes::<u32>(&[]).unwrap(), arr0(0).into_dyn());
    assert_eq!(Array1::from(vec![true, false]).argmin_axes::<u64>(&[0]).unwrap(), arr0(1).into_dyn());
    assert_eq!(array![[1_i8, 2]].into_shared().argmax_axes::<u64>(&[1]).unwrap(), array![1].into_dyn());
    assert_eq!(ArrayView::from(&[1_i8, 2]).argmax_axes::<u64>(&[]).unwrap(), array![0, 0].into_dyn());
    assert_eq!(Array2::<f32>::zeros((0, 3)).argmax_axes::<u32>(&[1]).unwrap().shape(), [0]);
    assert_eq!(
        Array2::<f32>::zeros((0, 3)).argmax_axes::<u32>(&[0]),
        Err(Error::EmptyReduction { axis: 0, of: "tensor" })
    );
    assert_eq!(Array2::<f32>::zeros((2, 3)).argmax_axes::<u32>(&[2]), Err(Error::AxisOutOfRange { axis: 2, rank: 2 }));
    assert_eq!(ArrayD::<f32>::zeros(IxDyn(&[1; 9])).argmax_axes::<u32>(&[2]), Err(Error::RankTooHigh { rank: 9 }));
}

/// What lies between the elements of a view may be written meanwhile: here by another thread.
#[test]
fn what_lies_between_is_not_read() {
    let mut array = Array2::<f32>::zeros((64, 100));
    let (mut even, odd) = array.multi_slice_mut((s![.., ..;2], s![.., 1..;2]));
    std::thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|round| even.fill(round as f32)));
        for _ in 0..50 {
            assert_eq!(odd.argmax_axes::<u32>(&[0, 1]).unwrap(), arr0(0).into_dyn());
        }
    });
}

/// Of a mask of any strides, also one that is broadcast.
#[test]
fn masks() -> Result<(), Error> {
    let scores = array![[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]];
    let there = array![[true, false, true], [false, true, false]];
    let reduce = |array: ArrayViewD<'_, f64>, function, there: ArrayViewD<'_, bool>, axis| {
        array.arg_reduce::<u32>(function, &[axis], Options::new(), Some(there), &Sequential)
    };
    let (min, max) = (ReduceFunction::ArgMin, ReduceFunction::ArgMax);
    let of = |function, there: ArrayViewD<'_, bool>| reduce(scores.view().into_dyn(), function, there, 1);
    let (best, values) = of(max, there.view().into_dyn())?;
    assert_eq!((best, values), (array![2, 1].into_dyn(), array![5.0, 0.0].into_dyn()));
    // A view that is not contiguous, whose gaps may be somebody else's; reversed; broadcast.
    let wide = array![[true, false, false, true, true, false], [false, true, true, true, false, false]];
    assert_eq!(of(max, wide.slice(s![.., ..;2]).into_dyn())?.0, array![2, 1].into_dyn());
    assert_eq!(of(min, there.slice(s![..;-1, ..;-1]).into_dyn())?.0, array![1, 0].into_dyn());
    let transposed = reduce(scores.t().into_dyn(), min, there.t().into_dyn(), 0)?;
    assert_eq!(transposed.0, array![0, 1].into_dyn());
    assert_eq!(of(min, array![false, true, false].view().into_dyn())?.0, array![1, 1].into_dyn());
    let error = of(min, array![true, false].view().into_dyn()).unwrap_err();
    assert!(matches!(error, Error::BroadcastSize { .. }), "{error}");
    Ok(())
}

/// What a program takes all at once hides no crate that it uses beside it.
mod beside_other_crates {
    use argreduce::*;

    #[test]
    fn a_glob_hides_no_crate() {
        let array = ndarray::arr1(&[1.0_f32, 7.0, 7.0]);
        assert_eq!(array.argmax_axis::<u32>(0).unwrap()[[]], 1);
        assert_eq!([half::f16::ZERO, f16::ONE].argmax(), Some(1));
        assert!(rayon::current_num_threads() > 0);
    }
}
