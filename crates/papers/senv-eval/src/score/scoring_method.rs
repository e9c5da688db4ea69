//! How pairs were scored: by cosine or by a trained head. Papers print both.

use serde::Serialize;

/// The source of the scores.
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
    /// Returns `cosine` or `supervised`, as printed in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Supervised => "supervised",
        }
    }
}
