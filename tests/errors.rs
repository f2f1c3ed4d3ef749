//! Bad input: each error, its message, and that nothing was written.

use argreduce::{
    ArgReduce, DataType, Error, Index, Isa, Key, Layout, Mask, Merge, Partial, PartialBuffers, ReduceFunction,
    SliceExt, argmax, argmin, drop_axes, unravel,
};
use bytemuck::{Pod, bytes_of_mut, cast_slice_mut};
use std::ops::Bound;

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, message: &str) {
    assert_eq!(result.unwrap_err().to_string(), message);
}

const MAX: &str = "9223372036854775807";

#[test]
#[cfg(target_pointer_width = "64")]
fn layouts() {
    refused(Layout::contiguous(&[1; 9]), "rank 9 is too high: at most 8 axes are allowed");
    assert!(Layout::contiguous(&[1; 8]).is_ok());
    refused(Layout::strided(&[2, 3], &[1], 0), "1 strides for 2 sizes: one stride per axis is needed");
    let message = format!("too many elements: with size 4294967296 on axis 1, the sizes multiply to more than {MAX}");
    refused(Layout::contiguous(&[1 << 32, 1 << 32, 0, 7][..2]), &message);
    refused(
        Layout::contiguous(&[usize::MAX]),
        &format!("too many elements: with size {} on axis 0, the sizes multiply to more than {MAX}", usize::MAX),
    );
    // Without elements there is nothing to count, and strides do not matter.
    assert_eq!(Layout::contiguous(&[1 << 32, 1 << 32, 0, 7]).unwrap().element_count(), 0);
    assert_eq!(Layout::strided(&[0, 9], &[isize::MIN, isize::MAX], 3).unwrap().required_len(), 0);

    let message =
        "the strides lead to 2 elements before the start of the slice: the offset is 4, and has to be at least 6";
    refused(Layout::strided(&[3, 3], &[-3, 1], 4), message);
    assert_eq!(Layout::strided(&[3, 3], &[-3, 1], 6).unwrap().required_len(), 9);
    let beyond =
        |axis: usize, stride: isize| format!("stride {stride} on axis {axis} leads to an element beyond {MAX}");
    refused(Layout::strided(&[2, 3], &[1, isize::MAX], 0), &beyond(1, isize::MAX));
    refused(Layout::strided(&[2, 2], &[isize::MIN, isize::MIN], 0), &beyond(1, isize::MIN));
    for rank in [0, 1] {
        for offset in [isize::MAX as usize, usize::MAX] {
            let layout = Layout::strided(&[2][..rank], &[1][..rank], offset);
            refused(layout, &format!("offset {offset} is too large: it has to be below {MAX}"));
        }
    }
    refused(Layout::strided(&[2], &[1], isize::MAX as usize - 1), &beyond(0, 1));
    assert_eq!(Layout::strided(&[2], &[1], isize::MAX as usize - 2).unwrap().required_len(), isize::MAX as usize);
}

#[test]
fn axes() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let plan = |axes: &[isize]| ArgReduce::argmax(&layout).axes(axes).plan::<f32, u32>();
    refused(plan(&[2]), "axis 2 is out of range: rank 2 allows -2 to 1");
    refused(plan(&[0, -3]), "axis -3 is out of range: rank 2 allows -2 to 1");
    refused(plan(&[isize::MIN]), &format!("axis {} is out of range: rank 2 allows -2 to 1", isize::MIN));
    refused(plan(&[isize::MAX]), &format!("axis {} is out of range: rank 2 allows -2 to 1", isize::MAX));
    refused(plan(&[1, -1]), "axis -1 is given twice: dimension 1 can be reduced only once");
    let scalar = Layout::contiguous(&[]).unwrap();
    refused(
        ArgReduce::argmax(&scalar).axes(&[0]).plan::<f32, u32>(),
        "axis 0 is out of range: a tensor of rank 0 has no axes",
    );
    refused(drop_axes(&[2, 3], &[5]), "axis 5 is out of range: rank 2 allows -2 to 1");
    assert_eq!(drop_axes(&[2; 8], &[-8]), Ok(vec![2; 7]));
    refused(drop_axes(&[1; 9], &[]), "rank 9 is too high: at most 8 axes are allowed");
}

