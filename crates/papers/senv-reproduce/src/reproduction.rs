//! From papers to the commands that make their tables.

use crate::{
    data::Data,
    options::Options,
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
        for paper in options.papers.iter().map(|&name| papers::paper(name)) {
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

    /// Tables, rows and commands with the time that each takes, as text.
    #[must_use]
    pub fn list(&self) -> String {
        list(&self.plan, &self.papers)
    }
}
