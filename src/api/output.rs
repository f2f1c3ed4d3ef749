//! Where the answers of a call go, as one value: to slices of the caller's, to new vectors, or to buffers of bytes.
//! Nothing here knows of a plan.

use super::bytes::index_elements;
use super::lengths::new_vec;
use crate::exec::{Indices, OutputSlices, Values};
use crate::{DataType, Element, Error, Index, Layout, Partial};

/// Where answers go: elements of type `T` are read, and indices of type `I` written. Sealed.
///
/// | output | what is written there |
/// |---|---|
/// | `&mut [I]` | indices, at the places of the output layout; what lies between those places is left alone |
/// | `(&mut [I], &mut [T])` | and the best elements themselves, bit for bit: packed in row-major order |
/// | `(&mut [I], Option<&mut [T]>)` | the same, if there are places for values |
/// | `&mut [Partial<T, I>]` | [partial answers](Partial), packed in row-major order, whatever the output layout |
///
/// In place of each `&mut` slice, a vector, an array or a boxed slice will do: `&mut Vec<I>`, `&mut [I; N]`,
/// `&mut Box<[I]>`. A vector is filled, never made longer. A `&mut` slice that is used again is passed as
/// `&mut *indices`.
///
/// ```
/// use argreduce::{ArgReduce, Layout, Partial};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
/// let x = [1.0, 5.0, 2.0, 7.0, 0.0, 7.0];
///
/// let (mut indices, mut values) = ([9; 2], vec![0.0; 2]);
/// plan.run(&x, &mut indices)?;
/// plan.run(&x, (&mut indices, &mut values))?;
/// assert_eq!((indices, values), ([1, 0], vec![5.0, 7.0]));
///
/// let mut partials = [Partial::NONE; 2];
/// plan.run(&x, &mut partials)?;
/// assert_eq!(partials, [Partial { value: 5.0, index: 1 }, Partial { value: 7.0, index: 0 }]);
/// # Ok::<(), argreduce::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "answers cannot be written to `{Self}`: indices of `{I}`, of elements of `{T}`, are",
    label = "this is no output for such a plan",
    note = "an output is `&mut [{I}]`, `(&mut [{I}], &mut [{T}])`, `(&mut [{I}], Option<&mut [{T}]>)` or \
            `&mut [Partial<{T}, {I}>]`; in place of a slice, a `Vec`, an array or a boxed slice will do"
)]
pub trait Output<T, I>: sealed::Sealed {
    /// Where it is.
    #[doc(hidden)]
    fn places(&mut self) -> Places<'_, T, I>;
}

/// What a call makes to hold its answers: elements of type `T` are read, and indices of type `I` written. Sealed.
///
/// | made | what it holds |
/// |---|---|
/// | `Vec<I>` | indices, as long as the output layout needs: by default one for each output; 0 between its places |
/// | `(Vec<I>, Vec<T>)` | and the best elements themselves, bit for bit, packed |
/// | `Vec<Partial<T, I>>` | [partial answers](Partial), packed |
///
/// The type has to be said, which a variable, a turbofish or the function that returns it does:
///
/// ```
/// use argreduce::{ArgReduce, Layout};
/// let plan = ArgReduce::argmax(&Layout::contiguous(&[2, 3])?).axes(&[1]).plan::<f32, u32>()?;
/// let x = [1.0, 5.0, 2.0, 7.0, 0.0, 7.0];
/// let labels: Vec<u32> = plan.collect(&x)?;
/// let (same, scores): (Vec<u32>, Vec<f32>) = plan.collect(&x)?;
/// assert_eq!((&labels, scores), (&same, vec![5.0, 7.0]));
/// # Ok::<(), argreduce::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "answers cannot be collected as `{Self}`: indices of `{I}`, of elements of `{T}`, are",
    label = "no call makes this",
    note = "what can be made is `Vec<{I}>`, `(Vec<{I}>, Vec<{T}>)` or `Vec<Partial<{T}, {I}>>`"
)]
pub trait Collect<T, I>: sealed::Sealed + Sized {
    /// Whether they are partial answers.
    #[doc(hidden)]
    const ARE_PARTIAL: bool;

    /// For the outputs of a layout.
    #[doc(hidden)]
    fn new(output: &Layout) -> Result<Self, Error>;

