//! A task of the bench: a protocol and its data.

use std::path::PathBuf;

use super::{
    find::Found,
    folder::DataFolder,
    own::OwnData,
    protocols::{DataSource, Protocol},
    published_sizes::is_published,
    task_data::TaskData,
};
use crate::error::Result;

/// A protocol with the data of one headline.
#[derive(Debug, Clone)]
pub struct Task {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// Name within the protocol, such as `images`.
    pub name: String,
    /// The year, for STS.
    pub year: Option<u16>,
    /// Files that the data is read from, including training data; none for built-in data.
    pub files: Vec<PathBuf>,
    /// The data.
    pub(super) data: TaskData,
}

impl Task {
    /// Finds the tasks of a protocol in a folder. Each task that cannot be read is a separate error.
    /// Own data are taken from `own`, which reads them once.
    pub(super) fn find(protocol: &'static Protocol, folder: &DataFolder, own: &mut OwnData) -> Vec<Result<Self>> {
        let task = |found: Found| {
            let Found { name, year, files, data } = found;
            Self { protocol, name, year, files, data }
        };
        let found = match protocol.data {
            DataSource::Layouts(find) => find(folder),
            DataSource::Own(kind) => own.take(folder, kind),
        };
        found.into_iter().map(|found| found.map(task)).collect()
    }

    /// Returns protocol, year and name, which are unique: `sts/2014/images`.
    #[must_use]
    pub fn key(&self) -> String {
        match self.year {
            Some(year) => format!("{}/{year}/{}", self.protocol.name, self.name),
            None => format!("{}/{}", self.protocol.name, self.name),
        }
    }

    /// Returns all sentences to encode, with repetitions.
    pub(crate) fn sentences(&self) -> Vec<&str> {
        self.data.sentences()
    }

    /// Returns the gold value of each item; empty if the headline is a mean over items.
    pub(crate) fn gold(&self) -> Vec<f64> {
        self.data.gold()
    }

    /// Whether the data have the names of a published set, but not its size.
    pub(super) fn is_own(&self) -> bool {
        !is_published(self.protocol.name, self.year, &self.name, &self.data)
    }

    /// Returns the value that guessing reaches, on the scale of the report.
    #[must_use]
    pub fn chance(&self) -> f64 {
        self.data.chance() * self.protocol.factor
    }
}
