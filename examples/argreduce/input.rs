//! Where the array comes from: a file, or standard input. It must not know what is in it.

use anyhow::{Context, Result};
use same_file::Handle;
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub struct Input {
    /// For messages.
    pub name: String,
    /// Which file it is, whatever it is called.
    pub handle: Handle,
    pub bytes: Box<dyn Read>,
}

impl Input {
    /// `-` is standard input.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let name = "standard input".to_string();
            let handle = Handle::stdin().context("standard input")?;
            return Ok(Input { name, handle, bytes: Box::new(std::io::stdin().lock()) });
        }
        let name = path.display().to_string();
        let open = || {
            let file = File::open(path)?;
            Ok((Handle::from_file(file.try_clone()?)?, Box::new(file)))
        };
        let (handle, bytes) = open().map_err(|error: std::io::Error| error).with_context(|| name.clone())?;
        Ok(Input { name, handle, bytes })
    }
}
