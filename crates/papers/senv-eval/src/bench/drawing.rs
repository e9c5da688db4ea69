//! A drawing of the report, with its title and caption.

use std::collections::HashSet;

use crate::plot::{curve, frame::titled};

/// Maximum number of characters in a file name, because file systems allow 255 bytes.
const MOST_OF_NAME: usize = 60;

/// A drawing of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drawing {
    /// File name without `.svg`, such as `quality-size`; unique in a report.
    pub name: String,
    /// Title of the drawing.
    pub title: String,
    /// How to read the drawing.
    pub about: String,
    /// The image without the title, in the text color of the page.
    pub svg: String,
}

impl Drawing {
    /// Creates a drawing. `name` may contain any characters; those unsuitable for file names become hyphens.
    pub(super) fn new(name: &str, title: impl Into<String>, about: impl Into<String>, svg: String) -> Self {
        Self { name: file_name(name), title: title.into(), about: about.into(), svg }
    }

    /// Returns the SVG image with its title, black on white, for a separate file.
    #[must_use]
    pub fn to_file(&self) -> String {
        titled(&self.svg, &self.title)
    }
}

/// Converts words to lower-case letters and digits, with a hyphen for everything between them.
fn file_name(words: &str) -> String {
    let words = words.to_lowercase();
    let parts: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let name: String = parts.join("-").chars().take(MOST_OF_NAME).collect();
    name.trim_end_matches('-').to_owned()
}

/// Numbers repeated names, starting with 2 for the second.
pub(super) fn number_equal_names(drawings: &mut [Drawing]) {
    let mut seen = HashSet::new();
    for drawing in drawings {
        let mut name = drawing.name.clone();
        for i in 2.. {
            if seen.insert(name.clone()) {
                break;
            }
            name = format!("{}-{i}", drawing.name);
        }
        drawing.name = name;
    }
}

/// Returns the range of values; `None` if there are none.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let mut values = values.filter(|value| value.is_finite()).peekable();
    values.peek().is_some().then_some(())?;
    Some(curve::range(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_letters_digits_and_hyphens_and_are_unique() {
        assert_eq!(file_name("norms-../b/My model.senv"), "norms-b-my-model-senv");
        assert_eq!(file_name("norms-***"), "norms");
        assert_eq!(file_name(&"ü".repeat(300)).chars().count(), MOST_OF_NAME);
        let drawing = |name| Drawing::new(name, "t", "a", String::new());
        let mut drawings = ["map a", "map-a", "map-a-2", "map.a"].map(drawing);
        number_equal_names(&mut drawings);
        assert_eq!(drawings.map(|drawing| drawing.name), ["map-a", "map-a-2", "map-a-2-2", "map-a-3"]);
    }
}
