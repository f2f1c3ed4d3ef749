//! Descriptions by the C interface and by `directml`, from bytes: valid ones, and valid ones in which a few fields hold
//! anything; DirectML's also from the table of cases. Each is an error, DirectML's by the rules as `argreduce-guard`
//! says them, or its answer is that of the check. Arrays and buffers lie before guard pages.

use crate::api::*;
use crate::check::answers;
use crate::descriptors_of_rust::compile;
use crate::draw::{Data, Problem};
use crate::model;
use crate::outcome::Outcome;
use arbitrary::{Arbitrary, Result, Unstructured};
use argreduce::directml::CompiledOperator;
use argreduce::{AxisDirection, DataType, Error, Layout, NanPolicy, ReduceFunction};
use argreduce_guard::directml::{Case, TYPES, Tensor as Said, cases, type_number};
use argreduce_guard::{Edge, Guarded};
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

/// See the file.
pub fn descriptors(bytes: &[u8]) -> Outcome {
    match draw(&mut Unstructured::new(bytes)) {
        Ok((words, data)) => {
            let is_compiled = check(&words, data);
            let class = [u64::from(is_compiled), u64::from(words.is_directml), words.input.sizes.len() as u64];
            let types = u64::from(words.input.data_type & 0xfff);
            Outcome::Checked(class.into_iter().fold(types, |number, digit| number * 16 + digit))
        }
        Err(_) => Outcome::Rejected,
    }
}

/// A description, in the words that both kinds of descriptors share.
#[derive(Debug)]
struct Words {
    is_directml: bool,
    operator_type: i32,
    function: u32,
    input: Tensor,
    output: Tensor,
    /// Own descriptions: no layout of the output.
    is_packed: bool,
    axes: Vec<i64>,
    axis_count: u32,
    direction: u32,
    policy: u32,
    /// Pointers that are NULL, as bits.
    nulls: u16,
}

#[derive(Debug, Clone)]
struct Tensor {
    data_type: u32,
    rank: u32,
    sizes: Vec<i64>,
    strides: Option<Vec<i64>>,
    offset: i64,
    total: u64,
    flags: i32,
    alignment: u32,
    r#type: i32,
}

/// DirectML's number of an operator; ours for the function is 0 for argmax.
const OPERATORS: [i32; 3] = [138, 137, 55];

/// Cases of the table that C can say.
static CASES: LazyLock<Vec<Case<'static>>> = LazyLock::new(|| {
    let is_said = |tensor: &Said<'_>| tensor.strides.is_none_or(|strides| strides.len() == tensor.sizes.len());
    cases().into_iter().filter(|case| case.tensors.iter().all(is_said)).collect()
});

fn name_of(number: u32) -> Option<&'static str> {
    TYPES.into_iter().find(|name| type_number(name) == number)
}

fn type_of(number: u32) -> Option<DataType> {
    name_of(number)?.parse().ok()
}

fn draw(u: &mut Unstructured<'_>) -> Result<(Words, Data)> {
    let (kind, choices): (u8, u8) = u.arbitrary()?;
    let is_directml = choices & 1 != 0;
    let rank = if is_directml { 1 + kind as usize % 8 } else { kind as usize % 9 };
    let mut count = 1;
    let mut sizes = Vec::new();
    for _ in 0..rank {
        let size = 1 + i64::from(u.arbitrary::<u8>()?) % if count > 100 { 3 } else { 20 };
        count *= size;
        sizes.push(size);
    }
    let reduced: u8 = u.arbitrary()?;
    let axes: Vec<i64> = (0..rank as i64).filter(|axis| reduced >> axis & 1 != 0).collect();
    let kept: Vec<i64> =
        sizes.iter().enumerate().map(|(n, &size)| if reduced >> n & 1 != 0 { 1 } else { size }).collect();
    let data_type = type_number(TYPES[u.arbitrary::<u8>()? as usize % TYPES.len()]);
    let index_type = [ARGREDUCE_UINT32, ARGREDUCE_INT32, ARGREDUCE_UINT64, ARGREDUCE_INT64][choices as usize >> 1 & 3];
    let operator = u.arbitrary::<u8>()? as usize % 3;
    let mut words = Words {
        is_directml,
        operator_type: OPERATORS[operator],
        function: if operator == 2 && !is_directml { ARGREDUCE_ARGMINMAX } else { operator as u32 & 1 },
        input: Tensor::draw(u, data_type, sizes, is_directml)?,
        output: Tensor::draw(u, index_type, kept, is_directml)?,
        is_packed: choices >> 5 & 1 != 0,
        axis_count: axes.len() as u32,
        axes,
        direction: u32::from(choices >> 3 & 1),
        policy: u32::from(choices >> 4 & 1),
        nulls: 0,
    };
    let wrong: u8 = u.arbitrary()?;
    if is_directml && wrong >= 200 {
        let Case { tensors, axes } = CASES[u.arbitrary::<u16>()? as usize % CASES.len()];
        [words.input, words.output] = tensors.map(|tensor| Tensor {
            strides: tensor.strides.map(|strides| strides.iter().map(|&stride| stride.into()).collect()),
            total: tensor.bytes(),
            ..Tensor::new(type_number(tensor.data_type), tensor.sizes.iter().map(|&size| size.into()).collect())
        });
        words.axes = axes.iter().map(|&axis| axis.into()).collect();
        words.axis_count = axes.len() as u32;
    }
    for _ in 0..[0, 0, 0, 1, 1, 1, 2, 3][wrong as usize % 8] {
        words.spoil(u)?;
    }
    Ok((words, Data::arbitrary(u)?))
}

