//! Fine-tuning on pairs with scores: an encoder and a head that predicts a score from two sentence vectors.
//!
//! The head is `relatedness-head` (K. S. Tai, R. Socher and C. D. Manning, ACL 2015), as in the fine-tuning of PP, CSE
//! and related models on SICK. Encoder and head are trained together, with an L2 penalty of the encoder towards its
//! initial parameters ("universal"), or with random initial filters and a penalty towards 0 ("random"). CSE-random of
//! that paper (section 4.2) also starts from the word vectors from which CSE was trained: pass them in addition to the
//! model. Before training, word vectors are scaled to those of an average. The vectors of an average, of a linear CSE
//! or of a GRAN are scaled to a common length, which affects the head but not cosines.

mod base;
mod scored;
mod text_reading;
mod training;

use ndarray::{Array2, Axis};
use senv_core::{
    Scratch, SentenceEncoder,
    arrays::Parameters,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    optim::UpdateRule,
    rng::stream,
};
use senv_losses::{Combine, RelatednessHead, RelatednessLoss, ScoreGrid};
use serde::{Deserialize, Serialize};

use base::{Base, bring_to_scale};
use scored::Scored;
use training::FineTuning;

use crate::{
    base::{file, fingerprint::Fingerprint, train_options::TrainOptions},
    data::reading::Reading,
    error::Result,
    gradient::{FitParams, L2Scaling, Weights, WordUpdates, encoder_form::EncoderForm, fit, scored_pairs::ScoredPairs},
    model::{
        encoder_model::{EncoderModel, EncoderSystem},
        handle::Model,
        score_pairs::ScorePairs,
        trained::Trained,
    },
    start::initial::{self, InitialVectorReport},
    system::about::NamedSettings,
};

/// The initial filters of the encoder, and the target of their penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FilterStart {
    /// Those of the model, with a penalty towards them.
    Universal,
    /// Random ones, with a penalty towards 0. Word vectors start at those of the model, or at given ones.
    Random,
}

named_values!(FilterStart {
    Universal = "universal": "From the model's filters, with a penalty toward them",
    Random = "random": "At random, with a penalty toward 0",
});

hyperparameters! {
    /// Hyperparameters of fine-tuning; the defaults are those of CSE on SICK.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RelatednessParams {
        /// Hidden units of the relatedness head; 50 in the papers.
        pub hidden: usize = senv_losses::DEFAULT_HIDDEN => Training[from 1 to 65536];
        /// Scale of the scores: 1-5 for SICK, 0-5 for STS; senteval maps 0 to 5 to the classes 1 to 5.
        pub grid: ScoreGrid = ScoreGrid::default() => Training;
        /// Input of the head in addition to the difference of the two vectors.
        pub combine: Combine = Combine::default() => Training;
        /// Loss.
        pub loss: RelatednessLoss = RelatednessLoss::Kl { mean_over_classes: false } => Training;
        /// Initial parameters of the encoder: filters, or the matrices of a recurrent one.
        pub filters as filters_start: FilterStart = FilterStart::Universal => Training;
        /// Whether words, and sentence vectors of arbitrary length, are scaled before training to suit the optimizer
        /// and the head.
        @[serde(default = "rescaled")]
        pub rescale: bool = rescaled() => Training;
        /// L2 penalty λ of filters and biases of the encoder.
        pub l2_filters: f64 = 1e-6 => Training[at_least 0];
        /// L2 penalty λ of the head.
        pub l2_head: f64 = 1e-6 => Training[at_least 0];
        /// Share of the values of each word vector that are set to 0 in each step.
        pub vector_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// The training loop.
        pub fit: FitParams = FitParams { epochs: Some(10), batch: 32, l2_words: 1e-6, ..FitParams::default() } => group;
    }
}

/// The scale of vectors affects the head but not cosines.
fn rescaled() -> bool {
    true
}

/// The configuration of a fine-tuned model, as stored in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelatednessConfig {
    /// The kind of the base model.
    pub base: String,
    /// The encoder.
    pub encoder: EncoderForm,
    /// Dimension of the word vectors.
    pub dim: usize,
    /// How text becomes token ids: a tokenizer, or the rules of a recurrent encoder.
    #[serde(rename = "tokenizer", with = "text_reading")]
    reading: Reading,
    /// The head.
    pub head: RelatednessHead,
    /// The training parameters.
    pub params: RelatednessParams,
}

impl RelatednessParams {
    /// Named settings.
    pub const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[NamedSettings {
        name: "paper",
        help: "As printed in the CSE paper (section 4.2), with both vectors for the head; the paper omits the values \
            chosen by grid search",
        settings: Self::paper,
    }];

    /// The settings that the CSE paper states for its supervised model (section 4.2). Encoder and words come from the
    /// model, regularized towards it over all words. The head has both vectors in addition to their difference, scores
    /// from 1 to 5, Kullback-Leibler divergence, and the factor ½ of equation 6. Training is ten epochs of Adam at
    /// 1e-3.
    ///
    /// The penalties and the batch size come from a grid. The paper does not state which values it chose: these are the
    /// defaults, which are in the grid. It does not state the hidden units either. Tai et al., whom the section
    /// follows, use the elementwise product instead of both vectors ([`Combine::Product`], the default).
    #[must_use]
    pub fn paper() -> Self {
        Self {
            hidden: senv_losses::DEFAULT_HIDDEN,
            grid: ScoreGrid::OneTo(5),
            combine: Combine::Concat,
            loss: RelatednessLoss::Kl { mean_over_classes: false },
            filters: FilterStart::Universal,
            rescale: true,
            l2_filters: 1e-6,
            l2_head: 1e-6,
            vector_dropout: 0.0,
            fit: FitParams {
                epochs: Some(10),
                batch: 32,
                rule: UpdateRule::default(),
                lr: Some(1e-3),
                words: WordUpdates::Dense,
                l2_words: 1e-6,
                l2_norm: L2Scaling::Half,
                ..FitParams::default()
            },
        }
    }

