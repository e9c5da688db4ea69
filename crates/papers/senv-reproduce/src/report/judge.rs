//! The verdict on a claim, from the figures of the tables.

use super::{
    claim_result::{ClaimResult, Verdict},
    numbers::Difference,
    results::{Cell, RowResult, TableResult},
};
use crate::{
    claims::{At, Claim, Test},
    paper::{Center, Paper},
};

/// The result of testing one condition.
struct Outcome {
    ours: String,
    theirs: String,
    verdict: Verdict,
}

/// Judges a claim of a paper by the figures in its tables.
pub(crate) fn judge(claim: &Claim, paper: &Paper, tables: &[TableResult]) -> ClaimResult {
    let mut titles = Vec::new();
    let mut outcomes = Vec::new();
    let mut reason = claim.otherwise;
    for test in &claim.tests {
        if let Test::Missing(missing) = test {
            reason = missing;
            continue;
        }
        let place = paper.tables.iter().position(|table| Some(table.id) == test.table());
        let Some(table) = place.and_then(|place| tables.get(place)) else { continue };
        if !titles.contains(&table.title) {
            titles.push(table.title);
        }
        outcomes.push(Figures { table }.of(test));
    }
    // The worst condition decides. A claim without a condition cannot be tested.
    let verdict = outcomes.iter().map(|outcome| outcome.verdict).max().unwrap_or(Verdict::CannotBeTested);
    if verdict <= Verdict::ShowsInOneRun {
        reason = "";
    }
    let words = |of: fn(&Outcome) -> &String| {
        let words = outcomes.iter().map(of).filter(|words| !words.is_empty());
        words.cloned().collect()
    };
    let (ours, theirs) = (words(|outcome| &outcome.ours), words(|outcome| &outcome.theirs));
    ClaimResult { id: claim.id, place: claim.place, says: claim.says, tables: titles, ours, theirs, verdict, reason }
}

/// The figures of a table.
struct Figures<'a> {
    table: &'a TableResult,
}

impl<'a> Figures<'a> {
    fn of(&self, test: &Test) -> Outcome {
        match test {
            Test::Falls(at, rows) => self.order(*at, rows, 1.0),
            Test::Rises(at, rows) => self.order(*at, rows, -1.0),
            Test::Greatest(at, first, others) => self.extreme(*at, first, others, 1.0),
            Test::Least(at, first, others) => self.extreme(*at, first, others, -1.0),
            Test::Wins { first, others, at_least, .. } => self.wins(first, others, *at_least),
            Test::Columns { row, columns, .. } => self.columns(row, *columns),
            Test::Near(at, rows, within) => self.near(*at, *rows, *within),
            Test::AtLeast(at, row, bound) => self.bound(*at, row, *bound, 1.0),
            Test::AtMost(at, row, bound) => self.bound(*at, row, *bound, -1.0),
            Test::Words { at, row, words, at_least } => self.words(*at, row, words, *at_least),
            Test::Missing(_) => not_run(),
        }
    }

