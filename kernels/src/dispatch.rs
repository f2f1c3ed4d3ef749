//! From values (an ISA, a strategy, an element type, a function, a policy) to one kernel. This is the only file where
//! all of them become types, and the only one above `simd/` that lists the ISAs. `simd/mod.rs` says what a new ISA adds
//! here; a new strategy is a variant of [`Strategy`] and a line in `by_strategy`.

use crate::kernel::KernelImpl;
use crate::memory::args::{KernelArgs, LoopDim};
use crate::memory::mask::InputMask;
use crate::merge::{self, Merger, Rank, Select, Take};
use crate::order::both::BothWith;
use crate::order::elements::{Masked, OfColumns, OfDistances, OfRows, OrderFactory, Shared, Specialized};
use crate::order::number::{IGNORE, PROPAGATE};
use crate::order::{ArgOrder, LaneElem};
use crate::outputs::{Outputs, Written};
use crate::positions::Positions;
use crate::rows::RaggedRows;
use crate::scan::{self, Scanner};
use crate::simd::token::Simd;
use crate::strategy::Strategy;
use crate::tuning::{Tuning, WorkingSet};
use crate::types::{DataType, Element, NanPolicy, ReduceFunction};
use crate::values::read_values;
use crate::{columns, rows, scalar};
use core::mem::MaybeUninit;

/// An instruction set that kernels can be written in. Displays and parses in lower case: `avx2`.
///
/// ```
/// # use argreduce_kernels as argreduce;
/// use argreduce::Isa;
/// assert!(Isa::available().any(|isa| isa == Isa::detect()));
/// assert_eq!("portable".parse(), Ok(Isa::Portable));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Plain arrays: runs everywhere.
    Portable,
    /// 256-bit vectors of x86-64 (with the other features of x86-64-v3).
    Avx2,
    /// 512-bit vectors of x86-64 (AVX-512 F, BW, CD, DQ and VL: x86-64-v4).
    Avx512,
    /// 128-bit vectors of aarch64, little-endian.
    Neon,
    /// 128-bit vectors of WebAssembly (wasm32 with the feature `simd128`).
    Simd128,
    /// Arrays of 32 bytes, for the control flow of wider machines: only in builds with `--cfg wide_portable`, as
    /// fuzzing is.
    #[cfg(wide_portable)]
    Portable32,
    /// Arrays of 64 bytes, for the control flow of AVX-512: only in builds with `--cfg wide_portable`.
    #[cfg(wide_portable)]
    Portable64,
}

impl Isa {
    /// The best for this machine: the widest of [`Isa::available`], but [`Isa::Avx512`] only on CPUs that also have
    /// VBMI2.
    ///
    /// The CPUs with AVX-512 that do not have VBMI2 are older. There, 512-bit instructions lower the frequency of the
    /// core, for all that runs on it, and for a millisecond after the last one. That costs more than wider vectors
    /// gain.
    pub fn detect() -> Isa {
        let is_preferred = |isa: &Isa| with_isa!(*isa, S => S::is_preferred()).unwrap_or(false);
        Isa::available().find(is_preferred).unwrap_or(Isa::Portable)
    }

    /// All that this machine has and this build has kernels for, the widest first; [`Isa::Portable`] is always the
    /// last.
    pub fn available() -> impl Iterator<Item = Isa> + Clone {
        Isa::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// Whether this machine has it, and this build has kernels for it.
    pub fn is_available(self) -> bool {
        with_isa!(self, S => S::is_available()).unwrap_or(false)
    }

    /// Bytes in a vector.
    pub const fn vector_bytes(self) -> usize {
        match self {
            Isa::Portable | Isa::Neon | Isa::Simd128 => 16,
            Isa::Avx2 => 32,
            Isa::Avx512 => 64,
            #[cfg(wide_portable)]
            Isa::Portable32 => 32,
            #[cfg(wide_portable)]
            Isa::Portable64 => 64,
        }
    }
}

// The widest first.
#[cfg(not(wide_portable))]
crate::names!(Isa: Avx512 = "avx512", Avx2 = "avx2", Neon = "neon", Simd128 = "simd128", Portable = "portable");
#[cfg(wide_portable)]
crate::names!(Isa: Avx512 = "avx512", Avx2 = "avx2", Neon = "neon", Simd128 = "simd128",
    Portable64 = "portable64", Portable32 = "portable32", Portable = "portable");

/// A kernel, made for one ISA, strategy, element type and order.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    of_args: OfArgs<()>,
    of_row: OfRow,
    of_ragged: rows::OfRagged,
    masked: Option<&'static GivenKernel<InputMask>>,
    element: DataType,
}

