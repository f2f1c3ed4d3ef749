//! What the compiler says of a wrong argument: each file of `compile_fail/` is one, and ends with how the errors begin
//! that it has to lead to, and no others. Of what the compiler words, and not the library, little is asked, so that
//! another compiler may word it; after `..`, what it has to name.
//!
//! Not by the crate `trybuild`: that builds the library in a folder of its own, and so would check all kernels once
//! more. Here the compiler is given the library that this test was built with.

use argreduce_guard::is_slow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The newest build of a library, beside this program.
fn library(folder: &Path, name: &str) -> PathBuf {
    let built = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let is_it = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        file.strip_prefix("lib").is_some_and(|file| file.starts_with(&format!("{name}-")) && file.ends_with(".rlib"))
    };
    let files = folder.read_dir().unwrap().map(|file| file.unwrap().path());
    files.filter(is_it).max_by_key(built).unwrap_or_else(|| panic!("no {name} in {folder:?}"))
}

#[test]
fn wrong_arguments() {
    if is_slow() {
        return; // what the compiler says is not up to the machine
    }
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap();
    let library = |name| format!("{name}={}", library(folder, name).display());
    let [argreduce, ndarray] = ["argreduce", "ndarray"].map(library);
    let mut cases: Vec<_> =
        Path::new("tests/compile_fail").read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() > 5);
    for case in cases {
        let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
            .args(["--crate-type=lib", "--edition=2024", "--emit=metadata", "--out-dir", env!("CARGO_TARGET_TMPDIR")])
            .args(["--extern", &argreduce, "--extern", &ndarray, "-L"])
            .arg(format!("dependency={}", folder.display()))
            .arg(&case)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let source = std::fs::read_to_string(&case).unwrap();
        let expected: Vec<_> = source.lines().filter_map(|line| line.strip_prefix("//~ ")).collect();
        let errors: Vec<_> = said.lines().filter(|line| line.starts_with("error[")).collect();
        let is_right = |(error, expected): (&&str, &&str)| {
            let (start, named) = expected.split_once("..").unwrap_or((expected, ""));
            error.starts_with(start) && error.contains(named.trim())
        };
        let is_as_expected = errors.len() == expected.len() && errors.iter().zip(&expected).all(is_right);
        assert!(!expected.is_empty() && is_as_expected, "{}: instead of {expected:#?}\n{said}", case.display());
    }
}
