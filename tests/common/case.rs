//! A call as a value: what is reduced, what is read of it, where the answers go, and who does it; and what it is to
//! find, by the reference. Nothing here draws cases. The fuzz targets have this file, too.

use super::executor::Way;
use argreduce::{
    AxisDirection, DataType, Element, Key, Layout, Mask, NanPolicy, ReduceFunction, reference, with_element_type,
};
use argreduce_guard::{Edge, Guarded};
use bytemuck::checked::cast_slice as cast;
use bytemuck::{CheckedBitPattern, NoUninit, cast_slice};

/// A type of elements with test data.
pub trait Sample: Element + argreduce_guard::Sample + NoUninit + CheckedBitPattern {}

impl<T: Element + argreduce_guard::Sample + NoUninit + CheckedBitPattern> Sample for T {}

pub type Order = (ReduceFunction, AxisDirection, NanPolicy);

/// A call.
#[derive(Clone, Debug)]
pub struct Case {
    pub layout: Layout,
    pub axes: Vec<isize>,
    pub output: Option<Layout>,
    /// How much of the whole lies before the part and behind it, two bits each for each axis.
    pub margins: Option<u32>,
    pub order: Order,
    pub key: Key,
    /// The best so far, and whether that is from the end.
    pub walk: Option<bool>,
    /// Of both functions, whichever is that of the order.
    pub is_both: bool,
    pub data_type: DataType,
    pub index_type: DataType,
    /// Otherwise bytes.
    pub is_typed: bool,
    pub mask: Option<Format>,
    pub fill: Option<i64>,
    pub executor: Option<(Way, usize)>,
    pub asked: Asked,
    /// To what the call makes, where it can.
    pub is_new: bool,
    pub edge: Edge,
    /// What is left to chance: where parts are cut, how they merge.
    pub seed: u64,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    Indices,
    Values,
    /// Of one function, indices, where there may be values; of both, the largest have more than the smallest: values,
    /// or of bytes, partial answers.
    Mixed,
    Partials,
    /// Partial answers of parts, merged and finished.
    Merged,
    /// Chunks along the first reduced axis, of one function and of types; anything else is merged.
    Streamed,
}

impl Asked {
    pub const ALL: [Asked; 6] =
        [Asked::Indices, Asked::Values, Asked::Mixed, Asked::Partials, Asked::Merged, Asked::Streamed];
}

/// How it is said which elements are there.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// From that bit on.
    Bits(usize),
    Bools,
    Bytes,
    /// Backwards, and every second place.
    Strided,
    BytesStrided,
    /// The same along these axes, a bit for each.
    Broadcast(usize),
}

/// What a call reads: elements as bytes, and which of them are there, in row-major order of the sizes. (Nobody asks
/// without a mask.)
pub struct Data {
    pub x: Guarded<u8>,
    pub there: Vec<bool>,
}

impl Data {
    pub fn new<T: Sample>(x: &[T], there: Vec<bool>) -> Data {
        Data { x: Guarded::copy_of(cast_slice(x), Edge::Start), there }
    }
}

/// What one function finds, in row-major order of the outputs: indices in the whole, and the elements there.
pub struct Expected {
    pub indices: Vec<Option<u64>>,
    /// 0 where nothing is.
    pub values: Vec<u8>,
}

impl Case {
    /// The plainest call: the first of the smallest, all of it there, to indices, of bytes, on one thread.
    pub fn new(layout: &Layout, axes: &[isize], data_type: DataType, index_type: DataType) -> Case {
        Case {
            layout: *layout,
            axes: axes.to_vec(),
            output: None,
            margins: None,
            order: (ReduceFunction::ArgMin, Default::default(), Default::default()),
            key: Key::Value,
            walk: None,
            is_both: false,
            data_type,
            index_type,
            is_typed: false,
            mask: None,
            fill: None,
            executor: None,
            asked: Asked::Indices,
            is_new: false,
            edge: Edge::End,
            seed: 0,
        }
    }

    pub fn functions(&self) -> &[ReduceFunction] {
        if self.is_both { &ReduceFunction::ALL } else { std::slice::from_ref(&self.order.0) }
    }

    pub fn reduced(&self) -> Vec<bool> {
        reduced(&self.axes, self.layout.sizes().len())
    }

    /// The sizes of the outputs.
    pub fn output_sizes(&self) -> Vec<usize> {
        if self.walk.is_some() { self.layout.sizes().to_vec() } else { self.sizes_of(false) }
    }

    /// The sizes, but 1 on reduced axes, or on the others.
    pub fn sizes_of(&self, is_reduced: bool) -> Vec<usize> {
        let sizes = self.layout.sizes().iter().zip(self.reduced());
        sizes.map(|(&size, reduced)| if reduced == is_reduced { size } else { 1 }).collect()
    }

