//! Terms of use: the license that a text names, and whether it is permissive.

/// Longer names of licenses are not examined.
const MOST_BYTES: usize = 256;

/// Terms of use of a model ([`Vocabulary::terms`](crate::Vocabulary::terms)): a text for people that begins with the
/// name of a license, such as `CC BY-SA 4.0: made from ...`.
///
/// The license is the first line up to a colon and a space. It is a name (`MIT`, `CC BY 4.0`, `public domain`), or
/// names joined by `AND` and `OR`, as in SPDX. Of several joined by `OR`, one can be chosen.
///
/// ```
/// use senv_core::Terms;
/// let terms = Terms::new("CC BY-SA 4.0: made from an encyclopedia");
/// assert_eq!((terms.license(), terms.spdx().as_deref()), ("CC BY-SA 4.0", Some("CC-BY-SA-4.0")));
/// assert!(!terms.is_permissive());
/// assert!(Terms::new("MIT OR Apache-2.0").is_permissive());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms<'a>(&'a str);

impl<'a> Terms<'a> {
    /// The terms in this text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// The whole text.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.0
    }

    /// The name of the license, as in the text; empty if the text is.
    #[must_use]
    pub fn license(self) -> &'a str {
        let line = self.0.trim().lines().next().unwrap_or_default();
        line.split_once(": ").map_or(line, |(license, _)| license).trim()
    }

    /// Whether the license asks for attribution at most: MIT, Apache-2.0, BSD, ISC, Zlib, CC BY, CC0, public domain and
    /// similar ones. Share-alike, copyleft and noncommercial licenses are not permissive, and neither is a name that is
    /// not known here.
    #[must_use]
    pub fn is_permissive(self) -> bool {
        self.expression().is_some_and(|expression| expression.is_permissive)
    }

    /// The license as an SPDX expression, such as `CC-BY-4.0` or `MIT OR Apache-2.0`; `None` if a part of it is not
    /// known here or has no identifier.
    #[must_use]
    pub fn spdx(self) -> Option<String> {
        self.expression()?.spdx
    }

    /// The terms of what is made from two things: both licenses, joined by `AND`, then both texts. Terms that the other
    /// ones contain are not repeated.
    ///
    /// ```
    /// use senv_core::Terms;
    /// let both = Terms::new("MIT: the words").and(Terms::new("CC BY-SA 4.0: an encyclopedia"));
    /// assert_eq!(both, "MIT AND CC BY-SA 4.0: MIT: the words; CC BY-SA 4.0: an encyclopedia");
    /// assert!(!Terms::new(&both).is_permissive());
    /// ```
    #[must_use]
    pub fn and(self, other: Terms<'_>) -> String {
        let [first, second] = [self.0.trim(), other.0.trim()];
        if second.is_empty() || self.contains(second) {
            return first.to_owned();
        }
        if first.is_empty() || other.contains(first) {
            return second.to_owned();
        }
        let license = |terms: Terms<'_>| match terms.expression().is_some_and(|expression| expression.is_choice) {
            true => format!("({})", terms.license()),
            false => terms.license().to_owned(),
        };
        format!("{} AND {}: {first}; {second}", license(self), license(other))
    }

    /// Whether these are the same terms, or were joined from some that are.
    fn contains(self, terms: &str) -> bool {
        let text = self.0.trim();
        let joined = text.split_once(": ").map_or("", |(_, texts)| texts);
        text == terms || joined.split("; ").any(|part| part == terms)
    }

    /// `None` if the license is not an expression.
    fn expression(self) -> Option<Expression> {
        let license = self.license();
        if license.len() > MOST_BYTES {
            return None;
        }
        let spaced = license.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut parser = Parser { words: &words };
        let expression = parser.any_of()?;
        parser.words.is_empty().then_some(expression)
    }
}

/// What a license, or several of them, comes to.
#[derive(Debug, Default)]
struct Expression {
    is_permissive: bool,
    spdx: Option<String>,
    /// Whether it is a choice, which needs parentheses within a list of conditions.
    is_choice: bool,
}

/// A parser of expressions with `OR`, `AND`, `WITH` and parentheses; `AND` binds stronger than `OR`.
struct Parser<'w> {
    words: &'w [&'w str],
}

impl<'w> Parser<'w> {
    fn next_is(&self, word: &str) -> bool {
        self.words.first().is_some_and(|next| next.eq_ignore_ascii_case(word))
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.next_is(word);
        self.words = &self.words[usize::from(found)..];
        found
    }

    /// Licenses of which one can be chosen.
    fn any_of(&mut self) -> Option<Expression> {
        let mut all = self.all_of()?;
        while self.take("or") {
            let next = self.all_of()?;
            all.is_permissive |= next.is_permissive;
            all.spdx = all.spdx.zip(next.spdx).map(|(all, next)| format!("{all} OR {next}"));
            all.is_choice = true;
        }
        Some(all)
    }

