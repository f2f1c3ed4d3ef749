//! What a call takes of the stack of the thread that makes it: as much as the documentation says, whatever is asked of
//! it, by each ISA of this machine.
#![cfg(unix)]

use argreduce::{ArgReduce, Executor, Isa, Key, Layout, Mask, Partial, Segments, input};
use argreduce_guard::stack_bytes;

/// As docs/threads.md has it.
const MOST_BYTES: usize = 96 << 10;

/// Several threads, as far as the library knows: the caller does all.
struct Several {
    width: usize,
    pauses: bool,
}

impl Executor for Several {
    fn width(&self) -> usize {
        self.width
    }

    fn min_task_bytes(&self) -> usize {
        1
    }

    fn parallel_for(&self, _: usize, _: &(dyn Fn(usize) + Sync)) {}

    fn pause(&self) -> Option<&(dyn Fn() + Sync)> {
        if self.pauses { Some(&|| ()) } else { None }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Indices,
    Values,
    Partials,
}

/// A shape for each way through the executor: sizes, strides or packed, reduced axes.
type Shape = (&'static [usize], Option<&'static [isize]>, &'static [isize]);

const SHAPES: [Shape; 13] = [
    // One row; rows; columns by one pass, and by panels; few columns; many of many rows.
    (&[40_000], None, &[0]),
    (&[300, 200], None, &[1]),
    (&[20, 3000], None, &[0]),
    (&[700, 900], None, &[0]),
    (&[3000, 7], None, &[0]),
    // Gathered; split, whose partial answers are merged; in another order than memory.
    (&[500, 4, 3], Some(&[12, 1, 4]), &[1]),
    (&[100, 40, 30], Some(&[1, 9300, 310]), &[0, 1, 2]),
    (&[20, 500, 16], Some(&[1, 410, 25]), &[0, 2]),
    (&[6, 30, 300], Some(&[9300, 1, 31]), &[1]),
    // Windows that overlap: of a series, dilated, of rows, of an image.
    (&[1100, 300], Some(&[1, 1]), &[1]),
    (&[1100, 300], Some(&[3, 3]), &[1]),
    (&[60, 100, 40], Some(&[110, 1, 110]), &[2]),
    (&[100, 100, 10, 9], Some(&[110, 1, 110, 1]), &[2, 3]),
];

macro_rules! check_types {
    ($isa:expr; $($T:ty, $I:ty;)+) => {{
        let mut most = (0, String::new());
        $(most = most.max(check::<$T, $I>($isa, stringify!($T, $I)));)+
        most
    }};
}

/// The most bytes, and for what.
fn check<T: argreduce::Element, I: argreduce::Index>(isa: Isa, types: &str) -> (usize, String) {
    let mut most = (0, String::new());
    for ((sizes, strides, axes), is_transposed) in
        SHAPES.into_iter().flat_map(|shape| [false, true].map(|is| (shape, is)))
    {
        let layout = match strides {
            Some(strides) => Layout::strided(sizes, strides, 0).unwrap(),
            None => Layout::contiguous(sizes).unwrap(),
        };
        let reduce = ArgReduce::argmax(&layout).axes(axes).fill(0).isa(isa);
        // The largest index may not fit.
        let Ok(default) = reduce.plan::<T, I>().map(|plan| *plan.output_layout()) else { continue };
        // In another order than the default one.
        let reversed: Vec<usize> = default.sizes().iter().rev().copied().collect();
        let order: Vec<isize> = (0..sizes.len() as isize).rev().collect();
        let transposed = Layout::contiguous(&reversed).unwrap().permute(&order).unwrap();
        // By keys too, which go another way.
        let reduce =
            if is_transposed { reduce.output_layout(&transposed).by(Key::distance(T::default())) } else { reduce };
        let (plan, both) = (reduce.plan::<T, I>().unwrap(), reduce.plan_both::<T, I>().unwrap());
        let (x, outputs) = (vec![T::default(); layout.required_len()], default.element_count());
        let there: Vec<bool> = (0..layout.element_count()).map(|n| n % 3 > 0).collect();
        let mut indices = [vec![I::default(); outputs], vec![I::default(); outputs]];
        let mut values = [vec![T::default(); outputs], vec![T::default(); outputs]];
        let mut partials = [vec![Partial::<T, I>::NONE; outputs], vec![Partial::<T, I>::NONE; outputs]];
        let executors = [None, Some((3, false)), Some((7, true))];
        let kinds = [Asked::Indices, Asked::Values, Asked::Partials];
        for ((asked, executor), mask) in kinds
            .into_iter()
            .flat_map(|kind| executors.map(|executor| (kind, executor)))
            .flat_map(|c| [0, 1].map(|m| (c, m)))
        {
            let mask = (mask > 0).then(|| Mask::bools(&there));
            let several = executor.map(|(width, pauses)| Several { width, pauses });
            // Made on the thread that calls.
            let x = || match &several {
                Some(several) => input(&x).masked(mask).on(several),
                None => input(&x).masked(mask),
            };
            let ([i, j], [v, w], [p, q]) = (indices.each_mut(), values.each_mut(), partials.each_mut());
            let of_one = stack_bytes(|| match asked {
                Asked::Indices => plan.run(x(), &mut *i).unwrap(),
                Asked::Values => plan.run(x(), (&mut *i, &mut *v)).unwrap(),
                Asked::Partials => plan.run(x(), &mut *p).unwrap(),
            });
            let of_both = stack_bytes(|| match asked {
                Asked::Indices => both.run(x(), [i, j]).unwrap(),
                Asked::Values => both.run(x(), [(i, v), (j, w)]).unwrap(),
                Asked::Partials => both.run(x(), [p, q]).unwrap(),
            });
            for (bytes, what) in [(of_one, "one"), (of_both, "both")] {
                if bytes > most.0 {
                    let mask = if mask.is_some() { "masked" } else { "all there" };
                    most = (
                        bytes,
                        format!("{types} {sizes:?} {axes:?} {what} {asked:?} {executor:?} {mask} {is_transposed}"),
                    );
                }
            }
        }
    }
    most
}

/// The same of the best so far, in place and by tiles, along and across.
fn check_so_far<T: argreduce::Element, I: argreduce::Index>(isa: Isa) -> usize {
    let mut most = 0;
    for (sizes, axis) in [([300, 200], 1), ([200, 300], 0), ([40, 3], 0)] {
        let layout = Layout::contiguous(&sizes).unwrap();
        let reduce = ArgReduce::argmax(&layout).axes(&[axis]).fill(0).isa(isa).cumulative();
        let reduce = if axis == 1 { reduce.by(Key::distance(T::default())) } else { reduce };
        let Ok(plan) = reduce.plan::<T, I>() else { continue };
        let len = layout.element_count();
        let (x, there) = (vec![T::default(); len], (0..len).map(|n| n % 3 > 0).collect::<Vec<bool>>());
        let (mut indices, mut values) = (vec![I::default(); len], vec![T::default(); len]);
        for (width, mask) in
            [1, 3, 7].into_iter().flat_map(|width| [None, Some(Mask::bools(&there))].map(|m| (width, m)))
        {
            let several = Several { width, pauses: width == 7 };
            let x = || input(&x).masked(mask).on(&several);
            most = most.max(stack_bytes(|| plan.run(x(), (&mut indices, &mut values)).unwrap()));
        }
    }
    most
}

/// The same of segments: small ones, one that is long for a mask, and one that threads share.
fn check_segments<T: argreduce::Element, I: argreduce::Index>(isa: Isa) -> usize {
    let lens = (0..1500).map(|n| n % 40).chain([60_000, 3]);
    let offsets: Vec<u32> = [0]
        .into_iter()
        .chain(lens.scan(0, |end, len| {
            Some({
                *end += len;
                *end
            })
        }))
        .collect();
    let reduce = ArgReduce::argmax(&Segments::new(&offsets).unwrap()).fill(0).isa(isa);
    let Ok(plan) = reduce.plan_segments::<T, I>() else { return 0 };
    let len = offsets[offsets.len() - 1] as usize;
    let (x, there) = (vec![T::default(); len], (0..len).map(|n| n % 3 > 0).collect::<Vec<bool>>());
    let (mut i, mut v) = (vec![I::default(); offsets.len() - 1], vec![T::default(); offsets.len() - 1]);
    let (mut most, strided) = (0, Layout::strided(&[len], &[-1], len - 1).unwrap());
    let masks = [None, Some(Mask::bools(&there)), Some(Mask::strided(&there, &strided))];
    for (width, mask) in [1, 3, 7].into_iter().flat_map(|width| masks.map(|mask| (width, mask))) {
        let several = Several { width, pauses: width == 7 };
        let x = || input(&x).masked(mask).on(&several);
        most = most.max(stack_bytes(|| plan.run(x(), (&mut i, &mut v)).unwrap()));
    }
    most
}

#[test]
fn a_call_needs_as_much_as_is_said() {
    let of_nothing = stack_bytes(|| ());
    for isa in Isa::available() {
        let (bytes, what) = check_types!(isa;
            f32, u32; f64, i64; u8, u8; argreduce::f16, u16; i64, u32;);
        let so_far = check_so_far::<f32, u32>(isa).max(check_so_far::<f64, u8>(isa)).max(check_so_far::<u8, i64>(isa));
        let of_segments = check_segments::<f32, u32>(isa).max(check_segments::<u8, i64>(isa));
        let (bytes, what) = (bytes, what).max((so_far, "the best so far".to_string()));
        let (bytes, what) = (bytes, what).max((of_segments, "segments".to_string()));
        println!("{isa}: {bytes} bytes, of which {of_nothing} are the thread's: {what}");
        assert!(bytes - of_nothing <= MOST_BYTES, "{isa}: {bytes} bytes for {what}");
    }
}
