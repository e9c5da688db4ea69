//! Adding words to a trained model, and reporting the result.

/// How words are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum VocabularyExpansion {
    /// By a linear map with a constant, as in the release of Skip-thoughts.
    Affine,
    /// By a matrix without a constant, as printed in the paper.
    Linear,
    /// Unchanged: the model was trained on these vectors and kept them fixed.
    Same,
}

/// The result of an expansion.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ExpansionReport {
    /// Words known to both the model and the new vectors, on which the map was fitted.
    pub shared: usize,
    /// Words that were added.
    pub added: usize,
    /// The root mean squared error of the map on the shared words, over all values of the first part.
    pub error: f64,
}
