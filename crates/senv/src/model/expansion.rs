//! More words than a model has trained: how they are added, and what came of it.

/// How words are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum VocabularyExpansion {
    /// By a linear map with a constant, as in the release of Skip-thoughts.
    Affine,
    /// By a matrix alone, as printed in the paper.
    Linear,
    /// As they are: the model was trained on these very vectors, and they stayed as they were.
    Same,
}

/// What an expansion came to.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ExpansionReport {
    /// Words that both knew: what the map was fitted on.
    pub shared: usize,
    /// Words that were added.
    pub added: usize,
    /// The root of the mean squared error of the map on the shared words, over all numbers; of the first part.
    pub error: f64,
}
