//! Lists what a run would do.

use super::results::{Planned, time};
use crate::{plan::Plan, runner::CommandState};

/// Lists tables, rows and commands with their expected times, each command once.
pub(crate) fn list(plan: &Plan, planned: &[Planned]) -> String {
    let mut text = String::new();
    let states = vec![CommandState::Open; plan.steps.len()];
    let mut known: Vec<String> = Vec::new();
    let mut total = 0.0;
    for (paper, steps) in planned {
        text += &format!("{}: {}\n", paper.name, paper.title);
        let mut of_paper = 0.0;
        for (table, steps) in paper.tables.iter().zip(steps) {
            let result = steps.result(plan, &states, table);
            text += &format!("  {}\n", table.title);
            for row in &result.rows {
                let data = if row.data.is_empty() { String::new() } else { format!(" ({})", row.data) };
                text += &format!("    row: {}{data}\n", row.name);
            }
            for command in result.commands {
                if !known.contains(&command.command) {
                    text += &format!("    {:>9}  {}\n", time(command.expected_seconds), command.command);
                    of_paper += command.expected_seconds;
                    known.push(command.command);
                }
            }
        }
        text += &format!(
            "  {} in total on two idle cores, excluding commands shared with the papers above\n\n",
            time(of_paper)
        );
        total += of_paper;
    }
    text + &format!("{} in total on two idle cores", time(total))
}
