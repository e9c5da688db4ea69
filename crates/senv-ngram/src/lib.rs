//! Word and character n-grams and their hash buckets.
//!
//! "New York" means more than "new" and "york", so Sent2Vec gives pairs of adjacent words their own vector. There are
//! too many pairs to list, so a hash picks one of two million rows ([`WordNgrams`]). The row must match the program
//! that trained the model, and two variants are in use: Sent2Vec hashes the ids of the words, fastText their spelling
//! ([`NgramScheme`]). Training drops some n-grams of each sentence at random ([`Dropout`]), as in the paper or in its
//! released program. For fastText there are also character n-grams ([`CharNgrams`]), from which `FastText` of senv
//! builds vectors for unknown words.
//!
//! ```
//! use senv_core::{FeatureList, Vocabulary, rng::stream};
//! use senv_ngram::{Dropout, DropoutMask, DropoutScheme, WordNgramParams, WordNgrams};
//!
//! let vocabulary = Vocabulary::from_counts([("in", 9), ("new", 5), ("york", 4), ("paris", 2)], 20)?;
//! let n_grams = WordNgrams::new(&vocabulary, WordNgramParams { n_buckets: 1000, ..Default::default() })?;
//! assert_eq!(n_grams.n_rows(), 4 + 1000);
//!
//! let tokens: Vec<_> = "in new york".split(' ').filter_map(|token| vocabulary.id(token)).collect();
//! let mut features = FeatureList::default();
//! n_grams.features_into(&tokens, &mut features);
//! let spans: Vec<_> = features.iter().map(|(_, start, end)| (start, end)).collect();
//! assert_eq!(spans, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]);
//!
//! // In training, one of the three tokens is dropped from the bigrams.
//! let dropout = Dropout { scheme: DropoutScheme::Tokens, n_dropped: 1 };
//! let (mut rng, mut mask) = (stream(1, "dropout", &[0]), DropoutMask::default());
//! n_grams.features_with_dropout_into(&tokens, dropout, &mut rng, &mut mask, &mut features);
//! assert!(features.rows().len() < 5);
//! # Ok::<(), senv_ngram::Error>(())
//! ```
//!
//! Everything here is a pure function of its arguments, without tables or training; it allocates only while lists grow.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod buckets;
mod char_ngrams;
mod dropout;
mod error;
mod hash;
mod word_ngrams;
mod write;

pub use buckets::Buckets;
pub use char_ngrams::{CharNgram, CharNgrams, END_OF_LINE};
pub use dropout::{Dropout, DropoutMask, DropoutScheme};
pub use error::{Error, Result};
pub use hash::{NgramScheme, append, fnv1a, fnv1a_signed, hash_operand};
pub use word_ngrams::{MAX_ORDER, PLACEHOLDER, WordNgramParams, WordNgrams};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
