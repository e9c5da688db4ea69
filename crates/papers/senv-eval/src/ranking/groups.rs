//! The soup ranking test: are sentences closer to sentences of their own group than to others?
//!
//! Equation: `soup-gap`
//!
//! Each sentence in turn is the reference. All others are ranked by their cosine with it, and the sentences of its
//! group are relevant. The printed groups ([`SentenceGroups::soup`]) share most of their words and differ in meaning: a
//! hot soup and a cold one.
//!
//! ```text
//! gap = min cosine inside the group − max cosine outside     above 0: the group is separated
//! ```
//!
//! Paper of the SNLI-finetuned Skip-thoughts, section 7, which prints only the last sentence as reference (Table 8).

use std::path::PathBuf;

use senv_core::{SentenceEncoder, kernels};
use senv_data::SentenceGroups;
use senv_metrics::{average_precision, mean};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    published::similarity::PublishedSoup,
    report::{Align, TextTable, number},
    score::sentence_vectors::SentenceVectors,
};

/// Maximum number of sentences for [`evaluate_group_ranking`], which compares all pairs.
pub(crate) const MAX_GROUP_RANKING: usize = 2_000;

/// A sentence in the ranking of one reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankedSentence {
    /// The sentence.
    pub sentence: String,
    /// Its cosine with the reference, in `[-1, 1]`.
    pub cosine: f64,
    /// Whether it is in the reference's group.
    pub same_group: bool,
}

/// All other sentences, ranked by their cosine with a reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReferenceRanking {
    /// The reference sentence.
    pub sentence: String,
    /// Group of the reference.
    pub group: String,
    /// The other sentences by descending cosine. Ties keep the order of the file.
    pub ranked: Vec<RankedSentence>,
    /// Average precision of its group, where tied cosines count together; `None` if it is alone in its group.
    pub average_precision: Option<f64>,
    /// Smallest cosine inside the group minus the largest outside; `None` if either is missing.
    pub gap: Option<f64>,
}

/// Result of an encoder on groups of sentences, all compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupRankingResult {
    /// Path of the file.
    pub path: PathBuf,
    /// The ranking of each sentence as reference, in the order of the file.
    pub references: Vec<ReferenceRanking>,
    /// Mean of the average precisions.
    pub mean_average_precision: Option<f64>,
    /// Mean of the gaps.
    pub mean_gap: Option<f64>,
    /// Number of references with a gap above 0, whose whole group ranks first.
    pub n_separated: usize,
    /// Number of sentences without a known token. Their cosines are 0.
    pub n_sentences_without_known_token: usize,
}

/// Ranks all sentences for each reference.
///
/// # Errors
/// [`Error::NothingToDo`] for fewer than two groups; [`senv_core::Error::InvalidParameter`] above 2,000 sentences;
/// [`Error::NotFinite`] if an embedding is not finite, with its sentence.
pub fn evaluate_group_ranking(encoder: &dyn SentenceEncoder, groups: &SentenceGroups) -> Result<GroupRankingResult> {
    if groups.groups.len() < 2 {
        return Err(Error::NothingToDo { what: "groups of sentences to tell apart (two or more)" });
    }
    if groups.n_sentences() > MAX_GROUP_RANKING {
        let (name, requirement) = ("the number of sentences", "at most 2000, because every pair is compared");
        return Err(
            senv_core::Error::InvalidParameter { name, requirement, got: groups.n_sentences().to_string() }.into()
        );
    }
    let embeddings = SentenceVectors::encode(encoder, groups.sentences())?;
    embeddings.check_finite()?;
    let of_group = |group: usize| groups.groups[group].sentences.iter().map(move |sentence| (group, &sentence[..]));
    let all: Vec<(usize, &str)> = (0..groups.groups.len()).flat_map(of_group).collect();
    let numbers = all.iter().map(|(_, sentence)| embeddings.number(sentence)).collect::<Result<Vec<_>>>()?;
    let vector = |place: usize| embeddings.vector(numbers[place]);
    let references = (0..all.len()).map(|reference| -> Result<ReferenceRanking> {
        let (group, sentence) = all[reference];
        let others = (0..all.len()).filter(|&other| other != reference).map(|other| RankedSentence {
            sentence: all[other].1.to_owned(),
            cosine: f64::from(kernels::cosine(vector(reference), vector(other))),
            same_group: all[other].0 == group,
        });
        let mut ranked: Vec<RankedSentence> = others.collect();
        ranked.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
        let (relevant, cosines): (Vec<bool>, Vec<f64>) =
            ranked.iter().map(|other| (other.same_group, other.cosine)).unzip();
        let last_inside = ranked.iter().rfind(|other| other.same_group);
        let first_outside = ranked.iter().find(|other| !other.same_group);
        Ok(ReferenceRanking {
            sentence: sentence.to_owned(),
            group: groups.groups[group].name.clone(),
            average_precision: average_precision(&relevant, &cosines)?,
            gap: last_inside.zip(first_outside).map(|(inside, outside)| inside.cosine - outside.cosine),
            ranked,
        })
    });
    let references = references.collect::<Result<Vec<_>>>()?;
    let average =
        |of: fn(&ReferenceRanking) -> Option<f64>| mean(&references.iter().filter_map(of).collect::<Vec<_>>());
    let without = numbers.iter().filter(|&&number| embeddings.coverage(number).is_empty());
    Ok(GroupRankingResult {
        path: groups.path.clone(),
        mean_average_precision: average(|reference| reference.average_precision),
        mean_gap: average(|reference| reference.gap),
        n_separated: references.iter().filter(|reference| reference.gap.is_some_and(|gap| gap > 0.0)).count(),
        n_sentences_without_known_token: without.count(),
        references,
    })
}

