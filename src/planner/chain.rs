//! Which reduced loops are left to a kernel, where memory has them in another order than the index: sizes and strides
//! are all.

use super::nest::ReducedLoop;
use crate::MAX_RANK;

/// The fewest elements that are left to a partial answer where loops are split off for the order of memory: fewer take
/// longer to merge than to find far apart. Not measured.
const MIN_CHAIN_LEN: usize = 8;

/// How many contiguous elements are enough for columns whose rows are read in any order. Not measured.
const MIN_CONTIGUOUS_LEN: usize = 64;

/// Where there are fewer, how many times as many elements a chain must visit without the loop that is next to them in
/// memory. Not measured.
const NEAR_WEIGHT: usize = 4;

/// Which of the reduced loops (given in the order of the index) stay, as bits, where memory has them in another order:
/// those that visit the most elements of all that are in the order of both. `None` where there is nothing to gain.
///
/// Of the loops over the outputs, the sizes and strides are what is asked for.
pub(super) fn chain_in_memory_order(
    reduced: &[ReducedLoop],
    kept: impl Iterator<Item = (usize, isize)>,
) -> Option<u32> {
    let distance = |n: usize| reduced[n].1[0].unsigned_abs();
    if (1..reduced.len()).all(|n| distance(n - 1) >= distance(n)) {
        return None;
    }
    let nearest = (0..reduced.len()).min_by_key(|&n| distance(n))?;
    let inside = kept.filter(|&(_, stride)| stride != 0 && stride.unsigned_abs() < distance(nearest));
    let kept_run = inside.fold(1, |len: usize, (size, _)| len.saturating_mul(size));
    if kept_run >= MIN_CONTIGUOUS_LEN {
        return None;
    }
    // What walks the rows of a few columns one after another.
    let near = match reduced[nearest].0 {
        _ if kept_run > 1 => Some(nearest),
        0..MIN_CONTIGUOUS_LEN => (0..reduced.len()).filter(|&n| n != nearest).min_by_key(|&n| distance(n)),
        _ => None,
    };
    // Of each loop, the chain that ends with it and weighs most, how many elements it visits, and its loops as bits.
    let mut chains = [(0_usize, 0_usize, 0_u32); MAX_RANK];
    for n in 0..reduced.len() {
        let before = chains[..n].iter().enumerate().filter(|&(before, _)| distance(before) >= distance(n));
        let (weight, len, chain) = before.map(|(_, &chain)| chain).max().unwrap_or((1, 1, 0));
        let size = reduced[n].0;
        let weight = weight.saturating_mul(size).saturating_mul(if Some(n) == near { NEAR_WEIGHT } else { 1 });
        chains[n] = (weight, len.saturating_mul(size), chain | 1 << n);
    }
    let (_, len, chain) = chains.into_iter().max()?;
    (len >= MIN_CHAIN_LEN).then_some(chain)
}
