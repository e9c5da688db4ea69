//! A claim with its verdict.

use serde::Serialize;

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ClaimResult {
    pub(crate) id: &'static str,
    pub(crate) place: &'static str,
    pub(crate) says: &'static str,
    /// The titles of the tables that it reads.
    pub(crate) tables: Vec<&'static str>,
    /// Our figures, in words.
    pub(crate) ours: Vec<String>,
    /// The paper's.
    pub(crate) theirs: Vec<String>,
    pub(crate) verdict: Verdict,
    /// Why it does not show, or cannot be tested.
    pub(crate) reason: &'static str,
}

/// What the figures say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// All that must hold holds, beyond what seeds make.
    Shows,
    /// All holds, in a single run.
    ShowsInOneRun,
    /// Zero lies within what the seeds make of a difference.
    WithinSeeds,
    /// Something does not hold.
    DoesNotShow,
    /// What it needs has not run.
    NotRun,
    /// Something is missing.
    CannotBeTested,
}

impl Verdict {
    /// In words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Shows => "shows",
            Self::ShowsInOneRun => "shows (one run)",
            Self::WithinSeeds => "does not show: within the seeds' noise",
            Self::DoesNotShow => "does not show",
            Self::NotRun => "not run",
            Self::CannotBeTested => "cannot be tested here",
        }
    }
}
