//! Texts with given target vectors: definitions with word vectors, captions with image vectors.

use std::{collections::HashMap, path::Path};

use senv_core::{
    Error as CoreError, Observer, Result as CoreResult, Rows, SentenceEncoder, Table, TextOptions, Vocabulary, kernels,
};
use senv_data::{Definitions, SentenceGroups};
use senv_store::Embeddings;

use crate::{
    base::{fingerprint::Fingerprint, sealed::Sealed},
    check::{CheckParams, CheckText},
    error::{Error, Result},
    system::SampledInput,
};

/// The minimum length of a vector with a usable direction.
const SHORTEST: f32 = 1e-12;

/// Texts, each with the vector that it is trained toward.
#[derive(Debug, Clone)]
pub struct TextTargets {
    /// The number of the target, and the text.
    pub(crate) texts: Vec<(u32, String)>,
    /// Unit vectors, each for one or more texts.
    pub(crate) targets: Table,
    /// The words whose vectors are the targets, if they are words.
    pub(crate) words: Option<Vocabulary>,
    /// Terms of the model that created the targets.
    pub(crate) terms: Option<String>,
}

impl Sealed for TextTargets {}

impl SampledInput for TextTargets {
    fn sample(&self, params: &CheckParams, _: &TextOptions) -> Result<Option<CheckText>> {
        Ok(CheckText::of_lone_sentences(self.texts.iter().map(|(_, text)| text.as_str()), params))
    }
}

impl TextTargets {
    /// Creates targets from definitions and the vectors of their words, normalized. A word without a vector is looked
    /// up in lower case. If that fails, its definitions are left out, with a note of how many.
    ///
    /// ```
    /// use senv_core::{NoObserver, Table, Vocabulary};
    /// use senv_data::{Definition, Definitions};
    /// use senv_store::Embeddings;
    /// let entry = |word: &str, text: &str| Definition { word: word.into(), text: text.into() };
    /// let entries = vec![entry("Tap", "a device that lets water out"), entry("ibex", "a goat")];
    /// let dictionary = Definitions { path: "dictionary.tsv".into(), entries };
    /// let words = Vocabulary::from_counts([("tap", 1)], 1)?;
    /// let vectors = Embeddings::new(words, Table::from_vec(1, 2, vec![3.0, 4.0])?)?;
    /// let pairs = senv::targets::TextTargets::definitions(&[dictionary], &vectors, &NoObserver)?;
    /// assert_eq!((pairs.n_texts(), pairs.n_targets()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CoreError::BadFile`] if no word has a vector; an error if memory runs out.
    pub fn definitions(sets: &[Definitions], vectors: &Embeddings, observer: &dyn Observer) -> Result<Self> {
        let usable = |word: &str| vectors.get(word).filter(|row| kernels::norm(row) >= SHORTEST);
        let (mut numbers, mut found, mut texts) = (HashMap::new(), Vec::new(), Vec::new());
        let mut left_out = 0_usize;
        for entry in sets.iter().flat_map(|set| &set.entries) {
            let lower = entry.word.to_lowercase();
            let Some(word) = [entry.word.as_str(), &lower].into_iter().find(|word| usable(word).is_some()) else {
                left_out += 1;
                continue;
            };
            let number = *numbers.entry(word.to_owned()).or_insert_with(|| {
                found.push(word.to_owned());
                found.len() as u32 - 1
            });
            texts.push((number, entry.text.clone()));
        }
        if left_out > 0 {
            let all = texts.len() + left_out;
            observer.note(&format!("skipped {left_out} of {all} definitions whose words have no vector"));
        }
        let Some(set) = sets.first().filter(|_| !texts.is_empty()) else {
            let path = sets.first().map(|set| set.path.clone()).unwrap_or_default();
            let reason = "none of its words has a target vector; give vectors of the same language";
            return Err(CoreError::BadFile { path, reason: reason.into() }.into());
        };
        let rows = found.iter().map(|word| vectors.get(word).unwrap_or_default());
        let targets = unit_rows(&set.path, vectors.dim(), found.len(), rows)?;
        let words = Vocabulary::from_counts(found.iter().map(|word| (word, 0)), 0)?;
        Ok(Self { texts, targets, words: Some(words), terms: vectors.vocabulary().terms().map(str::to_owned) })
    }

    /// Creates targets from captions and a matrix of image vectors, whose rows are in the order in which the images
    /// first occur.
    ///
    /// # Errors
    /// [`CoreError::BadFile`], naming the matrix at `path`, if the number of rows differs from that of images, with
    /// both numbers. The same error, with the number of the row, if a row is zero or contains NaN or an infinite value.
    /// An error if memory runs out.
    pub fn captions(sets: &[SentenceGroups], vectors: &Table, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let groups = images(sets);
        if groups.len() != vectors.n_rows() {
            let (rows, images) = (vectors.n_rows(), groups.len());
            let reason = format!(
                "it has {rows} rows, but the captions are of {images} images; give one row per image, in order of \
                first occurrence"
            );
            return Err(CoreError::BadFile { path: path.to_owned(), reason }.into());
        }
        let targets = unit_rows(path, vectors.dim(), groups.len(), vectors.iter())?;
        Ok(Self { texts: numbered(groups.into_iter()), targets, words: None, terms: None })
    }

