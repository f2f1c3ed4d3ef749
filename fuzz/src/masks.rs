//! Reductions of elements of which some are not there, by a mask in any format, against the reference: on every ISA,
//! with values, as partial answers, and with a mask that is too short.

use crate::check::with_index_type;
use crate::sample::Sample;
use crate::{Outcome, Problem, model};
use arbitrary::{Arbitrary, Result, Unstructured};
use argreduce::{ArgReduce, Error, Index, Isa, Layout, Mask, Partial, reference, with_element_type};
use argreduce_guard::{Edge, Guarded};

/// See the file.
pub fn masks(bytes: &[u8]) -> Outcome {
    let u = &mut Unstructured::new(bytes);
    let Ok((drawn, problem)) = draw(u) else { return Outcome::Rejected };
    with_index_type!(problem.index_type, I => {
        with_element_type!(problem.data_type, T => check::<T, I>(&drawn, &problem));
    });
    Outcome::Checked(problem.class() * 4 + u64::from(drawn.format % 4))
}

fn draw(u: &mut Unstructured<'_>) -> Result<(Drawn, Problem)> {
    Ok((Drawn::arbitrary(u)?, Problem::arbitrary(u)?))
}

/// What is there: bytes, over and over; and how it is said.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) format: u8,
    offset: u8,
    pattern: Vec<u8>,
}

impl<'a> Arbitrary<'a> for Drawn {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Drawn> {
        let (format, offset, kind, count): (u8, u8, u8, u8) = u.arbitrary()?;
        // All, nothing, or some.
        let pattern = match kind {
            0..30 => vec![0xff],
            30..60 => vec![0],
            _ => (0..1 + count % 16).map(|_| u.arbitrary()).collect::<Result<_>>()?,
        };
        Ok(Drawn { format, offset, pattern })
    }
}

/// A mask in every format: as many bits, bytes or bools, or at twice their strides and backwards.
pub(crate) struct Formats {
    pub(crate) offset: usize,
    pub(crate) bits: Guarded<u8>,
    pub(crate) bytes: Guarded<u8>,
    bools: Guarded<bool>,
    pub(crate) apart: Guarded<bool>,
    pub(crate) backwards: Layout,
}

impl Drawn {
    pub(crate) fn is_there(&self, n: usize) -> bool {
        self.pattern[n / 8 % self.pattern.len()] >> (n % 8) & 1 != 0
    }

    pub(crate) fn formats(&self, sizes: &[usize], edge: Edge) -> Formats {
        let packed = Layout::contiguous(sizes).expect("the sizes of a layout");
        let (count, offset) = (packed.element_count(), usize::from(self.offset) % 20);
        let mut bits = vec![self.offset; (count + offset).div_ceil(8)];
        for n in 0..count {
            let (byte, bit) = ((n + offset) / 8, 1 << ((n + offset) % 8));
            bits[byte] = bits[byte] & !bit | if self.is_there(n) { bit } else { 0 };
        }
        let bytes: Vec<u8> = (0..count).map(|n| if self.is_there(n) { self.offset | 1 } else { 0 }).collect();
        let bools: Vec<bool> = (0..count).map(|n| self.is_there(n)).collect();
        let strides: Vec<isize> = packed.strides().iter().map(|stride| stride * -2).collect();
        let last = 2 * count.saturating_sub(1);
        let backwards = Layout::strided(sizes, &strides, last).expect("twice as far as packed");
        let apart: Vec<bool> = (0..backwards.required_len()).map(|n| self.is_there((last - n) / 2)).collect();
        Formats {
            offset,
            bits: Guarded::copy_of(&bits, edge),
            bytes: Guarded::copy_of(&bytes, edge),
            bools: Guarded::copy_of(&bools, edge),
            apart: Guarded::copy_of(&apart, edge),
            backwards,
        }
    }

    pub(crate) fn mask<'a>(&self, formats: &'a Formats) -> Mask<'a> {
        match self.format % 4 {
            0 => Mask::bits(&formats.bits, formats.offset),
            1 => Mask::bytes(&formats.bytes),
            2 => Mask::bools(&formats.bools),
            _ => Mask::strided(&formats.apart, &formats.backwards),
        }
    }
}

fn check<T: Sample, I: Index>(drawn: &Drawn, problem: &Problem) {
    let Problem { order, ref layout, ref axes, edge, .. } = *problem;
    let (sizes, count) = (layout.sizes(), layout.element_count());
    let Some(reduced) = model::reduced(axes, sizes.len()).filter(|of| model::indices_fit(sizes, of, I::MAX)) else {
        return;
    };
    let input = Guarded::copy_of(&problem.data.elements::<T>(layout.required_len()), edge);
    let expected = reference::arg_reduce_masked(order, layout, &reduced, &input, |n| drawn.is_there(n));
    let formats = drawn.formats(sizes, edge);
    let masked = argreduce::input(&input[..]).masked(drawn.mask(&formats));

    let (function, direction, policy) = order;
    for isa in Isa::available() {
        let reduce = ArgReduce::new(function, layout).axes(axes).direction(direction).nan_policy(policy).isa(isa);
        let plan = reduce.fill(7).plan::<T, I>().expect("a model says that it is valid");
        let wanted: Vec<I> = expected.iter().map(|index| I::at(index.map_or(7, |n| n as isize), 0, 0)).collect();
        let mut indices = Guarded::filled(I::at(-77, 0, 0), expected.len(), edge);
        let mut values = Guarded::filled(T::default(), expected.len(), edge);
        plan.run(masked, (&mut indices[..], &mut values[..])).expect("slices are long enough");
        assert_eq!(*indices, *wanted, "{plan} of {problem:?}");
        let mut partials = vec![Partial::NONE; expected.len()];
        match plan.run(masked, &mut partials) {
            Ok(()) => {
                for (n, (partial, index)) in partials.iter().zip(&expected).enumerate() {
                    let found = (partial.index, partial.value.bits());
                    let index = index.map_or(I::NONE, |index| I::at(index as isize, 0, 0));
                    assert_eq!(found, (index, values[n].bits()), "{plan} of {problem:?}");
                }
            }
            Err(error) => assert!(matches!(error, Error::IndexTooLarge { .. }), "{error}"),
        }
        let result = reduce.plan::<T, I>().expect("as before").run(masked, &mut indices[..]);
        let is_missing = expected.iter().any(Option::is_none);
        assert_eq!(matches!(result, Err(Error::NothingThere { .. })), is_missing, "{plan}: {result:?}");
        if count > 0 && !expected.is_empty() {
            indices.fill(I::at(-77, 0, 0));
            let short = masked.masked(Mask::bools(&formats.bools[1..]));
            plan.run(short, &mut indices[..]).expect_err("the mask is too short");
            assert!(indices.iter().all(|&index| index == I::at(-77, 0, 0)), "{plan} wrote, and failed");
        }
    }
}
