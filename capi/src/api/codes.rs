//! The numbers of the interface: its version, status codes, and the values of enumerations in descriptions. Once
//! released, none of them changes but the version, which is that of the package: a test compares them. (cbindgen
//! reads literals only.)

use std::ffi::CStr;

/// The version of this header, to compare in `#if`; argreduce_version() is that of the library.
pub const ARGREDUCE_VERSION_MAJOR: u32 = 0;
/// See ARGREDUCE_VERSION_MAJOR.
pub const ARGREDUCE_VERSION_MINOR: u32 = 1;
/// See ARGREDUCE_VERSION_MAJOR.
pub const ARGREDUCE_VERSION_PATCH: u32 = 0;

/// ARGREDUCE_OK, or what is wrong.
pub type argreduce_status = i32;

/// All went well.
pub const ARGREDUCE_OK: argreduce_status = 0;
/// A bug of the library: please report it.
pub const ARGREDUCE_INTERNAL: argreduce_status = 1;
/// A pointer is NULL that must not be.
pub const ARGREDUCE_NULL_POINTER: argreduce_status = 2;
/// A pointer or buffer is not aligned as what it points to.
pub const ARGREDUCE_MISALIGNED: argreduce_status = 3;
/// A value outside its enumeration.
pub const ARGREDUCE_UNKNOWN_VALUE: argreduce_status = 4;
/// A rank (DimensionCount) that is too high, or too low for DirectML.
pub const ARGREDUCE_RANK: argreduce_status = 5;
/// A size that is negative, or 0 where that is not allowed.
pub const ARGREDUCE_SIZE: argreduce_status = 6;
/// Sizes that multiply to too many elements.
pub const ARGREDUCE_TOO_MANY_ELEMENTS: argreduce_status = 7;
/// An offset that is negative or too large.
pub const ARGREDUCE_OFFSET: argreduce_status = 8;
/// A stride that leads beyond what memory can hold.
pub const ARGREDUCE_STRIDE: argreduce_status = 9;
/// Negative strides that lead to an element before the start of the buffer.
pub const ARGREDUCE_BEFORE_START: argreduce_status = 10;
/// An axis that the tensor does not have.
pub const ARGREDUCE_AXIS_OUT_OF_RANGE: argreduce_status = 11;
/// An axis given twice.
pub const ARGREDUCE_DUPLICATE_AXIS: argreduce_status = 12;
/// More axes than the tensor has.
pub const ARGREDUCE_TOO_MANY_AXES: argreduce_status = 13;
/// A reduced axis of size 0.
pub const ARGREDUCE_EMPTY_REDUCTION: argreduce_status = 14;
/// An index type that cannot hold the largest possible index.
pub const ARGREDUCE_INDEX_TOO_LARGE: argreduce_status = 15;
/// A type that indices are not written as.
pub const ARGREDUCE_OUTPUT_TYPE: argreduce_status = 16;
/// An output of another rank than the input's.
pub const ARGREDUCE_OUTPUT_RANK: argreduce_status = 17;
/// An output of a wrong size.
pub const ARGREDUCE_OUTPUT_SIZE: argreduce_status = 18;
/// An output layout that puts several outputs in one place.
pub const ARGREDUCE_OUTPUT_OVERLAPS: argreduce_status = 19;
/// An instruction set that is not there, in a description or in the environment variable ARGREDUCE_ISA.
pub const ARGREDUCE_ISA: argreduce_status = 20;
/// A buffer that ends before its tensor does.
pub const ARGREDUCE_BUFFER_TOO_SHORT: argreduce_status = 21;
/// Two buffers of one call that share bytes.
pub const ARGREDUCE_BUFFERS_OVERLAP: argreduce_status = 22;
/// A buffer of more bytes than memory can hold.
pub const ARGREDUCE_BUFFER_TOO_LARGE: argreduce_status = 23;
/// DirectML: a TotalTensorSizeInBytes that is too small.
pub const ARGREDUCE_TOTAL_SIZE: argreduce_status = 24;
/// DirectML: a TotalTensorSizeInBytes that is no multiple of 4.
pub const ARGREDUCE_TOTAL_SIZE_MULTIPLE: argreduce_status = 25;
/// An operator that the call is not for, or, of DirectML, one that is neither an argmin nor an argmax.
pub const ARGREDUCE_UNSUPPORTED_OPERATOR: argreduce_status = 26;
/// DirectML: flags of a tensor other than none.
pub const ARGREDUCE_TENSOR_FLAGS: argreduce_status = 27;
/// DirectML: a GuaranteedBaseOffsetAlignment that is no power of two, or less than an element.
pub const ARGREDUCE_BASE_OFFSET_ALIGNMENT: argreduce_status = 28;
/// A part that does not fit the whole.
pub const ARGREDUCE_WINDOW: argreduce_status = 29;
/// A stride of partial answers that is no multiple of an element, or shorter than one where they are written.
pub const ARGREDUCE_PAIR_STRIDE: argreduce_status = 30;
/// An output of which the mask leaves no element, without a fill. The outputs are then unspecified.
pub const ARGREDUCE_NOTHING_THERE: argreduce_status = 31;
/// A fill that the index type cannot hold.
pub const ARGREDUCE_FILL_OUT_OF_RANGE: argreduce_status = 32;
/// A mask that does not fit the input: too short, or of strides or an offset that lead beyond it; or any, of DirectML.
pub const ARGREDUCE_MASK_MISMATCH: argreduce_status = 33;
/// The best so far along no axis or several; or what there is none of: partial answers.
pub const ARGREDUCE_CUMULATIVE_MISMATCH: argreduce_status = 34;
/// A key that is a distance to NaN.
pub const ARGREDUCE_KEY_IS_NAN: argreduce_status = 35;
/// No offsets of segments, or one that is less than the one before it, negative, or beyond the input; or that changed
/// meanwhile: then the outputs are unspecified.
pub const ARGREDUCE_SEGMENT_OFFSET: argreduce_status = 36;
/// Segments, of an operator that is not for them, or to partial answers.
pub const ARGREDUCE_SEGMENTS_MISMATCH: argreduce_status = 37;

