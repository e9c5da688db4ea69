//! The model card of a Model2Vec folder: `README.md`, whose first lines model hubs read. They are YAML between two
//! lines of `---`, and `license` is one of the names that hubs know, or `other` with a `license_name`.

use std::{
    fmt::Write,
    fs::{self, File},
    io::Read,
    path::Path,
};

use senv_core::{Terms, Vocabulary, counts::plural};
use serde_json::json;

/// The file.
pub(crate) const NAME: &str = "README.md";
/// The rest of a longer file is not read.
const MOST_BYTES: u64 = 1 << 16;
/// The key of the whole terms, which `license` shortens to a name.
const TERMS: &str = "senv_terms";

/// Names of licenses on model hubs that are identifiers of SPDX in lower case.
const HUB_NAMES: &[&str] = &[
    "mit",
    "apache-2.0",
    "bsd-2-clause",
    "bsd-3-clause",
    "isc",
    "zlib",
    "unlicense",
    "bsl-1.0",
    "cc0-1.0",
    "cc-by-2.0",
    "cc-by-2.5",
    "cc-by-3.0",
    "cc-by-4.0",
    "cc-by-sa-3.0",
    "cc-by-sa-4.0",
    "cc-by-nc-2.0",
    "cc-by-nc-3.0",
    "cc-by-nc-4.0",
    "cc-by-nd-4.0",
    "cc-by-nc-nd-3.0",
    "cc-by-nc-nd-4.0",
    "cc-by-nc-sa-2.0",
    "cc-by-nc-sa-3.0",
    "cc-by-nc-sa-4.0",
];

/// The card of a model with these words.
pub(crate) fn text(vocabulary: &Vocabulary, dim: usize) -> String {
    let mut card = "---\nlibrary_name: model2vec\n".to_owned();
    let terms = vocabulary.terms().map(Terms::new);
    if let Some(terms) = terms {
        match hub_name(terms) {
            Some(name) => card += &format!("license: {name}\n"),
            // A JSON text is a YAML text.
            None => card += &format!("license: other\nlicense_name: {}\n", json!(terms.license())),
        }
        card += &format!("{TERMS}: {}\n", json!(terms.text()));
    }
    let words = plural(vocabulary.len() as u64, "word");
    let _ = write!(
        card,
        "tags:\n- embeddings\n- static-embeddings\n---\n\n# Static word vectors\n\nVectors of {words} with {dim} \
        dimensions, written by senv for Model2Vec. The mean of the vectors of its words is the vector of a text.\n"
    );
    if let Some(terms) = terms {
        card += &format!("\n## License\n\n{}\n", terms.text().trim());
    }
    card
}

/// The name of a license on model hubs; of several to choose from, the first that they know.
fn hub_name(terms: Terms<'_>) -> Option<String> {
    let spdx = terms.spdx()?;
    spdx.split(" OR ").find_map(|id| match id {
        "PDDL-1.0" => Some("pddl".to_owned()),
        "ODC-By-1.0" => Some("odc-by".to_owned()),
        id => Some(id.to_lowercase()).filter(|name| HUB_NAMES.contains(&name.as_str())),
    })
}

/// The terms in the card of a folder; `None` without a card, or if it names no license.
pub(crate) fn terms_of(folder: &Path) -> Option<String> {
    let path = folder.join(NAME);
    // Opening a pipe would wait.
    fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(&path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    terms_in(&String::from_utf8_lossy(&bytes))
}

fn terms_in(card: &str) -> Option<String> {
    let mut lines = card.trim_start_matches('\u{feff}').lines().map(str::trim_end);
    lines.next().filter(|&first| first == "---")?;
    let head: Vec<&str> = lines.take_while(|&line| line != "---").collect();
    let value = |key: &str| {
        let of = |line: &&str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
        let at = head.iter().position(of)?;
        let value = head[at][key.len() + 1..].trim();
        let texts = match value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
            Some(list) => list.split(',').map(scalar).collect(),
            None if value.is_empty() => {
                let items = head[at + 1..].iter().map_while(|line| line.trim_start().strip_prefix("- "));
                items.map(scalar).collect()
            }
            None => vec![scalar(value)],
        };
        // A list does not say whether one can be chosen.
        Some(texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" AND "))
            .filter(|text| !text.is_empty())
    };
    value(TERMS).or_else(|| match value("license")? {
        license if license == "other" => value("license_name").or(Some(license)),
        license => Some(license),
    })
}

/// A YAML text on one line: in double quotes, in single quotes, or plain.
fn scalar(value: &str) -> String {
    let value = value.trim();
    if value.starts_with('"') {
        let quoted = serde_json::Deserializer::from_str(value).into_iter::<String>().next();
        return quoted.and_then(Result::ok).unwrap_or_default();
    }
    if let Some(rest) = value.strip_prefix('\'') {
        return rest.split('\'').next().unwrap_or_default().to_owned();
    }
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(terms: Option<&str>) -> String {
        text(&Vocabulary::from_counts([("cat", 2), ("dog", 1)], 3).unwrap().with_terms(terms), 5)
    }

    #[test]
    fn the_license_has_the_name_that_hubs_know() {
        for (terms, line) in [
            ("CC BY-SA 4.0: made from an encyclopedia", "license: cc-by-sa-4.0"),
            ("MIT", "license: mit"),
            ("Apache License 2.0", "license: apache-2.0"),
            ("MIT OR Apache-2.0: as the code", "license: mit"),
            ("MIT-0 OR Apache-2.0", "license: apache-2.0"),
            ("ODC-By 1.0", "license: odc-by"),
            ("MIT AND CC-BY-4.0", "license: other\nlicense_name: \"MIT AND CC-BY-4.0\""),
            ("Ask \"the author\".\nTwice.", "license: other\nlicense_name: \"Ask \\\"the author\\\".\""),
        ] {
            let card = card(Some(terms));
            assert!(
                card.starts_with("---\nlibrary_name: model2vec\n") && card.contains(&format!("\n{line}\n")),
                "{card}"
            );
            assert!(card.contains("2 words with 5 dimensions") && card.ends_with(&format!("## License\n\n{terms}\n")));
            assert_eq!(terms_in(&card).as_deref(), Some(terms));
        }
        let without = card(None);
        assert!(!without.contains("icense") && terms_in(&without).is_none(), "{without}");
    }

    #[test]
    fn cards_of_others_are_read() {
        for (card, terms) in [
            ("---\nlanguage: en\nlicense: mit\n---\nlicense: gpl-3.0\n", Some("mit")),
            ("\u{feff}---\r\nlicense: \"cc-by-4.0\" # a comment\r\n---\r\n", Some("cc-by-4.0")),
            ("---\nlicense: 'apache-2.0'\n---", Some("apache-2.0")),
            ("---\nlicense: mit # of the code\n---", Some("mit")),
            ("---\nlicense:\n- mit\n- cc-by-sa-4.0\ntags: []\n---", Some("mit AND cc-by-sa-4.0")),
            ("---\nlicense: [mit, \"isc\"]\n---", Some("mit AND isc")),
            ("---\nlicense: other\nlicense_name: my-license\n---", Some("my-license")),
            ("---\nlicense: other\n---", Some("other")),
            ("---\nlicense:\n---", None),
            ("---\nlicense: \"\n---", None),
            ("---\nlicense_name: x\n---", None),
            ("# A model\n\nlicense: mit\n", None),
            ("text\n---\nlicense: mit\n---\n", None),
            ("", None),
        ] {
            assert_eq!(terms_in(card).as_deref(), terms, "{card:?}");
        }
    }
}
