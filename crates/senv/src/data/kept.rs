//! A stopped reading of pairs, kept to resume from.
//!
//! `PATH` is a checkpoint of the kind `pairs`: the words with their counts, and how far each file was read.
//! `PATH.sentences` has the sentences and groups, as 32-bit words. If a file of running text was being read, its own
//! reading is at `PATH.text`.

use std::path::{Path, PathBuf};

use senv_core::{
    Error as CoreError, Observer, Result as CoreResult, checkpoint, corpus::KeptReading, words::VocabularyBuilder,
};
use serde::{Deserialize, Serialize};

use super::{
    anchors::Relation,
    input::{Draft, PairInput, PairOptions, SourceReport},
    kind::PairKind,
    numbers_file::{NumbersReader, NumbersWriter},
    source::Groups,
    taken::{PartLimits, Taken},
};

/// The [kind](checkpoint::kind) of the checkpoint.
pub(super) const KIND: &str = "pairs";
/// The suffix of the file of sentences and groups.
const BESIDE: &str = ".sentences";
/// Fewer tokens are quickly read again.
const WORTH_IT: u64 = if cfg!(test) { 1 } else { 1_000_000 };

/// What was read of the files so far.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) builder: VocabularyBuilder,
    /// The files that were read to their end.
    pub(super) drafts: Vec<Draft>,
    /// The next file, if it is not running text.
    pub(super) taken: Option<Taken>,
}

#[derive(Serialize, Deserialize)]
struct State {
    words: Vec<(String, u64)>,
    drafts: Vec<SourceReport>,
    taken: Option<TakenState>,
    n_numbers: u64,
    checksum: u32,
}

#[derive(Serialize, Deserialize)]
struct TakenState {
    report: SourceReport,
    n_records: u64,
    bytes_read: u64,
    part_start: usize,
    image: String,
    is_spoilt: bool,
}

/// Where the reading of these files is kept.
pub(super) struct KeptPairs<'a> {
    kept: &'a KeptReading,
    inputs: &'a [PairInput],
    options: &'a PairOptions,
    /// The state of the files, and how they are read.
    of: String,
    part: PartLimits,
}

impl<'a> KeptPairs<'a> {
    /// Returns `None` if nothing is kept: it was not requested, a file cannot be read again, or there is only running
    /// text, whose reading is kept as a corpus.
    pub(super) fn new(inputs: &'a [PairInput], options: &'a PairOptions) -> Option<Self> {
        let kept = options.kept.as_ref()?;
        if let [input] = inputs
            && input.kind == PairKind::Neighbours
        {
            return None;
        }
        let paths: Vec<PathBuf> = inputs.iter().map(|input| input.path.clone()).collect();
        let files = KeptReading::of_files(&paths)?;
        let kinds: Vec<PairKind> = inputs.iter().map(|input| input.kind).collect();
        let PairOptions { tokenizer, group, keep_identical, held_out, text, .. } = options;
        let of = format!(
            "{files}; {kinds:?}; {tokenizer:?}; {text:?}; group {group}; identical {keep_identical}; held out {:x}",
            held_out.fingerprint()
        );
        Some(Self { kept, inputs, options, of, part: PartLimits::LARGEST })
    }

    /// Returns where a file of running text keeps its own reading.
    pub(super) fn of_text(&self) -> KeptReading {
        KeptReading { path: self.kept.beside(".text"), ..self.kept.clone() }
    }

    /// Loads what an earlier reading of the same files kept, if requested and present.
    pub(super) fn load(&self) -> CoreResult<Progress> {
        if !self.kept.resume || !self.kept.is_there(KIND) {
            return Ok(Progress::default());
        }
        if checkpoint::about(&self.kept.path)?.settings != self.of {
            return Err(self.bad(
                "the text or the settings for reading it have changed since this file was written; \
                start over",
            ));
        }
        let (state, _): (State, _) = checkpoint::load(&self.kept.path, KIND)?;
        let mut numbers = NumbersReader::open(&self.kept.beside(BESIDE), state.n_numbers, state.checksum)?;
        let progress = self.restore(state, &mut numbers)?;
        if numbers.is_at_end() { Ok(progress) } else { Err(self.bad("it is damaged; start over")) }
    }

    fn bad(&self, reason: &str) -> CoreError {
        CoreError::BadFile { path: self.kept.path.clone(), reason: reason.to_owned() }
    }

