//! Views of views against the reference: permuted, turned round, cut, broadcast, and windows of windows. Then several
//! axes are as far apart in memory, kept ones and reduced ones, so that it is close which loop is the fastest: what the
//! planner says of it has to be what the kernel is given.

mod common;

use argreduce::{ArgReduce, DataType, Element, Executor, Isa, Layout, Mask, ReduceFunction, input, reference};
use argreduce_guard::is_slow;
use common::{Sample, best_values, orders, places, rng, sample};
use rand::RngExt;
use rand::rngs::SmallRng;

/// As many tasks as asked for, however small: one after another, which takes less time than threads.
struct InTurn(usize);

impl Executor for InTurn {
    fn width(&self) -> usize {
        self.0
    }
    fn min_task_bytes(&self) -> usize {
        1
    }
    fn parallel_for(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(task);
    }
}

/// The most elements of a view.
const MOST: usize = 3000;

/// A view of a view, and so on, of a packed tensor.
fn view(rng: &mut SmallRng) -> Layout {
    let sizes: Vec<usize> = (0..rng.random_range(1..=3)).map(|_| rng.random_range(1..=9)).collect();
    let mut view = Layout::contiguous(&sizes).unwrap();
    for _ in 0..rng.random_range(1..=6) {
        view = changed(rng, &view).filter(|view| (1..=MOST).contains(&view.element_count())).unwrap_or(view);
    }
    view
}

fn changed(rng: &mut SmallRng, view: &Layout) -> Option<Layout> {
    let sizes = view.sizes();
    let axis = rng.random_range(0..sizes.len());
    let (at, size) = (axis as isize, sizes[axis]);
    let view = match rng.random_range(0..8) {
        0..3 => {
            let mut axes: Vec<isize> = (0..sizes.len() as isize).collect();
            (1..axes.len()).for_each(|n| axes.swap(n, rng.random_range(0..=n)));
            view.permute(&axes)
        }
        3..6 => view.windows(at, rng.random_range(1..=size), rng.random_range(1..=2)),
        6 => view.slice(at, .., [-1, 2, -2][rng.random_range(0..3)]),
        _ => view.broadcast(&[&[rng.random_range(1..=9)], sizes].concat()),
    };
    // Of too high a rank.
    view.ok()
}

/// A mask of a view's sizes, often broadcast along some axes: where it has the element of each place, and what is
/// there.
fn mask(rng: &mut SmallRng, sizes: &[usize]) -> (Layout, Vec<bool>) {
    let is_broadcast = rng.random_range(0..256);
    let (mut strides, mut step) = (vec![0; sizes.len()], 1);
    for axis in (0..sizes.len()).rev().filter(|axis| is_broadcast >> axis & 1 == 0) {
        strides[axis] = step;
        step *= sizes[axis] as isize;
    }
    let of_10 = rng.random_range(0..=10);
    (Layout::strided(sizes, &strides, 0).unwrap(), (0..step).map(|_| rng.random_range(0..10) < of_10).collect())
}

/// One reduction of a view, by some order and ISA: on tasks, with values, of both functions at once, and under a mask.
fn check<T: Sample>(rng: &mut SmallRng, view: &Layout, axes: &[isize]) {
    let reduced: Vec<bool> = (0..view.sizes().len() as isize).map(|axis| axes.contains(&axis)).collect();
    let order = orders().nth(rng.random_range(0..8)).unwrap();
    let (function, direction, policy) = order;
    let x: Vec<T> = sample(rng, view.required_len());
    let executor = InTurn(rng.random_range(1..=5));
    let isas: Vec<Isa> = Isa::available().collect();
    let reduce = ArgReduce::new(function, view).axes(axes).direction(direction).nan_policy(policy).fill(-1);
    // Sometimes what the planner prefers, which may be of several ISAs.
    let reduce = match rng.random_range(0..=isas.len()) {
        n if n < isas.len() => reduce.isa(isas[n]),
        _ => reduce,
    };

    let plan = reduce.plan::<T, i64>().unwrap();
    let outputs = plan.output_layout().element_count();
    let (mut indices, mut values) = (vec![-7; outputs], vec![T::default(); outputs]);
    plan.run(input(&x).on(&executor), (&mut indices, &mut values)).unwrap();
    let expected = reference::arg_reduce(order, view, &reduced, &x);
    let as_i64 = |expected: &[usize]| expected.iter().map(|&index| index as i64).collect::<Vec<_>>();
    let bits = |values: &[T]| values.iter().map(|value| value.bits()).collect::<Vec<_>>();
    assert_eq!(indices, as_i64(&expected), "{plan}\n{view:?}\n{x:?}");
    assert_eq!(bits(&values), best_values(view, &reduced, &expected, &x), "{plan}\n{view:?}");

    let both = reduce.plan_both::<T, i64>().unwrap();
    let found: [Vec<i64>; 2] = both.collect(input(&x).on(&executor)).unwrap();
    let expected = ReduceFunction::ALL
        .map(|function| as_i64(&reference::arg_reduce((function, direction, policy), view, &reduced, &x)));
    assert_eq!(found, expected, "{both}\n{view:?}\n{x:?}");

    let (of_mask, there) = mask(rng, view.sizes());
    let place = places(&of_mask);
    let expected = reference::arg_reduce_masked(order, view, &reduced, &x, |n| there[place[n]]);
    let expected: Vec<i64> = expected.into_iter().map(|index| index.map_or(-1, |index| index as i64)).collect();
    let masked = input(&x).masked(Mask::strided(&there, &of_mask)).on(&executor);
    plan.run(masked, (&mut indices, &mut values)).unwrap();
    assert_eq!(indices, expected, "{plan}\n{view:?}\n{x:?}\n{of_mask:?}\n{there:?}");
}

/// Windows of a transposed matrix, and pooling over a transposed image.
#[test]
fn windows_of_what_is_transposed() {
    fn of_type<T: Sample>() {
        let mut rng = rng(18);
        let matrix = Layout::contiguous(&[8, 5]).and_then(|matrix| matrix.permute(&[1, 0])?.windows(0, 2, 1)).unwrap();
        assert_eq!((matrix.sizes(), matrix.strides()), (&[4, 8, 2][..], &[1, 5, 1][..]));
        let image = Layout::contiguous(&[3, 7, 7]).and_then(|image| image.permute(&[0, 2, 1]));
        let pooled = image.and_then(|image| image.windows(0, 3, 1)?.windows(1, 5, 1)?.windows(2, 3, 1)).unwrap();
        for _ in 0..20 {
            check::<T>(&mut rng, &matrix, &[0, 1]);
            check::<T>(&mut rng, &pooled, &[3, 4, 5]);
        }
    }
    for_each_type!(of_type());
}

#[test]
fn views_of_views() {
    let mut rng = rng(17);
    for _ in 0..if is_slow() { 5_000 } else { 50_000 } {
        let view = view(&mut rng);
        let axes: Vec<isize> = (0..view.sizes().len() as isize).filter(|_| rng.random()).collect();
        let data_type = DataType::ALL[rng.random_range(0..13)];
        fn check_type<T: Sample>(data_type: DataType, rng: &mut SmallRng, view: &Layout, axes: &[isize]) {
            if <T as Element>::DATA_TYPE == data_type {
                check::<T>(rng, view, axes);
            }
        }
        for_each_type!(check_type(data_type, &mut rng, &view, &axes));
    }
}
