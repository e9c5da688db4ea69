//! The arguments for the files that gradient-trained systems read.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, builder::BoolishValueParser};
use senv::{
    Model, Start,
    data::{HeldOut, PairInput, PairKind, PairOptions, SecondStage},
    gradient::ScoredPairs,
};
use senv_core::Error as CoreError;
use senv_store::Embeddings;

use crate::text::TextArgs;

/// A file and its share of the batches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeightedFile {
    path: PathBuf,
    weight: Option<f64>,
}

impl WeightedFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn weight(&self) -> Option<f64> {
        self.weight
    }
}

/// Parses FILE or FILE:WEIGHT; an existing file with the whole name takes precedence.
pub(crate) fn parse_weighted(text: &str) -> Result<WeightedFile, String> {
    let whole = WeightedFile { path: text.into(), weight: None };
    let Some((path, weight)) = text.rsplit_once(':').filter(|(path, _)| !path.is_empty()) else { return Ok(whole) };
    match weight.parse() {
        _ if Path::new(text).exists() => Ok(whole),
        Ok(weight) => Ok(WeightedFile { path: path.into(), weight: Some(weight) }),
        Err(_) if Path::new(path).is_file() => Err(format!(
            "{weight} is not a weight for the file {path}; give a number above 0, as in {path}:2.5",
            weight = senv_core::quoted(weight)
        )),
        Err(_) => Ok(whole),
    }
}

/// The sources of pairs.
#[derive(Debug, Clone, clap::Args)]
#[command(group = ArgGroup::new("sources").args(["pairs", "captions", "nli", "neighbours"]).required(true).multiple(true))]
pub(crate) struct PairFiles {
    /// Pairs with the same meaning: FIRST, SECOND, separated by a tab.
    ///
    /// WEIGHT is the share of the batches from this file. Without weights, each epoch reads every file once.
    #[arg(long, value_name = "FILE[:WEIGHT]", num_args = 1.., value_parser = parse_weighted, group = "quoted",
          help_heading = "Files")]
    pairs: Vec<WeightedFile>,
    /// Image captions; any two captions of an image are a pair.
    ///
    /// IMAGE, CAPTION, separated by a tab, with the captions of an image on consecutive lines; or a COCO file such as
    /// captions_train2014.json.
    #[arg(long, value_name = "FILE[:WEIGHT]", num_args = 1.., value_parser = parse_weighted, group = "quoted",
          help_heading = "Files")]
    captions: Vec<WeightedFile>,
    /// Labeled pairs: LABEL, PREMISE, HYPOTHESIS, separated by tabs.
    ///
    /// Also the .jsonl or .txt files of SNLI, and SICK. Entailments are pairs, and contradictions are hard negatives of
    /// softmax-cosine.
    #[arg(long, value_name = "FILE[:WEIGHT]", num_args = 1.., value_parser = parse_weighted, group = "quoted",
          help_heading = "Files")]
    nli: Vec<WeightedFile>,
    /// Text in order; each sentence and the next one are a pair.
    ///
    /// One sentence per line, with a blank line between documents.
    #[arg(long, value_name = "FILE[:WEIGHT]", num_args = 1.., value_parser = parse_weighted, help_heading = "Files")]
    neighbours: Vec<WeightedFile>,
    /// Leave out pairs with a sentence of these files, or all captions of the image: development and test sets as
    /// tab-separated files, .jsonl, or captions_*.json of COCO. Only letters and digits are compared, and sentences of
    /// fewer than four words are ignored.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    decontaminate: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) vectors: VectorArgs,
    /// Keep words of the vectors file that are not in the pairs [default: true]
    #[arg(long, value_name = "BOOL", value_parser = BoolishValueParser::new(), help_heading = "Text")]
    pub(crate) keep_vector_words: Option<bool>,
    /// Keep only the N most frequent words [default: no limit]
    #[arg(long, value_name = "N", help_heading = "Text")]
    max_vocabulary: Option<usize>,
    /// Use one pair per epoch of those with the same first sentence [default: true for softmax-cosine, else false]
    #[arg(long, value_name = "BOOL", value_parser = BoolishValueParser::new(), num_args = 0..=1,
          require_equals = true, default_missing_value = "true", overrides_with = "no_group", help_heading = "Training")]
    group: Option<bool>,
    /// The same as --group false.
    #[arg(long, overrides_with = "group", help_heading = "Training")]
    no_group: bool,
    /// Treat words that occur less often as unknown [default: 1]
    #[arg(long, value_name = "N", help_heading = "Text")]
    min_count: Option<u64>,
    #[command(flatten)]
    text: TextArgs,
}

/// Initial vectors.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct VectorArgs {
    /// Word vectors to start from.
    ///
    /// A senv model, word2vec text or binary, GloVe, fastText .vec or .bin. Words that the file lacks start at random.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub(crate) init_vectors: Option<PathBuf>,
}

impl VectorArgs {
    /// Reads the vectors.
    pub(crate) fn open(&self) -> senv::Result<Option<Embeddings>> {
        let Some(path) = &self.init_vectors else { return Ok(None) };
        finite(Model::open_verified(path)?.to_embeddings()?, path).map(Some)
    }
}

/// What a run starts from; a model takes precedence over vectors.
pub(crate) fn start_of<'a>(model: Option<&'a Model>, vectors: Option<&'a Embeddings>) -> Start<'a> {
    model.map(Start::Model).or(vectors.map(Start::Vectors)).unwrap_or_default()
}

