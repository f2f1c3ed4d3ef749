//! Bits as Arrow packs them, eight in a byte, the lowest first: where the first or the last one is, and bytes of them.
//! Knows nothing of Python.

/// Some bits, and which of them are there, if some are not. Both begin at the same bit of their first byte.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    bits: &'a [u8],
    there: Option<&'a [u8]>,
    /// Of the first bit, below 8.
    offset: usize,
    len: usize,
}

/// So many bytes are looked at together: by vectors, and none of them on its own, unless one has what is looked for.
const BLOCK: usize = 512;

impl<'a> Packed<'a> {
    /// So many bits from one on, of slices that have them.
    pub(crate) fn new(bits: &'a [u8], there: Option<&'a [u8]>, offset: usize, len: usize) -> Self {
        let bytes = offset / 8..(offset + len).div_ceil(8);
        Packed { bits: &bits[bytes.clone()], there: there.map(|there| &there[bytes]), offset: offset % 8, len }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first or the last place at which something is: `of` tells of eight bits, and of those that say which are
    /// there, at which of them.
    pub(crate) fn find(&self, last: bool, of: impl Fn(u8, u8) -> u8) -> Option<usize> {
        let all = [0xFF; BLOCK];
        let in_block = |block: usize| {
            let start = block * BLOCK;
            let bits = &self.bits[start..self.bits.len().min(start + BLOCK)];
            let there = self.there.map_or(&all[..], |there| &there[start..]);
            if bits.iter().zip(there).fold(0, |any, (&bits, &there)| any | of(bits, there)) == 0 {
                return None;
            }
            let in_byte = |n: usize| {
                let found = of(bits[n], there[n]) & self.inside(start + n);
                let bit = if last { 7_u32.wrapping_sub(found.leading_zeros()) } else { found.trailing_zeros() };
                (found != 0).then(|| 8 * (start + n) + bit as usize - self.offset)
            };
            if last { (0..bits.len()).rev().find_map(in_byte) } else { (0..bits.len()).find_map(in_byte) }
        };
        let blocks = self.bits.len().div_ceil(BLOCK);
        if last { (0..blocks).rev().find_map(in_block) } else { (0..blocks).find_map(in_block) }
    }

    /// Those bits of a byte that are among these.
    fn inside(&self, byte: usize) -> u8 {
        let from_first = if byte == 0 { 0xFF << self.offset } else { 0xFF };
        match self.offset + self.len - 8 * byte {
            end @ 0..8 => from_first & !(0xFF << end),
            _ => from_first,
        }
    }

    /// Writes each bit as a byte of 0 or 1.
    pub(crate) fn unpack(&self, to: &mut [u8]) {
        for (n, to) in to[..self.len].chunks_mut(8).enumerate() {
            let next = self.bits.get(n + 1).map_or(0, |&next| u16::from(next) << 8);
            let byte = ((next | u16::from(self.bits[n])) >> self.offset) as u8;
            // Bit n of the n-th byte, and then 1 where it is set.
            let apart = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
            let bytes = (((apart + 0x7F7F_7F7F_7F7F_7F7F) >> 7) & 0x0101_0101_0101_0101).to_le_bytes();
            match <&mut [u8; 8]>::try_from(&mut *to) {
                Ok(to) => *to = bytes,
                Err(_) => to.copy_from_slice(&bytes[..to.len()]),
            }
        }
    }
}
