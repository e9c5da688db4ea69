//! Sentence embeddings: train an encoder on your own text, or open one, and get vectors whose cosine means similarity.
//!
//! What users do, a line each:
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (text, path) = (folder.path().join("text.txt"), folder.path().join("my.senv"));
//! # let sentence = |i: usize| format!("the {} is {}", ["train", "bus", "rain", "storm"][i / 10 % 4], ["late", "near", "cold"][i % 3]);
//! # let sentences: Vec<String> = (0..200).map(sentence).collect();
//! # std::fs::write(&text, sentences.join("\n"))?;
//! use senv::prelude::*;
//!
//! # #[cfg(feature = "english")] {
//! let english = senv::english()?; // the English model that is part of the library
//! # assert!(english.dim() > 0); }
//! let model = senv::train(&text)?; // a file, or several: one sentence a line, a blank line between documents
//! let model = senv::train_sentences(&sentences)?; // sentences in memory
//! model.save(&path)?; // a file that is there is replaced at once, or not at all
//! let model = senv::open(&path)?; // memory-mapped; also .bin of fastText and Sent2Vec, and word vectors
//! let vector = model.encode_one("The train is late."); // one sentence: an ndarray of `dim` values, not of length 1
//! let vectors = model.encode(&sentences)?; // many: one row a sentence, on all cores
//! let cosine = model.similarity("Rain is coming.", "A storm brings rain."); // from -1 to 1; 0 without a known word
//! let index = Index::new(&model, &sentences)?; // in memory
//! let hits = index.search("The train is late.", 3)?;
//!
//! // The same on disk, for millions of sentences. "english" in place of the path is the English model.
//! let mut collection = SentenceCollection::create(folder.path().join("my.index"), &path)?;
//! let ids = collection.add(&sentences)?;
//! collection.replace(&[(ids[0], "the tram is late")])?;
//! collection.delete(&ids[1..3])?;
//! let collection = SentenceCollection::open(folder.path().join("my.index"))?;
//! let hits = collection.search("The train is late.", 3)?;
//!
//! // A system by name, with three settings changed; what is not set fits the text.
//! let training = NegativeSamplingParams { epochs: Some(20), ..NegativeSamplingParams::default() };
//! let params = Sent2VecParams { dim: 16, word_ngrams: 2, training, ..Sent2VecParams::default() };
//! let sent2vec = params.train(&text)?;
//!
//! // Go on from a model with more text, in order.
//! let tuned = senv::fine_tune(&model, &text)?;
//!
//! # #[cfg(feature = "eval")] {
//! // With the feature `eval`: how well do cosines agree with people?
//! # let pairs = folder.path().join("pairs.tsv");
//! # std::fs::write(&pairs, "5\tthe train is late\tthe train is late\n1\tthe bus is near\tthe rain is cold\n3\tthe bus is near\tthe bus is cold\n")?;
//! let task = senv::eval::StsTask::read(&pairs)?; // gold score, sentence, sentence, separated by tabs
//! println!("{}", senv::eval::evaluate_sts(&model, &[task])?.to_text());
//! # }
//! # assert!(hits.len() == 3 && vector.len() == vectors.ncols() && cosine.is_finite() && sent2vec.dim() == 16);
//! # assert!(collection.len() == 198 && tuned.dim() == model.dim());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Training and encoding are loops over numbers: in a dev build, which does not optimise, they take ten times as long
//! and more. Two lines in your `Cargo.toml` optimise what you depend on in every build:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
//!
//! The systems of five papers are here side by side, each in a file of [`systems`]: Sent2Vec, averages of word2vec
//! vectors, PV-DBOW, PV-DM, FastSent, C-PHRASE; Siamese CBOW, PP, CSE and GRAN; Skip-thoughts, SNLI models,
//! autoencoders and P-thought; DictRep and CaptionRep. Default settings fit the text; the papers' are `paper()` and for
//! billions of words. Beside the systems [`TfIdf`] has no vectors and compares sentences all the same.
//!
//! No equation lives here. The parts do the arithmetic: text becomes a corpus (`senv-core`), words and n-grams name
//! rows (`senv-ngram`), the rows are trained (`senv-negative-sampling`) and stored (`senv-store`). Systems trained by
//! gradient bring an encoder (`senv-encoders`) and a loss (`senv-losses`) to one loop, [`gradient`].
//!
//! | feature | what it brings | |
//! | --- | --- | --- |
//! | `english` | [`english()`]: an English model inside the program, 7.8 MB | default |
//! | `arrow` | Parquet and Arrow IPC: columns of text wherever text is read, `senv::encode_table` writes vectors beside them | |
//! | `tokenizers` | folders of Model2Vec with tokenizers of any type, by Hugging Face's crate | |
//! | `eval` | `senv::eval`: the crate `senv-eval` | |

