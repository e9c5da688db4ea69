//! The rules as regular expressions, for programs that tokenize with one.

use super::{
    Rule, Tokenizer,
    special::{ABBREVIATIONS, SUFFIXES},
};

impl Tokenizer {
    /// A regular expression (Oniguruma syntax) whose successive matches are the tokens. If [`Tokenizer::is_lowercase`],
    /// the text must already be lower-cased. `None` for `unicode`, which is not a regular language, and for custom
    /// tokenizers. A
    /// normalization is not part of the expression.
    ///
    /// The expression for `whitespace` is exact. The one for `words` is close: 98 to 99.9 % of sentences from news,
    /// encyclopedias and forums have the same tokens. It splits some addresses, emoticons and rare abbreviations
    /// differently.
    ///
    /// ```
    /// use senv_core::Tokenizer;
    /// assert_eq!(Tokenizer::whitespace().pattern().as_deref(), Some(r"[^\x00\t-\r ]+"));
    /// assert!(Tokenizer::unicode().pattern().is_none() && Tokenizer::whitespace().strip_hashtags(true).pattern().is_none());
    /// ```
    #[must_use]
    pub fn pattern(&self) -> Option<String> {
        match self.rule {
            _ if self.strip_hashtags => None,
            Rule::Whitespace => Some(r"[^\x00\t-\r ]+".into()),
            Rule::Words => Some(words()),
            Rule::Unicode | Rule::Custom(_) => None,
        }
    }
}

fn words() -> String {
    // A word character, a word boundary, an apostrophe, and what can follow it at the end of a word.
    let (word, edge, quote) = (r"[\p{L}\p{M}\p{N}]", r"(?![\p{L}\p{M}\p{N}])", "['’]");
    let clitic = format!("(?:s|m|d|ll|re|ve){edge}");
    let (listed, suffixes) = (ABBREVIATIONS.join("|"), SUFFIXES.join("|"));
    [
        r"https?://\S*[^\s.,;:!?)\]'\x22]".to_owned(),
        r"www\.\S*[^\s.,;:!?)\]'\x22]".to_owned(),
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+".to_owned(),
        format!(r"(?:{word}+(?:-{word}+)*\.)+(?:{suffixes}){edge}"),
        // Abbreviations with their period.
        format!(r"(?<!{word})(?:ph\.d|(?:[a-z]\.)+[a-z])(?:\.(?!\.)|{edge})"),
        format!(r"(?<!{word})(?:[a-hj-z]|{listed})\.(?!\.){edge}"),
        // Clitics, and "cannot".
        format!("{word}+?(?=n{quote}t{edge})"),
        format!("n{quote}t{edge}"),
        format!("{quote}{clitic}"),
        format!(r"(?<!{word}){quote}(?:em|n|til|till|tis|twas|twill|cause|bout|\d\ds?){edge}"),
        format!(r"(?<!{word})can(?=not{edge})"),
        format!("(?<=can)not{edge}"),
        // Words with connecting characters; numbers.
        format!(r"{word}+(?:(?:[-_&‐‑·]|(?<=\p{{N}})[.,:/](?=\p{{N}})|{quote}(?!{clitic}|t{edge})){word}+)*"),
        r"(?<!\S)[-+]?\.?\p{N}+(?:[.,:/]\p{N}+)*".to_owned(),
        // Marks: emoticons, runs, tags, and any other single mark.
        r"[:;=]-?[()DdPp/\\|\]\[](?=\s|$)".to_owned(),
        r"\.{2,}|-{2,}|\+{2,}|\*+|~+|_+|=+|''|``|#{2,}".to_owned(),
        r"[@#]\w+".to_owned(),
        r"\S".to_owned(),
    ]
    .join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_hold_the_lists_and_have_as_many_opening_as_closing_marks() {
        let pattern = Tokenizer::words().lowercase(true).pattern().unwrap();
        assert!(pattern.contains("|messrs|") && pattern.contains("|pdf|"));
        let unescaped =
            pattern.replace(r"\\", "").replace(r"\(", "").replace(r"\)", "").replace(r"\]", "").replace(r"\[", "");
        let outside: String =
            unescaped.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
        assert_eq!(outside.matches('(').count(), outside.matches(')').count());
    }
}
