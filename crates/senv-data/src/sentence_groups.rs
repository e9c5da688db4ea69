//! Groups of sentences, as the readers of captions and of groups return them.

use std::{collections::HashMap, path::PathBuf};

/// The sentences of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceGroup {
    /// Its name, such as the id of an image.
    pub name: String,
    /// The sentences, in the order of the file.
    pub sentences: Vec<String>,
}

/// The groups of sentences of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceGroups {
    /// The file; a name in `<>` for built-in groups.
    pub path: PathBuf,
    /// The groups, in order of first occurrence.
    pub groups: Vec<SentenceGroup>,
}

impl SentenceGroups {
    pub(crate) fn of(path: PathBuf, lines: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut groups: Vec<SentenceGroup> = Vec::new();
        let mut numbers = HashMap::new();
        for (name, sentence) in lines {
            let number = *numbers.entry(name).or_insert_with_key(|name| {
                groups.push(SentenceGroup { name: name.clone(), sentences: Vec::new() });
                groups.len() - 1
            });
            groups[number].sentences.push(sentence);
        }
        Self { path, groups }
    }

    /// All sentences, group by group.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().flat_map(|group| &group.sentences).map(String::as_str)
    }

    /// Number of sentences.
    #[must_use]
    pub fn n_sentences(&self) -> usize {
        self.groups.iter().map(|group| group.sentences.len()).sum()
    }
}
