//! Reads files into sources with one vocabulary.

use std::{collections::HashMap, path::Path};

use senv_core::{Error as CoreError, NoObserver, Observer, TokenId, Tokenizer, Vocabulary, words::VocabularyBuilder};

use super::{
    input::{PairFiles, PairInput, PairOptions, SourceReport},
    kept::{self, KeptPairs, Progress},
    kind::PairKind,
    running,
    source::PairSource,
    taken::{PartLimits, Taken},
    tsv,
};
use crate::{
    base::{fingerprint::Fingerprint, memory_text::MemoryText, train_options::TrainOptions},
    error::{Error, Result},
};

/// Sources with one vocabulary.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PairData {
    /// The words of all sources.
    pub vocabulary: Vocabulary,
    /// One source per file, in order.
    pub sources: Vec<PairSource>,
    /// What was used of each file.
    pub reports: Vec<SourceReport>,
}

impl PairData {
    /// The [kind](senv_core::checkpoint::kind) of the checkpoint that keeps a stopped reading.
    pub const KEPT_KIND: &str = kept::KIND;

    /// Returns a fingerprint that depends on every word, sentence, group and weight.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let words = Fingerprint::new().vocabulary(&self.vocabulary);
        self.sources.iter().fold(words, |sum, source| source.add_to(sum)).hex()
    }

    /// Creates data from a program's own vocabulary and sources.
    #[must_use]
    pub fn new(vocabulary: Vocabulary, sources: Vec<PairSource>) -> Self {
        Self { vocabulary, sources, reports: Vec::new() }
    }

    /// Reads paraphrase pairs in memory.
    ///
    /// ```
    /// use senv::data::{PairData, PairOptions};
    /// let pairs = [("the ship sails", "the boat leaves"), ("rain falls", "it pours")];
    /// let data = PairData::of_pairs(pairs, &PairOptions::default())?;
    /// assert_eq!((data.sources[0].n_groups(), data.vocabulary.len()), (2, 9));
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`PairData::read`] and [`MemoryText::pairs`].
    pub fn of_pairs<A: AsRef<str>, B: AsRef<str>>(
        pairs: impl IntoIterator<Item = (A, B)>,
        options: &PairOptions,
    ) -> Result<Self> {
        let text = MemoryText::pairs(pairs)?;
        Self::read(&[PairInput::new(&text, PairKind::Pairs)], options, &NoObserver)
    }

    /// Reads files.
    ///
    /// # Errors
    /// [`Error::BadLine`] or [`Error::Data`], naming file and line, for a line of a different layout.
    /// [`Error::NoExamplesIn`] if no pair is left in any file. [`senv_core::Error`] for a file, text or vocabulary that
    /// cannot be used. [`senv_core::Error::Interrupted`] if the observer stops the reading; what was read is then kept
    /// at [`PairOptions::kept`].
    pub fn read(inputs: &[PairInput], options: &PairOptions, observer: &dyn Observer) -> Result<Self> {
        let paths: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
        let (data, ..) = Self::read_with(inputs, &paths, options, observer, |_| Ok(()))?;
        if data.sources.iter().all(|source| source.n_groups() == 0) {
            return Err(no_examples(&paths));
        }
        Ok(data)
    }

    /// Reads files, and whatever else `more` reads with the same words; also returns the final number of each
    /// provisional one. `paths` are all files, for an error if none has a word.
    ///
    /// # Errors
    /// The errors of [`PairData::read`] and of `more`.
    pub(crate) fn read_with<T>(
        inputs: &[PairInput],
        paths: &[&Path],
        options: &PairOptions,
        observer: &dyn Observer,
        more: impl FnOnce(&mut VocabularyBuilder) -> Result<T>,
    ) -> Result<(Self, Vec<Option<TokenId>>, T)> {
        inputs.iter().try_for_each(|input| check_weight(input.weight))?;
        let kept = KeptPairs::new(inputs, options);
        let mut progress = kept.as_ref().map_or_else(|| Ok(Progress::default()), KeptPairs::load)?;
        for input in inputs.iter().skip(progress.drafts.len()) {
            if let Err(error) = read_next(input, options, kept.as_ref(), &mut progress, observer) {
                if let (Some(kept), Error::Core(CoreError::Interrupted { .. })) = (kept, &error) {
                    kept.keep(progress, observer);
                }
                return Err(error);
            }
        }
        let more = more(&mut progress.builder)?;
        kept.map_or(Ok(()), |kept| kept.remove())?;
        let Progress { builder, drafts, .. } = progress;
        if builder.is_empty() {
            return Err(no_examples(paths));
        }
        let (vocabulary, ids) = vocabulary(&builder, options)?;
        let mut data = Self { vocabulary, sources: Vec::new(), reports: Vec::new() };
        for (input, draft) in inputs.iter().zip(drafts) {
            let (source, report) = draft.finish(input, &ids, options.scratch_dir.as_deref())?;
            data.sources.push(source);
            data.reports.push(report);
        }
        Ok((data, ids, more))
    }
}

