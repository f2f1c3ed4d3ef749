//! Any call: under a mask or not, by executors that do as they please, to indices, values or partial answers, of one
//! function or of both, of types or of bytes, of the whole or of a part, at once, in parts or in chunks, on every ISA;
//! and by the C interface; against the reference.

use crate::api::*;
use crate::call::{Call, Place, typed_indices};
use crate::case::{Asked, Case, Data, Expected, Format, Presence};
use crate::check::check_case;
use crate::draw::Problem;
use crate::executor::{WIDTHS, Way, Wayward};
use crate::outcome::Outcome;
use arbitrary::{Arbitrary, Result, Unstructured};
use argreduce::{Error, Executor, Key, Layout, NanPolicy, ReduceFunction};
use argreduce_guard::directml::type_number;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// See the file.
pub fn calls(bytes: &[u8]) -> Outcome {
    let u = &mut Unstructured::new(bytes);
    let Ok((case, there, problem)) = draw(u) else { return Outcome::Rejected };
    let class = problem.class() * 8 + case.asked as u64;
    let checked = check_case(&case, || problem.data(|n| there.is_there(n)));
    by_c(&case, checked.as_ref().map(|(data, expected)| (data, &expected[..])));
    Outcome::Checked(
        (class * 8 + case.mask.map_or(0, |_| 1 + u64::from(there.format % 6))) * 2 + u64::from(case.is_both),
    )
}

/// How many ways of executors are taken: those that take their time are left out, and where there are no threads, those
/// that need some.
const WAYS: usize = if cfg!(target_family = "wasm") { 4 } else { 7 };

/// What is there: bytes, over and over; and how it is said.
struct There {
    format: u8,
    place: u8,
    pattern: Vec<u8>,
}

impl There {
    fn is_there(&self, n: usize) -> bool {
        self.pattern[n / 8 % self.pattern.len()] >> (n % 8) & 1 != 0
    }

    fn said(&self) -> Format {
        let place = usize::from(self.place);
        match self.format % 6 {
            0 => Format::Bits(place % 20),
            1 => Format::Bools,
            2 => Format::Bytes,
            3 => Format::Strided,
            4 => Format::BytesStrided,
            _ => Format::Broadcast(place),
        }
    }
}

impl<'a> Arbitrary<'a> for There {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<There> {
        let (format, place, kind, count): (u8, u8, u8, u8) = u.arbitrary()?;
        // All, nothing, or some.
        let pattern = match kind {
            0..30 => vec![0xff],
            30..60 => vec![0],
            _ => (0..1 + count % 16).map(|_| u.arbitrary()).collect::<Result<_>>()?,
        };
        Ok(There { format, place, pattern })
    }
}

fn draw(u: &mut Unstructured<'_>) -> Result<(Case, There, Problem)> {
    let (kind, way, what, seed): (u8, u8, u8, u32) = u.arbitrary()?;
    let there = There::arbitrary(u)?;
    let problem = Problem::arbitrary(u)?;
    let is_typed = kind & 1 != 0 && typed_indices(problem.data_type).contains(&problem.index_type);
    let mut case = Case {
        margins: (kind & 0x30 == 0).then_some(seed),
        is_both: kind & 2 != 0,
        is_typed,
        mask: (kind & 4 != 0).then(|| there.said()),
        fill: [None, Some(7), Some(100), Some(200)][usize::from(kind >> 6)],
        executor: (kind & 8 != 0)
            .then(|| (Way::ALL[usize::from(way) % WAYS], WIDTHS[usize::from(way) / WAYS % WIDTHS.len()])),
        asked: Asked::ALL[usize::from(what) % Asked::ALL.len()],
        is_new: what >= 128,
        seed: seed.into(),
        key: crate::check::key_of(problem.case().data_type, (seed >> 20) as u8),
        ..problem.case()
    };
    if is_reduced(&case) && case.axes.len() == 1 {
        case.walk = [None, None, Some(false), Some(true)][(seed >> 30) as usize];
    }
    if case.walk.is_some() {
        case.output = None;
        case.asked = if what % 2 == 0 { Asked::Indices } else { Asked::Values };
    }
    // Where the last index is that of nothing, there are no partial answers.
    if is_reduced(&case) && !case.fits(case.index_type) {
        case.asked = Asked::Values;
    }
    Ok((case, there, problem))
}