macro_rules! names {
    ($($status:ident)+) => {{
        let mut names = [c""; [$($status),+].len()];
        $(names[$status as usize] = match CStr::from_bytes_with_nul(concat!(stringify!($status), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("there is no NUL within a name"),
        };)+
        names
    }};
}

/// The name of each status, by its number.
pub(super) const STATUS_NAMES: [&CStr; 38] = names![
    ARGREDUCE_OK ARGREDUCE_INTERNAL ARGREDUCE_NULL_POINTER ARGREDUCE_MISALIGNED ARGREDUCE_UNKNOWN_VALUE ARGREDUCE_RANK
    ARGREDUCE_SIZE ARGREDUCE_TOO_MANY_ELEMENTS ARGREDUCE_OFFSET ARGREDUCE_STRIDE ARGREDUCE_BEFORE_START
    ARGREDUCE_AXIS_OUT_OF_RANGE ARGREDUCE_DUPLICATE_AXIS ARGREDUCE_TOO_MANY_AXES ARGREDUCE_EMPTY_REDUCTION
    ARGREDUCE_INDEX_TOO_LARGE ARGREDUCE_OUTPUT_TYPE ARGREDUCE_OUTPUT_RANK ARGREDUCE_OUTPUT_SIZE
    ARGREDUCE_OUTPUT_OVERLAPS ARGREDUCE_ISA ARGREDUCE_BUFFER_TOO_SHORT ARGREDUCE_BUFFERS_OVERLAP
    ARGREDUCE_BUFFER_TOO_LARGE ARGREDUCE_TOTAL_SIZE ARGREDUCE_TOTAL_SIZE_MULTIPLE ARGREDUCE_UNSUPPORTED_OPERATOR
    ARGREDUCE_TENSOR_FLAGS ARGREDUCE_BASE_OFFSET_ALIGNMENT ARGREDUCE_WINDOW ARGREDUCE_PAIR_STRIDE
    ARGREDUCE_NOTHING_THERE ARGREDUCE_FILL_OUT_OF_RANGE ARGREDUCE_MASK_MISMATCH ARGREDUCE_CUMULATIVE_MISMATCH
    ARGREDUCE_KEY_IS_NAN
    ARGREDUCE_SEGMENT_OFFSET ARGREDUCE_SEGMENTS_MISMATCH
];

/// `function`: the index of the largest element. (DML_REDUCE_FUNCTION_ARGMAX)
pub const ARGREDUCE_ARGMAX: u32 = 0;
/// `function`: the index of the smallest element. (DML_REDUCE_FUNCTION_ARGMIN)
pub const ARGREDUCE_ARGMIN: u32 = 1;
/// `function`: the indices of both, by one call of argreduce_run(). (DirectML has no such function.)
pub const ARGREDUCE_ARGMINMAX: u32 = 0x201;
/// `axis_count`: all axes, where `axes` is NULL.
pub const ARGREDUCE_ALL_AXES: u32 = 0xffff_ffff;
/// `axis_direction`: the first of equal elements. (DML_AXIS_DIRECTION_INCREASING)
pub const ARGREDUCE_INCREASING: u32 = 0;
/// `axis_direction`: the last of equal elements. (DML_AXIS_DIRECTION_DECREASING)
pub const ARGREDUCE_DECREASING: u32 = 1;
/// `nan_policy`: NaN is better than every number.
pub const ARGREDUCE_PROPAGATE: u32 = 0;
/// `nan_policy`: NaN is worse than every number.
pub const ARGREDUCE_IGNORE: u32 = 1;
/// `cumulative`: one answer for all elements along the axes.
pub const ARGREDUCE_NOT_CUMULATIVE: u32 = 0;
/// `cumulative`: for each element, the best of it and all before it.
pub const ARGREDUCE_CUMULATIVE: u32 = 1;
/// `cumulative`: for each element, the best of it and all after it.
pub const ARGREDUCE_CUMULATIVE_REVERSE: u32 = 2;
/// `key`: elements are compared by themselves.
pub const ARGREDUCE_KEY_VALUE: u32 = 0;
/// `key`: by their magnitude, that of signed integers as unsigned ones.
pub const ARGREDUCE_KEY_MAGNITUDE: u32 = 1;
/// `key`: by their distance to `key_value`; that of integers never wraps, that of floats is rounded once.
pub const ARGREDUCE_KEY_DISTANCE: u32 = 2;
/// `kind` of a mask: a bit for each element, the least significant of each byte first; 1 is there.
pub const ARGREDUCE_MASK_BITS: u32 = 0;
/// `kind` of a mask: a byte for each element; any but 0 is there.
pub const ARGREDUCE_MASK_BYTES: u32 = 1;

/// A type: float.
pub const ARGREDUCE_FLOAT32: u32 = 1;
/// A type: IEEE 754 binary16.
pub const ARGREDUCE_FLOAT16: u32 = 2;
/// A type: uint32_t.
pub const ARGREDUCE_UINT32: u32 = 3;
/// A type: uint16_t.
pub const ARGREDUCE_UINT16: u32 = 4;
/// A type: uint8_t.
pub const ARGREDUCE_UINT8: u32 = 5;
/// A type: int32_t.
pub const ARGREDUCE_INT32: u32 = 6;
/// A type: int16_t.
pub const ARGREDUCE_INT16: u32 = 7;
/// A type: int8_t.
pub const ARGREDUCE_INT8: u32 = 8;
/// A type: double.
pub const ARGREDUCE_FLOAT64: u32 = 9;
/// A type: uint64_t.
pub const ARGREDUCE_UINT64: u32 = 10;
/// A type: int64_t.
pub const ARGREDUCE_INT64: u32 = 11;
/// A type: bfloat16, beyond DirectML.
pub const ARGREDUCE_BFLOAT16: u32 = 0x101;
/// A type: bytes, of which 0 is false and any other is true, beyond DirectML. Of true ones, any is answered.
pub const ARGREDUCE_BOOL: u32 = 0x102;
