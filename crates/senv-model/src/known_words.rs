//! Measures how many words of a text a model knows, and whether that is enough.
//!
//! A model with vectors for unknown words (`unknown-word`) encodes any text, and its vectors do not show when it knows
//! none of the words. [`Coverage`](crate::Coverage) counts all tokens of a sentence, including punctuation and digits,
//! which are the same in many languages. [`KnownWords`] counts only words: tokens with a letter. The thresholds were
//! measured (`docs/experiments/known-words.md`).

use std::{fmt, ops::AddAssign};

use crate::{Scratch, SentenceEncoder, Vocabulary};
use senv_base::{Remedy, TokenId};
use senv_text::{TextMarks, Tokenizer};

/// The number of known words in some sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KnownWords {
    /// Sentences with at least one word.
    pub sentences: u64,
    /// The words of these sentences: tokens with a letter.
    pub words: u64,
    /// The words in the vocabulary, their forms, and compounds of them if the model uses forms and compounds.
    pub known: u64,
    /// Other words that have a vector ([`Coverage::hashed`](crate::Coverage::hashed)).
    pub hashed: u64,
    /// Marks of the language, and of code.
    pub marks: TextMarks,
}

/// What a text with few words that an English model knows is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// Text in another language, or a list of names.
    OtherLanguage,
    /// Program code.
    Code,
    /// English about a subject with words of its own.
    Domain,
}

impl KnownWords {
    /// The number of sentences at the start of a text that suffices to measure the share.
    pub const SAMPLE: usize = 1_000;

    /// The share of known words below which a text differs from the model in language or kind. A model with 33,000
    /// words of news knows 0.83 of other news and 0.73 to 0.83 of other English. Models trained on English know 0.00 to
    /// 0.59 of other languages. `senv_english::MIN_KNOWN_SHARE` is higher because that model has more words.
    pub const MIN_SHARE: f64 = 0.7;

    /// The share of known words below which text without English function words is not English. The English model knows
    /// 0 to 0.59 of the words of other languages.
    pub const OTHER_LANGUAGE: f64 = 0.6;

    /// How many standard deviations below the threshold a small sample may be by chance. Names cluster, so 2 are not
    /// enough.
    const DEVIATIONS: f64 = 3.0;

    /// Counts the words of sentences that an encoder with this tokenizer and vocabulary knows.
    ///
    /// ```
    /// use senv_core::{KnownWords, StaticEncoder, Table, Tokenizer, Vocabulary, static_model::{CompressedRows, RowEncoding}};
    /// let vocabulary = Vocabulary::from_counts([("a", 2), ("cat", 1)], 3)?;
    /// let rows = CompressedRows::compress(&Table::zeros(2, 2)?, RowEncoding::Int8)?;
    /// let encoder = StaticEncoder::new(Tokenizer::words(), vocabulary, rows, Some(1.0))?;
    /// let known = encoder.known_words(["a cat, 2 cats", "un gato"]);
    /// assert_eq!((known.sentences, known.words, known.known, known.hashed), (2, 5, 3, 2));
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    pub fn count<E: SentenceEncoder + ?Sized>(
        encoder: &E,
        tokenizer: &Tokenizer,
        vocabulary: &Vocabulary,
        sentences: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let (mut scratch, mut vector, mut text) = (Scratch::default(), vec![0.0; encoder.dim()], String::new());
        let (mut all, mut tokens) = (Self::default(), Vec::new());
        let is_word = |token: &str| token.chars().any(char::is_alphabetic);
        for sentence in sentences {
            let before = all.words;
            let unknown = |token: &str, _: &mut Vec<TokenId>| {
                if is_word(token) {
                    all.words += 1;
                    // Only the encoder can tell whether it is a form or a compound of known words.
                    let coverage = encoder.encode_into(token, &mut scratch, &mut vector);
                    let is_known = coverage.tokens > 0 && coverage.known == coverage.tokens;
                    all.known += u64::from(is_known);
                    all.hashed += u64::from(!is_known && coverage.hashed > 0);
                }
            };
            all.marks.add(sentence.as_ref());
            vocabulary.known_tokens_or(tokenizer, sentence.as_ref(), &mut text, &mut tokens, unknown);
            let known = tokens.iter().filter(|&&id| is_word(vocabulary.token(id))).count() as u64;
            all.words += known;
            all.known += known;
            all.sentences += u64::from(all.words > before);
        }
        all
    }

