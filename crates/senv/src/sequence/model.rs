//! A trained encoder with decoders: saving, opening, encoding, decoding.

use senv_core::Tokenizer;
use std::fmt::Debug;

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, concatenate};
use senv_core::{
    Coverage, Result as CoreResult, Rows, Scratch, SentenceEncoder, Table, TokenId, Vocabulary,
    arrays::{Parameters, TokenBatch},
    files::Destination,
    hyperparameters::Hyperparameters,
    kernels,
};
use senv_encoders::{BeamSearch, Decoder, Hypothesis, beam_search};
use senv_store::{ModelFile, ModelWriter};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    cell::with_network,
    form::{Seq2Seq, SequenceForm},
};
use crate::{
    base::{configuration::Configuration, file, sealed::Sealed},
    data::reading::{END, Reading, SPECIAL, UNKNOWN, encode_batch_by_length, encode_into_with, gather},
    error::{Error, Result},
    gradient::{WordUpdates, encoder_form::EncoderForm},
    model::{
        decode::{DecodeParams, DecodedSentence},
        saved::{Abilities, EncodingCost, OpenModel, SavedModel, model_file_methods},
        tunable::TunableEncoder,
    },
};

/// The settings of a system with decoders. The trait is sealed: this crate implements it, and others call it.
pub trait SequenceSystem:
    Sealed + Hyperparameters + Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync + 'static
{
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Returns the names of the decoders of a model whose parts have these numbers of decoders.
    fn decoder_names(parts: &[usize]) -> Vec<&'static str> {
        ["itself", "paraphrase"].into_iter().take(parts.iter().sum()).collect()
    }

    /// Returns which word vectors training changes.
    fn word_updates(&self) -> WordUpdates;
}

/// The settings of a model, as stored in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: SequenceSystem")]
pub struct SequenceConfig<S> {
    /// Encoders whose vectors are concatenated, each with its decoders: one, or two in combined Skip-thoughts.
    pub parts: Vec<SequenceForm>,
    /// How text is read.
    pub reading: Reading,
    /// Whether the vector of each part is normalized.
    #[serde(rename = "normalise")]
    pub normalize: bool,
    /// The parameters that it was trained with; `None` for weights of another origin.
    pub params: Option<S>,
}

/// One encoder with its decoders and words.
#[derive(Debug, Clone)]
pub(crate) struct EncoderPart {
    pub(crate) words: Table,
    pub(crate) seq2seq: Seq2Seq,
    /// The parameters of the encoder, of the decoders, and of the outputs.
    pub(crate) parameters: Vec<Parameters<f32>>,
}

impl EncoderPart {
    pub(crate) fn new(words: Table, seq2seq: Seq2Seq, parameters: Vec<Parameters<f32>>) -> Self {
        Self { words, seq2seq, parameters }
    }

    fn vectors(&self, sentences: &[&[TokenId]]) -> CoreResult<Array2<f32>> {
        let (batch, words) = gather(&self.words, sentences)?;
        self.seq2seq.networks.encode(&self.parameters[0], &batch, words.view())
    }

    /// Returns the hypotheses of `decoder`, number `k`, for a vector.
    fn hypotheses(
        &self,
        decoder: &impl Decoder,
        k: usize,
        vector: ArrayView1<'_, f32>,
        search: &BeamSearch,
    ) -> Result<Vec<Hypothesis>> {
        let (of_decoder, of_output) = self.seq2seq.groups(k);
        let speaker = decoder.session(&self.parameters[of_decoder], vector)?;
        let start = self.seq2seq.form.start_token.then_some(END.0);
        let embed = |word: Option<u32>, out: &mut [f32]| {
            if let Some(word) = word.or(start) {
                out.copy_from_slice(Rows::row(&self.words, word as usize));
            }
        };
        let output = &self.parameters[of_output];
        let logits = |states: ArrayView2<'_, f32>| self.seq2seq.output.log_probabilities(output, states);
        beam_search(&speaker, search, embed, logits)
    }
}

/// A trained encoder with decoders.
#[derive(Debug, Clone)]
pub struct SequenceModel<S> {
    pub(crate) config: SequenceConfig<S>,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) parts: Vec<EncoderPart>,
}

/// The names of the tables of the parts in a file.
const TABLES: [&str; 2] = [file::ROWS, "rows2"];

impl<S: SequenceSystem> SequenceModel<S> {
    /// The name of this kind in model files.
    pub const KIND: &'static str = S::KIND;

    pub(crate) fn new(config: SequenceConfig<S>, vocabulary: Vocabulary, parts: Vec<EncoderPart>) -> Self {
        Self { config, vocabulary, parts }
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &SequenceConfig<S> {
        &self.config
    }

    /// The words it knows: first the end token, the token for unknown words, and the words that decoders can generate.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The word vectors of the first part.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.parts[0].words
    }

