//! Search for the longest of many words that starts a text.

/// A node without a word.
const NONE: u32 = u32::MAX;

/// A tree of bytes: each word is a path from the root.
#[derive(Debug, Clone)]
pub(super) struct Trie {
    /// The nodes, each soon after its parent, so a path is close together in memory.
    nodes: Vec<Node>,
    /// The bytes and target nodes of edges, those of a node in sequence.
    bytes: Vec<u8>,
    targets: Vec<u32>,
    /// The children of the root by byte, 0 for none.
    first: Box<[u32; 256]>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    edges: u32,
    n_edges: u32,
    /// The number of the word that ends here.
    word: u32,
}

impl Trie {
    /// Builds a tree of words with their numbers. Leaves out empty words and duplicates.
    pub(super) fn new<'a>(words: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let mut sorted: Vec<(&[u8], u32)> = words.into_iter().map(|(word, id)| (word.as_bytes(), id)).collect();
        sorted.sort_unstable();
        let new = Node { edges: 0, n_edges: 0, word: NONE };
        let (nodes, bytes, targets, first) = (vec![new], Vec::new(), Vec::new(), Box::new([0; 256]));
        let mut trie = Self { nodes, bytes, targets, first };
        // Nodes whose edges are to be found: the range of words that start with the node's prefix, and the length of
        // that prefix.
        let mut open = vec![(0, 0, sorted.len(), 0)];
        while let Some((node, mut start, end, depth)) = open.pop() {
            trie.nodes[node].edges = trie.bytes.len() as u32;
            // Words that end here come first.
            while start < end && sorted[start].0.len() == depth {
                trie.nodes[node].word = if depth > 0 { sorted[start].1 } else { NONE };
                start += 1;
            }
            while start < end {
                let byte = sorted[start].0[depth];
                let n = sorted[start..end].partition_point(|(word, _)| word[depth] == byte);
                let target = trie.nodes.len();
                trie.nodes.push(new);
                trie.bytes.push(byte);
                trie.targets.push(target as u32);
                open.push((target, start, start + n, depth + 1));
                start += n;
            }
            trie.nodes[node].n_edges = trie.bytes.len() as u32 - trie.nodes[node].edges;
        }
        for edge in 0..trie.nodes[0].n_edges as usize {
            trie.first[usize::from(trie.bytes[edge])] = trie.targets[edge];
        }
        trie
    }

    /// Returns the length and number of the longest word that starts the text.
    pub(super) fn longest(&self, text: &[u8]) -> Option<(usize, u32)> {
        let mut longest = None;
        let mut node = self.first[usize::from(*text.first()?)];
        for depth in 1.. {
            if node == 0 {
                break;
            }
            let Node { edges, n_edges, word } = self.nodes[node as usize];
            if word != NONE {
                longest = Some((depth, word));
            }
            let Some(byte) = text.get(depth) else { break };
            let edges = edges as usize..(edges + n_edges) as usize;
            let found = self.bytes[edges.clone()].iter().position(|other| other == byte);
            node = found.map_or(0, |place| self.targets[edges.start + place]);
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_word_is_found_as_by_looking_at_all() {
        let words = ["", "a", "ab", "abcd", "b", "bé", "bé", "日本", "日", "zz"];
        let trie = Trie::new(words.iter().zip(0..).map(|(word, id)| (*word, id)));
        for text in ["", "a", "abc", "abcde", "bé", "b\u{c4}", "日本語", "日x", "z", "zzz", "x", "ab日"] {
            let longest =
                words.iter().filter(|word| !word.is_empty() && text.starts_with(**word)).max_by_key(|word| word.len());
            let found = trie.longest(text.as_bytes());
            assert_eq!(found.map(|(n, _)| n), longest.map(|word| word.len()), "{text:?}");
            assert!(found.is_none_or(|(n, id)| words[id as usize] == &text[..n]), "{text:?}");
        }
        assert_eq!(Trie::new([]).longest(b"a"), None);
    }
}