/// To say nothing of axes is an error, whatever else is said and whatever the rank; to say that there are none is not.
/// Of the best so far: the axes, what there is none of, and slices that are too short; nothing is written then.
#[test]
fn the_best_so_far() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let reduce = ArgReduce::argmax(&layout).cumulative();
    let plan = |reduce: ArgReduce<'_>| reduce.plan::<f32, u32>();
    refused(plan(reduce.all_axes()), "the best so far runs along one axis: 2 were asked for");
    refused(plan(reduce.axes(&[])), "the best so far runs along one axis: 0 were asked for");
    refused(plan(reduce.axes(&[2])), "axis 2 is out of range: rank 2 allows -2 to 1");
    let message = "reverse is for what is cumulative: a reduction has one answer from either end";
    refused(plan(ArgReduce::argmax(&layout).axes(&[1]).reverse()), message);
    let kept = Layout::contiguous(&[2, 1]).unwrap();
    assert!(matches!(
        plan(reduce.axes(&[1]).output_layout(&kept)),
        Err(Error::OutputSize { axis: 1, expected: 3, .. })
    ));
    let long = Layout::contiguous(&[300]).unwrap();
    let narrow = ArgReduce::argmax(&long).axes(&[0]).cumulative().plan::<f32, u8>();
    assert!(matches!(narrow, Err(Error::IndexTooLarge { largest: 299, .. })));

    let none = |of: &str| {
        format!("there is no {of} of the best so far: an answer for each element takes all that come before it")
    };
    let reduce = reduce.axes(&[1]);
    refused(reduce.stream::<f32, u32>(1), &none("stream"));
    let plan = reduce.plan::<f32, u32>().unwrap();
    let (x, mut partials) = ([1.0; 6], [Partial::<f32, u32>::NONE; 6]);
    refused(plan.run(&x, &mut partials), &none("partial answer"));
    refused(plan.collect::<Vec<Partial<f32, u32>>>(&x), &none("partial answer"));
    let mut indices = [9; 6];
    refused(plan.finish(&partials, &mut indices), &none("partial answer"));
    let short = "the output slice has 5 elements of u32: the layout needs 6";
    refused(plan.run(&x, &mut indices[..5]), short);
    refused(plan.run(&x, (&mut indices, &mut [0.0; 5])), "the values slice has 5 elements of f32: the layout needs 6");
    refused(plan.run(&x[..5], &mut indices), "the input slice has 5 elements of f32: the layout needs 6");
    refused(
        plan.run(argreduce::input(&x).masked(Mask::bools(&[true; 5])), &mut indices),
        "the mask has 5 elements of bool: the input needs 6",
    );
    assert_eq!(indices, [9; 6]);
    let there = [true, true, true, false, true, true];
    let message = "no element is there for output [1, 0]: without a fill, an index needs at least one";
    refused(plan.run(argreduce::input(&x).masked(Mask::bools(&there)), &mut indices), message);
    // Without elements there is no answer, and nothing that could be missing.
    for sizes in [[0, 3], [3, 0]] {
        let layout = Layout::contiguous(&sizes).unwrap();
        let plan = ArgReduce::argmax(&layout).axes(&[1]).cumulative().plan::<f32, u32>().unwrap();
        assert_eq!(plan.collect::<Vec<u32>>(&[0.0; 0]).unwrap(), []);
    }
}

/// A key of another type than the elements, and one that is NaN: when planning, for streams, and when merging.
#[test]
fn keys() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let reduce = ArgReduce::argmin(&layout).axes(&[1]);
    let message = "the key is a distance to an element of u8: the elements are f32";
    let of_u8 = reduce.by(Key::distance(3_u8));
    refused(of_u8.plan::<f32, u32>(), message);
    refused(of_u8.plan_both::<f32, u32>(), message);
    refused(of_u8.plan_untyped(DataType::F32, DataType::U32), message);
    refused(of_u8.stream::<f32, u32>(1), message);
    refused(of_u8.cumulative().plan::<f32, u32>(), message);
    assert!(of_u8.plan::<u8, u32>().is_ok());
    let nan = "the key is a distance to NaN: it has to be a number of f16, or infinity";
    refused(reduce.by(Key::distance(-half::f16::NAN)).plan::<half::f16, u32>(), nan);
    assert!(reduce.by(Key::distance(f64::NEG_INFINITY)).plan::<f64, u32>().is_ok());
    let short = "the key slice has 0 elements of i16: the layout needs 1";
    refused(Key::distance_untyped(DataType::I16, &[1]), short);
    assert_eq!(Key::distance_untyped(DataType::Bool, &[7]), Ok(Key::distance(true)));

    let merge = Merge::new(ReduceFunction::ArgMin).by(Key::distance(3_u8));
    let (mut acc, other) = ([Partial { value: 1.0_f32, index: 0_u32 }], [Partial { value: 2.0, index: 1 }]);
    refused(merge.partials(&mut acc, &other), message);
    refused(merge.partials::<f32, u32>(&mut [], &[]), message);
    refused(merge.arrays(&mut [1.0_f32], &mut [0_u32], &[2.0], &[1]), message);
    let merge = merge.by(Key::distance(f32::NAN));
    let nan = "the key is a distance to NaN: it has to be a number of f32, or infinity";
    refused(merge.partials(&mut acc, &other), nan);
    assert_eq!(acc[0], Partial { value: 1.0, index: 0 });
    assert_eq!([1.0_f32].arg_reduce(ReduceFunction::ArgMin, Key::distance(1_i8)), None);
}

