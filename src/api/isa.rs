//! The ISA of a plan: the one that is forced, by the caller or the environment, or the best.

use crate::planner::PlanIsa;
use crate::{Error, Isa};
use std::sync::OnceLock;

/// The ISA that is forced, if it is available, or else the default.
pub(crate) fn plan_isa(forced: Option<Isa>) -> Result<PlanIsa, Error> {
    match forced {
        Some(isa) if isa.is_available() => Ok(PlanIsa { widest: isa, is_forced: true }),
        Some(isa) => Err(Error::IsaNotAvailable { isa }),
        None => default_isa(),
    }
}

/// The ISA for plans that do not force one.
pub(super) fn default_isa() -> Result<PlanIsa, Error> {
    static FROM_ENVIRONMENT: OnceLock<Result<PlanIsa, Error>> = OnceLock::new();
    // As with most environment variables, an empty one counts as not set.
    let from_environment = || match std::env::var_os("ARGREDUCE_ISA").filter(|name| !name.is_empty()) {
        None => Ok(PlanIsa { widest: Isa::detect(), is_forced: false }),
        Some(name) => match name.to_str().and_then(|name| name.parse::<Isa>().ok()) {
            Some(isa) => plan_isa(Some(isa)),
            None => Err(Error::UnknownIsa { name: name.to_string_lossy().into_owned() }),
        },
    };
    match FROM_ENVIRONMENT.get_or_init(from_environment) {
        Ok(isa) => Ok(*isa),
        Err(error) => Err(error.clone()),
    }
}
