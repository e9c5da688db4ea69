//! The frame of a self-contained page that is readable on a phone, in dark mode, and without scripts.

use crate::plot::frame;

const STYLE: &str = "
:root{color-scheme:light dark;--bg:#fff;--ink:#1c1f23;--soft:#5d6570;--line:#d9dde2;--row:#f5f7f9;--accent:#0b62a8;--up:#00734f;--down:#b3460b}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--ink:#e6e8ea;--soft:#9aa3ad;--line:#343a41;--row:#1d2126;--accent:#6db8f2;--up:#45c79b;--down:#f0915a}svg{filter:brightness(1.45)}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}
main{max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.25rem;margin:2.2rem 0 .3rem}
p{margin:.4rem 0 .8rem;max-width:46rem}
.soft,figcaption,.legend{color:var(--soft);font-size:.86rem}
.box{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;margin:.6rem 0}
table{border-collapse:collapse;font-size:.88rem;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.38rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
tr:last-child td,tr:last-child th{border-bottom:0}
thead th{vertical-align:bottom;font-weight:600;background:var(--row);white-space:normal;min-width:4.2rem}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--bg);white-space:normal;min-width:7.5rem;max-width:13rem;overflow-wrap:anywhere;font-weight:400}
thead th:first-child{background:var(--row)}
.best{font-weight:700}
.plain th:first-child{color:var(--soft)}
.pub td,.pub th{color:var(--soft)}
.given th:first-child{font-weight:600}
.pm{color:var(--soft);font-size:.78rem;display:block}
td .pm{font-weight:400}
.up{color:var(--up)}.down{color:var(--down)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,13rem),1fr));gap:.7rem;margin:1rem 0}
.card{border:1px solid var(--line);border-radius:.5rem;padding:.7rem .9rem}
.card b{display:block;font-size:1.5rem;line-height:1.2;color:var(--accent)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem;align-items:start}
figure{margin:0;border:1px solid var(--line);border-radius:.5rem;padding:.6rem;min-width:0}
figure h3{font-size:1rem;margin:0 0 .2rem}
.draw{overflow-x:auto}
svg{display:block;width:100%;min-width:18.5rem;height:auto}
svg .background{fill:none}
details{border:1px solid var(--line);border-radius:.5rem;padding:.5rem .8rem;margin:.6rem 0}
summary{cursor:pointer;font-weight:600}
pre,code{font:0.82rem/1.45 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
.wide th:first-child,.wide td:first-child{max-width:none}
.wide td,.wide th{text-align:left}
";

/// Escapes text for elements and quoted attributes of a page.
///
/// ```
/// assert_eq!(senv_eval::escape_html("a < \"b\""), "a &lt; &quot;b&quot;");
/// ```
#[must_use]
pub fn escape_html(text: &str) -> String {
    frame::escape(text).replace('"', "&quot;")
}

/// Builds a whole page in the style of the bench. `title` is text, and `body` is the HTML of its `main` element.
///
/// ```
/// let page = senv_eval::html_page("Results", "<p>none yet</p>");
/// assert!(page.contains("<title>Results</title>") && page.contains("<p>none yet</p>"));
/// ```
#[must_use]
pub fn html_page(title: &str, body: &str) -> String {
    frame("<!DOCTYPE html>\n", title, body)
}

/// Builds a page that starts with `start`.
pub(super) fn frame(start: &str, title: &str, body: &str) -> String {
    let title = escape_html(title);
    format!(
        "{start}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}
