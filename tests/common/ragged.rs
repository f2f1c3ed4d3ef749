//! A call of segments as a value, and what it is to find, by the reference. Nothing here draws cases. The fuzz targets
//! have this file, too.

use super::case::{Asked, Format, Order, Sample};
use super::executor::{Way, Wayward};
use argreduce::{
    ArgReduce, DataType, Error, Index, Input, Isa, Key, Layout, Mask, ReduceFunction, Segments, input, reference,
};
use argreduce_guard::{Edge, Guarded};
use bytemuck::cast_slice;

/// A call.
#[derive(Clone, Debug)]
pub struct Ragged {
    /// How many elements come before the first segment, and after the last.
    pub around: [usize; 2],
    pub lens: Vec<usize>,
    pub order: Order,
    pub is_both: bool,
    pub is_absolute: bool,
    pub fill: Option<i64>,
    /// Of the elements' type.
    pub key: Key,
    pub mask: Option<Format>,
    pub executor: Option<(Way, usize)>,
    pub asked: Asked,
    pub isa: Isa,
    pub offset_type: DataType,
    pub edge: Edge,
}

impl Ragged {
    /// As many elements as the call takes.
    pub fn len(&self) -> usize {
        self.around.iter().chain(&self.lens).sum()
    }

    fn offsets(&self) -> Vec<usize> {
        let ends = self.lens.iter().scan(self.around[0], |end, len| {
            *end += len;
            Some(*end)
        });
        [self.around[0]].into_iter().chain(ends).collect()
    }

    /// Runs the call on elements, of which some are there, and holds it against the reference.
    pub fn check<T: Sample, I: Index>(&self, x: &[T], there: &[bool]) {
        let offsets = self.offsets();
        match self.offset_type {
            DataType::U32 => self.check_by::<T, I, _>(&offsets.iter().map(|&n| n as u32).collect::<Vec<_>>(), x, there),
            DataType::I32 => self.check_by::<T, I, _>(&offsets.iter().map(|&n| n as i32).collect::<Vec<_>>(), x, there),
            DataType::I64 => self.check_by::<T, I, _>(&offsets.iter().map(|&n| n as i64).collect::<Vec<_>>(), x, there),
            DataType::U64 => self.check_by::<T, I, _>(&offsets.iter().map(|&n| n as u64).collect::<Vec<_>>(), x, there),
            _ => self.check_by::<T, I, _>(&offsets, x, there),
        }
    }

