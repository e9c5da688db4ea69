//! The options behind the remedies that the library names in words: it knows nothing of a command line.

/// What the library says, and the option that does it.
const OPTIONS: [(&str, &str); 14] = [
    ("lower learning rate", "--lr"),
    ("higher learning rate", "--lr"),
    ("limit gradients", "--clip"),
    ("more epochs", "--epochs"),
    ("lower the minimum count", "--min-count"),
    ("that of targets", "--min-target-count"),
    ("weights of SIF", "--weights sif"),
    ("buckets", "--buckets"),
    ("go on from a model of a larger one", "--init-model, --init-vectors"),
    ("a row of the initial vectors", "--init-vectors; ask for the same --dim"),
    ("invalid bytes replaced", "--invalid-utf8 replace"),
    ("the limit of a line", "--max-line-bytes"),
    ("the limit of tokens", "--max-tokens"),
    ("cut long sentences", "--long cut"),
];

/// A message of the library with the option behind each remedy, in brackets, where it is named first.
pub(crate) fn with_options(message: &str) -> String {
    OPTIONS.iter().fold(message.to_owned(), |mut text, (words, option)| {
        if let Some(at) = text.find(words).filter(|_| !text.contains(&format!("({option})"))) {
            text.insert_str(at + words.len(), &format!(" ({option})"));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_remedy_has_its_option_once() {
        let error = senv::Error::Diverged { step: 3, lr: 9.0 }.to_string();
        let text = with_options(&error);
        assert!(text.ends_with("a lower learning rate (--lr), or limit gradients (--clip)"), "{text}");
        assert_eq!(with_options(&text), text);
        assert_eq!(with_options("the text is empty"), "the text is empty");
    }
}
