//! The engine of a page: one model, one text or collection, one query at a time.

use senv_core::{Result, Scratch, SentenceEncoder, StaticEncoder, Tokenizer, kernels};
use serde::Serialize;

use crate::{
    collection::{Opened, Sentences},
    embedding::{Counts, Embedding},
    search::{Hit, Lines, Query, Reading, Searching, Source},
    shares::{Comparison, order_share, side},
};

/// A description of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// The number of values of a vector.
    pub dim: usize,
    /// The number of values of a line vector in search, which ignores word order.
    pub line_dim: usize,
    /// The number of words that have a row.
    pub words: usize,
    /// The size of the model file in bytes.
    pub bytes: usize,
}

/// The engine: a model, buffers, and at most one text or collection to search.
///
/// Vectors are those of [`senv_english::model`], bit for bit. Like collections of `senv index`, lines are searched
/// without word order: lines and neighbors are those of `senv nearest --order 0`.
#[derive(Debug)]
pub struct Session {
    encoder: StaticEncoder,
    /// The encoder without its order part, for search.
    table: StaticEncoder,
    /// The same rows without an order part, for text that is already split into tokens: gives the vector of one token.
    tokens: StaticEncoder,
    scratch: Scratch,
    source: Source,
    query: Query,
}

impl Session {
    /// Opens the model that is part of the program.
    ///
    /// # Errors
    /// The errors of [`senv_english::model`].
    pub fn new() -> Result<Self> {
        let encoder = senv_english::model()?;
        let (vocabulary, rows) = (encoder.vocabulary().clone(), encoder.rows().clone());
        let tokens = StaticEncoder::new(Tokenizer::whitespace(), vocabulary, rows, encoder.unknown_word_length())?;
        let table = encoder.clone().without_order();
        let dim = table.dim();
        let source = Source::Lines(Box::new(Lines::empty(dim)));
        Ok(Self { encoder, table, tokens, scratch: Scratch::default(), source, query: Query::empty(dim) })
    }

    /// Describes the model.
    #[must_use]
    pub fn about(&self) -> About {
        let (dim, line_dim) = (self.encoder.dim(), self.table.dim());
        let words = self.encoder.vocabulary().len();
        About { dim, line_dim, words, bytes: senv_english::BYTES.len() }
    }

    /// Embeds a sentence.
    pub fn embed(&mut self, sentence: &str) -> Embedding {
        let mut vector = vec![0.0; self.encoder.dim()];
        let counts = self.encoder.encode_into(sentence, &mut self.scratch, &mut vector).into();
        Embedding { counts, vector }
    }

    /// Compares two sentences: their cosine, and what each word and the word order add to it.
    pub fn compare(&mut self, first: &str, second: &str) -> Comparison {
        let (u, v) = (self.embed(first), self.embed(second));
        let cosine = kernels::cosine(&u.vector, &v.vector);
        let order = order_share(&u.vector, &v.vector, self.tokens.dim());
        let of_words = cosine - order.unwrap_or(0.0);
        let tokenizer = self.encoder.tokenizer();
        let mut side = |sentence: &str, own: &Embedding, other: &Embedding| {
            side(tokenizer, &self.tokens, &mut self.scratch, sentence, own, &other.vector, of_words)
        };
        let sides = [side(first, &u, &v), side(second, &v, &u)];
        Comparison { cosine, order, sides }
    }

    /// Replaces the current text by the bytes of a text file, one sentence per line. Nothing is read yet; see
    /// [`Session::read_lines`]. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// The errors of [`senv_core::TextReader::from_reader`], for example for a compressed file.
    pub fn open_text(&mut self, bytes: Vec<u8>) -> Result<()> {
        self.close();
        self.source = Source::Lines(Box::new(Lines::open(bytes, self.table.dim())?));
        Ok(())
    }

    /// Replaces what is searched by a collection that `senv index --export-web` wrote. It can be searched once
    /// [`Session::read_lines`] has compared it with its checksums.
    ///
    /// # Errors
    /// The errors of [`senv_core::files::WebCollection::from_bytes`]; [`senv_core::Error::BadFile`] if the collection
    /// belongs to another model.
    pub fn open_collection(&mut self, bytes: Vec<u8>) -> Result<Opened> {
        self.close();
        let sentences = Sentences::open(bytes, self.table.dim())?;
        let about = sentences.about();
        self.source = Source::Sentences(Box::new(sentences));
        Ok(about)
    }

    /// Frees the memory of the current text or collection before the next one needs more.
    fn close(&mut self) {
        self.query = Query::empty(self.table.dim());
        self.source = Source::Lines(Box::new(Lines::empty(self.table.dim())));
    }

    /// Reads and embeds up to `at_most` lines of the text, counting blank lines. For a collection, checks a part that
    /// takes about as long.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if memory runs out: the lines read before can be searched, and no more are read.
    /// [`senv_core::Error::Checksum`] if a collection is damaged: none of it can be searched.
    pub fn read_lines(&mut self, at_most: usize) -> Result<Reading> {
        match &mut self.source {
            Source::Lines(lines) => lines.read(&self.table, &mut self.scratch, at_most),
            Source::Sentences(sentences) => {
                let checked = sentences.check(at_most).map(|done| Reading { lines: sentences.len(), done });
                if checked.is_err() {
                    self.close();
                }
                checked
            }
        }
    }

    /// Sets the query, for which [`Session::search`] finds the `k` nearest lines.
    pub fn ask(&mut self, query: &str, k: usize) -> Counts {
        let mut vector = vec![0.0; self.table.dim()];
        let counts = self.table.encode_into(query, &mut self.scratch, &mut vector).into();
        self.query = Query::new(vector, k);
        counts
    }

    /// Compares the query with up to `at_most` further lines.
    pub fn search(&mut self, at_most: usize) -> Searching {
        self.query.search(&self.source, at_most)
    }

    /// Returns the nearest lines among those compared so far, nearest first; among equals, the earlier line first.
    /// Lines without words are never among them, and a query without words has no hits.
    #[must_use]
    pub fn hits(&self) -> Vec<Hit> {
        self.query.hits(&self.source)
    }

    /// The vectors of the lines read, in blocks of whole rows; none for a collection.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        let blocks = match &self.source {
            Source::Lines(lines) => lines.blocks(),
            Source::Sentences(_) => &[],
        };
        blocks.iter().map(Vec::as_slice)
    }
}
