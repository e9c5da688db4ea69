//! Assembles one file: page, style, scripts, sample text, sources of the model and the compiled engine.

use std::fmt::Write as _;

use base64::{Engine, prelude::BASE64_STANDARD};

/// The first bytes of every page, by which an existing page is recognized.
pub(crate) const PAGE_START: &str = "<!DOCTYPE html>\n<!-- senv page -->\n";

const TEMPLATE: &str = include_str!("../../../page/page.html");
const STYLE: &str = include_str!("../../../page/page.css");
/// The scripts in the order in which they run: later ones use what earlier ones define.
const SCRIPTS: [&str; 6] = [
    include_str!("../../../page/engine.js"),
    include_str!("../../../page/parts.js"),
    include_str!("../../../page/compare.js"),
    include_str!("../../../page/search.js"),
    include_str!("../../../page/embed.js"),
    include_str!("../../../page/start.js"),
];
/// Our own sentences, for users without a text.
const SAMPLE: &str = include_str!("../../../../../examples/data/quickstart.txt");
const MODEL_CARD: &str = include_str!("../../../../senv-english/MODEL_CARD.md");

/// Builds the page with this engine (a WebAssembly module).
pub(crate) fn page(engine: &[u8]) -> String {
    let mut page = String::from(PAGE_START);
    // Splits at the marks, so inserted text is not searched for marks.
    for (i, piece) in TEMPLATE.split("{{").enumerate() {
        if i == 0 {
            page.push_str(piece);
            continue;
        }
        let (name, rest) = piece.split_once("}}").unwrap_or(("", piece));
        match name {
            "style" => page.push_str(STYLE),
            "script" => page.push_str(&SCRIPTS.join("\n")),
            "sample" => page.push_str(SAMPLE),
            "sources" => page.push_str(&sources(MODEL_CARD)),
            "engine" => page.push_str(&BASE64_STANDARD.encode(engine)),
            _ => {}
        }
        page.push_str(rest);
    }
    page
}

/// The sources of the model with their terms, which its license requires: rows of the data table of the model card, as
/// list items.
fn sources(card: &str) -> String {
    let mut list = String::new();
    let rows = card.lines().skip_while(|line| !line.starts_with("| file | source | terms |")).skip(2);
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let [_, _, source, terms, ..] = cells[..] {
            let _ = writeln!(list, "<li>{}: {}</li>", escape(source), escape(terms));
        }
    }
    list
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_loads_nothing() {
        let page = page(b"\0asm");
        assert!(page.starts_with(PAGE_START) && page.trim_end().ends_with("</html>"));
        assert!(!page.contains("{{") && page.contains("AGFzbQ==") && page.contains("The baker mixed flour"));
        for outside in ["src=\"", "src='", "@import", "url(", "http://", "import(", "XMLHttpRequest"] {
            assert!(!page.contains(outside), "{outside}");
        }
        // Except for a collection on the same server that the URL names.
        assert_eq!(page.matches("fetch(").count(), 1);
        let before = page.split("await fetch(url)").next().unwrap_or_default();
        assert!(before.ends_with("}\n    const response = ") && before.contains("url.origin !== location.origin"));
        // Scripts end at their own end tags.
        assert_eq!(page.matches("<script").count(), page.matches("</script").count());
    }

    #[test]
    fn what_the_scripts_look_for_is_on_the_page() {
        let mut n_ids = 0;
        for script in SCRIPTS {
            for piece in script.split("byId('").skip(1) {
                let id = piece.split('\'').next().unwrap_or_default();
                assert!(TEMPLATE.contains(&format!("id=\"{id}\"")), "no element {id}");
                n_ids += 1;
            }
        }
        assert!(n_ids > 15, "{n_ids} elements");
    }

    #[test]
    fn every_source_of_the_model_is_named() {
        let list = sources(MODEL_CARD);
        let (_, data) = MODEL_CARD.split_once("## Data").unwrap();
        let rows = data.lines().filter(|line| line.starts_with("| ") && line.matches('|').count() == 5).count();
        // Two of these rows are the heading and the line below it.
        assert_eq!(list.matches("<li>").count(), rows - 2);
        assert!(list.contains("<li>Tatoeba: CC BY 2.0 FR</li>"), "{list}");
    }
}