    /// Sets whether the end token is read after the last word of a sentence to encode.
    #[must_use]
    pub fn with_end_token(mut self, read: bool) -> Self {
        self.config.reading.end = self.vocabulary.id(SPECIAL[0]).filter(|_| read);
        self
    }

    /// Returns the number of decoders in all parts.
    #[must_use]
    pub fn n_decoders(&self) -> usize {
        self.config.parts.iter().map(|part| part.decoders).sum()
    }

    /// Generates text from the vector of a sentence, the most probable first. Decoder 0 of Skip-thoughts predicts the
    /// previous sentence and 1 the next, and so on for a second part. Decoder 0 of P-thought reconstructs the sentence,
    /// and 1 predicts a paraphrase.
    ///
    /// # Errors
    /// [`Error::NoDecoder`] if the model has no such decoder; an error if memory runs out.
    pub fn decode(&self, sentence: &str, params: &DecodeParams) -> Result<Vec<DecodedSentence>> {
        let (part, decoder) = self.place(params.decoder)?;
        let (mut scratch, mut tokens) = (String::new(), Vec::new());
        self.config.reading.read(&self.vocabulary, sentence, &mut scratch, &mut tokens);
        let vector = part.vectors(&[&tokens])?;
        self.generate(part, decoder, vector.row(0).into(), params)
    }

    /// Decodes a vector of the part that the decoder belongs to, before normalization.
    ///
    /// # Errors
    /// The errors of [`decode`](Self::decode); [`senv_core::Error::ShapeMismatch`] for a vector of a different length.
    pub fn decode_vector(&self, vector: &[f32], params: &DecodeParams) -> Result<Vec<DecodedSentence>> {
        let (part, decoder) = self.place(params.decoder)?;
        self.generate(part, decoder, ArrayView1::from(vector), params)
    }

    /// Returns −ln of the probability, in nats, that decoder `decoder` generates `to` from `from`, end token included,
    /// and the number of tokens that it covers. To get the perplexity over many sentences, divide the sum of the first
    /// by that of the second, and exponentiate.
    ///
    /// # Errors
    /// The errors of [`decode`](Self::decode).
    pub fn surprise(&self, from: &str, to: &str, decoder: usize) -> Result<(f64, usize)> {
        let (part, k) = self.place(decoder)?;
        let (mut scratch, mut tokens) = (String::new(), Vec::new());
        self.config.reading.read(&self.vocabulary, from, &mut scratch, &mut tokens);
        let vectors = part.vectors(&[&tokens])?;
        let reading = Reading { end: None, ..self.config.reading.clone() };
        reading.read(&self.vocabulary, to, &mut scratch, &mut tokens);
        let n_words = part.seq2seq.form.n_words;
        let sayable = |&token: &TokenId| if token.index() < n_words { token } else { UNKNOWN };
        let targets: Vec<TokenId> = tokens.iter().map(sayable).chain([END]).collect();
        let mut batch = TokenBatch::new();
        batch.assign([&targets[..]])?;
        let words = batch.gather(&part.words)?;
        let (of_decoder, of_output) = part.seq2seq.groups(k);
        let parameters = &part.parameters[of_decoder];
        let (hidden, targets) = part.seq2seq.states(k, parameters, &batch, words.view(), vectors.view())?;
        let losses = part.seq2seq.output.losses(&part.parameters[of_output], hidden.view(), &targets)?;
        Ok((losses.iter().sum(), losses.len()))
    }

    /// The part that decoder `asked` of all belongs to, and its number there.
    pub(super) fn place(&self, asked: usize) -> Result<(&EncoderPart, usize)> {
        let mut left = asked;
        for part in &self.parts {
            if left < part.seq2seq.form.decoders {
                return Ok((part, left));
            }
            left -= part.seq2seq.form.decoders;
        }
        Err(Error::NoDecoder { n: self.n_decoders(), asked })
    }

    fn generate(
        &self,
        part: &EncoderPart,
        k: usize,
        vector: ArrayView1<'_, f32>,
        params: &DecodeParams,
    ) -> Result<Vec<DecodedSentence>> {
        let n = part.seq2seq.form.decoders;
        let found = with_network!(&part.seq2seq.networks, network => {
            part.hypotheses(network.decoder(k, n)?, k, vector, &BeamSearch::new(END.0, params.longest, params.width))?
        });
        let said = found.into_iter().map(|found| {
            let words: Vec<&str> = found.tokens.iter().map(|&word| self.vocabulary.token(TokenId(word))).collect();
            DecodedSentence { text: words.join(" "), log_probability: found.log_probability, ended: found.ended }
        });
        Ok(said.collect())
    }

