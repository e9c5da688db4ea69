//! An order part: columns after the vector of any static table that depend on word order.
//!
//! The mean of word vectors ignores order: "the dog bites the man" and "the man bites the dog" have the same vector.
//! This system trains a second part, gated skip-bigrams in both directions (`order-passes`), on labelled pairs of
//! sentences with nearly the same words. Meanwhile it holds the similarities of ordinary pairs in place. The table does
//! not change, and its vector comes first in that of the model. Encoding a sentence needs only look-ups.

mod exchange;
mod gate;
mod model;
mod objective;
mod ordinary;
mod swaps;
#[cfg(test)]
mod tests;

use senv_core::{
    Observer, Scratch, StaticEncoder, Table, TextOptions, TokenId, Tokenizer,
    arrays::Parameters,
    hyperparameters::{Hyperparameters, hyperparameters},
    optim::{AdamParams, UpdateRule},
    rng::stream,
    static_model::{
        CompressedRows, RowEncoding,
        order::{OrderConfig, OrderJoin, OrderValues, OrderWords},
    },
};
use senv_data::{ParaphrasePair, ParaphraseSet};
use senv_encoders::{Encoder, OrderEncoder};
use senv_losses::CosineLogistic;
use serde::{Deserialize, Serialize};

pub use gate::OrderGate;
pub use model::{Order, OrderModelConfig};

use crate::{
    base::{fingerprint::Fingerprint, range::require, sealed::Sealed, train_options::TrainOptions},
    check::{CheckParams, CheckText},
    compress::table::CompressParams,
    data::{HeldOut, PairFiles, PairKind},
    error::{Error, Result},
    gradient::{Decay, FitParams, Stopped, Weights, WordUpdates, fit, scored_pairs::ScoredPairs},
    model::{handle::Model, trained::Trained},
    start::initial::InitialVectorReport,
    system::{
        about::About,
        contract::{Common, System, Trainer},
        start::Start,
        training_data::{SampledInput, Unread},
    },
};
use exchange::{Capitals, Exchange};
use objective::{LabelledTokens, OrderObjective};
use ordinary::{OrdinaryPairs, some_pairs};
use swaps::labelled_swaps;

/// English words that negate a sentence.
pub const ENGLISH_NEGATION: [&str; 12] =
    ["not", "n't", "no", "nobody", "none", "never", "nothing", "nor", "neither", "without", "cannot", "nowhere"];

/// Pairs taken from each file of paraphrases.
const PARAPHRASES_OF_SOURCE: usize = 10_000;
/// Maximum words read per labelled sentence in training.
const LONGEST: usize = 80;
/// κ without scored pairs: the lower end of what the gate chose for the English table.
const UNGATED_KAPPA: f64 = 1.1;
/// e^s and b of the head for labelled pairs before training.
const HEAD: CosineLogistic = CosineLogistic { slope: 25.0, threshold: 0.8 };

hyperparameters! {
    /// Hyperparameters of an order part.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct OrderParams {
        /// Columns of the order part.
        pub dim: usize = 256 => Training[from 2 to 65536];
        /// Random features of a word in addition to its row.
        pub random_features: usize = 64 => Training[from 0 to 65536];
        /// Weight of the correlations of ordinary pairs, which are held in place.
        pub hold: f64 = 40.0 => Training[at_least 0];
        /// Share of the labelled pairs in a step in which words are replaced by others of the same kind.
        pub exchange: f64 = 0.8 => Training[from 0 to 1];
        /// Weight κ of the order part [default: set by the scored pairs of --gate; 1.1 without]
        pub kappa: Option<f64> = None => Training[at_least 0];
        /// Loss of Pearson's r, averaged over the files of --gate, that κ may cost.
        pub gate_loss: f64 = 0.003 => Training[from 0 to 2];
        /// Constant column γ next to an order part of length 1.
        pub gamma: f64 = 1.0 => Training[at_least 0];
        /// Weight ν of the column that marks negations.
        pub negation: f64 = 0.8 => Training[at_least 0];
        /// The tokenizer: always that of the model.
        pub tokenizer: Tokenizer = Tokenizer::automatic() => skip;
        /// The training loop.
        pub fit: FitParams = FitParams {
            epochs: None,
            steps: Some(1400),
            batch: 64,
            rule: UpdateRule::Adam(AdamParams::default().beta2(0.98)),
            lr: Some(3e-3),
            decay: Decay::Linear { warmup: 0.036, floor: 0.0 },
            words: WordUpdates::Frozen,
            clip: Some(5.0),
            ..FitParams::default()
        } => group;
    }
}

