//! Segments of one slice: against the reference, whatever is asked of them; and what is refused.

mod common;

use argreduce::{
    ArgReduce, AxisDirection, Buffers, DataType, Error, Isa, Key, Layout, Mask, Partial, PartialBuffers, ScopedThreads,
    Segments, SliceExt, input,
};
use argreduce_guard::{Edge, few};
use bytemuck::{cast_slice, cast_slice_mut};
use common::case::{Asked, Format};
use common::executor::{WIDTHS, Way};
use common::problem::key_of;
use common::ragged::Ragged;
use common::{Sample, dense_or_sparse, orders, rng};
use rand::RngExt;
use rand::rngs::SmallRng;

/// Any call of some segments, of some lengths.
fn draw(rng: &mut SmallRng, count: usize, longest: usize) -> Ragged {
    let isas: Vec<Isa> = Isa::available().collect();
    let shortest = rng.random_range(0..2);
    let lens = (0..count).map(|_| match rng.random_range(0..8) {
        0 => shortest,
        1 => rng.random_range(shortest..longest),
        _ => rng.random_range(shortest..2 + longest / 8),
    });
    let lens = lens.collect();
    let formats = [
        Format::Bits(rng.random_range(0..20)),
        Format::Bools,
        Format::Bytes,
        Format::Strided,
        Format::BytesStrided,
        Format::Broadcast(0),
    ];
    let offset_types = [DataType::U32, DataType::I32, DataType::I64, DataType::U64, DataType::F32];
    Ragged {
        around: [0, 1].map(|_| rng.random_range(0..3) * rng.random_range(0..9)),
        lens,
        order: orders().nth(rng.random_range(0..8)).unwrap(),
        is_both: rng.random_range(0..4) == 0,
        is_absolute: rng.random(),
        key: Key::Value,
        fill: rng.random_range(0..6).min(1).eq(&1).then(|| rng.random_range(0..100)),
        mask: rng.random::<bool>().then(|| formats[rng.random_range(0..6)]),
        executor: (rng.random_range(0..3) == 0)
            .then(|| (Way::ALL[rng.random_range(0..7)], WIDTHS[rng.random_range(0..WIDTHS.len())])),
        asked: [Asked::Indices, Asked::Values, Asked::Mixed][rng.random_range(0..3)],
        isa: isas[rng.random_range(0..isas.len())],
        offset_type: offset_types[rng.random_range(0..5)],
        edge: Edge::ALL[rng.random_range(0..2)],
    }
}

/// By any key.
fn check<T: Sample>(rng: &mut SmallRng, ragged: &Ragged) {
    let ragged = &Ragged { key: key_of(T::DATA_TYPE, rng.random_range(0..100)), ..ragged.clone() };
    let is_sparse = rng.random();
    let x = dense_or_sparse::<T>(rng, ragged.len(), is_sparse);
    let one_of = [2, 3, 40][rng.random_range(0..3)];
    let there: Vec<bool> = (0..x.len()).map(|_| (rng.random_range(0..one_of) == 0) != (one_of == 3)).collect();
    match rng.random_range(0..4) {
        0 => ragged.check::<T, u64>(&x, &there),
        1 => ragged.check::<T, i64>(&x, &there),
        2 => ragged.check::<T, i32>(&x, &there),
        _ => ragged.check::<T, u32>(&x, &there),
    }
}

/// A hundred thousand arrays, of all types, by all that can be asked.
#[test]
fn ragged_arrays() {
    let mut rng = rng(1);
    for n in few(0..100_000, 4000) {
        let (count, longest) = [(4, 40), (12, 12), (1, 300), (9, 150)][n % 4];
        let (count, longest) = (rng.random_range(0..=count), rng.random_range(2..=longest));
        let ragged = draw(&mut rng, count, longest);
        let data_type = DataType::ALL[n % DataType::ALL.len()];
        argreduce::with_element_type!(data_type, T => check::<T>(&mut rng, &ragged));
    }
}

/// More than a block of offsets, segments that are longer than what is copied under a mask, and huge ones among many
/// small ones.
#[test]
fn many_and_long_segments() {
    let mut rng = rng(2);
    for n in few(0..150, 15) {
        let (count, longest) = [(2000, 30), (600, 400), (5, 60_000), (1300, 2)][n % 4];
        let mut ragged = draw(&mut rng, count, longest);
        if n % 3 == 0 {
            let at = rng.random_range(0..count);
            ragged.lens[at] = 200_000;
        }
        let data_type = [DataType::F32, DataType::U8, DataType::Bf16, DataType::I64][n % 4];
        argreduce::with_element_type!(data_type, T => check::<T>(&mut rng, &ragged));
    }
}

