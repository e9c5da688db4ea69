//! The CSE paper: sums of filters over windows of words.

mod claims;
mod tables;

use super::common::{n_seeded, with_n_seeds};
use crate::{
    paper::{Model, Paper},
    paper_name::PaperName,
};

const WORDS: &str = "193 K pairs of single words";
const PHRASES: &str = "135 K pairs of phrases";
const SENTENCES: &str = "58 K simplifications";
const BOTH: &str = "135 K pairs of phrases, then 58 K simplifications";
const SICK: &str = "4,500 pairs of SICK";

/// Options shared by all stages of PP and CSE: Adam at 1e-3, 10 epochs, and no sentences of test sets.
const COMMON: &str = "--init-vectors $OUT/words.senv --epochs 10 --decontaminate @sts12 @sts13 @sts14 @stsb-test @sick-train @sick-test --json --no-check";

/// PP and CSE on each kind of pairs: file, options, seconds.
const STAGES: [(&str, &str, f64); 8] = [
    ("pp-words.senv", "--pairs @words", 20.0),
    ("pp-phrases.senv", "--pairs @phrases", 25.0),
    ("pp-sentences.senv", "--pairs @simplifications", 25.0),
    ("pp-both.senv", "--pairs @phrases --stage2 @simplifications", 50.0),
    ("cse-words.senv", "--pairs @words", 60.0),
    ("cse-phrases.senv", "--pairs @phrases", 60.0),
    ("cse-sentences.senv", "--pairs @simplifications", 50.0),
    ("cse-both.senv", "--pairs @phrases --stage2 @simplifications", 110.0),
];

/// Windows of Table 5: file, name, options, seconds.
const WINDOWS: [(&str, &str, &str, f64); 6] = [
    ("cse-window-1.senv", "window 1", "--windows 1 --filters 300", 30.0),
    ("cse-window-2.senv", "window 2", "--windows 2 --filters 300", 40.0),
    ("cse-window-3.senv", "window 3", "--windows 3 --filters 300", 55.0),
    ("cse-window-4.senv", "window 4", "--windows 4 --filters 300", 70.0),
    ("cse-windows.senv", "windows 1 to 3", "--windows 1,2,3 --filters 100", 45.0),
    ("cse-tanh.senv", "windows 1 to 3, tanh", "--windows 1,2,3 --filters 100 --activation tanh", 50.0),
];

/// GRAN and related models, of which the paper has only GRAN: file, name, options, seconds.
const GRANS: [(&str, &str, &str, f64); 4] = [
    ("gran.senv", "GRAN", "--preset paper", 90.0),
    ("lstm-last.senv", "LSTM last", "--preset paper-lstm-last", 45.0),
    ("lstm-average.senv", "LSTM average", "--preset paper-lstm-average", 70.0),
    ("bilstm-average.senv", "BiLSTM average", "--encoder bilstm", 120.0),
];

/// Options to save time: 100 hidden units and 3 epochs instead of the published 300 and 10. The last option of a kind
/// counts.
const SMALLER: &str = "--hidden 100 --epochs 3";

/// Models fine-tuned on SICK as described in section 4.2: file, name in the paper, model, start. "Random" is a CSE with
/// random filters on the words that all stages start from.
const ON_SICK: [(&str, &str, &str, &str); 4] = [
    ("sick-cse-universal.senv", "CSE-universal", "cse-both.senv", "universal"),
    ("sick-cse-random.senv", "CSE-random", "cse-both.senv", "random --init-vectors $OUT/words.senv"),
    ("sick-pp-universal.senv", "PP-universal", "pp-both.senv", "universal"),
    ("sick-gran-universal.senv", "GRAN-universal", "gran.senv", "universal"),
];

/// Returns the number of seeds of a model. The paper has medians of five runs in Table 1, and no pairs of single words.
fn n_seeds(file: &str) -> usize {
    match file {
        "pp-words.senv" | "cse-words.senv" => 1,
        "pp-phrases.senv" | "cse-phrases.senv" => 5,
        _ => 3,
    }
}

/// Returns the files of a model, one per seed.
fn seeded(file: &str) -> Vec<String> {
    n_seeded(n_seeds(file), file)
}

pub(super) fn paper() -> Paper {
    let words =
        "train sent2vec --input @text --dim 300 --epochs 10 --weights none --unknown-words skip --no-check --json";
    let mut models = vec![Model::new("words.senv", 60.0, words)];
    let stages = STAGES.map(|(file, pairs, seconds)| {
        let system = if file.starts_with("pp") { "pp --loss margin --lr 1e-3 --optimizer adam" } else { "cse" };
        Model::new(file, seconds, format!("train {system} {pairs} {COMMON}"))
    });
    let windows = WINDOWS.map(|(file, _, windows, seconds)| {
        Model::new(
            file,
            seconds,
            format!("train cse --preset paper-windows --pairs @simplifications {windows} {COMMON}"),
        )
    });
    let grans = GRANS.map(|(file, _, options, seconds)| {
        let common = COMMON.replace("--epochs 10", SMALLER);
        Model::new(file, seconds, format!("train gran --pairs @simplifications {options} {common}"))
    });
    let on_sick = ON_SICK.map(|(file, _, model, start)| {
        let command = format!(
            "train relatedness --model $OUT/{model} --train @sick-train --dev @sick-trial --filters-start {start} --epochs 10 --json"
        );
        Model::new(file, 15.0, command)
    });
    for model in stages.iter().chain(&windows).chain(&grans).chain(&on_sick) {
        models.extend(with_n_seeds(n_seeds(&model.file), model));
    }
    Paper {
        name: PaperName::Cse,
        title: "CSE, the convolutional sentence encoder (Jiao, Wang and Feng, COLING 2018)",
        about: "The paper starts from PARAGRAM-SL999 and trains on 3 million phrase pairs, then 168 thousand sentence \
            pairs. Here the words start from Sent2Vec vectors trained on 15.9 million words, the phrases are 135 \
            thousand pairs of one to seven words, and the sentences are five sets of simplifications. Training uses \
            Adam at 1e-3 for 10 epochs. The paper chooses the margin and the penalties on STS 2016, which we do not \
            have, so we use the defaults (margin .4, penalties 1e-6). Figures are medians of five seeds for phrases \
            and of three for everything else. A linear CSE whose windows are inside the text is a linear map of the \
            sum of the words, except at the two ends. Wider windows can therefore gain little over PP; the paper's own \
            differences are .8 (CSE over PP on phrases) and .3 (all windows over one word).",
        models,
        tables: tables::tables(),
        claims: claims::claims(),
    }
}
