//! PP, paragram-phrase: word vectors whose averages are close for paraphrases.
//!
//! J. Wieting, M. Bansal, K. Gimpel and K. Livescu, "Towards Universal Paraphrastic Sentence Embeddings", ICLR 2016.
//! The loss is `margin-loss` with the hardest negatives of the batch and an L2 penalty of the word vectors towards
//! their initial values.

use senv_core::{
    Tokenizer,
    arrays::Parameters,
    hyperparameters::{Hyperparameters, hyperparameters},
    optim::{AdaGradParams, AdamParams, AdamVariant, UpdateRule},
};
use senv_encoders::{Average, Pooling};
use senv_losses::{MarginLoss, NegativeCandidates};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

use crate::{
    average::{
        unknown_words::UnknownWords,
        weight_scheme::{WeightScheme, weights},
        weighting,
    },
    base::{file, text_size::TextSize, train_options::TrainOptions},
    data::{PairData, PairFiles},
    error::Result,
    gradient::{
        FitParams, L2Scaling, PairLoss, PairObjective, PairParams, Weights, WordUpdates, fit,
        scored_pairs::{ScoredPairs, Validation},
    },
    model::{trained::Trained, word_vectors::embeddings_of},
    start::initial::{self, Initial},
    system::{
        about::{About, NamedSettings},
        averaged::{Averaged, AveragedSystem},
        contract::{Common, System},
        pair_stages::{fit_stages, read_pairs},
        pair_system::{PairModel, PairSystem, PairSystemParams, with_softmax_recipe},
        staged_pairs::StagedPairs,
        start::Start,
    },
};

hyperparameters! {
    /// Hyperparameters of PP; the defaults are those of the release for phrase pairs.
    ///
    /// By default the learning rate depends on the loss and the initial vectors. The release's word model: margin 0.4,
    /// batches of 100, ten epochs of Adam at 0.005, λ = 1e-6, gradients of at most 1.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct PpParams {
        /// Embedding dimension.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// Weights of the trained words; `None` (default) for a plain mean.
        @[serde(default, skip_serializing_if = "Option::is_none")]
        pub weighting: Option<WeightScheme> = None => group[weights];
        /// How a sentence vector treats unknown words.
        @[serde(default, skip_serializing_if = "UnknownWords::is_skip")]
        pub unknown_words: UnknownWords = UnknownWords::Skip => Weights;
        /// Loss and dropout.
        pub pairs: PairParams = PairParams::default() => group;
        /// The training loop.
        pub fit: FitParams = FitParams {
            rule: UpdateRule::Adam(AdamParams::default().variant(AdamVariant::Folded)),
            lr: None,
            l2_words: 1e-6,
            clip: Some(1.0),
            ..FitParams::default()
        } => group;
    }
}

impl System for PpParams {
    type Model = Pp;
    type Input = PairFiles;
    type Data<'a> = StagedPairs<'a>;
    type Dev<'d> = &'d [ScoredPairs];
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "PP (paragram-phrase): averages of words that are close for paraphrases",
        examples: &[
            "senv train pp --pairs pairs.tsv --output pp.senv --init-vectors words.senv",
            "senv train pp --captions coco.tsv:4.5 --nli snli.tsv --pairs ppdb.tsv:2.5 --loss softmax-cosine \\\n      --steps 3000 --init-vectors words.senv --decontaminate sts/*.tsv --dev sts-dev.tsv --output pp.senv",
        ],
        note: "",
        preset: "Start from a named preset; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[NamedSettings {
        name: "paper",
        help: "PP's objective as printed in the CSE paper, with the sizes that the released code uses for phrases",
        settings: Self::paper,
    }];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        self.shared().common()
    }

    fn read_input<'a>(
        &mut self,
        files: &'a PairFiles,
        start: Start<'a>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<StagedPairs<'a>> {
        read_pairs(self, files, start, options)
    }

    fn fit_on(&self, data: &StagedPairs<'_>, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Pp>> {
        fit_stages(self, data, options)
    }
}

impl PpParams {
    /// The objective as the CSE paper states it for this system (equation 5). Penalties have no factor and are over all
    /// words. The negative is the hardest first member of another pair, even if it has the same text as a member of the
    /// pair.
    ///
    /// The paper of PP does not state which settings it chose from its grid. Margin 0.4, λ = 1e-6, batches of 100, ten
    /// epochs of Adam at 0.005 and gradients of at most 1 are those of its release for phrases.
    #[must_use]
    pub fn paper() -> Self {
        let margin = MarginLoss {
            candidates: NegativeCandidates::FirstElements,
            exclude_equal_text: false,
            ..MarginLoss::default()
        };
        Self {
            dim: 300,
            tokenizer: Tokenizer::automatic().lowercase(true),
            initial: Initial::default(),
            weighting: None,
            unknown_words: UnknownWords::Skip,
            pairs: PairParams { loss: PairLoss::Margin(margin), ..PairParams::default() },
            fit: FitParams {
                epochs: Some(10),
                batch: 100,
                rule: UpdateRule::Adam(AdamParams::default().variant(AdamVariant::Folded)),
                lr: Some(0.005),
                words: WordUpdates::Dense,
                l2_words: 1e-6,
                l2_norm: L2Scaling::Full,
                clip: Some(1.0),
                ..FitParams::default()
            },
        }
    }

