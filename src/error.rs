//! Everything that can be wrong with a call, in one enum. Each message names the offender and what was allowed.

use crate::directml::BrokenRule;
use crate::{DataType, Isa, MAX_RANK};
use std::fmt;

/// Why a layout, a plan or a run was refused. Nothing has been written when a call returns one.
///
/// ```
/// let error = argreduce::argmax::<f32, u32>(&[0.0; 6], &[2, 3], &[2]).unwrap_err();
/// assert_eq!(error.to_string(), "axis 2 is out of range: rank 2 allows -2 to 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// More sizes than a layout holds.
    RankTooHigh {
        /// The number of sizes.
        rank: usize,
    },
    /// Not one stride per size.
    StrideCount {
        /// The number of sizes.
        sizes: usize,
        /// The number of strides.
        strides: usize,
    },
    /// The sizes multiply to more elements than `isize` counts.
    TooManyElements {
        /// The first axis at which the product of the sizes overflows.
        axis: usize,
        /// The size of that axis.
        size: usize,
    },
    /// An offset that no slice is long enough for.
    OffsetTooLarge {
        /// The offset.
        offset: usize,
    },
    /// Sizes and strides lead to offsets beyond `isize`.
    OffsetOverflow {
        /// The first axis at which the offset overflows.
        axis: usize,
        /// The stride of that axis.
        stride: isize,
    },
    /// Negative strides lead to an element before the start of the slice.
    BeforeStart {
        /// How many elements before the start.
        elements: usize,
        /// The offset that the layout has.
        offset: usize,
    },
    /// An axis that the tensor does not have.
    AxisOutOfRange {
        /// The axis, as given.
        axis: isize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// An axis given twice.
    DuplicateAxis {
        /// The second of the two, as given.
        axis: isize,
        /// The dimension that both mean.
        dimension: usize,
    },
    /// Outputs that would each have to be found among no elements.
    EmptyReduction {
        /// The reduced axis of size 0.
        axis: usize,
    },
    /// The index type cannot hold the largest possible index.
    IndexTooLarge {
        /// The largest possible index.
        largest: usize,
        /// The index type.
        index_type: &'static str,
        /// The largest value of the index type.
        max: u64,
    },
    /// An output layout of another rank than the input's.
    OutputRank {
        /// The rank that it must have.
        expected: usize,
        /// The rank that it has.
        found: usize,
    },
    /// An output layout of the wrong size on one axis.
    OutputSize {
        /// The axis.
        axis: usize,
        /// The size that it must have: 1 for a reduced axis, the input's for any other.
        expected: usize,
        /// The size that it has.
        found: usize,
    },
    /// Two outputs would share one place (or could not be told apart within a bounded search).
    OutputOverlaps,
    /// The machine, or this build, has no such ISA.
    IsaNotAvailable {
        /// The ISA.
        isa: Isa,
    },
    /// `ARGREDUCE_ISA` names no ISA.
    UnknownIsa {
        /// What it names.
        name: String,
    },
    /// A slice that ends before the layout does.
    TooShort {
        /// Which slice: `input`, `output` or `values`.
        slice: &'static str,
        /// Its element type.
        element_type: &'static str,
        /// The shortest length that holds every element of the layout.
        required: usize,
        /// The length that it has.
        len: usize,
    },
    /// Bytes at an address that their elements cannot have.
    Misaligned {
        /// Which slice: `input`, `output` or `values`.
        slice: &'static str,
        /// Its element type.
        element_type: &'static str,
        /// What the address has to be a multiple of.
        alignment: usize,
    },
    /// A type that indices are not written as.
    NotAnIndexType {
        /// The type.
        data_type: DataType,
    },
    /// A rule of DirectML's that a descriptor does not keep.
    DirectMl(BrokenRule),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::RankTooHigh { rank } => write!(f, "rank {rank} is too high: at most {MAX_RANK} axes are allowed"),
            Error::StrideCount { sizes, strides } => {
                write!(f, "{strides} strides for {sizes} sizes: one stride per axis is needed")
            }
            Error::TooManyElements { axis, size } => {
                write!(
                    f,
                    "too many elements: with size {size} on axis {axis}, the sizes multiply to more than {}",
                    isize::MAX
                )
            }
            Error::OffsetTooLarge { offset } => {
                write!(f, "offset {offset} is too large: it has to be below {}", isize::MAX)
            }
            Error::OffsetOverflow { axis, stride } => {
                write!(f, "stride {stride} on axis {axis} leads to an element beyond {}", isize::MAX)
            }
            Error::BeforeStart { elements, offset } => write!(
                f,
                "the strides lead to {elements} elements before the start of the slice: the offset is {offset}, and has to be at least {}",
                offset.saturating_add(elements)
            ),
            Error::AxisOutOfRange { axis, rank: 0 } => {
                write!(f, "axis {axis} is out of range: a tensor of rank 0 has no axes")
            }
            Error::AxisOutOfRange { axis, rank } => {
                write!(f, "axis {axis} is out of range: rank {rank} allows -{rank} to {}", rank - 1)
            }
            Error::DuplicateAxis { axis, dimension } => {
                write!(f, "axis {axis} is given twice: dimension {dimension} can be reduced only once")
            }
            Error::EmptyReduction { axis } => {
                write!(
                    f,
                    "axis {axis} has size 0: a reduced axis needs at least one element, unless the output is empty"
                )
            }
            Error::IndexTooLarge { largest, index_type, max } => {
                write!(f, "the largest possible index is {largest}: {index_type} holds at most {max}")
            }
            Error::OutputRank { expected, found } => {
                write!(f, "the output layout has rank {found}: it has to have the input's, {expected}")
            }
            Error::OutputSize { axis, expected, found } => {
                write!(f, "the output layout has size {found} on axis {axis}: it has to be {expected}")
            }
            Error::OutputOverlaps => {
                f.write_str("the output layout puts several outputs in one place: its strides have to keep them apart")
            }
            Error::IsaNotAvailable { isa } => {
                write!(f, "the ISA {isa} is not available here: choose from")?;
                Isa::available().try_for_each(|isa| write!(f, " {isa}"))
            }
            Error::UnknownIsa { ref name } => {
                write!(f, "ARGREDUCE_ISA={name} names no ISA: choose from")?;
                Isa::available().try_for_each(|isa| write!(f, " {isa}"))
            }
            Error::TooShort { slice, element_type, required, len } => {
                write!(f, "the {slice} slice has {len} elements of {element_type}: the layout needs {required}")
            }
            Error::Misaligned { slice, element_type, alignment } => {
                write!(
                    f,
                    "the {slice} slice is misaligned: for {element_type}, its address has to be a multiple of {alignment}"
                )
            }
            Error::NotAnIndexType { data_type } => {
                write!(f, "{data_type} is no type for indices: choose from i32 i64 u32 u64 u8 u16")
            }
            Error::DirectMl(rule) => rule.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