    /// Where it is.
    #[doc(hidden)]
    fn places(&mut self) -> Places<'_, T, I>;
}

mod sealed {
    pub trait Sealed {}

    impl<X: ?Sized> Sealed for &mut X {}
    impl<X> Sealed for Vec<X> {}
    impl<A, B> Sealed for (A, B) {}

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no place for answers of type `{X}`",
        label = "not `&mut [{X}]`, `&mut Vec<{X}>`, `&mut [{X}; N]` or `&mut Box<[{X}]>`"
    )]
    pub trait Slice<X> {
        fn slice(&mut self) -> &mut [X];
    }

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no place for values of type `{T}`",
        label = "not `&mut [{T}]`, `&mut Vec<{T}>`, `&mut [{T}; N]`, `&mut Box<[{T}]>` or `Option<&mut [{T}]>`"
    )]
    pub trait MaybeSlice<T> {
        fn slice(&mut self) -> Option<&mut [T]>;
    }
}

/// The slices that answers go to, of a type that callers cannot name.
pub enum Places<'a, T, I> {
    /// At the places of the output layout; and packed, if there is a slice for them.
    Answers {
        /// For the indices.
        indices: &'a mut [I],
        /// For the values.
        values: Option<&'a mut [T]>,
    },
    /// Packed.
    Partials(&'a mut [Partial<T, I>]),
}

macro_rules! slices {
    ($([$($generics:tt)*] $slice:ty as $of_index:ty, $of_partial:ty;)+) => {$(
        impl<X, $($generics)*> sealed::Slice<X> for &mut $slice {
            #[inline(always)]
            fn slice(&mut self) -> &mut [X] {
                &mut self[..]
            }
        }

        impl<X, $($generics)*> sealed::MaybeSlice<X> for &mut $slice {
            #[inline(always)]
            fn slice(&mut self) -> Option<&mut [X]> {
                Some(&mut self[..])
            }
        }

        impl<T: Element, I: Index, $($generics)*> Output<T, I> for &mut $of_index {
            #[inline(always)]
            fn places(&mut self) -> Places<'_, T, I> {
                Places::Answers { indices: &mut self[..], values: None }
            }
        }

        impl<T: Element, I: Index, $($generics)*> Output<T, I> for &mut $of_partial {
            #[inline(always)]
            fn places(&mut self) -> Places<'_, T, I> {
                Places::Partials(&mut self[..])
            }
        }
    )+};
}

slices! {
    [] [X] as [I], [Partial<T, I>];
    [] Vec<X> as Vec<I>, Vec<Partial<T, I>>;
    [const N: usize] [X; N] as [I; N], [Partial<T, I>; N];
    [] Box<[X]> as Box<[I]>, Box<[Partial<T, I>]>;
}

impl<T> sealed::MaybeSlice<T> for Option<&mut [T]> {
    #[inline(always)]
    fn slice(&mut self) -> Option<&mut [T]> {
        self.as_deref_mut()
    }
}

impl<T: Element, I: Index, A: sealed::Slice<I>, V: sealed::MaybeSlice<T>> Output<T, I> for (A, V) {
    #[inline(always)]
    fn places(&mut self) -> Places<'_, T, I> {
        Places::Answers { indices: self.0.slice(), values: self.1.slice() }
    }
}

impl<T: Element, I: Index> Collect<T, I> for Vec<I> {
    const ARE_PARTIAL: bool = false;

    fn new(output: &Layout) -> Result<Self, Error> {
        new_vec("output", I::NAME, output.required_len())
    }

    fn places(&mut self) -> Places<'_, T, I> {
        Places::Answers { indices: self, values: None }
    }
}

impl<T: Element, I: Index> Collect<T, I> for (Vec<I>, Vec<T>) {
    const ARE_PARTIAL: bool = false;

    fn new(output: &Layout) -> Result<Self, Error> {
        let indices = <Vec<I> as Collect<T, I>>::new(output)?;
        Ok((indices, new_vec("values", T::DATA_TYPE.name(), output.element_count())?))
    }

    fn places(&mut self) -> Places<'_, T, I> {
        Places::Answers { indices: &mut self.0, values: Some(&mut self.1) }
    }
}