/// As [`Kernel::of_row`].
type OfRow = unsafe fn(first: *const (), len: usize, tuning: &'static Tuning) -> u32;

/// Beside the call, with what its order [is given](OrderFactory::Given).
type OfArgs<G> = unsafe fn(args: &KernelArgs<'_>, given: G, outputs: Outputs<'_>) -> Written;

/// The same with what is given: of rows in the direction of memory, or of columns.
#[derive(Clone, Copy, Debug)]
struct GivenKernel<G: 'static> {
    of_args: OfArgs<G>,
    is_of_rows: bool,
    /// How many elements an output has, the fewest and the most.
    lens: [usize; 2],
}

impl<G> GivenKernel<G> {
    fn takes(&self, reduced: &[LoopDim]) -> bool {
        let (GivenKernel { is_of_rows, lens: [fewest, most], .. }, &[LoopDim { size, stride }]) = (self, reduced)
        else {
            return false;
        };
        (stride == 1 || !is_of_rows) && (*fewest..=*most).contains(&size)
    }
}

/// A kernel that compares floats by how far they are from one, in place: see [`distance_kernel_of`].
#[derive(Clone, Copy, Debug)]
pub struct DistanceKernel(GivenKernel<u64>);

impl DistanceKernel {
    /// Whether it takes calls of such reduced loops, as [`Kernel::takes_masks`].
    pub fn takes(&self, reduced: &[LoopDim]) -> bool {
        self.0.takes(reduced)
    }

    /// As [`Kernel::run`] without values: of two elements, the better one has the better distance to that of which
    /// these are the bits.
    ///
    /// # Safety
    /// - As there.
    ///
    /// # Panics
    /// As there; or if it does not [take](DistanceKernel::takes) the call.
    pub unsafe fn run(&self, args: &KernelArgs<'_>, bits: u64, outputs: Outputs<'_>) {
        assert!(outputs.len() == args.outputs() && outputs.value_bytes == 0 && self.takes(args.reduced));
        // SAFETY: the caller's promise, and as many positions as outputs.
        unsafe { (self.0.of_args)(args, bits, outputs) };
    }
}

impl Kernel {
    /// Writes to place `n` of the positions that of the first best of output `n` of the call, and if values are
    /// wanted, the element there, bit for bit; under a mask, by what it fills with in place of what is not there.
    ///
    /// # Safety
    /// - The ISA that the kernel was made for is there (as [`kernel_of`] checks).
    /// - `args.input` was cast from a pointer to the element type that the kernel was made for, and every element that
    ///   the loops of the call reach from it may be read, those that are not there too. Nothing is written there
    ///   meanwhile.
    /// - Values are of that type, or of one as large that has the same alignment and takes any of its elements.
    /// - The reduced loops have no size 0, and the product of their sizes is below 2^32.
    /// - A mask has a bit for each element from the lowest of the call to the highest, and [`InputMask::PADDING`] bytes
    ///   after that of the last one. All of it may be read, and what it fills with is an element.
    ///
    /// # Panics
    /// If there are not as many positions as the call has outputs, values have another size than elements, or the
    /// strategy does not [take](Strategy::takes) the call. (With [`Isa::Portable`], narrow columns are gathered: that
    /// kernel takes any call.) And of a mask, if the kernel [takes none](Kernel::takes_masks), or there are no places
    /// for values.
    #[inline(always)]
    pub unsafe fn run(&self, args: &KernelArgs<'_>, mask: Option<InputMask>, mut outputs: Outputs<'_>) {
        let has_values = outputs.value_bytes != 0;
        assert_eq!(outputs.len(), args.outputs());
        assert!(outputs.value_bytes == if has_values || mask.is_some() { self.element.size() } else { 0 });
        // SAFETY: the caller's promise, and as many positions and values as outputs.
        unsafe {
            let written = match mask {
                None => (self.of_args)(args, (), outputs.reborrow()),
                Some(mask) => {
                    assert!(self.takes_masks(args.reduced));
                    (self.masked.expect("as it takes masks").of_args)(args, mask, outputs.reborrow())
                }
            };
            if has_values && written != Written::All {
                read_values(self.element, args, mask, outputs, written);
            }
        }
    }