#[test]
fn nothing_said_of_axes() {
    let message = "nothing says which axes to reduce: .axes(..) names them, and .all_axes() means all; .axes(&[]) \
                   reduces nothing";
    for (sizes, whole) in [(&[2, 3][..], &[4, 6][..]), (&[], &[]), (&[0], &[5])] {
        let layout = Layout::contiguous(sizes).unwrap();
        for reduce in [ArgReduce::argmax(&layout), ArgReduce::argmin(&layout)] {
            let zeros = vec![0; sizes.len()];
            for reduce in [reduce, reduce.output_layout(&layout), reduce.window(whole, &zeros)] {
                refused(reduce.plan::<f32, u32>(), message);
                refused(reduce.plan_untyped(DataType::F32, DataType::U32), message);
                if !sizes.is_empty() {
                    refused(reduce.stream::<f32, u32>(0), message);
                }
                assert_eq!(reduce.axes(&[]).plan::<f32, u32>().unwrap().output_layout().sizes(), sizes);
            }
        }
    }
}

/// What iterates is refused as the same list is, and without end it is not waited for.
#[test]
fn axes_that_iterate() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let plan = |axes: &mut dyn Iterator<Item = isize>| ArgReduce::argmax(&layout).axes_from(axes).plan::<f32, u32>();
    refused(plan(&mut (0..)), "axis 2 is out of range: rank 2 allows -2 to 1");
    refused(plan(&mut [0, -3].into_iter()), "axis -3 is out of range: rank 2 allows -2 to 1");
    refused(plan(&mut std::iter::repeat(-1)), "axis -1 is given twice: dimension 1 can be reduced only once");
    refused(plan(&mut vec![0; 1000].into_iter()), "axis 0 is given twice: dimension 0 can be reduced only once");
    // The last word counts.
    let reduce = ArgReduce::argmax(&layout).axes_from(7..9).axes_from([1]);
    assert_eq!(reduce.plan::<f32, u32>().unwrap().output_layout().sizes(), [2, 1]);
    assert!(ArgReduce::argmax(&layout).axes(&[9]).all_axes().plan::<f32, u32>().is_ok());
    assert!(ArgReduce::argmax(&layout).all_axes().axes(&[9]).plan::<f32, u32>().is_err());
}

#[test]
fn views() {
    let layout = Layout::contiguous(&[2, 3, 4]).unwrap();
    refused(layout.permute(&[0, 1]), "[0, 1] is no permutation of 3 axes: each has to be given once");
    refused(layout.permute(&[0, 1, -2]), "[0, 1, -2] is no permutation of 3 axes: each has to be given once");
    refused(layout.permute(&[0, 1, 2, 0]), "[0, 1, 2, 0] is no permutation of 3 axes: each has to be given once");
    refused(layout.permute(&[0, 1, 3]), "axis 3 is out of range: rank 3 allows -3 to 2");
    refused(Layout::contiguous(&[]).unwrap().permute(&[0]), "axis 0 is out of range: a tensor of rank 0 has no axes");

    refused(layout.select(3, 0), "axis 3 is out of range: rank 3 allows -3 to 2");
    refused(layout.select(-2, 3), "position 3 is out of range: size 3 of axis 1 allows -3 to 2");
    refused(layout.select(1, -4), "position -4 is out of range: size 3 of axis 1 allows -3 to 2");
    let empty = Layout::contiguous(&[2, 0]).unwrap();
    refused(empty.select(1, -1), "position -1 is out of range: axis 1 has size 0");

    let slice = |range: (Bound<isize>, Bound<isize>), step| layout.slice(2, range, step);
    let message = |range: &str| {
        format!("the range {range} does not fit axis 2 of size 4: it has to be within it, and not end before its start")
    };
    use Bound::{Excluded, Included, Unbounded};
    refused(slice((Included(1), Excluded(5)), 1), &message("1..5"));
    refused(slice((Included(3), Excluded(2)), 1), &message("3..2"));
    refused(slice((Included(3), Excluded(-4)), -1), &message("3..-4"));
    refused(slice((Included(-5), Unbounded), 1), &message("-5.."));
    refused(slice((Unbounded, Included(4)), 1), &message("..=4"));
    refused(slice((Excluded(4), Unbounded), 1), &message("(after 4).."));
    refused(
        slice((Unbounded, Unbounded), 0),
        "the step on axis 2 is 0: it has to be at least 1, or at most -1 to go backwards",
    );
    refused(layout.slice(-4, .., 1), "axis -4 is out of range: rank 3 allows -3 to 2");

    refused(layout.broadcast(&[3, 4]), "rank 3 cannot be broadcast to 2 sizes: one for each axis at least is needed");
    refused(layout.broadcast(&[5, 2, 1, 4]), "size 3 cannot be broadcast to 1 on axis 2: only size 1 can");
    refused(layout.broadcast(&[2; 9]), "rank 9 is too high: at most 8 axes are allowed");
    refused(empty.broadcast(&[2, 1]), "size 0 cannot be broadcast to 1 on axis 1: only size 1 can");
    let too_many = layout.broadcast(&[usize::MAX, 2, 3, 4]);
    assert_eq!(too_many, Err(Error::TooManyElements { axis: 0, size: usize::MAX }));
}