/// Word vectors to start from, if all of their values are finite.
pub(crate) fn finite(vectors: Embeddings, path: &Path) -> senv::Result<Embeddings> {
    let bad = vectors.table().iter().position(|row| row.iter().any(|x| !x.is_finite()));
    if let Some(row) = bad {
        let (n, word) = (row + 1, vectors.word(row));
        let reason = format!(
            "the vector of word {n} ({word}) contains NaN or an infinite value; fix or remove it",
            word = senv_core::quoted(word)
        );
        return Err(CoreError::BadFile { path: path.to_owned(), reason }.into());
    }
    Ok(vectors)
}

impl PairFiles {
    /// Every file that is read, except vectors, including those of a second stage.
    pub(crate) fn paths<'a>(&'a self, stage2: &'a Stage2Args) -> Vec<&'a Path> {
        let weighted = self.inputs(stage2).map(|(_, file)| file.path.as_path());
        weighted.chain(self.decontaminate.iter().map(PathBuf::as_path)).collect()
    }

    /// Refuses tables among running text without a column.
    pub(crate) fn check_tables(&self) -> crate::failure::Result {
        let text: Vec<&Path> = self.neighbours.iter().map(|file| file.path.as_path()).collect();
        self.text.check_tables(&text)
    }

    fn inputs<'a>(&'a self, stage2: &'a Stage2Args) -> impl Iterator<Item = (PairKind, &'a WeightedFile)> {
        let of = |kind, files: &'a [WeightedFile]| files.iter().map(move |file| (kind, file));
        of(PairKind::Pairs, &self.pairs)
            .chain(of(PairKind::Captions, &self.captions))
            .chain(of(PairKind::Nli, &self.nli))
            .chain(of(PairKind::Neighbours, &self.neighbours))
            .chain(of(PairKind::Pairs, &stage2.stage2))
    }

    /// Names that identify the files of a run.
    pub(crate) fn names(&self, stage2: &Stage2Args) -> Vec<String> {
        let name =
            |(kind, file): (PairKind, &WeightedFile)| format!("{kind:?} {} {:?}", file.path.display(), file.weight);
        self.inputs(stage2).map(name).collect()
    }

    /// The files for the library. `group` says whether pairs with the same first sentence are one group, unless an
    /// argument does.
    pub(crate) fn files(
        &self,
        stage2: &Stage2Args,
        group: bool,
        scratch_dir: Option<PathBuf>,
    ) -> senv::Result<senv::data::PairFiles> {
        let defaults = PairOptions::default();
        let options = PairOptions {
            min_count: self.min_count.unwrap_or(defaults.min_count),
            max_vocabulary: self.max_vocabulary,
            group: if self.no_group { false } else { self.group.unwrap_or(group) },
            held_out: HeldOut::read(&self.decontaminate)?,
            keep_vector_words: self.keep_vector_words.unwrap_or(true),
            text: self.text.options(),
            scratch_dir,
            ..defaults
        };
        let input =
            |(kind, file): (PairKind, &WeightedFile)| PairInput { path: file.path.clone(), kind, weight: file.weight };
        let mut inputs: Vec<PairInput> = self.inputs(stage2).map(input).collect();
        let second = inputs.split_off(inputs.len() - stage2.stage2.len());
        let second = SecondStage { inputs: second, epochs: stage2.stage2_epochs, lr: stage2.stage2_lr };
        Ok(senv::data::PairFiles { inputs, options, second: stage2.is_given().then_some(second) })
    }
}

/// The pairs that the best weights are chosen by.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DevArgs {
    /// Scored pairs for validation: SCORE, FIRST, SECOND, separated by tabs.
    ///
    /// The weights with the best mean correlation over these files are kept.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Validation")]
    pub(crate) dev: Vec<PathBuf>,
}

/// Reads scored pairs.
pub(crate) fn read_scored(paths: &[PathBuf]) -> senv_data::Result<Vec<ScoredPairs>> {
    paths.iter().map(ScoredPairs::read).collect()
}

/// Files of a second stage.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Stage2Args {
    /// Pairs of a second stage, which continues from the weights of the first with the same settings.
    #[arg(long, value_name = "FILE[:WEIGHT]", num_args = 1.., value_parser = parse_weighted, help_heading = "Files")]
    pub(crate) stage2: Vec<WeightedFile>,
    /// Epochs of the second stage [default: as in the first]
    #[arg(long, value_name = "N", requires = "stage2", conflicts_with = "steps", help_heading = "Training")]
    pub(crate) stage2_epochs: Option<u32>,
    /// Learning rate of the second stage [default: as in the first]
    #[arg(long, value_name = "X", requires = "stage2", help_heading = "Training", allow_negative_numbers = true)]
    pub(crate) stage2_lr: Option<f64>,
}

impl Stage2Args {
    /// No second stage.
    pub(crate) fn none() -> Self {
        Self { stage2: Vec::new(), stage2_epochs: None, stage2_lr: None }
    }

    /// Whether there is a second stage.
    pub(crate) fn is_given(&self) -> bool {
        !self.stage2.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_stands_behind_the_last_colon_unless_a_file_has_that_name() {
        let file = |path: &str, weight| WeightedFile { path: path.into(), weight };
        assert_eq!(parse_weighted("no/such.tsv:2.5"), Ok(file("no/such.tsv", Some(2.5))));
        assert_eq!(parse_weighted("a:b:2"), Ok(file("a:b", Some(2.0))));
        assert_eq!(parse_weighted("c:\\pairs.tsv"), Ok(file("c:\\pairs.tsv", None)));
        assert_eq!(parse_weighted(":2"), Ok(file(":2", None)));
        let named = tempfile::Builder::new().suffix(":4").tempfile().unwrap();
        let name = named.path().to_str().unwrap();
        assert_eq!(parse_weighted(name), Ok(file(name, None)));
        let error = parse_weighted(&format!("{name}:abc")).unwrap_err();
        assert!(error.contains("\"abc\"") && error.contains("number above 0"), "{error}");
    }
}
