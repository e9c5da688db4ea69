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
use senv_losses::InfoNce;
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
        Decay, FitParams, Weights, fit,
        pair_training::{PairLoss, PairObjective, PairParams},
        scored_pairs::ScoredPairs,
    },
    model::{
        averaged::{Averaged, AveragedSystem},
        handle::Model,
        trained::Trained,
    },
    start::initial::{self, Initial},
    system::{
        about::About,
        contract::{Common, System, Trainer},
        pair_stages::{fit_stages, read_pairs},
        pair_system::{PairSystem, PairSystemParams},
        staged_pairs::StagedPairs,
        start::Start,
    },
};

hyperparameters! {
    /// Hyperparameters of PP; the defaults are those of the release for phrase pairs.
    ///
    /// The learning rate follows the loss and the initial vectors until it is set. The release's word model: margin
    /// 0.4, batches of 100, ten epochs of Adam at 0.005, λ = 1e-6, gradients of at most 1.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct PpParams {
        /// Embedding dimension.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// How text is tokenized.
        pub tokenizer: Tokenizer = Tokenizer::automatic().lowercase(true) => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// Weights of words once they are trained; `None` (default) for a plain mean.
        @[serde(default, skip_serializing_if = "Option::is_none")]
        pub weighting: Option<WeightScheme> = None => group[weights];
        /// What stands for unknown words in a sentence vector.
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
        summary: "PP (paragram-phrase): words whose mean is close for paraphrases",
        examples: &[
            "senv train pp --pairs pairs.tsv --output pp.senv --init-vectors words.senv",
            "senv train pp --captions coco.tsv:4.5 --nli snli.tsv --pairs ppdb.tsv:2.5 --loss softmax-cosine \\\n      --steps 3000 --init-vectors words.senv --decontaminate sts/*.tsv --dev sts-dev.tsv --output pp.senv",
        ],
        note: "",
        preset: "",
    };

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
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
    /// The recipe that gives the best vectors where pairs come from several sources: a softmax over the cosines of
    /// large batches, rows that start in the proportions of SIF, a rate that warms up and falls, vectors for unknown
    /// words.
    #[must_use]
    pub fn softmax_recipe() -> Self {
        Self {
            initial: Initial { sd: 0.1, frequency_weight: Some(1e-5) },
            unknown_words: UnknownWords::Hash,
            pairs: PairParams {
                loss: PairLoss::SoftmaxCosine(InfoNce { temperature: 0.06, ..InfoNce::default() }),
                word_dropout: 0.2,
                ..PairParams::default()
            },
            fit: FitParams {
                batch: 2048,
                rule: UpdateRule::AdaGrad(AdaGradParams::default()),
                lr: None,
                decay: Decay::Linear { warmup: 0.1, floor: 0.0 },
                l2_words: 0.0,
                clip: None,
                ..FitParams::default()
            },
            ..Self::default()
        }
    }

    /// Settings for neighbouring sentences of a text of this size, and for pairs beside them.
    ///
    /// Small batches and a weight of a = 1e-3 beat those of [`PpParams::softmax_recipe`] on neighbours: on news of 1.5
    /// million words 72.3 against 69.9 (Pearson x 100 on STSB dev), in a fifth of the time.
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

    /// Trains on pairs, validated on scored ones.
    ///
    /// # Errors
    /// Whatever is wrong with the parameters, the memory, or the training itself.
    pub fn fit(&self, data: &PairData, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Pp>> {
        let vectors = options.vectors;
        if self.fit.lr.is_none() {
            let mut params = self.clone();
            params.resolve_lr(vectors, None, options.observer);
            return params.fit(data, options);
        }
        self.check()?;
        weighting::check(self.weighting, self.dim, &data.vocabulary)?;
        let (rows, found) = self.initial.rows(&data.vocabulary, self.dim, vectors, self.fit.seed)?;
        let encoder = Average { dim: self.dim, pooling: Pooling::Mean };
        let settings = format!("{} {}", file::to_json(self)?, initial::vectors_fingerprint(vectors));
        let mut objective = PairObjective::new(
            Self::KIND,
            &encoder,
            data,
            &self.pairs,
            &self.tokenizer,
            options.dev.unwrap_or_default(),
            &settings,
            self.fit.penalty(0.0),
        );
        let start = || Ok(Weights { words: rows, parameters: vec![Parameters::new()] });
        let fitted = fit(&mut objective, start, &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| {
            let vocabulary = data.vocabulary.clone().with_terms_of(vectors.map(Embeddings::vocabulary));
            Averaged::new(self.clone(), vocabulary, weights.words, data)
        })
    }
}

impl AveragedSystem for PpParams {
    const KIND: &'static str = "pp";
    const TRAINED_ON_PAIRS: bool = true;

    fn dim(&self) -> usize {
        self.dim
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn seed(&self) -> u64 {
        self.fit.seed
    }

    fn weighting(&self) -> Option<WeightScheme> {
        self.weighting
    }

    fn set_weighting(&mut self, weighting: Option<WeightScheme>) {
        self.weighting = weighting;
    }

    fn unknown_words(&self) -> UnknownWords {
        self.unknown_words
    }

    fn set_unknown_words(&mut self, unknown: UnknownWords) {
        self.unknown_words = unknown;
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

    /// Of the release for phrase pairs; of the recipe for a softmax over cosines.
    fn default_lr(&self) -> f64 {
        match self.pairs.loss {
            PairLoss::Margin(_) => 0.005,
            PairLoss::SoftmaxCosine(_) => 0.3,
        }
    }

    /// The vectors of a `start` hold its frequency weights already.
    fn fit_from(
        &self,
        data: &PairData,
        start: Option<&Pp>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Pp>> {
        let Some(start) = start else { return self.fit(data, options) };
        let mut params = self.clone();
        params.initial.frequency_weight = None;
        let vectors = Model::from(start.clone()).to_embeddings()?;
        params.fit(data, &TrainOptions { vectors: Some(&vectors), ..options.clone() })
    }

    fn params_of(model: &Pp) -> &Self {
        model.params()
    }
}

/// A trained PP model.
pub type Pp = Averaged<PpParams>;
