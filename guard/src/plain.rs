//! Where there are no pages to protect: memory as any other.

/// Words on the heap.
#[derive(Default)]
pub(crate) struct Region {
    words: Vec<u128>,
}

impl Region {
    pub(crate) const ALIGNMENT: usize = align_of::<u128>();

    pub(crate) fn new(bytes: usize) -> Region {
        Region { words: vec![0; bytes.div_ceil(size_of::<u128>())] }
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len() * size_of::<u128>()
    }
}
