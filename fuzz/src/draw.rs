//! Reductions drawn from bytes: most are valid, and what is likely to break is common: short rows, rows and columns
//! around the length of a vector, ties, special values. Nothing here checks anything.

use crate::call::typed_indices;
use crate::case::{Case, Sample};
use arbitrary::{Arbitrary, Error, Result, Unstructured};
use argreduce::{AxisDirection, DataType, Layout, NanPolicy, ReduceFunction, with_element_type};
use argreduce_guard::Edge;

/// A reduction, and what to run it on.
#[derive(Debug)]
pub struct Problem {
    pub(crate) data_type: DataType,
    pub(crate) index_type: DataType,
    pub(crate) order: (ReduceFunction, AxisDirection, NanPolicy),
    pub(crate) layout: Layout,
    pub(crate) axes: Vec<isize>,
    pub(crate) output: Option<Layout>,
    pub(crate) data: Data,
    pub(crate) edge: Edge,
}

const INDEX_TYPES: [DataType; 8] = [
    DataType::U32,
    DataType::I32,
    DataType::U64,
    DataType::I64,
    DataType::U32,
    DataType::U8,
    DataType::U16,
    DataType::I64,
];

/// The most elements, with the number of inputs in 256 that have at most as many: what is small is fast.
const MOST: [(u8, usize); 3] = [(180, 150), (254, 1000), (255, MOST_OF_LARGE)];
const MOST_OF_LARGE: usize = 20_000;

impl<'a> Arbitrary<'a> for Problem {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Problem> {
        let (data_type, index_type, order, edge) = types(u)?;
        const RANKS: [usize; 16] = [2, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 2];
        let rank = RANKS[u.arbitrary::<u8>()? as usize % 16];
        let kind: u8 = u.arbitrary()?;
        let most = MOST.iter().find(|(last, _)| kind <= *last).map_or(MOST_OF_LARGE, |&(_, most)| most);
        let mut sizes = Vec::with_capacity(rank);
        let mut count = 1;
        for _ in 0..rank {
            let mut size = size(u)?;
            if count * size > most {
                size = 1 + size % 3;
            }
            if count * size > 2 * most {
                size = 1;
            }
            count *= size.max(1);
            sizes.push(size);
        }
        let layout = layout(u, &sizes)?;
        let reduced: u8 = u.arbitrary()?;
        let mut axes: Vec<isize> =
            (0..rank).filter(|axis| reduced >> axis & 1 != 0).map(|axis| axis as isize).collect();
        // In any order, counted from either end, and sometimes wrong.
        let turn: u8 = u.arbitrary()?;
        if turn & 1 != 0 {
            axes.reverse();
        }
        if turn & 2 != 0 && !axes.is_empty() {
            axes.rotate_left(1);
        }
        if turn & 4 != 0 {
            let from_end: u8 = u.arbitrary()?;
            for (n, axis) in axes.iter_mut().enumerate() {
                *axis -= if from_end >> n & 1 != 0 { rank as isize } else { 0 };
            }
        }
        if turn >= 250 {
            axes.push(u.arbitrary::<i8>()?.into());
        }
        let output = if u.arbitrary()? { Some(output(u, &sizes, reduced)?) } else { None };
        Ok(Problem { data_type, index_type, order, layout, axes, output, data: Data::arbitrary(u)?, edge })
    }
}

impl Problem {
    /// A tensor of rank 1, forwards or backwards.
    pub fn slice(u: &mut Unstructured<'_>) -> Result<Problem> {
        let (data_type, index_type, order, edge) = types(u)?;
        let (len, is_backwards) = (len(u)?, u.ratio(1, 4)?);
        let layout = if is_backwards && len > 0 {
            Layout::strided(&[len], &[-1], len - 1)
        } else {
            Layout::strided(&[len], &[1], u.arbitrary::<u8>()? as usize % 8)
        };
        let layout = layout.map_err(|_| Error::IncorrectFormat)?;
        let data = Data::arbitrary(u)?;
        Ok(Problem { data_type, index_type, order, layout, axes: vec![0], output: None, data, edge })
    }

