//! The kinds of lines in files of pairs.

/// The kind of the lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairKind {
    /// Two sentences that mean the same thing, separated by a tab.
    Pairs,
    /// The number or name of an image and a caption, separated by a tab, with the captions of an image on consecutive
    /// lines. Or COCO's JSON ([`senv_data::Captions`]).
    Captions,
    /// Premises and hypotheses with a label, in any layout of [`senv_data::NliSet::read`]. A premise and what it
    /// entails are a pair, and what contradicts it is a hard negative.
    Nli,
    /// Running text with one sentence per line and blank lines between documents. A sentence and the next are a pair.
    Neighbours,
    /// Sentences in no order, one per line. The two halves of a sentence are a pair, split by tokens, with the longer
    /// half second. Sentences of fewer than four tokens are left out.
    Halves,
}