    fn restore(&self, state: State, numbers: &mut NumbersReader) -> CoreResult<Progress> {
        let mut progress = Progress::default();
        state.words.iter().for_each(|(word, count)| {
            progress.builder.add_many(word, *count);
        });
        let folder = self.options.scratch_dir.as_deref();
        let new = || Taken::new(folder, self.options.group, self.part);
        for (report, input) in state.drafts.into_iter().zip(self.inputs) {
            let mut taken = new()?;
            numbers.sentences(&mut taken, usize::MAX)?;
            let groups = match input.kind {
                PairKind::Neighbours => Groups::Neighbours { starts: numbers.list(folder)?.finish()? },
                PairKind::Captions => Groups::Cliques(numbers.lists(folder)?.finish()?),
                _ => numbers.anchored(folder)?.finish()?,
            };
            progress.drafts.push(Draft { sentences: taken.sentences.finish()?, groups, report });
        }
        if let Some(state) = state.taken {
            let mut taken = new()?;
            numbers.sentences(&mut taken, state.part_start)?;
            taken.anchors.written = numbers.anchored(folder)?;
            numbers.each_list(|pair| {
                let [anchor, relation, other] = *pair else { return Err(self.bad("it is damaged; start over")) };
                let relation = if relation == 0 { Relation::Agrees } else { Relation::Contradicts };
                taken.anchors.add(anchor, relation, other);
                Ok(())
            })?;
            taken.images.closed = numbers.lists(folder)?;
            numbers.each_list(|members| {
                taken.images.members.extend_from_slice(members);
                Ok(())
            })?;
            (taken.images.name, taken.images.is_spoilt) = (state.image, state.is_spoilt);
            (taken.report, taken.part_start) = (state.report, state.part_start);
            (taken.n_records, taken.bytes_read) = (state.n_records, state.bytes_read);
            progress.taken = Some(taken);
        }
        Ok(progress)
    }

    /// Keeps what was read, if it is worth it, and notes if it cannot be kept.
    pub(super) fn keep(&self, progress: Progress, observer: &dyn Observer) {
        let n_tokens: u64 = progress.builder.iter().map(|(_, count)| count).sum();
        let is_worth_it = n_tokens >= WORTH_IT || self.of_text().is_there(KeptReading::KIND);
        if !is_worth_it || !self.kept.has_room(KIND) {
            return;
        }
        if let Err(error) = self.kept.keep(KIND, &[BESIDE], || self.write(progress)) {
            observer.note_with(&format_args!("the data read so far could not be saved: {error}"), error.remedies());
        }
    }

    fn write(&self, Progress { builder, drafts, taken }: Progress) -> CoreResult<()> {
        let mut numbers = NumbersWriter::create(&self.kept.beside(BESIDE))?;
        let bytes: Vec<u64> = self.inputs.iter().map(|input| bytes_of(&input.path)).collect();
        let (read, _) = bytes.split_at(drafts.len());
        let mut n_read: u64 = read.iter().sum();
        let mut reports = Vec::new();
        for draft in drafts {
            numbers.sentences(draft.sentences.iter())?;
            match &draft.groups {
                Groups::Neighbours { starts } => numbers.list(starts)?,
                Groups::Cliques(lists) => numbers.lists(lists)?,
                Groups::Anchored { .. } => numbers.anchored(&draft.groups)?,
            }
            reports.push(draft.report);
        }
        let of_text = self.of_text();
        if of_text.is_there(KeptReading::KIND) {
            let share = checkpoint::about(&of_text.path)?.done;
            n_read += (share * bytes.get(reports.len()).copied().unwrap_or(0) as f64) as u64;
        }
        let mut state = None;
        if let Some(taken) = taken {
            n_read += taken.bytes_read;
            numbers.sentences(taken.sentences.finish()?.iter())?;
            let pairs: Vec<[u32; 3]> = taken.anchors.pairs().collect();
            numbers.anchored(&taken.anchors.written.finish()?)?;
            numbers.put(&[pairs.len() as u32])?;
            pairs.iter().try_for_each(|pair| numbers.list(pair))?;
            numbers.lists(&taken.images.closed.finish()?)?;
            numbers.put(&[1])?;
            numbers.list(&taken.images.members)?;
            state = Some(TakenState {
                report: taken.report,
                n_records: taken.n_records,
                bytes_read: taken.bytes_read,
                part_start: taken.part_start,
                image: taken.images.name,
                is_spoilt: taken.images.is_spoilt,
            });
        }
        let (n_numbers, checksum) = numbers.commit()?;
        let words = builder.iter().map(|(word, count)| (word.to_owned(), count)).collect();
        let state = State { words, drafts: reports, taken: state, n_numbers, checksum };
        let done = (n_read as f64 / bytes.iter().sum::<u64>().max(1) as f64).min(1.0);
        let about = checkpoint::About { done, settings: self.of.clone(), origin: self.kept.origin.clone() };
        checkpoint::save_with(&self.kept.path, KIND, &about, &state, &[])
    }

