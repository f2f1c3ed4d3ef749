//! Where an array comes from: a file, or standard input. It must not know what is in it.

use anyhow::{Context, Result, ensure};
use same_file::Handle;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

pub struct Input {
    /// For messages.
    pub name: String,
    pub source: Source,
}

/// What a run reads.
pub struct Inputs {
    pub array: Input,
    pub mask: Option<Input>,
    /// Which files they are, whatever they are called.
    pub handles: Vec<Handle>,
}

/// What standard input is called.
const STDIN: &str = "-";

impl Inputs {
    pub fn open(array: &Path, mask: Option<&Path>) -> Result<Self> {
        let (array, handle) = Input::open("", array)?;
        let mut inputs = Inputs { array, mask: None, handles: vec![handle] };
        if let Some(path) = mask {
            let (mask, handle) = Input::open("--mask ", path)?;
            // What one of them reads, the other would not.
            let is_shared = inputs.handles.contains(&handle) && (path == Path::new(STDIN) || mask.source.is_pipe);
            ensure!(!is_shared, "{}: the array comes from there already", mask.name);
            inputs.handles.push(handle);
            inputs.mask = Some(mask);
        }
        Ok(inputs)
    }
}

impl Input {
    fn open(option: &str, path: &Path) -> Result<(Self, Handle)> {
        let is_stdin = path == Path::new(STDIN);
        let name = if is_stdin { "standard input".to_string() } else { path.display().to_string() };
        let name = format!("{option}{name}");
        let open = || {
            let handle = if is_stdin { Handle::stdin()? } else { Handle::from_file(File::open(path)?)? };
            let source = Source::new(handle.as_file().try_clone()?)?;
            io::Result::Ok((handle, source))
        };
        let (handle, source) = open().with_context(|| name.clone())?;
        Ok((Input { name, source }, handle))
    }
}

/// Bytes that come one after another, or, in a file, in any order. Read and not mapped, so that a file that others cut
/// short is an error.
pub struct Source {
    file: File,
    /// How many bytes are before the next one, from where the file stood at first.
    position: u64,
    is_pipe: bool,
}

impl Source {
    pub fn new(file: File) -> io::Result<Self> {
        let is_pipe = !file.metadata()?.is_file();
        Ok(Source { file, position: 0, is_pipe })
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes there are from where the file stood at first; of a pipe, nobody knows.
    pub fn len(&mut self) -> io::Result<Option<u64>> {
        if self.is_pipe {
            return Ok(None);
        }
        let first = self.file.stream_position()?.saturating_sub(self.position);
        Ok(Some(self.file.metadata()?.len().saturating_sub(first)))
    }

    /// From now on, the next `len` bytes may be read in any order: those of a pipe are copied to a temporary file.
    pub fn keep(&mut self, len: u64) -> Result<()> {
        if self.is_pipe {
            let mut file = tempfile::tempfile().context("a temporary file")?;
            io::copy(&mut (&self.file).take(len), &mut file).context("copied to a temporary file")?;
            file.rewind()?;
            (self.file, self.is_pipe) = (file, false);
        }
        Ok(())
    }

    /// Reads from that position on, and tells how many bytes there were: fewer than asked for at the end only.
    pub fn read_at(&mut self, position: u64, bytes: &mut [u8]) -> io::Result<usize> {
        if position != self.position {
            self.file.seek_relative(position as i64 - self.position as i64)?;
            self.position = position;
        }
        let mut count = 0;
        while count < bytes.len() {
            match self.read(&mut bytes[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
        self.position += count as u64;
        Ok(count)
    }
}