    /// For one encoder of gated recurrent units.
    fn tunable(&self) -> Option<TunableEncoder<'_>> {
        let [EncoderPart { words, seq2seq, parameters }] = &self.parts[..] else { return None };
        let SequenceForm { hidden, layers, topology, cell, .. } = seq2seq.form;
        let (style, start) = cell.gru()?;
        let form = EncoderForm::Gru { hidden, layers, topology, style, start };
        Some(TunableEncoder { form, reading: &self.config.reading, parameters: &parameters[0], words })
    }

    fn read(&self, text: &str, scratch: &mut String, out: &mut Vec<TokenId>) -> Coverage {
        self.config.reading.read(&self.vocabulary, text, scratch, out)
    }

    fn vectors(&self, sentences: &[&[TokenId]]) -> CoreResult<Array2<f32>> {
        let mut all = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let mut vectors = part.vectors(sentences)?;
            if self.config.normalize {
                vectors.rows_mut().into_iter().filter_map(ArrayViewMut1::into_slice).for_each(|row| {
                    kernels::l2_normalize(row);
                });
            }
            all.push(vectors);
        }
        match <[Array2<f32>; 1]>::try_from(all) {
            Ok([only]) => Ok(only),
            Err(all) => {
                let views: Vec<ArrayView2<'_, f32>> = all.iter().map(|vectors| vectors.view()).collect();
                let too_large = |_| senv_core::Error::TooLarge { rows: sentences.len(), dim: self.dim() };
                concatenate(Axis(1), &views).map_err(too_large)
            }
        }
    }
}

impl<S: SequenceSystem> Configuration for SequenceConfig<S> {
    fn check_for(&self, file: &ModelFile, n_words: usize) -> Result<()> {
        let bad = |reason: String| Error::BadModel { path: file.path().to_owned(), reason };
        self.reading.check(n_words)?;
        if !(1..=TABLES.len()).contains(&self.parts.len()) {
            return Err(bad(format!("{} parts; expected one or two", self.parts.len())));
        }
        for form in &self.parts {
            if form.n_words > n_words || form.decoders > 2 {
                let (decoders, n) = (form.decoders, form.n_words);
                return Err(bad(format!("{decoders} decoders over {n} words, but the vocabulary has {n_words}")));
            }
            form.check(file)?;
        }
        Ok(())
    }
}

impl<S: SequenceSystem> OpenModel for SequenceModel<S> {
    const KIND: &'static str = S::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (config, vocabulary, _) = file::parts::<SequenceConfig<S>>(S::KIND, file)?;
        let bad = |reason: String| Error::BadModel { path: file.path().to_owned(), reason };
        let mut parts = Vec::new();
        for ((form, table), i) in config.parts.iter().zip(TABLES).zip(1..) {
            let words = file.table(table)?;
            file::expect_table(file.path(), table, &words, vocabulary.len(), form.dim)?;
            let seq2seq = form.build().map_err(|error| bad(error.to_string()))?;
            let mut groups = Vec::new();
            for (prefix, form) in form.prefixes().iter().zip(seq2seq.forms()?) {
                let mut group = Parameters::new();
                for tensor in form.iter() {
                    file::read_tensor(file, &format!("part{i}.{prefix}{}", tensor.name()), tensor, &mut group)?;
                }
                groups.push(group);
            }
            parts.push(EncoderPart::new(words, seq2seq, groups));
        }
        Ok(Self::new(config, vocabulary, parts))
    }
}

impl<S: SequenceSystem> SavedModel for SequenceModel<S> {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.config.reading.tokenizer
    }

    fn rows(&self) -> Result<&Table> {
        Ok(self.words())
    }

    fn config_json(&self) -> String {
        serde_json::to_string(&self.config).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<senv_core::hyperparameters::Hyperparameter> {
        self.config.params.as_ref().map(S::hyperparameters).unwrap_or_default()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        let config = file::to_json(&self.config)?;
        let mut writer = ModelWriter::new(S::KIND).config(&config).vocabulary(&self.vocabulary);
        for ((part, table), i) in self.parts.iter().zip(TABLES).zip(1..) {
            writer = writer.table(table, &part.words);
            for (prefix, group) in part.seq2seq.form.prefixes().iter().zip(&part.parameters) {
                for tensor in group.iter() {
                    writer = writer.f32s(&format!("part{i}.{prefix}{}", tensor.name()), tensor.values());
                }
            }
        }
        Ok(writer.write(to)?)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            cost: EncodingCost::LessInBatches,
            tunable: self.tunable(),
            decoders: Some(self),
            expandable: Some(self),
            ..Abilities::default()
        }
    }
}

senv_core::encoding_methods!([S: SequenceSystem] SequenceModel<S>);
model_file_methods!([S: SequenceSystem] SequenceModel<S>);

impl<S: SequenceSystem> SentenceEncoder for SequenceModel<S> {
    fn dim(&self) -> usize {
        self.parts.iter().map(|part| part.seq2seq.dim()).sum()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| self.read(text, scratch, out);
        encode_into_with(sentence, scratch, out, read, |sentences| self.vectors(sentences))
    }

    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| self.read(text, scratch, out);
        encode_batch_by_length(sentences, self.dim(), read, |sentences| self.vectors(sentences))
    }
}
