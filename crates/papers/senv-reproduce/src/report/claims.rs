//! The claims of the papers with their verdicts, in Markdown.

use std::fmt::Write as _;

use super::{
    claim_result::{ClaimResult, Verdict},
    markdown::escape,
    results::Results,
};

/// The introduction above the claims.
const ABOUT: &str = "The claims are in our words, each with its location in the paper. A rule derives each verdict \
    from the figures of the named tables. Differences are computed seed by seed, and given as the mean ± half of the \
    95 % interval (Student's t). A row without an interval is a single run. A claim is reproduced if the difference \
    has the paper's sign and zero is outside the interval; for a single run, the sign is enough. In a chain of rows, \
    no step may be reversed, and the first and last rows must differ in this way. Seeds are not the only noise. An \
    accuracy on the 1,019 MSRP pairs used here has a standard error of 1.4 points. A Pearson's r of 80 on SICK's 500 \
    trial pairs has one of 1.6 points.";

impl Results {
    /// Writes the claims of all papers of the run.
    pub(crate) fn claims_to_markdown(&self) -> String {
        let mut out = format!("# The papers' claims, and which are reproduced here\n\n{ABOUT}\n");
        let _ = writeln!(
            out,
            "\nMade by `senv reproduce --data DATA --output OUT` (senv {}); to print it again, run `senv reproduce \
            claims` with the same two folders. A paper's page lists the commands for each table below the table.\n",
            self.version
        );
        if self.quick {
            let _ = writeln!(out, "**{}**\n", super::markdown::QUICK);
        }
        let verdicts = [
            Verdict::Shows,
            Verdict::ShowsInOneRun,
            Verdict::WithinSeeds,
            Verdict::DoesNotShow,
            Verdict::CannotBeTested,
            Verdict::NotRun,
        ];
        let titles = verdicts.map(Verdict::words).join(" | ");
        let _ = writeln!(out, "| paper | claims | {titles} |\n| --- | ---: |{}", " ---: |".repeat(verdicts.len()));
        for paper in &self.papers {
            let counts = verdicts.map(|verdict| {
                let n = paper.claims.iter().filter(|claim| claim.verdict == verdict).count();
                n.to_string()
            });
            let _ = writeln!(out, "| {} | {} | {} |", paper.title, paper.claims.len(), counts.join(" | "));
        }
        for paper in self.papers.iter().filter(|paper| !paper.claims.is_empty()) {
            let _ = writeln!(
                out,
                "\n## {}\n\n| claim | ours | the paper's | verdict |\n| --- | --- | --- | --- |",
                paper.title
            );
            for claim in &paper.claims {
                write_claim(&mut out, paper.name, claim);
            }
        }
        out
    }
}

fn write_claim(out: &mut String, paper: &str, claim: &ClaimResult) {
    let tables: Vec<String> = claim
        .tables
        .iter()
        .map(|title| format!("[{}](reproduced/{paper}.md#{})", short(title), anchor(title)))
        .collect();
    let made_by = if tables.is_empty() { String::new() } else { format!("; ours: {}", tables.join(", ")) };
    let reason = if claim.reason.is_empty() { String::new() } else { format!(": {}", claim.reason) };
    let _ = writeln!(
        out,
        "| **{}** {} ({}{made_by}) | {} | {} | **{}**{} |",
        claim.id,
        escape(claim.says),
        escape(claim.place),
        escape(&claim.ours.join("; ")),
        escape(&claim.theirs.join("; ")),
        claim.verdict.words(),
        escape(&reason)
    );
}

/// Returns the part of a heading before its colon.
fn short(title: &str) -> &str {
    title.split(':').next().unwrap_or(title)
}

/// Returns the anchor of a heading, as common Markdown renderers create it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::PaperResult;

    #[test]
    fn a_claim_stands_with_its_figures_its_table_and_its_verdict() {
        let claim = ClaimResult {
            id: "p-1",
            place: "Table 4",
            says: "A is above B.",
            tables: vec!["Table 4: which pairs, and how many"],
            ours: vec!["A 2, B 1".to_owned()],
            theirs: vec!["A 4, B 3".to_owned()],
            verdict: Verdict::WithinSeeds,
            reason: "too little text",
        };
        let paper = PaperResult {
            name: "p",
            title: "P",
            about: "",
            tables: Vec::new(),
            claims: vec![claim],
            data: Vec::new(),
            versions: Vec::new(),
        };
        let results = Results { version: "0.1.0".to_owned(), quick: false, papers: vec![paper] };
        let text = results.claims_to_markdown();
        let line = "| **p-1** A is above B. (Table 4; ours: [Table 4](reproduced/p.md#table-4-which-pairs-and-how-many)) | A 2, B 1 | A 4, B 3 | **not reproduced: within seed noise**: too little text |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("| P | 1 | 0 | 0 | 1 | 0 | 0 | 0 |"), "{text}");
    }
}
