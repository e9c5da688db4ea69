//! A claim with its verdict.

use serde::Serialize;

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ClaimResult {
    pub(crate) id: &'static str,
    pub(crate) place: &'static str,
    pub(crate) says: &'static str,
    /// The titles of the tables that the claim refers to.
    pub(crate) tables: Vec<&'static str>,
    /// Our figures, as text.
    pub(crate) ours: Vec<String>,
    /// The paper's figures, as text.
    pub(crate) theirs: Vec<String>,
    pub(crate) verdict: Verdict,
    /// Why the claim does not hold or cannot be tested.
    pub(crate) reason: &'static str,
}

/// The verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// Every condition holds, beyond seed noise.
    Shows,
    /// Every condition holds, in a single run.
    ShowsInOneRun,
    /// Zero is within the interval of a difference over the seeds.
    WithinSeeds,
    /// A condition does not hold.
    DoesNotShow,
    /// A command that it needs has not run.
    NotRun,
    /// Something needed for a test is missing.
    CannotBeTested,
}

impl Verdict {
    /// Returns the verdict as text.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Shows => "reproduced",
            Self::ShowsInOneRun => "reproduced (one run)",
            Self::WithinSeeds => "not reproduced: within seed noise",
            Self::DoesNotShow => "not reproduced",
            Self::NotRun => "not run",
            Self::CannotBeTested => "cannot be tested here",
        }
    }
}
