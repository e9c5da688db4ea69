//! Common components of each side of some pairs separately, as the program of SIF finds them.
//!
//! ```text
//! v_S = s − Σ_i λ_i u_i (u_i·s)      u, λ of the first sentences for a first sentence, of the second ones for a second
//! ```
//!
//! The equation is `common-component-removal`. Everywhere else senv finds the components once, on other text or on all
//! sentences together, so a sentence has the same vector in either place. With components per side, a sentence
//! has another vector in every data set. This is for comparison with published figures.

use ndarray::Array2;
use senv_core::{Error as CoreError, Result, SentenceEncoder, kernels};
use senv_store::{CommonComponents, Error as StoreError};

use crate::average::encoder::AverageEncoder;

impl AverageEncoder {
    /// Returns the cosines of pairs. As many common components as the encoder has are found separately on the first and
    /// on the second sentences of these pairs, and removed. The cosine is 0 if a sentence has the zero vector.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] if the encoder removes no components, or without a pair; [`CoreError::TooLarge`]
    /// if the vectors do not fit into memory.
    pub fn similarities_per_side(&self, pairs: &[(&str, &str)]) -> Result<Vec<f64>> {
        let components = self.weighting().and_then(|weighting| weighting.components());
        let Some(n) = components.map(|components| components.lambdas().len()) else {
            let (name, requirement) = ("weighting", "one that removes common components");
            return Err(CoreError::InvalidParameter { name, requirement, got: "none".into() });
        };
        let weighting = self.weighting().map(|weighting| weighting.clone().without_components());
        let scaled = weighting.as_ref().is_some_and(|weighting| weighting.scheme().is_usif());
        let plain = self.clone().with_weighting(weighting)?;
        let side = |sentences: Vec<&str>| without_own_components(&plain, &sentences, n, scaled);
        let first = side(pairs.iter().map(|pair| pair.0).collect())?;
        let second = side(pairs.iter().map(|pair| pair.1).collect())?;
        let rows = first.rows().into_iter().zip(second.rows());
        Ok(rows.map(|(u, v)| f64::from(kernels::cosine(&u.to_vec(), &v.to_vec()))).collect())
    }
}

/// Returns the vectors of sentences without the components that they share.
fn without_own_components(
    encoder: &AverageEncoder,
    sentences: &[&str],
    n_components: usize,
    scaled: bool,
) -> Result<Array2<f32>> {
    let (mut vectors, _) = encoder.encode_batch(sentences)?;
    let components = CommonComponents::fit(vectors.view(), n_components, scaled).map_err(|error| match error {
        StoreError::Core(error) => error,
        // For vectors in memory no other error is possible.
        _ => CoreError::TooLarge { rows: sentences.len(), dim: encoder.dim() },
    })?;
    for mut vector in vectors.rows_mut() {
        if let Some(vector) = vector.as_slice_mut() {
            components.remove(vector);
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use senv_core::{Table, Tokenizer, Vocabulary};

    use super::*;
    use crate::average::{encoder::words, weight_scheme::WeightScheme};

    #[test]
    fn each_side_loses_its_own_direction() {
        let vocabulary = Vocabulary::from_counts(["a", "b", "c", "d"].map(|word| (word, 1)), 4).unwrap();
        let values = [[2.0, 0.0, 1.0], [2.0, 0.0, -1.0], [0.0, 3.0, 1.0], [0.0, 3.0, -1.0]].concat();
        let rows = Table::from_vec(4, 3, values).unwrap();
        let features = words(&vocabulary).unwrap();
        let encoder = AverageEncoder::new(Tokenizer::whitespace(), vocabulary, features, rows).unwrap();
        let pairs = [("a", "c"), ("b", "d"), ("a", "unknown")];
        let error = encoder.similarities_per_side(&pairs).unwrap_err().to_string();
        assert!(error.contains("common components"), "{error}");
        // With weights of 1, a vector is its row. Together the strongest direction is the second axis, and then a and c
        // have the cosine of (2, 0, 1) and (0, 0, 1).
        let sentences = ["a", "b", "c", "d"];
        let sif = encoder.weighted_on(Some(WeightScheme::Sif { a: 1e9 }), &sentences, 1).unwrap();
        assert!((sif.similarity("a", "c") - 0.2_f32.sqrt()).abs() < 1e-6);
        // The first sentences lose the first axis, the second ones the second.
        let cosines = sif.similarities_per_side(&pairs[..2]).unwrap();
        assert!(cosines.iter().all(|cosine| (cosine - 1.0).abs() < 1e-6), "{cosines:?}");
        assert_eq!(sif.similarities_per_side(&pairs).unwrap()[2], 0.0, "no word is known");
        assert!(sif.similarities_per_side(&[]).is_err());
    }
}
