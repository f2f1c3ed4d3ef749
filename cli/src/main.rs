//! Where is the largest or smallest element of a `.npy` file along these axes? Without arguments it asks that of a
//! sample: which class scores best at each pixel of an image.
//!
//! This file only joins the parts: arguments, answer, report, outputs. It must not know file formats, types or axes.
#![warn(clippy::too_many_lines)]

mod arguments;
mod grid;
mod header;
mod input;
mod job;
mod legend;
mod mask;
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
use arguments::Arguments;
use clap::Parser;
use input::{Input, Inputs, Source};
use job::Job;
use mask::MaskFile;
use npy::Array;
use outputs::{Existing, Outputs, Writer};
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
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
    let Inputs { array, mask, handles } = Inputs::open(&arguments.file, arguments.mask.as_deref())?;
    let existing = if arguments.force { Existing::Replace } else { Existing::Refuse };
    deliver(arguments, array, mask, Outputs::new(existing, handles)?, "")
}

/// The same way as a user's file, but for where the array comes from; it is written out too, to be tried again.
fn on_sample() -> Result<()> {
    let arguments = Arguments::try_parse_from(sample::COMMAND)?;
    let mut outputs = Outputs::new(Existing::Keep, Vec::new())?;
    let mut file = outputs.open("sample", &arguments.file)?;
    npy::write_header(&sample::SIZES, npy::dtype("f4")?, &mut file)?;
    file.write_all(bytemuck::cast_slice(&sample::scores()?))?;
    let array = Input { name: "sample".into(), source: Source::new(file.read_from(0)?)? };
    // As this program was called: it need not be on the path.
    let program = std::env::args_os().next().unwrap_or_default();
    let words = sample::COMMAND[1..].join(" ");
    let again = format!("\nthe same again: {} {words} --force", program.display());
    deliver(&arguments, array, None, outputs, &again)
}

fn deliver(arguments: &Arguments, array: Input, mask: Option<Input>, mut outputs: Outputs, more: &str) -> Result<()> {
    // Before the answer, which may take long: what cannot be an output is refused at once. Each is there once for each
    // function.
    let mut open = |option, path: Option<&Path>| -> Result<Vec<Writer>> {
        let files = path.map(|path| arguments.each_output(option, path)).transpose()?;
        files.iter().flatten().map(|path| outputs.open(option, path)).collect()
    };
    let mut indices = open("--output", arguments.output.as_deref())?;
    let mut values = open("--values", arguments.values.as_deref())?;
    let pictures = open("--picture", arguments.picture.as_deref())?;

    // No matters of the file.
    job::check_isa(arguments)?;
    let threads = arguments.threads()?;
    let Input { name, source } = array;
    let array = Array::open(source).with_context(|| name.clone())?;
    if indices.is_empty() && job::keeps_axes(arguments, &array).with_context(|| name.clone())? {
        indices = open("--output", Some(arguments.default_output()))?;
    }
    let mask = mask.map(|mask| MaskFile::open(mask, &array)).transpose()?;
    let mut job = Job::open(arguments, threads, array, mask).with_context(|| name.clone())?;
    let mut start = 0;
    for file in &mut indices {
        start = npy::write_header(&job.sizes, job.index_dtype.clone(), file)?;
    }
    for file in &mut values {
        npy::write_header(&job.sizes, job.value_dtype.clone(), file)?;
    }
    while let Some(pieces) = job.next().with_context(|| name.clone())? {
        for (file, piece) in indices.iter_mut().zip(&pieces) {
            file.write_all(piece.indices)?;
        }
        for (file, piece) in values.iter_mut().zip(&pieces) {
            file.write_all(piece.values)?;
        }
    }
    // A picture needs axes, so the indices have a file.
    for ((file, indices), picture) in pictures.into_iter().zip(&indices).zip(job.picture.iter().cycle()) {
        let mut labels = BufReader::new(indices.read_from(start)?);
        let size = job.index_dtype.num_bytes().context("indices of unknown size")?;
        picture.encode(&mut labels, size, &mut BufWriter::new(file))?;
    }
    outputs.finish()?;
    let answer = job.answer()?;
    outputs.print(&(job.report() + more), answer.as_deref())?;
    outputs.persist()
}
