//! What a target says of its input.

/// What became of an input.
pub enum Outcome {
    /// The bytes are no input of this target: nothing was tried.
    Rejected,
    /// Checked. Inputs of one class are of a kind, as far as the choice of seeds cares.
    Checked(u64),
}
