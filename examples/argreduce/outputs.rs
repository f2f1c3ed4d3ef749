//! The files a run leaves behind: all of them, or none. It must not know what is in them.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Files that are complete but do not have their names yet, and vanish unless [`persist`](Outputs::persist) is called.
#[derive(Default)]
pub struct Outputs(Vec<Output>);

struct Output {
    name: String,
    destination: PathBuf,
    file: NamedTempFile,
}

impl Outputs {
    pub fn stage(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let name = path.display().to_string();
        let output = self.write(path, bytes).with_context(|| name.clone())?;
        let (destination, file) = output;
        self.0.push(Output { name, destination, file });
        Ok(())
    }

    /// Next to where it will end up, so that the last step is only a new name.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(PathBuf, NamedTempFile)> {
        let destination = resolve(path)?;
        let taken = self.0.iter().any(|output| output.destination == destination);
        ensure!(!taken, "the name of two outputs");
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        // As of any new file: temporary ones are private, results are not.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(destination.parent().unwrap_or(Path::new("/")))?;
        file.write_all(bytes)?;
        Ok((destination, file))
    }

    /// The names as the user gave them.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|output| output.name.as_str()).collect();
        names.join(", ")
    }

    /// Gives the files their names. Should one of them be refused, those before it are taken back.
    pub fn persist(self) -> Result<()> {
        let mut done = Vec::new();
        for output in self.0 {
            if let Err(error) = output.file.persist(&output.destination) {
                for destination in &done {
                    // The refusal is what the user has to hear of, not what follows from it.
                    let _ = fs::remove_file(destination);
                }
                return Err(error.error).context(output.name);
            }
            done.push(output.destination);
        }
        Ok(())
    }
}

/// The absolute path, whether or not the file exists. Refuses what a new name would destroy: directories, devices, pipes.
fn resolve(path: &Path) -> Result<PathBuf> {
    if path.exists() {
        ensure!(path.is_file(), "not a regular file");
        return Ok(path.canonicalize()?);
    }
    let name = path.file_name().context("not the name of a file")?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    Ok(folder.canonicalize()?.join(name))
}
