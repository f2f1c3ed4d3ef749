//! Everything that can be wrong with a call, in one enum; and in another, what DirectML does not allow. Each message
//! names the offender and what was allowed.

use crate::messages::error_enum;
use crate::{DataType, Isa, MAX_RANK};
use std::ops::Bound;

error_enum! {
/// Why a layout, a plan or a run was refused. Nothing has been written when a call returns one.
///
/// ```
/// let error = argreduce::argmax::<Vec<u32>, f32, _>(&[0.0; 6], &[2, 3], &[2]).unwrap_err();
/// assert_eq!(error.to_string(), "axis 2 is out of range: rank 2 allows -2 to 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error(f) {
    /// More sizes than a layout holds.
    RankTooHigh {
        /// The number of sizes.
        rank: usize,
    } => write!(f, "rank {rank} is too high: at most {MAX_RANK} axes are allowed"),
    /// Not one stride per size.
    StrideCount {
        /// The number of sizes.
        sizes: usize,
        /// The number of strides.
        strides: usize,
    } => write!(f, "{strides} strides for {sizes} sizes: one stride per axis is needed"),
    /// The sizes multiply to more elements than `isize` counts.
    TooManyElements {
        /// The first axis at which the product of the sizes overflows.
        axis: usize,
        /// The size of that axis.
        size: usize,
    } => write!(
        f,
        "too many elements: with size {size} on axis {axis}, the sizes multiply to more than {}",
        isize::MAX
    ),
    /// An offset that no slice is long enough for.
    OffsetTooLarge {
        /// The offset.
        offset: usize,
    } => write!(f, "offset {offset} is too large: it has to be below {}", isize::MAX),
    /// Sizes and strides lead to offsets beyond `isize`.
    OffsetOverflow {
        /// The first axis at which the offset overflows.
        axis: usize,
        /// The stride of that axis.
        stride: isize,
    } => write!(f, "stride {stride} on axis {axis} leads to an element beyond {}", isize::MAX),
    /// Negative strides lead to an element before the start of the slice.
    BeforeStart {
        /// How many elements before the start.
        elements: usize,
        /// The offset that the layout has.
        offset: usize,
    } => write!(
        f,
        "the strides lead to {elements} elements before the start of the slice: the offset is {offset}, and has to \
         be at least {}",
        offset.saturating_add(*elements)
    ),
    /// A plan or a stream of one function, of a description of [both](crate::ArgReduce::argminmax).
    TwoFunctions => f.write_str(
        "argminmax is two functions: plan_both or plan_both_untyped plan it, and two streams do"
    ),
    /// The best so far along no axis, or along several.
    CumulativeAxes {
        /// How many axes were asked for.
        axes: usize,
    } => write!(f, "the best so far runs along one axis: {axes} were asked for"),
    /// What there is of reductions, but not of the best so far.
    CumulativeMismatch {
        /// What there is none of: `partial answer` or `stream`.
        of: &'static str,
    } => write!(f, "there is no {of} of the best so far: an answer for each element takes all that come before it"),
    /// The best from the end, of a reduction.
    NotCumulative => f.write_str("reverse is for what is cumulative: a reduction has one answer from either end"),
    /// An offset of [segments](crate::Segments) that is less than the one before it, or negative, or beyond the input,
    /// or that no slice has; or that has changed while segments were answered, which then may be wrong.
    OffsetOutOfRange {
        /// Which of the offsets.
        position: usize,
        /// The offset.
        offset: isize,
        /// The smallest that is allowed there.
        min: usize,
        /// The largest.
        max: usize,
    } => match position.checked_sub(1) {
        None => write!(f, "offset {offset} at position 0 is out of range: {min} to {max} are allowed"),
        Some(segment) => write!(
            f,
            "offset {offset} at position {position}, where segment {segment} ends, is out of range: {min} to {max} \
             are allowed"
        ),
    },
    /// What there is of layouts, but not of [segments](crate::Segments); or the other way round.
    SegmentsMismatch {
        /// What was asked for.
        of: &'static str,
        /// Whether it was asked of segments.
        are_segments: bool,
    } => match are_segments {
        true => write!(f, "segments have no {of}: plan_segments plans them, by options, fill and absolute alone"),
        false => write!(f, "a layout has no {of}: that is for segments"),
    },
    /// Neither axes nor all of them were asked for.
    NoAxes => f.write_str(
        "nothing says which axes to reduce: .axes(..) names them, and .all_axes() means all; .axes(&[]) reduces nothing"
    ),
    /// An axis that the tensor does not have.
    AxisOutOfRange {
        /// The axis, as given.
        axis: isize,
        /// The rank of the tensor.
        rank: usize,
    } => match rank {
        0 => write!(f, "axis {axis} is out of range: a tensor of rank 0 has no axes"),
        _ => write!(f, "axis {axis} is out of range: rank {rank} allows -{rank} to {}", rank - 1),
    },
    /// An axis given twice.
    DuplicateAxis {
        /// The second of the two, as given.
        axis: isize,
        /// The dimension that both mean.
        dimension: usize,
    } => write!(f, "axis {axis} is given twice: dimension {dimension} can be reduced only once"),
    /// A list of axes that does not name each axis once.
    NotAPermutation {
        /// The list.
        axes: Vec<isize>,
        /// The rank of the layout.
        rank: usize,
    } => write!(f, "{axes:?} is no permutation of {rank} axes: each has to be given once"),
    /// A position that an axis does not have.
    PositionOutOfRange {
        /// The position, as given.
        position: isize,
        /// The axis.
        axis: usize,
        /// The size of that axis.
        size: usize,
    } => match size {
        0 => write!(f, "position {position} is out of range: axis {axis} has size 0"),
        _ => write!(
            f,
            "position {position} is out of range: size {size} of axis {axis} allows -{size} to {}",
            size - 1
        ),
    },
    /// A range that ends before it starts, or that is not within an axis.
    RangeOutOfRange {
        /// Where the range starts and ends, as given.
        range: (Bound<isize>, Bound<isize>),
        /// The axis.
        axis: usize,
        /// The size of that axis.
        size: usize,
    } => {
        f.write_str("the range ")?;
        match range.0 {
            Bound::Included(start) => write!(f, "{start}")?,
            Bound::Excluded(start) => write!(f, "(after {start})")?,
            Bound::Unbounded => {}
        }
        match range.1 {
            Bound::Included(end) => write!(f, "..={end}")?,
            Bound::Excluded(end) => write!(f, "..{end}")?,
            Bound::Unbounded => f.write_str("..")?,
        }
        write!(f, " does not fit axis {axis} of size {size}: it has to be within it, and not end before its start")
    },
    /// A step of 0.
    ZeroStep {
        /// The axis.
        axis: usize,
    } => write!(f, "the step on axis {axis} is 0: it has to be at least 1, or at most -1 to go backwards"),
    /// Windows that are empty, or longer than the axis that they are to slide along.
    WindowsDoNotFit {
        /// The axis.
        axis: usize,
        /// How many positions a window was to have.
        window: usize,
        /// The size of the axis.
        size: usize,
    } => match size {
        0 => write!(f, "windows of {window} do not fit axis {axis}, which has size 0"),
        _ => write!(f, "windows of {window} do not fit axis {axis} of size {size}: 1 to {size} are allowed"),
    },
    /// Windows that are no step apart.
    ZeroWindowStep {
        /// The axis.
        axis: usize,
    } => write!(f, "the step of windows along axis {axis} is 0: it has to be at least 1"),
    /// A layout that cannot be broadcast to so few axes.
    BroadcastRank {
        /// The rank of the layout.
        rank: usize,
        /// The number of sizes.
        sizes: usize,
    } => write!(f, "rank {rank} cannot be broadcast to {sizes} sizes: one for each axis at least is needed"),
    /// A size that cannot be broadcast.
    BroadcastSize {
        /// The axis, of the sizes that were asked for.
        axis: usize,
        /// The size that the layout has there.
        size: usize,
        /// The size that was asked for.
        wanted: usize,
    } => write!(f, "size {size} cannot be broadcast to {wanted} on axis {axis}: only size 1 can"),
    /// An index that the reduced axes do not have.
    IndexOutOfRange {
        /// The index.
        index: i128,
        /// How many elements the reduced axes have, or `u64::MAX` if there are more.
        count: u64,
    } => match count {
        0 => write!(f, "index {index} is out of range: the reduced axes have no elements"),
        _ => write!(f, "index {index} is out of range: the reduced axes allow 0 to {}", count - 1),
    },
    /// Outputs that would each have to be found among no elements: of a reduced axis of size 0, or of a stream before
    /// its first chunk.
    EmptyReduction {
        /// The reduced axis of size 0, or else the first reduced axis.
        axis: usize,
        /// What has no elements there: `tensor` (the whole one, of a part), `part` or `stream`.
        of: &'static str,
    } => match *of {
        "part" => write!(
            f,
            "axis {axis} has size 0 in the part: an empty part has no index, only partial answers to merge with those \
             of others"
        ),
        "stream" => write!(f, "the stream has had no element along axis {axis} yet: an index needs at least one"),
        _ => write!(
            f,
            "axis {axis} has size 0: a reduced axis needs at least one element, unless the output is empty"
        ),
    },
    /// An output of which no element is there, without a [fill](crate::ArgReduce::fill).
    NothingThere {
        /// The first such output: its position along each axis, 0 along a reduced one; nothing if it is the only one.
        output: Vec<usize>,
    } => {
        f.write_str("no element is there ")?;
        if output.is_empty() { f.write_str("at all")? } else { write!(f, "for output {output:?}")? }
        f.write_str(": without a fill, an index needs at least one")
    },
    /// A fill that the index type cannot hold.
    FillOutOfRange {
        /// The fill.
        fill: i64,
        /// The index type.
        index_type: &'static str,
        /// The smallest and the largest value of that type.
        min: i64,
        /// See `min`.
        max: u64,
    } => write!(f, "the fill {fill} does not fit {index_type}, which holds {min} to {max}"),
    /// A mask where none is taken.
    MaskMismatch {
        /// What takes none.
        of: &'static str,
    } => write!(f, "{of} takes no mask: all elements are there"),
    /// A mask of another rank than the input's.
    MaskRank {
        /// The rank that it must have.
        expected: usize,
        /// The rank that it has.
        found: usize,
    } => write!(f, "the mask has rank {found}: it has to have the input's, {expected}"),
    /// A mask of another size than the input on one axis.
    MaskSize {
        /// The axis.
        axis: usize,
        /// The size that it must have.
        expected: usize,
        /// The size that it has.
        found: usize,
    } => write!(f, "the mask has size {found} on axis {axis}: it has to have the input's, {expected}"),
    /// A mask that ends before the elements do.
    MaskTooShort {
        /// What it has: `bits`, `bytes` or `elements of bool`.
        unit: &'static str,
        /// How many of them are needed, from its start on.
        required: usize,
        /// How many it has.
        len: usize,
    } => write!(f, "the mask has {len} {unit}: the input needs {required}"),
    /// A key for elements of another type.
    KeyType {
        /// The type of the element that keys are the distance to.
        key: DataType,
        /// The type of the elements.
        elements: DataType,
    } => write!(f, "the key is a distance to an element of {key}: the elements are {elements}"),
    /// A key that is a distance to NaN.
    KeyIsNan {
        /// The type of the elements.
        data_type: DataType,
    } => write!(f, "the key is a distance to NaN: it has to be a number of {data_type}, or infinity"),
    /// The index type cannot hold the largest possible index.
    IndexTooLarge {
        /// The largest possible index.
        largest: usize,
        /// The index type.
        index_type: &'static str,
        /// The largest index that it holds. In a partial, all bits set mean that nothing was seen yet: then it is one
        /// less.
        max: u64,
    } => {
        write!(f, "the largest possible index is {largest}: {index_type} holds at most {max}")?;
        // The largest value of a type is odd.
        if max % 2 == 0 { f.write_str(" beside the one that says that nothing was seen") } else { Ok(()) }
    },
    /// A window for another number of axes than the layout has.
    WindowRank {
        /// Which list: `whole` or `start`.
        list: &'static str,
        /// How many numbers it has.
        len: usize,
        /// The rank of the layout.
        rank: usize,
    } => write!(f, "the window's {list} has {len} numbers: it has to have one for each axis, {rank}"),
    /// A part that the whole does not contain.
    WindowOutOfRange {
        /// The axis.
        axis: usize,
        /// Where the part begins.
        start: usize,
        /// The size of the part.
        size: usize,
        /// The size of the whole.
        whole: usize,
    } => write!(f, "the window does not fit axis {axis}: size {size} from {start} on ends beyond the whole's {whole}"),
    /// A whole whose elements cannot be counted.
    WholeTooLarge {
        /// The first axis at which the product of the sizes overflows.
        axis: usize,
        /// The size of that axis.
        size: usize,
    } => write!(
        f,
        "the whole is too large: with size {size} on axis {axis}, its sizes multiply to more than {}",
        usize::MAX
    ),
    /// Partial answers that do not pair up.
    LengthsDiffer {
        /// The short slice: `acc`, `other`, `values`, `indices`, `other_values` or `other_indices`.
        slice: &'static str,
        /// The length that it has.
        len: usize,
        /// The length of the longest.
        longest: usize,
    } => write!(f, "the {slice} slice has {len} elements: another has {longest}, and all have to be as long"),
    /// An axis that a stream cannot come along.
    StreamAxis {
        /// The axis.
        axis: usize,
        /// The first axis that is reduced, if there is one.
        first: Option<usize>,
    } => {
        write!(f, "a stream cannot come along axis {axis}: ")?;
        match first {
            Some(first) => write!(
                f,
                "it has to come along the first reduced axis, {first}, or indices would depend on where it ends"
            ),
            None => f.write_str("no axis is reduced"),
        }
    },
    /// A chunk of another rank than the stream.
    ChunkRank {
        /// The rank that it must have.
        expected: usize,
        /// The rank that it has.
        found: usize,
    } => write!(f, "the chunk has rank {found}: it has to have the stream's, {expected}"),
    /// A chunk of the wrong size on one axis.
    ChunkSize {
        /// The axis.
        axis: usize,
        /// The size that it must have.
        expected: usize,
        /// The size that it has.
        found: usize,
    } => write!(f, "the chunk has size {found} on axis {axis}: it has to be {expected}"),
    /// An output layout of another rank than the input's.
    OutputRank {
        /// The rank that it must have.
        expected: usize,
        /// The rank that it has.
        found: usize,
    } => write!(f, "the output layout has rank {found}: it has to have the input's, {expected}"),
    /// An output layout of the wrong size on one axis.
    OutputSize {
        /// The axis.
        axis: usize,
        /// The size that it must have: 1 for a reduced axis, the input's for any other.
        expected: usize,
        /// The size that it has.
        found: usize,
    } => write!(f, "the output layout has size {found} on axis {axis}: it has to be {expected}"),
    /// Two outputs would share one place (or could not be told apart within a bounded search).
    OutputOverlaps =>
        f.write_str("the output layout puts several outputs in one place: its strides have to keep them apart"),
    /// The machine, or this build, has no such ISA.
    IsaNotAvailable {
        /// The ISA.
        isa: Isa,
    } => {
        write!(f, "the ISA {isa} is not available here: choose from")?;
        Isa::available().try_for_each(|isa| write!(f, " {isa}"))
    },
    /// `ARGREDUCE_ISA` names no ISA.
    UnknownIsa {
        /// What it names.
        name: String,
    } => {
        write!(f, "ARGREDUCE_ISA={name} names no ISA: there are")?;
        Isa::ALL.iter().try_for_each(|isa| write!(f, " {isa}"))?;
        f.write_str(", of which this machine has")?;
        Isa::available().try_for_each(|isa| write!(f, " {isa}"))
    },
    /// A slice that ends before the layout does.
    TooShort {
        /// Which slice: `input`, `output`, `values`, `indices` or `partials`; of [both](crate::PlanBoth) functions
        /// `min`, `max`, `min_values` or `max_values`, and in buffers `min_indices` or `max_indices`.
        slice: &'static str,
        /// Its element type.
        element_type: &'static str,
        /// The shortest length that holds every element of the layout.
        required: usize,
        /// The length that it has.
        len: usize,
    } => write!(f, "the {slice} slice has {len} elements of {element_type}: the layout needs {required}"),
    /// A packed tensor of more elements than its sizes say.
    TooLong {
        /// Its element type.
        element_type: &'static str,
        /// The sizes.
        sizes: Vec<usize>,
        /// How many elements that makes.
        expected: usize,
        /// The length that the slice has.
        len: usize,
    } => write!(f, "the input slice has {len} elements of {element_type}: the sizes {sizes:?} make {expected}"),
    /// No memory for a vector of answers.
    OutOfMemory {
        /// Which vector: `output`, `values`, `partials` or `indices`.
        slice: &'static str,
        /// Its element type.
        element_type: &'static str,
        /// The length that it would have.
        len: usize,
    } => write!(f, "there is no memory for the {slice}: {len} elements of {element_type}"),
    /// Bytes at an address that their elements cannot have.
    Misaligned {
        /// Which slice: `input`, `output`, `values`, `indices`; of both, `min_indices`, `max_indices`, `min_values` or
        /// `max_values`; of a merge, `other_values` or `other_indices`.
        slice: &'static str,
        /// Its element type.
        element_type: &'static str,
        /// What the address has to be a multiple of.
        alignment: usize,
    } => write!(
        f,
        "the {slice} slice is misaligned: for {element_type}, its address has to be a multiple of {alignment}"
    ),
    /// A type whose kernels were left out of this build.
    NoKernels {
        /// The type.
        data_type: DataType,
    } => {
        let feature = data_type.feature().unwrap_or_default();
        write!(f, "argreduce was built without kernels for {data_type}: they need its feature {feature}")?;
        f.write_str("; it has those for")?;
        DataType::ALL.iter().filter(|other| other.has_kernels()).try_for_each(|other| write!(f, " {other}"))
    },
    /// A type that indices are not written as.
    NotAnIndexType {
        /// The type.
        data_type: DataType,
    } => write!(f, "{data_type} is no type for indices: choose from i32 i64 u32 u64 u8 u16"),
    /// A rule of DirectML's that a descriptor does not keep.
    DirectMl(rule: BrokenRule) => write!(f, "{rule}"),
}
}

