//! Copies strided elements into a small buffer, for loops that vectors cannot load from in place. The tensor is never
//! copied as a whole. These loops have no order and no NaN: the compiler vectorises what it can, for the ISA of the
//! kernel. (For half of the widest vectors: moves of a few bytes gain nothing from more.)

mod copy;
mod interleave;
mod scratch;
pub(crate) mod transpose;

pub(crate) use copy::LaneOffsets;
pub(crate) use interleave::interleave;
pub use scratch::SCRATCH_BYTES;
pub(crate) use scratch::Scratch;
