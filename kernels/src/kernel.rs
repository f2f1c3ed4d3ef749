//! How a kernel is entered: the glue between an order, a strategy as a type, and a function pointer. Knows nothing of
//! which orders and strategies there are.
//!
//! What types decide is tested as a constant, or in a `const` block: then the compiler makes nothing of the other
//! branch. A condition that becomes constant only by inlining costs compile time: both branches are made, with all that
//! they inline, before one is thrown away.

use crate::float_mode;
use crate::memory::args::KernelArgs;
use crate::order::elements::OrderFactory;
use crate::order::{ArgOrder, LaneElem};
use crate::outputs::{Outputs, Written};
use crate::simd::token::{Simd, SimdOp};
use core::marker::PhantomData;

/// A strategy as a type, for an order.
pub(crate) trait KernelImpl<O: ArgOrder>: Sized {
    /// Writes the position of every output of the call, and where values are wanted, tells which of those.
    ///
    /// # Safety
    /// As for [`KernelImpl::enter`]; lanes have the size and alignment of the element type.
    unsafe fn run(order: O, args: &KernelArgs<'_>, outputs: Outputs<'_>) -> Written;

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
    unsafe fn enter<M: OrderFactory<Order = O>>(
        args: &KernelArgs<'_>,
        given: M::Given,
        mut outputs: Outputs<'_>,
    ) -> Written {
        if const { O::Lane::HAS_NAN } && !float_mode::is_default() {
            let mut written = None;
            float_mode::in_default(&mut || {
                // SAFETY: the caller's promise: it is the same call.
                written = Some(unsafe { Self::enter::<M>(args, given, outputs.reborrow()) });
            });
            return written.expect("it is called once");
        }
        // SAFETY: the caller promises that the ISA is there, and all that a body requires.
        unsafe {
            let order = M::make(given);
            order.simd().vectorize(Call { order, args, outputs, body: PhantomData::<Self> })
        }
    }

    /// [`SimdOp::eval_outlined`], here for the same reason.
    ///
    /// # Safety
    /// - As for [`KernelImpl::run`].
    #[inline(never)]
    unsafe fn eval_outlined(call: Call<'_, '_, O, Self>) -> Written {
        // SAFETY: the caller's promise.
        unsafe { call.eval() }
    }
}

/// A call of a body, to be made inside a function with the ISA's target features.
pub(crate) struct Call<'a, 'o, O, B> {
    order: O,
    args: &'a KernelArgs<'a>,
    outputs: Outputs<'o>,
    body: PhantomData<B>,
}

impl<O: ArgOrder, B: KernelImpl<O>> SimdOp for Call<'_, '_, O, B> {
    type Output = Written;

    #[inline(always)]
    unsafe fn eval(self) -> Written {
        // SAFETY: the caller's promise.
        unsafe { B::run(self.order, self.args, self.outputs) }
    }

    #[inline(always)]
    unsafe fn eval_outlined(self) -> Written {
        // SAFETY: the caller's promise.
        unsafe { B::eval_outlined(self) }
    }
}