    /// Whether it [takes inputs under masks](Kernel::run) of such reduced loops. Rows may be neither short nor
    /// huge, and have to go in the direction of memory; columns may have as many rows as a lane counts. All others are
    /// left out to keep the code small: a copy serves them.
    pub fn takes_masks(&self, reduced: &[LoopDim]) -> bool {
        self.masked.is_some_and(|masked| masked.takes(reduced))
    }

    /// The type of elements that it is for: of bytes that are compared as bools, `bool`.
    pub fn data_type(&self) -> DataType {
        self.element
    }

    /// How many elements a row has at most of which it takes inputs under masks, in the direction of memory.
    pub fn max_masked_row_len(&self) -> usize {
        self.masked.filter(|masked| masked.is_of_rows).map_or(0, |masked| masked.lens[1])
    }

    /// The position of the first best of `len` neighbours: a call of one row, but faster. Any strategy's kernel answers
    /// it.
    ///
    /// # Safety
    /// - As for [`Kernel::run`], for the elements from `first` on; `len` is not 0, and below 2^32.
    #[inline(always)]
    pub unsafe fn of_row(&self, first: *const (), len: usize, tuning: &'static Tuning) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { (self.of_row)(first, len, tuning) }
    }

    /// Where in each row its best is; of an empty row, anything. There is a place for each. Any strategy's kernel
    /// answers it.
    ///
    /// ```
    /// use argreduce_kernels::{DataType, Isa, NanPolicy, RaggedRows, ReduceFunction, Strategy, kernel_of};
    /// use core::mem::MaybeUninit;
    /// let (function, policy) = (ReduceFunction::ArgMax, NanPolicy::Propagate);
    /// let kernel = kernel_of(DataType::F32, Isa::detect(), Strategy::Rows, function, policy).unwrap();
    /// let (x, bounds, mut positions) = ([3.0_f32, 7.0, 7.0, 5.0], [0, 3, 4], [MaybeUninit::uninit(); 2]);
    /// let rows = RaggedRows { input: x.as_ptr().cast(), len: 4, bounds: &bounds, last_wins: true };
    /// // SAFETY: all of the four may be read, and the bounds are within them.
    /// assert_eq!(unsafe { kernel.of_ragged(&rows, &mut positions) }, [2, 0]);
    /// ```
    ///
    /// # Safety
    /// - As for [`Kernel::run`], for the elements from the first bound up to `len`.
    /// - Bounds ascend, none is beyond `len`, and no row has 2^32 elements or more.
    ///
    /// # Panics
    /// If there is not one bound more than positions.
    pub unsafe fn of_ragged<'p>(&self, rows: &RaggedRows<'_>, positions: &'p mut [MaybeUninit<u32>]) -> &'p mut [u32] {
        assert!(rows.bounds.len() == positions.len() + 1);
        let tuning = Tuning::current();
        // SAFETY: the caller's promise, of a row that is longer than a vector.
        let from_the_first = |first, len| unsafe { self.of_row(first, len, tuning) };
        let from_the_last = |first: *const (), len: usize| {
            let input = first.wrapping_byte_add((len - 1) * self.element.size());
            let (reduced, outer, inner) = ([LoopDim { size: len, stride: -1 }], LoopDim::ONE, LoopDim::ONE);
            let args = KernelArgs { input, outer, inner, reduced: &reduced, working_set: WorkingSet::L2, tuning };
            let mut position = [0_u32];
            // SAFETY: the same, from its other end.
            unsafe { self.run(&args, None, Positions::from(&mut position[..]).into()) };
            len as u32 - 1 - position[0]
        };
        let long: &dyn Fn(*const (), usize) -> u32 = if rows.last_wins { &from_the_last } else { &from_the_first };
        // SAFETY: the caller's promise; the ISA is there, as in `of_row`. Then all positions are written.
        unsafe {
            (self.of_ragged)(rows, long, positions);
            &mut *(&raw mut *positions as *mut [u32])
        }
    }
}

