//! What a check of a model found, in plain words and as JSON.

use senv::check::{Check, CheckWarning, LossOf};
use serde_json::{Value, json};

use crate::{
    output::{grouped, plural, warn},
    remedies::shown_of_model,
};

/// A few lines on what was found; warnings are apart.
pub(super) fn lines(check: &Check) -> Vec<String> {
    let held_out = check.neighbours.map_or(0, |neighbours| neighbours.held_out_sentences);
    let sentences = plural((check.sentences - held_out) as u64, "sentence");
    let text = if check.on_training_text { "training text" } else { "text" };
    let mut lines = vec![format!("check on {sentences} of the {text}:")];
    if let Some(random) = check.random {
        let (mean, sd) = (random.mean, random.sd);
        lines.push(format!("  random sentences have a mean cosine of {mean:.2}, with a standard deviation of {sd:.2}"));
    }
    if let Some(neighbours) = check.neighbours {
        let [auc, words] = [neighbours.auc, neighbours.tf_idf_auc].map(|auc| 100.0 * auc);
        let which = match held_out {
            0 => "neighbouring sentences".to_owned(),
            n => format!("of {} held out of training, neighbours", plural(n as u64, "sentence")),
        };
        let nearer = format!("  {which} are nearer than random ones in {auc:.0} % of comparisons");
        lines.push(if !neighbours.has_order() {
            format!("{nearer}, from which nothing follows: the text marks no documents whose sentences share words")
        } else if check.on_training_text && held_out == 0 {
            format!(
                "{nearer} ({words:.0} % by TF-IDF; 50 % is chance), which other text may not reach: senv info --check"
            )
        } else {
            format!("{nearer} ({words:.0} % by TF-IDF; 50 % is chance)")
        });
    }
    if let Some(pairs) = check.pairs {
        let [auc, words] = [pairs.auc, pairs.tf_idf_auc].map(|auc| 100.0 * auc);
        lines.push(format!(
            "  of {} held out of training, the partner is nearer than another in {auc:.1} % of comparisons ({words:.1} % by TF-IDF), \
             with a mean reciprocal rank of {:.3} ({:.3} by TF-IDF)",
            plural(pairs.pairs as u64, "pair"),
            pairs.mrr,
            pairs.tf_idf_mrr
        ));
    }
    if let Some(agreement) = check.tf_idf {
        let correlation = agreement.correlation;
        lines.push(format!("  rank correlation with TF-IDF on sentences that share words: {correlation:.2}"));
    }
    let [unknown, empty] = [check.unknown_words, check.empty_sentences].map(|share| 100.0 * share);
    lines.push(if check.hashes_unknown_words {
        format!("  {unknown:.1} % of the words are unknown and have random vectors")
    } else {
        format!("  {unknown:.1} % of the words are unknown, {empty:.1} % of the sentences have no known word")
    });
    // What the gradient loop ends at is not its mean loss, which is shown before.
    if let Some(loss) = check.loss.filter(|loss| loss.of != LossOf::Gradient) {
        lines.push(format!("  loss {:.3}, by guessing {:.3}", loss.mean, loss.chance));
    }
    if let Some(words) = check.training_words {
        lines.push(format!("  {} words of training text", grouped(words)));
    }
    lines
}

/// Prints what a check warns of.
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
        assert!(neighbours.contains("of 400 sentences held out of training, neighbours are nearer"), "{neighbours}");
        assert!(neighbours.ends_with("in 93 % of comparisons (76 % by TF-IDF; 50 % is chance)"), "{neighbours}");
        let [text, neighbours] = line(true, 0);
        assert_eq!(text, "check on 4,000 sentences of the training text:");
        assert!(neighbours.ends_with("which other text may not reach: senv info --check"), "{neighbours}");
        let [text, neighbours] = line(false, 0);
        assert_eq!(text, "check on 4,000 sentences of the text:");
        assert!(neighbours.ends_with("50 % is chance)"), "{neighbours}");
    }
}
