//! Notes on the files of the data.

use serde::{Deserialize, Serialize};

/// What is to be said of files of the data, such as why they are not recognized.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DataNote {
    /// Paths inside the folder; that of a folder ends with `/`.
    pub files: Vec<String>,
    /// The note.
    pub note: String,
}

/// Number of files that the text of a note names.
const NAMED_FILES: usize = 3;

impl DataNote {
    /// Formats the note after its files, of which the first three are named.
    #[must_use]
    pub fn to_text(&self) -> String {
        let named = self.files.iter().take(NAMED_FILES).map(String::as_str).collect::<Vec<_>>().join(", ");
        match self.files.len().saturating_sub(NAMED_FILES) {
            0 => format!("{named}: {}", self.note),
            more => format!("{named} and {more} more: {}", self.note),
        }
    }
}
