//! Initialization of the weights of a cell.

use senv_core::{Error, Result, arrays::Float, init, rng::Stream};

use super::{Cell, GruInit};

/// The limit of the uniform initialization of Skip-thoughts' input matrices.
const LIMIT: f64 = 0.1;

/// Fills the tensor called `name`, which has `fan_in` columns.
pub(super) fn fill<F: Float>(
    cell: &Cell,
    start: GruInit,
    name: &str,
    fan_in: usize,
    rng: &mut Stream,
    values: &mut [F],
) -> Result<()> {
    let (h, gate) = (cell.hidden, values.len() / 3);
    match (name, start) {
        ("recurrent", GruInit::Orthogonal) => {
            values.chunks_exact_mut(h * h).try_for_each(|values| init::orthogonal(rng, values, h, h))
        }
        ("input" | "context" | "state", GruInit::Orthogonal) => init::uniform(rng, values, LIMIT),
        ("state", GruInit::Glorot) => init::uniform(rng, values, (6.0 / (fan_in + h) as f64).sqrt()),
        ("input" | "context" | "recurrent", GruInit::Glorot) => {
            let fan_in = (cell.input + h + cell.context) as f64;
            let (gates, candidate) = values.split_at_mut(2 * gate);
            init::uniform(rng, gates, (6.0 / (fan_in + 2.0 * h as f64)).sqrt())?;
            init::uniform(rng, candidate, (6.0 / (fan_in + h as f64)).sqrt())
        }
        ("bias", GruInit::Glorot) => {
            values[..2 * h].fill(F::one());
            Ok(())
        }
        ("bias" | "recurrent_bias" | "state_bias", _) => Ok(()),
        _ => Err(Error::InvalidParameter { name: "tensor", requirement: "one of the cell's", got: name.into() }),
    }
}
