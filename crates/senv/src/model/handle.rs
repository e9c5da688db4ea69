//! Any model of senv, opened without knowing which it is.

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
        saved::{Abilities, SavedModel},
        word_vectors::embeddings_of,
    },
};

/// A trained model of any system; cloning shares it. What it can do beside encoding stands in its [`Abilities`].
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
    /// The error of a run that was stopped on request.
    pub(crate) fn stopped(unfinished: impl Into<Model>) -> Self {
        Self::Stopped { unfinished: Box::new(unfinished.into()) }
    }

    /// The model as far as it was trained, where training was stopped on request ([`Error::Stopped`]).
    #[must_use]
    pub fn unfinished(&self) -> Option<&Model> {
        if let Self::Stopped { unfinished } = self { unfinished.downcast_ref() } else { None }
    }
}

/// Models are read and not changed; what one makes at its first use is whole or not there, whatever panics.
impl UnwindSafe for Model {}
impl RefUnwindSafe for Model {}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Model {
    /// An encoder that averages these word vectors.
    ///
    /// Text is tokenized as they say ([`Embeddings::tokenizer`]), or by [`tokenizer_of_words`] where they do not, as
    /// files of other programs: the longest form that has a row is looked up.
    ///
    /// # Errors
    /// If there are more words than numbers for them.
    pub fn from_embeddings(embeddings: Embeddings) -> Result<Self> {
        let tokenizer = embeddings.tokenizer().cloned();
        let (vocabulary, table) = embeddings.into_parts();
        let tokenizer = tokenizer.unwrap_or_else(|| tokenizer_of_words(&vocabulary));
        let features = words(&vocabulary)?;
        Ok(AverageEncoder::new(tokenizer, vocabulary, features, table)?.into())
    }

    /// An encoder of a program's own, for what asks for a model: collections, evaluations, jobs. A collection knows it
    /// again by the digest, which is to change whenever its vectors do, such as `my-encoder 3`. It has no file, and no
    /// words that could be counted.
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

    /// A digest of it in hexadecimal digits, which that of another model differs from; that of the file that it is
    /// saved to is the same ([`model_digest`](crate::model::model_digest)).
    ///
    /// # Errors
    /// For a model that has no file of its own, as one of Model2Vec; if memory for its bytes is lacking.
    pub fn digest(&self) -> Result<String> {
        self.0.digest()
    }

