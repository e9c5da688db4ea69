//! Reads parsed sentences in Penn Treebank brackets.
//!
//! ```text
//! tree := "(" label? (tree+ | word) ")"        (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))
//! ```
//!
//! A line can contain one tree, several trees, or part of a tree. Labels are read but not kept; only that of empty
//! elements matters. Trees are read one by one without recursion, so their depth does not matter.

use std::path::{Path, PathBuf};

use senv_core::{TextOptions, TextReader};

use crate::{Error, Result, lines::of_pairs};

/// The label of elements without a word, such as traces.
const EMPTY_ELEMENT: &str = "-NONE-";

/// Maximum depth of brackets and number of words in a tree: anything beyond is not a sentence.
const MAX_DEPTH: usize = 10_000;
const MAX_WORDS: usize = 1_000_000;

/// The treebank's names for brackets.
const BRACKETS: [(&str, &str); 6] =
    [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"), ("-RCB-", "}")];

/// A sentence with its constituents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Its words. The treebank's names of brackets (`-LRB-`) are converted to brackets, and its `\/` and `\*` to `/`
    /// and `*`.
    pub words: Vec<String>,
    /// The spans of its nodes, inner ones first: the first word and the one after the last, counted from 0. A node with
    /// a single child has the span of the child; a node with only empty elements has an empty span.
    pub spans: Vec<(u32, u32)>,
}

/// A reader of the trees of files, one after another.
///
/// ```
/// use senv_data::TreeReader;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("trees.txt");
/// std::fs::write(&path, "(S (NP (DT the) (NN cat))\n   (VP (VBZ sleeps)))\n")?;
/// let mut reader = TreeReader::open(&[path], &Default::default())?;
/// let tree = reader.next_tree()?.ok_or("a tree")?;
/// assert_eq!(tree.words, ["the", "cat", "sleeps"]);
/// assert_eq!(tree.spans, [(0, 1), (1, 2), (0, 2), (2, 3), (2, 3), (0, 3)]);
/// assert_eq!(reader.next_tree()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TreeReader {
    lines: TextReader,
    /// The last line read, and the position parsed so far: in bytes, and in characters.
    text: String,
    at: usize,
    column: usize,
    path: PathBuf,
    line: u64,
}

/// A node that is not closed yet.
struct Open {
    line: u64,
    column: usize,
    first: u32,
    /// Its content so far.
    holds: Holds,
    is_empty_element: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Label,
    Word,
    Trees,
}

/// A token of a line.
enum Piece {
    Open,
    Close,
    Text(String),
}

