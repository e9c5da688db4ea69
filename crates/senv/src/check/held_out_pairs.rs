//! Pairs that training does not see, and the sample of a set of pairs.

use std::collections::HashSet;

use senv_core::rng::stream;

use super::{
    CheckParams,
    pair_ranks::HeldOutPairs,
    text::{CheckText, joined},
};
use crate::{
    data::{PairData, PairKind},
    error::Result,
};

/// Pairs are held out if there are at least this many.
const MIN_PAIRS: usize = 2_000;
/// One pair in this many is held out,
const SHARE: usize = 100;
/// within this minimum and maximum.
const MIN_HELD_OUT: usize = 200;
const MAX_HELD_OUT: usize = 2_000;

impl CheckText {
    /// Takes a part of the data out of training and returns the sample to check on, as [`CheckText::of_pairs`] does.
    ///
    /// A text of at least 32,000 sentences loses 1 % of them (at most 4,000), in runs of eight. Their pairs are removed
    /// from `data`; their words stay in the vocabulary. They are the end of the sample, and only they are compared with
    /// their neighbors. A shorter text is used for training completely.
    ///
    /// A set of at least 2,000 pairs loses 1 % of them (200 to 2,000). Without running text, the sample is drawn from
    /// the sentences of pairs.
    ///
    /// ```no_run
    /// # use senv::{TrainOptions, check::{CheckParams, CheckText, check}, recipe::NeighbourRecipe};
    /// # fn f(recipe: NeighbourRecipe, options: TrainOptions<'_>) -> senv::Result<()> {
    /// let mut data = recipe.read(&options)?;
    /// let sample = CheckText::hold_out(&mut data.first, &CheckParams::default())?;
    /// let model = recipe.fit_on(&data, &options)?.model;
    /// if let Some(sample) = sample {
    ///     println!("{:?}", check(&model, &sample, &CheckParams::default())?.neighbours);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the temporary file of a large source cannot be written.
    pub fn hold_out(data: &mut PairData, params: &CheckParams) -> Result<Option<Self>> {
        let held_out_pairs = take(data, params.seed)?;
        let text = Self::hold_out_runs(data, params)?.or_else(|| Self::of_pair_sentences(data, params));
        Ok(text.map(|text| Self { held_out_pairs, ..text }))
    }

    /// Returns sentences of pairs, evenly spaced, none next to another; `None` without pairs.
    pub(crate) fn of_pair_sentences(data: &PairData, params: &CheckParams) -> Option<Self> {
        let sources: Vec<_> = data.sources.iter().filter(|source| is_judged(source.kind())).collect();
        let total: usize = sources.iter().map(|source| source.sentences().len()).sum();
        let mut text = Self { n_documents: 1, ..Self::of_vocabulary(&data.vocabulary) };
        let n = total.min(params.n_sentences);
        let mut before = 0;
        let mut places = (0..n).map(|i| i * total / n).peekable();
        for source in sources {
            let sentences = source.sentences();
            while let Some(place) = places.next_if(|&place| place < before + sentences.len()) {
                let sentence = sentences.get(place - before);
                if !sentence.is_empty() {
                    text.push(joined(sentence, &data.vocabulary), false);
                }
            }
            before += sentences.len();
        }
        (text.n_sentences() > 0).then_some(text)
    }
}

/// Whether a person judged that two sentences of a group mean the same thing, rather than their position in a text.
fn is_judged(kind: PairKind) -> bool {
    matches!(kind, PairKind::Pairs | PairKind::Captions | PairKind::Nli)
}

/// Takes pairs out of the sources that are not running text, and all other pairs with one of their sentences.
fn take(data: &mut PairData, seed: u64) -> Result<HeldOutPairs> {
    let total: usize = data.sources.iter().filter(|source| is_judged(source.kind())).map(|s| s.n_groups()).sum();
    if total < MIN_PAIRS {
        return Ok(HeldOutPairs::default());
    }
    let n = (total / SHARE).clamp(MIN_HELD_OUT, MAX_HELD_OUT);
    let mut rng = stream(seed, "check held-out pairs", &[]);
    let PairData { vocabulary, sources, reports } = data;
    let mut taken = Vec::new();
    for (number, source) in sources.iter_mut().enumerate().filter(|(_, source)| is_judged(source.kind())) {
        // The share of each source, evenly spaced.
        let groups = source.n_groups();
        let of_source = (n * groups).div_ceil(total).min(groups);
        let mut sentences = HashSet::new();
        for i in 0..of_source {
            let pair = source.draw((i * groups / of_source) as u32, &mut rng);
            sentences.extend([pair.first, pair.second]);
            taken.push([pair.first, pair.second].map(|i| joined(source.sentence(i), vocabulary)));
        }
        source.retain(|i| !sentences.contains(&i))?;
        // A program's own sources do not have reports.
        if let Some(report) = reports.get_mut(number) {
            report.groups = source.n_groups();
        }
    }
    Ok(HeldOutPairs::new(taken, MAX_HELD_OUT))
}
