//! The engine behind a page: one model, one text, one question at a time.

use senv_core::{Result, Scratch, SentenceEncoder, StaticEncoder, Tokenizer, kernels};
use serde::Serialize;

use crate::{
    collection::{Opened, Sentences},
    embedding::{Counts, Embedding},
    search::{Hit, Lines, Query, Reading, Searching, Source},
    shares::{Comparison, order_share, side},
};

/// What the model is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// Values of a vector.
    pub dim: usize,
    /// Values of the vector of a line that is searched, which is without word order.
    pub line_dim: usize,
    /// Words that have a row.
    pub words: usize,
    /// Bytes of the model file.
    pub bytes: usize,
}

/// The engine: a model, buffers, and at most one text or collection that is searched.
///
/// Vectors are those of [`senv_english::model`], bit for bit. Lines are searched without word order, as collections of
/// `senv index` are: lines and neighbours are those of `senv nearest --order 0`.
#[derive(Debug)]
pub struct Session {
    encoder: StaticEncoder,
    /// The same without an order part, for search.
    table: StaticEncoder,
    /// The same rows for text that is split into tokens already, without an order part: the vector of one token.
    tokens: StaticEncoder,
    scratch: Scratch,
    source: Source,
    query: Query,
}

impl Session {
    /// Opens the model that is part of the program.
    ///
    /// # Errors
    /// As [`senv_english::model`].
    pub fn new() -> Result<Self> {
        let encoder = senv_english::model()?;
        let (vocabulary, rows) = (encoder.vocabulary().clone(), encoder.rows().clone());
        let tokens = StaticEncoder::new(Tokenizer::whitespace(), vocabulary, rows, encoder.unknown_word_length())?;
        let table = encoder.clone().without_order();
        let dim = table.dim();
        let source = Source::Lines(Lines::empty(dim));
        Ok(Self { encoder, table, tokens, scratch: Scratch::default(), source, query: Query::empty(dim) })
    }

    /// What the model is.
    #[must_use]
    pub fn about(&self) -> About {
        let (dim, line_dim) = (self.encoder.dim(), self.table.dim());
        let words = self.encoder.vocabulary().len();
        About { dim, line_dim, words, bytes: senv_english::BYTES.len() }
    }

    /// The vector of a sentence.
    pub fn embed(&mut self, sentence: &str) -> Embedding {
        let mut vector = vec![0.0; self.encoder.dim()];
        let counts = self.encoder.encode_into(sentence, &mut self.scratch, &mut vector).into();
        Embedding { counts, vector }
    }

    /// The cosine of two sentences, and what each word, and their order, adds to it.
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

    /// Takes the bytes of a text file, one sentence a line, in place of the text before. Nothing is read yet: see
    /// [`Session::read_lines`]. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// Those of [`senv_core::TextReader::from_reader`]: a compressed file.
    pub fn open_text(&mut self, bytes: Vec<u8>) -> Result<()> {
        self.close();
        self.source = Source::Lines(Lines::open(bytes, self.table.dim())?);
        Ok(())
    }

    /// Takes the bytes of a collection that `senv index --export-web` wrote, in place of what was searched before. It
    /// is searched once [`Session::read_lines`] has compared it with its checksums.
    ///
    /// # Errors
    /// Those of [`senv_core::files::WebCollection::from_bytes`]; [`senv_core::Error::BadFile`] for a collection of
    /// another model.
    pub fn open_collection(&mut self, bytes: Vec<u8>) -> Result<Opened> {
        self.close();
        let sentences = Sentences::open(bytes, self.table.dim())?;
        let about = sentences.about();
        self.source = Source::Sentences(sentences);
        Ok(about)
    }

    /// What the text or collection before took is free before the next one takes more.
    fn close(&mut self) {
        self.query = Query::empty(self.table.dim());
        self.source = Source::Lines(Lines::empty(self.table.dim()));
    }

    /// Reads and embeds lines of the text until `at_most` lines are read, blank ones among them, or the text ends;
    /// checks a part of a collection that takes about as long.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if memory is lacking: the lines before can be searched, and nothing more is read;
    /// [`senv_core::Error::Checksum`] for a damaged collection, of which nothing is searched.
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

    /// Sets the query, of which [`Session::search`] finds the `k` nearest lines.
    pub fn ask(&mut self, query: &str, k: usize) -> Counts {
        let mut vector = vec![0.0; self.table.dim()];
        let counts = self.table.encode_into(query, &mut self.scratch, &mut vector).into();
        self.query = Query::new(vector, k);
        counts
    }

    /// Compares the query with at most so many further lines.
    pub fn search(&mut self, at_most: usize) -> Searching {
        self.query.search(&self.source, at_most)
    }

    /// The nearest lines among those compared so far, the nearest first; among equals the earlier line. Lines without a
    /// word are never among them, and a query without one has none.
    #[must_use]
    pub fn hits(&self) -> Vec<Hit> {
        self.query.hits(&self.source)
    }

    /// The vectors of the lines that were read, in blocks of whole rows; none of a collection.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        let blocks = match &self.source {
            Source::Lines(lines) => lines.blocks(),
            Source::Sentences(_) => &[],
        };
        blocks.iter().map(Vec::as_slice)
    }
}
