//! DirectML's rules for descriptors: said once more, and a table of cases at the limit of each, as plain data. The
//! tests of the facade and of the C interface, and the fuzz target, make descriptors of their own of them. It knows the
//! words of each error, and nothing of who gives it.

use Rule::*;
use std::collections::HashSet;

/// The types in the order of their numbers: DirectML's, from 1 on, and two that it does not have, from 0x101 on.
pub const TYPES: [&str; 13] =
    ["f32", "f16", "u32", "u16", "u8", "i32", "i16", "i8", "f64", "u64", "i64", "bf16", "bool"];

/// The number of the type with that name.
///
/// # Panics
/// If there is none.
pub fn type_number(name: &str) -> u32 {
    let n = TYPES.iter().position(|&other| other == name).expect("a name of TYPES") as u32;
    if n < 11 { n + 1 } else { n - 11 + 0x101 }
}

/// What a descriptor can break, in the order in which it is found: of a tensor alone, of both together, of every plan.
#[allow(missing_docs, reason = "the field that is wrong, or what is wrong with it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    DimensionCount,
    SizeZero,
    TooManyElements,
    StrideCount,
    TotalTensorSizeTooSmall,
    TotalTensorSizeNotMultipleOf4,
    DimensionCountsDiffer,
    Axis,
    DuplicateAxis,
    OutputSize,
    OutputDataType,
    OutputOverlaps,
    IndexTooLarge,
}

/// Nothing is broken, or a rule is, with the words for it.
type Checked = Result<(), (Rule, String)>;

fn refuse(is_broken: bool, rule: Rule, words: String) -> Checked {
    if is_broken { Err((rule, words)) } else { Ok(()) }
}

/// What a tensor says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    /// By its name.
    pub data_type: &'a str,
    /// The extent of each dimension.
    pub sizes: &'a [u32],
    /// In elements; `None` is packed.
    pub strides: Option<&'a [u32]>,
    /// `TotalTensorSizeInBytes`; `None` is the smallest that is allowed.
    pub bytes: Option<u64>,
}

impl Tensor<'_> {
    /// The bytes up to the last element, rounded up to a multiple of 4; `None` beyond 64 bits.
    pub fn smallest(&self) -> Option<u64> {
        let reach = |(&size, &stride): (&u32, &u32)| u128::from(size.saturating_sub(1)) * u128::from(stride);
        let elements = match self.strides {
            None => self.element_count()?,
            Some(strides) => 1 + self.sizes.iter().zip(strides).map(reach).sum::<u128>(),
        };
        let bits: Option<u128> = self.data_type.trim_start_matches(char::is_alphabetic).parse().ok();
        let element = bits.map_or(1, |bits| bits / 8);
        u64::try_from(elements.checked_mul(element)?.checked_next_multiple_of(4)?).ok()
    }

    /// `TotalTensorSizeInBytes`, or 0 where none is large enough.
    pub fn bytes(&self) -> u64 {
        self.bytes.or_else(|| self.smallest()).unwrap_or(0)
    }

    fn element_count(&self) -> Option<u128> {
        self.sizes.iter().try_fold(1, |count: u128, &size| count.checked_mul(size.into()))
    }

    fn check(&self, name: &str) -> Checked {
        let rank = self.sizes.len();
        let refuse = |is_broken, rule, words| refuse(is_broken, rule, format!("{name}.{words}"));
        refuse(rank == 0 || rank > 8, DimensionCount, format!("DimensionCount is {rank}: 1 to 8 are allowed"))?;
        for (n, &size) in self.sizes.iter().enumerate() {
            refuse(size == 0, SizeZero, format!("Sizes[{n}] is 0: it has to be at least 1"))?;
        }
        let words = "Sizes multiply to too many elements: at most 4294967295 are allowed";
        refuse(self.element_count().is_none_or(|count| count >= 1 << 32), TooManyElements, words.to_string())?;
        let strides = self.strides.map_or(rank, <[u32]>::len);
        let words = format!("Strides has {strides} strides: one for each of {rank} dimensions is needed");
        refuse(strides != rank, StrideCount, words)?;
        let (bytes, smallest) = (self.bytes(), self.smallest());
        let needed = smallest.map_or("more than 64 bits hold".to_string(), |smallest| format!("at least {smallest}"));
        let words = format!("TotalTensorSizeInBytes is {bytes}: sizes and strides need {needed}");
        refuse(smallest.is_none_or(|smallest| bytes < smallest), TotalTensorSizeTooSmall, words)?;
        let words = format!("TotalTensorSizeInBytes is {bytes}: it has to be a multiple of 4");
        refuse(bytes % 4 != 0, TotalTensorSizeNotMultipleOf4, words)
    }

    /// Whether elements share a place. Of more than 4096, nobody asks.
    fn overlaps(&self) -> bool {
        let mut places = vec![0];
        for (&size, &stride) in self.sizes.iter().zip(self.strides.unwrap_or(&[])) {
            if places.len() as u64 * u64::from(size) > 4096 {
                return false;
            }
            let along = |first: u64| (0..u64::from(size)).map(move |n| first + n * u64::from(stride));
            places = places.into_iter().flat_map(along).collect();
        }
        places.iter().collect::<HashSet<_>>().len() < places.len()
    }
}