    /// The sizes of the whole, and where the part begins in it.
    pub fn window(&self) -> [Vec<usize>; 2] {
        let sizes = self.layout.sizes();
        let margin = |axis: usize, side: usize| (self.margins.unwrap_or(0) >> (4 * axis + 2 * side) & 3) as usize;
        let start: Vec<usize> = (0..sizes.len()).map(|axis| margin(axis, 0)).collect();
        [(0..sizes.len()).map(|axis| start[axis] + sizes[axis] + margin(axis, 1)).collect(), start]
    }

    /// Whether all indices are of a type, and that of nothing is none of them, where it is needed.
    pub fn fits(&self, index_type: DataType) -> bool {
        let [whole, _] = self.window();
        let along = whole.iter().zip(self.reduced()).filter(|(_, reduced)| *reduced).map(|(&size, _)| size as u128);
        let (max, has_none) = (max_index(index_type), !matches!(self.asked, Asked::Indices | Asked::Values));
        along.product::<u128>() <= u128::from(max) + u128::from(index_type.name().starts_with('i') || !has_none)
    }

    /// Whether some output has nothing to choose from, whatever the mask.
    pub fn is_empty(&self) -> bool {
        !self.output_sizes().contains(&0) && self.sizes_of(true).contains(&0)
    }

    /// Of both functions, or of one.
    pub fn expected(&self, data: &Data) -> Vec<Expected> {
        let of = |&function| with_element_type!(self.data_type, T => self.expected_of::<T>(function, data));
        self.functions().iter().map(of).collect()
    }

    fn expected_of<T: Sample>(&self, function: ReduceFunction, data: &Data) -> Expected {
        let (reduced, x) = (self.reduced(), cast::<u8, T>(&data.x));
        let there = self.mask.map(|format| format.said(self.layout.sizes(), &data.there));
        let is_there = |n: usize| there.as_ref().is_none_or(|there| there[n]);
        let order = (function, self.order.1, self.order.2);
        let keys = reference::keys(self.key, x);
        if let Some(is_reversed) = self.walk {
            return self.expected_so_far(order, is_reversed, x, &keys, is_there);
        }
        let found = reference::arg_reduce_masked(order, &self.layout, &reduced, &keys, is_there);

        let [whole, start] = self.window();
        let (mut steps, mut step, mut first) = (vec![0; reduced.len()], 1, 0);
        for axis in (0..reduced.len()).rev().filter(|&axis| reduced[axis]) {
            steps[axis] = step as isize;
            first += step * start[axis];
            step *= whole[axis];
        }
        let places = |is_reduced, strides: &[isize], offset| {
            places(&Layout::strided(&self.sizes_of(is_reduced), strides, offset).expect("a part of the layout"))
        };
        let (strides, offset) = (self.layout.strides(), self.layout.offset());
        let kept = places(false, strides, offset);
        let along = if kept.is_empty() { vec![] } else { places(true, strides, offset) };
        let in_whole = if kept.is_empty() { vec![] } else { places(true, &steps, first) };
        let value = |(place, index): (&usize, &Option<usize>)| index.map_or(T::ZERO, |n| x[place + along[n] - offset]);
        let values: Vec<T> = kept.iter().zip(&found).map(value).collect();
        let indices = found.into_iter().map(|index| index.map(|n| in_whole[n] as u64)).collect();
        Expected { indices, values: cast_slice(&values).to_vec() }
    }
}

impl Case {
    /// The best so far.
    fn expected_so_far<T: Sample>(
        &self,
        order: Order,
        is_reversed: bool,
        x: &[T],
        keys: &[impl Copy + PartialOrd],
        is_there: impl Fn(usize) -> bool,
    ) -> Expected {
        let axis = self.reduced().iter().position(|&reduced| reduced).expect("one axis");
        let (sizes, stride) = (self.layout.sizes(), self.layout.strides()[axis]);
        let found = reference::arg_cumulative_masked(order, &self.layout, (axis, is_reversed), keys, is_there);
        let step: usize = sizes[axis + 1..].iter().product();
        let value = |(n, (place, index)): (usize, (usize, &Option<usize>))| match *index {
            Some(index) => x[place.wrapping_add_signed((index as isize - (n / step % sizes[axis]) as isize) * stride)],
            None => T::ZERO,
        };
        let places = if found.is_empty() { vec![] } else { places(&self.layout) };
        let values: Vec<T> = places.into_iter().zip(&found).enumerate().map(value).collect();
        let start = self.window()[1][axis];
        let indices = found.into_iter().map(|index| index.map(|index| (start + index) as u64)).collect();
        Expected { indices, values: cast_slice(&values).to_vec() }
    }
}

/// The largest index of a type.
pub fn max_index(index_type: DataType) -> u64 {
    u64::MAX >> (64 - 8 * index_type.size() + usize::from(index_type.name().starts_with('i')))
}

/// Which axes are reduced.
pub fn reduced(axes: &[isize], rank: usize) -> Vec<bool> {
    let mut reduced = vec![false; rank];
    axes.iter().for_each(|&axis| reduced[axis.rem_euclid(rank.max(1) as isize) as usize] = true);
    reduced
}

