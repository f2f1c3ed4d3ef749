//! What a call is answered by: an order, or two of the same elements, for both functions at once. Then what is loaded
//! serves both.

use super::elements::OrderFactory;
use super::{ArgOrder, LaneElem};
use crate::outputs::{Outputs, Written};
use crate::simd::token::Simd;
use core::marker::PhantomData;

/// What a call is answered by: an order, or [two at once](Pair), each of which has outputs.
pub(crate) trait Orders: Copy {
    type Simd: Simd;
    type Outputs<'a>;
    type Written: Copy;
    /// Whether answers depend on the floating-point mode. (16-bit floats are compared as integers.)
    const COMPARES_FLOATS: bool;

    fn token(self) -> Self::Simd;

    /// All of them.
    fn reborrow<'a>(outputs: &'a mut Self::Outputs<'_>) -> Self::Outputs<'a>;
}

impl<O: ArgOrder> Orders for O {
    type Simd = O::Simd;
    type Outputs<'a> = Outputs<'a>;
    type Written = Written;
    const COMPARES_FLOATS: bool = O::Lane::HAS_NAN;

    #[inline(always)]
    fn token(self) -> O::Simd {
        self.simd()
    }

    #[inline(always)]
    fn reborrow<'a>(outputs: &'a mut Outputs<'_>) -> Outputs<'a> {
        outputs.reborrow()
    }
}

/// By the first, and by the second.
#[derive(Clone, Copy)]
pub(crate) struct Pair<A, B>(pub(crate) A, pub(crate) B);

/// An order of the same vectors as `A`, which notices NaN in the same way. Both load elements as they are, and encode
/// them then: not as orders under a mask do.
pub(crate) trait SharesLoads<A: ArgOrder>: ArgOrder<Lane = A::Lane, Simd = A::Simd, NanAcc = A::NanAcc> {}

impl<A: ArgOrder, B: ArgOrder<Lane = A::Lane, Simd = A::Simd, NanAcc = A::NanAcc>> SharesLoads<A> for B {}

/// The same, and of their fast paths too.
pub(crate) trait PairedWith<A: ArgOrder>: SharesLoads<A, Fast: SharesLoads<A::Fast>> {}

impl<A: ArgOrder, B: SharesLoads<A, Fast: SharesLoads<A::Fast>>> PairedWith<A> for B {}

impl<A: ArgOrder, B: PairedWith<A>> Orders for Pair<A, B> {
    type Simd = A::Simd;
    type Outputs<'a> = [Outputs<'a>; 2];
    type Written = [Written; 2];
    const COMPARES_FLOATS: bool = A::Lane::HAS_NAN;

    #[inline(always)]
    fn token(self) -> A::Simd {
        self.0.simd()
    }

    #[inline(always)]
    fn reborrow<'a>([first, second]: &'a mut [Outputs<'_>; 2]) -> [Outputs<'a>; 2] {
        [first.reborrow(), second.reborrow()]
    }
}

/// The orders of two other factories.
pub(crate) struct Both<F, G>(PhantomData<(F, G)>);

impl<F, G> OrderFactory for Both<F, G>
where
    F: OrderFactory<Given = (), Order: ArgOrder>,
    G: OrderFactory<Given = (), Order: PairedWith<F::Order>>,
{
    type Order = Pair<F::Order, G::Order>;
    type Given = ();

    #[inline(always)]
    unsafe fn make((): ()) -> Self::Order {
        // SAFETY: the machine has the ISA.
        unsafe { Pair(F::make(()), G::make(())) }
    }
}
