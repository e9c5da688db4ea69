//! What a model with decoders says, and words that are added to it, whichever system it is of.

use senv_store::Embeddings;

use crate::{
    Error, Expansion, ExpansionReport, Model, Result, Said, WordUpdates,
    sequence::{SequenceModel, SequenceSystem, gather},
};

/// Names of the decoders of Skip-thoughts: those of the first part, those of the second.
const NEIGHBOURS: [[&str; 2]; 2] = [["previous", "next"], ["previous-2", "next-2"]];

/// Names of the decoders of P-thought; the autoencoder has the first alone.
const SAME_MEANING: [&str; 2] = ["itself", "paraphrase"];

/// How far between two sentences, and how far and widely to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// 0 is the first sentence, 1 the second.
    pub share: f32,
    /// Beginnings that are carried on, at least 1.
    pub width: usize,
    /// Words of a sentence at most, the end token counted.
    pub longest: usize,
}

impl<S: SequenceSystem> SequenceModel<S> {
    /// What decoder `decoder` says of a vector on the straight line between those of two sentences, the likeliest first.
    /// Decoders are counted as in [`decode`](Self::decode); vectors are not brought to length 1.
    ///
    /// # Errors
    /// [`Error::NoDecoder`] if there is none of this number; if memory is lacking.
    pub fn decode_between(&self, first: &str, second: &str, decoder: usize, at: &Between) -> Result<Vec<Said>> {
        let mut before = 0;
        let owns = |decoders: usize, before: &mut usize| {
            *before += decoders;
            decoder < *before
        };
        let part = self.parts.iter().find(|part| owns(part.machine.form.decoders, &mut before));
        let part = part.ok_or_else(|| Error::NoDecoder { n: self.n_decoders(), asked: decoder })?;
        let mut texts = [Vec::new(), Vec::new()];
        for (text, tokens) in [first, second].into_iter().zip(&mut texts) {
            self.config.reading.read(&self.vocabulary, text, &mut String::new(), tokens);
        }
        let (batch, words) = gather(&part.words, &[&texts[0], &texts[1]])?;
        let vectors = part.machine.encoder.encode(&part.parameters[0], &batch, words.view())?;
        let (u, v) = (vectors.row(0), vectors.row(1));
        let vector: Vec<f32> = u.iter().zip(v).map(|(u, v)| (1.0 - at.share) * u + at.share * v).collect();
        self.decode_vector(&vector, decoder, at.width, at.longest)
    }
}

/// Evaluates the last argument for the model with decoders in `$model`, or fails with `$error` for other kinds.
macro_rules! for_sequence {
    ($model:expr, $error:expr, $inner:ident => $value:expr) => {
        match $model {
            Model::SkipThought($inner) => $value,
            Model::RnnAutoencoder($inner) => $value,
            Model::PThought($inner) => $value,
            _ => Err($error),
        }
    };
}

impl Model {
    /// The names of its decoders, by number; none if it only encodes.
    ///
    /// Skip-thoughts say the `previous` sentence and the `next`, in a combined model by `previous-2` and `next-2` as well;
    /// autoencoders say the sentence `itself`, and P-thought a `paraphrase` besides.
    #[must_use]
    pub fn decoders(&self) -> Vec<&'static str> {
        let names = |n: usize| SAME_MEANING.into_iter().take(n).collect();
        match self {
            Self::SkipThought(model) => {
                let parts = model.config().parts.iter().zip(NEIGHBOURS);
                parts.flat_map(|(part, names)| names.into_iter().take(part.decoders)).collect()
            }
            Self::RnnAutoencoder(model) => names(model.n_decoders()),
            Self::PThought(model) => names(model.n_decoders()),
            _ => Vec::new(),
        }
    }

    fn no_decoders(&self) -> Error {
        Error::NoDecoders { kind: self.kind() }
    }

    /// What decoder `decoder` of [`Model::decoders`] says of a sentence, the likeliest first: a beam of `width` beginnings,
    /// sentences of at most `longest` words, the end token counted.
    ///
    /// # Errors
    /// [`Error::NoDecoders`] if the model only encodes; as [`SequenceModel::decode`].
    pub fn decode(&self, sentence: &str, decoder: usize, width: usize, longest: usize) -> Result<Vec<Said>> {
        for_sequence!(self, self.no_decoders(), model => model.decode(sentence, decoder, width, longest))
    }

    /// The same of a vector between those of two sentences.
    ///
    /// # Errors
    /// [`Error::NoDecoders`] if the model only encodes; as [`SequenceModel::decode_between`].
    pub fn decode_between(&self, first: &str, second: &str, decoder: usize, at: &Between) -> Result<Vec<Said>> {
        for_sequence!(self, self.no_decoders(), model => model.decode_between(first, second, decoder, at))
    }

    /// How words are best added: as they are to a model whose word vectors were given and stayed as they were, by a linear
    /// map with a constant to others.
    #[must_use]
    pub fn usual_expansion(&self) -> Expansion {
        let words = match self {
            // Without decoders its words were tuned after all.
            Self::SkipThought(model) if model.config().parts.iter().all(|part| part.decoders > 0) => {
                model.config().params.as_ref().map(|params| params.fit.words)
            }
            Self::RnnAutoencoder(model) => model.config().params.as_ref().map(|params| params.fit.words),
            Self::PThought(model) => model.config().params.as_ref().map(|params| params.fit.words),
            // One that tells unknown words apart was tuned, from words of another model.
            Self::Snli(model) if model.config().reading.unknown.is_none() => Some(model.config().params.fit.words),
            _ => None,
        };
        if words == Some(WordUpdates::Frozen) { Expansion::Same } else { Expansion::Affine }
    }

    /// The model with the words of `vectors` besides its own.
    ///
    /// # Errors
    /// [`Error::CannotExpand`] for other kinds than Skip-thoughts, RNN autoencoder, P-thought and the SNLI models; as
    /// [`SequenceModel::expand`].
    pub fn expand(&self, vectors: &Embeddings, expansion: Expansion) -> Result<(Self, ExpansionReport)> {
        let expanded = match self {
            Self::SkipThought(model) => {
                let (model, report) = model.expand(vectors, expansion)?;
                (Self::SkipThought(Box::new(model)), report)
            }
            Self::RnnAutoencoder(model) => {
                let (model, report) = model.expand(vectors, expansion)?;
                (Self::RnnAutoencoder(Box::new(model)), report)
            }
            Self::PThought(model) => {
                let (model, report) = model.expand(vectors, expansion)?;
                (Self::PThought(Box::new(model)), report)
            }
            Self::Snli(model) => {
                let (model, report) = model.expand(vectors, expansion)?;
                (Self::Snli(Box::new(model)), report)
            }
            _ => return Err(Error::CannotExpand { kind: self.kind() }),
        };
        Ok(expanded)
    }
}