impl TreeReader {
    /// Opens plain, gzip or Zstandard files; `-` is standard input. Of the options, only the line limit and the
    /// treatment of invalid UTF-8 apply.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn open(paths: &[impl AsRef<Path>], options: &TextOptions) -> Result<Self> {
        let lines = TextReader::open(paths, &options.of_lines())?;
        Ok(Self { lines, text: String::new(), at: 0, column: 1, path: PathBuf::new(), line: 0 })
    }

    /// Returns the next tree; `None` after the last.
    ///
    /// # Errors
    /// * [`Error::BadTree`], with line and column, if brackets do not match, text is outside brackets, a node has
    ///   neither word nor tree, or a node has two words.
    /// * [`Error::InvalidUtf8`] and [`Error::LineTooLong`].
    /// * [`Error::Core`] if the file cannot be read.
    pub fn next_tree(&mut self) -> Result<Option<Tree>> {
        let mut tree = Tree::default();
        let mut open: Vec<Open> = Vec::new();
        loop {
            let Some((piece, line, column)) = self.next_piece(open.first())? else { return Ok(None) };
            if open.len() > MAX_DEPTH || tree.words.len() > MAX_WORDS {
                return Err(self.bad(line, column, "the tree is too long; a bracket may be missing"));
            }
            let first = tree.words.len() as u32;
            match piece {
                Piece::Open => {
                    if let Some(outer) = open.last_mut() {
                        if outer.holds == Holds::Word {
                            return Err(self.bad(line, column, "a subtree next to a word"));
                        }
                        outer.holds = Holds::Trees;
                    }
                    open.push(Open { line, column, first, holds: Holds::Nothing, is_empty_element: false });
                }
                Piece::Close => {
                    let Some(node) = open.pop() else {
                        return Err(self.bad(line, column, "unmatched closing bracket"));
                    };
                    match node.holds {
                        Holds::Nothing => {
                            return Err(self.bad(node.line, node.column, "empty node"));
                        }
                        Holds::Label => return Err(self.bad(node.line, node.column, "label without a word")),
                        Holds::Word | Holds::Trees => tree.spans.push((node.first, first)),
                    }
                    if open.is_empty() {
                        return Ok(Some(tree));
                    }
                }
                Piece::Text(text) => {
                    let Some(node) = open.last_mut() else {
                        return Err(self.bad(line, column, "text outside the brackets"));
                    };
                    match node.holds {
                        Holds::Nothing => {
                            (node.holds, node.is_empty_element) = (Holds::Label, text == EMPTY_ELEMENT);
                        }
                        Holds::Label => {
                            node.holds = Holds::Word;
                            if !node.is_empty_element {
                                tree.words.push(plain(&text));
                            }
                        }
                        Holds::Word => return Err(self.bad(line, column, "second word in a node")),
                        Holds::Trees => return Err(self.bad(line, column, "a word next to a subtree")),
                    }
                }
            }
        }
    }

    /// The next token, with its line and column; `None` at the end of the last file. A tree must end in its file: it is
    /// an error if `outer`, the node of the whole tree, is still open there.
    fn next_piece(&mut self, outer: Option<&Open>) -> Result<Option<(Piece, u64, usize)>> {
        let unfinished = |reader: &Self, outer: &Open| {
            reader.bad(outer.line, outer.column, "the tree that starts here is not closed: a bracket is missing")
        };
        loop {
            let text = self.text[self.at..].trim_start_matches(|c: char| c.is_ascii_whitespace());
            self.column += self.text.len() - self.at - text.len();
            self.at = self.text.len() - text.len();
            let Some(&byte) = text.as_bytes().first() else {
                let next = self.lines.next_line().map_err(of_pairs)?;
                let is_same_file = next.is_some_and(|line| line.path == self.path && line.number > self.line);
                if let (Some(outer), false) = (outer, is_same_file) {
                    return Err(unfinished(self, outer));
                }
                let Some(line) = next else { return Ok(None) };
                line.text.clone_into(&mut self.text);
                line.path.clone_into(&mut self.path);
                (self.at, self.column, self.line) = (0, 1, line.number);
                continue;
            };
            let n = match byte {
                b'(' | b')' => 1,
                _ => text.find(|c: char| c.is_ascii_whitespace() || c == '(' || c == ')').unwrap_or(text.len()),
            };
            let piece = match byte {
                b'(' => Piece::Open,
                b')' => Piece::Close,
                _ => Piece::Text(text[..n].to_owned()),
            };
            let column = self.column;
            self.column += text[..n].chars().count();
            self.at += n;
            return Ok(Some((piece, self.line, column)));
        }
    }

    fn bad(&self, line: u64, column: usize, reason: &'static str) -> Error {
        Error::BadTree { path: self.path.clone(), line, column, reason }
    }
}

