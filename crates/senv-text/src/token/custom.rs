//! Custom tokenizers, supplied by a program.

use std::{
    any::Any,
    cell::Cell,
    fmt::{self, Debug},
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
};

use senv_base::{
    Result,
    registry::{Registered, Registry},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;

use super::{Rule, Tokenizer, lowercase_into};

/// A custom way to tokenize text: a segmenter for a language, the tokens of another program, stems.
/// [`Tokenizer::custom`] makes a [`Tokenizer`] from it, which can be used wherever one is accepted.
///
/// The same text must give the same tokens at any time and in any process, because the words of a sentence are looked
/// up among those of training. Threads call it at the same time. Tokens can be parts of the text or anything else;
/// empty tokens are dropped. `for_each` cannot report errors, so check everything that can fail in the constructor.
pub trait Tokenize: Any + Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Calls `token` with each token of `text`, in order.
    fn for_each(&self, text: &str, token: &mut dyn FnMut(&str));
}

static REGISTRY: Registry<dyn Tokenize> =
    Registry::new("tokenizer", &["automatic", "blank", "whitespace", "words", "unicode"]);

/// A registered tokenizer; files store its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Custom(&'static Registered<dyn Tokenize>);

impl Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self.0, f)
    }
}

impl Serialize for Custom {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Custom {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let unknown = || D::Error::custom(format_args!("this program has no tokenizer {name:?}"));
        REGISTRY.find(&name).map(Self).ok_or_else(unknown)
    }
}

thread_local! {
    /// The lower-cased text and the token ranges; their memory is reused from text to text.
    static BUFFERS: Cell<(String, Vec<(usize, usize)>)> = const { Cell::new((String::new(), Vec::new())) };
}

impl Custom {
    pub(super) const fn name(self) -> &'static str {
        self.0.name()
    }

    /// Calls `f` with each nonempty token.
    fn for_each(self, text: &str, f: &mut dyn FnMut(&str)) {
        if let Some(tokenize) = self.0.get() {
            tokenize.for_each(text, &mut |token| {
                if !token.is_empty() {
                    f(token);
                }
            });
        }
    }

    /// Like [`Tokenizer::for_each_within`]. The tokens, joined by spaces, are the text that contains them.
    #[inline(never)]
    pub(super) fn for_each_within<'t>(
        self,
        text: &str,
        lowercase: bool,
        scratch: &'t mut String,
        f: &mut dyn FnMut(&str, usize, usize),
    ) -> &'t str {
        let (mut lowered, mut spans) = BUFFERS.take();
        spans.clear();
        scratch.clear();
        let text = if lowercase { lowercase_into(text, &mut lowered) } else { text };
        self.for_each(text, &mut |token| {
            if !scratch.is_empty() {
                scratch.push(' ');
            }
            spans.push((scratch.len(), scratch.len() + token.len()));
            scratch.push_str(token);
        });
        for &(start, end) in &spans {
            f(scratch, start, end);
        }
        BUFFERS.set((lowered, spans));
        scratch
    }
}

impl Tokenizer {
    /// Creates a custom tokenizer. Models trained with it store its name and open in any program that has registered
    /// the name before. The name refers to `tokenize` as long as the program runs. A second call with a value of the
    /// same type changes nothing and returns the first tokenizer.
    ///
    /// [`Tokenizer::lowercase`] and [`Tokenizer::strip_hashtags`] work as for every rule: text is lower-cased before it
    /// is passed to `tokenize`, and `#` is removed from the tokens it returns.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use senv_core::{Tokenizer, text::Tokenize};
    ///
    /// /// Characters in pairs, for scripts without blanks.
    /// #[derive(Debug)]
    /// struct Pairs;
    ///
    /// impl Tokenize for Pairs {
    ///     fn for_each(&self, text: &str, token: &mut dyn FnMut(&str)) {
    ///         let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    ///         letters.chunks(2).for_each(|pair| token(&pair.iter().collect::<String>()));
    ///     }
    /// }
    ///
    /// let pairs = Tokenizer::custom("pairs", Arc::new(Pairs))?.lowercase(true);
    /// assert_eq!(pairs.tokens("Ab cdE"), ["ab", "cd", "e"]);
    /// assert_eq!(pairs.name(), "pairs");
    /// assert!(Tokenizer::custom("words", Arc::new(Pairs)).is_err(), "that is another tokenizer");
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadName`](senv_base::Error::BadName) unless the name has 1 to 64 ASCII letters, digits, hyphens,
    /// underscores and dots; [`Error::NameTaken`](senv_base::Error::NameTaken) for the name of another rule, or of a
    /// tokenizer of a different type.
    pub fn custom(name: &str, tokenize: Arc<dyn Tokenize>) -> Result<Self> {
        let of = (&*tokenize as &dyn Any).type_id();
        Ok(Self::of(Rule::Custom(Custom(REGISTRY.enter(name, of, tokenize)?))))
    }

    /// Returns the tokenizer with this name: `whitespace`, `words`, `unicode`, or one registered with
    /// [`Tokenizer::custom`]. It does not lower-case.
    ///
    /// ```
    /// use senv_core::Tokenizer;
    /// assert_eq!(Tokenizer::named("words"), Some(Tokenizer::words()));
    /// assert_eq!(Tokenizer::named("syllables"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let rule = match name {
            "whitespace" => Rule::Whitespace,
            "words" => Rule::Words,
            "unicode" => Rule::Unicode,
            name => Rule::Custom(Custom(REGISTRY.find(name)?)),
        };
        Some(Self::of(rule))
    }

    /// The name of a custom tokenizer that a model's JSON configuration refers to and this program does not have. The
    /// configuration cannot be read for that reason; see
    /// [`Error::MissingTokenizer`](senv_base::Error::MissingTokenizer).
    #[must_use]
    pub fn missing_in(configuration: &str) -> Option<String> {
        // Most configurations have none; these are not parsed twice.
        let names_one = configuration.contains("\"custom\"");
        names_one.then(|| missing(&serde_json::from_str(configuration).ok()?)).flatten()
    }
}

