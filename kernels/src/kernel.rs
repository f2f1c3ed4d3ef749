//! How a kernel is entered: the glue between an order, a strategy as a type, and a function pointer. Knows nothing of
//! which orders and strategies there are.
//!
//! What types decide is tested as a constant, or in a `const` block: then the compiler makes nothing of the other
//! branch. A condition that becomes constant only by inlining costs compile time: both branches are made, with all that
//! they inline, before one is thrown away.

use crate::float_mode;
use crate::memory::args::KernelArgs;
use crate::order::elements::OrderFactory;
use crate::order::pair::Orders;
use crate::simd::token::{Simd, SimdOp};
use core::marker::PhantomData;

/// A strategy as a type, for some orders.
pub(crate) trait KernelImpl<P: Orders>: Sized {
    /// Writes the position of every output of the call, and where values are wanted, tells which of those.
    ///
    /// # Safety
    /// As for [`KernelImpl::enter`]; lanes have the size and alignment of the element type.
    unsafe fn run(orders: P, args: &KernelArgs<'_>, outputs: P::Outputs<'_>) -> P::Written;

    /// What every [`crate::Kernel`] points to. Where floats are compared, not in whatever
    /// [mode](crate::float_mode) the caller is in.
    ///
    /// A method of this trait, not a function, because the compiler distributes its work by the module of the type: so
    /// strategies are compiled in parallel.
    ///
    /// # Safety
    /// - As a [`crate::Kernel`], and there are as many positions as the call has outputs. What is given is as
    ///   [`OrderFactory::make`] asks.
    #[inline(never)]
    unsafe fn enter<M: OrderFactory<Order = P>>(
        args: &KernelArgs<'_>,
        given: M::Given,
        mut outputs: P::Outputs<'_>,
    ) -> P::Written {
        if const { P::COMPARES_FLOATS } && !float_mode::is_default() {
            let mut written = None;
            float_mode::in_default(&mut || {
                // SAFETY: the caller's promise: it is the same call.
                written = Some(unsafe { Self::enter::<M>(args, given, P::reborrow(&mut outputs)) });
            });
            return written.expect("it is called once");
        }
        // SAFETY: the caller promises that the ISA is there, and all that a body requires.
        unsafe {
            let orders = M::make(given);
            orders.token().vectorize(Call { orders, args, outputs, body: PhantomData::<Self> })
        }
    }

    /// [`SimdOp::eval_outlined`], here for the same reason.
    ///
    /// # Safety
    /// - As for [`KernelImpl::run`].
    #[inline(never)]
    unsafe fn eval_outlined(call: Call<'_, '_, P, Self>) -> P::Written {
        // SAFETY: the caller's promise.
        unsafe { call.eval() }
    }
}

/// A call of a body, to be made inside a function with the ISA's target features.
pub(crate) struct Call<'a, 'o, P: Orders, B> {
    orders: P,
    args: &'a KernelArgs<'a>,
    outputs: P::Outputs<'o>,
    body: PhantomData<B>,
}

impl<P: Orders, B: KernelImpl<P>> SimdOp for Call<'_, '_, P, B> {
    type Output = P::Written;

    #[inline(always)]
    unsafe fn eval(self) -> P::Written {
        // SAFETY: the caller's promise.
        unsafe { B::run(self.orders, self.args, self.outputs) }
    }

    #[inline(always)]
    unsafe fn eval_outlined(self) -> P::Written {
        // SAFETY: the caller's promise.
        unsafe { B::eval_outlined(self) }
    }
}
