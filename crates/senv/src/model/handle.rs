//! A model of any kind, opened without knowing which.

use std::{
    any::Any,
    borrow::Cow,
    fmt,
    io::Write,
    panic::{RefUnwindSafe, UnwindSafe},
    path::Path,
    sync::Arc,
};

use ndarray::Array2;
use senv_core::{
    Coverage, KnownWords, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary, files::Destination,
    hyperparameters::Hyperparameter,
};
use senv_store::{Embeddings, NearestIndex, tokenizer_of_words};

use crate::{
    average::{
        encoder::{AverageEncoder, words},
        unknown_words::UnknownWords,
    },
    error::{Error, Result},
    model::{
        decode::{DecodeParams, DecodedSentence},
        expansion::{ExpansionReport, VocabularyExpansion},
        named_encoder::NamedEncoder,
        reverse_dictionary::DefinedWord,
        saved::{Abilities, SavedModel, file},
        word_vectors::embeddings_of,
    },
};

/// A trained model of any system. Cloning shares it. [`Abilities`] says what it can do in addition to encoding.
///
/// ```no_run
/// use senv_core::SentenceEncoder;
/// use senv::{Model, Sent2Vec};
/// let model = Model::open("books.senv")?;
/// println!("{}: {:.3}", model.kind(), model.similarity("a cat sat on the mat", "the cat is on the rug"));
/// if let Some(sent2vec) = model.downcast_ref::<Sent2Vec>() {
///     println!("{} n-gram buckets", sent2vec.params().buckets.unwrap_or(0));
/// }
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Clone)]
pub struct Model(Arc<dyn SavedModel>);

impl<M: SavedModel> From<M> for Model {
    fn from(model: M) -> Self {
        Self(Arc::new(model))
    }
}

impl From<Box<dyn SavedModel>> for Model {
    fn from(model: Box<dyn SavedModel>) -> Self {
        Self(model.into())
    }
}

impl Error {
    /// Returns the error of a run that was stopped on request.
    pub(crate) fn stopped(unfinished: impl Into<Model>) -> Self {
        Self::Stopped { unfinished: Box::new(unfinished.into()) }
    }

    /// Returns the model as far as it was trained when training was stopped on request ([`Error::Stopped`]).
    #[must_use]
    pub fn unfinished(&self) -> Option<&Model> {
        if let Self::Stopped { unfinished } = self { unfinished.downcast_ref() } else { None }
    }
}

/// A model is read and never changed. What it builds on first use is complete or absent, even after a panic.
impl UnwindSafe for Model {}
impl RefUnwindSafe for Model {}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, dim, vocabulary) = (self.kind(), self.dim(), self.vocabulary());
        f.debug_struct("Model").field("kind", &kind).field("dim", &dim).field("vocabulary", vocabulary).finish()
    }
}

impl Model {
    /// Returns an encoder that averages these word vectors.
    ///
    /// Text is tokenized by [`Embeddings::tokenizer`] if it is known. Otherwise, as for files of other programs,
    /// [`tokenizer_of_words`] is used, and the longest form that has a row is looked up.
    ///
    /// # Errors
    /// If there are more words than token ids.
    pub fn from_embeddings(embeddings: Embeddings) -> Result<Self> {
        let tokenizer = embeddings.tokenizer().cloned();
        let (vocabulary, table) = embeddings.into_parts();
        let tokenizer = tokenizer.unwrap_or_else(|| tokenizer_of_words(&vocabulary));
        let features = words(&vocabulary)?;
        Ok(AverageEncoder::new(tokenizer, vocabulary, features, table)?.into())
    }

