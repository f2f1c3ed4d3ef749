//! The files a run leaves behind: all of them, or none, however it ends. It must not know what is in them.

use crate::signals;
use crate::unnamed::{self, Unnamed};
use anyhow::{Context, Result, ensure};
use same_file::Handle;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

/// What happens to a file that is there already.
#[derive(Clone, Copy, PartialEq)]
pub enum Existing {
    Refuse,
    Replace,
    /// It stays if it holds what would be written, and is refused otherwise. A folder that is missing is made.
    Keep,
}

/// Where an output is written to. Its errors name it.
pub struct Writer {
    name: String,
    file: File,
}

/// Outputs that do not have their names yet, and vanish unless [`persist`](Outputs::persist) is called.
pub struct Outputs {
    existing: Existing,
    inputs: Vec<Handle>,
    /// What no other output may be.
    taken: Vec<Handle>,
    /// What goes to standard output, once all is there: it cannot be taken back.
    stdout: Option<File>,
    names: Vec<String>,
    /// Shared with the thread that waits for signals.
    files: Arc<Mutex<Vec<Output>>>,
}

/// What standard output is called. The others lead to it as links, and to nothing with a name if it is a pipe.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

const TWICE: &str = "this is another output already";

struct Output {
    /// For messages.
    name: String,
    place: Place,
    file: Unnamed,
    /// What is there already is the same, and stays.
    stays: bool,
}

impl Outputs {
    /// `inputs` are never replaced.
    pub fn new(existing: Existing, inputs: Vec<Handle>) -> Result<Self> {
        let files = Arc::new(Mutex::new(Vec::new()));
        let watched = Arc::clone(&files);
        let clean = move || {
            let mut files = lock(&watched);
            files.clear();
            // Locked for good: no file is made any more, and none gets a name.
            std::mem::forget(files);
        };
        signals::clean_up_by(clean).context("signals cannot be caught")?;
        Ok(Outputs { existing, inputs, taken: Vec::new(), stdout: None, names: Vec::new(), files })
    }

    /// Takes this path for an output, or standard output for `-` and its like, before there is anything to write.
    /// `option` is what the user knows it by.
    pub fn open(&mut self, option: &str, path: &Path) -> Result<Writer> {
        let name = format!("{option} {}", path.display());
        let is_stdout = STDOUT.iter().any(|name| path == Path::new(name));
        let file = if is_stdout { self.open_stdout() } else { self.open_file(&name, path) };
        self.names.push(path.display().to_string());
        Ok(Writer { file: file.with_context(|| name.clone())?, name })
    }

    fn open_stdout(&mut self) -> Result<File> {
        ensure!(self.stdout.is_none(), TWICE);
        let is_shown = io::stdout().is_terminal() && self.existing != Existing::Replace;
        ensure!(
            !is_shown,
            "standard output is a terminal, and only --force writes bytes there: name a file, or a pipe"
        );
        let stdout = Handle::stdout()?;
        // A terminal or /dev/null may be both.
        if stdout.as_file().metadata()?.is_file() {
            self.take(stdout)?;
        }
        let file = tempfile::tempfile().context("a temporary file")?;
        self.stdout = Some(file.try_clone()?);
        Ok(file)
    }

    fn open_file(&mut self, name: &str, path: &Path) -> Result<File> {
        let place = Place::of(path, self.existing == Existing::Keep)?;
        if place.exists {
            self.take(Handle::from_path(&place.destination)?)?;
            ensure!(self.existing != Existing::Refuse, "there already, and only --force replaces it");
        }
        // Locked, so that a signal does not come between a file and its entry in the list.
        let mut files = lock(&self.files);
        ensure!(files.iter().all(|file| file.place.destination != place.destination), TWICE);
        let file = Unnamed::create(&place.folder)?;
        let writer = file.file.try_clone()?;
        files.push(Output { name: name.into(), place, file, stays: false });
        Ok(writer)
    }

    fn take(&mut self, handle: Handle) -> Result<()> {
        ensure!(!self.inputs.contains(&handle), "this is an input, which is never replaced");
        ensure!(!self.taken.contains(&handle), TWICE);
        self.taken.push(handle);
        Ok(())
    }

    /// Called when all is written.
    pub fn finish(&self) -> Result<()> {
        for index in 0.. {
            let files = lock(&self.files);
            let Some(output) = files.get(index) else { break };
            let (name, file) = (output.name.clone(), output.file.file.try_clone()?);
            // Writing may take long.
            drop(files);
            self.finish_file(index, file).context(name)?;
        }
        Ok(())
    }

    fn finish_file(&self, index: usize, mut file: File) -> Result<()> {
        // Some disks tell only now that they are full.
        file.sync_data()?;
        let output = &mut lock(&self.files)[index];
        if self.existing == Existing::Keep && output.place.exists {
            file.rewind()?;
            let mut wanted = Vec::new();
            file.read_to_end(&mut wanted)?;
            output.stays = fs::read(&output.place.destination)? == wanted;
            ensure!(output.stays, "there already, with other content, and not replaced: move it away first");
        }
        Ok(())
    }