    /// The call that it asks for: with types, where there are plans of them.
    pub(crate) fn case(&self) -> Case {
        Case {
            output: self.output,
            order: self.order,
            is_typed: typed_indices(self.data_type).contains(&self.index_type),
            edge: self.edge,
            ..Case::new(&self.layout, &self.axes, self.data_type, self.index_type)
        }
    }

    /// The elements, of which some are there.
    pub(crate) fn data(&self, is_there: impl Fn(usize) -> bool) -> crate::case::Data {
        let there = (0..self.layout.element_count()).map(is_there).collect();
        let len = self.layout.required_len();
        with_element_type!(self.data_type, T => crate::case::Data::new(&self.data.elements::<T>(len), there))
    }

    /// By what seeds are told apart: the type, the order, and about how long and how many the reductions are.
    pub(crate) fn class(&self) -> u64 {
        let rank = self.layout.sizes().len();
        let is_reduced =
            |axis: usize| self.axes.iter().any(|&a| a == axis as isize || a == axis as isize - rank as isize);
        let part = |wanted: bool| {
            let sizes = self.layout.sizes().iter().enumerate().filter(|&(axis, _)| is_reduced(axis) == wanted);
            u64::from(usize::BITS - sizes.map(|(_, &size)| size).product::<usize>().leading_zeros())
        };
        let order = self.order.0.ordinal() * 4 + self.order.1.ordinal() * 2 + self.order.2.ordinal();
        (((self.data_type.ordinal() * 8 + order) as u64) * 64 + part(true)) * 64 + part(false)
    }
}

type Types = (DataType, DataType, (ReduceFunction, AxisDirection, NanPolicy), Edge);

fn types(u: &mut Unstructured<'_>) -> Result<Types> {
    let (data_type, choices): (u8, u8) = u.arbitrary()?;
    let bit = |n: u32| usize::from(choices >> n & 1);
    let order = (ReduceFunction::ALL[bit(0)], AxisDirection::ALL[bit(1)], NanPolicy::ALL[bit(2)]);
    Ok((
        DataType::ALL[data_type as usize % DataType::ALL.len()],
        INDEX_TYPES[bit(3) + 2 * bit(4) + 4 * bit(6)],
        order,
        Edge::ALL[bit(5)],
    ))
}

/// An extent: small ones first, then those around the length of a vector of 8-bit elements, and of several.
fn size(u: &mut Unstructured<'_>) -> Result<usize> {
    let (kind, n): (u8, u8) = u.arbitrary()?;
    let n = n as usize;
    Ok(match kind {
        0..70 => 1 + n % 6,
        70..140 => 1 + n % 17,
        140..170 => 1,
        170..210 => 15 + n % 60,
        210..240 => 60 + n,
        240..245 => 0,
        _ => 250 + 4 * n,
    })
}

/// As [`size`], for the only axis.
fn len(u: &mut Unstructured<'_>) -> Result<usize> {
    let kind: u8 = u.arbitrary()?;
    Ok(match kind {
        0..200 => size(u)?,
        200..250 => u.arbitrary::<u16>()? as usize % 1200,
        // Beyond what the lanes of 8-bit elements count.
        _ => 16_000 + u.arbitrary::<u16>()? as usize % 3000,
    })
}

