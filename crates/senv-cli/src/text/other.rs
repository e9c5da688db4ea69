//! Arguments for the second input of a command, which can be a table with another column, or plain lines.

/// How such an input is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OtherText<'a> {
    pub(crate) column: Option<&'a str>,
    pub(crate) as_lines: bool,
    /// Whether it is read as the text of the command, if no argument says otherwise.
    pub(crate) follows: bool,
    /// The names of the two arguments.
    pub(crate) names: [&'static str; 2],
}

/// The two arguments for an input: the column of its table, and that it is plain lines.
macro_rules! other_text {
    ($(#[$meta:meta])* $name:ident, $follows:literal, $column:literal, $lines:literal, $what:literal, $else:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, clap::Args)]
        pub(crate) struct $name {
            #[arg(id = $column, long = $column, value_name = "NAME", groups = ["tabled", "quoted"],
                  conflicts_with = $lines, help_heading = "Text",
                  help = concat!("Column of ", $what, $else))]
            column: Option<String>,
            #[arg(id = $lines, long = $lines, help_heading = "Text", help = concat!("Read ", $what, " as plain lines"))]
            as_lines: bool,
        }

        impl $name {
            /// How the input is read.
            pub(crate) fn other(&self) -> OtherText<'_> {
                let names = [concat!("--", $column), concat!("--", $lines)];
                OtherText { column: self.column.as_deref(), as_lines: self.as_lines, follows: $follows, names }
            }
        }
    };
}

other_text!(
    /// For `SECOND` of `senv compare`.
    SecondText, true, "second-column", "second-lines", "the second text", " [default: as --column]"
);
other_text!(
    /// For `--against` of `senv dedupe`.
    AgainstText, true, "against-column", "against-lines", "the text of --against", " [default: as --column]"
);
other_text!(
    /// For `--with` of `senv mine`.
    WithText, true, "with-column", "with-lines", "the text of --with", " [default: as --column]"
);
other_text!(
    /// For `--queries`.
    QueriesText, false, "queries-column", "queries-lines", "the file of --queries, if it is a table", ""
);
