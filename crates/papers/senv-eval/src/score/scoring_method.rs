//! Whether scores are cosines or those of a trained head: papers print both.

use serde::Serialize;

/// Where the scores come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ScoringMethod {
    /// The cosine of the two embeddings.
    Cosine,
    /// A head that was trained on relatedness.
    Supervised,
}

impl ScoringMethod {
    /// `cosine` or `supervised`, as reports print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Supervised => "supervised",
        }
    }
}