/// The descriptor of an argmin or an argmax.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The input and the output.
    pub tensors: [Tensor<'a>; 2],
    /// The dimensions to reduce.
    pub axes: &'a [u32],
}

impl Case<'_> {
    /// The first rule that is broken, and the words for it.
    pub fn broken(&self) -> Option<(Rule, String)> {
        self.check().err()
    }

    fn check(&self) -> Checked {
        let ([input, output], axes) = (self.tensors, self.axes);
        input.check("InputTensor")?;
        output.check("OutputTensor")?;
        let (rank, found) = (input.sizes.len(), output.sizes.len());
        let words = format!("OutputTensor.DimensionCount is {found}: it has to be the input's, {rank}");
        refuse(found != rank, DimensionCountsDiffer, words)?;
        for (n, &axis) in axes.iter().enumerate() {
            let words = format!("Axes[{n}] is {axis}: it has to be below the DimensionCount, {rank}");
            refuse(axis as usize >= rank, Axis, words)?;
            let words = format!("Axes[{n}] is {axis} again: an axis can be reduced only once");
            refuse(axes[..n].contains(&axis), DuplicateAxis, words)?;
        }
        let mut reduced = 1;
        for (n, (&size, &found)) in input.sizes.iter().zip(output.sizes).enumerate() {
            let (along, kept) = if axes.contains(&(n as u32)) { (size, 1) } else { (1, size) };
            let words = format!("OutputTensor.Sizes[{n}] is {found}: it has to be {kept}");
            refuse(found != kept, OutputSize, words)?;
            reduced *= u64::from(along);
        }
        let (largest, index) = (reduced - 1, output.data_type);
        let words = format!("OutputTensor.DataType is {index}: i32, i64, u32 and u64 are allowed");
        refuse(!["i32", "i64", "u32", "u64"].contains(&index), OutputDataType, words)?;
        let words = "the output layout puts several outputs in one place: its strides have to keep them apart";
        refuse(output.overlaps(), OutputOverlaps, words.to_string())?;
        let words = format!("the largest possible index is {largest}: i32 holds at most 2147483647");
        refuse(index == "i32" && largest >= 1 << 31, IndexTooLarge, words)
    }
}

/// The table, and what follows from it: each tensor that is allowed with fewer bytes and with more, and each type.
///
/// ```
/// use argreduce_guard::directml::{Rule, cases};
/// let words = cases().into_iter().filter_map(|case| case.broken()).find(|&(rule, _)| rule == Rule::SizeZero);
/// assert_eq!(words.unwrap().1, "InputTensor.Sizes[1] is 0: it has to be at least 1");
/// ```
pub fn cases() -> Vec<Case<'static>> {
    let mut cases = Vec::new();
    for (case, _) in table() {
        for n in [0, 1].into_iter().filter(|_| case.broken().is_none()) {
            let smallest = case.tensors[n].bytes();
            for bytes in [0, smallest - 4, smallest - 1, smallest + 1, smallest + 2, smallest + 3, smallest + 4] {
                let mut case = case;
                case.tensors[n].bytes = Some(bytes);
                cases.push(case);
            }
        }
        cases.push(case);
    }
    for data_type in TYPES {
        for [input, output] in [[data_type, "u32"], ["f32", data_type]] {
            let tensor = |data_type, sizes| Tensor { data_type, sizes, strides: None, bytes: None };
            cases.push(Case { tensors: [tensor(input, &[2, 3]), tensor(output, &[2, 1])], axes: &[1] });
        }
    }
    cases
}

