//! The one check: some strategies on a tile, by every order, against a plain loop over the walk. Nothing here chooses
//! tiles.

use argreduce_guard::{Edge, Guarded, few};
use argreduce_kernels::NanPolicy::{self, Ignore, Propagate};
use argreduce_kernels::ReduceFunction::{self, ArgMax, ArgMin};
use argreduce_kernels::{
    Element, InputMask, Isa, KernelArgs, LoopDim, Outputs, Positions, Strategy, StridedIter, Tuning, WorkingSet,
    better, both_kernel_of, kernel_of, offset_at,
};
use bytemuck::{Pod, bytes_of};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Of these and the tables of all microarchitectures, each pair is taken in turn.
const WORKING_SETS: [WorkingSet; 3] = [WorkingSet::L2, WorkingSet::Llc, WorkingSet::Dram];

/// A type of elements with values that are likely to matter.
pub trait Sample: argreduce_guard::Sample + Element + Pod {}

impl<T: argreduce_guard::Sample + Element + Pod> Sample for T {}

/// What a test compares with the expected answer: one ISA's way of ordering one element type.
pub struct Case<T> {
    pub isa: Isa,
    /// Elements in a vector.
    pub lanes: usize,
    element: PhantomData<T>,
}

impl<T: Sample> Case<T> {
    pub fn new(isa: Isa) -> Self {
        Case { isa, lanes: isa.vector_bytes() / size_of::<T>(), element: PhantomData }
    }

    pub fn check(&self, data: &[T], start: usize, outer: LoopDim, inner: LoopDim, reduced: &[LoopDim]) {
        self.check_by(&Strategy::ALL, data, start, [outer, inner], reduced);
    }

    /// Runs the strategies on one tile of `data`, by every order, its elements flush against pages that nobody may
    /// touch: the first of them behind one, and the last of them before one.
    pub fn check_by(
        &self,
        strategies: &[Strategy],
        data: &[T],
        start: usize,
        [outer, inner]: [LoopDim; 2],
        reduced: &[LoopDim],
    ) {
        let takes = |strategy: &&Strategy| strategy.takes(inner, reduced, self.lanes);
        let strategies: Vec<_> = strategies.iter().filter(takes).collect();
        assert!(!strategies.is_empty(), "{inner:?} of {reduced:?} is for none of the strategies");
        let reach = |pick: fn(isize) -> isize| -> usize {
            let loops = [outer, inner].into_iter().chain(reduced.iter().copied());
            start.wrapping_add_signed(loops.map(|l| (l.size as isize - 1) * pick(l.stride)).sum())
        };
        // Safe indexing: this also proves that the tile stays inside the data.
        let (lowest, reached) = (reach(|stride| stride.min(0)), reach(|stride| stride.max(0)));
        let (before, len) = (start - lowest, reached - lowest + 1);
        let at = |edge| (Guarded::copy_of(&data[lowest..=reached], edge), start - lowest);
        let mut inputs = Vec::from(Edge::ALL.map(at));
        if lowest > 0 {
            // And as far from the start of a page, and so of a vector, as was asked for.
            inputs.push((Guarded::copy_of(data, Edge::Start), start));
        }
        let orders = [(ArgMin, Propagate), (ArgMax, Propagate), (ArgMin, Ignore), (ArgMax, Ignore)];
        let elements: usize = [outer, inner].iter().chain(reduced).map(|l| l.size).product();
        let (fastest, slower) = reduced.split_last().expect("a reduced loop");
        let one_loop = |offset| (0..fastest.size as isize).map(move |n| offset + n * fastest.stride);
        for (function, policy) in few(0..4, if elements > 50_000 { 4 } else { 1 }).map(|n| orders[n]) {
            let visited = |output| {
                let offsets = StridedIter::new(slower).flat_map(one_loop);
                offsets.map(move |offset| data[(start as isize + output + offset) as usize])
            };
            let expected: Vec<u32> =
                StridedIter::new(&[outer, inner]).map(|output| first_best(function, policy, visited(output))).collect();
            for &&strategy in &strategies {
                for n in few(0..inputs.len(), 2) {
                    let (input, start) = &inputs[n];
                    // Each of them at some edge, by each of the policies.
                    let turn = n + elements + usize::from(function == ArgMax) * 2 + usize::from(policy == Ignore);
                    let working_set = WORKING_SETS[turn % WORKING_SETS.len()];
                    let tuning = Tuning::ALL[turn / WORKING_SETS.len() % Tuning::ALL.len()];
                    let args = KernelArgs {
                        input: input[*start..].as_ptr().cast(),
                        outer,
                        inner,
                        reduced,
                        working_set,
                        tuning,
                    };
                    // SAFETY: `expected` was found by reading every element of the tile.
                    let found = unsafe { self.run(strategy, function, policy, &args) };
                    assert!(
                        found == expected,
                        "{function} {policy} of {} by {strategy} on {}: {found:?} instead of {expected:?}\n\
                         {args:?}\n{data:?}",
                        T::DATA_TYPE,
                        self.isa,
                    );
                    if (elements + usize::from(function == ArgMax)) % inputs.len() == n {
                        let elements = &input[start - before..][..len];
                        // SAFETY: these are all elements of the tile, and those between.
                        unsafe { self.check_masked(strategy, (function, policy), &args, elements) };
                    }
                }
            }
        }
    }