/// In memory in most orders, packed or not, forwards or not.
fn layout(u: &mut Unstructured<'_>, sizes: &[usize]) -> Result<Layout> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    if u.ratio(1, 4)? {
        for n in 1..order.len() {
            order.swap(n, u.arbitrary::<u8>()? as usize % (n + 1));
        }
    }
    let is_plain: bool = u.arbitrary()?;
    let (mut strides, mut stride) = (vec![0_isize; sizes.len()], 1_isize);
    for &axis in order.iter().rev() {
        let step = match if is_plain { 0 } else { u.arbitrary::<u8>()? } {
            0..140 => 1,
            140..190 => -1,
            190..210 => 0,
            210..230 => 2,
            230..240 => -3,
            // As far apart as those of another axis, as windows are.
            240..248 => {
                strides[axis] = strides[u.arbitrary::<u8>()? as usize % strides.len()];
                continue;
            }
            // Not a multiple: neighbours that overlap, or lie apart.
            _ => {
                strides[axis] = u.arbitrary::<i8>()?.into();
                continue;
            }
        };
        strides[axis] = stride * step;
        stride *= sizes[axis].max(1) as isize * step.abs().max(1);
    }
    // Windows along one axis that move along another, by steps; backwards, or dilated.
    if sizes.len() > 1 && u.ratio(1, 6)? {
        let (moving, windows) =
            (u.arbitrary::<u8>()? as usize % sizes.len(), u.arbitrary::<u8>()? as usize % sizes.len());
        let dilation = [1, 1, 2, 65][u.arbitrary::<u8>()? as usize % 4];
        strides[windows] *= if strides[windows].unsigned_abs() < 100 { dilation } else { 1 };
        strides[moving] = strides[windows] * [1, 1, 1, 2, 3, -1][u.arbitrary::<u8>()? as usize % 6];
    }
    let offset = if u.arbitrary()? { u.arbitrary::<u8>()? as usize % 70 } else { 0 };
    let before = |(&size, &stride): (&usize, &isize)| (size.max(1) - 1) * stride.min(0).unsigned_abs();
    let offset = offset + sizes.iter().zip(&strides).map(before).sum::<usize>();
    Layout::strided(sizes, &strides, offset)
        .ok()
        .filter(|layout| layout.required_len() <= 4 * MOST_OF_LARGE)
        .ok_or(Error::IncorrectFormat)
}

/// Where to write, mostly of the right sizes.
fn output(u: &mut Unstructured<'_>, sizes: &[usize], reduced: u8) -> Result<Layout> {
    let mut sizes: Vec<usize> =
        sizes.iter().enumerate().map(|(axis, &size)| if reduced >> axis & 1 != 0 { 1 } else { size }).collect();
    if u.ratio(1, 50)? {
        match sizes.first_mut() {
            Some(size) => *size += 1,
            None => sizes.push(1),
        }
    }
    layout(u, &sizes)
}

/// What the elements are.
#[derive(Debug)]
pub(crate) struct Data {
    pattern: u8,
    palette: [Value; 4],
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Special(u8),
    Bits(u64),
}

impl<'a> Arbitrary<'a> for Data {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Data> {
        let pattern = u.arbitrary()?;
        let mut palette = [Value::Special(0); 4];
        for value in &mut palette {
            let kind: u8 = u.arbitrary()?;
            *value = if kind < 200 { Value::Special(kind) } else { Value::Bits(u.arbitrary()?) };
        }
        // All that is left, and a few that are always there.
        let rest = u.len().min(512);
        let mut bytes = u.bytes(rest)?.to_vec();
        bytes.push(0);
        Ok(Data { pattern, palette, bytes })
    }
}

impl Data {
    pub(crate) fn elements<T: Sample>(&self, len: usize) -> Vec<T> {
        let palette = self.palette.map(|value| match value {
            Value::Special(n) => T::SPECIAL[n as usize % T::SPECIAL.len()],
            Value::Bits(bits) => T::of_bits(bits),
        });
        let bytes = |n: usize| self.bytes[n % self.bytes.len()];
        // What is drawn by bytes comes again after as many elements as there are bytes: the first of them are drawn,
        // and then copied.
        let repeated = |element: &dyn Fn(usize) -> T| {
            let mut elements = Vec::with_capacity(len);
            elements.extend((0..len.min(self.bytes.len())).map(element));
            while elements.len() < len {
                elements.extend_from_within(..elements.len().min(len - elements.len()));
            }
            elements
        };
        match self.pattern {
            // A few values over and over: ties everywhere.
            0..120 => repeated(&|n| palette[self.bytes[n] as usize % 4]),
            // One value, but for a few places.
            120..190 => {
                let mut elements = vec![palette[0]; len];
                for (n, &value) in palette[1..].iter().enumerate() {
                    let place = u16::from_le_bytes([bytes(2 * n), bytes(2 * n + 1)]) as usize;
                    if len > 0 {
                        elements[place % len] = value;
                    }
                }
                elements
            }
            // Whatever the bytes say.
            190..230 => repeated(&|n| {
                T::of_bits((0..8).fold(0, |bits, byte| bits << 8 | u64::from(bytes(n * size_of::<T>() + byte))))
            }),
            // Few repetitions.
            _ => (0..len as u64)
                .map(|n| T::of_bits((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(u32::from(bytes(0)))))
                .collect(),
        }
    }
}
