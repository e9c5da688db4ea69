//! Claims of the paper on Skip-thoughts fine-tuned on SNLI.

use crate::claims::{
    Claim,
    Test::{AtLeast, AtMost, Columns, Falls, Greatest, Least, Near, Rises},
};

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "skip-thoughts-1",
            "Table 3, section 5",
            "Fine-tuning on SNLI makes Skip-thoughts better at relatedness (SICK, supervised).",
            [Falls(("table-3", "r"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"])],
            "higher by the mean. Three seeds leave an interval that is wider. After 3,500 steps in place of 1,000 the \
            gain is ten points (60.6 to 70.5)",
        ),
        Claim::new(
            "skip-thoughts-2",
            "Table 2, section 5",
            "It makes them better at entailment (SICK).",
            [Falls(("table-2", "SICK, probe"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"])],
            "higher by the mean. Three seeds leave an interval that is wider. After 3,500 steps in place of 1,000 the \
            gain is five points (68.4 to 73.6)",
        ),
        Claim::new(
            "skip-thoughts-3",
            "Table 1, section 5",
            "It makes them better at detecting paraphrases (MSRP).",
            [Falls(("table-1", "MSRP"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"])],
            "",
        ),
        Claim::new(
            "skip-thoughts-4",
            "Table 4, section 5",
            "It does not hurt classification: MR is higher, and SUBJ is within two points.",
            [
                Near(("table-1", "SUBJ"), ["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"], 2.0),
                Falls(("table-1", "MR"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"]),
            ],
            "",
        ),
        Claim::new(
            "skip-thoughts-5",
            "Table 5, section 6.1",
            "It makes them better at ranking paraphrases.",
            [
                Falls(("table-5", "@1"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"]),
                Rises(("table-5", "mean rank"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"]),
            ],
            "no difference after 1,000 steps. After 3,500 the mean rank falls from 135 to 109",
        ),
        Claim::new(
            "skip-thoughts-6",
            "Table 7, section 6.2",
            "It makes their cosine better at relatedness (SICK).",
            [Falls(("table-7", "r"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"])],
            "",
        ),
        Claim::new(
            "skip-thoughts-7",
            "Figure 3, section 6.3",
            "It makes their cosine better at detecting paraphrases.",
            [Falls(
                ("figure-3", "average precision"),
                vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"],
            )],
            "higher by the mean. Three seeds leave an interval that is wider, and an accuracy on these pairs has a \
            standard error of 1.4 points",
        ),
        Claim::new(
            "skip-thoughts-8",
            "Figure 3, section 6.3",
            "The BOW autoencoder is the best of the three systems plotted in the paper.",
            [Greatest(
                ("figure-3", "average precision"),
                "BOW autoencoder",
                vec!["Skip-thoughts combined", "Skip-thoughts fine-tuned on SNLI"],
            )],
            "",
        ),
        Claim::new(
            "skip-thoughts-9",
            "Figure 4, section 6.3",
            "With the same amount of training data, the fine-tuned model is more accurate on MSRP.",
            [
                Falls(("figure-4", "10 %"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"]),
                Falls(("figure-4", "100 %"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"]),
            ],
            "",
        ),
        Claim::new(
            "skip-thoughts-10",
            "Figure 4, section 6.3",
            "Accuracy on MSRP grows with the training data.",
            [
                Columns { table: "figure-4", row: "Skip-thoughts combined", columns: ["100 %", "1 %"] },
                Columns { table: "figure-4", row: "Skip-thoughts fine-tuned on SNLI", columns: ["100 %", "1 %"] },
            ],
            "",
        ),
        Claim::new(
            "skip-thoughts-11",
            "Figure 5, section 6.4",
            "Cosines of Skip-thoughts are higher than after fine-tuning.",
            [
                Falls(("figure-5", "paraphrases"), vec!["Skip-thoughts combined", "Skip-thoughts fine-tuned on SNLI"]),
                Falls(("figure-5", "other pairs"), vec!["Skip-thoughts combined", "Skip-thoughts fine-tuned on SNLI"]),
            ],
            "after 1,000 steps all vectors point one way (cosines of .99), and 18 K pairs of the paper's 549 K hardly \
            move them. SNLI models that are trained from words have cosines of .67 to .87",
        ),
        Claim::new(
            "skip-thoughts-12",
            "Figure 5, section 6.4",
            "They vary less than after fine-tuning.",
            [Rises(
                ("figure-5", "deviation of paraphrases"),
                vec!["Skip-thoughts combined", "Skip-thoughts fine-tuned on SNLI"],
            )],
            "as for skip-thoughts-11",
        ),
        Claim::new(
            "skip-thoughts-13",
            "Figure 5, section 6.4",
            "Paraphrases have higher cosines than other pairs, before and after.",
            [
                Columns { table: "figure-5", row: "Skip-thoughts combined", columns: ["paraphrases", "other pairs"] },
                Columns {
                    table: "figure-5",
                    row: "Skip-thoughts fine-tuned on SNLI",
                    columns: ["paraphrases", "other pairs"],
                },
            ],
            "",
        ),
        Claim::new(
            "skip-thoughts-14",
            "Figure 5, section 6.4",
            "Fine-tuning moves paraphrases and other pairs further apart.",
            [Rises(("figure-5", "overlap"), vec!["Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"])],
            "as for skip-thoughts-11. The overlap of the SNLI models, trained from words, is .71 and .75",
        ),
        Claim::new(
            "skip-thoughts-15",
            "Figure 6, section 7",
            "Paraphrases of MSRP and related pairs of SICK have more words in common than the others.",
            [
                Columns {
                    table: "figure-6",
                    row: "words in common",
                    columns: ["MSRP, paraphrases", "MSRP, other pairs"],
                },
                Columns { table: "figure-6", row: "words in common", columns: ["SICK, from 3", "SICK, below 3"] },
            ],
            "",
        ),
        Claim::new(
            "skip-thoughts-16",
            "Table 6, section 6.1",
            "Random vectors of words are above Skip-thoughts at ranking paraphrases.",
            [Falls(("table-5", "@1"), vec!["random BOW", "Skip-thoughts combined"])],
            "",
        ),
        Claim::new(
            "skip-thoughts-17",
            "Table 5, section 6.1",
            "The BOW autoencoder is best at ranking paraphrases, the SNLI BOW next.",
            [Falls(("table-5", "@1"), vec!["BOW autoencoder", "SNLI BOW", "Skip-thoughts fine-tuned on SNLI"])],
            "",
        ),
        Claim::new(
            "skip-thoughts-18",
            "Table 5",
            "The RNN autoencoder is worst at ranking paraphrases.",
            [Least(
                ("table-5", "@1"),
                "RNN autoencoder",
                vec![
                    "Skip-thoughts combined",
                    "Skip-thoughts fine-tuned on SNLI",
                    "SNLI BOW",
                    "SNLI RNN",
                    "BOW autoencoder",
                ],
            )],
            "an autoencoder learns faster than Skip-thoughts. After 3,500 to 4,000 steps its perplexity is 11, theirs \
            153 and still falling. So their order here is that of how far training has come",
        ),
        Claim::new(
            "skip-thoughts-19",
            "Table 7, section 6.2",
            "By cosine on SICK, the SNLI RNN is above both Skip-thoughts.",
            [Greatest(
                ("table-7", "r"),
                "SNLI RNN",
                vec!["Skip-thoughts combined", "Skip-thoughts fine-tuned on SNLI"],
            )],
            "",
        ),
        Claim::new(
            "skip-thoughts-20",
            "Table 7, section 6.2",
            "By cosine on SICK, the SNLI BOW is above the BOW autoencoder.",
            [Falls(("table-7", "r"), vec!["SNLI BOW", "BOW autoencoder"])],
            "",
        ),
        Claim::new(
            "skip-thoughts-21",
            "Table 2, section 5",
            "At entailment, all models trained on SNLI are above the others.",
            [
                Greatest(
                    ("table-2", "SICK, probe"),
                    "Skip-thoughts fine-tuned on SNLI",
                    vec!["Skip-thoughts combined", "BOW autoencoder", "RNN autoencoder"],
                ),
                Greatest(
                    ("table-2", "SICK, probe"),
                    "SNLI BOW",
                    vec!["Skip-thoughts combined", "BOW autoencoder", "RNN autoencoder"],
                ),
                Greatest(
                    ("table-2", "SICK, probe"),
                    "SNLI RNN",
                    vec!["Skip-thoughts combined", "BOW autoencoder", "RNN autoencoder"],
                ),
            ],
            "18 K pairs of the paper's 549 K: all are below the averages of words that they start from (77.1). On SNLI \
            itself the SNLI models are above all others (45.2 and 48.9, BOW autoencoder 41.8)",
        ),
        Claim::new(
            "skip-thoughts-22",
            "Table 3",
            "The RNN autoencoder is the worst at relatedness.",
            [Least(
                ("table-3", "r"),
                "RNN autoencoder",
                vec![
                    "Skip-thoughts combined",
                    "Skip-thoughts fine-tuned on SNLI",
                    "SNLI BOW",
                    "SNLI RNN",
                    "BOW autoencoder",
                ],
            )],
            "as for skip-thoughts-18",
        ),
        Claim::new(
            "skip-thoughts-23",
            "Table 8, section 7",
            "The SNLI RNN and the fine-tuned Skip-thoughts pass the soup test.",
            [
                AtLeast(("table-8", "average precision"), "SNLI RNN", 0.99),
                AtLeast(("table-8", "average precision"), "Skip-thoughts fine-tuned on SNLI", 0.99),
            ],
            "a thirtieth of the pairs: the SNLI models see little that tells hot from cold. With six sentences one of \
            them in the wrong place costs a tenth and more",
        ),
        Claim::new(
            "skip-thoughts-24",
            "Table 8, section 7",
            "Skip-thoughts before fine-tuning do not pass it.",
            [AtMost(("table-8", "average precision"), "Skip-thoughts combined", 0.99)],
            "their cosines are all above .99, so the order of six sentences says little. After 3,500 steps the average \
            precision is .56",
        ),
        Claim::new(
            "skip-thoughts-25",
            "Section 5",
            "All systems with a classifier have similar results: the SNLI RNN is within five points of Skip-thoughts \
            at relatedness.",
            [Near(("table-3", "r"), ["SNLI RNN", "Skip-thoughts combined"], 5.0)],
            "",
        ),
        Claim::new(
            "skip-thoughts-26",
            "Tables 1 to 4",
            "The fine-tuned model is the best at relatedness and at entailment.",
            [
                Greatest(
                    ("table-3", "r"),
                    "Skip-thoughts fine-tuned on SNLI",
                    vec!["Skip-thoughts combined", "SNLI BOW", "SNLI RNN", "BOW autoencoder", "RNN autoencoder"],
                ),
                Greatest(
                    ("table-2", "SICK, probe"),
                    "Skip-thoughts fine-tuned on SNLI",
                    vec!["Skip-thoughts combined", "SNLI BOW", "SNLI RNN", "BOW autoencoder", "RNN autoencoder"],
                ),
            ],
            "as for skip-thoughts-21: the averages of words that all start from have 69.6 and 77.1",
        ),
        Claim::new(
            "skip-thoughts-27",
            "Tables 5 and 6",
            "Trained bags of words are above random ones at ranking paraphrases.",
            [
                Falls(("table-5", "@1"), vec!["BOW autoencoder", "random BOW"]),
                Falls(("table-5", "@1"), vec!["SNLI BOW", "random BOW"]),
            ],
            "random vectors of all words tell rare names apart. With 20,000 known words alone they have the paper's \
            mean rank (20.7 and 21), and the BOW autoencoder 2.5 after three epochs",
        ),
        Claim::new(
            "skip-thoughts-28",
            "Table 7",
            "By cosine on SICK, the two bags of words are best.",
            [
                Greatest(
                    ("table-7", "r"),
                    "SNLI BOW",
                    vec!["Skip-thoughts combined", "Skip-thoughts fine-tuned on SNLI", "SNLI RNN", "RNN autoencoder"],
                ),
                Greatest(
                    ("table-7", "r"),
                    "BOW autoencoder",
                    vec!["Skip-thoughts combined", "Skip-thoughts fine-tuned on SNLI", "SNLI RNN", "RNN autoencoder"],
                ),
            ],
            "",
        ),
        Claim::new(
            "skip-thoughts-29",
            "Table 7",
            "By cosine on SICK, the RNN autoencoder is worst.",
            [Least(
                ("table-7", "r"),
                "RNN autoencoder",
                vec![
                    "Skip-thoughts combined",
                    "Skip-thoughts fine-tuned on SNLI",
                    "SNLI BOW",
                    "SNLI RNN",
                    "BOW autoencoder",
                ],
            )],
            "as for skip-thoughts-18",
        ),
        Claim::new(
            "skip-thoughts-30",
            "Table 7",
            "The SNLI RNN has the lowest squared error by cosine.",
            [Least(
                ("table-7", "squared error"),
                "SNLI RNN",
                vec![
                    "Skip-thoughts combined",
                    "Skip-thoughts fine-tuned on SNLI",
                    "SNLI BOW",
                    "BOW autoencoder",
                    "RNN autoencoder",
                ],
            )],
            "three seeds leave an interval that is wider. As for skip-thoughts-21",
        ),
        Claim::new(
            "skip-thoughts-31",
            "Section 6.3",
            "The BOW autoencoder is above Skip-thoughts without training and below them with training.",
            [
                Falls(("figure-3", "average precision"), vec!["BOW autoencoder", "Skip-thoughts combined"]),
                Falls(("figure-4", "100 %"), vec!["Skip-thoughts combined", "BOW autoencoder"]),
            ],
            "",
        ),
        Claim::new(
            "skip-thoughts-32",
            "Table 8",
            "The SNLI RNN moves the two groups of the soup test furthest apart.",
            [Greatest(
                ("table-8", "gap"),
                "SNLI RNN",
                vec!["SNLI BOW", "Skip-thoughts fine-tuned on SNLI", "Skip-thoughts combined"],
            )],
            "three seeds leave an interval that is wider. As for skip-thoughts-23",
        ),
        Claim::new(
            "skip-thoughts-33",
            "Table 4",
            "The RNN autoencoder is worst on MR and SUBJ.",
            [
                Least(
                    ("table-1", "MR"),
                    "RNN autoencoder",
                    vec![
                        "Skip-thoughts combined",
                        "Skip-thoughts fine-tuned on SNLI",
                        "SNLI BOW",
                        "SNLI RNN",
                        "BOW autoencoder",
                    ],
                ),
                Least(
                    ("table-1", "SUBJ"),
                    "RNN autoencoder",
                    vec![
                        "Skip-thoughts combined",
                        "Skip-thoughts fine-tuned on SNLI",
                        "SNLI BOW",
                        "SNLI RNN",
                        "BOW autoencoder",
                    ],
                ),
            ],
            "as for skip-thoughts-18. On SUBJ the SNLI RNN of 18 K pairs is below it",
        ),
    ]
}