/// A segment that no cache holds is a row with a plan of its own, among small ones: under a mask and not, on threads
/// and not.
#[test]
fn a_segment_beyond_all_caches() {
    let len = 33 << 20;
    let mut x = vec![3_u8; len + 6];
    (x[2], x[len], x[len - 7], x[len + 4]) = (9, 7, 7, 8);
    let offsets = [0, 3, len + 3, len + 3, len + 6];
    let segments = Segments::new(&offsets).unwrap();
    let (mut there, threads) = (vec![255_u8; x.len().div_ceil(8)], ScopedThreads::new(3));
    there[len / 8] &= !(1 << (len % 8));
    for direction in AxisDirection::ALL {
        let reduce = ArgReduce::argmax(&segments).direction(direction).fill(-1);
        let plan = reduce.plan_segments::<u8, i32>().unwrap();
        let first = direction == AxisDirection::Increasing;
        let best = if first { len - 10 } else { len - 3 } as i32;
        let expected = [2, best, -1, 1];
        assert_eq!(plan.collect::<Vec<i32>>(&x).unwrap(), expected);
        assert_eq!(plan.collect::<Vec<i32>>(input(&x).on(&threads)).unwrap(), expected);
        let masked = input(&x).masked(Mask::bits(&there, 0));
        let expected = [2, len as i32 - 10, -1, 1];
        assert_eq!(plan.collect::<Vec<i32>>(masked).unwrap(), expected);
        let (indices, values): (Vec<i32>, Vec<u8>) = plan.collect(masked.on(&threads)).unwrap();
        assert_eq!((&indices[..], &values[..]), (&expected[..], &[9, 7, 0, 8][..]));
    }
}

/// As a call for each, in the only order that slices have.
#[test]
fn as_slices() {
    let mut rng = rng(3);
    let x: Vec<f32> = (0..5000).map(|_| rng.random_range(0..50) as f32).collect();
    let mut offsets: Vec<u32> = (0..700).map(|_| rng.random_range(0..=5000)).collect();
    offsets.sort();
    let plan = ArgReduce::argmin(&Segments::new(&offsets).unwrap()).fill(-1).plan_segments::<f32, i64>().unwrap();
    let expected =
        offsets.windows(2).map(|ends| x[ends[0] as usize..ends[1] as usize].argmin().map_or(-1, |n| n as i64));
    assert_eq!(plan.collect::<Vec<i64>>(&x).unwrap(), expected.collect::<Vec<_>>());
}

#[test]
fn of_bytes() {
    let (x, offsets) = ([3_i16, 1, 2, 8, 9], [0_i64, 3, 3, 5]);
    let reduce = ArgReduce::argmax(&Segments::new(&offsets).unwrap());
    let bytes = cast_slice::<_, u8>(&x);
    let plan = reduce.fill(7).plan_segments_untyped(DataType::I16, DataType::U32).unwrap();
    let (mut indices, mut values) = ([9_u32; 3], [9_i16; 3]);
    let buffers = Buffers { indices: cast_slice_mut(&mut indices), values: Some(cast_slice_mut(&mut values)) };
    plan.run(bytes, buffers).unwrap();
    assert_eq!((indices, values), ([0, 7, 1], [3, 0, 9]));
    assert_eq!(plan.to_string().split(" in ").next(), Some("argmax of i16"));

    let partials = PartialBuffers { indices: cast_slice_mut(&mut indices), values: cast_slice_mut(&mut values) };
    let error = Error::SegmentsMismatch { of: "partial answers", are_segments: true };
    assert_eq!(plan.run(bytes, partials), Err(error));
    let error = plan.run(bytes, cast_slice_mut(&mut indices[..2])).unwrap_err();
    assert!(matches!(error, Error::TooShort { slice: "output", required: 3, len: 2, .. }), "{error}");
    let error = plan.run(&bytes[1..], cast_slice_mut(&mut indices)).unwrap_err();
    assert!(matches!(error, Error::Misaligned { .. }), "{error}");
    let error = ArgReduce::argminmax(&Segments::new(&offsets).unwrap());
    let error = error.plan_segments_untyped(DataType::I16, DataType::U32).unwrap_err();
    assert_eq!(error, Error::TwoFunctions);
    let error = reduce.plan_segments_untyped(DataType::I16, DataType::F32).unwrap_err();
    assert!(matches!(error, Error::NotAnIndexType { .. }), "{error}");
}

