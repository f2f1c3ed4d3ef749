//! How a case is called: with types and as bytes, as a whole and in parts; and what is compared. The fuzz targets have
//! this file, too.

use super::case::{Asked, Case, Data, Draw, Expected, Presence, Sample, part_of, places};
use super::executor::Wayward;
use argreduce::{
    ArgReduce, Buffers, Collect, DataType, Element, Error, Index, Input, Isa, Layout, Mask, Merge, Output, Partial,
    PartialBuffers, Plan, PlanBoth, UntypedOutput, UntypedPlan,
};
use argreduce_guard::{Edge, Guarded};
use bytemuck::checked::{cast_slice as cast, cast_slice_mut as cast_mut};
use bytemuck::{Pod, bytes_of, cast_slice_mut};
use half::{bf16, f16};

/// The types of indices that there are plans with, for a type of elements; the first holds any index of a test. Of
/// each width of elements, there are all widths of indices.
pub fn typed_indices(data_type: DataType) -> &'static [DataType] {
    TYPED.iter().find(|(of, _)| *of == data_type).expect("each type has a line").1
}

macro_rules! typed {
    ($($t:ident $data_type:ident: $($index:ident $index_type:ident)+;)+) => {
        const TYPED: &[(DataType, &[DataType])] = &[$((DataType::$data_type, &[$(DataType::$index_type),+])),+];

        impl Call<'_> {
            fn by_types(&self, to: &mut [Place]) -> Result<(), Error> {
                match (self.case.data_type, self.case.index_type) {
                    $($((DataType::$data_type, DataType::$index_type) => self.typed::<$t, $index>(to),)+)+
                    other => unreachable!("{other:?} has no line"),
                }
            }
        }
    };
}

/// As wide as `u64`.
#[cfg(target_pointer_width = "64")]
type Wide = usize;
#[cfg(not(target_pointer_width = "64"))]
type Wide = u64;

typed! {
    i8 I8: i32 I32 u8 U8;
    u8 U8: Wide U64 u16 U16;
    bool Bool: u32 U32;
    i16 I16: u32 U32 u16 U16;
    u16 U16: i64 I64;
    f16 F16: i32 I32 u8 U8;
    bf16 Bf16: Wide U64;
    i32 I32: u64 U64;
    u32 U32: i32 I32 u16 U16;
    f32 F32: u32 U32 u8 U8;
    i64 I64: i32 I32 u16 U16;
    u64 U64: u32 U32;
    f64 F64: i64 I64 u8 U8;
}

/// What lies between the places of an output layout, and everywhere before a call.
const UNTOUCHED: u8 = 0xb3;

/// Where one function writes: bytes.
pub struct Place {
    pub indices: Guarded<u8>,
    pub values: Guarded<u8>,
}

impl Place {
    fn typed<T: Sample, I: Pod>(&mut self) -> (&mut [I], &mut [T]) {
        (cast_slice_mut(&mut self.indices), cast_mut(&mut self.values))
    }

    fn keep<T: Sample, I: Pod>(&mut self, partials: &[Partial<T, I>]) {
        let (indices, values) = self.typed::<T, I>();
        for ((partial, index), value) in partials.iter().zip(indices).zip(values) {
            (*index, *value) = (partial.index, partial.value);
        }
    }
}

/// A case on one ISA, or on what the planner prefers, with what it reads.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub case: &'a Case,
    pub isa: Option<Isa>,
    pub x: &'a [u8],
    pub there: &'a [bool],
    pub mask: Option<Mask<'a>>,
    pub executor: Option<&'a Wayward>,
    /// The sizes of the whole, and where the case begins in it.
    pub window: &'a [Vec<usize>; 2],
}

/// A part of a case: where it lies, the numbers of its outputs among those of the case, and what is there of it.
struct Part {
    layout: Layout,
    start: Vec<usize>,
    outputs: Vec<usize>,
    presence: Option<Presence>,
}