    fn row(&self, name: &str) -> Option<&'a RowResult> {
        self.table.rows.iter().find(|row| row.name == name)
    }

    fn cell(&self, row: &str, column: &str) -> Option<(&'a Cell, usize)> {
        let place = self.table.columns.iter().position(|other| other.title == column)?;
        Some((self.row(row)?.cells.get(place)?, self.table.columns[place].digits))
    }

    /// Tests whether each row is above the next, or below it for a negative sign.
    fn order(&self, (_, column): At, rows: &[&str], sign: f64) -> Outcome {
        let cells: Option<Vec<(&Cell, usize)>> = rows.iter().map(|row| self.cell(row, column)).collect();
        let Some(cells) = cells.filter(|cells| cells.iter().all(|(cell, _)| !cell.ours.is_empty())) else {
            return not_run();
        };
        // A single step may be small but must not be reversed, and the difference of the first and last rows must
        // exceed noise.
        let is_reversed = |pair: &[(&Cell, usize)]| compared(pair[1].0, pair[0].0, sign) <= Verdict::ShowsInOneRun;
        let verdict = match &cells[..] {
            [(first, _), .., (last, _)] if !cells.windows(2).any(is_reversed) => compared(first, last, sign),
            _ => Verdict::DoesNotShow,
        };
        let joined = |text: fn(&Cell, usize, Center) -> Option<String>| {
            let texts = cells
                .iter()
                .zip(rows)
                .map(|((cell, digits), row)| Some(format!("{row} {}", text(cell, *digits, self.table.center)?)));
            texts.collect::<Option<Vec<_>>>().unwrap_or_default().join(", ")
        };
        let mut ours = joined(ours);
        if let [(first, digits), (second, _)] = cells[..]
            && let Some(Difference { mean, half_width: Some(half) }) = Difference::of(&first.ours, &second.ours)
        {
            ours += &format!(" (difference {mean:.digits$} ± {half:.digits$})");
        }
        Outcome { ours, theirs: joined(theirs), verdict }
    }

    /// Tests whether a row is above all others, or below them. The closest of the others is shown.
    fn extreme(&self, at: At, first: &str, others: &[&str], sign: f64) -> Outcome {
        let center = |row: &str| Some(sign * self.cell(row, at.1)?.0.center(self.table.center)?);
        let centers: Option<Vec<f64>> = others.iter().map(|other| center(other)).collect();
        let nearest = centers.and_then(|centers| (0..others.len()).max_by(|&a, &b| centers[a].total_cmp(&centers[b])));
        let Some(nearest) = nearest else { return not_run() };
        let outcomes = others.iter().map(|other| self.order(at, &[first, other], sign));
        let verdict = outcomes.map(|outcome| outcome.verdict).max().unwrap_or(Verdict::NotRun);
        Outcome { verdict, ..self.order(at, &[first, others[nearest]], sign) }
    }

    /// Counts in how many tasks the first row is above all others, for each seed and for the paper.
    fn wins(&self, first: &str, others: &[&str], at_least: usize) -> Outcome {
        let rows: Option<Vec<&RowResult>> = [first].iter().chain(others).map(|row| self.row(row)).collect();
        let Some(rows) = rows else { return not_run() };
        let wins = |of: &dyn Fn(&Cell) -> Option<f64>| {
            let columns = (0..self.table.columns.len()).filter(|&place| !self.table.columns[place].path.is_empty());
            let figures = columns
                .filter_map(|place| rows.iter().map(|row| of(row.cells.get(place)?)).collect::<Option<Vec<f64>>>());
            figures.fold((0, 0), |(n_wins, n), figures| {
                (n_wins + usize::from(figures[1..].iter().all(|other| figures[0] > *other)), n + 1)
            })
        };
        let n_seeds = rows.iter().map(|row| row.n_models).min().unwrap_or(0);
        let of_seeds = (0..n_seeds).map(|seed| wins(&|cell: &Cell| cell.ours.get(seed).copied()));
        let of_seeds: Vec<(usize, usize)> = of_seeds.filter(|(_, n)| *n > 0).collect();
        let (their_wins, of) = wins(&|cell| cell.theirs);
        let Some(&(_, n)) = of_seeds.first() else { return not_run() };
        let counts: Vec<String> = of_seeds.iter().map(|(n_wins, _)| n_wins.to_string()).collect();
        let verdict = match of_seeds.iter().filter(|(n_wins, _)| *n_wins >= at_least).count() {
            0 => Verdict::DoesNotShow,
            shows if shows < of_seeds.len() => Verdict::WithinSeeds,
            1 => Verdict::ShowsInOneRun,
            _ => Verdict::Shows,
        };
        Outcome {
            ours: format!("{first} is ahead in {} of {n}", counts.join(", ")),
            theirs: if of > 0 { format!("{first} is ahead in {their_wins} of {of}") } else { String::new() },
            verdict,
        }
    }

    /// Tests whether the first column is above the second.
    fn columns(&self, row: &str, [first, second]: [&str; 2]) -> Outcome {
        let (Some((a, digits)), Some((b, _))) = (self.cell(row, first), self.cell(row, second)) else {
            return not_run();
        };
        if a.ours.is_empty() || b.ours.is_empty() {
            return not_run();
        }
        let words = |text: fn(&Cell, usize, Center) -> Option<String>| {
            let [a, b] = [a, b].map(|cell| text(cell, digits, self.table.center));
            a.zip(b).map_or_else(String::new, |(a, b)| format!("{row}: {first} {a}, {second} {b}"))
        };
        Outcome { ours: words(ours), theirs: words(theirs), verdict: compared(a, b, 1.0) }
    }

    fn near(&self, at: At, rows: [&str; 2], within: f64) -> Outcome {
        let order = self.order(at, &rows, 1.0);
        let cells = rows.map(|row| self.cell(row, at.1));
        let [Some((first, _)), Some((second, _))] = cells else { return not_run() };
        let verdict = match Difference::of(&first.ours, &second.ours) {
            None => Verdict::NotRun,
            Some(Difference { mean, half_width: None }) if mean.abs() <= within => Verdict::ShowsInOneRun,
            Some(Difference { mean, half_width: Some(half) }) if mean.abs() + half <= within => Verdict::Shows,
            Some(Difference { mean, .. }) if mean.abs() <= within => Verdict::WithinSeeds,
            Some(_) => Verdict::DoesNotShow,
        };
        Outcome { verdict, ..order }
    }

    fn bound(&self, (_, column): At, row: &str, bound: f64, sign: f64) -> Outcome {
        let Some((cell, digits)) = self.cell(row, column).filter(|(cell, _)| !cell.ours.is_empty()) else {
            return not_run();
        };
        let verdict = Difference::from(&cell.ours, bound).map_or(Verdict::NotRun, |d| verdict_of(d, sign));
        let words = |text: fn(&Cell, usize, Center) -> Option<String>| {
            text(cell, digits, self.table.center).map_or_else(String::new, |figure| format!("{row}: {column} {figure}"))
        };
        Outcome { ours: words(ours), theirs: words(theirs), verdict }
    }

    fn words(&self, (_, column): At, row: &str, wanted: &[&str], at_least: usize) -> Outcome {
        let Some(words) = self.cell(row, column).and_then(|(cell, _)| cell.words.as_deref()) else { return not_run() };
        let found: Vec<&str> = words.split(", ").filter(|word| wanted.contains(word)).collect();
        let verdict = if found.len() >= at_least { Verdict::ShowsInOneRun } else { Verdict::DoesNotShow };
        let ours = format!("{row}: {column} {words}; {} of them are in the paper's list", found.len());
        Outcome { ours, theirs: wanted.join(", "), verdict }
    }
}

