//! Where is the largest or smallest element of a `.npy` file along these axes? Without arguments it asks that of a sample:
//! which class scores best at each pixel of an image.
//!
//! This file only joins the parts: arguments, answer, report, outputs. It must not know file formats, types or axes.

mod arguments;
mod header;
mod job;
mod npy;
mod outputs;
mod picture;
mod sample;

use anyhow::{Context, Result};
use arguments::Arguments;
use clap::Parser;
use outputs::Outputs;
use std::fs::File;
use std::io::Write;
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
    let name = || arguments.file.display().to_string();
    let mut file = File::open(&arguments.file).with_context(name)?;
    let answer = job::run(arguments, &mut file).with_context(name)?;
    deliver(arguments, answer, Outputs::default())
}

/// The same way as a user's file, but for where the bytes come from; they are written out too, to be tried again.
fn on_sample() -> Result<()> {
    let arguments = Arguments::try_parse_from(sample::COMMAND)?;
    let file = npy::encode(&sample::SIZES, &sample::scores())?;
    let mut answer = job::run(&arguments, &mut &file[..])?;
    answer.report += &format!(
        "\nthe same again: cargo run --release --example {}",
        sample::COMMAND.join(" ").replacen(' ', " -- ", 1)
    );
    let mut outputs = Outputs::default();
    outputs.stage(&arguments.file, &file)?;
    deliver(&arguments, answer, outputs)
}

fn deliver(arguments: &Arguments, answer: job::Answer, mut outputs: Outputs) -> Result<()> {
    outputs.stage(&arguments.output, &answer.indices)?;
    let extras = [(&arguments.values, &answer.values), (&arguments.picture, &answer.picture)];
    for (path, bytes) in extras {
        if let (Some(path), Some(bytes)) = (path, bytes) {
            outputs.stage(path, bytes)?;
        }
    }
    // The report comes before the files appear, so that it can fail like any of them (a closed pipe, a full disk).
    writeln!(std::io::stdout(), "{}\nfiles: {}", answer.report, outputs.names()).context("standard output")?;
    outputs.persist()
}