    /// Creates targets from captions without image vectors. Every second caption of an image goes to `model`, and the
    /// mean of their vectors is the target of the other captions. This only tries out the mechanism, since the target
    /// is text and not an image. Images with one caption, or without a known word in the captions for the model, are
    /// left out, with a note of how many.
    ///
    /// # Errors
    /// [`Error::NoExamples`] if no image is left; the errors of `model`; an error if memory runs out.
    pub fn stand_in(
        kind: &'static str,
        sets: &[SentenceGroups],
        model: &dyn SentenceEncoder,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let groups = images(sets);
        let n_groups = groups.len();
        let others: Vec<&str> = groups.iter().flat_map(|group| group.iter().skip(1).step_by(2)).copied().collect();
        let (vectors, _) = model.encode_batch(&others)?;
        let (mut rows, mut kept, mut first) = (Vec::new(), Vec::new(), 0);
        for group in groups {
            let n = group.len() / 2;
            let mut mean = vec![0.0; model.dim()];
            for i in first..first + n {
                mean.iter_mut().zip(vectors.row(i)).for_each(|(sum, &x)| *sum += x / n as f32);
            }
            first += n;
            if kernels::norm(&mean) >= SHORTEST {
                rows.push(mean);
                kept.push(group.into_iter().step_by(2).collect::<Vec<_>>());
            }
        }
        if kept.len() < n_groups {
            let left_out = n_groups - kept.len();
            observer.note(&format!(
                "skipped {left_out} of {n_groups} images without a second caption that has a known word"
            ));
        }
        let Some(set) = sets.first().filter(|_| !kept.is_empty()) else { return Err(Error::NoExamples { kind }) };
        let targets = unit_rows(&set.path, model.dim(), kept.len(), rows.iter().map(Vec::as_slice))?;
        Ok(Self { texts: numbered(kept.into_iter()), targets, words: None, terms: None })
    }

    /// Sets the terms of the model that created the target vectors ([`Model::terms`](crate::Model::terms)), which a
    /// model trained on them inherits. [`TextTargets::definitions`] takes them from its word vectors.
    #[must_use]
    pub fn with_terms(mut self, terms: Option<&str>) -> Self {
        self.terms = terms.map(str::to_owned);
        self
    }

    /// Returns the number of texts.
    #[must_use]
    pub fn n_texts(&self) -> usize {
        self.texts.len()
    }

    /// Returns the number of distinct targets.
    #[must_use]
    pub fn n_targets(&self) -> usize {
        self.targets.n_rows()
    }

    /// Returns a fingerprint of texts and targets.
    pub(crate) fn fingerprint(&self) -> String {
        let of = Fingerprint::new().table(&self.targets);
        self.texts.iter().fold(of, |of, (target, text)| of.number(u64::from(*target)).text(text)).hex()
    }
}

/// Returns the captions of each image. An image in several files counts as one.
fn images(sets: &[SentenceGroups]) -> Vec<Vec<&str>> {
    let (mut numbers, mut all) = (HashMap::new(), Vec::<Vec<&str>>::new());
    for group in sets.iter().flat_map(|set| &set.groups) {
        let number = *numbers.entry(&group.name).or_insert_with(|| {
            all.push(Vec::new());
            all.len() - 1
        });
        all[number].extend(group.sentences.iter().map(String::as_str));
    }
    all
}

