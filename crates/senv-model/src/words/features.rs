//! The features of a sentence: the rows that it refers to, and the tokens that each comes from.

use senv_base::RowId;

/// The features of one sentence: rows, with the token span of each.
///
/// Features are grouped by their first token, in order, so those that contain a token are found without a search. Lists
/// are reused from sentence to sentence and allocate only while they grow.
#[derive(Debug, Clone, Default)]
pub struct FeatureList {
    rows: Vec<RowId>,
    /// The last token of each feature, inclusive.
    ends: Vec<u32>,
    /// The start of each token's features in `rows`, and one final entry.
    first: Vec<u32>,
}

impl FeatureList {
    /// Removes the last sentence.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.first.clear();
    }

    /// Starts the next token; features pushed from now on start at it.
    pub fn start_token(&mut self) {
        self.first.push(self.rows.len() as u32);
    }

    /// Adds a feature from the current token to token `end` (inclusive).
    pub fn push(&mut self, row: RowId, end: usize) {
        self.rows.push(row);
        self.ends.push(end as u32);
    }

    /// Resizes the list to `n_tokens` tokens and `n_features` features and returns its three arrays for direct writing.
    /// They are the row of each feature, its last token (inclusive), and, per token, the position of its first feature.
    /// The arrays may contain old values: write every entry, with ascending positions, then [`FeatureList::truncate`]
    /// to the number of features written.
    ///
    /// # Panics
    /// If there are more than 2^32 features.
    pub fn resize(&mut self, n_tokens: usize, n_features: usize) -> (&mut [RowId], &mut [u32], &mut [u32]) {
        assert!(u32::try_from(n_features).is_ok(), "a sentence of {n_features} features; the limit is 2^32");
        self.rows.resize(n_features, RowId(0));
        self.ends.resize(n_features, 0);
        self.first.resize(n_tokens, 0);
        (&mut self.rows, &mut self.ends, &mut self.first)
    }

    /// Removes the features starting at position `n_features`; none of them may be the first of a token.
    pub fn truncate(&mut self, n_features: usize) {
        self.rows.truncate(n_features);
        self.ends.truncate(n_features);
    }

    /// Keeps the features for which `keep(start, end)` (first and last token, inclusive) is true, in order. `keep` is
    /// called once per feature, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(usize, usize) -> bool) {
        let (mut i, mut kept) = (0, 0);
        for token in 0..self.first.len() {
            let end = self.first.get(token + 1).map_or(self.rows.len(), |&e| e as usize);
            self.first[token] = kept as u32;
            while i < end {
                if keep(token, self.ends[i] as usize) {
                    self.rows[kept] = self.rows[i];
                    self.ends[kept] = self.ends[i];
                    kept += 1;
                }
                i += 1;
            }
        }
        self.truncate(kept);
    }

    /// Iterates over the row, first and last token (inclusive) of every feature, in order.
    pub fn iter(&self) -> impl Iterator<Item = (RowId, usize, usize)> + '_ {
        (0..self.n_tokens())
            .flat_map(move |token| self.starting_at(token).map(move |i| (self.rows[i], token, self.end_of(i))))
    }

    /// The number of tokens started.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.first.len()
    }

    /// The rows of the whole sentence, including repetitions.
    #[must_use]
    pub fn rows(&self) -> &[RowId] {
        &self.rows
    }

    /// Positions in [`FeatureList::rows`] of the features that start at `token`.
    #[must_use]
    pub fn starting_at(&self, token: usize) -> std::ops::Range<usize> {
        let end = self.first.get(token + 1).map_or(self.rows.len(), |&e| e as usize);
        self.first[token] as usize..end
    }

    /// The last token (inclusive) of the feature at position `i` of [`FeatureList::rows`].
    #[must_use]
    pub fn end_of(&self, i: usize) -> usize {
        self.ends[i] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> FeatureList {
        let mut features = FeatureList::default();
        for (token, ends) in [vec![0, 1], vec![], vec![2, 3], vec![3]].into_iter().enumerate() {
            features.start_token();
            ends.into_iter().for_each(|end| features.push(RowId((10 * token + end) as u32), end));
        }
        features
    }

    fn spans(features: &FeatureList) -> Vec<(u32, usize, usize)> {
        features.iter().map(|(row, start, end)| (row.0, start, end)).collect()
    }

    #[test]
    fn features_come_back_with_their_spans() {
        assert_eq!(spans(&list()), [(0, 0, 0), (1, 0, 1), (22, 2, 2), (23, 2, 3), (33, 3, 3)]);
    }

    #[test]
    fn what_is_kept_stays_in_its_group() {
        let mut features = list();
        features.retain(|start, end| start != end);
        assert_eq!(spans(&features), [(1, 0, 1), (23, 2, 3)]);
        assert_eq!(features.n_tokens(), 4);
        assert_eq!((features.starting_at(1), features.starting_at(2), features.starting_at(3)), (1..1, 1..2, 2..2));
        features.retain(|_, _| false);
        assert_eq!((features.rows().len(), features.n_tokens()), (0, 4));
    }

    #[test]
    fn a_list_written_in_one_go_is_the_list_that_was_pushed() {
        let mut features = list();
        features.push(RowId(7), 3);
        let (rows, ends, first) = features.resize(4, 6);
        rows[..5].copy_from_slice(&[0, 1, 22, 23, 33].map(RowId));
        ends[..5].copy_from_slice(&[0, 1, 2, 3, 3]);
        first.copy_from_slice(&[0, 2, 2, 4]);
        features.truncate(5);
        assert_eq!(spans(&features), spans(&list()));
    }
}