/// The value of an order part shows on pairs that differ in order, which training reports.
impl Sealed for OrderInput {}

impl SampledInput for OrderInput {
    fn sample(&self, _: &CheckParams, _: &TextOptions) -> Result<Option<CheckText>> {
        Ok(None)
    }
}

/// The training data of an order part.
#[derive(Debug, Clone, Default)]
pub struct OrderInput {
    /// Labelled pairs of sentences with nearly the same words, as in PAWS: whether they are paraphrases.
    pub labelled: Vec<ParaphraseSet>,
    /// Paraphrase pairs in any words, up to 10,000 per file. Swapping two words of one kind in one sentence turns a
    /// pair into a negative one. They can replace labelled pairs.
    pub paraphrases: PairFiles,
    /// Ordinary pairs, whose similarities are held in place; running text among them also tells which words are names.
    /// The tokenizer is that of the model. Sentences that its options hold out are also left out of labelled and scored
    /// pairs.
    pub ordinary: PairFiles,
    /// Pairs with human scores, which determine κ.
    pub gate: Vec<ScoredPairs>,
    /// Negation words; `None` for the English ones ([`ENGLISH_NEGATION`]).
    pub negation_words: Option<Vec<String>>,
}

impl System for OrderParams {
    type Model = Order;
    type Input = OrderInput;
    type Data<'a> = Unread<'a, OrderInput>;
    type Dev<'d> = &'d [ParaphraseSet];
    const ABOUT: About = About {
        name: Order::KIND,
        summary: "Order: a part that reads word order and negation, appended to the vector of any static table",
        examples: &[
            "senv train order --init-model english --train paws.tsv --neighbours wikipedia.txt --gate sts.tsv --output order.senv",
            "senv train order --init-model own.senv --train paws.tsv --pairs pairs.tsv --captions captions.tsv --output order.senv",
        ],
        note: "The first dimensions of its vectors are the table's; cosines of whole vectors depend on word order.\n",
        preset: "",
    };

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        require(self.fit.words == WordUpdates::Frozen, "updates", "frozen: the table does not change", 0.0)?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        input: &'a OrderInput,
        start: Start<'a>,
        _: &TrainOptions<'_, &[ParaphraseSet]>,
    ) -> Result<Unread<'a, OrderInput>> {
        Ok(Unread { input, start })
    }

    fn fit_on(
        &self,
        data: &Unread<'_, OrderInput>,
        options: &TrainOptions<'_, &[ParaphraseSet]>,
    ) -> Result<Trained<Order>> {
        let &Unread { input, start } = data;
        self.check()?;
        let Some(model) = start.model() else {
            let (name, requirement) = ("init_model", "a model with the static table to extend");
            return Err(senv_core::Error::InvalidParameter { name, requirement, got: "none".into() }.into());
        };
        self.fit_table(&static_table(model)?, input, options)
    }
}

/// The table of a model: that of a static model, or the full rows of an average.
fn static_table(model: &Model) -> Result<StaticEncoder> {
    if let Some(table) = model.abilities().static_table {
        return Ok(table.clone().without_order());
    }
    CompressParams { encoding: RowEncoding::F32, ..CompressParams::default() }.compress(model)
}