fn numbered<'a>(groups: impl Iterator<Item = Vec<&'a str>>) -> Vec<(u32, String)> {
    let of = |(number, group): (u32, Vec<&'a str>)| group.into_iter().map(move |text| (number, text.to_owned()));
    (0..).zip(groups).flat_map(of).collect()
}

/// Returns the rows, normalized.
fn unit_rows<'a>(path: &Path, dim: usize, n: usize, rows: impl Iterator<Item = &'a [f32]>) -> CoreResult<Table> {
    let mut table = Table::zeros(n, dim)?;
    for (i, row) in rows.take(n).enumerate() {
        let what = if row.iter().any(|x| !x.is_finite()) {
            "contains NaN or an infinite number"
        } else if kernels::norm(row) < SHORTEST {
            "is zero, which has no direction"
        } else {
            table.row_mut(i).copy_from_slice(row);
            kernels::l2_normalize(table.row_mut(i));
            continue;
        };
        let reason = format!("target vector {} {what}; fix it, or remove its texts", i + 1);
        return Err(CoreError::BadFile { path: path.to_owned(), reason });
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::{Coverage, NoObserver, Scratch};
    use senv_data::{Definition, SentenceGroup};

    fn groups(groups: &[(&str, &[&str])]) -> SentenceGroups {
        let group = |&(name, sentences): &(&str, &[&str])| SentenceGroup {
            name: name.into(),
            sentences: sentences.iter().map(|&text| text.to_owned()).collect(),
        };
        SentenceGroups { path: "captions.tsv".into(), groups: groups.iter().map(group).collect() }
    }

    #[test]
    fn words_are_looked_up_in_lower_case_and_those_without_a_vector_are_left_out() {
        let words = Vocabulary::from_counts([("tap", 1), ("Rome", 1), ("nil", 1)], 3).unwrap();
        let table = Table::from_vec(3, 2, vec![3.0, 4.0, 0.0, 2.0, 0.0, 0.0]).unwrap();
        let vectors = Embeddings::new(words, table).unwrap();
        let entry = |(word, text): (&str, &str)| Definition { word: word.into(), text: text.into() };
        let of = |entries: &[(&str, &str)]| {
            let entries = entries.iter().copied().map(entry).collect();
            TextTargets::definitions(&[Definitions { path: "d.tsv".into(), entries }], &vectors, &NoObserver)
        };
        let pairs = of(&[("Tap", "a valve"), ("Rome", "a city"), ("ibex", "a goat"), ("tap", "a blow"), ("nil", "0")]);
        let pairs = pairs.unwrap();
        let texts: Vec<_> = pairs.texts.iter().map(|(target, text)| (*target, &text[..])).collect();
        assert_eq!(texts, [(0, "a valve"), (1, "a city"), (0, "a blow")]);
        assert!((pairs.targets.row(0)[1] - 0.8).abs() < 1e-6 && pairs.targets.row(1) == [0.0, 1.0]);
        let error = of(&[("ibex", "a goat"), ("nil", "0")]).unwrap_err().to_string();
        assert!(error.contains("d.tsv: none of its words has a target vector"), "{error}");
    }

    #[test]
    fn image_matrices_that_do_not_fit_are_refused_by_count_and_row() {
        let captions = [groups(&[("7", &["a dog", "a hound"]), ("9", &["a train"])])];
        let of = |values: Vec<f32>| {
            let table = Table::from_vec(values.len() / 2, 2, values).unwrap();
            TextTargets::captions(&captions, &table, "images.npy").map_err(|error| error.to_string())
        };
        let pairs = of(vec![0.0, 5.0, 1.0, 0.0]).unwrap();
        assert_eq!(pairs.texts, [(0, "a dog".into()), (0, "a hound".into()), (1, "a train".into())]);
        assert_eq!(pairs.targets.row(0), [0.0, 1.0]);
        let says = |values: &[f32], what: &str| {
            let error = of(values.to_vec()).unwrap_err();
            assert!(error.contains(what) && error.contains("images.npy"), "{error}");
        };
        says(&[1.0; 6], "it has 3 rows, but the captions are of 2 images; give one row per image");
        says(&[1.0; 2], "it has 1 rows, but the captions are of 2 images");
        says(&[1.0, 0.0, f32::NAN, 0.0], "target vector 2 contains NaN or an infinite number");
        says(&[0.0, 0.0, 1.0, 0.0], "target vector 1 is zero");
    }

    #[test]
    fn the_stand_in_is_the_mean_of_every_second_caption_and_trains_on_the_others() {
        /// Counts a and b.
        struct Letters;
        impl SentenceEncoder for Letters {
            fn dim(&self) -> usize {
                2
            }
            fn encode_sentence(&self, text: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
                out.iter_mut().zip(["a", "b"]).for_each(|(x, letter)| *x = text.matches(letter).count() as f32);
                Coverage::default()
            }
        }
        let captions =
            [groups(&[("1", &["x", "a", "y", "b", "z"]), ("2", &["a"]), ("3", &["b", "bb"]), ("4", &["a", ""])])];
        let pairs = TextTargets::stand_in("caption-rep", &captions, &Letters, &NoObserver).unwrap();
        let texts: Vec<_> = pairs.texts.iter().map(|(target, text)| (*target, &text[..])).collect();
        assert_eq!(texts, [(0, "x"), (0, "y"), (0, "z"), (1, "b")]);
        assert!((pairs.targets.row(0)[0] - 0.5_f32.sqrt()).abs() < 1e-6);
        assert_eq!(pairs.targets.row(1), [0.0, 1.0]);
        let none = [groups(&[("2", &["a"])])];
        assert!(TextTargets::stand_in("caption-rep", &none, &Letters, &NoObserver).is_err());
    }
}
