//! `senv train c-phrase`: trees can come from any kind of file, and an error about an invalid tree names file, line and
//! column.

use crate::common::Folder;

const TREES: &str = "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .))\n(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n";

fn train(folder: &Folder, input: &str, output: &str, more: &[&str]) -> crate::common::Ended {
    let args = ["train", "c-phrase", "--input", input, "--output", output, "--dim", "8", "--min-count", "1"];
    folder.run(&[&args[..], &["--no-check", "--subsample", "1", "--epochs", "3"], more].concat())
}

#[test]
fn trees_on_one_line_on_several_and_from_a_pipe_make_the_same_model() {
    let folder = Folder::new();
    folder.write("lines.txt", TREES.repeat(20));
    folder.write("spread.txt", TREES.repeat(20).replace(" (VP", "\n\t(VP"));
    folder.write("beside.txt", TREES.repeat(20).replace('\n', " "));
    train(&folder, "lines.txt", "lines.senv", &[]).ok();
    for name in ["spread", "beside"] {
        train(&folder, &format!("{name}.txt"), &format!("{name}.senv"), &["--threads", "3"]).ok();
        assert_eq!(folder.read(&format!("{name}.senv")), folder.read("lines.senv"), "{name}");
    }
    let args = ["train", "c-phrase", "--input", "-", "--output", "pipe.senv", "--dim", "8", "--min-count", "1"];
    let more = ["--no-check", "--subsample", "1", "--epochs", "3"];
    folder.pipe(&[&args[..], &more].concat(), TREES.repeat(20)).ok();
    assert_eq!(folder.read("pipe.senv"), folder.read("lines.senv"));
    // The words are those of the trees, without labels and, on request, without punctuation.
    let words = |model: &str| folder.run(&["info", model, "--json"]).ok().json()["words"].clone();
    assert_eq!(words("lines.senv"), 6, "the cat sleeps . dog barks");
    train(&folder, "lines.txt", "dropped.senv", &["--drop-punctuation"]).ok();
    assert_eq!(words("dropped.senv"), 5);
}

#[test]
fn what_is_no_tree_is_named_by_file_line_and_column() {
    let folder = Folder::new();
    for (text, says) in [
        (&format!("{TREES}(S (NN rain)"), "trees.txt:3:1: the tree that starts here is not closed"),
        (&format!("{TREES}(S (NN rain)))\n"), "trees.txt:3:14: unmatched closing bracket"),
        (&format!("{TREES}plain text\n"), "trees.txt:3:1: text outside the brackets"),
        (&"(S (NP) (VP (VBZ falls)))\n".to_owned(), "trees.txt:1:4: label without a word"),
        (&"(S (NP ()))\n".to_owned(), "trees.txt:1:8: empty node"),
        (&String::new(), "trees.txt contains no tree with a word"),
        (&"\n\n".to_owned(), "trees.txt contains no tree with a word"),
        (&"(S (-NONE- *T*))\n".to_owned(), "trees.txt contains no tree with a word"),
    ] {
        folder.write("trees.txt", text);
        train(&folder, "trees.txt", "m.senv", &[]).fails(1, &[says, "(S (NP (NN rain)) (VP (VBZ falls)))"]);
    }
    // Trees of single words contain nothing to predict.
    folder.write("trees.txt", "(S (NN rain))\n(S (NN snow))\n");
    train(&folder, "trees.txt", "m.senv", &[]).fails(1, &["no sentence has two known tokens", "--min-count"]);
    assert_eq!(folder.names(), ["trees.txt"]);
}
