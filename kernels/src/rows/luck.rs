//! Whether to try the faster of two ways, which may end in doubt: by what came of it so far. Nothing here knows what the ways are.

/// What came of the last tries. No answer depends on it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Luck {
    is_known: bool,
    /// How many more ended in doubt than did not, from 0 to [`MOST_FAILURES`].
    failures: u32,
    /// How many times not to try.
    pause: u32,
}

/// Of the ways by which an order [may be replaced](crate::order::Order::HAS_BITS), one after the other, and of what to expect of floats.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ways {
    /// By [`Order::bits`](crate::order::Order::bits).
    pub(crate) bits: Luck,
    /// By [`Order::bits_below_zero`](crate::order::Order::bits_below_zero).
    pub(crate) below_zero: Luck,
    /// As if there were no NaN.
    pub(crate) numbers: Luck,
}

/// From then on, one try in 32.
const MOST_FAILURES: u32 = 6;

impl Luck {
    /// Whether nothing was tried yet.
    #[inline(always)]
    pub(crate) fn is_unknown(&self) -> bool {
        !self.is_known
    }

    #[inline(always)]
    pub(crate) fn tries(&mut self) -> bool {
        let is_over = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        is_over
    }

    /// One doubt says little (of 21 rows of 64 columns of few values, one group in seven has some): each that follows makes the pause twice as long.
    #[inline(always)]
    pub(crate) fn learn(&mut self, is_sure: bool) {
        self.know(if is_sure { self.failures.saturating_sub(1) } else { (self.failures + 1).min(MOST_FAILURES) });
    }

    /// Pauses before the first try, as if there had been some.
    #[inline(always)]
    pub(crate) fn wait(&mut self) {
        self.know(MOST_FAILURES / 2);
    }

    #[inline(always)]
    fn know(&mut self, failures: u32) {
        *self = Luck { is_known: true, failures, pause: (1 << failures >> 1_u32).max(1) - 1 };
    }
}
