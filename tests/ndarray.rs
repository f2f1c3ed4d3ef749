//! Arrays and views of the crate `ndarray`, against the reference on a packed copy.

mod common;

use argreduce::ndarray::ArrayExt;
use argreduce::{AxisDirection, Error, Layout, NanPolicy, ReduceFunction, drop_axes, reference};
use common::{Sample, orders, rng, sample};
use ndarray::{Array, Array1, Array2, ArrayD, ArrayView, ArrayViewD, Axis, IxDyn, Slice, arr0, array, s};

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
        let found = view.arg_reduce_axes::<i64>(order, axes).unwrap();
        assert_eq!(found.shape(), drop_axes(view.shape(), axes).unwrap());
        assert_eq!(found.into_raw_vec_and_offset().0, expected, "{order:?} {:?} {:?}", view.shape(), view.strides());
    }
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

/// Broadcast axes of stride 0, reversed in ndarray's own way (a stride of -0 is 0, but an inverted axis starts elsewhere).
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
    let last = (ReduceFunction::ArgMax, AxisDirection::Decreasing, NanPolicy::Ignore);
    assert_eq!(rows.arg_reduce_axes::<i32>(last, &[0]).unwrap(), Array1::from_elem(3, 999_999).into_dyn());
}

#[test]
fn owners_ranks_and_empty_arrays() {
    assert_eq!(arr0(4_f64).argmax_axes::<u32>(&[]).unwrap(), arr0(0).into_dyn());
    assert_eq!(Array1::from(vec![true, false]).argmin_axes::<u64>(&[0]).unwrap(), arr0(1).into_dyn());
    assert_eq!(array![[1_i8, 2]].into_shared().argmax_axes::<u64>(&[1]).unwrap(), array![1].into_dyn());
    assert_eq!(ArrayView::from(&[1_i8, 2]).argmax_axes::<u64>(&[]).unwrap(), array![0, 0].into_dyn());
    assert_eq!(Array2::<f32>::zeros((0, 3)).argmax_axes::<u32>(&[1]).unwrap().shape(), [0]);
    assert_eq!(Array2::<f32>::zeros((0, 3)).argmax_axes::<u32>(&[0]), Err(Error::EmptyReduction { axis: 0 }));
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
