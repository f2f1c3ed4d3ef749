//! The command line: what can be asked, and how a mistake in asking is told. It must not know how anything is answered.

use anyhow::{Result, anyhow, ensure};
use argreduce::{AxisDirection, Isa, NanPolicy, ReduceFunction};
use clap::error::ContextKind;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, ValueEnum, value_parser};
use clap_complete::Shell;
use std::ffi::OsString;
use std::io::Write;
use std::num::{IntErrorKind, NonZero};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::thread::available_parallelism;

/// Where is the largest or smallest element of a .npy file along these axes?
///
/// Without any argument: runs on a sample (class scores of an image), and leaves it in the folder argreduce-sample,
/// with its labels and their picture.
///
/// All outputs appear, each of them complete, or none does. A file that is there already is replaced only with --force,
/// and the input never is.
#[derive(Parser)]
#[command(name = "argreduce", version, after_help = "Exit status: 0, or 2 and one line on standard error.")]
pub struct Arguments {
    /// Which element to look for; argminmax is both, to two files of each kind
    pub function: Function,

    /// The .npy file, or - for standard input: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 or bool, C or Fortran order,
    /// rank 0 to 8
    pub file: PathBuf,

    /// Axes to reduce, as in 0,-1; negative ones count from the end [default: all; empty: none]
    #[arg(long, allow_hyphen_values = true)]
    pub axes: Option<Axes>,

    /// Which of equal elements wins: the first (increasing) or the last (decreasing)
    #[arg(long, default_value_t)]
    pub direction: AxisDirection,

    /// Whether a NaN beats every number (propagate) or loses to every number (ignore)
    #[arg(long, default_value_t)]
    pub nan: NanPolicy,

    /// A .npy file of bool or u1, as large as the array or broadcast to it: true, or any byte but 0, is there
    ///
    /// What is not there is left out, and indices count it all the same. - is standard input.
    #[arg(long, value_name = "NPY")]
    pub mask: Option<PathBuf>,

    /// The index of an output of which nothing is there [default: that is an error]
    ///
    /// Its value is NaN, or 0 of a type without.
    #[arg(long, value_name = "INDEX", requires = "mask", allow_hyphen_values = true)]
    pub fill: Option<i64>,

    /// Type of the indices written: auto is the smallest one that holds them all, i64 is NumPy's
    #[arg(long, value_enum, default_value_t)]
    pub index_type: IndexType,

    /// Keep the reduced axes, with size 1
    #[arg(long)]
    pub keepdims: bool,

    /// Where the indices go [default: labels.npy, of argminmax {}.npy; none if no axes are kept]
    ///
    /// With no axes kept there is one answer: its index, its place and its value are a line on standard output, and
    /// only -o writes a file. - is standard output. Where that has an answer, messages go to standard error. In the
    /// name of any output, {} becomes argmin or argmax; for argminmax, each name has to have it.
    #[arg(short, long, value_name = "NPY")]
    pub output: Option<PathBuf>,

    /// Where the elements found go, if wanted: the input's type, the indices' shape
    #[arg(long, value_name = "NPY")]
    pub values: Option<PathBuf>,

    /// Where a picture of the indices goes, if wanted: one colour per index; the result must have two axes
    #[arg(long, value_name = "PNG")]
    pub picture: Option<PathBuf>,

    /// Draw beside the picture which colour is which index, of at most 256
    #[arg(long, requires = "picture")]
    pub legend: bool,

    /// Replace outputs that are there already
    #[arg(long)]
    pub force: bool,

    /// Run more than once, and tell the best time
    #[arg(long)]
    pub bench: bool,

    /// How many threads reduce a chunk: all is one for each CPU, and so is any larger number [default:
    /// ARGREDUCE_NUM_THREADS, or else 1]
    ///
    /// Where it has 2M or more for each of them. The answer does not depend on it.
    #[arg(long, value_name = "N|all", value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,

    /// How many bytes of the array are read at a time; K, M and G are powers of 1024, as in 2M [default: 2M; 4M for
    /// each of several threads]
    ///
    /// Up to 8 times as many where many outputs need them. Partial answers take up to twice as many again. Outputs are
    /// written as they come; those of an array in Fortran order that come in another order than C's are held in memory
    /// until the end, and so is a mask in another order than the array. A pipe that is not to be read from first to
    /// last is copied to a temporary file.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub chunk: Option<usize>,

    /// Instruction set: portable, avx2, avx512, neon [default: the best this machine has]
    #[arg(long)]
    pub isa: Option<Isa>,
}

impl Arguments {
    /// How many threads reduce a chunk: if the command does not say, the environment does.
    pub fn threads(&self) -> Result<usize> {
        const NAME: &str = "ARGREDUCE_NUM_THREADS";
        let said = std::env::var_os(NAME).filter(|text| self.threads.is_none() && !text.is_empty());
        let Some(text) = said else { return Ok(self.threads.unwrap_or(1)) };
        let text = text.to_string_lossy();
        threads(&text).map_err(|error| anyhow!("{NAME} is '{text}': {error}"))
    }

