//! From a file to an answer: the part that uses argreduce. It must not know the command line's spelling, nor where
//! anything is written.

use crate::arguments::{Arguments, Function, IndexType};
use crate::npy::{self, Array};
use crate::{memory, picture};
use anyhow::{Result, bail};
use argreduce::{ArgReduce, Element, Index, drop_axes};
use half::f16;
use npyz::{AutoSerialize, Deserialize, TypeChar};
use std::hint::black_box;
use std::io::{Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How often the plan is run with `--bench`: the first time pays for cold memory, the best one is told.
const RUNS: usize = 5;

/// Kept free while all that is large is allocated, for all that is small: that would abort without memory.
const SPARE_BYTES: usize = 1 << 22;

/// What to tell and what to write.
pub struct Answer {
    pub report: String,
    pub indices: Encode,
    pub values: Option<Encode>,
    pub picture: Option<Encode>,
}

/// Writes a whole file.
pub type Encode = Box<dyn FnOnce(&mut dyn Write) -> Result<()>>;

/// One instance of [`reduce`].
type Reduce = fn(&Arguments, Array) -> Result<Answer>;

pub fn run(arguments: &Arguments, file: &mut dyn Read) -> Result<Answer> {
    let array = Array::open(file)?;
    let index = arguments.index_type;
    let reduce = match (array.dtype.type_char(), array.dtype.size_field()) {
        (TypeChar::Float, 2) => with::<f16>(index),
        (TypeChar::Float, 4) => with::<f32>(index),
        (TypeChar::Float, 8) => with::<f64>(index),
        (TypeChar::Int, 1) => with::<i8>(index),
        (TypeChar::Int, 2) => with::<i16>(index),
        (TypeChar::Int, 4) => with::<i32>(index),
        (TypeChar::Int, 8) => with::<i64>(index),
        (TypeChar::Uint, 1) => with::<u8>(index),
        (TypeChar::Uint, 2) => with::<u16>(index),
        (TypeChar::Uint, 4) => with::<u32>(index),
        (TypeChar::Uint, 8) => with::<u64>(index),
        (TypeChar::Bool, 1) => with::<bool>(index),
        _ => bail!("dtype '{}' is none of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 and bool", array.dtype),
    };
    reduce(arguments, array)
}

fn with<T: Element + Deserialize + AutoSerialize>(index: IndexType) -> Reduce {
    match index {
        IndexType::I32 => reduce::<T, i32>,
        IndexType::I64 => reduce::<T, i64>,
        IndexType::U32 => reduce::<T, u32>,
        IndexType::U64 => reduce::<T, u64>,
    }
}

fn reduce<T, I>(arguments: &Arguments, array: Array) -> Result<Answer>
where
    T: Element + Deserialize + AutoSerialize,
    I: Index + AutoSerialize + Into<i128>,
{
    let rank = array.layout.sizes().len() as isize;
    let axes = match &arguments.axes {
        Some(axes) => axes.0.clone(),
        None => (0..rank).collect(),
    };
    let mut request = match arguments.function {
        Function::Argmin => ArgReduce::argmin(&array.layout),
        Function::Argmax => ArgReduce::argmax(&array.layout),
    };
    request = request.axes(&axes).direction(arguments.direction).nan_policy(arguments.nan);
    if let Some(isa) = arguments.isa {
        request = request.isa(isa);
    }
    let plan = request.plan::<T, I>()?;

    // All that can be refused without the elements is refused before they are read.
    let kept = drop_axes(array.layout.sizes(), &axes)?;
    let pixels = arguments.picture.as_ref().map(|_| picture::pixels(&kept)).transpose()?;
    let sizes = if arguments.keepdims { plan.output_layout().sizes() } else { &kept };

    let spare = black_box(memory::room::<u8>(SPARE_BYTES)?);
    let input: Vec<T> = array.elements()?;
    let count = plan.output_layout().element_count();
    let mut indices = memory::defaults::<I>(count)?;
    let mut values = arguments.values.as_ref().map(|_| memory::defaults::<T>(count)).transpose()?;
    drop(spare);

    let runs = if arguments.bench { RUNS } else { 1 };
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        match &mut values {
            Some(values) => plan.run_with_values(&input, &mut indices, values)?,
            None => plan.run(&input, &mut indices)?,
        }
        best = best.min(start.elapsed());
    }

    let rate = size_of_val(&input[..]) as f64 / best.as_nanos().max(1) as f64;
    let runs = if arguments.bench { format!("best of {runs} runs") } else { "one run".to_string() };
    let report = format!("{plan}\n{best:.2?} ({runs}), {rate:.2} GB/s of input");

    let indices = Rc::new(indices);
    let picture = |pixels| -> Encode {
        let indices = Rc::clone(&indices);
        Box::new(move |file| picture::encode(pixels, indices.iter().map(|&index| index.into()), file))
    };
    Ok(Answer {
        report,
        picture: pixels.map(picture),
        values: values.map(|values| array_file(sizes, Rc::new(values))),
        indices: array_file(sizes, indices),
    })
}

fn array_file<T: AutoSerialize + 'static>(sizes: &[usize], elements: Rc<Vec<T>>) -> Encode {
    let sizes = sizes.to_vec();
    Box::new(move |file| npy::encode(&sizes, &elements, file))
}