    /// Prints the report, the one answer if there is one, and what goes to standard output: before files appear, so
    /// that it can fail like any of them (a closed pipe, a full disk).
    ///
    /// Standard output has the file that goes there, or else the answer, or else the report. What it does not have
    /// goes to standard error.
    pub fn print(&mut self, report: &str, answer: Option<&str>) -> Result<()> {
        let files = if self.names.is_empty() { String::new() } else { format!("files: {}\n", self.names.join(", ")) };
        let (report, answer) = (format!("{report}\n{files}"), answer.map(|answer| format!("{answer}\n")));
        let file = self.stdout.take();
        let (told, shown) = match (&file, answer) {
            (Some(_), answer) => (report + &answer.unwrap_or_default(), String::new()),
            (None, Some(answer)) => (report, answer),
            (None, None) => (String::new(), report),
        };
        io::stderr().write_all(told.as_bytes()).context("standard error")?;
        let show = || {
            let mut stdout = io::stdout().lock();
            stdout.write_all(shown.as_bytes())?;
            if let Some(mut file) = file {
                file.rewind()?;
                io::copy(&mut file, &mut stdout)?;
            }
            stdout.flush()
        };
        show().context("standard output")
    }

    /// Gives the files their names. Should one of them be refused, what was done before is undone.
    pub fn persist(self) -> Result<()> {
        // Locked, so that a signal waits until all is done.
        let mut files = lock(&self.files);
        let mut done = Vec::new();
        let mut files = files.drain(..).peekable();
        while let Some(Output { name, place, file, stays }) = files.next() {
            if !stays && let Err(error) = place.fill(file, files.peek().is_some(), &mut done) {
                done.into_iter().rev().for_each(Undo::run);
                return Err(error).context(name);
            }
        }
        Ok(())
    }
}

impl Writer {
    /// The same file, to be read from this place on.
    pub fn read_from(&self, place: u64) -> io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.seek(io::SeekFrom::Start(place))?;
        Ok(file)
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let error = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.name));
        self.file.write(bytes).map_err(error)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        // The thread would keep them.
        lock(&self.files).clear();
    }
}

/// What a panic in another thread left is still a list of files.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a file will be.
struct Place {
    destination: PathBuf,
    /// Where it is until then: its own folder, so that the last step is only a new name; or, while that is missing, the
    /// folder above.
    folder: PathBuf,
    exists: bool,
}

impl Place {
    /// Absolute, and without links. Refuses what a new name would destroy: directories, devices, pipes.
    fn of(path: &Path, makes_folder: bool) -> Result<Self> {
        let exists = match fs::symlink_metadata(path) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error.into()),
        };
        if exists {
            let what = fs::metadata(path).context("a link that leads nowhere")?;
            ensure!(what.is_file(), "not a regular file (- is standard output)");
            let destination = path.canonicalize().context("a link to a file without a name")?;
            let folder = folder_of(&destination).to_path_buf();
            return Ok(Place { destination, folder, exists });
        }
        let ends_as_folder = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
        let name = path.file_name().filter(|_| !ends_as_folder).context("not the name of a file")?;
        let own = folder_of(path);
        if makes_folder && !own.exists() {
            let folder = folder_of(own).canonicalize()?;
            let destination = folder.join(own.file_name().context("not the name of a folder")?).join(name);
            return Ok(Place { destination, folder, exists });
        }
        let folder = own.canonicalize()?;
        Ok(Place { destination: folder.join(name), folder, exists })
    }

    /// Gives the file its name, and tells how to undo that if there is `more` that may be refused.
    fn fill(&self, file: Unnamed, more: bool, done: &mut Vec<Undo>) -> io::Result<()> {
        let own = folder_of(&self.destination);
        if own != self.folder {
            match fs::create_dir(own) {
                Ok(()) => done.push(Undo::NewFolder(own.into())),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        let to = || self.destination.clone();
        if !self.exists {
            file.name(&self.destination)?;
            done.push(Undo::New(to()));
            return Ok(());
        }
        // Not every disk can give a second name.
        let second_name =
            || unnamed::builder().make_in(&self.folder, |path| fs::hard_link(&self.destination, path)).ok();
        let old = if more { second_name() } else { None };
        file.replace(&self.destination, &self.folder)?;
        done.extend(old.map(|old| Undo::Replaced(old.into_temp_path(), to())));
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// What was done, as long as it may have to be undone.
enum Undo {
    NewFolder(PathBuf),
    New(PathBuf),
    /// The second name of the old file, and its first one.
    Replaced(TempPath, PathBuf),
}

impl Undo {
    fn run(self) {
        // The refusal that led here is what the user has to hear of, not what follows from it.
        let _ = match self {
            Undo::NewFolder(path) => fs::remove_dir(path),
            Undo::New(path) => fs::remove_file(path),
            Undo::Replaced(old, path) => old.persist(path).map_err(io::Error::from),
        };
    }
}