    pub fn chunk(&self, threads: usize) -> usize {
        self.chunk.unwrap_or(if threads > 1 { threads.saturating_mul(4 << 20) } else { 2 << 20 })
    }

    /// Where a result with kept axes goes, unless something else is said.
    pub fn default_output(&self) -> &'static Path {
        Path::new(if self.function.each().len() > 1 { "{}.npy" } else { "labels.npy" })
    }

    /// The file of each function, from the name that an option gives to all.
    pub fn each_output(&self, option: &str, path: &Path) -> Result<Vec<PathBuf>> {
        const PLACE: &str = "{}";
        let functions = self.function.each();
        let Some(name) = path.to_str().filter(|name| name.contains(PLACE)) else {
            let name = path.display();
            ensure!(
                functions.len() == 1,
                "{option} {name}: argminmax has two outputs of each kind: {PLACE} in the name becomes argmin and argmax"
            );
            return Ok(vec![path.into()]);
        };
        Ok(functions.iter().map(|function| name.replace(PLACE, function.name()).into()).collect())
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Function {
    Argmin,
    Argmax,
    Argminmax,
}

impl Function {
    /// In the order of the answers.
    pub fn each(self) -> &'static [ReduceFunction] {
        match self {
            Function::Argmin => &[ReduceFunction::ArgMin],
            Function::Argmax => &[ReduceFunction::ArgMax],
            Function::Argminmax => &[ReduceFunction::ArgMin, ReduceFunction::ArgMax],
        }
    }

    pub fn name(self) -> &'static str {
        match self.each() {
            [function] => function.name(),
            _ => "argminmax",
        }
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum IndexType {
    U8,
    U16,
    I32,
    U32,
    #[default]
    I64,
    U64,
    Auto,
}

/// At least one, and no more than there are CPUs. As the Python package has it.
fn threads(text: &str) -> Result<usize, String> {
    let all = available_parallelism().map_or(1, NonZero::get);
    match text.trim() {
        "all" | "-1" => Ok(all),
        count => match count.parse::<usize>() {
            Ok(count @ 1..) => Ok(count.min(all)),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => Ok(all),
            _ => Err("expected a whole number from 1 on, or all".into()),
        },
    }
}

/// At least one. Units are those of `ls -h`: `2M` and `2MiB` are the same, and `2MB` is not one of them.
fn bytes(text: &str) -> Result<usize, String> {
    let short = text.strip_suffix("iB").unwrap_or(text);
    let (digits, unit) = match short.chars().next_back() {
        Some('K' | 'k') => (&short[..short.len() - 1], 1 << 10),
        Some('M' | 'm') => (&short[..short.len() - 1], 1 << 20),
        Some('G' | 'g') => (&short[..short.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse().ok().and_then(|count: usize| count.checked_mul(unit)).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| {
        let units = "K, M or G may follow, which are powers of 1024";
        format!("expected a whole number of bytes from 1 to {}; {units}", usize::MAX)
    })
}

/// A list of its own, because clap would take an empty one for a forgotten value.
#[derive(Clone)]
pub struct Axes(pub Vec<isize>);

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let axis = |word: &str| {
            let axis = word.trim().parse();
            axis.map_err(|_| format!("'{word}' is not an axis: expected whole numbers, as in 0,-1"))
        };
        let words = text.split(',').filter(|_| !text.is_empty());
        words.map(axis).collect::<Result<_, _>>().map(Axes)
    }
}

/// What is asked; or nothing more than completions, which are printed.
pub fn parse() -> Result<Option<Arguments>, clap::Error> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // As other programs have it.
    for word in ["help", "version"] {
        if words.get(1).is_some_and(|first| first == word) {
            words.truncate(1);
            words.push(format!("--{word}").into());
        }
    }
    // Not a field: it is asked for alone, and all else is not needed then.
    let completions = Arg::new("completions").long("completions").value_name("SHELL").exclusive(true);
    let completions = completions.value_parser(value_parser!(Shell));
    let mut command = Arguments::command().arg(completions.help("Print completions for a shell, and do nothing else"));
    let matches = command.try_get_matches_from_mut(words)?;
    if let Some(&shell) = matches.get_one::<Shell>("completions") {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, "argreduce", &mut script);
        std::io::stdout().write_all(&script)?;
        return Ok(None);
    }
    Arguments::from_arg_matches(&matches).map(Some)
}

/// Prints what clap has to say: help at length, a mistake in one line.
pub fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Help that nobody waits for any more (`| head -1`) is no failure.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // The first paragraph is the mistake and what was allowed, the others are hints.
    let text = error.to_string();
    let mistake: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedValue].into_iter().find_map(|kind| error.get(kind));
    let hint = similar.map_or("try --help".into(), |similar| format!("did you mean '{similar}'?"));
    fail(&format!("{}; {hint}", mistake.join("\n")))
}

/// One line on standard error, whatever file names and libraries put into the message.
pub fn fail(message: &str) -> ExitCode {
    let words: Vec<&str> = message.lines().map(str::trim).collect();
    // Nowhere is left to complain to when this fails.
    let _ = writeln!(std::io::stderr(), "{}", words.join(" "));
    ExitCode::from(2)
}
