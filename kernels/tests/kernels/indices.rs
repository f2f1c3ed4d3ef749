//! Indices from positions, of every width on every ISA: against the plain formula, and nothing beyond the slices.

use crate::is_exercised;
use argreduce_guard::{Edge, Guarded, few};
use argreduce_kernels::{Affine, IndexBits, Isa, OutputWriter};
use std::fmt::Debug;

fn check<I: IndexBits + Debug + PartialEq + TryFrom<u64> + Default>(isa: Isa, largest: u64) {
    let writer = OutputWriter::of(isa).unwrap();
    // Around the length of a vector and of several, and from every place in one.
    let vector = 64 / size_of::<I>();
    for len in few(0..2 * vector + 3, 7).chain([4 * vector + 1, 17 * vector + vector / 2]) {
        let last = len.saturating_sub(1) as u64;
        let steps = [
            (0, 1),
            (3, 1),
            (largest.saturating_sub(last), 1),
            (last.min(largest), -1),
            (largest, -1),
            (1, 2),
            (largest, -3),
            (5, 0),
        ];
        for (start, step) in steps {
            // No further than indices fit.
            let wrap = if step == 0 {
                u64::MAX
            } else {
                (if step < 0 { start } else { largest - start }) / i64::unsigned_abs(step)
            };
            let positions: Vec<u32> = (0..len as u64).map(|n| (n * 7919 % 4096).min(wrap) as u32).collect();
            let map = Affine { start: start as u32, step: step as isize };
            let expected: Vec<I> = positions
                .iter()
                .map(|&position| (start as i64 + i64::from(position) * step) as u64)
                .map(|index| I::try_from(index).unwrap_or_else(|_| panic!("{index} does not fit")))
                .collect();
            for edge in Edge::ALL {
                let positions = Guarded::copy_of(&positions, edge);
                for skipped in few(0..vector.min(len + 1), 5) {
                    let mut indices = Guarded::filled(I::default(), len, edge);
                    writer.write(map, &positions[skipped..], &mut indices[skipped..]);
                    assert_eq!(indices[..skipped], vec![I::default(); skipped], "{isa}: {len} from {skipped}");
                    assert_eq!(indices[skipped..], expected[skipped..], "{isa}: {len} from {skipped}, {map:?}");
                    // And in their place, as far as they fit there.
                    let narrow: Result<Vec<I>, _> =
                        positions.iter().map(|&position| I::try_from(position.into())).collect();
                    let Ok(narrow) = narrow else {
                        continue;
                    };
                    let mut indices = Guarded::copy_of(&narrow, edge);
                    writer.write_in_place(map, &mut indices[skipped..]);
                    assert_eq!(indices[..skipped], narrow[..skipped], "{isa}: {len} from {skipped}, in place");
                    assert_eq!(
                        indices[skipped..],
                        expected[skipped..],
                        "{isa}: {len} from {skipped}, {map:?}, in place"
                    );
                }
            }
        }
    }
}

#[test]
fn indices() {
    for isa in Isa::available() {
        assert!(is_exercised(isa));
        check::<u8>(isa, u8::MAX.into());
        check::<u16>(isa, u16::MAX.into());
        check::<u32>(isa, u32::MAX.into());
        check::<u64>(isa, u32::MAX.into());
    }
    // No writer for what is not there.
    for isa in Isa::ALL {
        assert_eq!(OutputWriter::of(isa).is_some(), isa.is_available(), "{isa}");
    }
}
