//! Selects the parts of a shard, and computes the digest of the whole.

use std::sync::{Arc, OnceLock};

use senv_index::documents::Stemming;
use sha2::{Digest, Sha256};

use super::{CollectionShard, NewSentences};
use crate::error::Result;

/// The parts of a shard, with the ids that they have in the whole. `input` gets the digest of the whole, all of which
/// is read here.
pub(super) fn of_shard<E>(
    shard: Option<CollectionShard>,
    input: Arc<OnceLock<String>>,
    mut next: impl FnMut(usize) -> Result<Option<NewSentences>, E>,
) -> impl FnMut(usize) -> Result<Option<NewSentences>, E> {
    let (mut n_parts, mut n_sentences) = (0, 0);
    // The first part of the whole decides for all shards.
    let mut stemming = Stemming::Automatic;
    let mut sum = Sha256::new();
    move |len| {
        let Some(CollectionShard { shard, .. }) = shard else { return next(len) };
        while let Some(part) = next(len)? {
            let first = n_sentences;
            n_sentences += part.len() as u64;
            n_parts += 1;
            part.digest(&mut sum);
            stemming = part.stemming_after(stemming);
            if shard.deals(n_parts - 1) {
                return Ok(Some(part.first_id(first).stemming(stemming)));
            }
        }
        // Set once: further calls after the last part have no effect.
        let _ = input.set(sum.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use senv_core::text::Shard;

    use super::*;

    fn digest(number: u32, parts: Vec<NewSentences>) -> String {
        let input = Arc::default();
        let shard = CollectionShard { shard: Shard::new(number, 2).unwrap(), has_ids: false };
        let mut parts = parts.into_iter();
        let mut next = of_shard(Some(shard), Arc::clone(&input), |_| Ok::<_, Infallible>(parts.next()));
        while next(9).unwrap().is_some() {}
        input.get().unwrap().clone()
    }

    #[test]
    fn the_digest_is_of_the_whole_and_of_whatever_is_kept_but_the_paths_of_files() {
        let one = |text: &str| NewSentences::new(vec![text.into(), "b".into()]);
        let column = |name: &str, value: &str| one("a").column(name, vec![value.into(), "y".into()]);
        let whole = digest(1, vec![one("a"), one("c")]);
        assert_eq!(digest(2, vec![one("a"), one("c")]), whole, "whichever shard it is");
        assert_eq!(digest(1, vec![column("file", "/here/x")]), digest(1, vec![column("file", "/there/x")]));
        let all = [
            whole,
            digest(1, vec![one("a"), one("d")]),
            digest(1, vec![one("d"), one("c")]),
            digest(1, vec![one("ab"), one("c")]),
            digest(1, vec![one("a")]),
            digest(1, vec![one("a").ids(vec![1, 2])]),
            digest(1, vec![one("a").ids(vec![1, 3])]),
            digest(1, vec![one("a").ids(vec!["1", "3"])]),
            digest(1, vec![one("a").ids(vec!["13", ""])]),
            digest(1, vec![column("x", "y")]),
            digest(1, vec![column("x", "z")]),
            digest(1, vec![column("xy", "")]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(!all[..i].contains(one), "{i}");
        }
    }
}