/// Runs code with a function and a policy as constants.
macro_rules! with_order {
    ($order:expr, $MAX:ident, $NAN:ident => $body:expr) => {
        match $order {
            (ReduceFunction::ArgMax, NanPolicy::Propagate) => with_order!(@ $MAX true, $NAN PROPAGATE, $body),
            (ReduceFunction::ArgMax, NanPolicy::Ignore) => with_order!(@ $MAX true, $NAN IGNORE, $body),
            (ReduceFunction::ArgMin, NanPolicy::Propagate) => with_order!(@ $MAX false, $NAN PROPAGATE, $body),
            (ReduceFunction::ArgMin, NanPolicy::Ignore) => with_order!(@ $MAX false, $NAN IGNORE, $body),
        }
    };
    (@ $MAX:ident $is_max:literal, $NAN:ident $policy:ident, $body:expr) => {{
        const $MAX: bool = $is_max;
        const $NAN: u8 = $policy;
        $body
    }};
}

/// The kernel for elements of a type, or `None` where the ISA is not available, or this build has
/// [no kernels](DataType::has_kernels) for the type.
///
/// The crate's own page has an example.
pub fn kernel_of(
    element: DataType,
    isa: Isa,
    strategy: Strategy,
    function: ReduceFunction,
    policy: NanPolicy,
) -> Option<&'static Kernel> {
    if !isa.is_available() {
        return None;
    }
    with_element_type!(element, T => with_isa!(isa, S => {
        if const { !T::DATA_TYPE.has_kernels() } {
            return None;
        }
        with_order!((function, policy), MAX, NAN => by_strategy::<S, T, MAX, NAN>(strategy))
    }))
}

/// What merges partial answers, or `None` as in [`kernel_of`]: values of a type, and indices of so many
/// bytes, where all bits set say that nothing was seen. Of values that tie, the smaller index wins, or if `last`, the
/// larger one.
///
/// ```
/// use argreduce_kernels::{DataType, Isa, NanPolicy, ReduceFunction, merger};
/// let merger =
///     merger(Isa::detect(), DataType::F32, 4, ReduceFunction::ArgMax, NanPolicy::Propagate, false).unwrap();
/// let (mut values, mut indices) = ([1.0_f32, 2.0, 0.0], [7_u32, 8, u32::MAX]);
/// let (others, other_indices) = ([1.0_f32, 3.0, -1.0], [5_u32, 6, 9]);
/// let here = [values.as_mut_ptr().cast(), indices.as_mut_ptr().cast()];
/// // SAFETY: all are of these types, and there are three of each.
/// unsafe { merger.merge(3, here, [others.as_ptr().cast(), other_indices.as_ptr().cast()]) };
/// assert_eq!((values, indices), ([1.0, 3.0, -1.0], [5, 6, 9]));
/// ```
///
/// # Panics
/// If indices have not 1, 2, 4 or 8 bytes.
pub fn merger(
    isa: Isa,
    element: DataType,
    index_bytes: usize,
    function: ReduceFunction,
    policy: NanPolicy,
    last: bool,
) -> Option<Merger> {
    assert!(matches!(index_bytes, 1 | 2 | 4 | 8), "indices of {index_bytes} bytes");
    if !isa.is_available() || !element.has_kernels() {
        return None;
    }
    let is_reversed = policy == NanPolicy::Ignore;
    let is_max = (function == ReduceFunction::ArgMax) != is_reversed;
    with_isa!(isa, S => Merger {
        is_reversed,
        rank: with_element_type!(element, T => {
            if const { !T::DATA_TYPE.has_kernels() } {
                return None;
            }
            type Pod = <T as Element>::Pod;
            // Floats have an order of their own, in which there is nothing to flip. Of integers, there would be more
            // code than it gains.
            if const { is_float::<Shared<S, Pod, true, PROPAGATE>>() } {
                if is_max {
                    merge::enter::<Rank, Specialized<S, Pod, true, PROPAGATE>>
                } else {
                    merge::enter::<Rank, Specialized<S, Pod, false, PROPAGATE>>
                }
            } else if is_max {
                merge::enter::<Rank, Shared<S, Pod, true, PROPAGATE>>
            } else {
                merge::enter::<Rank, Shared<S, Pod, false, PROPAGATE>>
            }
        }),
        take: with_bits!(index_bytes, I => {
            if last {
                merge::enter::<Take, Shared<S, I, true, PROPAGATE>>
            } else {
                merge::enter::<Take, Shared<S, I, false, PROPAGATE>>
            }
        }),
        select_values: with_element_bits!(element.size(), B => merge::enter::<Select, Shared<S, B, true, PROPAGATE>>),
        select_indices: with_bits!(index_bytes, I => merge::enter::<Select, Shared<S, I, true, PROPAGATE>>),
        sizes: [element.size(), index_bytes],
        group_len: isa.vector_bytes(),
    })
}

