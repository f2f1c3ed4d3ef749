//! A custom-operator library for ONNX Runtime: `RegisterCustomOps` adds the domain `argreduce` with the operators
//! `ArgMax` and `ArgMin`. What they do is in `operator.rs`; this file is the way in, and knows nothing of it but the
//! types that they are for.

mod operator;
mod panics;
mod threads;

use argreduce::ReduceFunction;
use operator::ArgOperator;
use ort::AsPointer;
use ort::operator::OperatorDomain;
use ort::sys::{OrtApi, OrtApiBase, OrtErrorCode, OrtSessionOptions, OrtStatusPtr};
use std::ffi::CString;
use std::sync::OnceLock;

const DOMAIN: &str = "argreduce";

/// The oldest API that has all that is used here: that of ONNX Runtime 1.17.
const API_VERSION: u32 = 17;

/// Adds the domain to the options of a session. ONNX Runtime calls it for `SessionOptions.register_custom_ops_library`.
///
/// # Safety
/// As ONNX Runtime calls it: with its own options and functions.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is ONNX Runtime's")]
pub unsafe extern "system" fn RegisterCustomOps(
    options: *mut OrtSessionOptions,
    base: *const OrtApiBase,
) -> OrtStatusPtr {
    // SAFETY: the runtime's own functions, which live as long as it does; null for a version that it does not have.
    let api = unsafe { ((*base).GetApi)(API_VERSION).as_ref() };
    // A runtime that is too old has no function to make a status with either, and says so itself.
    let Some(api) = api else { return OrtStatusPtr::default() };
    match domain(api) {
        // SAFETY: the domain is never dropped.
        Ok(domain) => unsafe { (api.AddCustomOpDomain)(options, domain.0.ptr().cast_mut()) },
        Err(message) => {
            let message = CString::new(message.as_str()).unwrap_or_default();
            // SAFETY: the text ends with a zero, and is copied.
            unsafe { (api.CreateStatus)(OrtErrorCode::ORT_FAIL, message.as_ptr()) }
        }
    }
}

struct Domain(OperatorDomain);

// SAFETY: once made, a domain is only read, here and by the runtime.
unsafe impl Sync for Domain {}
// SAFETY: as above.
unsafe impl Send for Domain {}

/// The one domain, for all sessions.
fn domain(api: &OrtApi) -> &'static Result<Domain, String> {
    static MADE: OnceLock<Result<Domain, String>> = OnceLock::new();
    MADE.get_or_init(|| {
        ort::set_api(api.clone());
        make_domain().map(Domain).map_err(|error| error.to_string())
    })
}

fn make_domain() -> ort::Result<OperatorDomain> {
    let mut domain = OperatorDomain::new(DOMAIN)?;
    for function in [ReduceFunction::ArgMax, ReduceFunction::ArgMin] {
        for operator in ArgOperator::for_each_type(function) {
            domain = domain.add(operator)?;
        }
    }
    Ok(domain)
}
