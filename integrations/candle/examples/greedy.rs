//! Greedy sampling: the most likely token of each position, for logits of [batch, sequence, vocabulary].
//!
//!     cargo run --release --example greedy
//!
//! The next token is that of the last position, which is a view: no copy is made.

use argreduce_candle::{ArgReduction, NanPolicy, TensorExt};
use candle_core::{D, DType, Device, IndexOp, Result, Tensor};

/// The next token of each sequence, and its logit. A NaN is never a token, as long as there is a number.
fn next_tokens(logits: &Tensor) -> Result<(Tensor, Tensor)> {
    let last = logits.i((.., logits.dim(1)? - 1, ..))?;
    last.arg_reduce_with_values(&ArgReduction::argmax(&[-1]).options(NanPolicy::Ignore))
}

fn main() -> Result<()> {
    let (batch, sequence, vocabulary) = (4, 16, 32_000);
    let logits = Tensor::randn(0_f32, 1., (batch, sequence, vocabulary), &Device::Cpu)?.to_dtype(DType::BF16)?;

    let (tokens, best) = next_tokens(&logits)?;
    println!(
        "next tokens {:?}, their logits {:?}",
        tokens.to_vec1::<u32>()?,
        best.to_dtype(DType::F32)?.to_vec1::<f32>()?
    );

    // All positions at once, as a draft is verified; and which position of each sequence was surest, over two axes.
    let all = logits.argmax_over(D::Minus1)?;
    let surest = logits.argmax_over((1, 2))?.to_vec1::<u32>()?;
    println!(
        "all tokens: {:?}; surest positions {:?}",
        all.dims(),
        surest.iter().map(|i| i / vocabulary as u32).collect::<Vec<_>>()
    );

    // The answers are candle's own.
    let own = logits.argmax(D::Minus1)?;
    assert_eq!(all.to_vec2::<u32>()?, own.to_vec2::<u32>()?);
    assert_eq!(tokens.to_vec1::<u32>()?, own.i((.., sequence - 1))?.to_vec1::<u32>()?);
    Ok(())
}