/// What scans lines for [the best so far](crate::Scanner), or `None` as in [`kernel_of`].
///
/// ```
/// use argreduce_kernels::{DataType, Isa, LoopDim, NanPolicy, ReduceFunction, ScanArgs, scanner_of};
/// let scanner = scanner_of(DataType::F32, Isa::detect(), ReduceFunction::ArgMax, NanPolicy::Propagate).unwrap();
/// let (prices, mut indices) = ([3.0_f32, 1.0, 4.0, 1.0, 5.0], [0_u32; 5]);
/// let (mut value, mut index) = (0.0_f32, 0_u32);
/// let args = ScanArgs {
///     input: prices.as_ptr().cast(),
///     lines: LoopDim::ONE,
///     steps: LoopDim { size: 5, stride: 1 },
///     index_bytes: 4,
///     indices: indices.as_mut_ptr().cast(),
///     index_stride: 0,
///     values: std::ptr::null_mut(),
///     value_stride: 0,
///     first_index: 0,
///     line_index_step: 0,
///     indices_fall: false,
///     newest_wins: false,
///     best: [(&raw mut value).cast(), (&raw mut index).cast()],
///     begins: true,
/// };
/// // SAFETY: there are five of each, and one best.
/// unsafe { scanner.scan(&args) };
/// assert_eq!((indices, value, index), ([0, 0, 2, 2, 4], 5.0, 4));
/// ```
pub fn scanner_of(element: DataType, isa: Isa, function: ReduceFunction, policy: NanPolicy) -> Option<Scanner> {
    if !isa.is_available() {
        return None;
    }
    let lanes = isa.vector_bytes() / element.size();
    with_element_type!(element, T => with_isa!(isa, S => {
        if const { !T::DATA_TYPE.has_kernels() } {
            return None;
        }
        with_order!((function, policy), MAX, NAN => scanner::<S, T, MAX, NAN>(lanes))
    }))
}

fn scanner<S: Simd, T: Element, const MAX: bool, const NAN: u8>(lanes: usize) -> Scanner
where
    OfColumns<S, T, MAX, NAN>: OrderFactory<Given = (), Order: scan::ScanOrder>,
{
    if const { scalar::replaces_scans::<S>() } {
        let (scan, merge) = (scalar::scan::<T::Pod, MAX, NAN>, scalar::merge_scans::<T::Pod, MAX, NAN>);
        return Scanner { scan, merge, lanes };
    }
    let (scan, merge) = (scan::enter_scan::<OfColumns<S, T, MAX, NAN>>, scan::enter_merge::<OfColumns<S, T, MAX, NAN>>);
    Scanner { scan, merge, lanes }
}

/// A kernel for both functions at once, made for one ISA, element type and policy: of long rows, what is loaded serves
/// both.
///
/// ```
/// use argreduce_kernels::{DataType, Isa, NanPolicy, Tuning, both_kernel_of};
/// let mut row = [0.0_f32; 5000];
/// (row[7], row[4000]) = (-1.0, 5.0);
/// // (None by `Isa::Portable`.)
/// if let Some(kernel) = both_kernel_of(DataType::F32, Isa::detect(), NanPolicy::Propagate) {
///     assert!(row.len() >= kernel.min_row_len());
///     // SAFETY: the elements are there, and of that type.
///     let [smallest, largest] = unsafe { kernel.of_row(row.as_ptr().cast(), row.len(), Tuning::current()) };
///     assert_eq!([smallest, largest], [7, 4000]);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BothKernel {
    of_args: unsafe fn(args: &KernelArgs<'_>, places: [*mut MaybeUninit<u32>; 2]),
    min_row_len: usize,
}

impl BothKernel {
    /// Of shorter rows, the kernel of one function after that of the other is as fast.
    pub fn min_row_len(self) -> usize {
        self.min_row_len
    }

