//! Training losses with hand-written, checked gradients.
//!
//! | loss | input | system |
//! | --- | --- | --- |
//! | [`MarginLoss`] | paraphrase pairs; negatives are chosen in the batch | PP, GRAN, CSE |
//! | [`SoftmaxCosine`] | sentences, each with positives and negatives | Siamese CBOW |
//! | [`InfoNce`] | pairs; all others of the batch are negatives, with hard negatives if given | in-batch contrastive training |
//! | [`RelatednessHead`], [`LinearRelatedness`] with [`RelatednessLoss`] | pairs with a relatedness score | the supervised runs |
//! | [`TokenNll`], [`SampledSoftmax`], [`AdaptiveSoftmax`] | hidden states of a decoder, and the next words | Skip-thoughts, RNN AE, P-thought |
//! | [`MultiLabelLoss`], [`HierarchicalSoftmax`] | encodings of sentences, and their sets of words | BOW AE |
//! | [`TargetCosine`], [`TargetRanking`] | sentences, each with a target vector that is given | DictRep, CaptionRep |
//! | [`TaughtSoftmax`], [`TaughtSimilarities`], [`TargetCosine`] | pairs and sentences with the vectors of a teacher | student |
//! | [`JoinedCosines`] with [`CosineLogistic`] and [`held_correlation`] | pairs with a label, and ordinary pairs | order |
//! | [`NliHead`] | pairs with one of three labels | the SNLI models, InferSent |
//! | [`DualObjective`] | the losses of two decoders | P-thought |
//! | [`L2`] | parameters and their initial values | all |
//!
//! Every loss is a mean over the batch; token losses can also be sums. `forward` returns the loss as f64 with the saved
//! state for `backward`, and changes nothing. `backward` returns the gradients with respect to the vectors, times
//! `d_loss`, and adds those of the parameters to the given gradients.
//!
//! Losses over a vocabulary have too many scores to keep, so they compute both passes together, one block at a time, in
//! `loss_and_gradients`. Their `forward` returns the loss of every example. If batches use few words, the gradients of
//! those words are [`RowGradients`].
//!
//! Code is generic over [`Float`](senv_core::arrays::Float): f32 for training, f64 for gradient checks. All cosines are
//! products of unit vectors; a vector shorter than 1e-12 has cosine 0 with every vector and no gradient. The same batch
//! gives the same bits at any number of threads.
//!
//! ```
//! use ndarray::array;
//! use senv_losses::InfoNce;
//! // Three pairs of two-dimensional vectors, and a number for each of their six texts.
//! let mut a = array![[1.0f32, 0.1], [-0.3, 1.0], [0.7, 0.7]];
//! let b = array![[0.9f32, -0.2], [0.2, 1.1], [-0.5, 0.4]];
//! let texts = [0, 1, 2, 3, 4, 5];
//! let loss = InfoNce::default();
//! let (before, saved) = loss.forward(a.view(), b.view(), None, &texts)?;
//! let (d_a, _, _) = loss.backward(&saved, 1.0)?;
//! a.scaled_add(-0.01, &d_a); // a step downhill
//! assert!(loss.forward(a.view(), b.view(), None, &texts)?.0 < before);
//! # Ok::<(), senv_losses::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod adaptive_softmax;
mod cosine_logistic;
mod dense;
mod dual;
mod equal_texts;
pub mod error;
mod hard_negatives;
mod held_correlation;
mod hierarchical_softmax;
mod info_nce;
mod joined_cosine;
mod l2;
mod linear_relatedness;
mod log_uniform;
mod margin;
mod multi_label;
mod nli;
mod output_layer;
mod pair_features;
mod relatedness;
mod relatedness_loss;
mod relatedness_target;
mod row_gradients;
mod rows;
mod sampled_softmax;
mod softmax_cosine;
mod softmax_row;
mod target_cosine;
mod target_ranking;
mod taught_similarities;
mod taught_softmax;
#[cfg(test)]
mod testing;
mod token_nll;
mod unit;

pub use adaptive_softmax::AdaptiveSoftmax;
pub use cosine_logistic::CosineLogistic;
pub use dual::{DEFAULT_ALPHA, DualObjective};
pub use error::{Error, Result};
pub use hard_negatives::{NegativeCandidates, Selection};
pub use held_correlation::held_correlation;
pub use hierarchical_softmax::HierarchicalSoftmax;
pub use info_nce::{DEFAULT_TEMPERATURE, InfoNce, InfoNceDirections, InfoNceGradients, InfoNceSaved, Prefix};
pub use joined_cosine::JoinedCosines;
pub use l2::L2;
pub use linear_relatedness::LinearRelatedness;
pub use log_uniform::SampledWords;
pub use margin::{DEFAULT_MARGIN, MarginLoss, MarginSaved};
pub use multi_label::MultiLabelLoss;
pub use nli::{DEFAULT_NLI_HIDDEN, NLI_LABELS, NliHead, NliHeadForm, NliSaved};
pub use output_layer::{DEFAULT_BLOCK, Reduction};
pub use pair_features::pair_features;
pub use relatedness::{Combine, DEFAULT_HIDDEN, RelatednessHead, RelatednessSaved};
pub use relatedness_loss::{Predictions, RelatednessLoss};
pub use relatedness_target::{ScoreGrid, check_score};
pub use row_gradients::RowGradients;
pub use sampled_softmax::{DEFAULT_SAMPLED, SampledSoftmax};
pub use softmax_cosine::{CandidateCounts, SoftmaxCosine, SoftmaxCosineSaved};
pub use target_cosine::{TargetCosine, TargetCosineSaved};
pub use target_ranking::{DEFAULT_TARGET_MARGIN, TargetRanking, TargetRankingSaved};
pub use taught_similarities::{TaughtSimilarities, TaughtSimilaritiesSaved};
pub use taught_softmax::{TaughtSoftmax, TaughtSoftmaxSaved};
pub use token_nll::TokenNll;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