    /// Licenses that all apply.
    fn all_of(&mut self) -> Option<Expression> {
        let mut all = self.one()?;
        while self.take("and") {
            let next = self.one()?;
            let nested = |one: Expression| Some(if one.is_choice { format!("({})", one.spdx?) } else { one.spdx? });
            let is_permissive = all.is_permissive && next.is_permissive;
            let spdx = nested(all).zip(nested(next)).map(|(all, next)| format!("{all} AND {next}"));
            all = Expression { is_permissive, spdx, is_choice: false };
        }
        Some(all)
    }

    /// One license, or an expression in parentheses.
    fn one(&mut self) -> Option<Expression> {
        if self.take("(") {
            let inner = self.any_of()?;
            return self.take(")").then_some(inner);
        }
        let mut license = named(self.name()?);
        if self.take("with") {
            // An exception permits more than the license does.
            let exception = self.name()?.join("-");
            license.spdx = license.spdx.map(|spdx| format!("{spdx} WITH {exception}"));
        }
        Some(license)
    }

    /// The words up to an operator, a parenthesis or the end; `None` if there are none.
    fn name(&mut self) -> Option<&'w [&'w str]> {
        let is_end = |word: &&str| ["or", "and", "with", "(", ")"].iter().any(|end| word.eq_ignore_ascii_case(end));
        let n = self.words.iter().position(is_end).unwrap_or(self.words.len());
        let (name, rest) = self.words.split_at(n);
        self.words = rest;
        (n > 0).then_some(name)
    }
}

/// Permissive licenses besides those of Creative Commons: the names, in lower case without hyphens, and the identifier
/// of SPDX.
const PERMISSIVE: &[(&[&str], &str)] = &[
    (&["mit"], "MIT"),
    (&["mit 0"], "MIT-0"),
    (&["apache 2.0", "apache 2", "asl 2.0"], "Apache-2.0"),
    (&["bsd 2 clause", "2 clause bsd"], "BSD-2-Clause"),
    (&["bsd 3 clause", "3 clause bsd"], "BSD-3-Clause"),
    (&["bsd"], ""),
    (&["0bsd"], "0BSD"),
    (&["isc"], "ISC"),
    (&["zlib"], "Zlib"),
    (&["unlicense"], "Unlicense"),
    (&["bsl 1.0", "boost software 1.0"], "BSL-1.0"),
    (&["unicode 3.0"], "Unicode-3.0"),
    (&["cc0 1.0", "cc0"], "CC0-1.0"),
    (&["pddl 1.0", "pddl"], "PDDL-1.0"),
    (&["odc by 1.0", "odc by"], "ODC-By-1.0"),
    (&["public domain"], ""),
];

/// A license by its name.
fn named(words: &[&str]) -> Expression {
    let name = words.join(" ").to_lowercase().replace([',', '-', '_'], " ");
    let parts: Vec<&str> = name.split_whitespace().filter_map(part).collect();
    if let ["cc", "by", rest @ ..] = &parts[..] {
        return attribution(rest);
    }
    let name = parts.join(" ");
    match PERMISSIVE.iter().find(|(names, _)| names.contains(&name.as_str())) {
        Some((_, spdx)) => Expression {
            is_permissive: true,
            spdx: Some((*spdx).to_owned()).filter(|spdx| !spdx.is_empty()),
            is_choice: false,
        },
        None => Expression::default(),
    }
}

/// A word of a name in its short form; `None` if it says nothing.
fn part(word: &str) -> Option<&str> {
    Some(match word {
        "the" | "license" | "licence" | "version" | "creative" | "international" | "unported" | "generic" => {
            return None;
        }
        "commons" => "cc",
        "attribution" => "by",
        "sharealike" => "sa",
        "noncommercial" => "nc",
        "noderivatives" | "noderivs" => "nd",
        word => word.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(word),
    })
}