    /// The recipe with the best vectors for pairs from several sources. It uses a softmax over the cosines of large
    /// batches, initial rows weighted by SIF, a learning rate with warm-up and decay, and vectors for unknown words.
    #[must_use]
    pub fn softmax_recipe() -> Self {
        let own = Self { unknown_words: UnknownWords::Hash, ..Self::default() };
        let rule = UpdateRule::AdaGrad(AdaGradParams::default());
        let fit = FitParams { rule, lr: None, l2_words: 0.0, ..own.fit };
        with_softmax_recipe(Self { fit, ..own })
    }

    /// Settings for neighbouring sentences of a text of this size, optionally with pairs.
    ///
    /// Small batches and a weight of a = 1e-3 beat those of [`PpParams::softmax_recipe`] on neighbours. On 1.5 million
    /// words of news, they reach 72.3 against 69.9 (Pearson x 100 on STSB dev) in a fifth of the time.
    #[must_use]
    pub fn for_neighbours(size: TextSize) -> Self {
        let recipe = Self::softmax_recipe();
        let (batch, lr) = match size {
            _ if size.is_small() => (32, 0.1),
            _ if size.is_large() => (256, 0.2),
            _ => (128, 0.2),
        };
        let a = if size.is_large() { 1e-4 } else { 1e-3 };
        Self {
            initial: Initial { frequency_weight: Some(a), ..recipe.initial },
            fit: FitParams { epochs: Some(size.epochs(10.0, 2, 30)), batch, lr: Some(lr), ..recipe.fit },
            ..recipe
        }
    }
}

impl AveragedSystem for PpParams {
    const KIND: &'static str = "pp";
    const TRAINED_ON_PAIRS: bool = true;

    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords) {
        (&mut self.weighting, &mut self.unknown_words)
    }
}

impl PairSystem for PpParams {
    const AVERAGES: bool = true;

    fn softmax_recipe() -> Self {
        Self::softmax_recipe()
    }

    fn shared(&mut self) -> PairSystemParams<'_> {
        let Self { dim, tokenizer, initial, pairs, fit, .. } = self;
        PairSystemParams { dim, tokenizer, initial, pairs, fit }
    }

    /// That of the release for phrase pairs, or of the recipe for a softmax over cosines.
    fn default_lr(&self) -> f64 {
        match self.pairs.loss {
            PairLoss::Margin(_) => 0.005,
            PairLoss::InfoNce(_) => 0.3,
        }
    }
}

impl PairModel<PpParams> for Pp {
    fn params(&self) -> &PpParams {
        Self::params(self)
    }

    /// The vectors of a `start` already include its frequency weights.
    fn fit_pairs(
        system: &PpParams,
        data: &PairData,
        start: Option<&Self>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Self>> {
        let mut system = system.clone();
        let of_start = start.map(|model| embeddings_of(model)).transpose()?;
        if start.is_some() {
            system.initial.frequency_weight = None;
        }
        let vectors = of_start.as_ref().or(options.vectors);
        system.check()?;
        weighting::check(system.weighting, system.dim, &data.vocabulary)?;
        let (rows, found) = system.initial.rows(&data.vocabulary, system.dim, vectors, system.fit.seed)?;
        let encoder = Average { dim: system.dim, pooling: Pooling::Mean };
        let settings = format!("{} {}", file::to_json(&system)?, initial::vectors_fingerprint(vectors));
        let validation = Validation::new(options.dev.unwrap_or_default(), &system.tokenizer, &data.vocabulary)?;
        let (pairs, penalty) = (&system.pairs, system.fit.penalty(0.0));
        let mut objective =
            PairObjective::of_system(PpParams::KIND, &encoder, data, pairs, validation, &settings, penalty);
        let start = || Ok(Weights { words: rows, parameters: vec![Parameters::new()] });
        let fitted = fit(&mut objective, start, &system.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| {
            let vocabulary = data.vocabulary.clone().with_terms_of(vectors.map(Embeddings::vocabulary));
            Self::new(system.clone(), vocabulary, weights.words, data)
        })
    }
}

/// A trained PP model.
pub type Pp = Averaged<PpParams>;
