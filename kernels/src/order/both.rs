//! Two orders of the same elements, for both functions at once: what is loaded serves both.

use super::ArgOrder;

/// By the first, and by the second.
#[derive(Clone, Copy)]
pub(crate) struct Both<A, B>(pub(crate) A, pub(crate) B);

/// An order of the same vectors as `A`, which notices NaN in the same way. Both load elements as they are, and encode
/// them then: not as orders under a mask do.
pub(crate) trait SharesLoads<A: ArgOrder>: ArgOrder<Lane = A::Lane, Simd = A::Simd, NanAcc = A::NanAcc> {}

impl<A: ArgOrder, B: ArgOrder<Lane = A::Lane, Simd = A::Simd, NanAcc = A::NanAcc>> SharesLoads<A> for B {}

/// The same, and of their fast paths too.
pub(crate) trait BothWith<A: ArgOrder>: SharesLoads<A, Fast: SharesLoads<A::Fast>> {}

impl<A: ArgOrder, B: SharesLoads<A, Fast: SharesLoads<A::Fast>>> BothWith<A> for B {}