#![forbid(unsafe_code)]

mod average;
mod base;
mod check;
mod collection;
mod compress;
mod data;
mod error;
#[cfg(feature = "eval")]
mod evaluation;
pub mod gradient;
mod grid_search;
mod jobs;
mod model;
mod model2vec;
pub mod prelude;
mod recipe;
mod sentence_index;
mod sequence;
mod start;
mod system;
pub mod systems;
mod targets;
mod train_job;

pub use average::encoder::AverageEncoder;
#[cfg(feature = "english")]
pub use compress::english::{english, is_english};
pub use compress::model2vec::write_model2vec;
pub use error::{Error, Result};
#[cfg(feature = "eval")]
pub use evaluation::{
    BenchEvent, BenchRun, BenchSystem, Untrained, UntrainedSts, definition_sets, groups_page, norm_profile_of,
    read_sentence_vectors,
};
#[cfg(feature = "arrow")]
pub use jobs::encode_table::{EncodeTableParams, encode_table};
pub use jobs::{
    compare::{Comparison, Counterpart, compare},
    duplicates::{DuplicateParams, duplicates, duplicates_to},
    encode_lines::{CoverageCounts, LineEncoding, VectorFormat},
    encoded_rows::EncodedRows,
    folder::{ClaimParams, FileState, FolderEvent, FolderJob, FolderOutcome, FolderParams, files_of_pattern},
    groups::{Group, GroupBy, GroupParams, Grouping, TextGroups, group_sentences},
    join_vectors::join_vectors,
    mine::{MineParams, MinedPair, mine},
    nearest::{NearSentence, NearestSentences, SentencePlace, nearest_sentences},
    outliers::outliers,
    query_file::QueryFile,
    sample::{diverse_sample, random_sample},
};
pub use model::handle::Model;
pub use model2vec::Model2Vec;
/// Parameters of the trainer and of reading text, so that a caller needs no other crate of senv.
pub use senv_core::{
    Control, CorpusOptions, Coverage, FewKnownWords, KnownWords, NoObserver, Observer, Progress, Remedy, RunOptions,
    Scratch, SentenceEncoder, StaticEncoder, Tokenizer, Vocabulary, checkpoint::CheckpointPlan,
};
/// Forms of the encoders and losses, so that a caller needs no other crate of senv.
pub use senv_encoders::{
    Activation, Conditioning, GranGate, GruInit, GruStyle, LstmInit, Padding, RecurrentTopology, StatePooling, Window,
};
/// Share of known words below which a text is nothing for the English model.
#[cfg(feature = "english")]
pub use senv_english::MIN_KNOWN_SHARE as MIN_KNOWN_SHARE_ENGLISH;
#[cfg(feature = "eval")]
pub use senv_eval as eval;
/// Search among vectors, which [`Index`] and [`SentenceCollection`] are made of.
pub use senv_index as index;
/// Documents that are ranked by words and meaning.
pub use senv_index::documents;
pub use senv_losses::{
    Combine, InfoNce, InfoNceDirections, MarginLoss, NegativeCandidates, NliHeadForm, Prefix, RelatednessLoss,
    ScoreGrid, Selection, TargetRanking,
};
pub use senv_negative_sampling::{
    Composition, Constituents, Inference, NegativeSamplingParams, NegativeSharing, Schedule, WindowSide,
};

