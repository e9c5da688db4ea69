//! P-thought: a sentence read by a recurrent encoder, from whose vector the sentence and a paraphrase of it are told.
//!
//! The objective is `sequence-objective` with two decoders, each with an output matrix of its own, weighed by
//! `dual-decoder-objective`. Word vectors stay as they are given.

use senv_core::{Observer, Sentences, TokenId, Tokenizer};
use senv_encoders::{Conditioning, GruInit, GruStyle, GruTopology};
use senv_losses::{DEFAULT_SAMPLED, DualObjective, Reduction};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result, file,
    fit::{FitParams, WordUpdates, require},
    initial::Initial,
    learnt::Learnt,
    pairs::PairData,
    sequence::{
        Example, LongSentences, OutputForm, Reading, SequenceForm, SequenceModel, SequenceSystem, Text, Training,
        UNKNOWN, assemble,
    },
};

/// The three encoders of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PThoughtStructure {
    /// One layer, read from both sides.
    OneBi,
    /// Two layers read from the left, the last states of both.
    TwoForward,
    /// Two layers read from both sides, each side on its own.
    TwoBi,
    /// The same, but the second layer reads both sides of the first: how the paper's figure may be read.
    TwoInterleaved,
}

/// What P-thought can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PThoughtParams {
    /// Numbers of a word vector.
    pub dim: usize,
    /// Units of a reader in a layer; a sentence vector has twice as many numbers.
    pub hidden: usize,
    /// The encoder.
    pub structure: PThoughtStructure,
    /// How the loss of the paraphrase is weighed against that of the sentence itself.
    pub objective: DualObjective,
    /// At most so many words, the end token and the one for unknown words among them.
    pub max_vocabulary: Option<usize>,
    /// Words of a sentence that are read, at least 1.
    pub max_tokens: usize,
    /// What becomes of longer sentences in training.
    pub long: LongSentences,
    /// How the next word is judged.
    pub output: OutputForm,
    /// How text is cut into tokens.
    pub tokenizer: Tokenizer,
    /// Where word vectors that are not given start.
    pub initial: Initial,
    /// The loop.
    pub fit: FitParams,
}

impl Default for PThoughtParams {
    /// One layer from both sides of 1200 units each, 300 numbers a word that stay as they are, α = 2, 512 sampled words,
    /// four epochs of Adam at 0.001 in batches of 128. The paper states neither α nor the rate nor the samples.
    fn default() -> Self {
        Self {
            dim: 300,
            hidden: 1200,
            structure: PThoughtStructure::OneBi,
            objective: DualObjective::default(),
            max_vocabulary: None,
            max_tokens: 50,
            long: LongSentences::Cut,
            output: OutputForm::Sampled { words: DEFAULT_SAMPLED },
            tokenizer: Tokenizer::words().lowercase(true),
            initial: Initial { sd: 0.1, frequency_weight: None },
            fit: FitParams { epochs: 4, batch: 128, words: WordUpdates::Frozen, ..FitParams::default() },
        }
    }
}

/// A trained P-thought.
pub type PThought = SequenceModel<PThoughtParams>;

impl SequenceSystem for PThoughtParams {
    const KIND: &'static str = "p-thought";
}

impl PThoughtParams {
    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        file::check_dim(self.dim)?;
        require(self.max_tokens >= 1, "max_tokens", "at least 1", self.max_tokens as f64)?;
        self.form(2).build()?;
        self.fit.check()
    }

    fn form(&self, n_words: usize) -> SequenceForm {
        let (layers, topology) = match self.structure {
            PThoughtStructure::OneBi => (1, GruTopology::Separate),
            PThoughtStructure::TwoForward => (2, GruTopology::Forward),
            PThoughtStructure::TwoBi => (2, GruTopology::Separate),
            PThoughtStructure::TwoInterleaved => (2, GruTopology::Interleaved),
        };
        SequenceForm {
            dim: self.dim,
            hidden: self.hidden,
            layers,
            topology,
            style: GruStyle::Tf1,
            start: GruInit::Glorot,
            conditioning: Conditioning::InitialState,
            start_token: true,
            decoders: 2,
            shared_output: false,
            n_words,
            output: self.output.clone(),
            reduction: Reduction::Mean,
        }
    }

    /// Trains on all ordered pairs of sentences that mean the same. Words without a vector among `vectors`, if there are
    /// any, are unknown; `</s>` and `unk` there stand for the end token and for unknown words. Words that the data left
    /// out as too rare are missing, not unknown.
    ///
    /// # Errors
    /// [`Error::NoExamples`] without a pair; whatever is wrong with the parameters, the memory, or the training itself.
    pub fn fit(
        &self,
        data: &PairData,
        vectors: Option<&Embeddings>,
        observer: &dyn Observer,
    ) -> Result<Learnt<PThought>> {
        self.check()?;
        let n_sentences: usize = data.sources.iter().map(|source| source.sentences().len()).sum();
        let given = |token: &str, _| vectors.is_none_or(|vectors| vectors.get(token).is_some());
        let (vocabulary, numbers) = assemble(&data.vocabulary, n_sentences as u64, self.max_vocabulary, given)?;
        let (mut all, mut pairs) = (Sentences::new(), Vec::new());
        for source in &data.sources {
            let before = all.len() as u32;
            for sentence in source.sentences().iter() {
                all.push(sentence.iter().map(|token: &TokenId| numbers[token.index()]));
            }
            pairs.extend(source.ordered_pairs().into_iter().map(|pair| pair.map(|i| before + i)));
        }
        let ends = vec![true; all.len()];
        let text = Text::new(vocabulary, &all, ends, self.max_tokens, data.fingerprint());
        text.number()?;
        let is_known = |[a, b]: &[u32; 2]| [a, b].iter().all(|&&i| !text.sentences.get(i as usize).is_empty());
        let all: Vec<Example> = pairs.into_iter().filter(is_known).map(|[a, b]| [a, a, b]).collect();
        let examples = text.admitted(all, self.long, self.max_tokens, observer);
        if examples.is_empty() {
            return Err(Error::NoExamples { kind: PThought::KIND });
        }
        let (auto, paraphrase) = self.objective.weights(1.0);
        Training {
            params: self,
            fit: &self.fit,
            form: self.form(text.vocabulary.len()),
            reading: Reading {
                tokenizer: self.tokenizer.clone(),
                max_tokens: self.max_tokens,
                unknown: Some(UNKNOWN),
                end: None,
            },
            normalise: false,
            initial: &self.initial,
            vectors,
            vocabulary: text.vocabulary,
            sentences: text.sentences,
            examples,
            weights: vec![auto, paraphrase],
            identity: text.identity,
        }
        .run(observer)
    }
}