    /// Wraps your own encoder for functions that take a model: collections, evaluations, jobs. A collection identifies
    /// the encoder by `digest`, such as `my-encoder 3`, which must change whenever its vectors do. The model has no
    /// file and no words to count.
    ///
    /// ```
    /// use senv::{Model, SentenceCollection, SentenceEncoder};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("my.index");
    /// # fn test(folder: std::path::PathBuf, mine: impl SentenceEncoder + 'static) -> senv::Result<()> {
    /// let model = Model::from_encoder("my-encoder 3", mine)?;
    /// let mut collection = SentenceCollection::create(&folder, &model)?;
    /// collection.add(&["The train is late."])?;
    /// let again = SentenceCollection::open_with_model(&folder, &model)?;
    /// # assert_eq!(again.len(), 1);
    /// # Ok(()) }
    /// # test(folder, senv::english()?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// None at present.
    pub fn from_encoder(digest: &str, encoder: impl SentenceEncoder + 'static) -> Result<Self> {
        let none: [(&str, u64); 0] = [];
        let vocabulary = Vocabulary::from_counts(none, 0)?;
        Ok(NamedEncoder { encoder, digest: digest.to_owned(), tokenizer: Tokenizer::whitespace(), vocabulary }.into())
    }

    /// Returns its digest in hexadecimal digits. Different models have different digests, and a saved file has the same
    /// digest ([`model_digest`](crate::model::model_digest)).
    ///
    /// # Errors
    /// If the model does not have a file format of its own, as models of Model2Vec, or if memory runs out.
    pub fn digest(&self) -> Result<String> {
        self.0.digest()
    }