fn no_examples(paths: &[&Path]) -> Error {
    Error::NoExamplesIn { paths: paths.iter().map(|&path| path.to_owned()).collect() }
}

/// Reads the next file. If it is stopped, `progress` contains what was read of it.
pub(super) fn read_next(
    input: &PairInput,
    options: &PairOptions,
    kept: Option<&KeptPairs<'_>>,
    progress: &mut Progress,
    observer: &dyn Observer,
) -> Result<()> {
    let mut draft = if input.kind == PairKind::Neighbours {
        let kept = kept.map(KeptPairs::of_text).or_else(|| options.kept.clone());
        running::read(input, options, kept, &mut progress.builder, observer)?
    } else {
        let new = || Taken::new(options.scratch_dir.as_deref(), options.group, PartLimits::LARGEST);
        let mut taken = progress.taken.take().map_or_else(new, Ok)?;
        if let Err(error) = tsv::read(input, options, &mut progress.builder, &mut taken, observer) {
            progress.taken = Some(taken);
            return Err(error);
        }
        taken.finish(input.kind)?
    };
    draft.report.path.clone_from(&input.path);
    progress.drafts.push(draft);
    Ok(())
}

impl PairFiles {
    /// Reads the files with this tokenizer.
    ///
    /// # Errors
    /// The errors of [`PairData::read`].
    pub fn read<D>(&self, tokenizer: &Tokenizer, options: &TrainOptions<'_, D>) -> Result<PairData> {
        let reading = PairOptions {
            tokenizer: tokenizer.clone(),
            threads: options.threads,
            kept: options.kept_reading(),
            ..self.options.clone()
        };
        PairData::read(&self.inputs, &reading, options.observer)
    }
}

/// Checks the share of the batches of a file.
pub(crate) fn check_weight(weight: Option<f64>) -> Result<()> {
    match weight {
        Some(weight) if !(weight.is_finite() && weight > 0.0) => {
            let requirement = "finite and above 0";
            Err(CoreError::InvalidParameter { name: "weight", requirement, got: weight.to_string() }.into())
        }
        _ => Ok(()),
    }
}

/// Returns the vocabulary, and the final number for each provisional one.
fn vocabulary(builder: &VocabularyBuilder, options: &PairOptions) -> Result<(Vocabulary, Vec<Option<TokenId>>)> {
    let counted = builder.finish_at_most(options.min_count, options.max_vocabulary)?;
    let vocabulary = if options.keep.is_empty() {
        counted
    } else {
        let counts: HashMap<&str, u64> = builder.iter().collect();
        let more = options.keep.iter().filter(|word| counted.id(word).is_none());
        let more = more.map(|word| (word.as_str(), counts.get(word.as_str()).copied().unwrap_or(0)));
        let all = counted.iter().map(|(_, token, count)| (token, count)).chain(more);
        Vocabulary::from_counts(all, counted.corpus_tokens())?
    };
    let ids = builder.iter().map(|(token, _)| vocabulary.id(token)).collect();
    Ok((vocabulary, ids))
}
