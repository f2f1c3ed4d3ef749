//! AMD's cores from Zen to Zen 2, and those that others make by its licence. (Zen was measured.)

use super::generic::GENERIC;
use super::table::Tuning;
use super::zen4::ZEN4;

pub(super) static TUNING: Tuning = Tuning { name: "zen2", rows: GENERIC.rows, ..ZEN4 }.checked();
