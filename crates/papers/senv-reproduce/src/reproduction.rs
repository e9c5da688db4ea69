//! Plans the commands that reproduce the tables of papers.

use crate::{
    data::Data,
    options::Options,
    paper_name::PaperName,
    papers,
    plan::Plan,
    report::{
        list::list,
        results::{Planned, TableSteps},
    },
};

/// The tables of papers, with the commands that compute them.
#[derive(Debug)]
pub struct Reproduction {
    options: Options,
    pub(crate) plan: Plan,
    pub(crate) papers: Vec<Planned>,
}

impl Reproduction {
    /// Finds the data sets and plans the commands.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let data = Data::new(&options.data, &options.text);
        let mut plan = Plan::new(data, options.data.clone(), options.output.clone(), options.quick);
        let mut planned = Vec::new();
        for mut paper in options.papers.iter().map(|&name| papers::paper(name)) {
            if options.quick {
                // With `--quick`, further seeds would be the same commands.
                paper.tables.iter_mut().flat_map(|table| &mut table.rows).for_each(|row| row.models.truncate(1));
            }
            let steps = paper.tables.iter().map(|table| TableSteps::new(&mut plan, &paper, table)).collect();
            planned.push((paper, steps));
        }
        Self { options, plan, papers: planned }
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Iterates over all commands as a user types them, each after those that it needs. `$DATA` and `$OUT` stand for
    /// the two folders, and `@name` for a missing data set.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.plan.steps.iter().map(|step| &step.shown[..])
    }

    /// Returns the rows of every table as paper, heading of the table, and name of the row. Each claim of a paper is a
    /// row of `claims`, named by its identifier.
    #[must_use]
    pub fn rows(&self) -> Vec<(PaperName, &str, &str)> {
        let mut rows = Vec::new();
        for (paper, _) in &self.papers {
            for table in &paper.tables {
                // Rows with only published figures are not ours.
                let of_ours = table.rows.iter().filter(|row| !row.models.is_empty());
                rows.extend(of_ours.map(|row| (paper.name, table.title, &row.name[..])));
            }
            rows.extend(paper.claims.iter().map(|claim| (paper.name, "claims", claim.id)));
        }
        rows
    }

    /// Formats tables, rows and commands, with the expected time of each.
    #[must_use]
    pub fn list(&self) -> String {
        list(&self.plan, &self.papers)
    }
}