    /// The name of its kind: that of its system, `embeddings` for word vectors.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        self.0.vocabulary()
    }

    /// How it tokenizes text.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        self.0.tokenizer()
    }

    /// The table of its rows as they were trained ([`SavedModel::rows`]).
    ///
    /// # Errors
    /// As there.
    pub fn rows(&self) -> Result<&Table> {
        self.0.rows()
    }

    /// The settings that it was made with, as JSON; `null` for word vectors of another origin.
    #[must_use]
    pub fn config_json(&self) -> String {
        self.0.config_json()
    }

    /// Its hyperparameters as names and values ([`SavedModel::hyperparameters`]).
    #[must_use]
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.0.hyperparameters()
    }

    /// What it can do beside encoding.
    #[must_use]
    pub fn abilities(&self) -> Abilities<'_> {
        self.0.abilities()
    }

    /// Makes what speeds up the encoding of many sentences.
    pub fn prepare_for_many(&self) {
        self.0.prepare_for_many();
    }

    /// The model as what it is, if it is one of `M`.
    #[must_use]
    pub fn downcast_ref<M: SavedModel>(&self) -> Option<&M> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// Whether it is a model of `M`.
    #[must_use]
    pub fn is<M: SavedModel>(&self) -> bool {
        self.downcast_ref::<M>().is_some()
    }

    /// How many words of these sentences it knows: [`KnownWords::SAMPLE`] of them tell whether it fits a text.
    ///
    /// ```
    /// use senv::KnownWords;
    /// let known = senv::english()?.known_words(["Der Zug kam zu spät.", "Wir gingen im Regen nach Hause."]);
    /// let few = known.few(senv::MIN_KNOWN_SHARE_ENGLISH); // of any other model: KnownWords::MIN_SHARE
    /// assert!(few.is_some());
    /// # Ok::<(), senv::Error>(())
    /// ```
    pub fn known_words(&self, sentences: impl IntoIterator<Item = impl AsRef<str>>) -> KnownWords {
        KnownWords::count(self, self.tokenizer(), self.vocabulary(), sentences)
    }

    /// The terms under which it may be used, where it was made of a model that has some: of the English one CC BY-SA
    /// 4.0.
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        self.vocabulary().terms()
    }

    /// Writes it to a file that [`Model::open`] reads. What was at the path is replaced, whatever it is, once the file
    /// is complete.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.0.write(Destination::File(path.as_ref()))
    }

    /// Writes the bytes of that file to a writer; [`Model::from_bytes`] opens them.
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

    /// The average of rows that the model is, with one of its words for every unknown one
    /// ([`AverageEncoder::with_unknown_row`]): to encode with, not to save.
    ///
    /// # Errors
    /// [`Error::NotWords`] if it is no average; [`senv_core::Error::InvalidParameter`] if it lacks the word.
    pub fn with_unknown_row(&self, word: &str) -> Result<Self> {
        let average = self.abilities().average.ok_or_else(|| Error::NotWords { kind: self.kind() })?;
        Ok(average.clone().with_unknown_row(word)?.into())
    }

    /// Whether it has a part that reads word order and negation.
    #[must_use]
    pub fn reads_order(&self) -> bool {
        self.abilities().static_table.is_some_and(|table| table.order().is_some())
    }

    /// The same model without its order part, if it has one: for jobs that go by what sentences are about, as groups
    /// and searches do.
    ///
    /// # Errors
    /// None for the models of this crate.
    pub fn without_order(&self) -> Result<Self> {
        if self.reads_order() { self.with_order_weight(0.0) } else { Ok(self.clone()) }
    }

    /// The same model with its order part of another weight: 1 for the weight that it has, 2 for twice of it, and 0 for
    /// the table alone, whose vectors are shorter. A search for topics wants less of it, one for duplicates more.
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
    /// [`Error::NoOrderPart`] for a model without one; [`senv_core::Error::InvalidParameter`] for a weight that is
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

    /// How related two sentences are by the head of a model that was fine-tuned on scored pairs, on the scale of those
    /// scores; `None` for a model without a head.
    ///
    /// # Errors
    /// If memory is lacking.
    pub fn relatedness(&self, first: &str, second: &str) -> Result<Option<f64>> {
        self.abilities().head.map(|head| head.score_pair(first, second)).transpose()
    }

    /// The `k` words whose vectors are nearest to that of a definition, the nearest first; none for a definition
    /// without a known word.
    ///
    /// # Errors
    /// [`Error::NoDictionary`] if the model was not trained towards vectors of words; [`Error::NonFiniteVector`].
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

    /// The model with the words of `vectors` besides its own.
    ///
    /// # Errors
    /// [`Error::CannotExpand`] for a kind that takes no more words; [`senv_core::Error`] where the vectors do not fit.
    pub fn expanded(&self, vectors: &Embeddings, expansion: VocabularyExpansion) -> Result<(Self, ExpansionReport)> {
        let model = self.abilities().expandable.ok_or_else(|| Error::CannotExpand { kind: self.kind() })?;
        let (model, report) = model.expanded(vectors, expansion)?;
        Ok((model.into(), report))
    }

    /// The words and their rows as they were trained, for other programs and as a start for other systems; n-grams,
    /// weights and common components are left behind.
    ///
    /// # Errors
    /// If the copy does not fit into memory.
    pub fn to_embeddings(&self) -> Result<Embeddings> {
        embeddings_of(&*self.0)
    }

    /// The average of rows that the model is or, of a compressed model, the average of its words: n-grams and the part
    /// that reads word order are left behind.
    ///
    /// # Errors
    /// [`Error::NotWords`] if it is no average.
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
