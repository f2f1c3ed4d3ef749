//! Limits of length that the planner, the executor and the calls for slices share.

/// Positions are 32 bits wide: a kernel never visits more elements than this for one output.
pub(crate) const MAX_REDUCTION_LEN: usize = u32::MAX as usize;

/// Rows of this many bytes or more are for the kernels of segmented rows, which read several streams of a row in turn.
/// What a cache holds is read faster in one stream. See docs/tuning.md#min_segmented_row_bytes.
pub(crate) const MIN_SEGMENTED_ROW_BYTES: usize = 32 << 20;

/// Outputs per tile, where their positions go to a buffer first: 4 KiB on the stack. See docs/tuning.md#tile.
pub(crate) const TILE: usize = 1024;

/// The least width of a tile: a group of the longest vectors of the narrowest elements. See docs/tuning.md#tile.
pub(crate) const MIN_TILE_WIDTH: usize = 256;

/// The bytes of a cache line. (Where they are longer, two threads may write to one.)
pub(crate) const CACHE_LINE_BYTES: usize = 64;

/// For at most this many elements, of any type, a plain loop is faster than a kernel. See
/// docs/tuning.md#max_scalar_len.
pub(crate) const MAX_SCALAR_LEN: usize = 4;

/// The most bytes of the elements under a mask that are looked at at once, which L1 or L2 holds. Not measured.
pub(crate) const MASKED_BYTES: usize = 16 << 10;

/// The most elements: a row of so many bytes is one segment for vectors of 16 bytes, too. Not measured.
pub(crate) const MAX_MASKED_LEN: usize = 160 * 64;

/// How many bytes of each row of columns are looked at at once at least. Not measured.
pub(crate) const MIN_MASKED_WIDTH_BYTES: usize = 256;

/// The most outputs that are looked at at once. Not measured.
pub(crate) const MAX_MASKED_OUTPUTS: usize = 256;

/// The most bits of a mask that are put at the places of elements: of as many bytes, with room for a word behind them.
pub(crate) const MAX_MASKED_BITS: usize = 8 * (MAX_MASKED_LEN - 8);

/// The most rows of columns that are looked at at once: lanes of 8 bits count no more. Not measured.
pub(crate) const MAX_MASKED_ROWS: usize = 192;

/// How many rows of columns are enough for bits to be put, not elements copied. Not measured.
pub(crate) const MIN_MASKED_ROWS: usize = 64;