    /// Checks all ranges.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] with the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    /// Fine-tunes a copy of `base` on scored pairs, validated on others: the parameters with the best Pearson's r there
    /// are kept. The words are those of the model. They start at its vectors, or at those of the options, with random
    /// vectors for words that these lack. The penalty is towards the initial values.
    ///
    /// # Errors
    /// * [`crate::Error::InitialVectorsDim`] if the vectors of the options have a different dimension.
    /// * [`crate::Error::CannotTune`] if the model has no trainable encoder (n-grams, PV-DBOW, combined Skip-thoughts).
    /// * [`crate::Error::BadLine`] if a score is outside the grid.
    /// * Errors of the parameters, the memory, or the training itself.
    pub fn fit(
        &self,
        base: &Model,
        train: &ScoredPairs,
        options: &TrainOptions<'_, &ScoredPairs>,
    ) -> Result<Trained<Relatedness>> {
        self.check()?;
        let Base { form, reading, parameters, mut words } = Base::of(base)?;
        let dim = words.dim();
        let encoder = form.encoder(dim)?;
        let head = RelatednessHead {
            hidden: self.hidden,
            grid: self.grid,
            combine: self.combine,
            ..RelatednessHead::new(encoder.dim())
        };
        let seed = self.fit.seed;
        let mut start = match self.filters {
            FilterStart::Universal => parameters,
            FilterStart::Random => encoder.init(&mut stream(seed, "filters", &[]))?,
        };
        let vocabulary = base.vocabulary().clone();
        let mut found = InitialVectorReport { words: vocabulary.len(), found: vocabulary.len() };
        if let Some(vectors) = options.vectors {
            let rows = initial::start_rows(&vocabulary, dim, vectors, seed)?;
            for ((id, ..), row) in vocabulary.iter().zip(rows.iter()) {
                words.row_mut(id.index()).copy_from_slice(row);
            }
            found = InitialVectorReport::count(&vocabulary, vectors);
        }
        let train = Scored::new(train, self.grid, (&reading, &*encoder), &vocabulary)?;
        let dev = options.dev.map(|dev| Scored::new(dev, self.grid, (&reading, &*encoder), &vocabulary)).transpose()?;
        let config = RelatednessConfig {
            base: base.kind().to_owned(),
            encoder: form,
            dim,
            reading,
            head: head.clone(),
            params: self.clone(),
        };
        if self.rescale {
            bring_to_scale(&*encoder, &mut words, &mut start, &train)?;
        }
        let weights = Weights { words, parameters: vec![start.clone(), head.init(&mut stream(seed, "head", &[]))?] };
        let data = [Some(&train), dev.as_ref()].into_iter().flatten();
        let data = data.fold(Fingerprint::new(), |sum, set| sum.sentences(&set.sentences).scores(&set.gold));
        let base = data.vocabulary(&vocabulary).table(&weights.words).parameters(&start);
        let identity = format!("{} {}", file::to_json(&config)?, base.hex());
        let mut objective = FineTuning { params: self, encoder, head, train, dev, start, identity };
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| Relatedness::new(config, vocabulary, weights))
    }
}

/// A fine-tuned encoder with its head.
pub type Relatedness = EncoderModel<RelatednessConfig>;

impl EncoderSystem for RelatednessConfig {
    const KIND: &'static str = "relatedness";
    type Params = RelatednessParams;

    fn params(&self) -> &RelatednessParams {
        &self.params
    }

    fn word_dim(&self) -> usize {
        self.dim
    }

    fn form(&self) -> EncoderForm {
        self.encoder.clone()
    }

    fn reading(&self) -> Reading {
        self.reading.clone()
    }

    /// GRAN encoders process one sentence at a time, so vectors of existing models stay bit-identical.
    fn in_batches(&self) -> bool {
        !matches!(self.encoder, EncoderForm::JoinedLstm { .. } | EncoderForm::Gran { .. })
    }

    fn head_dim(&self) -> Option<usize> {
        Some(self.head.dim)
    }

    fn n_head_values(&self) -> f64 {
        self.head.n_values()
    }

    fn head_form(&self, _: usize) -> Result<Parameters<f32>> {
        Ok(self.head.init(&mut stream(0, "form", &[]))?)
    }

    fn score_pairs(model: &Relatedness) -> Option<&dyn ScorePairs> {
        Some(model)
    }
}

impl Relatedness {
    /// The predicted relatedness of two sentences, on the scale of the training scores.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn score(&self, first: &str, second: &str) -> Result<f64> {
        let (mut scratch, mut vectors) = (Scratch::default(), Array2::zeros((2, self.dim())));
        for (text, mut row) in [first, second].into_iter().zip(vectors.outer_iter_mut()) {
            if let Some(out) = row.as_slice_mut() {
                self.encode_into(text, &mut scratch, out);
            }
        }
        let (u, v) = vectors.view().split_at(Axis(0), 1);
        let (predictions, _) = self.config().head.forward(self.head_parameters(), u, v)?;
        Ok(predictions.scores(self.config().head.grid).first().copied().unwrap_or(f64::NAN))
    }
}

impl ScorePairs for Relatedness {
    fn score_pair(&self, first: &str, second: &str) -> Result<f64> {
        self.score(first, second)
    }
}