    /// Returns the counts since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            sentences: self.sentences.saturating_sub(before.sentences),
            words: self.words.saturating_sub(before.words),
            known: self.known.saturating_sub(before.known),
            hashed: self.hashed.saturating_sub(before.hashed),
            marks: self.marks.since(before.marks),
        }
    }

    /// The share of words that are known, in `[0, 1]`; `None` if there are no words.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.words > 0).then(|| self.known as f64 / self.words as f64)
    }

    /// Whether there are words and none of them is known.
    #[must_use]
    pub const fn is_unknown_text(self) -> bool {
        self.words > 0 && self.known == 0
    }

    /// Returns a warning if the share is below `least` by more than the chance of a small sample allows; `None`
    /// otherwise.
    ///
    /// ```
    /// use senv_core::KnownWords;
    /// let known = |words, known| KnownWords { sentences: 2, words, known, ..KnownWords::default() };
    /// assert!(known(1000, 600).few(0.7).unwrap().to_string().starts_with("the model knows 60 % of the words"));
    /// assert_eq!((known(1000, 700).few(0.7), known(5, 3).few(0.7)), (None, None));
    /// assert!(known(1, 0).few(0.7).is_some());
    /// ```
    #[must_use]
    pub fn few(self, least: f64) -> Option<FewKnownWords> {
        let (words, known) = (self.words as f64, self.known as f64);
        let by_chance = Self::DEVIATIONS * (least * (1.0 - least) * words).sqrt();
        (self.is_unknown_text() || known < least * words - by_chance).then_some(FewKnownWords { known: self, least })
    }
}

impl AddAssign for KnownWords {
    fn add_assign(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.words += other.words;
        self.known += other.known;
        self.hashed += other.hashed;
        self.marks += other.marks;
    }
}

/// A text with few words that the model knows. `Display` suggests remedies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FewKnownWords {
    /// The counts.
    pub known: KnownWords,
    /// The minimum share of known words for a text that fits the model, in `[0, 1]`.
    pub least: f64,
}

impl FewKnownWords {
    /// What the text is, for a model of English: code by its signs, another language by its function words, or by few
    /// known words without English ones. Everything else is English about a subject of its own.
    ///
    /// ```
    /// use senv_core::{KnownWords, TextKind, text::TextMarks};
    /// let kind = |text: &str, known: u64| {
    ///     let marks = TextMarks::of(&[text]);
    ///     let counts = KnownWords { sentences: 1, words: 1000, known, marks, ..KnownWords::default() };
    ///     counts.few(0.87).map(|few| few.kind())
    /// };
    /// assert_eq!(kind("Der Zug kam zu spät und war voll.", 350), Some(TextKind::OtherLanguage));
    /// assert_eq!(kind("let n_rows = rows.len();", 700), Some(TextKind::Code));
    /// assert_eq!(kind("The stent was placed in the artery.", 780), Some(TextKind::Domain));
    /// assert_eq!(kind("The train was late.", 990), None);
    /// ```
    #[must_use]
    pub fn kind(&self) -> TextKind {
        let marks = self.known.marks;
        let is_low = self.known.share().is_none_or(|share| share < KnownWords::OTHER_LANGUAGE);
        if marks.is_code() {
            TextKind::Code
        } else if !marks.looks_english() || is_low && !marks.is_english() {
            TextKind::OtherLanguage
        } else {
            TextKind::Domain
        }
    }

    /// The settings that help.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        &[Remedy::TrainOnText, Remedy::OtherModel]
    }
}