impl Tensor {
    /// Packed, in no bytes.
    fn new(data_type: u32, sizes: Vec<i64>) -> Tensor {
        let rank = sizes.len() as u32;
        Tensor { data_type, rank, sizes, strides: None, offset: 0, total: 0, flags: 0, alignment: 0, r#type: 1 }
    }

    fn draw(u: &mut Unstructured<'_>, data_type: u32, sizes: Vec<i64>, is_directml: bool) -> Result<Tensor> {
        let kind: u8 = u.arbitrary()?;
        let strides = if kind < 100 {
            None
        } else {
            let (mut strides, mut stride) = (vec![0; sizes.len()], 1);
            for axis in (0..sizes.len()).rev() {
                let step: i64 = match u.arbitrary::<u8>()? {
                    0..150 => 1,
                    150..190 if !is_directml => -1,
                    190..210 => 0,
                    _ => 2,
                };
                strides[axis] = stride * step;
                stride *= sizes[axis] * step.abs().max(1);
            }
            Some(strides)
        };
        let mut tensor = Tensor { strides, ..Tensor::new(data_type, sizes) };
        let before = |(&size, &stride): (&i64, &i64)| (size - 1) * stride.min(0).abs();
        let before: i64 =
            tensor.strides.iter().flatten().zip(&tensor.sizes).map(|(stride, size)| before((size, stride))).sum();
        tensor.offset = if is_directml { 0 } else { before + i64::from(kind % 4) };
        let smallest =
            tensor.said(&tensor.sizes_u32(), tensor.strides_u32().as_deref()).and_then(|said| said.smallest());
        tensor.total = smallest.unwrap_or(0) + 4 * u64::from(kind % 2);
        Ok(tensor)
    }

    fn sizes_u32(&self) -> Vec<u32> {
        self.sizes.iter().map(|&size| size as u32).collect()
    }

    fn strides_u32(&self) -> Option<Vec<u32>> {
        self.strides.as_ref().map(|strides| strides.iter().map(|&stride| stride as u32).collect())
    }

    /// As the rules have it, but for what only C says.
    fn said<'a>(&self, sizes: &'a [u32], strides: Option<&'a [u32]>) -> Option<Said<'a>> {
        Some(Said { data_type: name_of(self.data_type)?, sizes, strides, bytes: Some(self.total) })
    }

    /// As the facade has it, if that can say it.
    fn layout(&self, is_directml: bool, is_packed: bool) -> Option<Layout> {
        let number = |n: i64| if is_directml { i64::from(n as u32) } else { n };
        let sizes: Vec<usize> = self.sizes.iter().map(|&n| usize::try_from(number(n)).ok()).collect::<Option<_>>()?;
        let strides: Vec<isize> = match &self.strides {
            Some(strides) if !is_packed => strides.iter().map(|&n| number(n) as isize).collect(),
            _ => Layout::contiguous(&sizes).ok()?.strides().to_vec(),
        };
        let offset = if is_directml { 0 } else { usize::try_from(self.offset).ok()? };
        Layout::strided(&sizes, &strides, offset).ok()
    }
}

impl Words {
    /// Puts anything into one field.
    fn spoil(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (field, at): (u8, u8) = u.arbitrary()?;
        let number: i64 = match u.arbitrary::<u8>()? {
            kind @ 0..100 => i64::from(kind) - 50,
            100..200 => 1_i64.rotate_left(u.arbitrary::<u8>()?.into()).wrapping_sub(1),
            _ => u.arbitrary()?,
        };
        let tensor = if at & 1 != 0 { &mut self.input } else { &mut self.output };
        let place = |list: &mut Vec<i64>| {
            let len = list.len();
            if len > 0 {
                list[at as usize / 2 % len] = number;
            }
        };
        match field % 18 {
            0 => self.operator_type = number as i32,
            1 => self.function = number as u32,
            2 => self.direction = number as u32,
            3 => self.policy = number as u32,
            4 => self.nulls = number as u16,
            5 | 6 => place(&mut self.axes),
            7 => {
                self.axes.push(number);
                self.axis_count = self.axis_count.saturating_add(1);
            }
            8 => tensor.data_type = number as u32,
            9 | 10 => place(&mut tensor.sizes),
            11 | 12 => place(tensor.strides.get_or_insert_with(|| vec![1; tensor.sizes.len()])),
            13 => tensor.offset = number,
            14 => tensor.total = number as u64,
            15 => tensor.flags = number as i32,
            16 => tensor.alignment = number as u32,
            // Counts: arrays are as long, unless the count is one that must not be believed.
            _ => match at % 8 {
                0..4 => tensor.r#type = number as i32,
                4..6 => {
                    tensor.rank = (number as u32).max(9);
                }
                6 => self.axis_count = (number as u32).max(9),
                _ => {
                    tensor.sizes.push(number);
                    tensor.rank = tensor.rank.saturating_add(1);
                    if let Some(strides) = &mut tensor.strides {
                        strides.push(1);
                    }
                }
            },
        }
        Ok(())
    }

