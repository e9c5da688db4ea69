//! The groups of protocols, each of which is a table of the bench.

/// A group of protocols that share one table, with a mean over its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProtocolGroup {
    /// Cosines against gold scores. The mean of its columns ranks the systems.
    Similarity,
    /// Paraphrases and captions by cosine.
    Neighbours,
    /// Sentences with the same words and different meanings, by cosine.
    Order,
    /// Classifiers and regressions trained on frozen vectors.
    Probes,
    /// A user's own pairs with scores.
    OwnPairs,
    /// A user's own texts with labels, on which a classifier is trained.
    OwnLabels,
    /// Documents, queries and judgments.
    Retrieval,
}

impl ProtocolGroup {
    /// All groups, in the order of the report: a user's own data first.
    pub(crate) const ALL: [Self; 7] = [
        Self::OwnPairs,
        Self::OwnLabels,
        Self::Retrieval,
        Self::Similarity,
        Self::Neighbours,
        Self::Order,
        Self::Probes,
    ];

    /// Whether the data are a user's own.
    pub(crate) fn is_own(self) -> bool {
        matches!(self, Self::OwnPairs | Self::OwnLabels | Self::Retrieval)
    }

    /// Whether a classifier is trained on the vectors.
    #[must_use]
    pub fn trains(self) -> bool {
        matches!(self, Self::Probes | Self::OwnLabels)
    }

    /// Returns the heading of its table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Similarity => "Similarity",
            Self::Neighbours => "Paraphrases and captions",
            Self::Order => "Word order",
            Self::Probes => "Trained on the vectors",
            Self::OwnPairs => "Own scored pairs",
            Self::OwnLabels => "Own labeled text",
            Self::Retrieval => "Retrieval",
        }
    }

    /// Describes what its table shows.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Similarity => {
                "Cosines of sentence vectors against gold scores, without training: Pearson's r x 100; for a year, \
                the plain mean over its tasks."
            }
            Self::Neighbours => {
                "Cosines only: telling paraphrases from other pairs, finding paraphrases among all sentences, and \
                captions of the same image. P-coherence is also high if all vectors point in nearly the same \
                direction: compare it with the mean cosine of unrelated captions in the table of tasks."
            }
            Self::Order => {
                "Cosines only, for sentences that share their words but differ in meaning: paraphrases above other \
                pairs, entailments above contradictions, and, on templates, the closer of two sentences, averaged over \
                the phenomena. 50 is chance, which is also what a bag of words reaches on templates."
            }
            Self::Probes => {
                "A linear model is trained on frozen vectors, which shows how much of the answer they contain. Models \
                trained on entailment also classify it themselves; the mean does not include this."
            }
            Self::OwnPairs => {
                "Cosines of sentence vectors against the scores of your files, without training: Pearson's r x 100. \
                Scores are on any scale."
            }
            Self::OwnLabels => {
                "The accuracy of a logistic regression on frozen vectors, on the test file, or on every fifth text of \
                each label if there is none."
            }
            Self::Retrieval => {
                "Documents ranked by the cosine of the query with their nearest sentence: nDCG@10 x 100. The table of \
                tasks has the other rankings, such as by words (BM25) and by words and meaning together."
            }
        }
    }
}
