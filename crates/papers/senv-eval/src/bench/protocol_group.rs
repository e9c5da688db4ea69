//! The tables of the bench.

/// Protocols that are shown in one table, with a mean of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProtocolGroup {
    /// Cosines against gold scores: the mean of its columns ranks the systems.
    Similarity,
    /// Paraphrases and captions by cosine.
    Neighbours,
    /// Sentences with the same words and different meanings, by cosine.
    Order,
    /// Classifiers and regressions trained on frozen vectors.
    Probes,
}

impl ProtocolGroup {
    /// All of them, in the order of the report.
    pub(crate) const ALL: [Self; 4] = [Self::Similarity, Self::Neighbours, Self::Order, Self::Probes];

    /// The heading of its table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Similarity => "Similarity",
            Self::Neighbours => "Paraphrases and captions",
            Self::Order => "Word order",
            Self::Probes => "Trained on the vectors",
        }
    }

    /// What its table shows, in a sentence or two.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Similarity => {
                "Cosines of sentence vectors against gold scores, without training: Pearson's r x 100, per year the plain mean over its tasks."
            }
            Self::Neighbours => {
                "Cosines alone: paraphrases distinguished from other pairs, paraphrases found among all sentences, captions of one image. P-coherence is high for vectors that all point one way, too: read it beside the mean cosine of unrelated captions, in the table of tasks."
            }
            Self::Order => {
                "Cosines alone, where sentences share their words and differ in meaning: pairs of one meaning above others, entailments above contradictions, and the nearer one of two sentences made from templates, the mean over the phenomena. 50 is chance, and what a bag of words reaches on templates."
            }
            Self::Probes => {
                "A linear model is trained on vectors that stay as they are: how much of the answer can be read off them. Models that were trained on entailment also classify it themselves, which is not in the mean."
            }
        }
    }
}