    /// A pointer to the array, or NULL where so decided.
    fn pointer<T>(&self, n: u32, array: &[T]) -> *const T {
        if self.nulls >> n & 1 != 0 { null() } else { array.as_ptr() }
    }

    fn compile_own(&self) -> Option<Operator> {
        let before_guard = |list: &[i64]| Guarded::copy_of(list, Edge::End);
        let arrays = [&self.input, &self.output]
            .map(|tensor| (before_guard(&tensor.sizes), tensor.strides.as_ref().map(|strides| before_guard(strides))));
        let layout = |n: u32, tensor: &Tensor| {
            let (sizes, strides) = &arrays[n as usize];
            argreduce_layout {
                rank: tensor.rank,
                sizes: self.pointer(2 * n, sizes),
                strides: strides.as_ref().map_or(null(), |strides| self.pointer(2 * n + 1, strides)),
                offset: tensor.offset,
            }
        };
        let axes = before_guard(&self.axes);
        let packed = argreduce_layout { rank: 0, sizes: null(), strides: null(), offset: 0 };
        let desc = argreduce_desc {
            size: size_of::<argreduce_desc>(),
            function: self.function,
            input_type: self.input.data_type,
            input: layout(0, &self.input),
            index_type: self.output.data_type,
            output: if self.is_packed { packed } else { layout(1, &self.output) },
            axis_count: self.axis_count,
            axes: self.pointer(4, &axes),
            axis_direction: self.direction,
            nan_policy: self.policy,
            whole_sizes: null(),
            start: null(),
            fill: 0,
            has_fill: 0,
            reserved: 0,
            isa: null(),
            cumulative: 0,
            reserved_2: 0,
            key: 0,
            key_value: null(),
        };
        let desc = Guarded::copy_of(&[desc], Edge::End);
        // SAFETY: pointers are NULL, or to arrays as long as said (`Tensor::draw`); `spoil` lets only such counts say
        // more, above 8, as are refused before anything is read by them (and if not, the array ends at a guard page).
        Operator::new(|out| unsafe { argreduce_compile(self.pointer(5, &desc), out) })
    }