/// The first custom tokenizer, at any depth, whose name is not registered.
fn missing(value: &Value) -> Option<String> {
    match value {
        Value::Object(object) => {
            let name = match (object.get("rule"), object.get("lowercase")) {
                (Some(Value::Object(rule)), Some(_)) => rule.get("custom").and_then(Value::as_str),
                _ => None,
            };
            let name = name.filter(|name| REGISTRY.find(name).is_none()).map(str::to_owned);
            name.or_else(|| object.values().find_map(missing))
        }
        Value::Array(values) => values.iter().find_map(missing),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use senv_base::Error;

    use super::*;

    /// Words between spaces, each reversed, then again in capitals.
    #[derive(Debug)]
    struct Reversed;

    impl Tokenize for Reversed {
        fn for_each(&self, text: &str, token: &mut dyn FnMut(&str)) {
            for word in text.split(' ') {
                let reversed: String = word.chars().rev().collect();
                token(&reversed);
                token(&reversed.to_uppercase());
            }
        }
    }

    #[derive(Debug)]
    struct Other;

    impl Tokenize for Other {
        fn for_each(&self, _: &str, _: &mut dyn FnMut(&str)) {}
    }

    fn reversed() -> Tokenizer {
        Tokenizer::custom("reversed", Arc::new(Reversed)).unwrap()
    }

    fn within(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
        let (mut tokens, mut spans, mut scratch) = (Vec::new(), Vec::new(), "of before".to_owned());
        let whole = tokenizer.for_each_within(text, &mut scratch, |text, start, end| {
            tokens.push(text[start..end].to_owned());
            spans.push((start, end));
        });
        let of_whole: Vec<&str> = spans.iter().map(|&(start, end)| &whole[start..end]).collect();
        assert_eq!(of_whole, tokens);
        tokens
    }

    #[test]
    fn tokens_of_its_own_come_in_order_and_empty_ones_are_left_out() {
        for (tokenizer, text, tokens) in [
            (reversed(), "Ab  #cd", &["bA", "BA", "dc#", "DC#"][..]),
            (reversed().lowercase(true), "ÄB", &["bä", "BÄ"]),
            (reversed().strip_hashtags(true), "a#", &["a", "A"]),
            (reversed(), "", &[]),
        ] {
            assert_eq!(tokenizer.tokens(text), tokens, "{text:?}");
            assert_eq!(within(&tokenizer, text), tokens, "{text:?}");
        }
    }

    #[test]
    fn a_tokenizer_that_uses_another_one_keeps_both_buffers_apart() {
        #[derive(Debug)]
        struct Nested;
        impl Tokenize for Nested {
            fn for_each(&self, text: &str, token: &mut dyn FnMut(&str)) {
                within(&reversed().lowercase(true), text).iter().for_each(|inner| token(inner));
            }
        }
        let nested = Tokenizer::custom("nested", Arc::new(Nested)).unwrap().lowercase(true);
        assert_eq!(within(&nested, "aB c"), ["ba", "BA", "c", "C"]);
    }

    #[test]
    fn names_stand_for_one_type() {
        assert_eq!(reversed(), reversed());
        assert_ne!(reversed(), reversed().lowercase(true));
        assert_eq!((reversed().name(), Tokenizer::named("reversed")), ("reversed", Some(reversed())));
        let taken = Tokenizer::custom("reversed", Arc::new(Other)).unwrap_err();
        assert!(matches!(&taken, Error::NameTaken { what: "tokenizer", name } if name == "reversed"), "{taken}");
        for own in ["automatic", "blank", "whitespace", "words", "unicode"] {
            assert!(matches!(Tokenizer::custom(own, Arc::new(Other)), Err(Error::NameTaken { .. })), "{own}");
        }
        assert!(matches!(Tokenizer::custom("my own", Arc::new(Other)), Err(Error::BadName { .. })));
        assert!(reversed().pattern().is_none() && !reversed().is_automatic());
        assert_eq!(
            format!("{:?}", reversed()),
            format!("{:?}", Tokenizer::words()).replace("Words", "Custom(\"reversed\")")
        );
    }

    #[test]
    fn files_hold_the_name_and_those_of_the_rules_are_as_before() {
        let json = |tokenizer: &Tokenizer| serde_json::to_string(tokenizer).unwrap();
        assert_eq!(json(&reversed().lowercase(true)), r#"{"rule":{"custom":"reversed"},"lowercase":true}"#);
        assert_eq!(json(&Tokenizer::words()), r#"{"rule":"words","lowercase":false}"#);
        let again: Tokenizer = serde_json::from_str(&json(&reversed().lowercase(true))).unwrap();
        assert_eq!(again, reversed().lowercase(true));
        let unknown = r#"{"rule":{"custom":"never entered"},"lowercase":true}"#;
        let error = serde_json::from_str::<Tokenizer>(unknown).unwrap_err();
        assert!(error.to_string().contains("no tokenizer \"never entered\""), "{error}");
        let nested = format!(r#"{{"fit":{{"rule":{{"custom":"sign"}}}},"parts":[{unknown}]}}"#);
        assert_eq!(Tokenizer::missing_in(&nested).as_deref(), Some("never entered"));
        for known in ["", "{", r#"{"fit":{"rule":{"custom":"sign"}}}"#, &json(&reversed()), &json(&Tokenizer::words())]
        {
            assert_eq!(Tokenizer::missing_in(known), None, "{known}");
        }
    }
}
