//! `senv train order`: adds a part that reads word order to any static table.

use std::path::PathBuf;

use senv::{
    OrderInput, OrderParams,
    data::{HeldOut, PairFiles, PairInput, PairKind, PairOptions},
};
use senv_data::ParaphraseSet;

use super::{
    data_args::read_scored,
    files::RunFiles,
    hyper_args::HyperArgs,
    run::{StartFrom, TrainingRun},
};
use crate::{failure::Result, progress::Unit, text::TextArgs};

/// Arguments of an order part.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OrderArgs {
    /// Model to extend: a static one, an average of words, or english.
    ///
    /// Its table is not changed.
    #[arg(long, value_name = "MODEL", required = true, help_heading = "Files")]
    init_model: PathBuf,
    /// Labeled pairs with nearly the same words: LABEL, FIRST, SECOND, separated by tabs.
    ///
    /// LABEL is 1 for a paraphrase, else 0, as in PAWS.
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "paraphrases", help_heading = "Files")]
    train: Vec<PathBuf>,
    /// Pairs with the same meaning, for languages without labeled pairs: FIRST, SECOND, separated by a tab.
    ///
    /// To get a pair with different meanings, two names, numbers or other words are swapped in one sentence. Without
    /// pairs, give the same sentence twice per line. Up to 10,000 pairs per file are used.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "quoted", help_heading = "Files")]
    paraphrases: Vec<PathBuf>,
    /// Ordinary pairs whose similarities are preserved: FIRST, SECOND, separated by a tab.
    ///
    /// Up to 3,000 pairs per file are used, from this and the next three options.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "quoted", help_heading = "Files")]
    pairs: Vec<PathBuf>,
    /// Image captions as ordinary pairs.
    ///
    /// IMAGE, CAPTION, separated by a tab, with the captions of an image on consecutive lines; or JSON of COCO.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "quoted", help_heading = "Files")]
    captions: Vec<PathBuf>,
    /// Labeled premises and hypotheses, whose entailments are ordinary pairs.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "quoted", help_heading = "Files")]
    nli: Vec<PathBuf>,
    /// Text in order, whose neighboring sentences are ordinary pairs.
    ///
    /// One sentence per line, with a blank line between documents. Words that it mostly capitalizes count as names.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    neighbours: Vec<PathBuf>,
    /// Scored pairs that set the weight of the order part: SCORE, FIRST, SECOND, separated by tabs. The largest weight
    /// is used at which their correlations lose little (--gate-loss).
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "kappa", help_heading = "Files")]
    gate: Vec<PathBuf>,
    /// Leave out pairs with a sentence of these files, except pairs of --dev.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    decontaminate: Vec<PathBuf>,
    /// Words that negate a sentence [default: those of English: not, n't, no, nobody, none, never, nothing, nor,
    /// neither, without, cannot, nowhere]
    #[arg(long, value_name = "WORD", num_args = 1.., help_heading = "Text")]
    negation_words: Option<Vec<String>>,
    /// Labeled pairs for validation; without them the last weights are kept.
    ///
    /// The weights with the best average precision are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    dev: Vec<PathBuf>,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    params: HyperArgs<OrderParams>,
    #[command(flatten)]
    text: TextArgs,
}

impl OrderArgs {
    fn input(&self) -> senv::Result<OrderInput> {
        let of = |kind, paths: &[PathBuf]| {
            paths.iter().map(|path| PairInput { path: path.clone(), kind, weight: None }).collect::<Vec<_>>()
        };
        let inputs = [
            of(PairKind::Pairs, &self.pairs),
            of(PairKind::Captions, &self.captions),
            of(PairKind::Nli, &self.nli),
            of(PairKind::Neighbours, &self.neighbours),
        ];
        let held_out = HeldOut::read(&self.decontaminate)?;
        let (text, scratch_dir) = (self.text.options(), self.files.scratch_dir());
        let options = PairOptions { held_out, text, scratch_dir, ..PairOptions::default() };
        // A sentence given twice can also be turned into a pair with different meanings.
        let options_of_paraphrases = PairOptions { keep_identical: true, ..options.clone() };
        let paraphrases =
            PairFiles { inputs: of(PairKind::Pairs, &self.paraphrases), options: options_of_paraphrases, second: None };
        Ok(OrderInput {
            labelled: read_labelled(&self.train)?,
            paraphrases,
            ordinary: PairFiles { inputs: inputs.concat(), options, second: None },
            gate: read_scored(&self.gate)?,
            negation_words: self.negation_words.clone(),
        })
    }

    pub(crate) fn train(&self, threads: usize) -> Result {
        self.params.check_training(!self.dev.is_empty())?;
        let mut params = OrderParams::default();
        if self.params.is_given("epochs") {
            // Given epochs replace the usual steps.
            params.fit.steps = None;
        }
        self.params.apply(&mut params)?;
        self.text.check_tables(&self.neighbours)?;
        let files =
            [&self.train, &self.paraphrases, &self.pairs, &self.captions, &self.nli, &self.neighbours, &self.gate];
        let more = [&self.decontaminate, &self.dev];
        let dev = read_labelled(&self.dev)?;
        let run = TrainingRun {
            reads: files.into_iter().chain(more).flatten().map(PathBuf::as_path).collect(),
            start: StartFrom { model: Some(&self.init_model), vectors: None },
            dev: (!dev.is_empty()).then_some(&dev[..]),
            ..TrainingRun::new(&self.files, &self.params, params, Unit::Pairs, threads)
        };
        run.run(|_, _| self.input())
    }
}

/// Reads labelled pairs.
fn read_labelled(paths: &[PathBuf]) -> senv_data::Result<Vec<ParaphraseSet>> {
    paths.iter().map(ParaphraseSet::read).collect()
}