    /// Removes what was kept, because everything is read.
    pub(super) fn remove(&self) -> CoreResult<()> {
        self.kept.remove(KIND, &[BESIDE])
    }
}

fn bytes_of(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use senv_core::NoObserver;

    use super::*;
    use crate::data::{PairData, tsv};

    const PAIRS: &str = "a b\tc d\ne\tf\na b\te\nc d\ta b\ne\te\nx y z\ta b\n";
    const NLI: &str = "entailment\ta b\tc\ncontradiction\ta b\td e\nneutral\ta b\tx\nentailment\td e\tc\n";
    const CAPTIONS: &str = "1\ta b\n1\tc d\n1\ta b\n2\ta b\n2\te f\n2\tc d\n3\tg\n";
    const HALVES: &str = "a b c d\n\na b e f\nx\nc d a b\na b a b\n";
    const TEXT: &str = "a b\nc d\n\ne f\nx y\na b\n";

    /// Files of every kind, read in a folder.
    struct Case {
        folder: tempfile::TempDir,
        inputs: Vec<PairInput>,
    }

    impl Case {
        fn new(files: &[(PairKind, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let input = |(i, &(kind, text)): (usize, &(PairKind, &str))| {
                let path = folder.path().join(format!("{i}.tsv"));
                fs::write(&path, text).unwrap();
                PairInput { path, kind, weight: None }
            };
            let inputs = files.iter().enumerate().map(input).collect();
            Self { folder, inputs }
        }

        fn options(&self, resume: bool) -> PairOptions {
            let kept = KeptReading { path: self.folder.path().join("kept"), resume, origin: "test".into() };
            PairOptions { group: true, kept: Some(kept), ..PairOptions::default() }
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(self.folder.path()).unwrap();
            let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.retain(|name| !name.ends_with(".tsv"));
            names.sort();
            names
        }
    }

    /// Takes the first lines of a text, from a file that ends there.
    fn first_lines(
        text: &str,
        n: usize,
        input: &PairInput,
        options: &PairOptions,
        progress: &mut Progress,
        part: PartLimits,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part.tsv");
        fs::write(&path, text.split_inclusive('\n').take(n).collect::<String>()).unwrap();
        let mut taken = Taken::new(None, options.group, part).unwrap();
        let input = PairInput { path, ..input.clone() };
        tsv::read(&input, options, &mut progress.builder, &mut taken, &NoObserver).unwrap();
        progress.taken = Some(taken);
    }

    #[test]
    fn a_reading_that_stops_behind_any_line_goes_on_to_the_same_pairs() {
        for (kind, text) in
            [(PairKind::Pairs, PAIRS), (PairKind::Nli, NLI), (PairKind::Captions, CAPTIONS), (PairKind::Halves, HALVES)]
        {
            // After a file of each way to group sentences.
            let before = [(PairKind::Captions, CAPTIONS), (PairKind::Nli, NLI), (PairKind::Neighbours, TEXT)];
            let case = Case::new(&[&before[..], &[(kind, text)]].concat());
            let (options, resume) = (case.options(false), case.options(true));
            let whole = PairData::read(&case.inputs, &options, &NoObserver).unwrap();
            for n in 0..=text.lines().count() {
                let kept = KeptPairs::new(&case.inputs, &resume).unwrap();
                let mut progress = Progress::default();
                for input in &case.inputs[..3] {
                    super::super::read::read_next(input, &options, None, &mut progress, &NoObserver).unwrap();
                }
                if n > 0 {
                    first_lines(text, n, &case.inputs[3], &options, &mut progress, PartLimits::LARGEST);
                }
                kept.keep(progress, &NoObserver);
                assert_eq!(case.names(), ["kept", "kept.sentences"]);
                let about = checkpoint::about(case.folder.path().join("kept")).unwrap();
                assert!(about.done > 0.5 && about.done <= 1.0 && about.origin == "test", "{about:?}");
                let read = PairData::read(&case.inputs, &resume, &NoObserver).unwrap();
                assert_eq!(read.fingerprint(), whole.fingerprint(), "{kind:?} behind {n} lines");
                assert_eq!(read.reports, whole.reports, "{kind:?} behind {n} lines");
                assert!(case.names().is_empty(), "what was kept is removed: {:?}", case.names());
            }
        }
    }

    #[test]
    fn sentences_of_an_earlier_part_of_the_file_are_not_known_again() {
        let text = PAIRS.repeat(3);
        let case = Case::new(&[(PairKind::Pairs, &text)]);
        let options = case.options(true);
        let part = PartLimits { sentences: 4, pairs: 5 };
        let draft = |taken: Taken| {
            let draft = taken.finish(PairKind::Pairs).unwrap();
            (format!("{:?} {:?}", draft.sentences, draft.groups), draft.report)
        };
        let mut whole = Progress::default();
        first_lines(&text, 18, &case.inputs[0], &options, &mut whole, part);
        let whole = draft(whole.taken.unwrap());
        for n in 1..18 {
            let kept = KeptPairs { part, ..KeptPairs::new(&case.inputs, &options).unwrap() };
            let mut progress = Progress::default();
            first_lines(&text, n, &case.inputs[0], &options, &mut progress, part);
            kept.keep(progress, &NoObserver);
            let Progress { mut builder, taken, .. } = kept.load().unwrap();
            let mut taken = taken.unwrap();
            tsv::read(&case.inputs[0], &options, &mut builder, &mut taken, &NoObserver).unwrap();
            assert!(draft(taken) == whole, "behind {n} lines");
            kept.remove().unwrap();
        }
    }

    fn kept_of(case: &Case) -> PathBuf {
        let options = case.options(false);
        let mut progress = Progress::default();
        first_lines(PAIRS, 3, &case.inputs[0], &options, &mut progress, PartLimits::LARGEST);
        KeptPairs::new(&case.inputs, &options).unwrap().keep(progress, &NoObserver);
        case.folder.path().join("kept")
    }

    fn refused(case: &Case, options: &PairOptions, path: &Path, reason: &str) {
        let error = PairData::read(&case.inputs, options, &NoObserver).unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()) && error.contains(reason), "{error}");
    }

    #[test]
    fn what_is_damaged_or_of_other_files_is_refused() {
        let case = Case::new(&[(PairKind::Pairs, PAIRS)]);
        let path = kept_of(&case);
        refused(
            &case,
            &PairOptions { group: false, ..case.options(true) },
            &path,
            "the settings for reading it have changed",
        );
        let sentences = case.folder.path().join("kept.sentences");
        let sound = fs::read(&sentences).unwrap();
        for i in (0..sound.len()).step_by(7) {
            let mut bytes = sound.clone();
            bytes[i] ^= 1;
            fs::write(&sentences, bytes).unwrap();
            refused(&case, &case.options(true), &sentences, "damaged");
        }
        fs::write(&sentences, &sound[4..]).unwrap();
        refused(&case, &case.options(true), &sentences, "damaged");
        fs::write(&sentences, sound).unwrap();
        assert!(PairData::read(&case.inputs, &case.options(true), &NoObserver).is_ok());
        assert!(case.names().is_empty());
    }

    #[test]
    fn nothing_else_is_replaced_and_a_reading_from_the_beginning_removes_what_was_kept() {
        let case = Case::new(&[(PairKind::Pairs, PAIRS)]);
        let path = kept_of(&case);
        assert!(PairData::read(&case.inputs, &case.options(false), &NoObserver).is_ok());
        assert!(case.names().is_empty(), "{:?}", case.names());
        // The user's own file.
        fs::write(case.folder.path().join("kept.sentences"), "mine").unwrap();
        kept_of(&case);
        assert_eq!(case.names(), ["kept.sentences"]);
        fs::remove_file(case.folder.path().join("kept.sentences")).unwrap();
        // The checkpoint of the training run, from which a run resumes.
        checkpoint::save(&path, "pp", &1_u32, &[]).unwrap();
        let options = case.options(true);
        let mut progress = Progress::default();
        first_lines(PAIRS, 3, &case.inputs[0], &options, &mut progress, PartLimits::LARGEST);
        KeptPairs::new(&case.inputs, &options).unwrap().keep(progress, &NoObserver);
        assert_eq!((case.names(), checkpoint::kind(&path).unwrap()), (vec!["kept".to_owned()], "pp".to_owned()));
    }
}
