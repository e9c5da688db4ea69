//! The systems of the papers, each ready to train, save, open and encode: Sent2Vec, averages of word2vec vectors,
//! PV-DBOW; Siamese CBOW, PP and CSE; Skip-thoughts, SNLI models, autoencoders and P-thought. Beside them [`TfIdf`],
//! which has no vectors and compares sentences all the same.
//!
//! No equation lives here; a model brings the parts together: text becomes a corpus (`senv-core`), words and n-grams
//! name rows (`senv-ngram`), the rows are trained (`senv-negative-sampling`) and stored (`senv-store`). Systems trained
//! by gradient bring an encoder (`senv-encoders`) and a loss (`senv-losses`) to one loop, [`fit`].
//!
//! Train, save, open, encode:
//!
//! ```
//! use senv_core::SentenceEncoder;
//! use senv_models::{Model, Sent2VecParams, TextSystem};
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
mod averaged;
mod check;
mod compress;
mod configuration;
mod decoding;
mod error;
mod file;
mod fingerprint;
pub mod fit;
mod grid_search;
mod index;
mod initial;
mod model;
mod model2vec;
mod new_words;
mod ngram_buckets;
mod pair_system;
mod pair_training;
mod pairs;
mod per_side;
pub mod prelude;
mod present_words;
mod pretraining;
mod principal;
mod random_vectors;
mod recipe;
mod saved;
mod sequence;
pub mod systems;
mod text_size;
mod text_system;
mod tf_idf;
mod train_options;
mod trainable_encoder;
mod training;
mod unknown_words;
mod validation;
mod vocabulary_expansion;
mod weight_scheme;
mod weighting;

pub use average::AverageEncoder;
pub use error::{Error, Result};
pub use model::Model;
pub use model2vec::write_model2vec;
/// Parameters of the trainer and of reading text, so that a caller needs no other crate of senv.
pub use senv_core::{CorpusOptions, RunOptions, checkpoint::CheckpointPlan};
/// Forms of the encoders and losses, so that a caller needs no other crate of senv.
pub use senv_encoders::{Activation, Conditioning, GruInit, GruStyle, GruTopology, Padding, Window};
pub use senv_losses::{Candidates, Combine, Directions, Grid, InfoNce, MarginLoss, Prefix, RelatednessLoss, Selection};
pub use senv_negative_sampling::{Inference, NegativeSharing, Params, Schedule};

pub use averaged::{Averaged, AveragedSystem};
pub use check::{
    Check, CheckParams, CheckText, CheckWarning, CosineSpread, LossAgainstChance, MAX_EMPTY_SENTENCES, MAX_MEAN_COSINE,
    MAX_UNKNOWN_WORDS, MIN_DIRECTIONS, MIN_NEIGHBOUR_AUC, MIN_ORDER, MIN_TF_IDF_AGREEMENT, MIN_TRAINING_WORDS,
    MIN_TRAINING_WORDS_HASHED, NeighbourCheck, TfIdfAgreement, check,
};
pub use compress::CompressParams;
pub use decoding::Interpolation;
pub use fit::{Decay, FitParams, L2Scaling, Phases, Stopped, WordUpdates};
pub use grid_search::{BEST_MODEL, Candidate, GridOutcome, GridRun, GridSearch, RUN_TABLE, SearchGrid};
pub use index::{Hit, Index};
pub use initial::{Initial, InitialVectorReport, vectors_fingerprint};
pub use pair_system::{PairSystem, PairSystemParams};
pub use pair_training::{PairLoss, PairParams};
pub use pairs::{HeldOut, PairData, PairInput, PairKind, PairOptions, PairSource, SampledPair, SourceReport};
pub use pretraining::Pretraining;
pub use recipe::{NeighbourRecipe, Recipe, train};
pub use saved::{Decoders, SavedModel};
pub use sequence::{
    Hypothesis, LongSentences, OutputForm, Reading, SequenceConfig, SequenceForm, SequenceModel, SequenceSystem,
};
pub use systems::*;
pub use text_size::TextSize;
pub use text_system::{SharedParams, TextSystem};
pub use tf_idf::{TfIdf, TfIdfParams};
pub use train_options::TrainOptions;
pub use trainable_encoder::EncoderForm;
pub use training::Trained;
pub use unknown_words::UnknownWords;
pub use validation::ScoredPairs;
pub use vocabulary_expansion::{Expansion, ExpansionReport};
pub use weight_scheme::WeightScheme;
pub use weighting::{WEIGHTING_SENTENCES, Weighting};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