impl<T: Element, I: Index> Collect<T, I> for Vec<Partial<T, I>> {
    const ARE_PARTIAL: bool = true;

    fn new(output: &Layout) -> Result<Self, Error> {
        new_vec("partials", "Partial", output.element_count())
    }

    fn places(&mut self) -> Places<'_, T, I> {
        Places::Partials(self)
    }
}

/// Buffers of bytes that answers go to, of the types of an [`UntypedPlan`](crate::UntypedPlan): indices at the places
/// of the output layout, and if there is a buffer for them, the best elements themselves, packed.
///
/// They have to be aligned as what is in them is. Bytes after the last whole index or element are not used.
#[derive(Debug)]
pub struct Buffers<'a> {
    /// For the indices.
    pub indices: &'a mut [u8],
    /// For the values, if they are asked for.
    pub values: Option<&'a mut [u8]>,
}

/// Buffers of bytes for [partial answers](Partial), both packed: indices and values in a buffer each.
#[derive(Debug)]
pub struct PartialBuffers<'a> {
    /// For the indices; all bits are set where nothing was seen.
    pub indices: &'a mut [u8],
    /// For the values.
    pub values: &'a mut [u8],
}

/// Where the answers of a plan go whose types are values: [`Buffers`], or [`PartialBuffers`].
#[derive(Debug)]
pub enum UntypedOutput<'a> {
    /// Indices, and values or none.
    Answers(Buffers<'a>),
    /// Partial answers.
    Partials(PartialBuffers<'a>),
}

impl<'a> From<Buffers<'a>> for UntypedOutput<'a> {
    fn from(buffers: Buffers<'a>) -> Self {
        UntypedOutput::Answers(buffers)
    }
}

impl<'a> From<PartialBuffers<'a>> for UntypedOutput<'a> {
    fn from(buffers: PartialBuffers<'a>) -> Self {
        UntypedOutput::Partials(buffers)
    }
}

/// Indices alone.
impl<'a> From<&'a mut [u8]> for UntypedOutput<'a> {
    fn from(indices: &'a mut [u8]) -> Self {
        Buffers { indices, values: None }.into()
    }
}

/// The slices of an [`UntypedOutput`].
pub(super) struct UntypedPlaces<'a> {
    pub(super) slices: OutputSlices<'a>,
    pub(super) are_partial: bool,
}

impl<'a> UntypedOutput<'a> {
    /// As indices and elements of these types.
    pub(super) fn places(
        self,
        names: &'static Names,
        data_type: DataType,
        index_type: DataType,
    ) -> Result<UntypedPlaces<'a>, Error> {
        let (are_partial, indices, values) = match self {
            UntypedOutput::Answers(Buffers { indices, values }) => (false, indices, values),
            UntypedOutput::Partials(PartialBuffers { indices, values }) => (true, indices, Some(values)),
        };
        let indices: Indices<'a> = index_elements(names.indices, index_type, indices)?;
        let values = values.map(|values| Values::of_bytes(names.values, data_type, values)).transpose()?;
        Ok(UntypedPlaces { slices: OutputSlices { indices, values }, are_partial })
    }
}

/// What messages call the slices of an output.
pub(crate) struct Names {
    pub(crate) indices: &'static str,
    pub(crate) values: &'static str,
    pub(crate) partials: &'static str,
}

/// Those, and what messages call the type of the indices.
pub(crate) type Named = (&'static Names, &'static str);

impl Names {
    pub(crate) const OF_ONE: &Names = &Names { indices: "output", values: "values", partials: "partials" };
    /// Of partial answers in two buffers.
    pub(crate) const OF_PARTIALS: &Names = &Names { indices: "indices", values: "values", partials: "partials" };
    /// Of the smallest and of the largest.
    pub(crate) const OF_BOTH: [&Names; 2] = [
        &Names { indices: "min", values: "min_values", partials: "min" },
        &Names { indices: "max", values: "max_values", partials: "max" },
    ];
    /// Those in buffers.
    pub(crate) const OF_BOTH_BUFFERS: [&Names; 2] = [
        &Names { indices: "min_indices", values: "min_values", partials: "min" },
        &Names { indices: "max_indices", values: "max_values", partials: "max" },
    ];
}