/// Whether its axes are those of the tensor.
fn is_reduced(case: &Case) -> bool {
    crate::model::reduced(&case.axes, case.layout.sizes().len()).is_some()
}

unsafe extern "C" fn parallel_for(context: *mut c_void, task: argreduce_task, tasks: usize, data: *mut c_void) {
    // As the header says, tasks run on any threads: so what they are handed crosses them.
    let data = AtomicPtr::new(data);
    // SAFETY: the context of `by_c`.
    let executor = unsafe { &*context.cast::<Wayward>() };
    // SAFETY: within the call.
    executor.parallel_for(tasks, &|n| unsafe { task(data.load(Relaxed), n) });
}

/// The same by the C interface: it compiles if there are answers, and has these.
fn by_c(case: &Case, checked: Option<(&Data, &[Expected])>) {
    let asked = match case.asked {
        Asked::Indices | Asked::Partials => case.asked,
        _ => Asked::Values,
    };
    let case = &Case { asked, is_typed: false, is_new: false, ..case.clone() };
    let op = compile(case);
    assert_eq!(!op.0.is_null(), checked.is_some(), "{case:?}");
    let Some((data, expected)) = checked else { return };
    let presence = case.mask.map(|format| Presence::new(format, case.layout.sizes(), &data.there, case.edge));
    let strides: Vec<i64> =
        presence.iter().flat_map(|presence| presence.layout.strides()).map(|&stride| stride as i64).collect();
    let mask = presence.as_ref().map(|presence| c_mask(presence, &strides));
    let wayward = case.executor.map(|(way, width)| Wayward::new(way, width));
    let executor = wayward.as_ref().map(|wayward| argreduce_executor {
        size: size_of::<argreduce_executor>(),
        context: (&raw const *wayward).cast_mut().cast(),
        parallel_for: Some(parallel_for),
        width: wayward.width as u32,
        min_task_kib: 1,
    });
    let with = (
        executor.as_ref().map_or(null(), |executor| &raw const *executor),
        mask.as_ref().map_or(null(), |mask| &raw const *mask),
    );
    let window = case.window();
    let call = Call { case, isa: None, x: &data.x, there: &data.there, mask: None, executor: None, window: &window };
    let mut to = call.places();
    let status = run(&op, case, with, &data.x, &mut to);
    match call.expected_error(&expected[0]) {
        None => {
            assert_eq!(status, ARGREDUCE_OK, "{}", call.text());
            call.compare(&to, expected);
        }
        Some(Error::NothingThere { .. }) => assert_eq!(status, ARGREDUCE_NOTHING_THERE, "{}", call.text()),
        Some(_) => assert_eq!(status, ARGREDUCE_EMPTY_REDUCTION, "{}", call.text()),
    }
    if call.output().element_count() > 0 && !data.x.is_empty() {
        let mut to = call.places();
        let before: Vec<_> = to.iter().map(|to| (to.indices.to_vec(), to.values.to_vec())).collect();
        let status = run(&op, case, with, &data.x[..data.x.len() - 1], &mut to);
        assert_eq!(status, ARGREDUCE_BUFFER_TOO_SHORT, "{}", call.text());
        assert!(to.iter().map(|to| (to.indices.to_vec(), to.values.to_vec())).eq(before), "{}", call.text());
    }
}

/// Released when dropped; NULL where nothing was compiled.
struct Operator(*mut argreduce_operator);

impl Drop for Operator {
    fn drop(&mut self) {
        // SAFETY: NULL or compiled, and nothing else releases it.
        unsafe { argreduce_release(self.0) };
    }
}

