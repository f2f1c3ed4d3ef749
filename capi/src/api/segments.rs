//! Segments of a call: offsets as C has them, and what an operator answers of them.

use super::codes::*;
use super::desc;
use super::failure::Failure;
use super::operator::OfSegments;
use super::pointer::{self, Buffer, Need};
use ::argreduce::{ArgReduce, DataType, Input, Offset, Segments, UntypedOutput};
use std::ffi::c_void;

/// The offsets of a call, checked as far as can be without reading any.
pub(super) struct Offsets {
    start: *const c_void,
    count: usize,
    data_type: DataType,
    is_absolute: bool,
}

impl Offsets {
    /// None, where a call says nothing of them.
    pub(super) fn new(
        start: *const c_void,
        count: usize,
        (offset_type, is_absolute): (u32, u32),
    ) -> Result<Option<Offsets>, Failure> {
        let is_absolute = desc::flag(is_absolute, "call->is_absolute")?;
        if start.is_null() {
            let left_out =
                [(count != 0, "offset_count"), (offset_type != 0, "offset_type"), (is_absolute, "is_absolute")];
            return match left_out.into_iter().find(|(is_there, _)| *is_there) {
                None => Ok(None),
                Some((_, name)) => {
                    let message = format!("call->offsets is NULL, and call->{name} is not 0");
                    Err(Failure::new(ARGREDUCE_NULL_POINTER, message))
                }
            };
        }
        let data_type = match offset_type {
            ARGREDUCE_INT32 => DataType::I32,
            ARGREDUCE_INT64 => DataType::I64,
            ARGREDUCE_UINT32 => DataType::U32,
            ARGREDUCE_UINT64 => DataType::U64,
            _ => {
                let allowed = "3 (uint32), 6 (int32), 10 (uint64) and 11 (int64)";
                return Err(desc::unknown(offset_type, "call->offset_type", allowed));
            }
        };
        pointer::check_size(count.saturating_mul(data_type.size()), "call->offsets")?;
        Ok(Some(Offsets { start, count, data_type, is_absolute }))
    }

    pub(super) fn buffer(&self) -> Buffer<'static> {
        Buffer { name: "call->offsets", start: self.start, bytes: self.count * self.data_type.size() }
    }

    /// How many segments there are.
    pub(super) fn segments(&self) -> usize {
        self.count.saturating_sub(1)
    }

    /// Answers them: of both functions, the smallest first.
    ///
    /// # Safety
    /// There are as many offsets as said. Another thread may change them: each is read once, and checked.
    pub(super) unsafe fn run(
        &self,
        of: &OfSegments,
        input: Input<'_, u8>,
        outputs: Vec<UntypedOutput<'_>>,
    ) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        let segments = unsafe {
            match self.data_type {
                DataType::I32 => self.read::<i32>(),
                DataType::U32 => self.read::<u32>(),
                DataType::I64 => self.read::<i64>(),
                _ => self.read::<u64>(),
            }
        }?;
        for (function, output) in of.functions().iter().zip(outputs) {
            let reduce = ArgReduce::new(*function, &segments).options(of.options);
            let reduce = if self.is_absolute { reduce.absolute() } else { reduce };
            let reduce = of.fill.map_or(reduce, |fill| reduce.fill(fill));
            let reduce = of.isa.map_or(reduce, |isa| reduce.isa(isa));
            reduce.plan_segments_untyped(of.data_type, of.index_type)?.run(input, output)?;
        }
        Ok(())
    }

    /// # Safety
    /// As [`Offsets::run`], and they are of that type.
    unsafe fn read<'a, O: Offset + 'a>(&self) -> Result<Segments<'a>, Failure> {
        let need = Need { bytes: size_of::<O>(), alignment: align_of::<O>() };
        if self.count == 0 {
            return Err(Failure::new(
                ARGREDUCE_SEGMENT_OFFSET,
                "call->offset_count is 0: n segments take n + 1 offsets",
            ));
        }
        // SAFETY: as the caller promises.
        let bytes = unsafe { self.buffer().read(need) }?;
        // SAFETY: as many, and aligned, as `read` has checked.
        Ok(Segments::new(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<O>(), self.count) })?)
    }
}

/// What an operator says that is not for segments.
#[cold]
pub(super) fn no_segments() -> Failure {
    let message = "call->offsets is not NULL: then op has to be of rank 1, over axis 0, packed from offset 0 on, with \
                   a packed output, and neither a part, nor the best so far, nor of DirectML";
    Failure::new(ARGREDUCE_SEGMENTS_MISMATCH, message)
}
