//! The soup ranking test: are sentences of a group closer to each other than to those of another?
//!
//! Equation: `soup-gap`
//!
//! Each sentence in turn is the reference; all others are ranked by the cosine with it, and those of its group are the
//! relevant ones. The printed groups ([`SentenceGroups::soup`]) share most of their words and differ in meaning: a hot
//! soup and a cold one.
//!
//! ```text
//! gap = min cosine inside the group − max cosine outside     above 0: the group is kept apart
//! ```
//!
//! Paper of the SNLI-finetuned Skip-thoughts, section 7, which prints the last sentence as reference only (Table 8).

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

/// The most sentences of [`evaluate_group_ranking`], which compares each with each.
pub(crate) const MAX_GROUP_RANKING: usize = 2_000;

/// A sentence in the ranking of one reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankedSentence {
    /// The sentence.
    pub sentence: String,
    /// Its cosine with the reference, in `[-1, 1]`.
    pub cosine: f64,
    /// Whether it is of the reference's group.
    pub same_group: bool,
}

/// All other sentences, ranked by their cosine with one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReferenceRanking {
    /// The reference.
    pub sentence: String,
    /// Its group.
    pub group: String,
    /// The others, by descending cosine; of equal cosines in the order of the file.
    pub ranked: Vec<RankedSentence>,
    /// Average precision of its group, tied cosines entering together; `None` if it is alone in its group.
    pub average_precision: Option<f64>,
    /// Smallest cosine inside the group less the largest outside; `None` without either.
    pub gap: Option<f64>,
}

/// Result of an encoder on groups of sentences, each compared with each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupRankingResult {
    /// The file.
    pub path: PathBuf,
    /// Each sentence as reference, in the order of the file.
    pub references: Vec<ReferenceRanking>,
    /// Mean of the average precisions.
    pub mean_average_precision: Option<f64>,
    /// Mean of the gaps.
    pub mean_gap: Option<f64>,
    /// References with a gap above 0: their whole group ranks first.
    pub n_separated: usize,
    /// Sentences without a known token: cosine 0.
    pub n_sentences_without_known_token: usize,
}

/// Ranks all sentences for each.
///
/// # Errors
/// [`Error::NothingToDo`] below two groups; [`senv_core::Error::InvalidParameter`] above 2,000
/// sentences; [`Error::NotFinite`] if an embedding is not, with its sentence.
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

/// Cosines in the order of ranks, those of the reference's group marked.
fn cosines(ranked: impl Iterator<Item = (f64, bool)>) -> String {
    let cells = ranked.map(|(cosine, same)| format!("{cosine:5.2}{}", if same { '*' } else { ' ' }));
    cells.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

/// Cosines of a reference that are shown in text.
const SHOWN: usize = 10;
/// Characters of a reference that are shown in text: the printed sentences in whole.
const SHOWN_CHARACTERS: usize = 60;

/// The sentence, shortened.
fn shortened(sentence: &str) -> String {
    match sentence.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", sentence[..end].trim_end()),
        None => sentence.to_owned(),
    }
}

impl GroupRankingResult {
    /// A line for each reference, then the means.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// A line for each reference, then the means, and below them the published values for its last sentence (see
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