macro_rules! table {
    ($($(
        $data_type:ident $sizes:tt $(by $strides:tt)? $(bytes $bytes:literal)?
    )->+ over $axes:tt $(: $rule:ident)?;)+) => {
        vec![$((
            Case {
                tensors: [$(Tensor {
                    data_type: stringify!($data_type),
                    sizes: &$sizes,
                    strides: None$(.or(Some(&$strides)))?,
                    bytes: None$(.or(Some($bytes)))?,
                }),+],
                axes: &$axes,
            },
            None$(.or(Some($rule)))?,
        )),+]
    };
}

const MAX: u32 = u32::MAX;
const HALF: u32 = 1 << 31;

/// Each rule at its limit and one past it: types, sizes, `by` strides, in `bytes` (where nothing is broken, the
/// smallest).
fn table() -> Vec<(Case<'static>, Option<Rule>)> {
    table! {
        f32 [2] -> u32 [1] over [0];
        f32 [2; 8] -> u32 [2, 2, 2, 2, 2, 2, 2, 1] over [7];
        f32 [] -> u32 [1] over []: DimensionCount;
        f32 [1; 9] -> u32 [1] over []: DimensionCount;
        f32 [1; 9] -> u32 [1; 9] over [0]: DimensionCount;
        f32 [1] -> u32 [] over []: DimensionCount;
        f32 [1] -> u32 [1; 9] over []: DimensionCount;

        f32 [2, 3] -> u32 [2, 1] over [1];
        f32 [2, 3] -> u32 [2] over [1]: DimensionCountsDiffer;
        f32 [2, 3] -> u32 [1, 2, 1] over [1]: DimensionCountsDiffer;

        f32 [1, 1, 1] -> u32 [1, 1, 1] over [1];
        f32 [1, 0, 1] -> u32 [1, 1, 1] over [1]: SizeZero;
        f32 [2, 0] bytes 24 -> u32 [2, 1] over [1]: SizeZero;
        f32 [1, 1, 1] -> u32 [1, 1, 0] over [1]: SizeZero;

        f32 [MAX] -> u32 [1] over [0];
        f32 [65535, 65537] -> u32 [1, 1] over [0, 1]; // 2^32 - 1
        f32 [65536, 65536] -> u32 [1, 1] over [0, 1]: TooManyElements;
        f32 [HALF, 2] bytes 24 -> u32 [1, 1] over [0, 1]: TooManyElements;
        // Where the product overflows 64 and 128 bits.
        f32 [MAX; 2] -> u32 [1; 2] over [0, 1]: TooManyElements;
        f32 [HALF; 8] -> u32 [1; 8] over [0]: TooManyElements;
        f32 [MAX; 8] -> u32 [1; 8] over [0]: TooManyElements;
        // A broadcast tensor has as many elements, however few places they have.
        f32 [65536, 65536] by [0, 0] -> u32 [1, 1] over [0]: TooManyElements;
        f32 [1, 1] -> u32 [65536, 65536] over []: TooManyElements;

        f32 [2, 3] by [3, 1] -> u32 [2, 1] over [1];
        f32 [2, 3] by [1] -> u32 [2, 1] over [1]: StrideCount;
        f32 [2, 3] by [6, 3, 1] -> u32 [2, 1] over [1]: StrideCount;
        f32 [2, 3] by [] -> u32 [2, 1] over [1]: StrideCount;
        f32 [2, 3] by [3, 1] -> u32 [2, 1] by [1] over [1]: StrideCount;

        // The size of the type, the last element (not the product of sizes and strides), the rounding up to 4.
        f32 [2, 3] bytes 24 -> u32 [2, 1] bytes 8 over [1];
        f64 [2, 3] bytes 48 -> u32 [2, 1] over [1];
        f16 [3, 1] bytes 8 -> u32 [3, 1] over [1];
        u8 [1, 1] bytes 4 -> u32 [1, 1] over [1];
        u8 [4, 1] bytes 4 -> u32 [4, 1] over [1];
        u8 [5, 1] bytes 8 -> u32 [5, 1] over [1];
        f32 [2, 3] by [10, 1] bytes 52 -> u32 [2, 1] over [1];
        f32 [2, 3] by [0, 0] bytes 4 -> u32 [2, 1] over [1];
        bf16 [2, 2] by [5, 3] bytes 20 -> u32 [2, 1] over [1];
        f32 [4, 5] bytes 80 -> u32 [4, 1] bytes 16 over [1];

        // Sizes and strides whose dot product passes 2^32 look small to arithmetic of 32 bits: the last element is
        // number 2^32, which they have as 0.
        u8 [2, 2] by [HALF, HALF] bytes 4294967300 -> u32 [2, 1] over [1];
        f32 [2, 2] by [HALF, HALF] bytes 17179869188 -> u32 [2, 1] over [1];
        u8 [2, 2] by [HALF, HALF] bytes 4 -> u32 [2, 1] over [1]: TotalTensorSizeTooSmall;
        f32 [2, 2] by [HALF, HALF] bytes 4 -> u32 [2, 1] over [1]: TotalTensorSizeTooSmall;
        // It is number 2^32 - 1, which fits, but not times the size of an element, nor plus 1.
        u8 [2, 2] by [HALF, 2147483647] bytes 4294967296 -> u32 [2, 1] over [1];
        f64 [2, 2] by [HALF, 2147483647] bytes 34359738368 -> u32 [2, 1] over [1];
        // Beyond 64 bits.
        f64 [MAX, 1] by [MAX, 1] bytes 18446744073709551612 -> u32 [1, 1] over [0]: TotalTensorSizeTooSmall;

        f32 [4, 5, 6] -> u32 [4, 5, 1] over [2];
        f32 [4, 5, 6] -> u32 [1, 1, 1] over [2, 0, 1];
        f32 [4, 5, 6] -> u32 [4, 5, 1] over [3]: Axis;
        f32 [4, 5, 6] -> u32 [4, 5, 1] over [2, MAX]: Axis;
        f32 [4, 5, 6] -> u32 [4, 5, 1] over [2, 2]: DuplicateAxis;

        f32 [4, 5, 6] -> u32 [4, 1, 6] over [1];
        f32 [4, 5, 6] -> u32 [1, 5, 1] over [2, 0];
        f32 [4, 5, 6] -> u32 [4, 2, 6] over [1]: OutputSize;
        f32 [4, 5, 6] -> u32 [4, 5, 6] over [1]: OutputSize;
        f32 [4, 5, 6] -> u32 [4, 1, 7] over [1]: OutputSize;
        f32 [4, 5, 6] -> u32 [3, 1, 6] over [1]: OutputSize;
        // No axes: nothing is reduced.
        f32 [4, 5] -> u32 [4, 5] over [];
        f32 [4, 5] -> u32 [4, 1] over []: OutputSize;

        // What DirectML does not say, by the rules of every plan.
        u8 [HALF] by [0] -> i32 [1] over [0];
        u8 [MAX] by [0] -> u32 [1] over [0];
        u8 [2147483649] by [0] -> i32 [1] over [0]: IndexTooLarge;
        f32 [4, 5] -> u32 [4, 1] by [2, 0] over [1];
        f32 [4, 5] -> u32 [4, 1] by [0, 0] over [1]: OutputOverlaps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_the_rules_say() {
        for (case, expected) in table() {
            assert_eq!(case.broken().map(|(rule, _)| rule), expected, "{case:?}");
            for tensor in case.tensors.iter().filter(|_| expected.is_none()) {
                assert_eq!(Some(tensor.bytes()), tensor.smallest(), "{case:?}");
            }
        }
        let rules: HashSet<_> = cases().iter().filter_map(Case::broken).map(|(rule, _)| rule).collect();
        assert_eq!(rules.len(), IndexTooLarge as usize + 1, "{rules:?}");
    }
}
