//! The systems of the papers, each ready to train, save, open and encode: Sent2Vec, averages of word2vec vectors,
//! PV-DBOW; Siamese CBOW, PP and CSE; Skip-thoughts, SNLI models, autoencoders and P-thought. Beside them [`TfIdf`],
//! which has no vectors and compares sentences all the same.
//!
//! No equation lives here; a model brings the parts together: text becomes a corpus (`senv-core`), words and n-grams
//! name rows (`senv-ngram`), the rows are trained (`senv-negative-sampling`) and stored (`senv-store`). Systems trained
//! by gradient bring an encoder (`senv-encoders`) and a loss (`senv-losses`) to one loop, [`gradient::fit`].
//!
//! Train, save, open, encode:
//!
//! ```
//! use senv_core::SentenceEncoder;
//! use senv::{Model, Sent2VecParams, TextSystem};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (text, path) = (folder.path().join("text.txt"), folder.path().join("model.senv"));
//! # std::fs::write(&text, "the cat sat on the mat\nthe dog sat on the rug\n".repeat(20))?;
//! let params = Sent2VecParams { dim: 16, min_count: 1, min_target_count: 1, ..Default::default() };
//! params.fit_files(&[&text], &Default::default())?.model.save(&path)?;
//!
//! let model = Model::open(&path)?;
//! let similarity = model.similarity("The cat sat.", "The dog sat.");
//! assert!((-1.0..=1.0).contains(&similarity));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod average;
mod base;
mod check;
mod compress;
mod data;
mod error;
pub mod gradient;
mod grid_search;
mod index;
mod model;
pub mod prelude;
mod recipe;
mod sequence;
mod start;
mod system;
pub mod systems;

pub use average::encoder::AverageEncoder;
pub use compress::model2vec::write_model2vec;
pub use error::{Error, Result};
pub use model::handle::Model;
/// Parameters of the trainer and of reading text, so that a caller needs no other crate of senv.
pub use senv_core::{CorpusOptions, Remedy, RunOptions, checkpoint::CheckpointPlan};
/// Forms of the encoders and losses, so that a caller needs no other crate of senv.
pub use senv_encoders::{Activation, Conditioning, GruInit, GruStyle, GruTopology, Padding, Window};
pub use senv_losses::{Candidates, Combine, Directions, Grid, InfoNce, MarginLoss, Prefix, RelatednessLoss, Selection};
pub use senv_negative_sampling::{Inference, NegativeSamplingParams, NegativeSharing, Schedule};

pub use average::unknown_words::UnknownWords;
pub use average::weight_scheme::WeightScheme;
pub use average::{component_search::WEIGHTING_SENTENCES, weighting::Weighting};
pub use base::text_size::TextSize;
pub use base::train_options::TrainOptions;
pub use check::{
    Check, CheckParams, CheckText, CheckWarning, CosineSpread, LossAgainstChance, MAX_EMPTY_SENTENCES, MAX_MEAN_COSINE,
    MAX_UNKNOWN_WORDS, MIN_DIRECTIONS, MIN_NEIGHBOUR_AUC, MIN_ORDER, MIN_TF_IDF_AGREEMENT, MIN_TRAINING_WORDS,
    MIN_TRAINING_WORDS_HASHED, NeighbourCheck, TfIdfAgreement, check,
};
pub use compress::table::CompressParams;
pub use data::reading::Reading;
pub use data::tf_idf::{TfIdf, TfIdfParams};
pub use data::{HeldOut, PairData, PairInput, PairKind, PairOptions, PairSource, SampledPair, SourceReport};
pub use gradient::pair_training::{PairLoss, PairParams};
pub use gradient::scored_pairs::ScoredPairs;
pub use gradient::trainable_encoder::EncoderForm;
pub use gradient::{Decay, FitParams, L2Scaling, Phases, Stopped, WordUpdates};
pub use grid_search::{BEST_MODEL, Candidate, GridOutcome, GridRun, GridSearch, RUN_TABLE, SearchGrid};
pub use index::{Hit, Index};
pub use model::averaged::{Averaged, AveragedSystem};
pub use model::saved::{EncodingCost, ExpandVocabulary, SavedModel};
pub use model::trained::Trained;
pub use model::{
    decode::{Decode, DecodedSentence, Interpolation},
    expansion::{Expansion, ExpansionReport},
    score_pairs::ScorePairs,
};
pub use recipe::{NeighbourRecipe, Recipe, train};
pub use sequence::{LongSentences, OutputForm, SequenceConfig, SequenceForm, SequenceModel, SequenceSystem};
pub use start::initial::{Initial, InitialVectorReport, vectors_fingerprint};
pub use system::pair_system::{PairSystem, PairSystemParams};
pub use system::text_system::{SharedParams, TextSystem};
pub use systems::pretraining::Pretraining;
pub use systems::*;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