    /// Writes to place `n` of the first positions that of the first smallest element of output `n` of the call, and to
    /// place `n` of the others that of the first largest.
    ///
    /// # Safety
    /// As for [`Kernel::run`].
    ///
    /// # Panics
    /// If there are not as many positions as the call has outputs; or these are not rows of at least
    /// [`BothKernel::min_row_len`] elements in the direction of memory.
    pub unsafe fn run(self, args: &KernelArgs<'_>, positions: [&mut [MaybeUninit<u32>]; 2]) {
        assert!(matches!(*args.reduced, [LoopDim { size, stride: 1 }] if size >= self.min_row_len));
        assert_eq!(positions.each_ref().map(|positions| positions.len()), [args.outputs(); 2]);
        // SAFETY: the caller's promise; the places have been counted.
        unsafe { (self.of_args)(args, positions.map(|positions| positions.as_mut_ptr())) }
    }

    /// As [`Kernel::of_row`]: the positions of the smallest and the largest of a row that is long enough.
    ///
    /// # Safety
    /// As there.
    ///
    /// # Panics
    /// If it has fewer elements than [`BothKernel::min_row_len`].
    pub unsafe fn of_row(self, first: *const (), len: usize, tuning: &'static Tuning) -> [u32; 2] {
        let (reduced, mut positions) = ([LoopDim { size: len, stride: 1 }], [[MaybeUninit::uninit()]; 2]);
        let args = KernelArgs {
            input: first,
            outer: LoopDim::ONE,
            inner: LoopDim::ONE,
            reduced: &reduced,
            working_set: WorkingSet::L2,
            tuning,
        };
        // SAFETY: the caller's promise; `run` writes both positions.
        unsafe {
            self.run(&args, positions.each_mut().map(|position| &mut position[..]));
            positions.map(|[position]| position.assume_init())
        }
    }
}

/// The kernel for both functions at once, or `None` as in [`kernel_of`], or where the ISA has none.
///
/// [`BothKernel`] has an example.
pub fn both_kernel_of(element: DataType, isa: Isa, policy: NanPolicy) -> Option<BothKernel> {
    if !isa.is_available() {
        return None;
    }
    with_element_type!(element, T => with_isa!(isa, S => {
        // Whoever has no vectors but arrays does not gain enough for the code.
        if const { !T::DATA_TYPE.has_kernels() || !S::TUNING.has_special_cases() } {
            return None;
        }
        Some(match policy {
            NanPolicy::Propagate => rows_of_both::<S, T, PROPAGATE>(),
            NanPolicy::Ignore => rows_of_both::<S, T, IGNORE>(),
        })
    }))
    .flatten()
}