impl From<BrokenRule> for Error {
    fn from(rule: BrokenRule) -> Error {
        Error::DirectMl(rule)
    }
}

/// One of an operator's two tensors. Displays the field that describes it: `InputTensor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensor {
    /// Where the elements are.
    Input,
    /// Where the indices go.
    Output,
}

argreduce_kernels::names!(Tensor: Input = "InputTensor", Output = "OutputTensor");

error_enum! {
/// A rule of DirectML's that a descriptor, or a buffer bound to it, does not keep. The messages name fields as DirectML
/// does.
///
/// ```
/// use argreduce::directml::{ArgMinOperatorDesc, TensorDesc};
/// use argreduce::{AxisDirection, DataType};
/// let tensor = TensorDesc { total_tensor_size_in_bytes: 8, ..TensorDesc::packed(DataType::F32, &[3]) };
/// let operator = ArgMinOperatorDesc {
///     input_tensor: tensor,
///     output_tensor: TensorDesc::packed(DataType::U32, &[1]),
///     axes: &[0],
///     axis_direction: AxisDirection::Increasing,
/// };
/// let error = operator.compile().unwrap_err();
/// assert_eq!(error.to_string(), "InputTensor.TotalTensorSizeInBytes is 8: sizes and strides need at least 12");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokenRule(f) {
    /// A tensor has 1 to 8 dimensions.
    DimensionCount {
        /// The tensor.
        tensor: Tensor,
        /// The dimensions that it has.
        count: usize,
    } => write!(f, "{tensor}.DimensionCount is {count}: 1 to {MAX_RANK} are allowed"),
    /// Both tensors have as many dimensions.
    DimensionCountsDiffer {
        /// Those of the input.
        input: usize,
        /// Those of the output.
        output: usize,
    } => write!(f, "OutputTensor.DimensionCount is {output}: it has to be the input's, {input}"),
    /// Every size is at least 1.
    SizeZero {
        /// The tensor.
        tensor: Tensor,
        /// The dimension of size 0.
        dimension: usize,
    } => write!(f, "{tensor}.Sizes[{dimension}] is 0: it has to be at least 1"),
    /// A tensor has at most 2^32 - 1 elements.
    TooManyElements {
        /// The tensor.
        tensor: Tensor,
    } => write!(f, "{tensor}.Sizes multiply to too many elements: at most {} are allowed", u32::MAX),
    /// There is one stride per dimension.
    StrideCount {
        /// The tensor.
        tensor: Tensor,
        /// The number of dimensions.
        expected: usize,
        /// The number of strides.
        found: usize,
    } => write!(f, "{tensor}.Strides has {found} strides: one for each of {expected} dimensions is needed"),
    /// The last element lies within the buffer.
    TotalTensorSizeTooSmall {
        /// The tensor.
        tensor: Tensor,
        /// The size given.
        total: u64,
        /// The smallest size allowed, `None` where 64 bits do not hold it.
        required: Option<u64>,
    } => {
        write!(f, "{tensor}.TotalTensorSizeInBytes is {total}: sizes and strides need ")?;
        match required {
            Some(required) => write!(f, "at least {required}"),
            None => f.write_str("more than 64 bits hold"),
        }
    },
    /// The size of a buffer is a multiple of 4.
    TotalTensorSizeNotMultipleOf4 {
        /// The tensor.
        tensor: Tensor,
        /// The size given.
        total: u64,
    } => write!(f, "{tensor}.TotalTensorSizeInBytes is {total}: it has to be a multiple of 4"),
    /// The output has the input's sizes, but 1 in reduced dimensions.
    OutputSize {
        /// The dimension.
        dimension: usize,
        /// The size that it must have.
        expected: u32,
        /// The size that it has.
        found: u32,
    } => write!(f, "OutputTensor.Sizes[{dimension}] is {found}: it has to be {expected}"),
    /// Indices are `INT32`, `INT64`, `UINT32` or `UINT64`.
    OutputDataType {
        /// The type given.
        data_type: DataType,
    } => write!(f, "OutputTensor.DataType is {data_type}: i32, i64, u32 and u64 are allowed"),
    /// An axis is below `DimensionCount`.
    Axis {
        /// Its position in `Axes`.
        position: usize,
        /// The axis.
        axis: u32,
        /// The number of dimensions.
        dimension_count: usize,
    } => write!(f, "Axes[{position}] is {axis}: it has to be below the DimensionCount, {dimension_count}"),
    /// An axis is given once. (DirectML is silent; a rule of this crate.)
    DuplicateAxis {
        /// The position in `Axes` of the second of the two.
        position: usize,
        /// The axis.
        axis: u32,
    } => write!(f, "Axes[{position}] is {axis} again: an axis can be reduced only once"),
    /// A buffer is as long as `TotalTensorSizeInBytes` says, or longer.
    BufferTooSmall {
        /// The tensor.
        tensor: Tensor,
        /// Bytes in the buffer.
        len: usize,
        /// Bytes that it should have.
        total: u64,
    } => write!(f, "the buffer of {tensor} has {len} bytes: TotalTensorSizeInBytes is {total}"),
}
}
