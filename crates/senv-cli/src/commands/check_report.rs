//! The result of checking a model, as text and as JSON.

use senv::check::{Check, CheckWarning, LossOf};
use serde_json::{Value, json};

use crate::{
    output::{grouped, plural, warn},
    remedies::shown_of_model,
};

/// A few lines on the result, without the warnings.
pub(super) fn lines(check: &Check) -> Vec<String> {
    let held_out = check.neighbours.map_or(0, |neighbours| neighbours.held_out_sentences);
    let sentences = plural((check.sentences - held_out) as u64, "sentence");
    let text = if check.on_training_text { "training text" } else { "text" };
    let mut lines = vec![format!("check on {sentences} of the {text}:")];
    if let Some(random) = check.random {
        let (mean, sd) = (random.mean, random.sd);
        lines.push(format!("  random sentences have mean cosine {mean:.2}, standard deviation {sd:.2}"));
    }
    if let Some(neighbours) = check.neighbours {
        let [auc, words] = [neighbours.auc, neighbours.tf_idf_auc].map(|auc| 100.0 * auc);
        let which = match held_out {
            0 => "neighboring sentences".to_owned(),
            n => format!("in {} held out of training, neighboring sentences", plural(n as u64, "sentence")),
        };
        let nearer = format!("  {which} are nearer than random ones in {auc:.0} % of comparisons");
        lines.push(if !neighbours.has_order() {
            "  the text has no order, so neighboring sentences are not checked".to_owned()
        } else if check.on_training_text && held_out == 0 {
            format!(
                "{nearer} ({words:.0} % by TF-IDF; 50 % is chance); check other text, which may score lower, with \
                 senv info --check"
            )
        } else {
            format!("{nearer} ({words:.0} % by TF-IDF; 50 % is chance)")
        });
    }
    if let Some(pairs) = check.pairs {
        let [auc, words] = [pairs.auc, pairs.tf_idf_auc].map(|auc| 100.0 * auc);
        lines.push(format!(
            "  in {} held out of training, the partner is nearer than another sentence in {auc:.1} % of comparisons \
             ({words:.1} % by TF-IDF), mean reciprocal rank {:.3} ({:.3} by TF-IDF)",
            plural(pairs.pairs as u64, "pair"),
            pairs.mrr,
            pairs.tf_idf_mrr
        ));
    }
    if let Some(agreement) = check.tf_idf {
        let correlation = agreement.correlation;
        lines.push(format!("  rank correlation with TF-IDF for sentences that share words: {correlation:.2}"));
    }
    let [unknown, empty] = [check.unknown_words, check.empty_sentences].map(|share| 100.0 * share);
    lines.push(if check.hashes_unknown_words {
        format!("  {unknown:.1} % of the words are unknown and have random vectors")
    } else {
        format!("  {unknown:.1} % of the words are unknown, {empty:.1} % of the sentences have no known word")
    });
    // The last loss of the gradient loop is not its mean loss, which is shown earlier.
    if let Some(loss) = check.loss.filter(|loss| loss.of != LossOf::Gradient) {
        lines.push(format!("  loss {:.3} (guessing: {:.3})", loss.mean, loss.chance));
    }
    if let Some(words) = check.training_words {
        lines.push(format!("  {} words of training text", grouped(words)));
    }
    lines
}

/// Prints the warnings of a check.
pub(super) fn warn_of(check: &Check) {
    check.warnings.iter().for_each(|warning| warn(&shown_of_model(warning)));
}

/// The same as JSON; each warning carries its message.
pub(super) fn json(check: &Check) -> Value {
    let mut value = json!(check);
    value["warnings"] = check.warnings.iter().map(warning_json).collect();
    value
}

/// A warning with its message.
pub(super) fn warning_json(warning: &CheckWarning) -> Value {
    let mut value = json!(warning);
    value["message"] = json!(shown_of_model(warning));
    value
}

#[cfg(test)]
mod tests {
    use senv::check::NeighbourCheck;

    use super::*;

    fn line(on_training_text: bool, held_out_sentences: usize) -> [String; 2] {
        let (auc, tf_idf_auc, documents) = (0.93, 0.76, true);
        let neighbours = NeighbourCheck { pairs: 600, auc, distance: 1.0, tf_idf_auc, documents, held_out_sentences };
        let check = Check {
            dim: 2,
            sentences: 4_000,
            on_training_text,
            random: None,
            neighbours: Some(neighbours),
            pairs: None,
            tf_idf: None,
            unknown_words: 0.0,
            empty_sentences: 0.0,
            hashes_unknown_words: false,
            not_finite: 0,
            loss: None,
            weights_may_help: false,
            start_may_help: true,
            training_words: None,
            warnings: Vec::new(),
        };
        let lines = lines(&check);
        [lines[0].clone(), lines[1].clone()]
    }

    #[test]
    fn the_lines_say_which_text_was_looked_at() {
        let [text, neighbours] = line(true, 400);
        assert_eq!(text, "check on 3,600 sentences of the training text:");
        let start = "in 400 sentences held out of training, neighboring sentences are nearer";
        assert!(neighbours.contains(start), "{neighbours}");
        assert!(neighbours.ends_with("in 93 % of comparisons (76 % by TF-IDF; 50 % is chance)"), "{neighbours}");
        let [text, neighbours] = line(true, 0);
        assert_eq!(text, "check on 4,000 sentences of the training text:");
        assert!(neighbours.ends_with("with senv info --check"), "{neighbours}");
        let [text, neighbours] = line(false, 0);
        assert_eq!(text, "check on 4,000 sentences of the text:");
        assert!(neighbours.ends_with("50 % is chance)"), "{neighbours}");
    }
}
