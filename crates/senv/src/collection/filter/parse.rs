//! Reads filters from text.

use senv_core::quoted;

use super::{Comparison, Filter};

/// The deepest nesting of parentheses and `not`.
const DEEPEST: usize = 64;

/// Keywords, in lower case. As a column or a value they are quoted.
const KEYWORDS: [&str; 8] = ["and", "or", "not", "in", "is", "null", "starts", "with"];

/// Signs, the longest first.
const SIGNS: [&str; 11] = ["==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ","];

/// Whether a text reads back as one word.
pub(super) fn is_plain(text: &str) -> bool {
    let is_word = |c: char| !c.is_whitespace() && !matches!(c, '\'' | '"' | '(' | ')' | ',' | '=' | '<' | '>' | '!');
    !text.is_empty() && text.chars().all(is_word) && !is_keyword(text)
}

fn is_keyword(text: &str) -> bool {
    KEYWORDS.iter().any(|keyword| text.eq_ignore_ascii_case(keyword))
}

/// A piece of the text, with the place where it starts.
#[derive(Debug, Clone, PartialEq)]
struct Token<'t> {
    start: usize,
    end: usize,
    kind: Kind<'t>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind<'t> {
    Sign(&'static str),
    Word(&'t str),
    Quoted(String),
}

/// What was wrong, and where.
struct Bad {
    at: usize,
    expected: String,
}

/// Returns the filter, or what was expected where.
pub(super) fn parse(text: &str) -> Result<Filter, String> {
    let shown = |Bad { at, expected }: Bad| {
        let rest = text[at..].trim_end();
        let place = text[..at].chars().count() + 1;
        match rest.is_empty() {
            true => format!("expected {expected} at the end"),
            false => {
                let start: String = rest.chars().take(20).collect();
                format!("expected {expected} at character {place}, where {} begins", quoted(&start))
            }
        }
    };
    let of = || {
        let mut parser = Parser { text, tokens: tokens(text)?, next: 0 };
        let filter = parser.any(0)?;
        match parser.tokens.get(parser.next) {
            None => Ok(filter),
            Some(token) => Err(Bad {
                at: token.start,
                expected: "'and', 'or' or the end (quote a value that has them)".to_owned(),
            }),
        }
    };
    of().map_err(shown)
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Bad> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let kind = if let Some(sign) = SIGNS.iter().find(|sign| text[at..].starts_with(**sign)) {
            at += sign.len();
            Kind::Sign(sign)
        } else if c == '\'' || c == '"' {
            let (inner, len) = unquote(&text[at..], c)
                .ok_or_else(|| Bad { at, expected: format!("a second {c} that ends the quoted text that begins") })?;
            at += len;
            Kind::Quoted(inner)
        } else {
            let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '=' | '<' | '>');
            // `!` is part of a word, unless it is that of `!=`.
            let rest = &text[at..];
            let end = rest
                .char_indices()
                .find(|&(i, c)| ends(c) || i > 0 && rest[i..].starts_with("!="))
                .map_or(rest.len(), |(i, _)| i);
            at += end;
            Kind::Word(&text[start..at])
        };
        tokens.push(Token { start, end: at, kind });
    }
    Ok(tokens)
}

/// The text between quotes, in which a repeated quote is one, and the length with them.
fn unquote(text: &str, quote: char) -> Option<(String, usize)> {
    let (mut inner, mut rest) = (String::new(), &text[1..]);
    loop {
        let end = rest.find(quote)?;
        inner.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(quote) {
            Some(more) => {
                inner.push(quote);
                rest = more;
            }
            None => return Some((inner, text.len() - rest.len())),
        }
    }
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// After a comparison, where it can be missing: then it is the empty text.
    Compared,
    /// After `starts with`.
    Beginning,
    /// In a list, which commas divide.
    Listed,
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    next: usize,
}

impl<'t> Parser<'t> {
    fn any(&mut self, depth: usize) -> Result<Filter, Bad> {
        let mut parts = vec![self.all(depth)?];
        while self.takes("or") {
            parts.push(self.all(depth)?);
        }
        Ok(one_or(parts, Filter::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Filter, Bad> {
        let mut parts = vec![self.part(depth)?];
        while self.takes("and") {
            parts.push(self.part(depth)?);
        }
        Ok(one_or(parts, Filter::All))
    }

    fn part(&mut self, depth: usize) -> Result<Filter, Bad> {
        if depth > DEEPEST {
            return Err(self.expected(&format!("at most {DEEPEST} parentheses and 'not' within each other")));
        }
        if self.takes("not") {
            return Ok(self.part(depth + 1)?.not());
        }
        if self.takes_sign("(") {
            let inner = self.any(depth + 1)?;
            return if self.takes_sign(")") { Ok(inner) } else { Err(self.expected("')', 'and' or 'or'")) };
        }
        self.test()
    }

    fn test(&mut self) -> Result<Filter, Bad> {
        let column = self.column()?;
        for (by, sign) in Comparison::ALL {
            let also = match by {
                Comparison::Equal => "==",
                Comparison::NotEqual => "<>",
                _ => sign,
            };
            if self.takes_sign(sign) || self.takes_sign(also) {
                return Ok(Filter::Compare { column, by, value: self.value(Place::Compared)? });
            }
        }
        let is_not = self.takes("not");
        let negated = |filter: Filter| if is_not { filter.not() } else { filter };
        if self.takes("in") {
            return Ok(negated(Filter::In { column, values: self.values()? }));
        }
        if self.takes("starts") {
            let with = self.takes("with");
            return match with {
                true => Ok(negated(Filter::StartsWith { column, prefix: self.value(Place::Beginning)? })),
                false => Err(self.expected("'with'")),
            };
        }
        if !is_not && self.takes("is") {
            let is_not = self.takes("not");
            if !self.takes("null") {
                return Err(self.expected("'null'"));
            }
            let null = Filter::IsNull { column };
            return Ok(if is_not { null.not() } else { null });
        }
        let tests =
            if is_not { "'in' or 'starts with'" } else { "=, !=, <, <=, >, >=, 'in', 'starts with' or 'is null'" };
        Err(self.expected(tests))
    }

    fn column(&mut self) -> Result<String, Bad> {
        let column = match self.tokens.get(self.next).map(|token| &token.kind) {
            Some(Kind::Quoted(column)) if !column.is_empty() => Some(column.clone()),
            Some(Kind::Word(word)) if !is_keyword(word) => Some((*word).to_owned()),
            _ => None,
        };
        let Some(column) = column else { return Err(self.expected("the name of a column")) };
        self.next += 1;
        Ok(column)
    }

    /// A value: quoted text, or the text up to `and`, `or` or a sign.
    fn value(&mut self, place: Place) -> Result<String, Bad> {
        let first = self.next;
        if let Some(Token { kind: Kind::Quoted(value), .. }) = self.tokens.get(first) {
            let value = value.clone();
            self.next += 1;
            return Ok(value);
        }
        let is_connective = |word: &str| ["and", "or"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword));
        let is_of_value = |kind: &Kind<'_>| match kind {
            Kind::Word(word) => !is_connective(word),
            Kind::Sign(sign) => !matches!(*sign, "(" | ")") && (*sign != "," || place != Place::Listed),
            Kind::Quoted(_) => false,
        };
        while self.tokens.get(self.next).is_some_and(|token| is_of_value(&token.kind)) {
            self.next += 1;
        }
        match self.tokens[first..self.next] {
            [] if place == Place::Compared => Ok(String::new()),
            [] => Err(self.expected("a value")),
            [ref first, .., ref last] => Ok(self.text[first.start..last.end].to_owned()),
            [ref only] => Ok(self.text[only.start..only.end].to_owned()),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, Bad> {
        if !self.takes_sign("(") {
            return Err(self.expected("'(' and values"));
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value(Place::Listed)?);
            if self.takes_sign(")") {
                return Ok(values);
            }
            if !self.takes_sign(",") {
                return Err(self.expected("',' or ')'"));
            }
        }
    }

    /// Takes a keyword, if it is next.
    fn takes(&mut self, keyword: &str) -> bool {
        let is_next = matches!(&self.tokens.get(self.next), Some(Token { kind: Kind::Word(word), .. })
            if word.eq_ignore_ascii_case(keyword));
        self.next += usize::from(is_next);
        is_next
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let is_next =
            matches!(&self.tokens.get(self.next), Some(Token { kind: Kind::Sign(found), .. }) if *found == sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn expected(&self, what: &str) -> Bad {
        let at = self.tokens.get(self.next).map_or(self.text.len(), |token| token.start);
        Bad { at, expected: what.to_owned() }
    }
}

fn one_or(mut parts: Vec<Filter>, list: fn(Vec<Filter>) -> Filter) -> Filter {
    if parts.len() == 1 { parts.remove(0) } else { list(parts) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Filter {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn message(text: &str) -> String {
        parse(text).expect_err(text)
    }

    #[test]
    fn every_test_is_read_with_and_without_blanks_and_quotes() {
        for (text, expected) in [
            ("year = 1987", Filter::equal("year", 1987)),
            ("year==1987", Filter::equal("year", 1987)),
            ("year!=1987", Filter::not_equal("year", 1987)),
            ("year <> 1987", Filter::not_equal("year", 1987)),
            ("year<1987", Filter::less("year", 1987)),
            ("year<=1987", Filter::at_most("year", 1987)),
            ("year > -1.5", Filter::greater("year", -1.5)),
            ("year>=1987", Filter::at_least("year", 1987)),
            ("name = 'a = b '", Filter::equal("name", "a = b ")),
            ("name = \"'\"", Filter::equal("name", "'")),
            ("name = 'it''s'", Filter::equal("name", "it's")),
            ("name =", Filter::equal("name", "")),
            ("name = ''", Filter::equal("name", "")),
            ("name = =x", Filter::equal("name", "=x")),
            ("name = Hello!", Filter::equal("name", "Hello!")),
            ("text = A train left the station.", Filter::equal("text", "A train left the station.")),
            ("text = in the  rain", Filter::equal("text", "in the  rain")),
            ("name = a, b", Filter::equal("name", "a, b")),
            ("'my column' = x", Filter::equal("my column", "x")),
            ("\"and\" = or1", Filter::equal("and", "or1")),
            ("tag in (a, 'b, c', d e)", Filter::one_of("tag", ["a", "b, c", "d e"])),
            ("tag not in (a)", Filter::one_of("tag", ["a"]).not()),
            ("file starts with docs/", Filter::starts_with("file", "docs/")),
            ("file NOT STARTS WITH 'docs '", Filter::starts_with("file", "docs ").not()),
            ("tag is null", Filter::is_null("tag")),
            ("tag Is Not Null", Filter::is_null("tag").not()),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn or_binds_less_than_and_which_binds_less_than_not() {
        let [a, b, c] = ["a", "b", "c"].map(|name| Filter::equal(name, 1));
        let all = || [a.clone(), b.clone(), c.clone()];
        let [x, y, z] = all();
        assert_eq!(read("a = 1 or b = 1 and c = 1"), Filter::Any(vec![x, Filter::All(vec![y, z])]));
        let [x, y, z] = all();
        assert_eq!(read("(a = 1 or b = 1) and c = 1"), Filter::All(vec![Filter::Any(vec![x, y]), z]));
        let [x, y, z] = all();
        assert_eq!(read("a = 1 and b = 1 AND c = 1"), x.and(y).and(z));
        let [x, y, _] = all();
        assert_eq!(read("not a = 1 and b = 1"), Filter::All(vec![x.not(), y]));
        let [x, y, _] = all();
        assert_eq!(read("not (a = 1 and b = 1)"), Filter::All(vec![x, y]).not());
        assert_eq!(read("((a = 1))"), a);
    }

    #[test]
    fn errors_say_what_was_expected_where() {
        for (text, says) in [
            ("", "expected the name of a column at the end"),
            ("= 3", "expected the name of a column at character 1, where \"= 3\" begins"),
            ("year", "'is null' at the end"),
            ("year 1987", "at character 6, where \"1987\" begins"),
            ("year = 1987 and", "expected the name of a column at the end"),
            ("title = War and Peace", "at the end"),
            ("(year = 1", "expected ')', 'and' or 'or' at the end"),
            ("year = 1)", "quote a value that has them) at character 9"),
            ("tag in a", "expected '(' and values at character 8"),
            ("tag in (a", "expected ',' or ')' at the end"),
            ("tag in ()", "expected a value at character 9"),
            ("tag is 3", "expected 'null'"),
            ("tag starts a", "expected 'with'"),
            ("tag not = 3", "expected 'in' or 'starts with'"),
            ("name = 'open", "expected a second ' that ends the quoted text that begins at character 8"),
            ("ÄÖ = 'open", "at character 6"),
            ("name = 'a' b", "at character 12"),
        ] {
            let message = message(text);
            assert!(message.contains(says), "{text}: {message}");
        }
        let deep = "(".repeat(1000) + "a = 1" + &")".repeat(1000);
        assert!(message(&deep).contains("at most 64 parentheses"));
        assert!(message(&"not ".repeat(1_000_000)).contains("at most 64"));
    }

    #[test]
    fn what_is_formatted_reads_back() {
        for text in [
            "year >= 1987 and not (author = 'Ada L' or title starts with 'The ')",
            "'my column' in ('it''s', 'a, b', '') or (tag is null and not x != y)",
            "(a = 1 or b = 2) and (c < 3 or not d > '<4')",
            "'not' = 'null'",
        ] {
            let filter = read(text);
            assert_eq!(filter.to_string(), text);
            assert_eq!(read(&filter.to_string()), filter);
        }
    }

    /// Pieces of the grammar in random order.
    #[test]
    fn any_text_is_read_or_refused_and_reads_back() {
        use rand::RngExt;
        let pieces = [
            "a", "=", "!=", "<>", "<", " ", " ", "(", ")", ",", "and", "or", "not", "in", "is", "null", "starts",
            "with", "'", "\"", "''", "é", "!", "1", "x y", "\u{a0}", "\t", "==",
        ];
        let mut rng = senv_core::rng::stream(1, "filters", &[]);
        let mut n_read = 0;
        for _ in 0..20_000 {
            let n = rng.random_range(0..12);
            let text: String = (0..n).map(|_| pieces[rng.random_range(0..pieces.len())]).collect();
            if let Ok(filter) = text.parse::<Filter>() {
                n_read += 1;
                let shown = filter.to_string();
                assert_eq!(shown.parse::<Filter>().ok(), Some(filter), "{text:?} {shown:?}");
            }
        }
        assert!(n_read > 300, "{n_read}");
    }
}