fn not_run() -> Outcome {
    Outcome { ours: String::new(), theirs: String::new(), verdict: Verdict::NotRun }
}

/// Tests whether the first cell is above the second, or below it for a negative sign.
fn compared(first: &Cell, second: &Cell, sign: f64) -> Verdict {
    Difference::of(&first.ours, &second.ours).map_or(Verdict::NotRun, |difference| verdict_of(difference, sign))
}

/// Tests whether a difference is above zero, or below it for a negative sign.
fn verdict_of(difference: Difference, sign: f64) -> Verdict {
    let difference = Difference { mean: sign * difference.mean, ..difference };
    match (difference.is_positive(), difference.half_width) {
        (true, Some(_)) => Verdict::Shows,
        (true, None) => Verdict::ShowsInOneRun,
        (false, _) if difference.is_noise() => Verdict::WithinSeeds,
        (false, _) => Verdict::DoesNotShow,
    }
}

fn ours(cell: &Cell, digits: usize, center: Center) -> Option<String> {
    cell.center(center).map(|figure| format!("{figure:.digits$}"))
}

fn theirs(cell: &Cell, digits: usize, _: Center) -> Option<String> {
    cell.theirs.map(|figure| format!("{figure:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::ColumnResult;

    /// A table of two tasks and a mean. Each row has its seeds in each column, and the paper's figure.
    fn table(rows: &[(&str, [&[f64]; 3], f64)]) -> TableResult {
        let column = |title: &str, path: &str| ColumnResult {
            title: title.into(),
            path: path.into(),
            digits: 1,
            is_hidden: false,
        };
        let row = |&(name, seeds, theirs): &(&str, [&[f64]; 3], f64)| RowResult {
            name: name.to_owned(),
            data: "",
            published_name: String::new(),
            learned_nothing: false,
            n_models: seeds[0].len(),
            cells: seeds.map(|ours| Cell { ours: ours.to_vec(), theirs: Some(theirs), ..Cell::default() }).to_vec(),
        };
        TableResult {
            title: "Table 1",
            about: "",
            columns: vec![column("a", "x"), column("b", "x"), column("mean", "")],
            rows: rows.iter().map(row).collect(),
            commands: Vec::new(),
            center: Center::Mean,
            drawings: Vec::new(),
        }
    }

    fn outcome(rows: &[(&str, [&[f64]; 3], f64)], test: &Test) -> (Verdict, String) {
        let table = table(rows);
        let Outcome { verdict, ours, .. } = Figures { table: &table }.of(test);
        (verdict, ours)
    }

    const HIGH: &[f64] = &[5.0, 5.1, 4.9];
    const LOW: &[f64] = &[2.0, 2.1, 1.9];
    const WIDE: &[f64] = &[1.0, 5.0, 6.0];

    #[test]
    fn an_order_shows_where_each_difference_is_more_than_seeds_make() {
        let rows = [("x", [HIGH; 3], 9.0), ("y", [LOW; 3], 8.0), ("z", [WIDE; 3], 7.0), ("one", [&[4.0]; 3], 1.0)];
        let verdict = |test: &Test| outcome(&rows, test).0;
        let at = ("t", "mean");
        assert_eq!(verdict(&Test::Falls(at, vec!["x", "y"])), Verdict::Shows);
        assert_eq!(verdict(&Test::Rises(at, vec!["x", "y"])), Verdict::DoesNotShow);
        assert_eq!(verdict(&Test::Rises(at, vec!["y", "x"])), Verdict::Shows);
        assert_eq!(verdict(&Test::Falls(at, vec!["x", "z"])), Verdict::WithinSeeds);
        assert_eq!(verdict(&Test::Falls(at, vec!["y", "z"])), Verdict::WithinSeeds);
        assert_eq!(verdict(&Test::Falls(at, vec!["x", "one", "y"])), Verdict::Shows);
        assert_eq!(verdict(&Test::Falls(at, vec!["x", "z", "y"])), Verdict::Shows);
        assert_eq!(verdict(&Test::Falls(at, vec!["y", "x", "z"])), Verdict::DoesNotShow);
        assert_eq!(verdict(&Test::Falls(at, vec!["x", "one"])), Verdict::ShowsInOneRun);
        assert_eq!(verdict(&Test::Falls(at, vec!["x", "none"])), Verdict::NotRun);
        assert_eq!(verdict(&Test::Greatest(at, "x", vec!["y"])), Verdict::Shows);
        assert_eq!(verdict(&Test::Greatest(at, "x", vec!["y", "one"])), Verdict::ShowsInOneRun);
        assert_eq!(verdict(&Test::Greatest(at, "x", vec!["y", "z"])), Verdict::WithinSeeds);
        assert_eq!(verdict(&Test::Least(at, "y", vec!["x"])), Verdict::Shows);
        assert_eq!(verdict(&Test::Near(at, ["x", "one"], 1.5)), Verdict::ShowsInOneRun);
        assert_eq!(verdict(&Test::Near(at, ["x", "y"], 3.5)), Verdict::Shows);
        assert_eq!(verdict(&Test::Near(at, ["x", "z"], 3.5)), Verdict::WithinSeeds);
        assert_eq!(verdict(&Test::Near(at, ["x", "y"], 1.5)), Verdict::DoesNotShow);
        assert_eq!(verdict(&Test::AtLeast(at, "x", 4.0)), Verdict::Shows);
        assert_eq!(verdict(&Test::AtLeast(at, "one", 4.5)), Verdict::DoesNotShow);
        assert_eq!(verdict(&Test::AtMost(at, "one", 4.5)), Verdict::ShowsInOneRun);
        let words = outcome(&rows, &Test::Falls(at, vec!["x", "y"])).1;
        assert_eq!(words, "x 5.0, y 2.0 (difference 3.0 ± 0.0)");
        // The closest of the other rows is shown.
        assert_eq!(outcome(&rows, &Test::Greatest(at, "x", vec!["y", "one"])).1, "x 5.0, one 4.0");
    }

    #[test]
    fn wins_are_counted_without_means_and_columns_compared_in_a_row() {
        let rows = [("x", [HIGH, LOW, HIGH], 2.0), ("y", [LOW, HIGH, LOW], 1.0)];
        let wins = |at_least| Test::Wins { table: "t", first: "x", others: vec!["y"], at_least };
        assert_eq!(outcome(&rows, &wins(1)), (Verdict::Shows, "x is ahead in 1, 1, 1 of 2".to_owned()));
        assert_eq!(outcome(&rows, &wins(2)).0, Verdict::DoesNotShow);
        let columns = |columns| Test::Columns { table: "t", row: "x", columns };
        assert_eq!(outcome(&rows, &columns(["a", "b"])).0, Verdict::Shows);
        assert_eq!(outcome(&rows, &columns(["b", "a"])).0, Verdict::DoesNotShow);
        assert_eq!(outcome(&rows, &columns(["b", "c"])).0, Verdict::NotRun);
    }

    #[test]
    fn words_are_counted() {
        let mut table = table(&[("x", [&[]; 3], 0.0)]);
        table.rows[0].cells[0].words = Some("to, of, cat".to_owned());
        let test = |at_least| Test::Words { at: ("t", "a"), row: "x", words: &["of", "to", "the"], at_least };
        let figures = Figures { table: &table };
        assert_eq!(figures.of(&test(2)).verdict, Verdict::ShowsInOneRun);
        assert_eq!(figures.of(&test(3)).verdict, Verdict::DoesNotShow);
        let elsewhere = Test::Words { at: ("t", "b"), row: "x", words: &["of"], at_least: 1 };
        assert_eq!(figures.of(&elsewhere).verdict, Verdict::NotRun);
    }
}
