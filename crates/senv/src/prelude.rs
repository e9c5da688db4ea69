//! The names that most programs need: `use senv::prelude::*;`
//!
//! The prelude leaves out names that other crates also have, such as [`Error`](crate::Error), [`Index`](crate::Index)
//! and [`Start`](crate::Start). It imports the methods of the system traits without their names.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (text, path) = (folder.path().join("text.txt"), folder.path().join("my.senv"));
//! # std::fs::write(&text, "the train is late\nthe bus is late too\n\nrain falls\na storm brings rain\n".repeat(20))?;
//! use senv::prelude::*;
//! let model = Sent2Vec::train(&text)?;
//! model.save(&path)?;
//! let model = open(&path)?;
//! let score = model.similarity("Rain is coming.", "A storm brings rain.");
//! let sentences = ["the train is late", "a storm brings rain"];
//! let vectors = model.encode(&sentences)?; // an ndarray, one row per sentence
//! let index = senv::Index::new(&model, &sentences)?;
//! assert_eq!(index.search("The train is late.", 10)?[0].text, "the train is late");
//! # assert!((-1.0..=1.0).contains(&score) && vectors.nrows() == 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use ndarray;
pub use senv_core::{
    CancelToken, Control, Coverage, NoObserver, Observer, Progress, Scratch, SentenceEncoder, SentenceEncoderExt,
};

pub use crate::{
    Cse, CseParams, Pp, PpParams, PvDbow, PvDbowParams, Sent2Vec, Sent2VecParams, SiameseCbow, SiameseCbowParams,
    Word2Vec, Word2VecParams,
    base::{text_size::TextSize, train_options::TrainOptions},
    collection::SentenceCollection,
    forms::NegativeSamplingParams,
    model::{handle::Model, trained::Trained},
    open,
    recipe::{Recipe, fine_tune, fine_tune_with, train, train_sentences, train_sentences_with, train_with},
    system::{contract::System as _, pair_system::PairSystem as _, text_system::TextSystem as _},
};

#[cfg(feature = "english")]
pub use crate::english;