    /// Returns the name of its kind: its system, or `embeddings` for word vectors.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Returns the words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        self.0.vocabulary()
    }

    /// Returns how it tokenizes text.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        self.0.tokenizer()
    }

    /// Returns the table of its rows as they were trained ([`SavedModel::rows`]).
    ///
    /// # Errors
    /// The errors of [`SavedModel::rows`].
    pub fn rows(&self) -> Result<&Table> {
        self.0.rows()
    }

    /// Returns the settings that it was made with, as JSON; `null` for word vectors of another origin.
    #[must_use]
    pub fn config_json(&self) -> String {
        self.0.config_json()
    }

    /// Returns its hyperparameters as names and values ([`SavedModel::hyperparameters`]).
    #[must_use]
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.0.hyperparameters()
    }

    /// Returns what it can do in addition to encoding.
    #[must_use]
    pub fn abilities(&self) -> Abilities<'_> {
        self.0.abilities()
    }

    /// Prepares the model to encode many sentences faster.
    pub fn prepare_for_many(&self) {
        self.0.prepare_for_many();
    }

    /// Returns the model as `M`, if it is one.
    #[must_use]
    pub fn downcast_ref<M: SavedModel>(&self) -> Option<&M> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// Whether it is an `M`.
    #[must_use]
    pub fn is<M: SavedModel>(&self) -> bool {
        self.downcast_ref::<M>().is_some()
    }

    /// Counts the known words of these sentences. [`KnownWords::SAMPLE`] sentences tell whether the model fits a text.
    ///
    /// ```
    /// use senv::KnownWords;
    /// let known = senv::english()?.known_words(["Der Zug kam zu spät.", "Wir gingen im Regen nach Hause."]);
    /// let few = known.few(senv::MIN_KNOWN_SHARE_ENGLISH); // for any other model: KnownWords::MIN_SHARE
    /// assert!(few.is_some());
    /// # Ok::<(), senv::Error>(())
    /// ```
    pub fn known_words(&self, sentences: impl IntoIterator<Item = impl AsRef<str>>) -> KnownWords {
        KnownWords::count(self, self.tokenizer(), self.vocabulary(), sentences)
    }

    /// Returns the terms of use, if the model is derived from one that has some: CC BY-SA 4.0 for the English model.
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        self.vocabulary().terms()
    }

    /// Writes it to a file that [`Model::open`] reads. The complete file replaces any existing file at the path
    /// atomically.
    ///
    /// # Errors
    /// If the file cannot be written. [`senv_core::Error::InvalidParameter`] for the path `english`, which
    /// [`Model::open`] takes for the built-in model; `./english` is a file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.0.write(file(path.as_ref())?)
    }

    /// Writes the bytes of that file to a writer. [`Model::from_bytes`] opens them.
    ///
    /// ```
    /// use senv::Model;
    ///
    /// let mut bytes = Vec::new();
    /// senv::english()?.write_to(&mut bytes)?; // into a database, an archive, a response
    /// let english = Model::from_bytes(bytes)?;
    /// assert!(english.similarity("Rain is coming.", "A storm brings rain.") > 0.5);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_to(&self, mut writer: impl Write) -> Result<()> {
        self.0.write(Destination::Writer(&mut writer))
    }

    /// Returns the average of rows that the model is, with the row of `word` for every unknown word
    /// ([`AverageEncoder::with_unknown_row`]). The result can encode but cannot be saved.
    ///
    /// # Errors
    /// [`Error::NotWords`] if the model is not an average; [`senv_core::Error::InvalidParameter`] if it lacks the word.
    pub fn with_unknown_row(&self, word: &str) -> Result<Self> {
        let average = self.abilities().average.ok_or_else(|| Error::NotWords { kind: self.kind() })?;
        Ok(average.clone().with_unknown_row(word)?.into())
    }

    /// Whether it has an order part, which reads word order and negation.
    #[must_use]
    pub fn reads_order(&self) -> bool {
        self.abilities().static_table.is_some_and(|table| table.order().is_some())
    }

    /// Returns the same model without its order part, for jobs about the topic of sentences, such as groups and
    /// searches.
    ///
    /// # Errors
    /// None for the models of this crate.
    pub fn without_order(&self) -> Result<Self> {
        if self.reads_order() { self.with_order_weight(0.0) } else { Ok(self.clone()) }
    }

    /// Returns the same model with its order part scaled: 1 leaves it unchanged, 2 doubles it, and 0 removes it, which
    /// shortens the vectors. Use less of it to search for topics, more to find duplicates.
    ///
    /// ```
    /// use senv_core::SentenceEncoder;
    /// let english = senv::english()?;
    /// let exchanged = ["The dog bites the man.", "The man bites the dog."];
    /// let cosine = |weight| english.with_order_weight(weight).map(|model| model.similarity(exchanged[0], exchanged[1]));
    /// assert!(cosine(0.0)? > 0.999 && cosine(1.0)? > cosine(2.0)?);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoOrderPart`] for a model without one; [`senv_core::Error::InvalidParameter`] if the weight is
    /// negative, infinite or NaN.
    pub fn with_order_weight(&self, weight: f64) -> Result<Self> {
        let none = || Error::NoOrderPart { kind: self.kind() };
        let table = self.abilities().static_table.filter(|table| table.order().is_some()).ok_or_else(none)?;
        let table = table.clone().with_order_weight(weight)?;
        let table = if weight == 0.0 { table.without_order() } else { table };
        Ok(self.0.with_static_table(table).ok_or_else(none)?.into())
    }

    /// Generates text from the vector of a sentence, the most probable first.
    ///
    /// # Errors
    /// [`Error::NoDecoders`] if the model only encodes; the errors of [`crate::model::Decode::decode`].
    pub fn decode(&self, sentence: &str, params: &DecodeParams) -> Result<Vec<DecodedSentence>> {
        let decoders = self.abilities().decoders.ok_or_else(|| Error::NoDecoders { kind: self.kind() })?;
        decoders.decode(sentence, params)
    }

    /// Generates text from a vector between those of two sentences: a `share` of 0 is the first, and 1 the second.
    ///
    /// # Errors
    /// The errors of [`Model::decode`].
    pub fn decode_between(
        &self,
        first: &str,
        second: &str,
        share: f32,
        params: &DecodeParams,
    ) -> Result<Vec<DecodedSentence>> {
        let decoders = self.abilities().decoders.ok_or_else(|| Error::NoDecoders { kind: self.kind() })?;
        decoders.decode_between(first, second, share, params)
    }

    /// Returns how related two sentences are by the head of a model fine-tuned on scored pairs, on the scale of those
    /// scores; `None` for a model without a head.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn relatedness(&self, first: &str, second: &str) -> Result<Option<f64>> {
        self.abilities().head.map(|head| head.score_pair(first, second)).transpose()
    }

    /// Returns the `k` words whose vectors are nearest to that of a definition, nearest first; empty for a definition
    /// without a known word.
    ///
    /// # Errors
    /// [`Error::NoDictionary`] if the model was not trained toward word vectors; [`Error::NonFiniteVector`].
    pub fn define(&self, definition: &str, k: usize) -> Result<Vec<DefinedWord>> {
        let dictionary =
            self.abilities().reverse_dictionary.ok_or_else(|| Error::NoDictionary { kind: self.kind() })?;
        let mut vector = vec![0.0; self.dim()];
        self.encode_into(definition, &mut Scratch::default(), &mut vector);
        if vector.iter().any(|x| !x.is_finite()) {
            return Err(Error::NonFiniteVector { text: definition.to_owned() });
        }
        let words = dictionary.target_words();
        let nearest = NearestIndex::new(words.table()).nearest(&vector, k)?;
        Ok(nearest
            .into_iter()
            .map(|found| DefinedWord {
                word: words.word(found.row).to_owned(),
                cosine: found.cosine,
                trained: !dictionary.is_held_out(found.row),
            })
            .collect())
    }

    /// Returns the model with the words of `vectors` added.
    ///
    /// # Errors
    /// [`Error::CannotExpand`] for a kind that does not accept more words; [`senv_core::Error`] if the vectors do not
    /// fit.
    pub fn expanded(&self, vectors: &Embeddings, expansion: VocabularyExpansion) -> Result<(Self, ExpansionReport)> {
        let model = self.abilities().expandable.ok_or_else(|| Error::CannotExpand { kind: self.kind() })?;
        let (model, report) = model.expanded(vectors, expansion)?;
        Ok((model.into(), report))
    }

    /// Returns the words and their rows as they were trained, for other programs or to start other systems. N-grams,
    /// weights and common components are left out.
    ///
    /// ```
    /// use senv::parts::store::NearestIndex;
    ///
    /// let words = senv::english()?.to_embeddings()?;
    /// let train = words.get("train").expect("a common word"); // the vector of a word
    /// for found in NearestIndex::new(words.table()).nearest(train, 5)? {
    ///     println!("{} {:.2}", words.word(found.row), found.cosine); // its nearest words
    /// }
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the copy does not fit into memory.
    pub fn to_embeddings(&self) -> Result<Embeddings> {
        embeddings_of(&*self.0)
    }

    /// Returns the average of rows that the model is or, for a compressed model, the average of its words. N-grams and
    /// the order part are left out.
    ///
    /// # Errors
    /// [`Error::NotWords`] if the model is not an average.
    pub(crate) fn word_average(&self) -> Result<Cow<'_, AverageEncoder>> {
        if let Some(average) = self.abilities().average {
            return Ok(Cow::Borrowed(average));
        }
        let Some(table) = self.abilities().static_table else { return Err(Error::NotWords { kind: self.kind() }) };
        let unknown = if table.unknown_word_length().is_some() { UnknownWords::Hash } else { UnknownWords::Skip };
        let (vocabulary, rows) = self.to_embeddings()?.into_parts();
        let features = words(&vocabulary)?;
        let average = AverageEncoder::new(self.tokenizer().clone(), vocabulary, features, rows)?;
        Ok(Cow::Owned(average.with_unknown_words(unknown)))
    }
}

senv_core::encoding_methods!([] Model);

impl SentenceEncoder for Model {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.0.encode_into(sentence, scratch, out)
    }

    fn try_encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> senv_core::Result<Coverage> {
        self.0.try_encode_into(sentence, scratch, out)
    }

    fn encode_batch(&self, sentences: &[&str]) -> senv_core::Result<(Array2<f32>, Vec<Coverage>)> {
        self.0.encode_batch(sentences)
    }
}
