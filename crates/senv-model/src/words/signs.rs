//! Random word vectors from a hash.

use senv_base::hash::mix_text;
use senv_kernels::kernels;

/// Adds a random vector of a word to `out`: `scale` times 1 or -1 in each value, from the bits of a hash. The hash
/// depends only on the word, so every program and machine gets the same vector. Vectors of two words are nearly
/// orthogonal: their cosine has mean 0 and standard deviation `1 / √dim`.
///
/// ```
/// let mut vector = [0.0; 100];
/// senv_core::words::add_signs("rain", 0.5, &mut vector);
/// assert!(vector.iter().all(|x| x.abs() == 0.5));
/// senv_core::words::add_signs("rain", -0.5, &mut vector);
/// assert_eq!(vector, [0.0; 100]);
/// ```
pub fn add_signs(word: &str, scale: f32, out: &mut [f32]) {
    let key = mix_text(u64::from_le_bytes(*b"of words"), word);
    kernels::add_signs(key, scale, out);
}