impl Case {
    /// Runs it on every ISA, at times also on what the planner prefers, and compares what is written, and what is not;
    /// and with something that is too short.
    pub fn check(&self, data: &Data, expected: &[Expected]) {
        // Behind a guard page, from the lowest element on, or before one.
        let layout = &self.layout;
        let before = |(&size, &stride): (&usize, &isize)| (size.max(1) - 1) * stride.min(0).unsigned_abs();
        let skipped = match self.edge {
            Edge::Start if layout.element_count() > 0 => {
                layout.offset() - layout.sizes().iter().zip(layout.strides()).map(before).sum::<usize>()
            }
            _ => 0,
        };
        let layout = Layout::strided(layout.sizes(), layout.strides(), layout.offset() - skipped).expect("as before");
        let size = self.data_type.size();
        let x = &Guarded::copy_of(&data.x[skipped * size..][..layout.required_len() * size], self.edge);

        let case = &Case { layout, ..self.clone() };
        let (window, there) = (case.window(), &data.there[..]);
        let presence = case.mask.map(|format| Presence::new(format, layout.sizes(), there, case.edge));
        let executor = case.executor.map(|(way, width)| Wayward::new(way, width));
        let (mask, executor) = (presence.as_ref().map(Presence::mask), executor.as_ref());
        let call = |isa| Call { case, isa, x, there, mask, executor, window: &window };
        for isa in Isa::available().map(Some).chain((self.seed % 2 == 1).then_some(None)) {
            call(isa).check(expected);
        }
        call(None).check_refused(presence.as_ref(), &expected[0]);
    }
}

impl<'a> Call<'a> {
    /// What is described of a layout, which may be a part.
    fn described<'b>(&'b self, layout: &Layout, start: Option<&'b [usize]>) -> ArgReduce<'b> {
        let (function, direction, policy) = self.case.order;
        let reduce = if self.case.is_both { ArgReduce::argminmax(layout) } else { ArgReduce::new(function, layout) };
        let reduce = reduce.axes(&self.case.axes).direction(direction).nan_policy(policy).by(self.case.key);
        let reduce = self.isa.map_or(reduce, |isa| reduce.isa(isa));
        let reduce = match self.case.walk {
            None => reduce,
            Some(false) => reduce.cumulative(),
            Some(true) => reduce.cumulative().reverse(),
        };
        start.map_or(reduce, |start| reduce.window(&self.window[0], start))
    }

