//! Where is the largest or smallest element of a `.npy` file along these axes? Without arguments it asks that of a
//! sample: which class scores best at each pixel of an image.
//!
//! This file only joins the parts: arguments, answer, report, outputs. It must not know file formats, types or axes.

mod arguments;
mod grid;
mod header;
mod input;
mod job;
mod legend;
mod memory;
mod npy;
mod outputs;
mod picture;
mod progress;
mod reduce;
mod sample;
mod signals;
mod unnamed;

use anyhow::{Context, Result};
use arguments::{Arguments, DEFAULT_OUTPUT};
use clap::Parser;
use input::{Input, Source};
use job::Job;
use npy::Array;
use outputs::{Existing, Outputs};
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = if std::env::args_os().len() > 1 {
        match arguments::parse() {
            Ok(Some(arguments)) => on_file(&arguments),
            Ok(None) => Ok(()),
            Err(error) => return arguments::explain(&error),
        }
    } else {
        on_sample()
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => arguments::fail(&format!("argreduce: {error:#}")),
    }
}

fn on_file(arguments: &Arguments) -> Result<()> {
    let Input { name, handle, source } = Input::open(&arguments.file)?;
    let existing = if arguments.force { Existing::Replace } else { Existing::Refuse };
    deliver(arguments, &name, source, Outputs::new(existing, Some(handle))?, "")
}

/// The same way as a user's file, but for where the array comes from; it is written out too, to be tried again.
fn on_sample() -> Result<()> {
    let arguments = Arguments::try_parse_from(sample::COMMAND)?;
    let mut outputs = Outputs::new(Existing::Keep, None)?;
    let mut file = outputs.open("sample", &arguments.file)?;
    npy::write_header(&sample::SIZES, npy::dtype("f4")?, &mut file)?;
    file.write_all(bytemuck::cast_slice(&sample::scores()?))?;
    let source = Source::new(file.read_from(0)?)?;
    // As this program was called: it need not be on the path.
    let program = std::env::args_os().next().unwrap_or_default();
    let words = sample::COMMAND[1..].join(" ");
    let again = format!("\nthe same again: {} {words} --force", program.display());
    deliver(&arguments, "sample", source, outputs, &again)
}

fn deliver(arguments: &Arguments, name: &str, source: Source, mut outputs: Outputs, more: &str) -> Result<()> {
    // Before the answer, which may take long: what cannot be an output is refused at once.
    let mut open = |option, path: &Option<PathBuf>| path.as_ref().map(|path| outputs.open(option, path)).transpose();
    let mut indices = open("--output", &arguments.output)?;
    let mut values = open("--values", &arguments.values)?;
    let picture = open("--picture", &arguments.picture)?;

    job::check_isa(arguments)?;
    let array = Array::open(source).with_context(|| name.to_string())?;
    if indices.is_none() && job::keeps_axes(arguments, &array).with_context(|| name.to_string())? {
        indices = Some(outputs.open("--output", DEFAULT_OUTPUT.as_ref())?);
    }
    let mut job = Job::open(arguments, array).with_context(|| name.to_string())?;
    let mut start = 0;
    if let Some(indices) = &mut indices {
        start = npy::write_header(&job.sizes, job.index_dtype.clone(), indices)?;
    }
    if let Some(values) = &mut values {
        npy::write_header(&job.sizes, job.value_dtype.clone(), values)?;
    }
    while let Some(piece) = job.next().with_context(|| name.to_string())? {
        if let Some(indices) = &mut indices {
            indices.write_all(piece.indices)?;
        }
        if let Some(values) = &mut values {
            values.write_all(piece.values)?;
        }
    }
    // A picture needs axes, so the indices have a file.
    if let (Some(file), Some(picture), Some(indices)) = (picture, &job.picture, &indices) {
        let mut labels = BufReader::new(indices.read_from(start)?);
        let size = job.index_dtype.num_bytes().context("indices of unknown size")?;
        picture.encode(&mut labels, size, &mut BufWriter::new(file))?;
    }
    outputs.finish()?;
    let answer = job.answer()?;
    outputs.print(&(job.report() + more), answer.as_deref())?;
    outputs.persist()
}