    fn compile_directml(&self) -> Option<Operator> {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Typed(i32, *const c_void);
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Arg(*const Typed, *const Typed, u32, *const u32, i32);
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Reduce(i32, *const Typed, *const Typed, u32, *const u32);
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Buffer(i32, i32, u32, *const u32, *const u32, u64, u32);

        let before_guard = |list: &[u32]| Guarded::copy_of(list, Edge::End);
        let tensors = [&self.input, &self.output];
        let arrays = tensors.map(|tensor| {
            (before_guard(&tensor.sizes_u32()), tensor.strides_u32().map(|strides| before_guard(&strides)))
        });
        let buffers = [0, 1].map(|n: u32| {
            let (tensor, (sizes, strides)) = (tensors[n as usize], &arrays[n as usize]);
            let strides = strides.as_ref().map_or(null(), |strides| self.pointer(2 * n + 1, strides));
            let (data_type, sizes) = (tensor.data_type as i32, self.pointer(2 * n, sizes));
            let buffer = Buffer(data_type, tensor.flags, tensor.rank, sizes, strides, tensor.total, tensor.alignment);
            Guarded::copy_of(&[buffer], Edge::End)
        });
        let typed = [0, 1].map(|n: u32| {
            let buffer = self.pointer(6 + n, &buffers[n as usize]).cast();
            Guarded::copy_of(&[Typed(tensors[n as usize].r#type, buffer)], Edge::End)
        });
        let axes: Vec<u32> = self.axes.iter().map(|&axis| axis as u32).collect();
        let axes = before_guard(&axes);
        let axes = self.pointer(4, &axes);
        let [input, output] = [0, 1].map(|n: u32| self.pointer(8 + n, &typed[n as usize]));
        let arg = Guarded::copy_of(&[Arg(input, output, self.axis_count, axes, self.direction as i32)], Edge::End);
        let reduce = Guarded::copy_of(&[Reduce(self.function as i32, input, output, self.axis_count, axes)], Edge::End);
        let desc: *const c_void = if self.operator_type == OPERATORS[2] {
            self.pointer(10, &reduce).cast()
        } else {
            self.pointer(10, &arg).cast()
        };
        let operator = Guarded::copy_of(&[Typed(self.operator_type, desc)], Edge::End);
        // SAFETY: as above.
        Operator::new(|out| unsafe { argreduce_compile_directml(self.pointer(5, &operator).cast(), self.policy, out) })
    }

    /// What C has no part in, if the description can be said in Rust: an operator, or the rule that is broken.
    fn compile_rust(&self) -> Option<std::result::Result<CompiledOperator, Error>> {
        let [input, output] = [&self.input, &self.output].map(|tensor| (tensor.sizes_u32(), tensor.strides_u32()));
        let tensors =
            [self.input.said(&input.0, input.1.as_deref())?, self.output.said(&output.0, output.1.as_deref())?];
        let axes: Vec<u32> = self.axes.iter().map(|&axis| axis as u32).collect();
        let case = Case { tensors, axes: &axes };
        let result = compile(&case, self.order()?);
        match (&result, case.broken()) {
            // Of more outputs, the rule does not look whether they overlap; nor does it know how far memory goes.
            (Err(Error::OutputOverlaps), None)
                if tensors[1].sizes.iter().map(|&n| u64::from(n)).product::<u64>() > 4096 => {}
            (Err(Error::OffsetOverflow { .. }), _) => {}
            (result, broken) => {
                assert_eq!(result.as_ref().err().map(Error::to_string), broken.map(|(_, words)| words), "{self:?}");
            }
        }
        Some(result)
    }

    fn order(&self) -> Option<(ReduceFunction, AxisDirection, NanPolicy)> {
        let is_reduce = self.is_directml && self.operator_type == OPERATORS[2];
        let function = if self.is_directml && !is_reduce {
            OPERATORS[..2].iter().position(|&operator| operator == self.operator_type)? as u32
        } else {
            self.function
        };
        // Of both, the first.
        let function = if self.is_both() { ARGREDUCE_ARGMIN } else { function };
        let function = [ReduceFunction::ArgMax, ReduceFunction::ArgMin].get(function as usize)?;
        let direction = AxisDirection::ALL.get(if is_reduce { 0 } else { self.direction as usize })?;
        Some((*function, *direction, *NanPolicy::ALL.get(self.policy as usize)?))
    }

    /// DirectML has no such function.
    fn is_both(&self) -> bool {
        !self.is_directml && self.function == ARGREDUCE_ARGMINMAX
    }

    /// What Rust's descriptors do not have is as it should be.
    fn is_all_said(&self) -> bool {
        let is_said = |tensor: &Tensor| {
            tensor.flags == 0
                && tensor.alignment == 0
                && tensor.r#type == 1
                && tensor.rank as usize == tensor.sizes.len()
        };
        self.nulls == 0 && self.axis_count as usize == self.axes.len() && is_said(&self.input) && is_said(&self.output)
    }
}

/// Compiled, and released when dropped.
struct Operator(*mut argreduce_operator);

impl Operator {
    fn new(compile: impl FnOnce(*mut *mut argreduce_operator) -> argreduce_status) -> Option<Operator> {
        let mut operator = null_mut();
        let status = compile(&mut operator);
        assert_ne!(status, ARGREDUCE_INTERNAL, "a panic");
        assert_eq!(status != ARGREDUCE_OK, operator.is_null());
        if status != ARGREDUCE_OK {
            let message: *const c_char = argreduce_last_error();
            // SAFETY: never NULL, and valid until the next failure on this thread, as the header says.
            assert!(!unsafe { std::ffi::CStr::from_ptr(message) }.is_empty(), "an error without words");
            return None;
        }
        Some(Operator(operator))
    }

    /// Of an operator of both, `side` is whether it is the smallest or the largest that is looked at.
    fn run(
        &self,
        side: Option<ReduceFunction>,
        input: &[u8],
        indices: &mut [u8],
        values: Option<&mut [u8]>,
    ) -> argreduce_status {
        let place = |bytes: &mut [u8]| (bytes.as_mut_ptr().cast::<c_void>(), bytes.len());
        let none = (null_mut(), 0);
        let values = values.map_or(none, place);
        let (mut other, mut other_values) = (buffer(indices.len(), 8), buffer(values.1, 8));
        let (mut indices, mut values) = ([place(indices), none], [values, none]);
        if side.is_some() {
            indices[1] = place(&mut other);
            values[1] = if values[0].0.is_null() { none } else { place(&mut other_values) };
        }
        if side == Some(ReduceFunction::ArgMax) {
            (indices, values) = ([indices[1], indices[0]], [values[1], values[0]]);
        }
        let call = argreduce_call {
            size: size_of::<argreduce_call>(),
            input: input.as_ptr().cast(),
            input_bytes: input.len(),
            executor: null(),
            mask: null(),
            indices: indices.map(|(start, _)| start),
            index_bytes: indices.map(|(_, bytes)| bytes),
            values: values.map(|(start, _)| start),
            value_bytes: values.map(|(_, bytes)| bytes),
            is_partial: 0,
            reserved: 0,
            offsets: null(),
            offset_count: 0,
            offset_type: 0,
            is_absolute: 0,
        };
        // SAFETY: `Operator::new` takes nothing but what was compiled, the slices say how long they are, and borrows
        // that are `mut` share nothing.
        unsafe {
            if side.is_some() || values[0].0.is_null() {
                // The short way, which has a place for one answer, refuses two.
                let ((to, bytes), (from, len)) = (indices[0], (call.input, call.input_bytes));
                let status = argreduce_execute(self.0, from, len, to, bytes);
                assert!(side.is_none() || status == ARGREDUCE_UNSUPPORTED_OPERATOR);
                if side.is_none() {
                    return status;
                }
            }
            argreduce_run(self.0, &call)
        }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // SAFETY: `Operator::new` takes nothing but what was compiled, and nothing else releases it.
        unsafe { argreduce_release(self.0) };
    }
}

/// Compiles, and runs what came of it, unless that is large. Whether there was anything to run.
fn check(words: &Words, data: Data) -> bool {
    let operator = if words.is_directml { words.compile_directml() } else { words.compile_own() };
    let in_rust = if words.is_directml && words.is_all_said() { words.compile_rust() } else { None };
    if let Some(in_rust) = &in_rust {
        assert_eq!(operator.is_some(), in_rust.is_ok(), "{words:?}: {:?}", in_rust.as_ref().err());
    }
    let Some(operator) = operator else { return false };
    let is_null = |n: u32| words.nulls >> n & 1 != 0;
    let layout = words.input.layout(words.is_directml, is_null(1)).unwrap_or_else(|| panic!("compiled: {words:?}"));
    let is_packed = !words.is_directml && (words.is_packed || is_null(2));
    let output = (!is_packed)
        .then(|| words.output.layout(words.is_directml, is_null(3)).unwrap_or_else(|| panic!("compiled: {words:?}")));
    const MOST: usize = 1 << 13;
    let is_small = |layout: &Layout| layout.element_count() <= MOST && layout.required_len() <= MOST;
    if !is_small(&layout) || !output.as_ref().is_none_or(is_small) {
        return true;
    }
    let types = (type_of(words.input.data_type), type_of(words.output.data_type), words.order());
    let (Some(data_type), Some(index_type), Some(order)) = types else { panic!("compiled: {words:?}") };
    let number = |&axis: &i64| if words.is_directml { axis as u32 as isize } else { axis as isize };
    let is_all = !words.is_directml && words.axis_count == ARGREDUCE_ALL_AXES && is_null(4);
    let axes =
        if is_all { (0..layout.sizes().len() as isize).collect() } else { words.axes.iter().map(number).collect() };
    let mut problem = Problem { data_type, index_type, order, layout, axes, output, data, edge: Edge::End };
    let totals = words.is_directml.then_some((words.input.total, words.output.total));
    if words.is_both() {
        for side in [ReduceFunction::ArgMin, ReduceFunction::ArgMax] {
            problem.order.0 = side;
            run(&problem, totals, (&operator, Some(side)), None);
        }
    } else {
        run(&problem, totals, (&operator, None), in_rust);
    }
    true
}

const UNTOUCHED: u8 = 0xa5;

fn run(
    problem: &Problem,
    totals: Option<(u64, u64)>,
    (operator, side): (&Operator, Option<ReduceFunction>),
    in_rust: Option<std::result::Result<CompiledOperator, Error>>,
) {
    let (data, indices) = answers(problem).unwrap_or_else(|| panic!("compiled: {problem:?}"));
    let (x, size, index_size) = (&data.x, problem.data_type.size(), problem.index_type.size());
    let sizes = model::output_sizes(
        problem.layout.sizes(),
        &model::reduced(&problem.axes, problem.layout.sizes().len()).expect("axes that were planned"),
    );
    let output = problem.output.unwrap_or_else(|| Layout::contiguous(&sizes).expect("a part of the input's"));
    let (input_bytes, output_bytes) = totals.unwrap_or((x.len() as u64, (output.required_len() * index_size) as u64));
    if input_bytes.max(output_bytes) > 1 << 18 {
        return;
    }
    let mut input = buffer(input_bytes as usize, size);
    input[..x.len()].copy_from_slice(x);
    // What is to be in the output afterwards.
    let mut expected = vec![UNTOUCHED; output_bytes as usize];
    for (place, &index) in model::places(output.sizes(), output.strides()).zip(&indices) {
        let at = (output.offset() as i128 + place) as usize * index_size;
        expected[at..at + index_size].copy_from_slice(&(index as u64).to_le_bytes()[..index_size]);
    }
    let mut found = buffer(output_bytes as usize, index_size);
    assert_eq!(operator.run(side, &input, &mut found, None), ARGREDUCE_OK, "{problem:?}");
    assert_eq!(*found, *expected, "{problem:?}");
    found.fill(UNTOUCHED);
    let mut values = buffer(indices.len() * size, size);
    assert_eq!(operator.run(side, &input, &mut found, Some(&mut values)), ARGREDUCE_OK, "{problem:?}");
    assert_eq!(*found, *expected, "{problem:?}");
    found.fill(UNTOUCHED);
    if let Some(in_rust) = in_rust {
        let in_rust: CompiledOperator = in_rust.expect("as in C");
        in_rust.execute(&input, &mut found).expect("as in C");
        assert_eq!(*found, *expected, "{problem:?}");
        found.fill(UNTOUCHED);
    }
    // A buffer too short, or nowhere: nothing is written.
    if !indices.is_empty() {
        let short = x.len() - 1;
        assert_ne!(operator.run(side, &input[..short], &mut found, None), ARGREDUCE_OK, "{problem:?}");
        assert!(found.iter().all(|&byte| byte == UNTOUCHED), "{problem:?}");
    }
}

/// Before a guard page, or behind one where that is not aligned.
fn buffer(bytes: usize, alignment: usize) -> Guarded<u8> {
    let edge = if bytes.is_multiple_of(alignment) { Edge::End } else { Edge::Start };
    Guarded::filled(UNTOUCHED, bytes, edge)
}
