//! The header is the one that cbindgen writes from the code.

#[test]
fn header_is_up_to_date() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap())
        .with_src(root.join("src/api/codes.rs"))
        .with_src(root.join("src/api/desc.rs"))
        .with_src(root.join("src/api/mod.rs"));
    let mut written = Vec::new();
    builder.generate().unwrap().write(&mut written);
    // Rust has a fixed heading for this, C has none.
    let written = String::from_utf8(written).unwrap().replace("// # Safety\n// ", "// The caller promises: ");
    let path = root.join("include/argreduce.h");
    if std::env::var_os("ARGREDUCE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        checked_in == written,
        "include/argreduce.h is out of date: ARGREDUCE_WRITE_HEADER=1 cargo test -p argreduce-capi header"
    );
}