pub use average::{
    component_search::WEIGHTING_SENTENCES, unknown_words::UnknownWords, weight_scheme::WeightScheme,
    weighting::Weighting,
};
pub use base::{
    memory_text::MemoryText, text_files::TextFiles, text_sample::TextSample, text_size::TextSize,
    train_options::TrainOptions,
};
pub use check::{
    Check, CheckParams, CheckText, CheckWarning, CosineSpread, LossAgainstChance, MAX_EMPTY_SENTENCES, MAX_MEAN_COSINE,
    MAX_UNKNOWN_WORDS, MIN_DIRECTIONS, MIN_NEIGHBOUR_AUC, MIN_ORDER, MIN_TF_IDF_AGREEMENT, MIN_TRAINING_WORDS,
    MIN_TRAINING_WORDS_HASHED, NeighbourCheck, PairCheck, TfIdfAgreement, check,
};
#[cfg(feature = "english")]
pub use collection::WebExport;
pub use collection::{
    CollectionShard, CollectionText, Condition, DocumentHit, NewSentences, RankedCollection, SentenceCollection,
    SentenceCollectionParams, SentenceHit, SentenceSearch, TextColumns, TextDocuments, read_sentences,
};
pub use compress::table::CompressParams;
pub use data::{
    HeldOut, PairData, PairFiles, PairInput, PairKind, PairOptions, PairSource, SampledPair, SecondStage, SourceReport,
    reading::Reading,
    tf_idf::{TfIdf, TfIdfParams},
};
pub use gradient::{
    Decay, FitParams, L2Scaling, Phases, Stopped, WordUpdates,
    encoder_form::EncoderForm,
    pair_training::{PairLoss, PairParams},
    scored_pairs::{ScoredPairs, scored_pairs_fingerprint},
};
pub use grid_search::{BEST_MODEL, GridOutcome, GridRun, GridSearch, RUN_TABLE, SearchCandidate, SearchGrid};
pub use model::{
    decode::{Decode, DecodedSentence, Interpolation},
    digest::model_digest,
    encoder_model::{EncoderModel, EncoderSystem},
    expansion::{ExpansionReport, VocabularyExpansion},
    reverse_dictionary::{DefinedWord, ReverseDictionary},
    saved::{EncodingCost, ExpandVocabulary, SavedModel},
    score_pairs::ScorePairs,
    trained::Trained,
    tunable::TunableEncoder,
};
pub use recipe::{
    NeighbourRecipe, Recipe, WordsRecipe, fine_tune,
    start::{StartChoice, StartKind, StartTrial},
    train, train_sentences,
};
pub use sentence_index::{Hit, Index};
pub use sequence::{
    LongSentences, OutputForm, SequenceCell, SequenceConfig, SequenceForm, SequenceModel, SequenceSystem,
};
pub use start::initial::{Initial, InitialVectorReport, vectors_fingerprint};
pub use system::{
    about::{About, NamedSettings},
    averaged::{Averaged, AveragedSystem},
    contract::{Common, System, Trainer},
    pair_stages::stage_files,
    pair_system::{PairModel, PairSystem, PairSystemParams},
    staged_pairs::StagedPairs,
    start::Start,
    text_data::TextData,
    text_system::TextSystem,
    training_data::{TrainingData, Unread},
};
pub use systems::{pretraining::Pretraining, *};
pub use targets::{TargetConfig, TargetEncoder, TargetLoss, TargetModel, TargetParams, TargetSystem, TextTargets};
pub use train_job::{CheckOn, JobOutcome, SetByHand, TrainJob};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