/// Where the elements of a layout are, in row-major order.
pub fn places(layout: &Layout) -> Vec<usize> {
    let mut places = vec![layout.offset() as isize];
    for (&size, &stride) in layout.sizes().iter().zip(layout.strides()) {
        places = places.iter().flat_map(|place| (0..size as isize).map(move |n| place + n * stride)).collect();
    }
    places.into_iter().map(|place| place as usize).collect()
}

/// The part of a layout from a place on.
pub fn part_of(layout: &Layout, start: &[usize], sizes: &[usize]) -> Layout {
    (0..sizes.len()).fold(*layout, |layout, axis| {
        let (start, size) = (start[axis] as isize, sizes[axis] as isize);
        layout.slice(axis as isize, start..start + size, 1).expect("a part of the layout")
    })
}

impl Format {
    /// The layout of a mask: packed, if that is all that there is.
    fn layout(self, sizes: &[usize]) -> Layout {
        let packed = Layout::contiguous(sizes).expect("the sizes of a layout");
        match self {
            Format::Bits(_) | Format::Bools | Format::Bytes => packed,
            Format::Strided | Format::BytesStrided => {
                let strides: Vec<isize> = packed.strides().iter().map(|stride| -2 * stride).collect();
                let last = 2 * packed.element_count().saturating_sub(1);
                Layout::strided(sizes, &strides, last).expect("twice as far as packed")
            }
            Format::Broadcast(axes) => {
                let (mut strides, mut step) = (vec![0; sizes.len()], 1);
                for axis in (0..sizes.len()).rev().filter(|axis| axes >> axis & 1 == 0) {
                    strides[axis] = step;
                    step *= sizes[axis] as isize;
                }
                Layout::strided(sizes, &strides, 0).expect("less than packed")
            }
        }
    }

    /// What it can say of what is there: along broadcast axes, that of the first.
    pub fn said(self, sizes: &[usize], there: &[bool]) -> Vec<bool> {
        let Format::Broadcast(axes) = self else { return there.to_vec() };
        let packed = Layout::contiguous(sizes).expect("the sizes of a layout");
        let stride = |axis: usize| if axes >> axis & 1 == 0 { packed.strides()[axis] } else { 0 };
        let strides: Vec<isize> = (0..sizes.len()).map(stride).collect();
        let first = Layout::strided(sizes, &strides, 0).expect("less than packed");
        places(&first).into_iter().map(|place| there[place]).collect()
    }
}

/// A mask in memory.
pub struct Presence {
    pub format: Format,
    pub layout: Layout,
    pub bytes: Guarded<u8>,
    bools: Guarded<bool>,
}

impl Presence {
    pub fn new(format: Format, sizes: &[usize], there: &[bool], edge: Edge) -> Presence {
        let layout = format.layout(sizes);
        let there = format.said(sizes, there);
        let offset = if let Format::Bits(offset) = format { offset } else { 0 };
        let mut bytes = match format {
            Format::Bits(_) => vec![0xa5_u8; (there.len() + offset).div_ceil(8)],
            _ => vec![0; layout.required_len()],
        };
        for (n, (place, is_there)) in places(&layout).into_iter().zip(there).enumerate() {
            let (byte, bit) = ((n + offset) / 8, 1 << ((n + offset) % 8));
            match format {
                Format::Bits(_) if is_there => bytes[byte] |= bit,
                Format::Bits(_) => bytes[byte] &= !bit,
                // Any byte but 0 will do.
                Format::Bytes | Format::BytesStrided if is_there => bytes[place] = n as u8 | 4,
                _ => bytes[place] = is_there.into(),
            }
            // What lies between says the opposite.
            if let Format::Strided | Format::BytesStrided = format
                && place > 0
            {
                bytes[place - 1] = (!is_there).into();
            }
        }
        let is_bools = matches!(format, Format::Bools | Format::Strided | Format::Broadcast(_));
        let bools: &[bool] = if is_bools { cast(&bytes) } else { &[] };
        Presence { format, layout, bools: Guarded::copy_of(bools, edge), bytes: Guarded::copy_of(&bytes, edge) }
    }

    pub fn mask(&self) -> Mask<'_> {
        self.but(0)
    }

    /// Without so many bytes at the end.
    pub fn but(&self, missing: usize) -> Mask<'_> {
        let (bytes, layout) = (&self.bytes[..self.bytes.len() - missing], &self.layout);
        let bools = &self.bools[..self.bools.len().saturating_sub(missing)];
        match self.format {
            Format::Bits(offset) => Mask::bits(bytes, offset),
            Format::Bools => Mask::bools(bools),
            Format::Bytes => Mask::bytes(bytes),
            Format::BytesStrided => Mask::bytes_strided(bytes, layout),
            Format::Strided | Format::Broadcast(_) => Mask::strided(bools, layout),
        }
    }
}

/// Numbers that look random, and are the same each time (splitmix64).
pub struct Draw(pub u64);

impl Draw {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below a number.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }
}
