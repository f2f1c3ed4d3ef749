//! Where is the largest or smallest element of a `.npy` file along these axes? Without arguments it asks that of a
//! sample: which class scores best at each pixel of an image.
//!
//! This file only joins the parts: arguments, answer, report, outputs. It must not know file formats, types or axes.

mod arguments;
mod header;
mod input;
mod job;
mod memory;
mod npy;
mod outputs;
mod picture;
mod sample;
mod signals;

use anyhow::{Context, Result};
use arguments::Arguments;
use clap::Parser;
use input::Input;
use job::Answer;
use outputs::{Existing, Outputs, Slot};
use std::io::Write;
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = if std::env::args_os().len() > 1 {
        match Arguments::try_parse() {
            Ok(arguments) => on_file(&arguments),
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
    let Input { name, handle, mut bytes } = Input::open(&arguments.file)?;
    let existing = if arguments.force { Existing::Replace } else { Existing::Refuse };
    deliver(arguments, Outputs::new(existing, Some(handle))?, || job::run(arguments, &mut bytes).context(name))
}

/// The same way as a user's file, but for where the bytes come from; they are written out too, to be tried again.
fn on_sample() -> Result<()> {
    let arguments = Arguments::try_parse_from(sample::COMMAND)?;
    let scores = sample::scores()?;
    let mut file = memory::room((1 << 10) + size_of_val(&scores[..]))?;
    npy::encode(&sample::SIZES, &scores, &mut file)?;
    drop(scores);
    let mut outputs = Outputs::new(Existing::Keep, None)?;
    let slot = outputs.open("sample", &arguments.file)?;
    outputs.write(slot, |output| Ok(output.write_all(&file)?))?;
    deliver(&arguments, outputs, || {
        let mut answer = job::run(&arguments, &mut &file[..])?;
        let command = sample::COMMAND.join(" ").replacen(' ', " -- ", 1);
        answer.report += &format!("\nthe same again: cargo run --release --example {command} --force");
        Ok(answer)
    })
}

fn deliver(arguments: &Arguments, mut outputs: Outputs, answer: impl FnOnce() -> Result<Answer>) -> Result<()> {
    // Before the answer, which may take long: what cannot be an output is refused at once.
    let indices = outputs.open("--output", &arguments.output)?;
    let mut open = |option, path: &Option<PathBuf>| path.as_ref().map(|path| outputs.open(option, path)).transpose();
    let values = open("--values", &arguments.values)?;
    let picture = open("--picture", &arguments.picture)?;

    let answer = answer()?;
    let all = iter::once((indices, answer.indices)).chain(values.zip(answer.values)).chain(picture.zip(answer.picture));
    let (last, files): (Vec<_>, Vec<_>) = all.partition(|(slot, _)| *slot == Slot::Stdout);
    for (slot, encode) in files {
        outputs.write(slot, encode)?;
    }
    // Before the files appear, so that it can fail like any of them (a closed pipe, a full disk).
    let report = format!("{}\nfiles: {}\n", answer.report, outputs.names());
    if last.is_empty() {
        std::io::stdout().write_all(report.as_bytes()).context("standard output")?;
    } else {
        std::io::stderr().write_all(report.as_bytes()).context("standard error")?;
    }
    for (slot, encode) in last {
        outputs.write(slot, encode)?;
    }
    outputs.persist()
}