/// Converts a word to its original text.
fn plain(word: &str) -> String {
    match BRACKETS.iter().find(|(name, _)| *name == word) {
        Some((_, bracket)) => (*bracket).to_owned(),
        None => word.replace("\\/", "/").replace("\\*", "*"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Tree>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        all(&[file.path()])
    }

    fn all(paths: &[&Path]) -> Result<Vec<Tree>> {
        let mut reader = TreeReader::open(paths, &TextOptions::default())?;
        std::iter::from_fn(|| reader.next_tree().transpose()).collect()
    }

    fn words(text: &str) -> Vec<String> {
        read(text).unwrap().into_iter().map(|tree| tree.words.join(" ")).collect()
    }

    #[test]
    fn trees_stand_on_a_line_beside_others_and_on_several_lines() {
        let text = "(S (A a) (B b)) (S (C c))\n\n( (S\n  (D d)\r\n (E e) ) )(F f)";
        assert_eq!(words(text), ["a b", "c", "d e", "f"]);
        let spans: Vec<_> = read(text).unwrap().into_iter().map(|tree| tree.spans).collect();
        assert_eq!(spans[0], [(0, 1), (1, 2), (0, 2)]);
        assert_eq!((&spans[1][..], &spans[3][..]), (&[(0, 1), (0, 1)][..], &[(0, 1)][..]), "nodes with a single child");
    }

    #[test]
    fn empty_elements_have_no_word_and_names_of_brackets_are_brackets() {
        let trees = read("(S (NP (-NONE- *T*-1)) (X -LRB-) (Y 1\\/2) (Z -RRB-))").unwrap();
        assert_eq!(trees[0].words, ["(", "1/2", ")"]);
        assert_eq!(trees[0].spans, [(0, 0), (0, 0), (0, 1), (1, 2), (2, 3), (0, 3)]);
    }

    #[test]
    fn compressed_files_are_read_and_no_file_runs_into_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, packed] = ["a", "b", "c.zst"].map(|name| folder.path().join(name));
        std::fs::write(&a, "(A a)\n").unwrap();
        std::fs::write(&b, "(B b)\n(B\n").unwrap();
        // "(A a)" in a Zstandard frame of one raw block.
        std::fs::write(&packed, b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00(A a)").unwrap();
        assert_eq!(all(&[&a, &packed]).unwrap().len(), 2);
        let error = all(&[&b, &a]).unwrap_err();
        assert!(matches!(&error, Error::BadTree { path, line: 2, column: 1, .. } if *path == b), "{error}");
        // The same file twice also starts again.
        assert!(matches!(all(&[&b, &b]), Err(Error::BadTree { line: 2, column: 1, .. })));
        assert!(all(&[&folder.path().join("none")]).unwrap_err().to_string().contains("none"));
    }

    #[test]
    fn what_is_no_tree_is_named_by_line_and_column() {
        let cases = [
            ("(S (A a)\n", 1, 1, "is not closed"),
            ("(A a)\n(A a))\n", 2, 6, "unmatched closing bracket"),
            ("(A a)\n  word (A a)", 2, 3, "outside the brackets"),
            ("(S (A a) ())", 1, 10, "empty node"),
            ("()", 1, 1, "empty node"),
            ("(S\n (NN)\n)", 2, 2, "label without a word"),
            ("(NN a b)", 1, 7, "second word"),
            ("(NP a (NN b))", 1, 7, "a subtree next to a word"),
            ("(NP (NN b) a)", 1, 12, "a word next to a subtree"),
            ("(é ü", 1, 1, "is not closed"),
            ("(é ü))", 1, 6, "unmatched closing bracket"),
        ];
        for (text, line, column, what) in cases {
            let error = read(text).unwrap_err();
            assert!(error.to_string().contains(&format!(":{line}:{column}: ")), "{text:?}: {error}");
            assert!(error.to_string().contains(what), "{text:?}: {error}");
        }
        assert!(read("\n \n").unwrap().is_empty() && read("").unwrap().is_empty());
    }

    #[test]
    fn depth_is_bounded_and_needs_no_stack() {
        let deep = |n: usize| format!("{}(A a){}", "(".repeat(n), ")".repeat(n));
        assert_eq!(read(&deep(MAX_DEPTH - 1)).unwrap()[0].words, ["a"]);
        assert!(matches!(read(&deep(MAX_DEPTH + 1)), Err(Error::BadTree { line: 1, .. })));
    }
}
