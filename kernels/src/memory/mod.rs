//! What a kernel is given, and how memory is asked for ahead of its use: which never affects an answer.

pub(crate) mod args;
pub(crate) mod prefetch;
pub(crate) mod row_prefetch;
pub(crate) mod walk;
