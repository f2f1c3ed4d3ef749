//! What elements are compared by. Knows nothing of orders, and not how keys are computed.

use crate::{DataType, Element, Error, Isa};
use argreduce_kernels::{KeyCopier, with_bits, with_element_type};
use bytemuck::{bytes_of, cast};
use std::any::Any;
use std::fmt;

/// What elements are compared by: themselves, or how far they are from a value. The answer is the same as that for an
/// array of keys, but nothing is copied that a cache does not hold, and values are the elements, bit for bit.
///
/// | key | of integers | of floats | of `bool` |
/// |---|---|---|---|
/// | `Value` | the element | the element | the element |
/// | `Magnitude` | unsigned: that of `i8::MIN` is 128 | the element without its sign | the element |
/// | `distance(q)` | unsigned: it never wraps | the difference, rounded once, without its sign | whether it differs |
///
/// Floats that are equally far from `q` once the difference is rounded to their type are a tie, as in NumPy; of 16-bit
/// ones, too. Infinity minus infinity is NaN, and NaN is where the [policy](crate::NanPolicy) says. Masks and fills are
/// looked at before keys.
///
/// ```
/// use argreduce::{ArgReduce, Key, Layout, ReduceFunction, SliceExt};
/// let xs = [3.0, -7.0, 5.0, 6.5];
/// assert_eq!(xs.arg_reduce(ReduceFunction::ArgMax, Key::Magnitude), Some(1)); // np.abs(x).argmax()
/// assert_eq!(xs.arg_reduce(ReduceFunction::ArgMin, Key::distance(5.5)), Some(2)); // np.abs(x - 5.5).argmin()
///
/// let nearest = ArgReduce::argmin(&Layout::contiguous(&[2, 2])?).axes(&[1]).by(Key::distance(5.0));
/// let (indices, values): (Vec<u32>, Vec<f64>) = nearest.plan()?.collect(&xs)?;
/// assert_eq!((indices, values), (vec![0, 0], vec![3.0, 5.0]));
///
/// let error = ArgReduce::argmin(&Layout::contiguous(&[4])?).all_axes().by(Key::distance(5_i32)).plan::<f64, u32>();
/// assert_eq!(error.unwrap_err().to_string(), "the key is a distance to an element of i32: the elements are f64");
/// # Ok::<(), argreduce::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Key {
    /// The element.
    #[default]
    Value,
    /// Its distance to 0.
    #[doc(alias("abs", "absolute", "amax"))]
    Magnitude,
    /// Its distance to an element: see [`Key::distance`].
    #[non_exhaustive]
    Distance {
        /// The type of that element.
        data_type: DataType,
        /// Its bits, those of its integer; what is above is 0.
        bits: u64,
    },
}

impl Key {
    /// How far elements are from one of their type. With `ArgMin`, the nearest.
    ///
    /// A NaN, and an element of another type, are an error when planning, and when merging.
    ///
    /// ```
    /// use argreduce::{Key, ReduceFunction, SliceExt};
    /// let nearest = |q: i8| [-100_i8, 3, 120].arg_reduce(ReduceFunction::ArgMin, Key::distance(q));
    /// assert_eq!([-128, 60, 127].map(nearest), [Some(0), Some(1), Some(2)]);
    /// ```
    #[doc(alias("nearest", "closest", "find_nearest", "near"))]
    pub fn distance<T: Element>(to: T) -> Key {
        with_element_type!(T::DATA_TYPE, E => {
            let to: &E = (&to as &dyn Any).downcast_ref().expect("it is of the type that it names");
            Key::distance_untyped(T::DATA_TYPE, bytes_of(to)).expect("it has all of its bytes")
        })
    }

    /// As [`Key::distance`], of an element of a type that is known at run time: its bytes, or more. Of a `bool`, any
    /// byte but 0 is true.
    ///
    /// # Errors
    /// [`Error::TooShort`] for fewer bytes.
    ///
    /// ```
    /// use argreduce::{DataType, Key};
    /// assert_eq!(Key::distance_untyped(DataType::I16, &7_i16.to_ne_bytes())?, Key::distance(7_i16));
    /// # Ok::<(), argreduce::Error>(())
    /// ```
    pub fn distance_untyped(data_type: DataType, to: &[u8]) -> Result<Key, Error> {
        let size = data_type.size();
        let too_short =
            Error::TooShort { slice: "key", element_type: data_type.name(), required: 1, len: to.len() / size };
        let bytes = to.get(..size).ok_or(too_short)?;
        let mut wide = [0; 8];
        let to = if cfg!(target_endian = "big") { &mut wide[8 - size..] } else { &mut wide[..size] };
        to.copy_from_slice(bytes);
        let bits = u64::from_ne_bytes(wide);
        let is_truth = data_type == DataType::Bool;
        Ok(Key::Distance { data_type, bits: if is_truth { u64::from(bits != 0) } else { bits } })
    }

    /// Whether elements of a type have such keys.
    pub(crate) fn check(self, elements: DataType) -> Result<(), Error> {
        match self {
            Key::Distance { data_type, .. } if data_type != elements => {
                Err(Error::KeyType { key: data_type, elements })
            }
            Key::Distance { data_type, bits } => {
                // (Not by a comparison of floats, which may trap.)
                let is_nan = with_element_type!(data_type, T => Element::is_nan(element::<T>(bits)));
                if is_nan { Err(Error::KeyIsNan { data_type }) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// What copies elements of a type as their keys, by an ISA that the machine has. `None` where they are their own.
    pub(crate) fn copier(self, isa: Isa, elements: DataType) -> Option<KeyCopier> {
        match self {
            Key::Value => None,
            _ if cfg!(without = "keys") => panic!("this build has no keys"),
            Key::Magnitude => KeyCopier::new(isa, elements, None),
            Key::Distance { bits, .. } => KeyCopier::new(isa, elements, Some(bits)),
        }
    }
}

/// `magnitude`, `distance to 7`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Key::Value => f.write_str("value"),
            Key::Magnitude => f.write_str("magnitude"),
            Key::Distance { data_type, bits } => with_element_type!(data_type, T => {
                write!(f, "distance to {:?}", element::<T>(bits))
            }),
        }
    }
}

/// The element of these bits: of a `bool`, a byte.
fn element<T: Element>(bits: u64) -> T::Pod {
    with_bits!(size_of::<T>(), B => cast(bits as B))
}