    /// What a kernel finds under a mask is what it finds in a copy with something else in place of what is not there.
    ///
    /// # Safety
    /// - The elements of the tile may be read: all are among `elements`.
    unsafe fn check_masked(
        &self,
        strategy: Strategy,
        (function, policy): (ReduceFunction, NanPolicy),
        args: &KernelArgs<'_>,
        elements: &[T],
    ) {
        let kernel = kernel_of(T::DATA_TYPE, self.isa, strategy, function, policy).expect("an ISA that is there");
        // Of arrays, only where there are no vectors to speak of.
        let has_none = self.isa == Isa::Portable && cfg!(target_arch = "x86_64");
        match (strategy, args.reduced) {
            _ if has_none => {
                assert!(!kernel.takes_masks(args.reduced));
                return;
            }
            (Strategy::Columns, [LoopDim { size: ..200, .. }]) => assert!(kernel.takes_masks(args.reduced)),
            (Strategy::Rows, &[LoopDim { size, stride: 1 }])
                if ((3 << 10) / size_of::<T>()..200 * self.lanes).contains(&size) =>
            {
                assert!(kernel.takes_masks(args.reduced));
            }
            _ if kernel.takes_masks(args.reduced) => assert!(matches!(strategy, Strategy::Rows | Strategy::Columns)),
            _ => return,
        }
        let len = elements.len();
        let fill = T::SPECIAL[len % T::SPECIAL.len()];
        // Any bits, of which some are one for long.
        let any = |n: usize| (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) as u8;
        let byte = |n: usize| if any(n / 16) & 1 == 0 { any(n) } else { any(n) | any(n + len) | any(n + 2 * len) };
        let bits: Vec<u8> = (0..len.div_ceil(8) + InputMask::PADDING).map(byte).collect();
        let bits = Guarded::copy_of(&bits, Edge::ALL[len % 2]);
        let is_there = |n: usize| bits[n / 8] >> (n % 8) & 1 != 0;
        let seen: Vec<T> = (0..len).map(|n| if is_there(n) { elements[n] } else { fill }).collect();
        // SAFETY: it is within the elements.
        let first = unsafe { args.input.cast::<T>().offset_from_unsigned(elements.as_ptr()) };
        let of_copy = KernelArgs { input: seen[first..].as_ptr().cast(), ..*args };
        // SAFETY: the copy has as many elements.
        let expected = unsafe { self.run(strategy, function, policy, &of_copy) };
        let mask = InputMask::new(elements.as_ptr().cast(), &bits, (&raw const fill).cast());
        let (mut positions, mut values) = (vec![u32::MAX; expected.len()], vec![T::SPECIAL[0]; expected.len()]);
        // SAFETY: the caller's promise, and each element has a bit.
        unsafe {
            kernel.run(args, Some(mask), Outputs::with_values(Positions::from(&mut positions[..]), &mut values));
        }
        let how = || {
            format!(
                "{function} {policy} of {} by {strategy} on {}, masked: {seen:?} of {elements:?}, {args:?}",
                T::DATA_TYPE,
                self.isa
            )
        };
        assert_eq!(positions, expected, "{}", how());
        for ((output, value), &position) in StridedIter::new(&[args.outer, args.inner]).zip(&values).zip(&expected) {
            let place = first.wrapping_add_signed(output + offset_at(args.reduced, position as usize));
            assert_eq!(bytes_of(value), bytes_of(&seen[place]), "{}", how());
        }
    }

