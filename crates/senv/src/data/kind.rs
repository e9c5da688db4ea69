//! What the lines of a file of pairs are.

/// What the lines of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairKind {
    /// Two sentences that mean the same, separated by a tab.
    Pairs,
    /// The number or name of an image and a caption, separated by a tab; the captions of an image on neighbouring
    /// lines. Or COCO's JSON ([`senv_data::Captions`]).
    Captions,
    /// Premises and hypotheses with a label, in any layout of [`senv_data::NliSet::read`]: a premise and what it
    /// entails are a pair, what contradicts it is a hard negative.
    Nli,
    /// Running text, a sentence a line, documents separated by blank lines: a sentence and the next are a pair.
    Neighbours,
    /// Sentences without an order, one a line: the two halves of a sentence are a pair (by tokens, the longer one
    /// second). Sentences of fewer than four tokens are left out.
    Halves,
}
