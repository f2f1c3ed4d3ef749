//! Which values lie where along a row. Knows nothing of how they are made.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    Random,
    /// Along the reduced axes, in every row alike.
    Ascending,
    Descending,
    AllEqual,
    /// Four values.
    FewDistinct,
    /// 5 % NaN, the rest random.
    Nan5,
    /// Random, and a NaN at the end of every row.
    NanLast,
}

impl Pattern {
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Random => "random",
            Pattern::Ascending => "ascending",
            Pattern::Descending => "descending",
            Pattern::AllEqual => "equal",
            Pattern::FewDistinct => "few",
            Pattern::Nan5 => "nan5%",
            Pattern::NanLast => "nan-last",
        }
    }

    pub fn has_nan(self) -> bool {
        matches!(self, Pattern::Nan5 | Pattern::NanLast)
    }
}

/// Where the elements of one row are: `len` of them, `stride` apart, and the next `stride - 1` rows between them.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub len: usize,
    pub stride: usize,
}
