//! A user's own data in a folder: scored pairs, labeled text, and retrieval sets of any name.
//!
//! Every file that no published layout claims is recognized by its columns, and is named with the reason if it is not.

mod columns;
mod known;
mod names;
mod sets;
mod table;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use senv_data::{LabeledSet, RetrievalSet};

use self::{
    columns::{Columns, Layout, recognize, recognize_like},
    known::is_of_known_set,
    names::{Part, base_and_part, count, name_of, without_extensions},
    sets::{labels, pairs, split},
    table::OwnTable,
};
use super::{
    data_note::DataNote,
    find::Found,
    folder::{DataFolder, inside},
    task_data::{RetrievalTask, TaskData},
};
use crate::error::Result;

/// Folders inside the given one that are searched. Those of retrieval sets may be one further inside.
const FOLDERS: usize = 1;

/// A kind of own data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnKind {
    /// Pairs with scores.
    Pairs,
    /// Texts with labels.
    Labels,
    /// Documents, queries and judgments.
    Retrieval,
}

/// The own data of a folder, read when they are first needed.
#[derive(Debug, Default)]
pub(super) struct OwnData {
    sets: Vec<(OwnKind, Found)>,
    /// Files that are not recognized, and what is to be said of others.
    pub(super) notes: Vec<DataNote>,
    is_read: bool,
}

/// Labeled text of one file.
struct LabeledFile {
    /// Name of its set, and the part of it that the file is.
    base: String,
    part: Part,
    name: String,
    set: LabeledSet,
    layout: Layout,
    /// The cells of its first record.
    first: Vec<String>,
}

impl OwnData {
    /// Returns the sets of a kind.
    pub(super) fn take(&mut self, folder: &DataFolder, kind: OwnKind) -> Vec<Result<Found>> {
        if !std::mem::replace(&mut self.is_read, true) {
            self.read(folder);
        }
        let (taken, left) = std::mem::take(&mut self.sets).into_iter().partition(|(of, _)| *of == kind);
        self.sets = left;
        let taken: Vec<(OwnKind, Found)> = taken;
        taken.into_iter().map(|(_, found)| Ok(found)).collect()
    }

    fn read(&mut self, folder: &DataFolder) {
        let retrieval = self.read_retrieval(folder);
        let mut tables = Vec::new();
        for (name, path) in folder.files() {
            let shown = inside(folder.root(), path);
            let is_hidden = shown.split('/').any(|part| part.starts_with('.'));
            let is_of_retrieval = retrieval.iter().any(|set| name.strip_prefix(&set[..]).is_some_and(is_of_set));
            if is_hidden || is_of_known_set(name) || is_of_retrieval {
                continue;
            }
            if shown.matches('/').count() > FOLDERS {
                let outer: Vec<&str> = shown.split('/').take(FOLDERS + 1).collect();
                self.note(&format!("{}/", outer.join("/")), "too deep; give the folder above it as --data");
                continue;
            }
            let (base, part) = base_and_part(without_extensions(&shown));
            tables.push((part, base, path, shown));
        }
        // Test and development files are read as their training file is.
        tables.sort_by_key(|(part, ..)| matches!(part, Part::Test | Part::Dev));
        let mut labeled = Vec::new();
        for (part, base, path, shown) in tables {
            if let Err(reason) = self.read_table(path, &shown, base, part, &mut labeled) {
                self.note(&shown, &reason);
            }
        }
        self.join_parts(labeled, folder);
        // Two sets of the same name, such as a.csv and a.tsv, have those of their files.
        let names: Vec<(OwnKind, String)> = self.sets.iter().map(|(kind, found)| (*kind, found.name.clone())).collect();
        for (name, (_, found)) in names.iter().zip(&mut self.sets) {
            if names.iter().filter(|other| *other == name).count() > 1 {
                let path = found.files.first().cloned().unwrap_or_default();
                found.name = inside(folder.root(), &path);
            }
        }
        self.sets.sort_by(|a, b| a.1.name.cmp(&b.1.name));
    }

