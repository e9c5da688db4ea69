//! Parsed sentences as a corpus with constituents.

use std::path::{Path, PathBuf};

use senv_core::{Corpus, Error as CoreError, TextOptions, Tokenizer, Vocabulary, memory::check_memory};
use senv_data::{Error as DataError, Tree, TreeReader};
use senv_negative_sampling::Constituents;

use crate::error::Result;

/// Bytes per word in addition to its letters while trees are in memory: its string, and about two nodes.
const BESIDE_A_WORD: usize = 48;

/// Reads all trees. With `drop_punctuation`, words without a letter or a digit become empty.
pub(super) fn read(paths: &[impl AsRef<Path>], drop_punctuation: bool, options: &TextOptions) -> Result<Vec<Tree>> {
    let mut reader = TreeReader::open(paths, options)?;
    let (mut trees, mut bytes, mut checked) = (Vec::new(), 0_usize, 0);
    while let Some(mut tree) = reader.next_tree()? {
        if drop_punctuation {
            tree.words.iter_mut().filter(|word| !word.contains(char::is_alphanumeric)).for_each(String::clear);
        }
        let of_words: usize = tree.words.iter().map(|word| word.len() + BESIDE_A_WORD).sum();
        bytes = bytes.saturating_add(of_words + size_of::<Tree>());
        if bytes > checked {
            check_memory::<u8>(1, bytes)
                .map_err(|_| CoreError::OutOfMemory { what: "parsed sentences", bytes: bytes as u64 })?;
            checked = bytes.saturating_add(bytes / 8);
        }
        trees.push(tree);
    }
    if trees.iter().all(|tree| tree.words.iter().all(String::is_empty)) {
        let path = paths.first().map_or_else(PathBuf::new, |path| path.as_ref().to_owned());
        return Err(DataError::NoTrees { path }.into());
    }
    Ok(trees)
}

/// The constituents of the known words of each sentence. A word of several tokens is a constituent of them, unknown
/// words are left out, and a node left with one child is replaced by that child.
///
/// # Errors
/// If the corpus does not consist of the words of these trees.
pub(super) fn constituents(
    trees: &[Tree],
    tokenizer: &Tokenizer,
    vocabulary: &Vocabulary,
    corpus: &Corpus,
) -> Result<Constituents> {
    let mut all = Constituents::default();
    let (mut scratch, mut n_tokens) = (String::new(), 0);
    let (mut places, mut spans) = (Vec::new(), Vec::new());
    for tree in trees {
        // The number of known tokens before each word, and after the last word.
        let (mut known, mut is_sentence) = (0_u32, false);
        places.clear();
        places.push(0);
        for word in &tree.words {
            tokenizer.for_each(word, &mut scratch, |token| {
                is_sentence = true;
                known += u32::from(vocabulary.id(token).is_some());
            });
            places.push(known);
        }
        // The corpus does not count it as a sentence either.
        if !is_sentence {
            continue;
        }
        spans.clear();
        let mut next = 0;
        for &(start, end) in &tree.spans {
            let (start, end) = (places[start as usize], places[end as usize]);
            spans.extend((next..end).map(|token| (token, token + 1)));
            next = next.max(end);
            spans.push((start, end));
        }
        all.push(spans.drain(..));
        n_tokens += u64::from(known);
    }
    if (all.len() as u64, n_tokens) == (corpus.n_sentences(), corpus.n_tokens()) {
        return Ok(all);
    }
    let got = format!("{} sentences of {n_tokens} tokens", all.len());
    let name = "the tokens of the words of all trees";
    Err(CoreError::InvalidParameter { name, requirement: "those of their sentences", got }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::{CorpusOptions, NoObserver};

    fn parsed(text: &str, drop_punctuation: bool, min_count: u64) -> Result<(Vec<String>, Constituents)> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let trees = read(&[file.path()], drop_punctuation, &TextOptions::default())?;
        let lines: Vec<String> = trees.iter().map(|tree| tree.words.join(" ")).collect();
        let plain = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(plain.path(), lines.join("\n")).unwrap();
        let tokenizer = Tokenizer::words().lowercase(true);
        let options = CorpusOptions { min_count, tokenizer: tokenizer.clone(), ..CorpusOptions::default() };
        let (vocabulary, corpus) = Corpus::read(&[plain.path().to_owned()], &options, &NoObserver)?;
        Ok((lines, constituents(&trees, &tokenizer, &vocabulary, &corpus)?))
    }

    fn spans(trees: &Constituents, number: u64) -> Vec<(u32, u32, u32)> {
        trees.of(number).iter().map(|c| (c.start, c.end, c.height)).collect()
    }

    const TEXT: &str =
        "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))\n(S (. .))\n(S (NP (DT the) (JJ odd) (NN cat)) (. .))";

    #[test]
    fn constituents_are_those_of_the_known_words() {
        let (lines, trees) = parsed(TEXT, false, 1).unwrap();
        assert_eq!(lines, ["The cat sleeps .", ".", "the odd cat ."]);
        let first = [(0, 1, 0), (1, 2, 0), (0, 2, 1), (2, 3, 0), (3, 4, 0), (0, 4, 2)];
        assert_eq!(spans(&trees, 0), first);
        // "sleeps" and "odd" occur once.
        let (_, trees) = parsed(TEXT, false, 2).unwrap();
        assert_eq!(spans(&trees, 0), [(0, 1, 0), (1, 2, 0), (0, 2, 1), (2, 3, 0), (0, 3, 2)]);
        assert_eq!(spans(&trees, 2), [(0, 1, 0), (1, 2, 0), (0, 2, 1), (2, 3, 0), (0, 3, 2)]);
    }

    #[test]
    fn punctuation_is_dropped_if_asked_and_so_is_a_sentence_of_nothing_else() {
        let (lines, trees) = parsed(TEXT, true, 1).unwrap();
        assert_eq!((lines[1].as_str(), trees.len()), ("", 2));
        assert_eq!(spans(&trees, 0), [(0, 1, 0), (1, 2, 0), (0, 2, 1), (2, 3, 0), (0, 3, 2)]);
        assert_eq!(spans(&trees, 1), [(0, 1, 0), (1, 2, 0), (2, 3, 0), (0, 3, 1)]);
    }

    #[test]
    fn a_word_of_several_tokens_is_a_constituent_of_them() {
        let tokenizer = Tokenizer::words();
        let mut n = 0;
        tokenizer.for_each("rock+roll", &mut String::new(), |_| n += 1);
        assert_eq!(n, 3, "what the tokenizer makes of it");
        let (_, trees) = parsed("(NP (DT the) (NN rock+roll))", false, 1).unwrap();
        assert_eq!(spans(&trees, 0), [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0), (1, 4, 1), (0, 4, 2)]);
    }

    #[test]
    fn files_without_a_word_and_what_is_no_tree_are_errors() {
        for text in ["", "\n\n", "(S (-NONE- *))"] {
            let error = parsed(text, false, 1).unwrap_err().to_string();
            assert!(error.contains("contains no tree with a word"), "{text:?}: {error}");
        }
        assert!(parsed("(S (. .))", true, 1).is_err(), "all of it is punctuation");
        let error = parsed("(S (NN rain)\n", false, 1).unwrap_err().to_string();
        assert!(error.contains(":1:1: "), "{error}");
    }
}