#[test]
fn coordinates() {
    refused(unravel(6_u32, &[2, 4, 3], &[0, 2]), "index 6 is out of range: the reduced axes allow 0 to 5");
    refused(unravel(-1, &[2, 0], &[1]), "index -1 is out of range: the reduced axes have no elements");
    let plan = ArgReduce::argmin(&Layout::contiguous(&[2, 4, 3]).unwrap()).axes(&[-1, 0]).plan::<f32, i32>().unwrap();
    assert_eq!(*plan.unravel(5).unwrap(), [1, 2]);
    refused(plan.unravel(-1), "index -1 is out of range: the reduced axes allow 0 to 5");
}

#[test]
fn reductions() {
    refused(
        argmax::<Vec<u32>, f32, _>(&[], &[3, 0], &[1]),
        "axis 1 has size 0: a reduced axis needs at least one element, unless the output is empty",
    );
    let layout = Layout::strided(&[1 << 31, 2], &[0, 1], 0).unwrap();
    refused(
        ArgReduce::argmin(&layout).all_axes().plan::<u8, i32>(),
        "the largest possible index is 4294967295: i32 holds at most 2147483647",
    );
}

/// What is wrong with a window, or with the whole.
#[test]
#[cfg(target_pointer_width = "64")]
fn windows() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let plan = |whole: &[usize], start: &[usize]| {
        ArgReduce::argmax(&layout).axes(&[1]).window(whole, start).plan::<f32, u32>().map(drop)
    };
    refused(plan(&[2], &[0, 0]), "the window's whole has 1 numbers: it has to have one for each axis, 2");
    refused(plan(&[2, 3], &[0, 0, 0]), "the window's start has 3 numbers: it has to have one for each axis, 2");
    assert_eq!(plan(&[5, 9], &[3, 6]), Ok(()));
    refused(plan(&[5, 9], &[3, 7]), "the window does not fit axis 1: size 3 from 7 on ends beyond the whole's 9");
    // On a kept axis too.
    refused(plan(&[5, 9], &[4, 6]), "the window does not fit axis 0: size 2 from 4 on ends beyond the whole's 5");
    let message = format!("the window does not fit axis 1: size 3 from {} on ends beyond the whole's 9", usize::MAX);
    refused(plan(&[5, 9], &[3, usize::MAX]), &message);
    let message =
        format!("the whole is too large: with size 3 on axis 1, its sizes multiply to more than {}", usize::MAX);
    refused(plan(&[usize::MAX / 2, 3], &[0, 0]), &message);
    assert_eq!(plan(&[usize::MAX / 3, 3], &[usize::MAX / 3 - 2, 0]), Ok(()));
    // The largest index is that of the whole, and so is what is empty.
    assert_eq!(plan(&[2, 1 << 32], &[0, 0]), Ok(()));
    let message = "the largest possible index is 4294967296: u32 holds at most 4294967295";
    refused(plan(&[2, (1 << 32) + 1], &[0, 0]), message);
    for (sizes, whole) in [([2, 0], [2, 0]), ([0, 0], [2, 0])] {
        let empty = Layout::contiguous(&sizes).unwrap();
        let plan = ArgReduce::argmax(&empty).axes(&[1]).window(&whole, &[0, 0]).plan::<f32, u32>().map(drop);
        assert_eq!(plan, Err(Error::EmptyReduction { axis: 1, of: "tensor" }));
    }
    let empty = Layout::contiguous(&[0, 0]).unwrap();
    assert!(ArgReduce::argmax(&empty).axes(&[1]).window(&[0, 0], &[0, 0]).plan::<f32, u32>().is_ok());
}

/// No elements in a tensor, in a part of one, and in a stream that has not begun: the message says which.
#[test]
fn nothing_to_choose_from() {
    let layout = Layout::contiguous(&[2, 0]).unwrap();
    let tensor = "axis 1 has size 0: a reduced axis needs at least one element, unless the output is empty";
    refused(ArgReduce::argmax(&layout).axes(&[1]).plan::<f32, u32>(), tensor);
    let part = "axis 1 has size 0 in the part: an empty part has no index, only partial answers to merge with those of \
                others";
    let plan = ArgReduce::argmax(&layout).axes(&[1]).window(&[2, 3], &[0, 1]).plan::<f32, u32>().unwrap();
    let mut indices = [7; 2];
    refused(plan.run(&[], &mut indices), part);
    refused(plan.collect::<Vec<u32>>(&[]), part);
    refused(plan.finish(&[Partial::NONE; 2], &mut indices), part);
    let stream = ArgReduce::argmax(&layout).axes(&[1]).stream::<f32, u32>(1).unwrap();
    let none_yet = "the stream has had no element along axis 1 yet: an index needs at least one";
    refused(stream.finish(&mut indices), none_yet);
    refused(stream.finish((&mut indices, &mut [0.0; 2])), none_yet);
    refused(stream.collect::<Vec<u32>>(), none_yet);
    refused(stream.collect::<(Vec<u32>, Vec<f32>)>(), none_yet);
    assert_eq!(indices, [7; 2]);
}