    fn check_by<T: Sample, I: Index, O: argreduce::Offset>(&self, offsets: &[O], x: &[T], there: &[bool]) {
        let (x, offsets) = (Guarded::copy_of(x, self.edge), Guarded::copy_of(offsets, self.edge));
        let bits = |first: usize| -> Vec<u8> {
            let shifted: Vec<bool> = vec![true; first].into_iter().chain(there.iter().copied()).collect();
            shifted.chunks(8).map(|b| b.iter().rev().fold(0, |byte, &b| byte << 1 | u8::from(b))).collect()
        };
        let spread: Vec<bool> = there.iter().rev().flat_map(|&there| [there, !there]).collect();
        let strided = Layout::strided(&[there.len()], &[-2], (2 * there.len()).saturating_sub(2)).unwrap();
        let broadcast = Layout::strided(&[there.len()], &[0], 0).unwrap();
        let (bytes, one) = (cast_slice::<_, u8>(there), [there.first().copied().unwrap_or(true)]);
        let shifted = match self.mask {
            Some(Format::Bits(first)) => Guarded::copy_of(&bits(first), self.edge),
            _ => Guarded::copy_of(bytes, self.edge),
        };
        let mask = self.mask.map(|format| match format {
            Format::Bits(first) => Mask::bits(&shifted, first),
            Format::Bools => Mask::bools(there),
            Format::Bytes => Mask::bytes(&shifted),
            Format::Strided => Mask::strided(&spread, &strided),
            Format::BytesStrided => Mask::bytes_strided(cast_slice(&spread), &strided),
            Format::Broadcast(_) => Mask::strided(&one, &broadcast),
        });
        let is_there = |n: usize| match self.mask {
            None => true,
            Some(Format::Broadcast(_)) => one[0],
            Some(_) => there[n],
        };
        let executor = self.executor.map(|(way, width)| Wayward::new(way, width));
        let mut read: Input<'_, T> = input(&*x).masked(mask);
        if let Some(executor) = &executor {
            read = read.on(executor);
        }
        let segments = Segments::new(&offsets).unwrap();
        let (function, direction, policy) = self.order;
        let mut reduce = ArgReduce::new(function, &segments).direction(direction).nan_policy(policy);
        reduce = reduce.by(self.key).isa(self.isa);
        reduce = if self.is_absolute { reduce.absolute() } else { reduce };
        reduce = if let Some(fill) = self.fill { reduce.fill(fill) } else { reduce };
        let functions = if self.is_both { ReduceFunction::ALL.to_vec() } else { vec![function] };
        let expected: Vec<Vec<Option<usize>>> = functions
            .iter()
            .map(|&function| {
                let (offsets, keys) = (self.offsets(), reference::keys(self.key, &x));
                let best = |ends: &[usize]| {
                    let (segment, layout) =
                        (&keys[ends[0]..ends[1]], Layout::contiguous(&[ends[1] - ends[0]]).unwrap());
                    let order = (function, direction, policy);
                    reference::arg_reduce_masked(order, &layout, &[true], segment, |n| is_there(ends[0] + n))[0]
                };
                offsets.windows(2).map(best).collect()
            })
            .collect();
        let first_nothing = expected[0].iter().position(|found| found.is_none());
        let error = first_nothing.filter(|_| self.fill.is_none());
        let error = error.map(|output| Error::NothingThere { output: vec![output] });

        // Indices and values, of each function.
        let (count, untouched) = (self.lens.len(), I::at(-77, 0, 0));
        let place = || (Guarded::filled(untouched, count, self.edge), Guarded::filled(T::default(), count, self.edge));
        let mut found: Vec<_> = functions.iter().map(|_| place()).collect();
        let mut has_values = true;
        let result = match (&mut found[..], self.asked) {
            ([(indices, _)], Asked::Indices) => {
                has_values = false;
                reduce.plan_segments::<T, I>().unwrap().run(read, &mut indices[..])
            }
            ([(indices, values)], Asked::Values) => {
                reduce.plan_segments::<T, I>().unwrap().run(read, (&mut indices[..], &mut values[..]))
            }
            ([(indices, values)], Asked::Mixed) => {
                let made = reduce.plan_segments::<T, I>().unwrap().collect::<(Vec<I>, Vec<T>)>(read);
                made.map(|made| {
                    indices.copy_from_slice(&made.0);
                    values.copy_from_slice(&made.1);
                })
            }
            ([(min, _), (max, _)], Asked::Indices) => {
                has_values = false;
                let [of_min, of_max] = reduce.plan_both_segments::<T, I>().unwrap();
                of_min.run(read, &mut min[..]).and_then(|()| of_max.run(read, &mut max[..]))
            }
            ([(min, lowest), (max, highest)], _) => {
                let [of_min, of_max] = reduce.plan_both_segments::<T, I>().unwrap();
                let first = of_min.run(read, (&mut min[..], &mut lowest[..]));
                first.and_then(|()| of_max.run(read, (&mut max[..], &mut highest[..])))
            }
            _ => unreachable!("there are no partial answers of segments"),
        };
        assert_eq!(result.err(), error, "{self:?}");
        if error.is_some() {
            return;
        }
        for ((indices, values), expected) in found.iter().zip(&expected) {
            for (n, (&index, found)) in indices.iter().zip(expected).enumerate() {
                let first = if self.is_absolute { self.offsets()[n] } else { 0 };
                let nothing = I::at(self.fill.unwrap_or(0) as isize, 0, 0);
                let wanted = found.map_or(nothing, |found| I::at((first + found) as isize, 0, 0));
                assert_eq!(index, wanted, "segment {n} of {self:?}");
                let value = found.map_or(0, |found| x[self.offsets()[n] + found].bits());
                assert!(!has_values || values[n].bits() == value, "value of segment {n} of {self:?}");
            }
        }
    }
}
