//! Words from another tokenizer: finds the longest form in the vocabulary.
//!
//! Adjacent tokens without white space between them, like `do` and `n't` or `C`, `+` and `+`, are looked up together
//! first, and then fewer of them. So `don't` is found if it has a row, and otherwise `do` and `n't`. Each form is
//! looked up unchanged, and then in lower case if the tokenizer lower-cases. If words of the vocabulary contain spaces,
//! tokens separated by one space are looked up together too.

use super::Vocabulary;
use senv_base::TokenId;
use senv_text::{Normalization, Tokenizer, lowercase_into};

/// The maximum number of tokens that are looked up together.
const MOST: usize = 8;

/// The positions of adjacent tokens that are not looked up yet.
#[derive(Default)]
struct Touching {
    spans: [(usize, usize); MOST],
    n: usize,
}

impl Touching {
    /// Whether a token that starts at `start` is adjacent to these.
    fn touches(&self, text: &str, start: usize, over_blanks: bool) -> bool {
        let end = self.spans[self.n - 1].1;
        end == start || (over_blanks && end + 1 == start && text.as_bytes()[end] == b' ')
    }

    fn push(&mut self, start: usize, end: usize) {
        self.spans[self.n] = (start, end);
        self.n += 1;
    }

    fn drop_first(&mut self, n: usize) {
        self.spans.copy_within(n..self.n, 0);
        self.n -= n;
    }
}

impl Vocabulary {
    /// [`Vocabulary::known_tokens_or`] for a tokenizer that prefers the longest form.
    pub(super) fn longest_known(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        scratch: &mut String,
        out: &mut Vec<TokenId>,
        unknown: &mut impl FnMut(&str, &mut Vec<TokenId>),
    ) -> usize {
        let lowercase = tokenizer.is_lowercase();
        let mut touching = Touching::default();
        let mut n = 0;
        let mut first = |text: &str, touching: &mut Touching| {
            let (start, _) = touching.spans[0];
            n += 1;
            for k in (1..=touching.n).rev() {
                if let Some(id) = self.form(&text[start..touching.spans[k - 1].1], lowercase, scratch) {
                    out.push(id);
                    return touching.drop_first(k);
                }
            }
            let token = &text[start..touching.spans[0].1];
            unknown(if lowercase { lowercase_into(token, scratch) } else { token }, out);
            touching.drop_first(1);
        };
        // Forms are lower-cased one by one, so capitals can be looked up first; then no scratch is needed here.
        let mut plain = String::new();
        let text = tokenizer.normalized(text, &mut plain);
        let as_it_stands = tokenizer.clone().lowercase(false).normalize(Normalization::None);
        as_it_stands.for_each_within(text, &mut String::new(), |text, start, end| {
            while touching.n == MOST || (touching.n > 0 && !touching.touches(text, start, self.has_phrases)) {
                first(text, &mut touching);
            }
            touching.push(start, end);
        });
        while touching.n > 0 {
            first(text, &mut touching);
        }
        n
    }

    /// The id of a form, unchanged or, if `lowercase`, in lower case.
    fn form(&self, form: &str, lowercase: bool, scratch: &mut String) -> Option<TokenId> {
        let id = self.id(form);
        if id.is_some() || !lowercase || !form.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
            return id;
        }
        self.id(lowercase_into(form, scratch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], tokenizer: &Tokenizer, text: &str) -> (String, usize) {
        let vocabulary = Vocabulary::from_counts(words.iter().map(|word| (word, 1)), 0).unwrap();
        let (mut seen, mut unknown_at, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let n = vocabulary.known_tokens_or(tokenizer, text, &mut String::new(), &mut ids, |word, ids| {
            unknown_at.push((ids.len(), format!("?{word}")));
        });
        for (i, id) in ids.iter().enumerate() {
            seen.extend(unknown_at.iter().filter(|(at, _)| *at == i).map(|(_, word)| word.clone()));
            seen.push(vocabulary.token(*id).to_owned());
        }
        seen.extend(unknown_at.iter().filter(|(at, _)| *at == ids.len()).map(|(_, word)| word.clone()));
        (seen.join(" "), n)
    }

    #[test]
    fn the_longest_form_is_found_and_else_its_parts() {
        let tokenizer = Tokenizer::words().longest_first(true);
        let words = ["I", "don't", "like", "it", "C++", "C", "do", "n't", "well-known", "(", "3"];
        let of = |text| found(&words, &tokenizer, text);
        assert_eq!(of("I don't like it"), ("I don't like it".into(), 4));
        assert_eq!(of("(don't, it"), ("( don't ?, it".into(), 4));
        assert_eq!(of("C++, C!"), ("C++ ?, C ?!".into(), 4));
        assert_eq!(of("doesn't"), ("?does n't".into(), 2));
        assert_eq!(of("It Do"), ("?It ?Do".into(), 2), "capitals count without lower-casing");
        assert_eq!(of(""), (String::new(), 0));
        // Without it, only the parts are looked up.
        assert_eq!(found(&words, &Tokenizer::words(), "I don't"), ("I do n't".into(), 3));
    }

    #[test]
    fn the_form_as_it_stands_is_found_before_that_in_lower_case() {
        let tokenizer = Tokenizer::words().lowercase(true).longest_first(true);
        let words = ["the", "cat", "US", "us", "UNK", "été", "don't"];
        let of = |text| found(&words, &tokenizer, text);
        assert_eq!(of("The CAT Don't"), ("the cat don't".into(), 3));
        assert_eq!(of("US us Us"), ("US us us".into(), 3));
        assert_eq!(of("Été UNK Ishmael"), ("été UNK ?ishmael".into(), 3));
    }

    #[test]
    fn phrases_are_found_across_blanks() {
        let tokenizer = Tokenizer::words().lowercase(true).longest_first(true);
        let words = ["my name", "my", "new york city", "is", "don't know"];
        let of = |text| found(&words, &tokenizer, text);
        assert_eq!(of("My name is New York City"), ("my name is new york city".into(), 3));
        assert_eq!(of("my  name, I don't know"), ("my ?name ?, ?i don't know".into(), 5));
    }

    #[test]
    fn words_of_scripts_without_spaces_are_found_by_their_characters() {
        let tokenizer = Tokenizer::unicode().longest_first(true);
        let words = ["北京", "我", "爱", "中华人民共和国", "大学", "北京大学"];
        assert_eq!(found(&words, &tokenizer, "我爱北京大学，我爱北京").0, "我 爱 北京大学 ?， 我 爱 北京");
        // Runs that are longer than the maximum looked up together.
        assert_eq!(
            found(&words, &tokenizer, "我爱我爱我爱中华人民共和国北京").0,
            "我 爱 我 爱 我 爱 中华人民共和国 北京"
        );
    }
}