/// What is wrong with partial answers: then nothing is written.
#[test]
fn partial_answers() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let plan = ArgReduce::argmax(&layout).axes(&[1]).plan::<i16, u8>().unwrap();
    let some = Partial { value: 9, index: 2 };
    let mut partials = [some; 2];
    refused(plan.run(&[0; 5], &mut partials), "the input slice has 5 elements of i16: the layout needs 6");
    let message = "the partials slice has 1 elements of Partial: the layout needs 2";
    refused(plan.run(&[0; 6], &mut partials[..1]), message);
    assert_eq!(partials, [some; 2]);

    let mut indices = [7; 2];
    refused(plan.finish(&partials[..1], &mut indices), message);
    let message = "the output slice has 1 elements of u8: the layout needs 2";
    refused(plan.finish(&partials, &mut indices[..1]), message);
    let wrong = [some, Partial { value: 9, index: 3 }];
    refused(plan.finish(&wrong, &mut indices), "index 3 is out of range: the reduced axes allow 0 to 2");
    let none = "no element is there for output [1, 0]: without a fill, an index needs at least one";
    refused(plan.finish(&[some, Partial::NONE], &mut indices), none);
    assert_eq!(indices, [7; 2]);

    // The index with all bits set is that of no element.
    for (size, is_allowed) in [(255, true), (256, false)] {
        let row = Layout::contiguous(&[size]).unwrap();
        let plan = ArgReduce::argmax(&row).all_axes().plan::<i16, u8>().unwrap();
        let result = plan.run(&[0; 256], &mut [some]);
        assert_eq!(result.is_ok(), is_allowed, "{result:?}");
        assert!(is_allowed || result == Err(Error::IndexTooLarge { largest: 255, index_type: "u8", max: 254 }));
    }

    let (merge, other) = (Merge::new(ReduceFunction::ArgMax), [Partial { value: 10, index: 0 }; 2]);
    refused(
        merge.partials(&mut partials, &other[..1]),
        "the other slice has 1 elements: another has 2, and all have to be as long",
    );
    refused(
        merge.partials(&mut partials[..1], &other),
        "the acc slice has 1 elements: another has 2, and all have to be as long",
    );
    assert_eq!(partials, [some; 2]);
    for (short, name) in ["values", "indices", "other_values", "other_indices"].into_iter().enumerate() {
        let [a, b, c, d] = std::array::from_fn(|n| if n == short { 1 } else { 2 });
        let (mut values, mut indices) = ([9; 2], [2; 2]);
        let result = merge.arrays(&mut values[..a], &mut indices[..b], &[10; 2][..c], &[0_u64; 2][..d]);
        refused(result, &format!("the {name} slice has 1 elements: another has 2, and all have to be as long"));
        assert_eq!((values, indices), ([9; 2], [2; 2]));
    }
    for isa in Isa::ALL.into_iter().filter(|isa| !isa.is_available()) {
        assert_eq!(merge.isa(isa).partials(&mut partials, &other), Err(Error::IsaNotAvailable { isa }));
    }
    let float = merge.arrays_untyped((DataType::I16, DataType::F32), (&mut [], &mut []), (&[], &[]));
    assert_eq!(float, Err(Error::NotAnIndexType { data_type: DataType::F32 }));
    assert_eq!(partials, [some; 2]);
}

/// The largest index that fits each type is allowed, and one more is not, by typed and by untyped plans.
#[test]
fn index_types() {
    fn limit<I: Index>(index_type: Option<DataType>) {
        // A broadcast axis, so that no memory is needed.
        let plan = |size: u64| {
            let layout = Layout::strided(&[size as usize], &[0], 0).unwrap();
            let reduce = ArgReduce::argmin(&layout).all_axes();
            let untyped = index_type.map(|index_type| reduce.plan_untyped(DataType::F32, index_type).map(drop));
            (reduce.plan::<f32, I>().map(drop), untyped.unwrap_or(Ok(())))
        };
        assert_eq!(plan(I::MAX.min(isize::MAX as u64 - 1) + 1), (Ok(()), Ok(())), "{}", I::NAME);
        if I::MAX < isize::MAX as u64 - 1 {
            let message = format!("the largest possible index is {}: {} holds at most {}", I::MAX + 1, I::NAME, I::MAX);
            let (typed, untyped) = plan(I::MAX + 2);
            refused(typed, &message);
            assert!(index_type.is_none() || untyped.unwrap_err().to_string() == message);
        }
    }
    limit::<u8>(Some(DataType::U8));
    limit::<u16>(Some(DataType::U16));
    limit::<i32>(Some(DataType::I32));
    limit::<u32>(Some(DataType::U32));
    limit::<i64>(Some(DataType::I64));
    limit::<u64>(Some(DataType::U64));
    limit::<usize>(None);

    // No other type as a value, whichever there are.
    const TYPES: [DataType; 6] =
        [DataType::I32, DataType::I64, DataType::U32, DataType::U64, DataType::U8, DataType::U16];
    let layout = Layout::contiguous(&[3]).unwrap();
    for index_type in DataType::ALL {
        let plan = ArgReduce::argmin(&layout).all_axes().plan_untyped(DataType::F32, index_type);
        if TYPES.contains(&index_type) {
            assert_eq!(plan.unwrap().index_type(), index_type);
        } else {
            let message = format!("{index_type} is no type for indices: choose from i32 i64 u32 u64 u8 u16");
            refused(plan, &message);
        }
    }
}