impl OrderParams {
    /// Trains an order part for this table.
    ///
    /// # Errors
    /// [`Error::NoExamples`] without labelled pairs and paraphrases; errors of the files, the parameters, the memory,
    /// or the training itself.
    pub(crate) fn fit_table(
        &self,
        table: &StaticEncoder,
        input: &OrderInput,
        options: &TrainOptions<'_, &[ParaphraseSet]>,
    ) -> Result<Trained<Order>> {
        self.check()?;
        let (seed, observer) = (self.fit.seed, options.observer);
        let words = OrderWords { table, random: self.random_features };
        let held_out = &input.ordinary.options.held_out;
        let mut train = labelled(words, &input.labelled, held_out);
        let paraphrases = if input.paraphrases.inputs.is_empty() {
            Vec::new()
        } else {
            // The reading checkpoint belongs to the ordinary pairs.
            let options = TrainOptions { checkpoint: None, ..options.clone() };
            let data = input.paraphrases.read(table.tokenizer(), &options)?;
            some_pairs(&data, words, PARAPHRASES_OF_SOURCE, seed, "order paraphrases").concat()
        };
        if train.is_empty() && paraphrases.is_empty() {
            return Err(Error::NoExamples { kind: Order::KIND });
        }
        let ordinary = if input.ordinary.inputs.is_empty() {
            observer.note(
                "no ordinary pairs, so similarities of ordinary sentences may change; give --neighbours, --pairs or \
                --captions",
            );
            OrdinaryPairs::default()
        } else {
            let data = input.ordinary.read(table.tokenizer(), options)?;
            OrdinaryPairs::new(&data, words, seed)?
        };
        observer.go_on("reading pairs")?;
        let used = train.iter().map(|(pair, _)| pair).chain(&paraphrases).flatten();
        let exchange = self.exchange(words, input, used)?;
        train.extend(labelled_swaps(paraphrases, &exchange, seed));
        let train = LabelledTokens::new(train);
        let encoder = OrderEncoder { features: words.n_features(), dim: self.dim };
        let dev = options.dev.map(|dev| LabelledTokens::new(labelled(words, dev, &HeldOut::default())));
        let dev = dev.filter(|dev| !dev.labels.is_empty());
        let identity = self.identity(table, &train, dev.as_ref(), &ordinary);
        let mut objective =
            OrderObjective { words, encoder, head: HEAD, train, dev, exchange, ordinary, hold: self.hold, identity };
        let initial = || {
            let order = encoder.init(&mut stream(seed, "order part", &[]))?;
            Ok(Weights { words: features(words)?, parameters: vec![order, HEAD.init()?] })
        };
        let fitted = fit(&mut objective, initial, &self.fit, &options.run())?;
        let interrupted = fitted.stopped == Stopped::Interrupted;
        let n_words = table.vocabulary().len();
        let found = InitialVectorReport { words: n_words, found: n_words };
        Trained::of_gradient(fitted, found, |Weights { parameters, .. }| {
            let negation_words =
                input.negation_words.clone().unwrap_or_else(|| ENGLISH_NEGATION.map(str::to_owned).to_vec());
            let join =
                OrderJoin { kappa: self.kappa.unwrap_or(UNGATED_KAPPA), gamma: self.gamma, negation: self.negation };
            let config = OrderConfig {
                dim: self.dim,
                random_features: self.random_features,
                encoding: RowEncoding::F32,
                join,
                negation_words,
            };
            let part = parameters.into_iter().next().unwrap_or_default();
            let model = Order::new(table.clone().with_order(config, values(&encoder, &part)?)?, self.clone());
            if interrupted || self.kappa.is_some() || input.gate.is_empty() {
                Ok(model)
            } else {
                self.gated(model, input, observer)
            }
        })
    }

    /// The model with the weight chosen by the gate.
    fn gated(&self, model: Order, input: &OrderInput, observer: &dyn Observer) -> Result<Order> {
        let held_out = &input.ordinary.options.held_out;
        let is_seen = |(_, a, b): &&(f64, String, String)| !held_out.contains(a) && !held_out.contains(b);
        let seen = |set: &ScoredPairs| {
            let pairs = set.pairs.iter().filter(is_seen).cloned().collect();
            ScoredPairs { name: set.name.clone(), pairs }
        };
        let sets: Vec<ScoredPairs> = input.gate.iter().map(seen).filter(|set| set.pairs.len() > 1).collect();
        if sets.is_empty() {
            observer.note("no scored pairs are left to choose the weight of the order part; it keeps its default");
            return Ok(model);
        }
        let OrderGate { kappa, table, whole } = gate::gate(&model, &sets, self.gate_loss)?;
        observer.note(&format!(
            "the weight of the order part is {kappa:.3}: Pearson's r on the scored pairs is {:.2}, with the table \
            only {:.2}",
            100.0 * whole,
            100.0 * table
        ));
        model.with_join(OrderJoin { kappa, ..model.join() })
    }

