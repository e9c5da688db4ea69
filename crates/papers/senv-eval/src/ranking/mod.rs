//! Which sentence is nearest: paraphrase ranking, groups, captions, labels by the cosine alone.

pub(crate) mod coherence;
pub(crate) mod dictionary;
pub(crate) mod entailment;
pub(crate) mod groups;
pub(crate) mod pool;
pub(crate) mod retrieval;
pub(crate) mod scoring;
pub(crate) mod zero_shot;