#[test]
fn outputs() {
    let layout = Layout::contiguous(&[4, 5, 6]).unwrap();
    let plan = |sizes: &[usize], strides: &[isize]| {
        let output = Layout::strided(sizes, strides, 0).unwrap();
        ArgReduce::argmax(&layout).axes(&[1]).output_layout(&output).plan::<f32, u32>()
    };
    refused(plan(&[4, 6], &[6, 1]), "the output layout has rank 2: it has to have the input's, 3");
    refused(plan(&[4, 5, 6], &[30, 6, 1]), "the output layout has size 5 on axis 1: it has to be 1");
    refused(plan(&[4, 1, 7], &[7, 7, 1]), "the output layout has size 7 on axis 2: it has to be 6");
    let message = "the output layout puts several outputs in one place: its strides have to keep them apart";
    refused(plan(&[4, 1, 6], &[0, 0, 1]), message);
    refused(plan(&[4, 1, 6], &[5, 0, 1]), message);
    refused(plan(&[4, 1, 6], &[3, 0, 2]), message);
    assert!(plan(&[4, 1, 6], &[1, 0, 4]).is_ok());
    // Interleaved, but apart: 0 7 14 21 against 0 4 .. 20.
    assert!(plan(&[4, 1, 6], &[7, 0, 4]).is_ok());
}

#[test]
fn isas() {
    let layout = Layout::contiguous(&[4]).unwrap();
    let names: String = Isa::available().map(|isa| format!(" {isa}")).collect();
    // Also where no kernel would be needed.
    let empty = Layout::contiguous(&[0]).unwrap();
    for isa in Isa::ALL.into_iter().filter(|isa| !isa.is_available()) {
        for layout in [&layout, &empty] {
            refused(
                ArgReduce::argmax(layout).all_axes().isa(isa).plan::<f32, u32>(),
                &format!("the ISA {isa} is not available here: choose from{names}"),
            );
        }
    }
}

#[test]
fn slices() {
    let layout = Layout::strided(&[2, 3], &[3, 1], 4).unwrap();
    let output = Layout::strided(&[2, 1], &[5, 0], 1).unwrap();
    let plan = ArgReduce::argmax(&layout).axes(&[1]).output_layout(&output).plan::<f32, i64>().unwrap();
    let run = |input: usize, output: usize, values: usize| {
        let (mut indices, mut best) = (vec![-1; output], vec![-1.0; values]);
        let result = plan.run(&vec![0.0; input], (&mut indices, &mut best));
        if result.is_err() {
            assert!(indices.iter().all(|&i| i == -1) && best.iter().all(|&v| v == -1.0), "a partial write");
        }
        result
    };
    refused(run(9, 7, 2), "the input slice has 9 elements of f32: the layout needs 10");
    refused(run(10, 6, 2), "the output slice has 6 elements of i64: the layout needs 7");
    refused(run(10, 7, 1), "the values slice has 1 elements of f32: the layout needs 2");
    assert_eq!(run(10, 7, 2), Ok(()));
    // The one-line helpers take a packed tensor, and no more than that.
    let message = "the input slice has 4 elements of f32: the sizes [1, 2] make 2";
    refused(argmax::<Vec<u32>, f32, _>(&[1., 2., 3., 9.], &[1, 2], &[1]), message);
    refused(argmin::<Vec<u32>, f32, _>(&[1., 2., 3., 9.], &[1, 2], &[]), message);
    refused(argmax::<(Vec<u32>, Vec<f32>), _, _>(&[1., 2., 3., 9.], &[1, 2], &[1]), message);
    let message = "the input slice has 1 elements of u8: the sizes [0, 7] make 0";
    refused(argmax::<Vec<u32>, u8, _>(&[1], &[0, 7], &[1]), message);
    refused(argmax::<Vec<u32>, u8, _>(&[1, 2], &[], &[]), "the input slice has 2 elements of u8: the sizes [] make 1");
    // Plans take what is longer, as they take any layout.
    assert_eq!(plan.collect::<Vec<i64>>(&[0.0; 11]).unwrap(), [0, 0, 0, 0, 0, 0, 0]);
    refused(plan.collect::<Vec<i64>>(&[0.0; 9]), "the input slice has 9 elements of f32: the layout needs 10");
    // More answers than memory holds, of one element.
    let repeated = Layout::contiguous(&[1]).unwrap().broadcast(&[isize::MAX as usize]).unwrap();
    let plan = ArgReduce::argmax(&repeated).axes(&[]).plan::<u8, u64>().unwrap();
    let message = format!("there is no memory for the output: {} elements of u64", isize::MAX);
    refused(plan.collect::<Vec<u64>>(&[1]), &message);
    refused(plan.collect::<(Vec<u64>, Vec<u8>)>(&[1]), &message);
    // A hostile shape is refused before anything of its size is allocated.
    refused(
        argmax::<Vec<u32>, half::f16, _>(&[], &[1 << 50], &[]),
        "the input slice has 0 elements of f16: the layout needs 1125899906842624",
    );
}