    fn reduce(&self) -> ArgReduce<'_> {
        let Case { layout, output, margins, fill, .. } = self.case;
        let reduce = self.described(layout, margins.map(|_| &self.window[1][..]));
        let reduce = output.as_ref().map_or(reduce, |output| reduce.output_layout(output));
        fill.map_or(reduce, |fill| reduce.fill(fill))
    }

    /// Its plan and the case, for messages.
    pub fn text(&self) -> String {
        let (isa, case, size) = (self.isa, self.case, self.case.data_type.size());
        let x = if self.x.len() <= 300 * size { numbers(self.x, size) } else { vec![] };
        format!("{:?} ({isa:?})\n{case:?}\n{x:x?}", self.planned())
    }

    /// What the plan of a case says of itself.
    pub fn planned_of(case: &Case, isa: Option<Isa>) -> Result<String, Error> {
        let window = &case.window();
        Call { case, isa, x: &[], there: &[], mask: None, executor: None, window }.planned()
    }

    fn planned(&self) -> Result<String, Error> {
        let (reduce, data_type, index_type) = (self.reduce(), self.case.data_type, self.case.index_type);
        if self.case.is_both {
            reduce.plan_both_untyped(data_type, index_type).map(|plan| plan.to_string())
        } else {
            reduce.plan_untyped(data_type, index_type).map(|plan| plan.to_string())
        }
    }

    fn read<T: Sample>(&self) -> Input<'a, T> {
        let x = argreduce::input(cast::<u8, T>(self.x)).masked(self.mask);
        self.executor.map_or(x, |executor| x.on(executor))
    }

    fn is_partial(&self, n: usize) -> bool {
        match self.case.asked {
            Asked::Partials => true,
            Asked::Mixed => !self.case.is_typed && n == 1,
            _ => false,
        }
    }

    fn is_in_parts(&self) -> bool {
        matches!(self.case.asked, Asked::Merged | Asked::Streamed)
    }

    /// The axis that chunks come along.
    fn stream_axis(&self) -> Option<usize> {
        let is_stream = self.case.asked == Asked::Streamed && self.case.is_typed && !self.case.is_both;
        self.case.reduced().iter().position(|&reduced| reduced).filter(|_| is_stream)
    }

    pub fn output(&self) -> Layout {
        let packed = || Layout::contiguous(&self.case.output_sizes()).expect("a part of the layout");
        self.case.output.unwrap_or_else(packed)
    }

    pub fn places(&self) -> Vec<Place> {
        let (output, edge, (index_size, size)) =
            (self.output(), self.case.edge, (self.case.index_type.size(), self.case.data_type.size()));
        // Of bytes that are no element of a test; of `bool`, one or the other.
        let value = if self.case.data_type == DataType::Bool { (edge == Edge::End).into() } else { 0x5a };
        let new = |n: usize| {
            let len = if self.is_partial(n) { output.element_count() } else { output.required_len() };
            Place {
                indices: Guarded::filled(UNTOUCHED, len * index_size, edge),
                values: Guarded::filled(value, output.element_count() * size, edge),
            }
        };
        (0..self.case.functions().len()).map(new).collect()
    }

    fn run(&self, to: &mut [Place]) -> Result<(), Error> {
        if self.case.is_typed { self.by_types(to) } else { self.of_bytes(to) }
    }

    pub fn check(&self, expected: &[Expected]) {
        let mut to = self.places();
        let result = self.run(&mut to);
        if let Some(error) = self.expected_error(&expected[0]) {
            let found = result.expect_err("an output of nothing");
            let is_same = match (&found, &error) {
                (Error::EmptyReduction { .. }, Error::EmptyReduction { .. }) => true,
                _ => found == error,
            };
            assert!(is_same, "{found:?} instead of {error:?}: {}", self.text());
            return;
        }
        result.unwrap_or_else(|error| panic!("{error}: {}", self.text()));
        self.compare(&to, expected);
    }

    /// Compares all that may be written.
    pub fn compare(&self, to: &[Place], expected: &[Expected]) {
        let (output, index_size, size) = (self.output(), self.case.index_type.size(), self.case.data_type.size());
        let is_made = matches!(self.case.asked, Asked::Indices | Asked::Values) || self.stream_axis().is_some();
        let between = if is_made && self.case.is_new && self.case.is_typed { 0 } else { UNTOUCHED };
        for (n, (place, expected)) in to.iter().zip(expected).enumerate() {
            let is_partial = self.is_partial(n);
            let none = if is_partial { -1 } else { self.case.fill.unwrap_or(0) };
            let mut wanted = vec![between; place.indices.len()];
            let places = if is_partial { (0..output.element_count()).collect() } else { places(&output) };
            for (place, index) in places.into_iter().zip(&expected.indices) {
                write_number(&mut wanted[place * index_size..][..index_size], index.unwrap_or(none as u64));
            }
            self.compare_one("indices", n, [&place.indices[..], &wanted[..]], index_size);
            let has_values = match self.case.asked {
                Asked::Indices => false,
                Asked::Mixed => n == 1,
                _ => true,
            };
            if has_values {
                self.compare_one("values", n, [&place.values[..], &expected.values[..]], size);
            }
        }
    }

    fn compare_one(&self, what: &str, n: usize, [found, expected]: [&[u8]; 2], size: usize) {
        if found != expected {
            let [found, expected] = [found, expected].map(|bytes| numbers(bytes, size));
            panic!("{what} of output {n}: {found:x?}, where {expected:x?} was expected\n{}", self.text());
        }
    }

    /// What is said where an output has nothing to choose from.
    pub fn expected_error(&self, expected: &Expected) -> Option<Error> {
        let is_answered = self.is_partial(0) || self.is_in_parts() && self.case.fill.is_some();
        // What comes in chunks may not have begun yet.
        let mut sizes = self.case.sizes_of(true);
        self.stream_axis().into_iter().for_each(|axis| sizes[axis] = 1);
        let has_plan = self.case.margins.is_some() || !sizes.contains(&0);
        // Once they have, it is each output that has nothing, along another axis.
        let has_begun = self.stream_axis().is_some_and(|axis| self.case.layout.sizes()[axis] > 0);
        if self.case.is_empty() && !((is_answered || has_begun) && has_plan) {
            return Some(Error::EmptyReduction { axis: 0, of: "part" });
        }
        if self.is_partial(0) || self.case.fill.is_some() {
            return None;
        }
        let first = expected.indices.iter().position(|index| index.is_none())?;
        let (sizes, mut left) = (self.case.output_sizes(), first);
        let mut output = vec![0; if expected.indices.len() == 1 { 0 } else { sizes.len() }];
        for (at, size) in output.iter_mut().zip(sizes).rev() {
            (*at, left) = (left % size, left / size);
        }
        Some(Error::NothingThere { output })
    }

    /// One element or byte less than is needed: that is an error, and nothing is written.
    pub fn check_refused(&self, presence: Option<&Presence>, expected: &Expected) {
        if self.x.is_empty() || self.output().element_count() == 0 || self.case.is_empty() {
            return;
        }
        let mut to = self.places();
        let mut call = *self;
        let short = &mut to[self.case.functions().len() - 1];
        let has_slices = if self.case.is_typed {
            !self.case.is_new && self.stream_axis().is_none()
        } else {
            // Those of both are finished one after the other.
            !(self.case.is_both && self.is_in_parts())
        };
        let less = |guarded: &Guarded<u8>, size| Guarded::copy_of(&guarded[size..], self.case.edge);
        match (self.case.seed % 4, presence) {
            // Parts have masks of their own.
            (0, Some(presence)) if !self.is_in_parts() => call.mask = Some(presence.but(1)),
            (1, _) if has_slices => short.indices = less(&short.indices, self.case.index_type.size()),
            (2, _) if has_slices && self.case.asked == Asked::Values => {
                short.values = less(&short.values, self.case.data_type.size());
            }
            _ => call.x = &self.x[self.case.data_type.size()..],
        }
        let before: Vec<_> = to.iter().map(|place| (place.indices.to_vec(), place.values.to_vec())).collect();
        let error = call.run(&mut to).expect_err("something is too short");
        // What is wrong with the smallest may be said before something is too short for the largest.
        let is_none = self.expected_error(expected).is_some_and(|expected| expected == error);
        let is_named = matches!(error, Error::TooShort { .. } | Error::MaskTooShort { .. }) || is_none;
        assert!(is_named, "{error}: {}", self.text());
        let is_untouched = |(to, (indices, values)): (&Place, &(Vec<u8>, Vec<u8>))| {
            to.indices[..] == indices[..] && to.values[..] == values[..]
        };
        assert!(to.iter().zip(&before).all(is_untouched), "it wrote, and failed: {}", self.text());
    }

    fn typed<T: Sample, I: Index + Pod>(&self, to: &mut [Place]) -> Result<(), Error> {
        match to {
            [place] => match self.stream_axis() {
                Some(axis) => self.streamed::<T, I>(axis, place),
                None => self.by_plan::<T, I, Plan<T, I>, 1>([place]),
            },
            [min, max] => self.by_plan::<T, I, PlanBoth<T, I>, 2>([min, max]),
            _ => unreachable!("one function, or two"),
        }
    }

    fn by_plan<T: Sample, I: Index + Pod, P: Plans<T, I, N>, const N: usize>(
        &self,
        mut to: [&mut Place; N],
    ) -> Result<(), Error> {
        let (plan, x) = (P::new(self.reduce())?, self.read::<T>());
        let outputs = to.each_mut().map(|place| place.typed::<T, I>());
        match (self.case.asked, self.case.is_new) {
            (Asked::Indices, false) => plan.run(x, outputs.map(|(indices, _)| indices)),
            (Asked::Values, false) => plan.run(x, outputs),
            (Asked::Mixed, _) => {
                let mut n = 0;
                let outputs = outputs.map(|(indices, values)| {
                    n += 1;
                    (indices, (n == 2).then_some(values))
                });
                plan.run(x, outputs)
            }
            (Asked::Indices, true) => {
                let found: [Vec<I>; N] = plan.collect(x)?;
                outputs.into_iter().zip(found).for_each(|((indices, _), found)| indices.copy_from_slice(&found));
                Ok(())
            }
            (Asked::Values, true) => {
                let found: [(Vec<I>, Vec<T>); N] = plan.collect(x)?;
                for ((indices, values), found) in outputs.into_iter().zip(found) {
                    indices.copy_from_slice(&found.0);
                    values.copy_from_slice(&found.1);
                }
                Ok(())
            }
            (Asked::Partials, false) => {
                // Over those of others, and as many as there are places.
                let other = Partial { value: T::SPECIAL[1], index: I::at(7, 0, 0) };
                let len = |(indices, values): (&mut [I], &mut [T])| indices.len().min(values.len());
                let lens = outputs.map(len);
                let mut partials = lens.map(|len| Guarded::filled(other, len, self.case.edge));
                plan.run(x, partials.each_mut().map(|partials| &mut partials[..]))?;
                to.into_iter().zip(&partials).for_each(|(to, partials)| to.keep(partials));
                Ok(())
            }
            (Asked::Partials, true) => {
                let partials: [Vec<Partial<T, I>>; N] = plan.collect(x)?;
                to.into_iter().zip(&partials).for_each(|(to, partials)| to.keep(partials));
                Ok(())
            }
            (Asked::Merged | Asked::Streamed, is_new) => {
                let mut merged = self.merged::<T, I, P, N>()?;
                if is_new {
                    // By way of partial answers once more.
                    let mut copied = merged.each_ref().map(|merged| vec![Partial::NONE; merged.len()]);
                    let from = merged.each_ref().map(|merged| &merged[..]);
                    plan.finish(from, copied.each_mut().map(|copied| &mut copied[..]))?;
                    merged = copied;
                }
                plan.finish(merged.each_ref().map(|merged| &merged[..]), outputs)
            }
        }
    }

    /// The partial answers of parts, merged.
    fn merged<T: Sample, I: Index + Pod, P: Plans<T, I, N>, const N: usize>(
        &self,
    ) -> Result<[Vec<Partial<T, I>>; N], Error> {
        let run = |part: &Part, to: &mut [Place]| {
            let plan = P::new(self.described(&part.layout, Some(&part.start)))?;
            let found: [Vec<Partial<T, I>>; N] = plan.collect(self.read::<T>().masked(part.mask()))?;
            to.iter_mut().zip(&found).for_each(|(to, found)| to.keep(found));
            Ok(plan.merge().to_vec())
        };
        let merged = self.merge_parts(run, |merge, acc, other, by_arrays| {
            let ((indices, values), (other_indices, other_values)) = (acc.typed::<T, I>(), other.typed::<T, I>());
            if by_arrays {
                return merge.arrays(values, indices, other_values, other_indices);
            }
            let others = partials(other_indices, other_values);
            let mut merged = partials(indices, values);
            merge.partials(&mut merged, &others)?;
            acc.keep(&merged);
            Ok(())
        })?;
        let mut merged = merged.into_iter().map(|mut place| {
            let (indices, values) = place.typed::<T, I>();
            partials(indices, values)
        });
        Ok([(); N].map(|()| merged.next().expect("as many as functions")))
    }

    /// As [`Call::merged`], of bytes.
    fn merged_bytes(&self) -> Result<Vec<Place>, Error> {
        let types @ (data_type, index_type) = (self.case.data_type, self.case.index_type);
        let run = |part: &Part, to: &mut [Place]| {
            let (reduce, x) = (self.described(&part.layout, Some(&part.start)), self.read::<u8>().masked(part.mask()));
            let mut to = to.iter_mut().map(|Place { indices, values }| PartialBuffers { indices, values });
            let mut next = || to.next().expect("as many as functions");
            if self.case.is_both {
                let plan = reduce.plan_both_untyped(data_type, index_type)?;
                plan.run(x, [next().into(), next().into()])?;
                Ok(plan.each().map(UntypedPlan::merge).to_vec())
            } else {
                let plan = reduce.plan_untyped(data_type, index_type)?;
                plan.run(x, next())?;
                Ok(vec![plan.merge()])
            }
        };
        self.merge_parts(run, |merge, acc, other, _| {
            let accs = (&mut acc.values[..], &mut acc.indices[..]);
            merge.arrays_untyped(types, accs, (&other.values, &other.indices))
        })
    }

    /// Runs parts, and merges their answers, any two of them at a time, in either way, on any ISA. Where a part has no
    /// output, nothing is there.
    fn merge_parts(
        &self,
        run: impl Fn(&Part, &mut [Place]) -> Result<Vec<Merge>, Error>,
        merge: impl Fn(Merge, &mut Place, &mut Place, bool) -> Result<(), Error>,
    ) -> Result<Vec<Place>, Error> {
        let sizes = [self.case.index_type.size(), self.case.data_type.size()];
        // An index with all bits set, and a value with none.
        let none = |outputs: usize| Place {
            indices: Guarded::filled(0xff, outputs * sizes[0], self.case.edge),
            values: Guarded::filled(0, outputs * sizes[1], self.case.edge),
        };
        let mut answers = vec![];
        for part in self.parts() {
            let mut found: Vec<Place> = self.case.functions().iter().map(|_| none(part.outputs.len())).collect();
            let merges = run(&part, &mut found)?;
            let spread = |found: Place| {
                let mut all = none(self.output().element_count());
                let pairs = [(&found.indices, &mut all.indices), (&found.values, &mut all.values)];
                for ((from, to), size) in pairs.into_iter().zip(sizes) {
                    for (found, &output) in from.chunks(size).zip(&part.outputs) {
                        to[output * size..][..size].copy_from_slice(found);
                    }
                }
                all
            };
            answers.push((found.into_iter().map(spread).collect::<Vec<_>>(), merges));
        }
        let (isas, mut draw) = (Isa::available().collect::<Vec<_>>(), Draw(self.case.seed));
        while answers.len() > 1 {
            let (others, _) = answers.swap_remove(draw.below(answers.len()));
            let n = draw.below(answers.len());
            let (isa, by_arrays) = (isas[draw.below(isas.len())], draw.below(2) == 0);
            let (accs, merges) = &mut answers[n];
            for ((acc, mut other), of) in accs.iter_mut().zip(others).zip(merges) {
                merge(of.isa(isa), acc, &mut other, by_arrays).expect("all are as long");
            }
        }
        Ok(answers.remove(0).0)
    }

    /// In chunks of any length.
    fn streamed<T: Sample, I: Index + Pod>(&self, axis: usize, to: &mut Place) -> Result<(), Error> {
        let mut stream = self.reduce().stream::<T, I>(axis as isize)?;
        let (mut start, mut sizes) = (vec![0; self.case.layout.sizes().len()], self.case.layout.sizes().to_vec());
        let (len, mut draw) = (sizes[axis], Draw(self.case.seed));
        let longest = 1 + draw.below(len.max(1));
        while start[axis] < len {
            sizes[axis] = draw.below(longest + 1).min(len - start[axis]);
            let part = self.part(&start, &sizes);
            stream.push(&part.layout, self.read::<T>().masked(part.mask()))?;
            start[axis] += sizes[axis];
        }
        let (indices, values) = to.typed::<T, I>();
        if self.case.is_new {
            let found: (Vec<I>, Vec<T>) = stream.collect()?;
            indices.copy_from_slice(&found.0);
            values.copy_from_slice(&found.1);
            Ok(())
        } else {
            stream.finish((indices, values))
        }
    }

    /// Boxes that make up the case, some of them empty.
    fn parts(&self) -> Vec<Part> {
        let (sizes, mut draw) = (self.case.layout.sizes(), Draw(!self.case.seed));
        let mut boxes = vec![(vec![0; sizes.len()], sizes.to_vec())];
        for _ in 0..if sizes.is_empty() { 0 } else { draw.below(6) } {
            let (n, axis) = (draw.below(boxes.len()), draw.below(sizes.len()));
            let (mut start, mut size) = boxes[n].clone();
            let at = draw.below(size[axis] + 1);
            boxes[n].1[axis] = at;
            (start[axis], size[axis]) = (start[axis] + at, size[axis] - at);
            boxes.push((start, size));
        }
        boxes.iter().map(|(start, sizes)| self.part(start, sizes)).collect()
    }

    fn part(&self, start: &[usize], sizes: &[usize]) -> Part {
        let of_case = |sizes: &[usize]| Layout::contiguous(sizes).expect("a part of the layout");
        let reduced = self.case.reduced();
        let kept = |numbers: &[usize], along: usize| -> Vec<usize> {
            numbers.iter().zip(&reduced).map(|(&n, &reduced)| if reduced { along } else { n }).collect()
        };
        let outputs = part_of(&of_case(&self.case.output_sizes()), &kept(start, 0), &kept(sizes, 1));
        let presence = self.case.mask.map(|format| {
            let numbers = part_of(&of_case(self.case.layout.sizes()), start, sizes);
            let there = format.said(self.case.layout.sizes(), self.there);
            let there: Vec<bool> = places(&numbers).into_iter().map(|n| there[n]).collect();
            Presence::new(format, sizes, &there, self.case.edge)
        });
        Part {
            layout: part_of(&self.case.layout, start, sizes),
            start: start.iter().zip(&self.window[1]).map(|(n, first)| n + first).collect(),
            outputs: places(&outputs),
            presence,
        }
    }

    fn of_bytes(&self, to: &mut [Place]) -> Result<(), Error> {
        let (reduce, x) = (self.reduce(), self.read::<u8>());
        let (data_type, index_type) = (self.case.data_type, self.case.index_type);
        let both = self.case.is_both.then(|| reduce.plan_both_untyped(data_type, index_type)).transpose()?;
        let one = (!self.case.is_both).then(|| reduce.plan_untyped(data_type, index_type)).transpose()?;
        if self.is_in_parts() {
            let plans = both.iter().flat_map(|both| both.each()).chain(&one);
            for ((plan, to), mut merged) in plans.zip(to).zip(self.merged_bytes()?) {
                let partials = PartialBuffers { indices: &mut merged.indices, values: &mut merged.values };
                plan.finish(partials, Buffers { indices: &mut to.indices, values: Some(&mut to.values) })?;
            }
            return Ok(());
        }
        let mut outputs = to.iter_mut().enumerate().map(|(n, Place { indices, values })| -> UntypedOutput<'_> {
            let has_values = self.case.asked == Asked::Values;
            if self.is_partial(n) {
                PartialBuffers { indices, values }.into()
            } else {
                Buffers { indices, values: has_values.then_some(&mut values[..]) }.into()
            }
        });
        let mut next = || outputs.next().expect("as many as functions");
        match (one, both) {
            (Some(one), _) => one.run(x, next()),
            (_, Some(both)) => both.run(x, [next(), next()]),
            _ => unreachable!("one function, or two"),
        }
    }
}

