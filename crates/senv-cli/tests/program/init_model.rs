//! Training that starts from a model or from word vectors.

use crate::common::Folder;

/// A folder with a model of one text, `old.senv`, and another text, `new.txt`, with some common words.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("old.txt", "The cat sat on the mat\nThe dog lay on the rug\n".repeat(30));
    folder.write("new.txt", "A hat lay on the mat\nA bat sat on the hat\n\nThe bat is a pet\n".repeat(30));
    folder.train("old.txt", "old.senv", &["--lowercase", "false", "--no-check"]).ok();
    folder
}

/// The learning rate is too low to change anything, and every word is a target.
const KEPT: [&str; 4] = ["--lr", "1e-9", "--subsample", "1"];

/// The vector of a word, as `encode` writes it.
#[track_caller]
fn vector(folder: &Folder, model: &str, word: &str) -> Vec<f32> {
    let row = folder.pipe(&["encode", "--model", model, "--quiet"], format!("{word}\n")).ok().out;
    row.split_whitespace().map(|x| x.parse().unwrap()).collect()
}

#[track_caller]
fn assert_equal(a: &[f32], b: &[f32]) {
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-5), "{a:?} {b:?}");
}

#[test]
fn a_model_gives_its_words_vectors_tokenizer_and_dimension() {
    let folder = folder();
    let small = ["--min-count", "1", "--epochs", "1", "--init-model", "old.senv"];
    for system in ["sent2vec", "word2vec", "siamese-cbow"] {
        let rate = if system == "siamese-cbow" { &["--lr", "1e-12"][..] } else { &KEPT };
        let args = ["train", system, "--input", "new.txt", "--output", "m.senv", "--preset", "paper"];
        let args = [&args[..], &small[..], rate].concat();
        let ended = folder.run(&args).ok();
        // The, on, mat, lay, the, sat of both; cat, dog, rug of the old; A, a, hat, bat, is, pet of the new.
        assert!(ended.err.contains("9 of 15 words start from old.senv"), "{system}: {}", ended.err);
        assert!(
            ended.err.contains("check on") && !ended.err.contains("words of training text"),
            "{system}: {}",
            ended.err
        );
        for word in ["dog", "The", "mat"] {
            assert_equal(&vector(&folder, "m.senv", word), &vector(&folder, "old.senv", word));
        }
        assert!(vector(&folder, "m.senv", "hat").iter().any(|&x| x != 0.0), "{system}");
    }
    let args = ["train", "pp", "--neighbours", "new.txt", "--output", "m.senv", "--lr", "1e-12"];
    let ended = folder.run(&[&args[..], &small[..]].concat()).ok();
    assert!(ended.err.contains("9 of 15 words start from old.senv"), "{}", ended.err);
    assert_equal(&vector(&folder, "m.senv", "dog"), &vector(&folder, "old.senv", "dog"));
    let args = ["train", "pv-dbow", "--input", "new.txt", "--output", "m.senv"];
    assert!(
        folder.run(&[&args[..], &small[..], &KEPT[..]].concat()).ok().err.contains("9 of 15 words start from old.senv")
    );
}

#[test]
fn vectors_of_a_file_give_the_words_of_the_text_a_start() {
    let folder = folder();
    folder.write("words.txt", "cat 1 2 3\nmat -1 0.5 2\n");
    let args =
        ["train", "sent2vec", "--input", "new.txt", "--output", "m.senv", "--preset", "paper", "--min-count", "1"];
    let ended = folder.run(&[&args[..], &["--init-vectors", "words.txt"], &KEPT[..]].concat()).ok();
    assert!(ended.err.contains("1 of 10 words start from words.txt"), "{}", ended.err);
    assert_equal(&vector(&folder, "m.senv", "mat"), &[-1.0, 0.5, 2.0]);
    assert!(vector(&folder, "m.senv", "cat").iter().all(|&x| x == 0.0), "vectors of a file extend no vocabulary");

    let both = ["--init-vectors", "words.txt", "--init-model", "old.senv"];
    folder.run(&[&args[..], &both[..]].concat()).fails(2, &["--init-vectors", "--init-model"]);
    let wide = ["--init-vectors", "words.txt", "--dim", "5"];
    folder.run(&[&args[..], &wide[..]].concat()).fails(1, &["--init-vectors", "expected 5", "3"]);
    let same = ["train", "sent2vec", "--input", "new.txt", "--output", "old.senv", "--init-model", "old.senv"];
    folder.run(&same).fails(2, &["old.senv"]);
}

#[test]
fn n_grams_of_a_model_are_left_behind_and_that_is_told() {
    let folder = folder();
    let two = ["--word-ngrams", "2", "--buckets", "50"];
    folder.train("old.txt", "bigrams.senv", &two).ok();
    let ended = folder.train("new.txt", "m.senv", &[&two[..], &["--init-model", "bigrams.senv"]].concat()).ok();
    assert!(ended.err.contains("the n-grams of the model are not used"), "{}", ended.err);
}