/// From an ISA to its token: `with_isa!(isa, S => f::<S>())` is `Some` of the expression, or `None` for an ISA that
/// this build has no kernels for.
macro_rules! with_isa {
    ($isa:expr, $S:ident => $body:expr) => {
        with_isa!(@ $isa, $S, $body;
            // What is `without` is left out where nobody would wait for its kernels: in fuzzing and for mutants.
            #[cfg(not(without = "portable"))]
            Portable: crate::simd::portable::Portable<16>;
            #[cfg(wide_portable)]
            Portable32: crate::simd::portable::Portable<32>;
            #[cfg(wide_portable)]
            Portable64: crate::simd::portable::Portable<64>;
            #[cfg(all(target_arch = "x86_64", not(without = "avx2")))]
            Avx2: crate::simd::avx2::Avx2;
            #[cfg(all(target_arch = "x86_64", not(without = "avx512")))]
            Avx512: crate::simd::avx512::Avx512;
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Neon: crate::simd::neon::Neon;
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Simd128: crate::simd::wasm::Simd128;
        )
    };
    (@ $isa:expr, $S:ident, $body:expr; $($(#[$cfg:meta])* $name:ident: $token:ty;)+) => {
        match $isa {
            $($(#[$cfg])* Isa::$name => {
                type $S = $token;
                Some($body)
            })+
            _ => None,
        }
    };
}
pub(crate) use with_isa;

/// The token of vectors that every machine of the target has.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) type Everywhere = crate::simd::portable::Portable<16>;
/// The token of vectors that every machine of the target has.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) type Everywhere = crate::simd::wasm::Simd128;

/// Whether rows have an [order of their own](by_strategy).
const fn has_specialized_rows<S: Simd, T: Element>() -> bool {
    S::TUNING.has_instructions && (S::TUNING.has_masks || !matches!(T::DATA_TYPE, DataType::U32 | DataType::U64))
}

/// An order of its own where it is faster: in rows, where a vector takes one operation or two; but not of wide unsigned
/// integers, where comparisons make no masks and are signed. An operation more for each vector is not to be seen in
/// columns, which take four, where elements are gathered first, or in rows that are searched part by part; and rows
/// against the direction of memory are too rare to be worth the code. See docs/tuning.md#specialized-orders.
fn by_strategy<S: Simd, T: Element, const MAX: bool, const NAN: u8>(strategy: Strategy) -> &'static Kernel
where
    Specialized<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    Shared<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    OfRows<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    OfColumns<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    Masked<Shared<S, T, MAX, NAN>>: OrderFactory<Given = InputMask, Order: ArgOrder>,
    Masked<OfColumns<S, T, MAX, NAN>>: OrderFactory<Given = InputMask, Order: ArgOrder>,
{
    match strategy {
        Strategy::Rows => const { &kernel::<S, T, MAX, NAN>(Strategy::Rows) },
        Strategy::Columns => const { &kernel::<S, T, MAX, NAN>(Strategy::Columns) },
        Strategy::SegmentedRows => const { &kernel::<S, T, MAX, NAN>(Strategy::SegmentedRows) },
        Strategy::NarrowColumns => const { &kernel::<S, T, MAX, NAN>(Strategy::NarrowColumns) },
        Strategy::GatheredColumns => const { &kernel::<S, T, MAX, NAN>(Strategy::GatheredColumns) },
    }
}

const fn kernel<S: Simd, T: Element, const MAX: bool, const NAN: u8>(strategy: Strategy) -> Kernel
where
    Specialized<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    Shared<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    OfRows<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    OfColumns<S, T, MAX, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    Masked<Shared<S, T, MAX, NAN>>: OrderFactory<Given = InputMask, Order: ArgOrder>,
    Masked<OfColumns<S, T, MAX, NAN>>: OrderFactory<Given = InputMask, Order: ArgOrder>,
{
    let of_ragged = rows::of_ragged::<Shared<S, T, MAX, NAN>>();
    if const { scalar::replaces::<S>() } {
        let (of_args, of_row) = (scalar::of_args::<T::Pod, MAX, NAN>, scalar::of_row::<T::Pod, MAX, NAN>);
        return Kernel { of_args, of_row, of_ragged, masked: None, element: T::DATA_TYPE };
    }
    let of_args: OfArgs<()> = match strategy {
        Strategy::Rows if const { S::TUNING.has_small_vectors() && has_specialized_rows::<S, T>() } => {
            rows::RowKernel::enter_by::<OfRows<S, T, MAX, NAN>, OfColumns<S, T, MAX, NAN>>
        }
        Strategy::Rows if const { has_specialized_rows::<S, T>() } => {
            rows::RowKernel::enter_by::<Specialized<S, T, MAX, NAN>, Shared<S, T, MAX, NAN>>
        }
        Strategy::Rows => rows::RowKernel::enter_by::<Shared<S, T, MAX, NAN>, Shared<S, T, MAX, NAN>>,
        Strategy::Columns => columns::Columns::enter::<OfColumns<S, T, MAX, NAN>>,
        Strategy::SegmentedRows if const { S::TUNING.has_small_vectors() } => {
            rows::SegmentedRows::enter::<OfColumns<S, T, MAX, NAN>>
        }
        Strategy::SegmentedRows => rows::SegmentedRows::enter::<Shared<S, T, MAX, NAN>>,
        Strategy::NarrowColumns if const { S::TUNING.has_instructions } || cfg!(wide_portable) => {
            columns::NarrowColumns::enter::<OfColumns<S, T, MAX, NAN>>
        }
        Strategy::NarrowColumns | Strategy::GatheredColumns => {
            columns::GatheredColumns::enter::<OfColumns<S, T, MAX, NAN>>
        }
    };
    let of_row: OfRow = if const { S::TUNING.has_small_vectors() && has_specialized_rows::<S, T>() } {
        rows::SingleRow::enter::<OfRows<S, T, MAX, NAN>, OfColumns<S, T, MAX, NAN>>
    } else if const { S::TUNING.has_instructions && is_float::<Shared<S, T, MAX, NAN>>() } {
        rows::SingleRow::enter::<Specialized<S, T, MAX, NAN>, Shared<S, T, MAX, NAN>>
    } else {
        rows::SingleRow::enter::<Shared<S, T, MAX, NAN>, Shared<S, T, MAX, NAN>>
    };
    let masked = match strategy {
        // Copies serve the others.
        _ if const { S::TUNING.has_small_code } => None,
        Strategy::Rows => Some(
            const {
                &GivenKernel {
                    of_args: rows::LongRows::enter::<Masked<Shared<S, T, MAX, NAN>>>,
                    is_of_rows: true,
                    lens: rows::LongRows::lens::<<Shared<S, T, MAX, NAN> as OrderFactory>::Order>(),
                }
            },
        ),
        Strategy::Columns => Some(
            const {
                &GivenKernel {
                    of_args: columns::OnePassColumns::enter::<Masked<OfColumns<S, T, MAX, NAN>>>,
                    is_of_rows: false,
                    lens: [
                        1,
                        columns::OnePassColumns::most_rows::<<OfColumns<S, T, MAX, NAN> as OrderFactory>::Order>(),
                    ],
                }
            },
        ),
        _ => None,
    };
    Kernel { of_args, of_row, of_ragged, masked, element: T::DATA_TYPE }
}

/// The kernel for the distances of elements, for the strategies of rows and of columns. `None` as in [`kernel_of`], and
/// for other strategies, other types than `f32` and `f64`, and ISAs of small code: copies serve those.
pub fn distance_kernel_of(
    element: DataType,
    isa: Isa,
    strategy: Strategy,
    function: ReduceFunction,
    policy: NanPolicy,
) -> Option<DistanceKernel> {
    macro_rules! of {
        ($t:ident) => {
            with_isa!(isa, S => {
                if const { S::TUNING.has_small_code || scalar::replaces::<S>() } {
                    return None;
                }
                with_order!((function, policy), MAX, NAN => distance_kernel::<OfDistances<S, $t, MAX, NAN>>(strategy))
            })
            .flatten()
        };
    }
    match element {
        DataType::F32 if cfg!(feature = "f32") && isa.is_available() => of!(f32),
        DataType::F64 if cfg!(feature = "f64") && isa.is_available() => of!(f64),
        _ => None,
    }
}

fn distance_kernel<F: OrderFactory<Given = u64, Order: ArgOrder>>(strategy: Strategy) -> Option<DistanceKernel> {
    Some(DistanceKernel(match strategy {
        Strategy::Rows | Strategy::SegmentedRows => GivenKernel {
            of_args: rows::LongRows::enter::<F>,
            is_of_rows: true,
            lens: rows::LongRows::all_lens::<F::Order>(),
        },
        Strategy::Columns => GivenKernel {
            of_args: columns::OnePassColumns::enter::<F>,
            is_of_rows: false,
            lens: [1, columns::OnePassColumns::most_rows::<F::Order>()],
        },
        _ => return None,
    }))
}

/// The orders are those that each function has in rows by itself.
fn rows_of_both<S: Simd, T: Element, const NAN: u8>() -> BothKernel
where
    Specialized<S, T, false, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    Specialized<S, T, true, NAN>:
        OrderFactory<Given = (), Order: BothWith<<Specialized<S, T, false, NAN> as OrderFactory>::Order>>,
    Shared<S, T, false, NAN>: OrderFactory<Given = (), Order: ArgOrder>,
    Shared<S, T, true, NAN>:
        OrderFactory<Given = (), Order: BothWith<<Shared<S, T, false, NAN> as OrderFactory>::Order>>,
{
    let of_args = if const { has_specialized_rows::<S, T>() } {
        rows::RowsOfBoth::enter::<Specialized<S, T, false, NAN>, Specialized<S, T, true, NAN>>
    } else {
        rows::RowsOfBoth::enter::<Shared<S, T, false, NAN>, Shared<S, T, true, NAN>>
    };
    let min_row_len = const { rows::RowsOfBoth::min_len::<<Shared<S, T, false, NAN> as OrderFactory>::Order>() };
    BothKernel { of_args, min_row_len }
}

/// Floats of 16 bits have a fast path, and no others.
const fn is_float<F: OrderFactory<Order: ArgOrder>>() -> bool {
    <F::Order as ArgOrder>::Lane::HAS_NAN || F::Order::HAS_FAST
}
