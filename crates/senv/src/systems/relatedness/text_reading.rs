//! How a fine-tuned model reads text, as stored in its file: a tokenizer if it reads all known words; otherwise the
//! whole [`Reading`].

use senv_core::Tokenizer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::data::reading::Reading;

#[derive(Deserialize)]
#[serde(untagged)]
enum TextReading {
    Sequence(Reading),
    Words(Tokenizer),
}

pub(super) fn serialize<S: Serializer>(reading: &Reading, serializer: S) -> Result<S::Ok, S::Error> {
    let words = Reading::known_words(reading.tokenizer.clone(), usize::MAX);
    if *reading == words { words.tokenizer.serialize(serializer) } else { reading.serialize(serializer) }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reading, D::Error> {
    Ok(match TextReading::deserialize(deserializer)? {
        TextReading::Sequence(reading) => reading,
        TextReading::Words(tokenizer) => Reading::known_words(tokenizer, usize::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Kept(#[serde(with = "super")] Reading);

    #[test]
    fn known_words_are_kept_as_their_tokenizer_and_other_readings_as_they_are() {
        let tokenizer = Tokenizer::whitespace();
        let words = Reading::known_words(tokenizer.clone(), usize::MAX);
        let at_most_nine = Reading::known_words(tokenizer.clone(), 9);
        let (of_words, of_nine) = (serde_json::to_value(&tokenizer), serde_json::to_value(&at_most_nine));
        for (reading, kept) in [(words, of_words.unwrap()), (at_most_nine, of_nine.unwrap())] {
            assert_eq!(serde_json::to_value(Kept(reading.clone())).unwrap(), kept);
            let Kept(opened) = serde_json::from_value(kept).unwrap();
            assert_eq!(opened, reading);
        }
    }
}