    /// Adds a file to a note, one for each reason.
    fn note(&mut self, file: &str, note: &str) {
        let same = self.notes.iter_mut().find(|of| of.note == note);
        match same {
            Some(same) if same.files.iter().any(|other| other == file) => {}
            Some(same) => same.files.push(file.to_owned()),
            None => self.notes.push(DataNote { files: vec![file.to_owned()], note: note.to_owned() }),
        }
    }

    /// Reads the retrieval sets. Returns their folders as the beginnings of paths.
    fn read_retrieval(&mut self, folder: &DataFolder) -> Vec<String> {
        let corpora = folder.files().filter_map(|(name, path)| {
            let of_set = name.strip_suffix("corpus.jsonl").filter(|of_set| of_set.ends_with('/'))?;
            Some((of_set.to_owned(), path.parent()?))
        });
        let corpora: BTreeSet<(String, &Path)> = corpora.collect();
        let mut found = Vec::new();
        for (of_set, path) in corpora {
            if of_set.matches('/').count() > FOLDERS + 2 {
                continue;
            }
            let shown = inside(folder.root(), path);
            let shown = if shown.is_empty() { name_of(folder.root()) } else { shown };
            match RetrievalSet::read(path) {
                Ok(set) => {
                    self.note_judgments(&shown, &set);
                    let files = RetrievalSet::files(path);
                    let files: Vec<&Path> = files.iter().map(|file| file.as_path()).collect();
                    let data = TaskData::Retrieval(Box::new(RetrievalTask::new(set)));
                    self.sets.push((OwnKind::Retrieval, Found::new(&shown, &files, data)));
                }
                Err(error) => self.note(&format!("{shown}/"), &error.to_string()),
            }
            found.push(of_set);
        }
        found
    }

    fn note_judgments(&mut self, shown: &str, set: &RetrievalSet) {
        let shown = format!("{shown}/");
        if set.missing_queries.count > 0 {
            let n = count(set.missing_queries.count, "judgment");
            self.note(&shown, &format!("skipped {n} of missing queries"));
        }
        if set.missing_documents.count > 0 {
            let n = count(set.missing_documents.count, "judgment");
            self.note(&shown, &format!("{n} of missing documents, which count as not found"));
        }
        if set.n_without_relevant > 0 {
            let n = set.n_without_relevant;
            self.note(&shown, &format!("queries left out, because no document is relevant: {n}"));
        }
    }

    /// Reads a table and adds it to the sets of pairs or to `labeled`.
    fn read_table(
        &mut self,
        path: &Path,
        shown: &str,
        base: String,
        part: Part,
        labeled: &mut Vec<LabeledFile>,
    ) -> std::result::Result<(), String> {
        let name = without_extensions(shown);
        let is_part = part != Part::Whole;
        let mut training = labeled.iter().filter(|file| file.part == Part::Train && file.base == base);
        let training = training.next().filter(|_| matches!(part, Part::Test | Part::Dev) && training.next().is_none());
        let layout = |table: &OwnTable, is_whole: bool| {
            let like = training.and_then(|of| recognize_like(table, &of.layout, &of.first, &of.set.classes));
            like.map_or_else(|| recognize(table, is_part, is_whole), Ok)
        };
        let table = OwnTable::read(path, |table| layout(table, false).map(|_| ()))?;
        let layout = layout(&table, true)?;
        let Layout { columns, has_titles } = layout;
        let least = if training.is_some() { 1 } else { 2 };
        let rows = &table.rows[usize::from(has_titles)..];
        match columns {
            Columns::Pairs { first, second, score } => {
                let task = pairs(path, name, rows, [first, second, score])?;
                if task.n_unscored > 0 {
                    let n = count(task.n_unscored as u64, "pair");
                    self.note(shown, &format!("left out {n} without a score"));
                }
                self.sets.push((OwnKind::Pairs, Found::new(name, &[path], TaskData::Scored(task))));
            }
            Columns::Labels { text, label } => {
                let (set, n_without) = labels(path, rows, [text, label], least)?;
                if n_without > 0 {
                    let n = count(n_without as u64, "record");
                    self.note(shown, &format!("left out {n} without a text or a label"));
                }
                let first = table.rows[0].cells.clone();
                labeled.push(LabeledFile { base, part, name: name.to_owned(), set, layout, first });
            }
        }
        Ok(())
    }

