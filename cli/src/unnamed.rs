//! A file that has no name until all is written into it. It must not know what is in it, nor whether others are ready.

use std::fs::File;
use std::io;
use std::path::Path;
use tempfile::TempPath;

/// A file without a name, which the system forgets with the process. Where there is no such thing, it has a name
/// that is removed.
pub struct Unnamed {
    pub file: File,
    path: Option<TempPath>,
}

impl Unnamed {
    pub fn create(folder: &Path) -> io::Result<Self> {
        if let Some(file) = nameless::create(folder)? {
            return Ok(Unnamed { file, path: None });
        }
        let (file, path) = builder().tempfile_in(folder)?.into_parts();
        Ok(Unnamed { file, path: Some(path) })
    }

    /// Fails if the name is taken.
    pub fn name(self, destination: &Path) -> io::Result<()> {
        match self.path {
            Some(path) => Ok(path.persist_noclobber(destination)?),
            None => nameless::link(&self.file, destination),
        }
    }

    /// A reader sees the old file or the new one, whole.
    pub fn replace(self, destination: &Path, folder: &Path) -> io::Result<()> {
        let path = match self.path {
            Some(path) => path,
            None => builder().make_in(folder, |path| nameless::link(&self.file, path))?.into_temp_path(),
        };
        Ok(path.persist(destination)?)
    }
}

#[cfg(unix)]
pub fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(MODE));
    builder
}

#[cfg(not(unix))]
pub fn builder() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

/// As of any new file: temporary ones are private, results are not.
#[cfg(unix)]
const MODE: u32 = 0o666;

#[cfg(target_os = "linux")]
mod nameless {
    use super::MODE;
    use rustix::fs::{AtFlags, CWD, OFlags, linkat};
    use std::fs::{File, OpenOptions};
    use std::io::{self, ErrorKind};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    /// None where the kernel or the disk does not have it.
    pub fn create(folder: &Path) -> io::Result<Option<File>> {
        let flags = OFlags::TMPFILE.bits() as i32;
        match OpenOptions::new().read(true).write(true).mode(MODE).custom_flags(flags).open(folder) {
            Ok(file) => Ok(Some(file).filter(|file| path(file).exists())),
            Err(error) => match error.kind() {
                ErrorKind::Unsupported | ErrorKind::IsADirectory | ErrorKind::InvalidInput => Ok(None),
                _ => Err(error),
            },
        }
    }

    pub fn link(file: &File, to: &Path) -> io::Result<()> {
        Ok(linkat(CWD, path(file), CWD, to, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn path(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub fn create(_: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    pub fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
