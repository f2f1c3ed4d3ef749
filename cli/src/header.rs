//! The header of a `.npy` file, versions 1 to 3: bytes to dtype, order and sizes. It must not know what the elements
//! are for.
//!
//! npyz can read headers too, but takes them for any Python literal: twenty brackets keep it busy for a minute, and a
//! shape that overflows panics or wraps around. A header has three keys of known form, so that is all that is read
//! here.

use anyhow::{Context, Result, anyhow, bail, ensure};
use argreduce::MAX_RANK;
use npyz::TypeStr;
use std::borrow::Cow;
use std::io::Read;

pub struct Header {
    pub dtype: TypeStr,
    pub fortran_order: bool,
    pub sizes: Vec<usize>,
}

/// What is said of a dtype that is not supported.
pub const NO_DTYPE: &str = "none of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 and bool";

/// What each file begins with, before two bytes of version.
const MAGIC: &[u8; 6] = b"\x93NUMPY";
const START: u64 = MAGIC.len() as u64 + 2;

const ENDS: &str = "the file ends within its header";

/// Far more than any header needs, and little enough for any memory.
const MAX_LENGTH: u64 = 1 << 22;

/// Reads as far as the header goes.
pub fn read(file: &mut dyn Read) -> Result<Header> {
    let start = up_to(file, START)?;
    ensure!(!start.starts_with(b"PK"), "an archive, as .npz is, and not a .npy file: extract the array that is meant");
    // As many of them as there are: so a short file of something else does not pass for a header without an end.
    ensure!(start.iter().zip(MAGIC).all(|(found, magic)| found == magic), "not a .npy file");
    ensure!(start.len() as u64 == START, ENDS);
    let version = &start[MAGIC.len()..];
    let digits = match version {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        _ => bail!("the version of the .npy format is {version:?}, known are 1.0, 2.0 and 3.0"),
    };
    let length = take(file, digits)?.iter().rfold(0, |length, &digit| length << 8 | u64::from(digit));
    ensure!(length <= MAX_LENGTH, "a header of {length} bytes: at most {MAX_LENGTH} are allowed");
    let text = String::from_utf8(take(file, length)?).context("the header is not text")?;
    Text(&text).header()
}

/// So many bytes.
fn take(file: &mut dyn Read, length: u64) -> Result<Vec<u8>> {
    let bytes = up_to(file, length)?;
    ensure!(bytes.len() as u64 == length, ENDS);
    Ok(bytes)
}

/// So many bytes, or as many as there are. A false number costs no memory: the buffer grows with what is there.
fn up_to(file: &mut dyn Read, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is left of the header's text.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn header(mut self) -> Result<Header> {
        let (mut dtype, mut fortran_order, mut sizes) = (None, None, None);
        self.expect("{")?;
        while !self.eat("}") {
            let key = self.quoted().ok_or_else(|| self.unlike("a key in quotes"))?;
            self.expect(":")?;
            match key {
                "descr" => dtype = Some(self.dtype()?),
                "fortran_order" => fortran_order = Some(self.boolean()?),
                "shape" => sizes = Some(self.sizes()?),
                _ => bail!("the header has an unknown key {key:?}"),
            }
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        ensure!(self.0.trim().is_empty(), self.unlike("nothing more"));
        Ok(Header {
            dtype: dtype.context("the header has no 'descr'")?,
            fortran_order: fortran_order.context("the header has no 'fortran_order'")?,
            sizes: sizes.context("the header has no 'shape'")?,
        })
    }

    fn dtype(&mut self) -> Result<TypeStr> {
        let is_structured = self.0.trim_start().starts_with(['[', '(']);
        ensure!(!is_structured, "dtype {} is structured, and so {NO_DTYPE}", beginning(self.value()));
        let text = self.quoted().ok_or_else(|| self.unlike("a dtype in quotes"))?;
        text.parse().map_err(|_| anyhow!("dtype '{}' is {NO_DTYPE}", beginning(text)))
    }

    fn boolean(&mut self) -> Result<bool> {
        let value = self.eat("True");
        ensure!(value || self.eat("False"), self.unlike("True or False"));
        Ok(value)
    }

    fn sizes(&mut self) -> Result<Vec<usize>> {
        let mut sizes = Vec::new();
        self.expect("(")?;
        while !self.eat(")") {
            sizes.push(self.size()?);
            // Python 2 wrote (3L, 4L).
            self.eat("L");
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        ensure!(sizes.len() <= MAX_RANK, "the shape has {} axes: at most {MAX_RANK} are allowed", sizes.len());
        // NumPy's own rule, which holds for arrays without elements too.
        let product = sizes.iter().try_fold(1_usize, |n, &size| n.checked_mul(size.max(1)));
        ensure!(product.is_some(), "shape {sizes:?} has more elements than can be counted");
        Ok(sizes)
    }

    fn size(&mut self) -> Result<usize> {
        let text = self.0.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        ensure!(!digits.is_empty(), self.unlike("a size"));
        self.0 = rest;
        let too_large = || format!("size {} is too large: at most {} can be counted", beginning(digits), usize::MAX);
        digits.parse().with_context(too_large)
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let quote = ["'", "\""].into_iter().find(|quote| self.eat(quote))?;
        let (text, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        Some(text)
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start().strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        ensure!(self.eat(token), self.unlike(token));
        Ok(())
    }

    fn unlike(&self, expected: &str) -> anyhow::Error {
        anyhow!("the header should have {expected} where it has {:?}", beginning(self.value()))
    }

    /// What comes next, to its end: a comma, a colon or a bracket that is outside of quotes and of its own brackets.
    fn value(&self) -> &'a str {
        let text = self.0.trim();
        let (mut depth, mut quote) = (0_usize, None);
        for (at, c) in text.char_indices() {
            match c {
                _ if quote.is_some() => quote = quote.filter(|&open| open != c),
                '\'' | '"' => quote = Some(c),
                '(' | '[' | '{' => depth += 1,
                // A bracket, too, may be what is not expected.
                ')' | ']' | '}' | ',' | ':' if depth == 0 => return text[..at.max(c.len_utf8())].trim_end(),
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
        }
        text
    }
}

/// As much as a message can take.
fn beginning(text: &str) -> Cow<'_, str> {
    text.char_indices().nth(30).map_or(text.into(), |(end, _)| format!("{}...", &text[..end]).into())
}
