//! A published table as a file that can be compared with the paper.
//!
//! ```text
//! # source: the paper and its table          `# source 7:` is the source of rows with 7 in the column `table`
//! # any other remark
//! system<TAB>table<TAB>SICK                  the names of the columns
//! SAE<TAB>2<TAB>0.32/0.31                    a row; - if the paper has no number
//! ```
//!
//! Cells are as printed: one number, or two, such as `0.32/0.31` or `0.3740 (0.3991)`. A test reads all files and fails
//! for any other cell, so none is dropped unnoticed.

/// A published table.
#[derive(Debug)]
pub(super) struct Table {
    /// The number in the column `table` (empty for all other rows), and the paper with its table.
    sources: Vec<(&'static str, &'static str)>,
    columns: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'t> {
    table: &'t Table,
    cells: &'t [&'static str],
}

impl Table {
    pub(super) fn parse(text: &'static str) -> Self {
        let (remarks, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
        let source = |line: &'static str| {
            let (number, source) = line.strip_prefix("# source")?.split_once(':')?;
            Some((number.trim(), source.trim()))
        };
        let mut rows = lines.into_iter().map(|line| line.split('\t').collect::<Vec<_>>());
        let columns = rows.next().unwrap_or_default();
        Self { sources: remarks.into_iter().filter_map(source).collect(), columns, rows: rows.collect() }
    }

    pub(super) fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }
}

impl Row<'_> {
    /// Returns a cell as printed; `None` if the paper has none.
    pub(super) fn text(self, column: &str) -> Option<&'static str> {
        let place = self.table.columns.iter().position(|name| *name == column)?;
        self.cells.get(place).copied().filter(|cell| *cell != "-")
    }

    /// Returns the name of the system.
    pub(super) fn system(self) -> Option<&'static str> {
        self.text("system")
    }

    /// Returns the paper and its table.
    pub(super) fn source(self) -> &'static str {
        let number = self.text("table").unwrap_or_default();
        let of = |number: &str| self.table.sources.iter().find(|source| source.0 == number).map(|source| source.1);
        of(number).or_else(|| of("")).unwrap_or_default()
    }

    pub(super) fn number(self, column: &str) -> Option<f64> {
        self.text(column)?.parse().ok()
    }

    /// Returns the two numbers of a cell, in the order of the paper.
    pub(super) fn pair(self, column: &str) -> Option<[f64; 2]> {
        let (first, second) = self.text(column)?.split_once(['/', '('])?;
        Some([first.trim().parse().ok()?, second.trim_end_matches(')').trim().parse().ok()?])
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn cells_are_read_as_papers_print_them() {
        let text = "# source: A\n# source 7: B\n# a remark: more\nsystem\ttable\tx\ty\nu\t2\t1.5\t.1/.25\nv\t7\t-\t0.3 (0.4)\n";
        let table = Table::parse(text);
        let rows: Vec<Row<'_>> = table.rows().collect();
        let [u, v] = rows[..] else { panic!("two rows") };
        assert_eq!(
            (u.system(), u.source(), u.number("x"), u.pair("y")),
            (Some("u"), "A", Some(1.5), Some([0.1, 0.25]))
        );
        assert_eq!((v.system(), v.source(), v.number("x"), v.pair("y")), (Some("v"), "B", None, Some([0.3, 0.4])));
        assert_eq!((u.number("y"), u.pair("x"), u.text("z")), (None, None, None));
    }

    /// Every file has as many cells as columns, each with one number, two numbers or none, a source for every row, and
    /// no row twice.
    #[test]
    fn every_table_is_whole() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/published/tables");
        let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 14);
        for file in files {
            let name = file.display();
            let table = Table::parse(fs::read_to_string(&file).unwrap().leak());
            let names = |row: &Row<'_>| ["system", "year", "task", "table"].map(|column| row.text(column));
            let distinct: BTreeSet<_> = table.rows().map(|row| names(&row)).collect();
            assert!(distinct.len() == table.rows.len() && distinct.len() > 2, "{name}");
            for row in table.rows() {
                assert_eq!(row.cells.len(), table.columns.len(), "{name}: {:?}", row.cells);
                assert!(!row.source().is_empty() && names(&row).iter().any(Option::is_some), "{name}");
                for column in table.columns().iter().filter(|column| !["system", "task"].contains(column)) {
                    let marked = row.text(column).and_then(|cell| cell.strip_suffix('*')?.parse::<f64>().ok());
                    let read = row.number(column).is_some() || row.pair(column).is_some() || marked.is_some();
                    assert!(read || row.text(column).is_none(), "{name}, {column}: {:?}", row.cells);
                }
            }
        }
    }
}
