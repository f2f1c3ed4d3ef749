//! Segments of any lengths, by any call, against the reference; and offsets that are any numbers.

use crate::case::{Asked, Format, Sample};
use crate::executor::{WIDTHS, Way};
use crate::outcome::Outcome;
use crate::ragged::Ragged;
use arbitrary::{Arbitrary, Result, Unstructured};
use argreduce::{
    ArgReduce, AxisDirection, DataType, Error, Isa, NanPolicy, ReduceFunction, Segments, with_element_type,
};
use argreduce_guard::Edge;

/// See the file.
pub fn segments(bytes: &[u8]) -> Outcome {
    let u = &mut Unstructured::new(bytes);
    match u.arbitrary() {
        Ok(kind) if kind < 32_u8 => offsets(u).map_or(Outcome::Rejected, Outcome::Checked),
        Ok(kind) => ragged(u, kind).map_or(Outcome::Rejected, Outcome::Checked),
        Err(_) => Outcome::Rejected,
    }
}

/// Any numbers: refused, or answered; and where they lead beyond the input, the first segment that does is named.
fn offsets(u: &mut Unstructured<'_>) -> Result<u64> {
    let (is_sorted, len, mut offsets): (bool, u8, Vec<i64>) = u.arbitrary()?;
    let len = usize::from(len);
    if is_sorted {
        offsets.iter_mut().for_each(|offset| *offset = offset.rem_euclid(2 * len as i64 + 1));
        offsets.sort();
    }
    let is_right = |n: usize| offsets[n] >= if n == 0 { 0 } else { offsets[n - 1] };
    let segments = match ((0..offsets.len()).find(|&n| !is_right(n)), Segments::new(&offsets)) {
        (None, Ok(segments)) => segments,
        (None, Err(error)) => {
            assert!(matches!(error, Error::TooShort { .. }) && offsets.is_empty(), "{error} of {offsets:?}");
            return Ok(0);
        }
        (Some(first), found) => {
            let Err(Error::OffsetOutOfRange { position, offset, .. }) = found else { panic!("{found:?}") };
            assert_eq!((position, offset), (first, offsets[first] as isize));
            return Ok(1);
        }
    };
    let plan = ArgReduce::argmax(&segments).fill(0).plan_segments::<u8, u64>().expect("any index fits");
    let mut indices = vec![77; offsets.len() - 1];
    let beyond = offsets.iter().position(|&offset| offset as usize > len);
    match (plan.run(&vec![0; len], &mut indices), beyond) {
        (Ok(()), None) => assert_eq!(indices, vec![0; offsets.len() - 1]),
        (Err(error), Some(first)) => {
            let Error::OffsetOutOfRange { position, offset, max, .. } = error else { panic!("{error}") };
            assert_eq!((position, offset, max), (first, offsets[first] as isize, len));
            assert!(indices.iter().all(|&index| index == 77));
        }
        found => panic!("{found:?} of {offsets:?}"),
    }
    Ok(2 + u64::from(beyond.is_some()))
}

fn ragged(u: &mut Unstructured<'_>, kind: u8) -> Result<u64> {
    let (order, mask, place, way, what, seed): (u8, u8, u8, u8, u8, u8) = u.arbitrary()?;
    let (long, lens): (Option<u16>, Vec<u8>) = u.arbitrary()?;
    let mut lens: Vec<usize> = lens.into_iter().map(|len| usize::from(len) / usize::from(1 + seed % 32)).collect();
    // Longer than what is copied at a time.
    lens.extend(long.map(|len| usize::from(len) % 10_000));
    let (isas, place) = (Isa::available().collect::<Vec<_>>(), usize::from(place));
    let formats = [
        Format::Bits(place % 20),
        Format::Bools,
        Format::Bytes,
        Format::Strided,
        Format::BytesStrided,
        Format::Broadcast(0),
    ];
    // Those that take their time, or need threads where there are none, are left out.
    let ways = if cfg!(target_family = "wasm") { 4 } else { 7 };
    let offset_types = [DataType::U32, DataType::I32, DataType::I64, DataType::U64, DataType::F32];
    let data_type = DataType::ALL[usize::from(kind) % DataType::ALL.len()];
    let ragged = Ragged {
        around: [place % 3, usize::from(seed) % 5],
        lens,
        order: (
            ReduceFunction::ALL[usize::from(order & 1)],
            AxisDirection::ALL[usize::from(order >> 1 & 1)],
            NanPolicy::ALL[usize::from(order >> 2 & 1)],
        ),
        is_both: order & 8 != 0,
        is_absolute: order & 16 != 0,
        fill: (order & 32 != 0).then_some(i64::from(seed)),
        mask: (mask % 2 == 0).then(|| formats[usize::from(mask / 2) % 6]),
        executor: (way % 2 == 0)
            .then(|| (Way::ALL[usize::from(way / 2) % ways], WIDTHS[usize::from(seed) % WIDTHS.len()])),
        key: crate::check::key_of(data_type, what / 4),
        asked: [Asked::Indices, Asked::Values, Asked::Mixed][usize::from(what % 4) % 3],
        isa: isas[usize::from(what / 4) % isas.len()],
        offset_type: offset_types[usize::from(kind) % 5],
        edge: Edge::ALL[usize::from(order >> 6 & 1)],
    };
    let drawn: Vec<u8> = Vec::arbitrary(u)?;
    let at = |n: usize| if drawn.is_empty() { 0 } else { drawn[n % drawn.len()] };
    with_element_type!(data_type, T => check::<T>(&ragged, &at));
    Ok(4 + u64::from(order) * 64 + u64::from(mask % 12) * 4 + u64::from(what % 4))
}

fn check<T: Sample>(ragged: &Ragged, at: &dyn Fn(usize) -> u8) {
    let x: Vec<T> = (0..ragged.len()).map(|n| T::SPECIAL[usize::from(at(n)) % T::SPECIAL.len()]).collect();
    let there: Vec<bool> = (0..x.len()).map(|n| at(n / 3) >> (n % 8) & 1 != 0).collect();
    ragged.check::<T, u32>(&x, &there);
}
