//! Ranking by cosine: paraphrases, groups, captions, definitions, documents; and entailment labels.

pub(crate) mod coherence;
pub(crate) mod dictionary;
pub(crate) mod entailment;
pub(crate) mod groups;
pub(crate) mod pool;
pub(crate) mod retrieval;
pub(crate) mod scoring;
pub(crate) mod zero_shot;