/// Whatever is wrong with either is said before one is written.
#[test]
fn both_at_once() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let plan = ArgReduce::argminmax(&layout).axes(&[1]).plan_both::<i32, u32>().unwrap();
    let input = [1, 2, 3, 4, 5, 6];
    let (mut min, mut max, mut lowest, mut highest) = ([9; 2], [9; 2], [9; 2], [9; 2]);
    let said = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert_eq!(
        said(plan.run(&input[..5], [&mut min, &mut max])),
        "the input slice has 5 elements of i32: the layout needs 6"
    );
    assert_eq!(
        said(plan.run(&input, [&mut min[..1], &mut max[..]])),
        "the min slice has 1 elements of u32: the layout needs 2"
    );
    assert_eq!(
        said(plan.run(&input, [(&mut min, &mut lowest[..]), (&mut max, &mut highest[..1])])),
        "the max_values slice has 1 elements of i32: the layout needs 2"
    );
    let mask = Mask::bits(&[0], 0);
    assert_eq!(
        said(plan.run(argreduce::input(&input).masked(Mask::bools(&[true; 5])), [&mut min, &mut max])),
        "the mask has 5 elements of bool: the input needs 6"
    );
    let nothing = plan.collect::<Vec<u32>>(argreduce::input(&input).masked(mask));
    assert!(matches!(nothing, Err(Error::NothingThere { .. })));
    let (some, none) = ([Partial { value: 1, index: 1 }; 2], [Partial::NONE; 2]);
    assert!(matches!(plan.finish([&some, &none], [&mut min, &mut max]), Err(Error::NothingThere { .. })));
    let beyond = [Partial { value: 1, index: 3 }; 2];
    assert!(matches!(plan.finish([&some, &beyond], [&mut min, &mut max]), Err(Error::IndexOutOfRange { .. })));
    assert!(plan.finish([&some, &some[..1]], [&mut min, &mut max]).is_err());
    let mut partials = [Partial::NONE; 2];
    assert!(plan.run(&input, [&mut partials[..], &mut [Partial::NONE][..]]).is_err());
    assert_eq!((partials, min, max, lowest, highest), ([Partial::NONE; 2], [9; 2], [9; 2], [9; 2], [9; 2]));
}

/// A slice that is too short is named, in each way to say it, and nothing is written.
#[test]
fn names_of_what_is_short() {
    let layout = Layout::contiguous(&[2, 3]).unwrap();
    let reduce = ArgReduce::argmax(&layout).axes(&[1]);
    let (plan, x) = (reduce.plan::<u8, u8>().unwrap(), [1, 5, 2, 7, 0, 7]);
    let bytes = reduce.plan_untyped(DataType::U8, DataType::U8).unwrap();
    let slice = |result: Result<(), argreduce::Error>| match result {
        Err(argreduce::Error::TooShort { slice, .. }) => slice,
        other => panic!("{other:?}"),
    };
    assert_eq!(slice(plan.run(&x[1..], &mut [0; 2])), "input");
    assert_eq!(slice(plan.run(&x, &mut [0])), "output");
    assert_eq!(slice(plan.run(&x, (&mut [0; 2], &mut [0]))), "values");
    assert_eq!(slice(plan.run(&x, &mut [Partial::NONE])), "partials");
    assert_eq!(slice(plan.finish(&[Partial::NONE], &mut [0; 2])), "partials");
    assert_eq!(slice(bytes.run(&x, PartialBuffers { indices: &mut [0], values: &mut [0; 2] })), "indices");
    assert_eq!(slice(bytes.run(&x, PartialBuffers { indices: &mut [0; 2], values: &mut [0] })), "values");
    let both = reduce.plan_both::<u8, u8>().unwrap();
    assert_eq!(slice(both.run(&x, [&mut [0; 2][..], &mut [0]])), "max");
    assert_eq!(slice(both.run(&x, [(&mut [0; 2], &mut [0][..]), (&mut [0; 2], &mut [0; 2])])), "min_values");
    let both = reduce.plan_both_untyped(DataType::U8, DataType::U8).unwrap();
    for (short, name) in ["min_indices", "max_indices", "min_values", "max_values"].into_iter().enumerate() {
        let mut slices = [[9; 2]; 4];
        let [min, max, lowest, highest] = slices.each_mut().map(|slice| &mut slice[..]);
        let mut of = [min, max, lowest, highest];
        of[short] = &mut std::mem::take(&mut of[short])[1..];
        let [min, max, lowest, highest] = of;
        let to_min = PartialBuffers { indices: min, values: lowest };
        let to_max = PartialBuffers { indices: max, values: highest };
        assert_eq!(slice(both.run(&x, [to_min.into(), to_max.into()])), name);
        assert_eq!(slices, [[9; 2]; 4]);
    }
}

