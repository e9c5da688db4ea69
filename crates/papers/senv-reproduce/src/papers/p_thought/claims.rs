//! Claims of the P-thought paper.

use crate::claims::{
    Claim,
    Test::{AtMost, Falls, Greatest, Least, Near},
};

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim::new(
            "p-thought-1",
            "Table 3, section 5.2",
            "Two bidirectional layers have the highest P-coherence of all systems.",
            [Greatest(
                ("table-3", "P-coherence"),
                "P-thought, two layers, bidirectional",
                vec![
                    "P-thought, two layers forward",
                    "P-thought, one layer, bidirectional",
                    "InferSent, 256 units a direction, 8 epochs",
                    "Skip-thoughts uni",
                    "Skip-thoughts bi",
                    "Skip-thoughts combined",
                    "CBOW with SIF",
                    "Sent2Vec, words",
                    "Sent2Vec, words and bigrams",
                ],
            )],
            "Skip-thoughts of 1,000 steps have nearly one vector for all sentences: .995 for captions of one image and \
            .993 for those of different images, which P-coherence does not see",
        ),
        Claim::new(
            "p-thought-2",
            "Table 3, section 5.3",
            "More complex encoders have higher P-coherence.",
            [Falls(
                ("table-3", "P-coherence"),
                vec![
                    "P-thought, two layers, bidirectional",
                    "P-thought, two layers forward",
                    "P-thought, one layer, bidirectional",
                ],
            )],
            "in the paper's order by the mean. Three seeds leave an interval that is wider",
        ),
        Claim::new(
            "p-thought-3",
            "Table 3, section 5.2",
            "One bidirectional layer is about as coherent as InferSent (within .05).",
            [Near(
                ("table-3", "P-coherence"),
                ["P-thought, one layer, bidirectional", "InferSent, 256 units a direction, 8 epochs"],
                0.05,
            )],
            "after 600 steps captions of different images have .924. After 2,000 steps P-coherence is .813 to .850 and \
            that of different images .715 to .764, toward InferSent's .721 and .567",
        ),
        Claim::new(
            "p-thought-4",
            "Table 3, section 5.2",
            "One bidirectional layer is above Skip-thoughts, SIF and Sent2Vec.",
            [Greatest(
                ("table-3", "P-coherence"),
                "P-thought, one layer, bidirectional",
                vec![
                    "Skip-thoughts uni",
                    "Skip-thoughts bi",
                    "Skip-thoughts combined",
                    "CBOW with SIF",
                    "Sent2Vec, words",
                    "Sent2Vec, words and bigrams",
                ],
            )],
            "as for p-thought-1. It is above SIF and Sent2Vec",
        ),
        Claim::new(
            "p-thought-5",
            "Table 3, section 5.2",
            "InferSent is well above the other systems in the comparison.",
            [Greatest(
                ("table-3", "P-coherence"),
                "InferSent, 256 units a direction, 8 epochs",
                vec![
                    "Skip-thoughts uni",
                    "Skip-thoughts bi",
                    "Skip-thoughts combined",
                    "CBOW with SIF",
                    "Sent2Vec, words",
                    "Sent2Vec, words and bigrams",
                ],
            )],
            "as for p-thought-1. By the distance from captions of different images, InferSent (.15) is above P-thought \
            and Skip-thoughts, below SIF (.25)",
        ),
        Claim::new(
            "p-thought-6",
            "Table 3",
            "Skip-thoughts are above SIF and Sent2Vec.",
            [
                Greatest(
                    ("table-3", "P-coherence"),
                    "Skip-thoughts uni",
                    vec!["CBOW with SIF", "Sent2Vec, words", "Sent2Vec, words and bigrams"],
                ),
                Greatest(
                    ("table-3", "P-coherence"),
                    "Skip-thoughts bi",
                    vec!["CBOW with SIF", "Sent2Vec, words", "Sent2Vec, words and bigrams"],
                ),
                Greatest(
                    ("table-3", "P-coherence"),
                    "Skip-thoughts combined",
                    vec!["CBOW with SIF", "Sent2Vec, words", "Sent2Vec, words and bigrams"],
                ),
            ],
            "",
        ),
        Claim::new(
            "p-thought-7",
            "Table 3",
            "Sent2Vec with bigrams is above Sent2Vec of words.",
            [Falls(("table-3", "P-coherence"), vec!["Sent2Vec, words and bigrams", "Sent2Vec, words"])],
            "",
        ),
        Claim::new(
            "p-thought-8",
            "Table 3",
            "The vectors that PV-DBOW trains for the captions are not coherent: below .1.",
            [AtMost(("table-3-captions", "P-coherence"), "PV-DBOW, settings that fit the text", 0.1)],
            "captions of different images have .19, so the vectors are coherent. The paper's .010 would be that of \
            vectors drawn at random",
        ),
        Claim::new(
            "p-thought-9",
            "Table 6, section 5.3",
            "On the STS benchmark all three structures are above the other systems.",
            [
                Greatest(
                    ("table-3", "STS benchmark"),
                    "P-thought, one layer, bidirectional",
                    vec![
                        "InferSent, 256 units a direction, 8 epochs",
                        "Skip-thoughts combined",
                        "CBOW with SIF",
                        "Sent2Vec, words",
                        "PV-DBOW, defaults",
                    ],
                ),
                Greatest(
                    ("table-3", "STS benchmark"),
                    "P-thought, two layers forward",
                    vec![
                        "InferSent, 256 units a direction, 8 epochs",
                        "Skip-thoughts combined",
                        "CBOW with SIF",
                        "Sent2Vec, words",
                        "PV-DBOW, defaults",
                    ],
                ),
                Greatest(
                    ("table-3", "STS benchmark"),
                    "P-thought, two layers, bidirectional",
                    vec![
                        "InferSent, 256 units a direction, 8 epochs",
                        "Skip-thoughts combined",
                        "CBOW with SIF",
                        "Sent2Vec, words",
                        "PV-DBOW, defaults",
                    ],
                ),
            ],
            "600 steps on 149 K captions. After 2,000 steps one bidirectional layer has 69.8 to 71.6 by our \
            regression, where InferSent has 66.0",
        ),
        Claim::new(
            "p-thought-10",
            "Table 6, section 5.3",
            "There, the simplest structure is best and the most complex is worst.",
            [Falls(
                ("table-3", "STS benchmark"),
                vec![
                    "P-thought, one layer, bidirectional",
                    "P-thought, two layers forward",
                    "P-thought, two layers, bidirectional",
                ],
            )],
            "",
        ),
        Claim::new(
            "p-thought-11",
            "Table 6",
            "InferSent is the best of the other systems on the STS benchmark.",
            [Greatest(
                ("table-3", "STS benchmark"),
                "InferSent, 256 units a direction, 8 epochs",
                vec!["Skip-thoughts combined", "CBOW with SIF", "Sent2Vec, words", "PV-DBOW, defaults"],
            )],
            "ahead by the mean. Three seeds leave an interval that is wider",
        ),
        Claim::new(
            "p-thought-12",
            "Table 6",
            "Sent2Vec is above Skip-thoughts and SIF on the STS benchmark.",
            [Greatest(
                ("table-3", "STS benchmark"),
                "Sent2Vec, words",
                vec!["Skip-thoughts combined", "CBOW with SIF"],
            )],
            "the published settings of Sent2Vec are for more text (sent2vec-1)",
        ),
        Claim::new(
            "p-thought-13",
            "Table 6",
            "PV-DBOW is worst on the STS benchmark.",
            [Least(
                ("table-3", "STS benchmark"),
                "PV-DBOW, defaults",
                vec![
                    "Skip-thoughts combined",
                    "CBOW with SIF",
                    "Sent2Vec, words",
                    "InferSent, 256 units a direction, 8 epochs",
                ],
            )],
            "PV-DBOW has settings that fit the text. With those for long documents it is the worst (38.0)",
        ),
        Claim::new(
            "p-thought-14",
            "Figure 3, section 5.2",
            "Captions of the same image are closer together with P-thought than with SIF, Sent2Vec and Skip-thoughts.",
            [
                Greatest(
                    ("figure-3", "among vectors"),
                    "P-thought, one layer, bidirectional",
                    vec!["Skip-thoughts combined", "CBOW with SIF", "Sent2Vec, words"],
                ),
                Greatest(
                    ("figure-3", "among vectors"),
                    "P-thought, two layers forward",
                    vec!["Skip-thoughts combined", "CBOW with SIF", "Sent2Vec, words"],
                ),
                Greatest(
                    ("figure-3", "among vectors"),
                    "P-thought, two layers, bidirectional",
                    vec!["Skip-thoughts combined", "CBOW with SIF", "Sent2Vec, words"],
                ),
            ],
            "as for p-thought-3: nearly all vectors point one way after 600 steps, and SIF removes that direction",
        ),
        Claim::new(
            "p-thought-16",
            "Figure 3",
            "On the plane, captions of the same image are also closer together with P-thought than with the others.",
            [
                Greatest(
                    ("figure-3", "on the plane"),
                    "P-thought, one layer, bidirectional",
                    vec!["Skip-thoughts uni", "Skip-thoughts combined", "CBOW with SIF", "Sent2Vec, words"],
                ),
                Greatest(
                    ("figure-3", "on the plane"),
                    "P-thought, two layers forward",
                    vec!["Skip-thoughts uni", "Skip-thoughts combined", "CBOW with SIF", "Sent2Vec, words"],
                ),
                Greatest(
                    ("figure-3", "on the plane"),
                    "P-thought, two layers, bidirectional",
                    vec!["Skip-thoughts uni", "Skip-thoughts combined", "CBOW with SIF", "Sent2Vec, words"],
                ),
            ],
            "as for p-thought-14",
        ),
        Claim::new(
            "p-thought-17",
            "Table 3, section 5.2",
            "Both structures of two layers are above every other system in P-coherence.",
            [
                Greatest(
                    ("table-3", "P-coherence"),
                    "P-thought, two layers forward",
                    vec![
                        "InferSent, 256 units a direction, 8 epochs",
                        "Skip-thoughts uni",
                        "Skip-thoughts bi",
                        "Skip-thoughts combined",
                        "CBOW with SIF",
                        "Sent2Vec, words",
                        "Sent2Vec, words and bigrams",
                    ],
                ),
                Greatest(
                    ("table-3", "P-coherence"),
                    "P-thought, two layers, bidirectional",
                    vec![
                        "InferSent, 256 units a direction, 8 epochs",
                        "Skip-thoughts uni",
                        "Skip-thoughts bi",
                        "Skip-thoughts combined",
                        "CBOW with SIF",
                        "Sent2Vec, words",
                        "Sent2Vec, words and bigrams",
                    ],
                ),
            ],
            "as for p-thought-1. Both are above all systems but Skip-thoughts",
        ),
        Claim::new(
            "p-thought-18",
            "Section 4.2",
            "Half the weight on the paraphrase is worse.",
            [Falls(
                ("table-3", "STS benchmark"),
                vec!["P-thought, one layer, bidirectional", "P-thought, one layer, α = .5"],
            )],
            "",
        ),
        Claim::new(
            "p-thought-19",
            "Table 3",
            "Among Skip-thoughts, uni has the highest P-coherence, then combined, then bi.",
            [Falls(
                ("table-3", "P-coherence"),
                vec!["Skip-thoughts uni", "Skip-thoughts combined", "Skip-thoughts bi"],
            )],
            "",
        ),
        Claim::new(
            "p-thought-20",
            "Tables 3 and 6",
            "PV-DBOW also has the lowest P-coherence.",
            [Least(
                ("table-3", "P-coherence"),
                "PV-DBOW, defaults",
                vec![
                    "Skip-thoughts uni",
                    "Skip-thoughts bi",
                    "Skip-thoughts combined",
                    "CBOW with SIF",
                    "Sent2Vec, words",
                    "Sent2Vec, words and bigrams",
                    "InferSent, 256 units a direction, 8 epochs",
                ],
            )],
            "",
        ),
        Claim::new(
            "p-thought-21",
            "Table 6",
            "Skip-thoughts and SIF are within a point of each other on the STS benchmark.",
            [Near(("table-3", "STS benchmark"), ["Skip-thoughts combined", "CBOW with SIF"], 1.0)],
            "as for skip-thoughts-1: our Skip-thoughts are trained for 1,000 steps",
        ),
        Claim::untested(
            "p-thought-15",
            "Section 6",
            "More pairs of paraphrases would keep complex structures from overfitting.",
            "it needs more pairs of paraphrases than the authors had and than we have",
        ),
    ]
}