/// A license of Creative Commons that asks for attribution: its conditions, version and country.
fn attribution(rest: &[&str]) -> Expression {
    let n = rest.iter().take_while(|part| ["nc", "sa", "nd"].contains(part)).count();
    let (conditions, rest) = rest.split_at(n);
    let is_version = |part: &str| part.starts_with(|c: char| c.is_ascii_digit()) && part.parse::<f64>().is_ok();
    let (version, country) = match rest {
        [] => (None, None),
        [version] if is_version(version) => (Some(version), None),
        [version, country] if is_version(version) && (2..=3).contains(&country.len()) => (Some(version), Some(country)),
        _ => return Expression::default(),
    };
    let spdx = version.filter(|version| version.contains('.') && country.is_none()).map(|version| {
        ["CC-BY".to_owned()]
            .into_iter()
            .chain(conditions.iter().map(|condition| condition.to_uppercase()))
            .chain([(*version).to_owned()])
            .collect::<Vec<_>>()
            .join("-")
    });
    Expression { is_permissive: conditions.is_empty(), spdx, is_choice: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licenses_that_ask_for_attribution_at_most_are_permissive() {
        for (text, spdx) in [
            ("MIT", Some("MIT")),
            ("The MIT License", Some("MIT")),
            ("mit: the license of the code", Some("MIT")),
            ("Apache License, Version 2.0", Some("Apache-2.0")),
            ("Apache-2.0", Some("Apache-2.0")),
            ("BSD 3-Clause License", Some("BSD-3-Clause")),
            ("2-clause BSD", Some("BSD-2-Clause")),
            ("BSD", None),
            ("CC0 1.0", Some("CC0-1.0")),
            ("cc0-1.0", Some("CC0-1.0")),
            ("CC BY 4.0: with a list of sources", Some("CC-BY-4.0")),
            ("cc-by-3.0", Some("CC-BY-3.0")),
            ("CC BY 2.0 FR", None),
            ("CC BY", None),
            ("Creative Commons Attribution 4.0 International", Some("CC-BY-4.0")),
            ("public domain", None),
            ("MIT OR Apache-2.0: as the code", Some("MIT OR Apache-2.0")),
            ("MIT or GPL-3.0", None),
            ("MIT OR CC-BY-SA-4.0", Some("MIT OR CC-BY-SA-4.0")),
            ("(MIT OR Apache-2.0) AND CC-BY-4.0", Some("(MIT OR Apache-2.0) AND CC-BY-4.0")),
            ("MIT OR Apache-2.0 AND CC-BY-SA-4.0", Some("MIT OR Apache-2.0 AND CC-BY-SA-4.0")),
            ("Apache-2.0 WITH LLVM-exception", Some("Apache-2.0 WITH LLVM-exception")),
            ("MIT\nand a second line about something else", Some("MIT")),
        ] {
            let terms = Terms::new(text);
            assert!(terms.is_permissive(), "{text}");
            assert_eq!(terms.spdx().as_deref(), spdx, "{text}");
        }
    }

    #[test]
    fn share_alike_copyleft_noncommercial_and_unknown_ones_are_not() {
        for (text, spdx) in [
            ("CC BY-SA 4.0: made from an encyclopedia", Some("CC-BY-SA-4.0")),
            ("cc-by-nc-sa-3.0", Some("CC-BY-NC-SA-3.0")),
            ("CC BY-NC 4.0", Some("CC-BY-NC-4.0")),
            ("CC BY-ND 4.0", Some("CC-BY-ND-4.0")),
            ("Creative Commons Attribution-ShareAlike 4.0", Some("CC-BY-SA-4.0")),
            ("MIT AND CC-BY-SA-4.0", Some("MIT AND CC-BY-SA-4.0")),
            ("(MIT OR Apache-2.0) AND CC-BY-SA-4.0", Some("(MIT OR Apache-2.0) AND CC-BY-SA-4.0")),
            ("CC-BY-SA-4.0 OR MIT AND GPL-3.0", None),
            ("GPL-3.0", None),
            ("Ask the author.", None),
            ("not MIT", None),
            ("MIT for members", None),
            ("CC BY 4.0 except news", None),
            ("", None),
            (": MIT", None),
            ("MIT OR", None),
            ("MIT (", None),
            ("(MIT", None),
            ("MIT)", None),
            ("AND", None),
        ] {
            let terms = Terms::new(text);
            assert!(!terms.is_permissive(), "{text}");
            assert_eq!(terms.spdx().as_deref(), spdx, "{text}");
        }
    }

    #[test]
    fn joined_terms_are_as_strict_as_the_stricter_ones() {
        let join = |first: &str, second: &str| Terms::new(first).and(Terms::new(second));
        for (first, second, license, is_permissive) in [
            ("MIT: a", "CC BY-SA 4.0: b", "MIT AND CC BY-SA 4.0", false),
            ("CC BY-SA 4.0: b", "MIT", "CC BY-SA 4.0 AND MIT", false),
            ("MIT OR Apache-2.0: a", "CC BY-SA 4.0: b", "(MIT OR Apache-2.0) AND CC BY-SA 4.0", false),
            ("MIT OR GPL-3.0", "CC BY 4.0", "(MIT OR GPL-3.0) AND CC BY 4.0", true),
            ("MIT: a", "CC BY 4.0: b", "MIT AND CC BY 4.0", true),
            ("MIT: a", "Ask the author.", "MIT AND Ask the author.", false),
        ] {
            let both = join(first, second);
            let terms = Terms::new(&both);
            assert_eq!((terms.license(), terms.is_permissive()), (license, is_permissive), "{both}");
            // Neither is added a second time.
            for again in [first, second, &both] {
                assert_eq!(join(&both, again), both);
                assert_eq!(join(again, &both), both);
            }
        }
        assert_eq!(
            (join("MIT", "MIT").as_str(), join("", "MIT").as_str(), join("MIT", " ").as_str()),
            ("MIT", "MIT", "MIT")
        );
        // A part of a name is not the same terms.
        assert_eq!(Terms::new(&join("MIT OR Apache-2.0", "MIT")).license(), "(MIT OR Apache-2.0) AND MIT");
    }

    #[test]
    fn long_and_deeply_nested_texts_are_unknown() {
        assert!(!Terms::new(&"(".repeat(1 << 20)).is_permissive());
        assert!(!Terms::new(&format!("{}MIT{}", "(".repeat(200), ")".repeat(200))).is_permissive());
        assert!(Terms::new(&format!("{}MIT{}", "(".repeat(100), ")".repeat(100))).is_permissive());
        assert_eq!(Terms::new(" MIT : odd").license(), "MIT");
    }
}