/// Indices of partial answers that no plan gives, negative ones among them, in each index type: typed and untyped plans
/// refuse them by the same words, and write nothing.
#[test]
fn indices_of_partial_answers() {
    fn refuse<I: Index + Pod>(index_type: Option<DataType>, forged: &[(I, i128)]) {
        let layout = Layout::contiguous(&[2, 3]).unwrap();
        let reduce = ArgReduce::argmax(&layout).axes(&[1]);
        for reduce in [reduce, reduce.window(&[2, 9], &[0, 4])] {
            let (plan, mut indices) = (reduce.plan::<f32, I>().unwrap(), [I::default(); 2]);
            let largest = if plan.to_string().contains("[2, 9]") { 8 } else { 2 };
            for &(index, number) in forged {
                let error = Error::IndexOutOfRange { index: number, count: largest + 1 };
                let message = format!("index {number} is out of range: the reduced axes allow 0 to {largest}");
                assert_eq!(error.to_string(), message);
                let partials = [I::default(), index].map(|index| Partial { value: 1.0, index });
                assert_eq!(plan.finish(&partials, &mut indices).as_ref(), Err(&error), "{}", I::NAME);
                if let Some(index_type) = index_type {
                    let plan = reduce.plan_untyped(DataType::F32, index_type).unwrap();
                    let mut output = vec![0; 2 * size_of::<I>() + 8];
                    let output = &mut output[..];
                    let (at, mut forged) = (output.as_ptr().align_offset(8), [I::default(), index]);
                    let mut values = [1.0_f32; 2];
                    let output = &mut output[at..][..2 * size_of::<I>()];
                    let indices = bytes_of_mut(&mut forged);
                    let partials = PartialBuffers { indices, values: cast_slice_mut(&mut values) };
                    assert_eq!(plan.finish(partials, &mut *output), Err(error), "{index_type}");
                    assert!(output.iter().all(|&byte| byte == 0), "{index_type}");
                }
            }
            assert_eq!(indices, [I::default(); 2]);
        }
    }
    let (least, most) = (i32::MIN, i32::MAX);
    refuse::<i32>(Some(DataType::I32), &[(-2, -2), (least, least.into()), (9, 9), (most, most.into())]);
    let (least, most) = (i64::MIN, i64::MAX);
    refuse::<i64>(Some(DataType::I64), &[(-2, -2), (least, least.into()), (9, 9), (most, most.into())]);
    refuse::<u8>(Some(DataType::U8), &[(9, 9), (128, 128), (254, 254)]);
    refuse::<u16>(Some(DataType::U16), &[(9, 9), (1 << 15, 1 << 15), (u16::MAX - 1, 65_534)]);
    refuse::<u32>(Some(DataType::U32), &[(9, 9), (1 << 31, 1 << 31), (u32::MAX - 1, 4_294_967_294)]);
    refuse::<u64>(Some(DataType::U64), &[(9, 9), (1 << 63, 1 << 63), (u64::MAX - 1, 18_446_744_073_709_551_614)]);
    refuse::<usize>(None, &[(9, 9), (usize::MAX - 1, usize::MAX as i128 - 1)]);
}

/// Without outputs, the sizes of the reduced axes may multiply to more than anything counts.
#[test]
fn partial_answers_without_outputs() {
    let layout = Layout::contiguous(&[0, usize::MAX, 3]).unwrap();
    let reduce = ArgReduce::argmax(&layout).axes(&[1, 2]);
    for reduce in [reduce, reduce.window(&[0, usize::MAX, 5], &[0, 0, 2])] {
        let plan = reduce.plan::<f32, u8>().unwrap();
        plan.run(&[], &mut [Partial::NONE; 0]).unwrap();
        plan.finish(&[], &mut [0; 0]).unwrap();
        assert!(plan.unravel(5).is_ok());
        let plan = reduce.plan_untyped(DataType::F32, DataType::I32).unwrap();
        plan.run(&[], PartialBuffers { indices: &mut [], values: &mut [] }).unwrap();
        plan.finish(PartialBuffers { indices: &mut [], values: &mut [] }, &mut [][..]).unwrap();
    }
    let first = Layout::contiguous(&[1, 0, usize::MAX]).unwrap();
    let stream = ArgReduce::argmax(&first).axes(&[0, 2]).stream::<f32, u8>(0).unwrap();
    stream.finish(&mut [0; 0]).unwrap();
}

/// What leaves kernels out (see `ci/package`): the features of both crates are those of the table of types.
#[test]
fn each_feature_of_a_type_is_that_of_the_kernels() {
    let [facade, kernels] = [include_str!("../Cargo.toml"), include_str!("../kernels/Cargo.toml")];
    for data_type in DataType::ALL {
        assert!(data_type.has_kernels());
        let Some(feature) = data_type.feature() else {
            assert_eq!(data_type, DataType::U8);
            continue;
        };
        assert!(facade.contains(&format!("\n{feature} = [\"argreduce-kernels/{feature}\"]\n")), "{feature}");
        assert!(kernels.contains(&format!("\n{feature} = []\n")), "{feature}");
        for manifest in [facade, kernels] {
            let default = manifest.lines().find(|line| line.starts_with("default = ")).unwrap();
            assert!(default.contains(&format!("\"{feature}\"")), "{feature}");
        }
    }
}