    fn exchange<'s>(
        &self,
        words: OrderWords<'_>,
        input: &OrderInput,
        used: impl Iterator<Item = &'s Vec<TokenId>>,
    ) -> Result<Exchange> {
        let mut capitals = Capitals::new(words);
        for pair in input.labelled.iter().flat_map(|set| &set.pairs) {
            capitals.add(&pair.first);
            capitals.add(&pair.second);
        }
        capitals.add_files(&input.ordinary, PairKind::Neighbours)?;
        capitals.add_files(&input.paraphrases, PairKind::Pairs)?;
        Exchange::new(&capitals, used, self.exchange)
    }

    fn identity(
        &self,
        table: &StaticEncoder,
        train: &LabelledTokens,
        dev: Option<&LabelledTokens>,
        ordinary: &OrdinaryPairs,
    ) -> String {
        let of_pairs = |sum: Fingerprint, pairs: &LabelledTokens| {
            let tokens = pairs.sentences.iter().flat_map(|sentence| {
                std::iter::once(sentence.len() as u64).chain(sentence.iter().map(|token| u64::from(token.0)))
            });
            sum.numbers(tokens).numbers(pairs.labels.iter().map(|&label| u64::from(label)))
        };
        let sum = Fingerprint::new().vocabulary(table.vocabulary());
        let sum = sum.numbers(table.rows().stored().iter().map(|&byte| u64::from(byte)));
        let sum = ordinary.fingerprint(of_pairs(sum, train));
        let sum = dev.into_iter().fold(sum, of_pairs);
        let Self { dim, random_features, hold, exchange, .. } = self;
        format!("{dim} {random_features} {hold} {exchange} {}", sum.hex())
    }
}

/// The features of all words, one row per word.
fn features(words: OrderWords<'_>) -> Result<Table> {
    let mut table = Table::zeros(words.len(), words.n_features())?;
    for word in 0..words.len() {
        words.features(word, table.row_mut(word));
    }
    Ok(table)
}

/// The values of a trained part, in the form that a static table takes.
fn values(encoder: &OrderEncoder, part: &Parameters<f32>) -> Result<OrderValues> {
    let tensor = |name: &str| {
        let values = part.iter().find(|tensor| tensor.name() == name).map_or(&[][..], |tensor| tensor.values());
        values.to_vec()
    };
    let maps = Table::from_vec(encoder.features, 3 * encoder.dim, tensor("order.maps"))?;
    let bias = tensor("order.scalar_bias");
    Ok(OrderValues {
        maps: CompressedRows::compress(&maps, RowEncoding::F32)?,
        scalars: tensor("order.scalars"),
        scalar_bias: std::array::from_fn(|i| bias.get(i).copied().unwrap_or(f32::NAN)),
        f_bias: tensor("order.f_bias"),
        length_slope: tensor("order.length_bias").first().copied().unwrap_or(f32::NAN),
        first_state: tensor("order.first_state_bias"),
    })
}

/// Labelled pairs as tokens, without pairs that have an empty or a held-out sentence.
fn labelled(words: OrderWords<'_>, sets: &[ParaphraseSet], held_out: &HeldOut) -> Vec<([Vec<TokenId>; 2], bool)> {
    let mut scratch = Scratch::default();
    let is_seen = |pair: &&ParaphrasePair| ![&pair.first, &pair.second].iter().any(|text| held_out.contains(text));
    let pairs = sets.iter().flat_map(|set| &set.pairs).filter(is_seen);
    let read = |pair: &ParaphrasePair| {
        ([&pair.first, &pair.second].map(|text| words.tokens(text, LONGEST, &mut scratch)), pair.is_paraphrase)
    };
    pairs.map(read).filter(|(pair, _)| pair.iter().all(|sentence| !sentence.is_empty())).collect()
}