impl Part {
    fn mask(&self) -> Option<Mask<'_>> {
        self.presence.as_ref().map(Presence::mask)
    }
}

fn partials<T: Copy, I: Copy>(indices: &[I], values: &[T]) -> Vec<Partial<T, I>> {
    indices.iter().zip(values).map(|(&index, &value)| Partial { value, index }).collect()
}

/// A plan of one function or of both: as many outputs of everything.
trait Plans<T: Element, I: Index, const N: usize>: Sized {
    fn new(reduce: ArgReduce<'_>) -> Result<Self, Error>;
    fn run<O: Output<T, I>>(&self, x: Input<'_, T>, outputs: [O; N]) -> Result<(), Error>;
    fn collect<C: Collect<T, I>>(&self, x: Input<'_, T>) -> Result<[C; N], Error>;
    fn merge(&self) -> [Merge; N];
    fn finish<O: Output<T, I>>(&self, partials: [&[Partial<T, I>]; N], outputs: [O; N]) -> Result<(), Error>;
}

impl<T: Element, I: Index> Plans<T, I, 1> for Plan<T, I> {
    fn new(reduce: ArgReduce<'_>) -> Result<Self, Error> {
        reduce.plan()
    }

    fn run<O: Output<T, I>>(&self, x: Input<'_, T>, [output]: [O; 1]) -> Result<(), Error> {
        Plan::run(self, x, output)
    }

    fn collect<C: Collect<T, I>>(&self, x: Input<'_, T>) -> Result<[C; 1], Error> {
        Ok([Plan::collect(self, x)?])
    }

    fn merge(&self) -> [Merge; 1] {
        [Plan::merge(self)]
    }

    fn finish<O: Output<T, I>>(&self, [partials]: [&[Partial<T, I>]; 1], [output]: [O; 1]) -> Result<(), Error> {
        Plan::finish(self, partials, output)
    }
}

impl<T: Element, I: Index> Plans<T, I, 2> for PlanBoth<T, I> {
    fn new(reduce: ArgReduce<'_>) -> Result<Self, Error> {
        reduce.plan_both()
    }

    fn run<O: Output<T, I>>(&self, x: Input<'_, T>, outputs: [O; 2]) -> Result<(), Error> {
        PlanBoth::run(self, x, outputs)
    }

    fn collect<C: Collect<T, I>>(&self, x: Input<'_, T>) -> Result<[C; 2], Error> {
        PlanBoth::collect(self, x)
    }

    fn merge(&self) -> [Merge; 2] {
        PlanBoth::merge(self)
    }

    fn finish<O: Output<T, I>>(&self, partials: [&[Partial<T, I>]; 2], outputs: [O; 2]) -> Result<(), Error> {
        PlanBoth::finish(self, partials, outputs)
    }
}

/// Numbers as they lie in memory.
pub fn numbers(bytes: &[u8], size: usize) -> Vec<u64> {
    let low = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let reversed = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    bytes.chunks(size).map(|bytes| if cfg!(target_endian = "big") { low(bytes) } else { reversed(bytes) }).collect()
}

/// The low bytes of a number, as they lie in memory.
fn write_number(bytes: &mut [u8], number: u64) {
    let (all, len) = (bytes_of(&number), bytes.len());
    bytes.copy_from_slice(if cfg!(target_endian = "big") { &all[8 - len..] } else { &all[..len] });
}
