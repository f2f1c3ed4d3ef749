//! What the benchmark must know of each element type: how to make values of it (and of the [crate
//! argminmax](crate::peer), how it answers). Knows nothing of shapes or of time. `bool` has no peer, and so is none.

use crate::peer::Peer;
use crate::subject::{By, New, Old};
use argreduce::Element;
use bytemuck::Pod;

pub trait Sample: argreduce_guard::Sample + Element + Pod + Peer + By<New> + By<Old> {}

impl<T: argreduce_guard::Sample + Element + Pod + Peer + By<New> + By<Old>> Sample for T {}