fn compile(case: &Case) -> Operator {
    let (function, direction, policy) = case.order;
    let of_i64 = |numbers: &[isize]| numbers.iter().map(|&n| n as i64).collect::<Vec<_>>();
    let sizes = |sizes: &[usize]| sizes.iter().map(|&n| n as i64).collect::<Vec<_>>();
    let arrays = |layout: &Layout| (sizes(layout.sizes()), of_i64(layout.strides()), layout.offset() as i64);
    let (input, output) = (arrays(&case.layout), case.output.as_ref().map(arrays));
    let described = |(sizes, strides, offset): &(Vec<i64>, Vec<i64>, i64)| argreduce_layout {
        rank: sizes.len() as u32,
        sizes: sizes.as_ptr(),
        strides: strides.as_ptr(),
        offset: *offset,
    };
    let packed = argreduce_layout { rank: 0, sizes: null(), strides: null(), offset: 0 };
    let (axes, window) = (of_i64(&case.axes), case.window().map(|numbers| sizes(&numbers)));
    let [whole_sizes, start] = case.margins.map_or([null(); 2], |_| window.each_ref().map(|numbers| numbers.as_ptr()));
    let desc = argreduce_desc {
        size: size_of::<argreduce_desc>(),
        function: match function {
            _ if case.is_both => ARGREDUCE_ARGMINMAX,
            ReduceFunction::ArgMin => ARGREDUCE_ARGMIN,
            _ => ARGREDUCE_ARGMAX,
        },
        input_type: type_number(case.data_type.name()),
        input: described(&input),
        index_type: type_number(case.index_type.name()),
        output: output.as_ref().map_or(packed, described),
        axis_count: axes.len() as u32,
        axes: axes.as_ptr(),
        axis_direction: direction.ordinal() as u32,
        nan_policy: u32::from(policy == NanPolicy::Ignore),
        whole_sizes,
        start,
        fill: case.fill.unwrap_or(0),
        has_fill: u32::from(case.fill.is_some()),
        reserved: 0,
        isa: null(),
        cumulative: case.walk.map_or(ARGREDUCE_NOT_CUMULATIVE, |is_reversed| match is_reversed {
            false => ARGREDUCE_CUMULATIVE,
            true => ARGREDUCE_CUMULATIVE_REVERSE,
        }),
        reserved_2: 0,
        key: match case.key {
            Key::Value => ARGREDUCE_KEY_VALUE,
            Key::Magnitude => ARGREDUCE_KEY_MAGNITUDE,
            _ => ARGREDUCE_KEY_DISTANCE,
        },
        key_value: match &case.key {
            Key::Distance { bits, .. } => (&raw const *bits).cast(),
            _ => null(),
        },
    };
    let mut op = null_mut();
    // SAFETY: the description points to arrays that are as long as said.
    let status = unsafe { argreduce_compile(&desc, &mut op) };
    assert_ne!(status, ARGREDUCE_INTERNAL, "a panic");
    assert_eq!(status == ARGREDUCE_OK, !op.is_null());
    Operator(op)
}

/// A mask as C has it: bools are bytes.
fn c_mask(presence: &Presence, strides: &[i64]) -> argreduce_mask {
    let (kind, offset) = match presence.format {
        Format::Bits(offset) => (ARGREDUCE_MASK_BITS, offset),
        _ => (ARGREDUCE_MASK_BYTES, presence.layout.offset()),
    };
    let is_packed = matches!(presence.format, Format::Bits(_) | Format::Bools | Format::Bytes);
    argreduce_mask {
        size: size_of::<argreduce_mask>(),
        data: presence.bytes.as_ptr().cast(),
        bytes: presence.bytes.len(),
        offset: offset as i64,
        strides: if is_packed { null() } else { strides.as_ptr() },
        kind,
        reserved: 0,
    }
}

fn run(
    op: &Operator,
    case: &Case,
    (executor, mask): (*const argreduce_executor, *const argreduce_mask),
    x: &[u8],
    to: &mut [Place],
) -> argreduce_status {
    // No element is no pointer.
    let place = |bytes: &mut [u8]| -> (*mut c_void, usize) {
        if bytes.is_empty() { (null_mut(), 0) } else { (bytes.as_mut_ptr().cast(), bytes.len()) }
    };
    let (mut indices, mut values) = ([(null_mut(), 0); 2], [(null_mut(), 0); 2]);
    for (n, to) in to.iter_mut().enumerate() {
        indices[n] = place(&mut to.indices);
        if case.asked != Asked::Indices {
            values[n] = place(&mut to.values);
        }
    }
    let call = argreduce_call {
        size: size_of::<argreduce_call>(),
        input: x.as_ptr().cast(),
        input_bytes: x.len(),
        executor,
        mask,
        indices: indices.map(|(start, _)| start),
        index_bytes: indices.map(|(_, bytes)| bytes),
        values: values.map(|(start, _)| start),
        value_bytes: values.map(|(_, bytes)| bytes),
        is_partial: u32::from(case.asked == Asked::Partials),
        reserved: 0,
        offsets: null(),
        offset_count: 0,
        offset_type: 0,
        is_absolute: 0,
    };
    // SAFETY: compiled; the buffers are as long as said, and share nothing; the executor returns when all tasks have.
    unsafe { argreduce_run(op.0, &call) }
}
