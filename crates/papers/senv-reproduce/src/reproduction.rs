//! From papers to the commands that make their tables.

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

/// The tables of papers, with the commands that make them.
#[derive(Debug)]
pub struct Reproduction {
    options: Options,
    pub(crate) plan: Plan,
    pub(crate) papers: Vec<Planned>,
}

impl Reproduction {
    /// Looks which data sets are there, and plans the commands.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let data = Data::new(&options.data, &options.text);
        let mut plan = Plan::new(data, options.data.clone(), options.output.clone(), options.quick);
        let mut planned = Vec::new();
        for mut paper in options.papers.iter().map(|&name| papers::paper(name)) {
            if options.quick {
                // Further seeds are the same commands.
                paper.tables.iter_mut().flat_map(|table| &mut table.rows).for_each(|row| row.models.truncate(1));
            }
            let steps = paper.tables.iter().map(|table| TableSteps::new(&mut plan, &paper, table)).collect();
            planned.push((paper, steps));
        }
        Self { options, plan, papers: planned }
    }

    /// What it was made of.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// All commands as a user types them, each after those that it needs; `$DATA` and `$OUT` stand for the two folders,
    /// and `@name` for a data set that is not there.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.plan.steps.iter().map(|step| &step.shown[..])
    }

    /// The rows of every table: the paper, the heading of the table, and the system as its row names it; and each claim
    /// of a paper as a row of `claims`, by its name.
    #[must_use]
    pub fn rows(&self) -> Vec<(PaperName, &str, &str)> {
        let mut rows = Vec::new();
        for (paper, _) in &self.papers {
            for table in &paper.tables {
                // Of published figures alone there is no line of ours.
                let of_ours = table.rows.iter().filter(|row| !row.models.is_empty());
                rows.extend(of_ours.map(|row| (paper.name, table.title, &row.name[..])));
            }
            rows.extend(paper.claims.iter().map(|claim| (paper.name, "claims", claim.id)));
        }
        rows
    }

    /// Tables, rows and commands with the time that each takes, as text.
    #[must_use]
    pub fn list(&self) -> String {
        list(&self.plan, &self.papers)
    }
}
