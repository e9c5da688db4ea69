//! The vectors that PV-DBOW trains for the sentences of its text.

use std::path::Path;

use senv_core::{Table, TextOptions};

use super::PvDbow;
use crate::{error::Result, systems::document_vectors};

impl PvDbow {
    /// The trained vectors of the sentences of the training text, in order; zero for a sentence without a known word.
    /// `None` unless [`TrainOptions::document_vectors`](crate::TrainOptions::document_vectors) is set. They are not
    /// stored in the model file.
    #[must_use]
    pub fn document_vectors(&self) -> Option<&Table> {
        self.documents.as_ref()
    }

    /// Writes these vectors as a NumPy matrix, by atomic replacement, with one row per line of `texts`. These must be
    /// the training files, read as they were for training. A line that is not a sentence, such as a blank one, has
    /// zeros.
    ///
    /// Returns the number of lines.
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] if the model has no such vectors, or was trained on other texts; errors of reading
    /// and writing.
    pub fn write_document_vectors(
        &self,
        texts: &[impl AsRef<Path>],
        options: &TextOptions,
        path: impl AsRef<Path>,
    ) -> Result<usize> {
        document_vectors::write(self.documents.as_ref(), &self.params.tokenizer, texts, options, path.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PvDbowParams, base::train_options::TrainOptions, system::text_system::TextSystem};
    use senv_core::{Rows, kernels};

    /// Two alternating subjects; every fourth line is blank, and one word of the last line occurs nowhere else.
    fn text() -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let subjects = ["the cat saw the dog in the meadow", "a train left one station by night"];
        let lines: String = (0..60).map(|i| format!("{}\n{}", subjects[i % 2], ["", "\n"][i % 3 / 2])).collect();
        std::fs::write(file.path(), lines + "unheard\n").unwrap();
        file
    }

    fn params() -> PvDbowParams {
        let mut params =
            PvDbowParams { dim: 8, min_count: Some(2), subsample: Some(f64::INFINITY), ..PvDbowParams::default() };
        (params.training.epochs, params.training.lr) = (Some(40), Some(0.2));
        params
    }

    #[test]
    fn vectors_are_written_for_every_line_and_tell_subjects_apart() {
        let text = text();
        let options = TrainOptions { document_vectors: true, ..TrainOptions::default() };
        let trained = params().fit_files([text.path()], &options).unwrap().model;
        let out = tempfile::NamedTempFile::new().unwrap();
        let n = trained.write_document_vectors(&[text.path()], &TextOptions::default(), out.path()).unwrap();
        assert_eq!(
            (n, trained.document_vectors().unwrap().n_rows()),
            (81, 61),
            "60 sentences, 20 blank lines, one unknown"
        );
        let rows = senv_store::read_npy(out.path()).unwrap();
        // Lines 0, 1, 2 are sentences, 3 is blank, and so on.
        let subject_of = |line: usize| (line % 4 < 3).then_some((line / 4 * 3 + line % 4) % 2);
        for line in 0..80 {
            let Some(subject) = subject_of(line) else {
                assert!(rows.row(line).iter().all(|&x| x == 0.0), "line {line} is blank");
                continue;
            };
            let cosine = |other: usize| kernels::cosine(rows.row(line), rows.row(other));
            let (same, different) = (cosine([0, 1][subject]), cosine([1, 0][subject]));
            assert!(same > different + 0.5, "line {line}: {same} and {different}");
        }
        assert!(rows.row(80).iter().all(|&x| x == 0.0), "no word is known");
    }

    #[test]
    fn they_are_kept_where_asked_for_and_belong_to_one_text() {
        let text = text();
        let plain = params().fit_files([text.path()], &TrainOptions::default()).unwrap().model;
        assert!(plain.document_vectors().is_none());
        let says = |model: &PvDbow, texts: &[&Path], what: &str| {
            let error = model.write_document_vectors(texts, &TextOptions::default(), "not-written.npy").unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        };
        says(&plain, &[text.path()], "train with document_vectors");
        let [one, three] = [1, 3].map(|threads| {
            let options = TrainOptions { document_vectors: true, threads, ..TrainOptions::default() };
            params().fit_files([text.path()], &options).unwrap().model
        });
        let rows = |model: &PvDbow| model.document_vectors().unwrap().iter().flatten().copied().collect::<Vec<f32>>();
        assert_eq!(rows(&one), rows(&three));
        assert_eq!(one.words().values(), plain.words().values(), "the model is the same");
        says(&one, &[text.path(), text.path()], "122 sentences, but the model was trained on 61");
        assert!(!Path::new("not-written.npy").exists());
    }
}
