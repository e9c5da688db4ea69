//! The names of the papers.

use std::{fmt, str::FromStr};

use crate::error::Error;

/// A paper whose tables can be reproduced.
///
/// ```
/// use senv_reproduce::PaperName;
///
/// assert_eq!("siamese-cbow".parse::<PaperName>()?, PaperName::SiameseCbow);
/// assert_eq!(PaperName::PThought.to_string(), "p-thought");
/// # Ok::<(), senv_reproduce::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaperName {
    /// Pagliardini, Gupta and Jaggi, 2018.
    Sent2vec,
    /// Kenter, Borisov and de Rijke, 2016.
    SiameseCbow,
    /// Jiao, Wang and Feng, 2018: the convolutional sentence encoder.
    Cse,
    /// Triantafillou et al., 2016: Skip-thoughts, fine-tuned on SNLI.
    SkipThoughts,
    /// Jang and Kang, 2018: Paraphrase-Thought.
    PThought,
}

impl PaperName {
    /// All papers, in the default order of a run.
    pub const ALL: &'static [Self] =
        &[Self::Sent2vec, Self::SiameseCbow, Self::Cse, Self::SkipThoughts, Self::PThought];

    /// Returns the name, which is also the name of the report: `cse` for `cse.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent2vec => "sent2vec",
            Self::SiameseCbow => "siamese-cbow",
            Self::Cse => "cse",
            Self::SkipThoughts => "skip-thoughts",
            Self::PThought => "p-thought",
        }
    }

    /// Returns its authors and year, and its subject if the name does not tell.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Sent2vec => "Pagliardini, Gupta and Jaggi, 2018",
            Self::SiameseCbow => "Kenter, Borisov and de Rijke, 2016",
            Self::Cse => "Jiao, Wang and Feng, 2018: the convolutional sentence encoder",
            Self::SkipThoughts => "Triantafillou et al., 2016: Skip-thoughts, fine-tuned on SNLI",
            Self::PThought => "Jang and Kang, 2018: Paraphrase-Thought",
        }
    }
}

impl fmt::Display for PaperName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PaperName {
    type Err = Error;

    /// # Errors
    /// [`Error::UnknownPaper`] if no paper has this name.
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|paper| paper.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|paper| paper.name()).collect();
            Error::UnknownPaper { name: name.to_owned(), known: known.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_and_another_is_an_error_that_tells_them() {
        for &paper in PaperName::ALL {
            assert_eq!(paper.name().parse::<PaperName>().unwrap(), paper);
        }
        let error = "lda".parse::<PaperName>().unwrap_err().to_string();
        let expected = "unknown paper \"lda\"; the papers are sent2vec, siamese-cbow, cse, skip-thoughts, p-thought";
        assert_eq!(error, expected);
    }
}