/// Formats cosines in rank order, with `*` for those of the reference's group.
fn cosines(ranked: impl Iterator<Item = (f64, bool)>) -> String {
    let cells = ranked.map(|(cosine, same)| format!("{cosine:5.2}{}", if same { '*' } else { ' ' }));
    cells.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

/// Number of cosines of a reference that are printed.
const SHOWN: usize = 10;
/// Number of characters of a reference that are printed. The sentences of the soup test fit.
const SHOWN_CHARACTERS: usize = 60;

/// Returns a sentence, shortened to fit.
fn shortened(sentence: &str) -> String {
    match sentence.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", sentence[..end].trim_end()),
        None => sentence.to_owned(),
    }
}

impl GroupRankingResult {
    /// Formats one line per reference, then the means.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// Formats one line per reference, then the means, followed by the published values for the last sentence (see
    /// [`crate::published_soup`]).
    #[must_use]
    pub fn to_text_beside(&self, published: &[PublishedSoup]) -> String {
        let mut table = TextTable::new([
            ("reference", Align::Left),
            ("group", Align::Left),
            ("cosines in rank order, * same group", Align::Left),
            ("average\nprecision", Align::Right),
            ("gap", Align::Right),
        ]);
        for reference in &self.references {
            let ranked = reference.ranked.iter().take(SHOWN).map(|other| (other.cosine, other.same_group));
            let [average, gap] = [(reference.average_precision, 4), (reference.gap, 3)].map(|(x, n)| number(x, n));
            table.row([shortened(&reference.sentence), reference.group.clone(), cosines(ranked), average, gap]);
        }
        table.rule();
        let means = [(self.mean_average_precision, 4), (self.mean_gap, 3)].map(|(x, n)| number(x, n));
        let [average, gap] = means;
        let separated = format!("{} of {} references with a gap above 0", self.n_separated, self.references.len());
        table.row(["mean".to_owned(), String::new(), separated, average, gap]);
        if !published.is_empty() {
            table.rule();
        }
        for row in published {
            let [average, gap] = [(row.average_precision(), 4), (row.gap(), 3)].map(|(x, n)| number(x, n));
            table.row([format!("{} [1]", row.system), String::new(), cosines(row.cosines.into_iter()), average, gap]);
        }
        let mut text = table.to_string();
        if self.n_sentences_without_known_token > 0 {
            text += &format!("{} sentences without a known token (cosine 0)\n", self.n_sentences_without_known_token);
        }
        if let Some(row) = published.first() {
            text += &format!("[1] {}\n", row.source);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_references_are_cut_between_characters() {
        let sixty = "ß".repeat(SHOWN_CHARACTERS);
        assert_eq!(shortened(&sixty), sixty);
        assert_eq!(shortened(&format!("{sixty}x")), format!("{sixty}…"));
        assert!(SentenceGroups::soup().sentences().all(|sentence| shortened(sentence) == sentence));
    }
}