impl fmt::Display for FewKnownWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KnownWords { sentences, .. } = self.known;
        // Rounded down, so it never equals the minimum share.
        let percent = (100.0 * self.known.share().unwrap_or(1.0)).floor();
        write!(
            f,
            "the model knows {percent:.0} % of the words in {sentences} sentence{}; with less than {:.0} %, \
            similarities are unreliable; {}, or {}",
            if sentences == 1 { "" } else { "s" },
            100.0 * self.least,
            Remedy::TrainOnText,
            Remedy::OtherModel
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coverage;

    /// Hashes words that start with h, and knows forms of "cat".
    struct Encoder;

    impl SentenceEncoder for Encoder {
        fn dim(&self) -> usize {
            1
        }

        fn encode_sentence(&self, word: &str, _: &mut Scratch, _: &mut [f32]) -> Coverage {
            let hashed = usize::from(word.starts_with('h'));
            Coverage { hashed, ..Coverage::new(1, usize::from(word.starts_with("cat"))) }
        }
    }

    fn count(sentences: &[&str]) -> [u64; 4] {
        let vocabulary = Vocabulary::from_counts([("the", 2), ("cat", 1), (".", 1)], 4).unwrap();
        let known = KnownWords::count(&Encoder, &Tokenizer::words(), &vocabulary, sentences);
        [known.sentences, known.words, known.known, known.hashed]
    }

    #[test]
    fn words_have_letters_and_are_known_hashed_or_neither() {
        assert_eq!(count(&["the cats hop away .", "2 . ; 15", "", "猫が好き"]), [2, 5, 2, 1]);
        assert_eq!(count(&[]), [0; 4]);
        let marks = |n| TextMarks { tokens: 9 * n, english: n, others: 2 * n, code: 3 * n };
        let mut sum = KnownWords { sentences: 1, words: 4, known: 2, hashed: 1, marks: marks(1) };
        let other = KnownWords { sentences: 2, words: 6, known: 3, hashed: 2, marks: marks(2) };
        sum += other;
        assert_eq!(sum, KnownWords { sentences: 3, words: 10, known: 5, hashed: 3, marks: marks(3) });
        assert_eq!(sum.since(other), KnownWords { sentences: 1, words: 4, known: 2, hashed: 1, marks: marks(1) });
        assert_eq!((sum.share(), sum.is_unknown_text()), (Some(0.5), false));
        assert_eq!((KnownWords::default().share(), KnownWords::default().is_unknown_text()), (None, false));
    }

    #[test]
    fn a_small_sample_may_lie_below_the_least_share_by_chance() {
        let few = |words, known| KnownWords { sentences: 1, words, known, ..KnownWords::default() }.few(0.7).is_some();
        // 3 √(0.7 · 0.3 · n) is 4.3 of 10 words, 43.5 of 1,000.
        for (words, known, expected) in
            [(0, 0, false), (1, 0, true), (10, 2, true), (10, 3, false), (1000, 656, true), (1000, 657, false)]
        {
            assert_eq!(few(words, known), expected, "{known} of {words}");
        }
    }

    #[test]
    fn a_text_with_few_known_words_is_code_another_language_or_a_domain() {
        let kind = |known: u64, [english, others, code]: [u64; 3]| {
            let marks = TextMarks { tokens: 100, english, others, code };
            let counts = KnownWords { sentences: 9, words: 100, known, marks, ..KnownWords::default() };
            FewKnownWords { known: counts, least: 0.87 }.kind()
        };
        assert_eq!(kind(70, [20, 0, 12]), TextKind::Code);
        assert_eq!(kind(80, [20, 0, 11]), TextKind::Domain);
        assert_eq!(kind(80, [2, 3, 0]), TextKind::OtherLanguage);
        // Lists without function words: rare words, or none that is known.
        assert_eq!((kind(60, [0; 3]), kind(59, [0; 3])), (TextKind::Domain, TextKind::OtherLanguage));
        assert_eq!((kind(59, [4, 0, 0]), kind(59, [3, 0, 0])), (TextKind::Domain, TextKind::OtherLanguage));
        let none = FewKnownWords { known: KnownWords::default(), least: 0.87 };
        assert_eq!(none.kind(), TextKind::OtherLanguage);
    }

    #[test]
    fn the_warning_holds_its_remedies() {
        let few = KnownWords { sentences: 1, words: 1000, known: 699, ..KnownWords::default() }.few(0.8).unwrap();
        assert!(
            few.to_string().starts_with("the model knows 69 % of the words in 1 sentence; with less than 80 %"),
            "{few}"
        );
        for remedy in few.remedies() {
            assert!(few.to_string().contains(&remedy.to_string()), "{remedy}: {few}");
        }
    }
}
