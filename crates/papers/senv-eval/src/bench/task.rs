//! A task of the bench: a protocol and its data.

use std::path::PathBuf;

use super::{find::Found, folder::DataFolder, protocols::Protocol, task_data::TaskData};
use crate::error::Result;

/// What a protocol is run on: the data of one number.
#[derive(Debug, Clone)]
pub struct Task {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// Its name among the tasks of the protocol, such as `images`.
    pub name: String,
    /// The year, for STS.
    pub year: Option<u16>,
    /// The files it is read from, those of training data too; none for data that is built in.
    pub files: Vec<PathBuf>,
    /// The data.
    pub(super) data: TaskData,
}

impl Task {
    /// The tasks of a protocol in a folder: one that cannot be read is an error by itself.
    pub(super) fn find(protocol: &'static Protocol, folder: &DataFolder) -> Vec<Result<Self>> {
        let task = |found: Found| {
            let Found { name, year, files, data } = found;
            Self { protocol, name, year, files, data }
        };
        (protocol.find)(folder).into_iter().map(|found| found.map(task)).collect()
    }

    /// Protocol, year and name, which no other task has: `sts/2014/images`.
    #[must_use]
    pub fn key(&self) -> String {
        match self.year {
            Some(year) => format!("{}/{year}/{}", self.protocol.name, self.name),
            None => format!("{}/{}", self.protocol.name, self.name),
        }
    }

    /// All sentences that have to be encoded, some of them more than once.
    pub(crate) fn sentences(&self) -> Vec<&str> {
        self.data.sentences()
    }

    /// The gold value of each item; empty where the number is a mean over items.
    pub(crate) fn gold(&self) -> Vec<f64> {
        self.data.gold()
    }

    /// The number that guessing reaches, on the scale of the report.
    #[must_use]
    pub fn chance(&self) -> f64 {
        self.data.chance() * self.protocol.factor
    }
}