#[test]
fn offsets_that_are_refused() {
    let refused = |offsets: &[i64]| Segments::new(offsets).unwrap_err();
    assert!(matches!(refused(&[]), Error::TooShort { slice: "offsets", required: 1, len: 0, .. }));
    let most = isize::MAX as usize;
    let wrong = |position, offset, min| Error::OffsetOutOfRange { position, offset, min, max: most };
    assert_eq!(refused(&[-1, 3]), wrong(0, -1, 0));
    assert_eq!(refused(&[0, 3, 2, 5]), wrong(2, 2, 3));
    assert_eq!(refused(&[0, 3, -4]), wrong(2, -4, 3));
    assert_eq!(refused(&[i64::MIN]), wrong(0, isize::MIN, 0));
    assert_eq!(Segments::new(&[0, u64::MAX]).unwrap_err(), wrong(1, -1, 0));
    assert_eq!(Segments::new(&[7_i32, 3, i32::MIN]).unwrap_err(), wrong(1, 3, 7));
    assert_eq!(Segments::new(&[2, 2, 5]).unwrap().count(), 2);
    assert_eq!(Segments::new(&[9_u32]).unwrap().count(), 0);

    // Beyond the input, and what is too long for indices.
    let offsets = [1_u64, 4, 1 << 40, 1 << 40];
    let segments = Segments::new(&offsets).unwrap();
    let mut indices = [77; 3];
    let plan = ArgReduce::argmax(&segments).plan_segments::<u8, u64>().unwrap();
    let error = plan.run(&[0; 4], &mut indices).unwrap_err();
    assert_eq!(error, Error::OffsetOutOfRange { position: 2, offset: 1 << 40, min: 4, max: 4 });
    assert_eq!(indices, [77; 3]);
    let error = ArgReduce::argmax(&segments).plan_segments::<u8, u32>().unwrap_err();
    assert_eq!(error, Error::IndexTooLarge { largest: (1 << 40) - 5, index_type: "u32", max: u32::MAX.into() });
    let segments = Segments::new(&[0, 256, 300]).unwrap();
    ArgReduce::argmax(&segments).plan_segments::<u8, u8>().unwrap();
    let error = ArgReduce::argmax(&segments).absolute().plan_segments::<u8, u8>().unwrap_err();
    assert_eq!(error, Error::IndexTooLarge { largest: 299, index_type: "u8", max: 255 });
}

#[test]
fn what_segments_do_not_have() {
    let (offsets, layout) = ([0, 2, 3], Layout::contiguous(&[3]).unwrap());
    let segments = ArgReduce::argmax(&Segments::new(&offsets).unwrap());
    let whole = ([3], [0]);
    for (reduce, of) in [
        (segments.axes(&[0]), "axes"),
        (segments.all_axes(), "axes"),
        (segments.output_layout(&layout), "output layout"),
        (segments.window(&whole.0, &whole.1), "window"),
        (segments.cumulative(), "best so far"),
        (segments.reverse(), "best so far"),
    ] {
        let error = reduce.plan_segments::<f32, u32>().unwrap_err();
        assert_eq!(error, Error::SegmentsMismatch { of, are_segments: true });
        assert!(error.to_string().contains("plan_segments"), "{error}");
    }
    let mismatch = Error::SegmentsMismatch { of: "plan of a layout", are_segments: true };
    assert_eq!(segments.plan::<f32, u32>().unwrap_err(), mismatch);
    assert_eq!(segments.plan_both::<f32, u32>().unwrap_err(), mismatch);
    assert_eq!(segments.plan_untyped(DataType::F32, DataType::U32).unwrap_err(), mismatch);
    assert!(segments.all_axes().stream::<f32, u32>(0).is_err());
    let of_layout = ArgReduce::argmax(&layout).all_axes();
    let mismatch = |of| Error::SegmentsMismatch { of, are_segments: false };
    assert_eq!(of_layout.absolute().plan::<f32, u32>().unwrap_err(), mismatch("absolute indices"));
    assert_eq!(of_layout.plan_segments::<f32, u32>().unwrap_err(), mismatch("plan_segments"));
    assert_eq!(of_layout.plan_both_segments::<f32, u32>().map(|_| ()).unwrap_err(), mismatch("plan_segments"));
    let both = ArgReduce::argminmax(&Segments::new(&offsets).unwrap());
    assert_eq!(both.plan_segments::<f32, u32>().unwrap_err(), Error::TwoFunctions);
    let error = segments.fill(-1).plan_segments::<f32, u32>().unwrap_err();
    assert!(matches!(error, Error::FillOutOfRange { .. }), "{error}");

    // Of all that is written, the lengths are looked at first.
    let (plan, x) = (segments.plan_segments::<f32, u32>().unwrap(), [1.0, 2.0, 0.0]);
    let (mut indices, mut values) = ([7; 2], [7.0]);
    let error = plan.run(&x, (&mut indices, &mut values)).unwrap_err();
    assert!(matches!(error, Error::TooShort { slice: "values", required: 2, len: 1, .. }), "{error}");
    let partial = Error::SegmentsMismatch { of: "partial answers", are_segments: true };
    assert_eq!(plan.run(&x, &mut [Partial::NONE; 2]), Err(partial.clone()));
    assert_eq!(plan.collect::<Vec<Partial<f32, u32>>>(&x), Err(partial));
    let error = plan.run(input(&x).masked(Mask::bools(&[true; 2])), &mut indices).unwrap_err();
    assert!(matches!(error, Error::MaskTooShort { required: 3, len: 2, .. }), "{error}");
    assert_eq!((indices, values), ([7; 2], [7.0]));
    // A mask is that of the whole input: more than the segments have.
    let longer = [1.0, 2.0, 0.0, 5.0];
    let error = plan.run(input(&longer).masked(Mask::bools(&[true; 3])), &mut indices).unwrap_err();
    assert!(matches!(error, Error::MaskTooShort { required: 4, len: 3, .. }), "{error}");
}
