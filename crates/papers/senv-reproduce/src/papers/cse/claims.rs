//! Claims of the CSE paper.

use crate::claims::{
    Claim,
    Test::{Falls, Greatest, Rises, Wins},
};

/// Columns with the mean of all tasks in the ablation tables.
const MEAN_4: (&str, &str) = ("table-4", "all tasks");
const MEAN_5: (&str, &str) = ("table-5", "all tasks");
const TOTAL: (&str, &str) = ("table-1", "total without 2016");
const ON_SICK: (&str, &str) = ("table-3", "r");

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "cse-1",
            "Table 1, section 4.1",
            "Trained on phrases, CSE is ahead of PP on most tasks.",
            [Wins { table: "table-1", first: "CSE, phrases", others: vec!["PP, phrases"], at_least: 8 }],
            "as for cse-2",
        ),
        Claim::new(
            "cse-2",
            "Table 1",
            "Trained on phrases, CSE is above PP in the mean of all tasks.",
            [Falls(TOTAL, vec!["CSE, phrases", "PP, phrases"])],
            "training changes little: the random filters have 56.9 before it. With 8 K to 135 K pairs CSE stays 2.9 to \
            3.9 points below PP. Neither 300 filters a width (56.5), nor 30 epochs (56.6), nor a tenth of the rate \
            (55.8) lifts it. The paper's 3 M pairs and its words, which were trained on such phrases, are not at \
            hand",
        ),
        Claim::new(
            "cse-3",
            "Table 4, section 5.1",
            "Training on phrases and then on sentences is better than on phrases only.",
            [Falls(MEAN_4, vec!["CSE, cumulative", "CSE, phrases"])],
            "",
        ),
        Claim::new(
            "cse-4",
            "Table 4, section 5.1",
            "Training on phrases and then on sentences is better than on sentences only.",
            [Falls(MEAN_4, vec!["CSE, cumulative", "CSE, sentences"])],
            "",
        ),
        Claim::new(
            "cse-5",
            "Table 4",
            "On 2013 and 2014, sentence pairs are better than phrase pairs.",
            [
                Falls(("table-4", "2013"), vec!["CSE, sentences", "CSE, phrases"]),
                Falls(("table-4", "2014"), vec!["CSE, sentences", "CSE, phrases"]),
            ],
            "",
        ),
        Claim::new(
            "cse-6",
            "Table 4",
            "On 2012, phrase pairs are better than sentence pairs.",
            [Falls(("table-4", "2012"), vec!["CSE, phrases", "CSE, sentences"])],
            "the seeds differ by more than the two. The paper's difference is 1.3 points",
        ),
        Claim::new(
            "cse-7",
            "Table 2, section 4.1",
            "CSE is ahead of GRAN on at least half of the tasks.",
            [Wins { table: "table-1", first: "CSE, cumulative", others: vec!["GRAN"], at_least: 8 }],
            "as for cse-2: GRAN, from the same words and pairs, is level with plain sums here, and CSE below them",
        ),
        Claim::new(
            "cse-8",
            "Table 2, section 4.1",
            "On SICK, by cosine, CSE is slightly above GRAN.",
            [Falls(("table-1", "SICK"), vec!["CSE, cumulative", "GRAN"])],
            "as for cse-7",
        ),
        Claim::untested(
            "cse-9",
            "Table 2, section 4.1",
            "On 2016, CSE is 2.6 points above ATT-CCG.",
            "the tasks of 2016 (`sts/2016/*.tsv`) are not available, and ATT-CCG is a parser-based model that senv \
            does not have",
        ),
        Claim::new(
            "cse-10",
            "Table 3, section 4.2",
            "Fine-tuned on SICK, filters that start from the universal model are better than random ones.",
            [Falls(ON_SICK, vec!["CSE-universal", "CSE-random"])],
            "ahead by the mean, but three seeds leave an interval that is wider. The paper's difference is 1.4 points. \
            Of five seeds of an earlier model four had universal ahead, by .8 in the mean",
        ),
        Claim::new(
            "cse-11",
            "Table 3, section 4.2",
            "Fine-tuned on SICK, CSE is above PP.",
            [Falls(ON_SICK, vec!["CSE-universal", "PP-universal"])],
            "three seeds leave an interval that is wider than four points. The paper's difference is .2",
        ),
        Claim::new(
            "cse-12",
            "Table 3, section 4.2",
            "Fine-tuned on SICK, CSE is above GRAN.",
            [Falls(ON_SICK, vec!["CSE-universal", "GRAN-universal"])],
            "three seeds leave an interval that is wider than five points. The paper's difference is 1.0",
        ),
        Claim::new(
            "cse-13",
            "Table 5, section 5.2",
            "Windows of one, two and three words together are better than windows of any one width.",
            [Greatest(MEAN_5, "windows 1 to 3", vec!["window 1", "window 2", "window 3", "window 4"])],
            "wider windows are worse here by one to two points a word (cse-15), and pull the combination down. The \
            paper's difference is .3. With pairs of captions besides, it shows (54.2, one word 54.1)",
        ),
        Claim::new(
            "cse-14",
            "Table 5, section 5.2",
            "Among windows of one width, a single word is best.",
            [Greatest(MEAN_5, "window 1", vec!["window 2", "window 3", "window 4"])],
            "",
        ),
        Claim::new(
            "cse-15",
            "Table 5, section 5.2",
            "Wider windows are worse.",
            [Falls(MEAN_5, vec!["window 1", "window 2", "window 3", "window 4"])],
            "",
        ),
        Claim::new(
            "cse-16",
            "Section 5.2",
            "Plain sums of words (PP) are strong on similarity: above the initial words.",
            [Falls(TOTAL, vec!["PP, cumulative", "the initial words"])],
            "",
        ),
        Claim::new(
            "cse-17",
            "Table 2",
            "By year, GRAN is ahead of CSE in 2013, and CSE is ahead in 2014.",
            [
                Falls(("table-1", "mean of 2013"), vec!["GRAN", "CSE, cumulative"]),
                Falls(("table-1", "mean of 2014"), vec!["CSE, cumulative", "GRAN"]),
            ],
            "GRAN is ahead in 2013, within the seeds. The second half fails for the reason of cse-7",
        ),
        Claim::new(
            "cse-18",
            "Table 3, section 4.2",
            "Fine-tuned on SICK, the universal start is also better by squared error.",
            [Rises(("table-3", "squared error"), vec!["CSE-universal", "CSE-random"])],
            "better by the mean. Three seeds leave an interval that is wider",
        ),
        Claim::new(
            "cse-19",
            "Section 3.1",
            "Linear filters are slightly better than those with tanh.",
            [Falls(MEAN_5, vec!["windows 1 to 3", "windows 1 to 3, tanh"])],
            "",
        ),
    ]
}
