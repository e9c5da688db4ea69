//! An encoder whose cosines can be computed by hand.

use senv_core::{Coverage, Scratch, SentenceEncoder};

/// Counts the letters a to z; capitals are unknown tokens.
pub(crate) struct Letters;

impl SentenceEncoder for Letters {
    fn dim(&self) -> usize {
        26
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        out.fill(0.0);
        for byte in sentence.bytes().filter(u8::is_ascii_lowercase) {
            out[usize::from(byte - b'a')] += 1.0;
        }
        Coverage::new(sentence.len(), out.iter().sum::<f32>() as usize)
    }
}