    /// What a kernel finds, in memory that held nothing of it before: the same by positions of both widths, with values
    /// or without, by turns; and values are the elements there, bit for bit.
    ///
    /// # Safety
    /// - The elements of the tile may be read.
    pub unsafe fn run(
        &self,
        strategy: Strategy,
        function: ReduceFunction,
        policy: NanPolicy,
        args: &KernelArgs<'_>,
    ) -> Vec<u32> {
        let kernel = kernel_of(T::DATA_TYPE, self.isa, strategy, function, policy).expect("an ISA that is there");
        let (outputs, turn) = (args.outputs(), usize::from(function == ArgMax));
        let mut positions = Guarded::filled(u32::MAX, outputs, Edge::ALL[1 - turn]);
        let mut wide = Guarded::filled(u64::MAX, outputs, Edge::ALL[turn]);
        let mut values = Guarded::filled(T::SPECIAL[outputs % T::SPECIAL.len()], outputs, Edge::ALL[outputs % 2]);
        let (narrow, wider) = (Positions::from(&mut positions[..]), Positions::from(&mut wide[..]));
        // SAFETY: the kernel is for `T`, and the caller's promise.
        unsafe {
            if (turn + outputs) % 2 == 0 {
                kernel.run(args, None, Outputs::with_values(narrow, &mut values));
                kernel.run(args, None, wider.into());
            } else {
                kernel.run(args, None, narrow.into());
                kernel.run(args, None, Outputs::with_values(wider, &mut values));
            }
        }
        let found = positions.to_vec();
        let how = format!("{function} {policy} by {strategy} of {} on {}", T::DATA_TYPE, self.isa);
        let widened: Vec<u64> = found.iter().map(|&position| position.into()).collect();
        assert_eq!(wide[..], widened, "{how}: 64 bits");
        for ((output, value), &position) in StridedIter::new(&[args.outer, args.inner]).zip(&values[..]).zip(&found) {
            let place = output + offset_at(args.reduced, position as usize);
            // SAFETY: the element of an output.
            let expected = unsafe { args.input.cast::<T>().offset(place).read() };
            let (value, expected) = (bytes_of(value), bytes_of(&expected));
            assert!(
                value == expected,
                "{how}: {value:?} instead of {expected:?} for the output at {output} of {args:?}"
            );
        }
        if let (Strategy::Rows, &[LoopDim { size, stride: 1 }]) = (strategy, args.reduced) {
            let first = |output| args.input.cast::<T>().wrapping_offset(output).cast();
            // SAFETY: the same, of each row for itself.
            let of_row = |output| unsafe { kernel.of_row(first(output), size, args.tuning) };
            let of_rows: Vec<u32> = StridedIter::new(&[args.outer, args.inner]).map(of_row).collect();
            assert_eq!(of_rows, found, "{how}, single rows of {size}");
        }
        // SAFETY: the caller's promise.
        unsafe { self.check_both(strategy, (turn, policy), args, &found) };
        found
    }

    /// What a kernel for both functions finds for the first one or the second is what the kernel of that has found.
    ///
    /// # Safety
    /// - The elements of the tile may be read.
    unsafe fn check_both(
        &self,
        strategy: Strategy,
        (turn, policy): (usize, NanPolicy),
        args: &KernelArgs<'_>,
        found: &[u32],
    ) {
        let kernel = both_kernel_of(T::DATA_TYPE, self.isa, policy);
        assert_eq!(kernel.is_some(), matches!(self.isa, Isa::Avx2 | Isa::Avx512 | Isa::Neon));
        let (Some(kernel), Strategy::Rows, &[LoopDim { size, stride: 1 }]) = (kernel, strategy, args.reduced) else {
            return;
        };
        if size < kernel.min_row_len() {
            return;
        }
        let mut positions = [(); 2].map(|()| Guarded::filled(MaybeUninit::new(u32::MAX), found.len(), Edge::End));
        // SAFETY: the kernel is for `T`, and the caller's promise.
        unsafe { kernel.run(args, positions.each_mut().map(|positions| &mut positions[..])) };
        let how = format!("both, {turn} {policy} of {} on {}", T::DATA_TYPE, self.isa);
        // SAFETY: all of them have been filled.
        let of_turn: Vec<u32> = positions[turn].iter().map(|position| unsafe { position.assume_init() }).collect();
        assert_eq!(of_turn, found, "{how}: {args:?}");
        let first = |output| args.input.cast::<T>().wrapping_offset(output).cast();
        // SAFETY: the same, of each row for itself.
        let of_row = |output| unsafe { kernel.of_row(first(output), size, args.tuning)[turn] };
        let of_rows: Vec<u32> = StridedIter::new(&[args.outer, args.inner]).map(of_row).collect();
        assert_eq!(of_rows, found, "{how}, single rows of {size}");
    }
}

/// The position of the first best element. What is the same bit for bit is not better: most elements are, and
/// comparisons of 16-bit floats are slow.
pub fn first_best<T: Sample>(function: ReduceFunction, policy: NanPolicy, elements: impl Iterator<Item = T>) -> u32 {
    // A fold: an emulated machine takes most of its time here, and a loop would ask each time which loop it is in.
    let best = elements.enumerate().reduce(|best, next| {
        let is_better = bytes_of(&next.1) != bytes_of(&best.1) && better(function, policy, next.1, best.1);
        if is_better { next } else { best }
    });
    best.unwrap().0 as u32
}