    /// Joins training and test files of the same set, and splits files that are alone.
    fn join_parts(&mut self, files: Vec<LabeledFile>, folder: &DataFolder) {
        let mut groups: BTreeMap<String, Vec<LabeledFile>> = BTreeMap::new();
        files.into_iter().for_each(|file| groups.entry(file.base.clone()).or_default().push(file));
        for (base, group) in groups {
            let place = |part| {
                let mut places = (0..group.len()).filter(|&i| group[i].part == part);
                places.next().filter(|_| places.next().is_none())
            };
            let [train, dev, test] = [Part::Train, Part::Dev, Part::Test].map(place);
            let mut group: Vec<Option<LabeledFile>> = group.into_iter().map(Some).collect();
            let mut take = |place: Option<usize>| place.and_then(|i| group[i].take());
            if let (Some(_), Some(reported)) = (train, test.or(dev)) {
                let base = if base.is_empty() { name_of(folder.root()) } else { base };
                let name = if test.is_some() { base } else { format!("{base} dev") };
                if let (Some(tested), Some(train)) = (take(Some(reported)), take(train)) {
                    self.note_joined(folder, &train, &tested);
                    self.push_labels(&name, Some(train), tested);
                }
                if let Some(dev) = take(dev) {
                    self.note(&inside(folder.root(), &dev.set.path), "not used, because there is a test set");
                }
            }
            for file in group.into_iter().flatten() {
                self.push_labels(&file.name.clone(), None, file);
            }
        }
    }

    /// Says which files are trained and tested on.
    fn note_joined(&mut self, folder: &DataFolder, train: &LabeledFile, test: &LabeledFile) {
        let sizes = [train, test].map(|file| count(file.set.sentences.len() as u64, "text"));
        let is_known = |class: usize| train.set.classes.contains(&test.set.classes[class]);
        let n_unknown = test.set.sentences.iter().filter(|sentence| !is_known(sentence.class)).count();
        let unknown = match n_unknown {
            0 => String::new(),
            n => format!("; the labels of {} are not in the first, so they count as wrong", count(n as u64, "text")),
        };
        let note =
            format!("one set, trained on the first ({}) and tested on the second ({}){unknown}", sizes[0], sizes[1]);
        let files = [train, test].map(|file| inside(folder.root(), &file.set.path));
        self.notes.push(DataNote { files: files.to_vec(), note });
    }

    /// Adds labeled text that is tested on `test`, or, without a training set, on a part of it.
    fn push_labels(&mut self, name: &str, train: Option<LabeledFile>, test: LabeledFile) {
        let files: Vec<_> = train.iter().map(|file| file.set.path.clone()).chain([test.set.path.clone()]).collect();
        let files: Vec<&Path> = files.iter().map(|file| file.as_path()).collect();
        let (train, test) = match train {
            Some(train) => (train.set, test.set),
            None => match split(test.set) {
                Ok(parts) => parts,
                Err(error) => return self.note(&test.name, &error.to_string()),
            },
        };
        self.sets.push((OwnKind::Labels, Found::new(name, &files, TaskData::Labeled { train: Some(train), test })));
    }
}

/// Whether a path inside the folder of a retrieval set is one of its files.
fn is_of_set(inside: &str) -> bool {
    matches!(inside, "corpus.jsonl" | "queries.jsonl") || inside.starts_with("qrels/")
}
