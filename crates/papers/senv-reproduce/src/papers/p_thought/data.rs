//! Sizes of the data sets of the P-thought paper.

use crate::paper::{Column, Evaluation, Row, Table};

/// Tables 1 and 2: sizes of the caption sets.
pub(super) fn captions() -> Table {
    let column = |title: &str, field: &str| Column::new(title, 0, &format!("sets[name=$KEY].{field}")).digits(0);
    let row = |name: &str, key| Row::new(name, "", ["english"]).key(key);
    let theirs = |figures: [Option<u32>; 4]| figures.map(|n| n.map(f64::from));
    Table {
        id: "table-1",
        title: "Tables 1 and 2: captions for training and for P-coherence",
        about: "Numbers of images, distinct captions, ordered pairs of captions of the same image, and distinct words. \
            The paper trains on COCO 2014 (validation) and 2017 (training), and we train on Flickr30k; both measure \
            P-coherence on COCO 2017 (validation), of which we have 4,137 images.",
        evaluations: vec![Evaluation { command: "eval sizes --groups @flickr @coco --json", seconds: 3.0 }],
        columns: vec![
            column("images", "n_groups"),
            column("captions", "n_distinct_sentences"),
            column("pairs", "n_pairs"),
            column("words", "n_distinct_tokens"),
        ],
        rows: vec![
            row("training", "multi30k")
                .beside("COCO, both parts", theirs([Some(123_287), Some(593_968), Some(2_467_293), Some(34_826)])),
            row("P-coherence", "captions")
                .beside("COCO 2017, validation", theirs([Some(5000), Some(25_014), Some(100_142), Some(8641)])),
            Row::published("COCO 2014, validation", theirs([Some(40_504), Some(202_654), Some(811_426), None])),
            Row::published("COCO 2017, training", theirs([Some(118_284), Some(591_753), Some(2_368_926), None])),
        ],
        ..Table::default()
    }
}

/// Table 5: sizes of the STS benchmark.
pub(super) fn benchmark() -> Table {
    let pairs = |title: &str, name: &str| Column::new(title, 0, &format!("sets[name={name}].n_pairs")).digits(0);
    Table {
        id: "table-5",
        title: "Table 5: pairs of the STS benchmark",
        about: "Numbers of pairs in the available parts.",
        evaluations: vec![Evaluation {
            command: "eval sizes --stsb @stsb-train @stsb-dev @stsb-test --json",
            seconds: 0.5,
        }],
        columns: vec![
            pairs("training", "train"),
            pairs("development", "dev"),
            pairs("test", "test").of_set("stsb-test-part"),
        ],
        rows: vec![
            Row::new("STS benchmark", "", ["english"])
                .beside("STS benchmark", [Some(5749.0), Some(1500.0), Some(1379.0)]),
        ],
        ..Table::default()
    }
}
