//! The list of protocols: what each measures, on which data, by which equation, from which paper, and how it is run.

use senv_metrics::Statistic;

use super::{
    find::{self, Found},
    find_order,
    folder::DataFolder,
    own::OwnKind,
    protocol_group::ProtocolGroup,
};
use crate::error::Result;

/// A protocol of the bench.
#[derive(Debug)]
pub struct Protocol {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// Title of the protocol.
    pub title: &'static str,
    /// The headline metric, with its unit.
    pub metric: &'static str,
    /// How the headline is computed from the items.
    pub statistic: Statistic,
    /// Factor of the headline in reports.
    pub factor: f64,
    /// The table that the protocol belongs to.
    pub section: ProtocolGroup,
    /// The data it needs, as names of files.
    pub needs: &'static str,
    /// The paper that defines it.
    pub paper: &'static str,
    /// Key of its equation in `docs/equations.md`.
    pub equation: &'static str,
    /// Whether scores of pairs are enough. Otherwise the system must have vectors.
    pub takes_scores: bool,
    /// Whether its headline is part of the mean of its table.
    pub in_mean: bool,
    /// Whether a system needs its own classifier. The protocol is left out if no system has one.
    pub needs_classifier: bool,
    /// Where its data come from.
    pub(super) data: DataSource,
}

/// Where the data of a protocol come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum DataSource {
    /// Published layouts, found by the names of files.
    Layouts(fn(&DataFolder) -> Vec<Result<Found>>),
    /// A user's own data of any name.
    Own(OwnKind),
}

/// Protocols are compared by name, which is unique.
impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Returns every protocol, in the order of the report.
///
/// ```
/// let names: Vec<&str> = senv_eval::protocols().iter().map(|protocol| protocol.name).collect();
/// assert!(names.contains(&"sts") && names.contains(&"ranking"));
/// ```
#[must_use]
pub fn protocols() -> &'static [Protocol] {
    &PROTOCOLS
}

const R: &str = "Pearson's r x 100";
const KIROS: &str = "Kiros et al., NIPS 2015; Conneau and Kiela, LREC 2018";
const SNLI_SKIP_THOUGHTS: &str = "paper of the SNLI-finetuned Skip-thoughts";

static PROTOCOLS: [Protocol; 23] = [
    Protocol {
        name: "sts",
        title: "STS 2012 to 2016",
        metric: R,
        statistic: Statistic::Pearson,
        factor: 100.0,
        section: ProtocolGroup::Similarity,
        needs: "sts/YEAR/TASK.tsv, or STS.input.TASK.txt with STS.gs.TASK.txt in a folder of the year (STS12-en-test)",
        paper: "Agirre et al., SemEval 2012 to 2016",
        equation: "pearson-r",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::sts),
    },
    Protocol {
        name: "stsb",
        title: "STS benchmark, cosine",
        metric: R,
        statistic: Statistic::Pearson,
        factor: 100.0,
        section: ProtocolGroup::Similarity,
        needs: "sts-test.csv or sts-dev.csv, or stsb/test.tsv or stsb/dev.tsv",
        paper: "Cer et al., SemEval 2017",
        equation: "pearson-r",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::stsb),
    },
    Protocol {
        name: "sick",
        title: "SICK relatedness, cosine",
        metric: R,
        statistic: Statistic::Pearson,
        factor: 100.0,
        section: ProtocolGroup::Similarity,
        needs: "SICK_test_annotated.txt or SICK_trial.txt, or sick/test.tsv or sick/trial.tsv",
        paper: "Marelli et al., SemEval 2014",
        equation: "pearson-r",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::sick),
    },
    Protocol {
        name: "detection",
        title: "Zero-shot paraphrase detection",
        metric: "average precision x 100",
        statistic: Statistic::AveragePrecision,
        factor: 100.0,
        section: ProtocolGroup::Neighbours,
        needs: "msr_paraphrase_test.txt or msr_paraphrase_train.txt, or msrp/test.tsv or msrp/train.tsv",
        paper: SNLI_SKIP_THOUGHTS,
        equation: "precision-recall",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::detection),
    },
    Protocol {
        name: "ranking",
        title: "Paraphrase ranking",
        metric: "accuracy@1 x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Neighbours,
        needs: "msr_paraphrase_train.txt and msr_paraphrase_test.txt, or msrp/train.tsv and msrp/test.tsv (one part \
            is enough)",
        paper: SNLI_SKIP_THOUGHTS,
        equation: "query-rank",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::ranking),
    },
    Protocol {
        name: "soup",
        title: "Soup test",
        metric: "mean average precision x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Neighbours,
        needs: "nothing: its six sentences are built in",
        paper: SNLI_SKIP_THOUGHTS,
        equation: "soup-gap",
        takes_scores: false,
        in_mean: false,
        needs_classifier: false,
        data: DataSource::Layouts(find::soup),
    },
    Protocol {
        name: "p-coherence",
        title: "P-coherence of captions",
        metric: "P-coherence",
        statistic: Statistic::Mean,
        factor: 1.0,
        section: ProtocolGroup::Neighbours,
        needs: "captions_val2017.json or captions_val2014.json (COCO), Flickr8k.token.txt, or coco/captions.tsv, flickr/multi30k.tsv, flickr/flickr8k.tsv (lines of GROUP<TAB>SENTENCE)",
        paper: "P-thought paper, equations 4 and 5",
        equation: "p-coherence",
        takes_scores: false,
        in_mean: false,
        needs_classifier: false,
        data: DataSource::Layouts(find::captions),
    },
    Protocol {
        name: "order-pairs",
        title: "Pairs with nearly the same words (PAWS)",
        metric: "ROC AUC x 100",
        statistic: Statistic::Auc,
        factor: 100.0,
        section: ProtocolGroup::Order,
        needs: "paws-test.tsv, paws-val.tsv or paws-dev.tsv (lines of 0 or 1, SENTENCE and SENTENCE), or paws/final/test.tsv or paws/final/dev.tsv",
        paper: "Zhang, Baldridge and He, NAACL 2019",
        equation: "auc",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find_order::pairs),
    },
    Protocol {
        name: "order-entailment",
        title: "Entailment against contradiction",
        metric: "ROC AUC x 100",
        statistic: Statistic::Auc,
        factor: 100.0,
        section: ProtocolGroup::Order,
        needs: "as for own-entailment",
        paper: "Marelli et al., SemEval 2014; Bowman et al., EMNLP 2015",
        equation: "auc",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find_order::entailment),
    },
    Protocol {
        name: "order-templates",
        title: "Templates by phenomenon",
        metric: "share of items with the same meaning closer, x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Order,
        needs: "nothing: its 840 items of English sentences are built in",
        paper: "senv",
        equation: "nearer-share",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find_order::templates),
    },
    Protocol {
        name: "sick-probe",
        title: "SICK relatedness, trained",
        metric: R,
        statistic: Statistic::Pearson,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "SICK_train.txt with SICK_test_annotated.txt or SICK_trial.txt, or sick/train.tsv with sick/test.tsv or sick/trial.tsv",
        paper: "Tai, Socher and Manning, ACL 2015",
        equation: "pearson-r",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::sick_probe),
    },
    Protocol {
        name: "stsb-probe",
        title: "STS benchmark, trained",
        metric: R,
        statistic: Statistic::Pearson,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "sts-train.csv with sts-test.csv or sts-dev.csv, or stsb/train.tsv with stsb/test.tsv or stsb/dev.tsv",
        paper: "P-thought paper, section 5.3",
        equation: "pearson-r",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::stsb_probe),
    },
    Protocol {
        name: "sick-entailment",
        title: "SICK entailment",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "as for sick-probe",
        paper: SNLI_SKIP_THOUGHTS,
        equation: "accuracy",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::sick_entailment),
    },
    Protocol {
        name: "own-entailment",
        title: "Entailment, classifier of the model",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "SICK_test_annotated.txt or SICK_trial.txt, or sick/test.tsv or sick/trial.tsv; snli_1.0_test.txt or .jsonl or snli_1.0_dev.txt or .jsonl, or snli/test.tsv or snli/dev.tsv",
        paper: SNLI_SKIP_THOUGHTS,
        equation: "accuracy",
        takes_scores: false,
        in_mean: false,
        needs_classifier: true,
        data: DataSource::Layouts(find::own_entailment),
    },
    Protocol {
        name: "msrp",
        title: "Paraphrase detection (MSRP), trained",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "msr_paraphrase_train.txt with msr_paraphrase_test.txt, or msrp/train.tsv with msrp/test.tsv (without the test set, the last quarter of the training set is held out)",
        paper: KIROS,
        equation: "logistic-regression",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::msrp),
    },
    Protocol {
        name: "mr",
        title: "Movie reviews (MR), nested cross-validation",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "rt-polarity.pos and .neg, or mr/all.tsv (lines of LABEL<TAB>SENTENCE)",
        paper: KIROS,
        equation: "logistic-regression",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::mr),
    },
    Protocol {
        name: "cr",
        title: "Product reviews (CR), nested cross-validation",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "custrev.pos and .neg, or cr/all.tsv (lines of LABEL<TAB>SENTENCE)",
        paper: KIROS,
        equation: "logistic-regression",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::cr),
    },
    Protocol {
        name: "subj",
        title: "Subjectivity (SUBJ), nested cross-validation",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "subj.objective and .subjective, or subj/all.tsv (lines of LABEL<TAB>SENTENCE)",
        paper: KIROS,
        equation: "logistic-regression",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::subj),
    },
    Protocol {
        name: "mpqa",
        title: "Opinion polarity (MPQA), nested cross-validation",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "mpqa.pos and .neg, or mpqa/all.tsv (lines of LABEL<TAB>SENTENCE)",
        paper: KIROS,
        equation: "logistic-regression",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::mpqa),
    },
    Protocol {
        name: "trec",
        title: "Question types (TREC)",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Probes,
        needs: "train_5500.label with TREC_10.label, or trec/train.tsv with trec/test.tsv",
        paper: KIROS,
        equation: "logistic-regression",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Layouts(find::trec),
    },
    Protocol {
        name: "pairs",
        title: "Own scored pairs, cosine",
        metric: R,
        statistic: Statistic::Pearson,
        factor: 100.0,
        section: ProtocolGroup::OwnPairs,
        needs: "NAME.csv, .tsv or .jsonl with sentence1, sentence2 and score, or lines of two texts and a number",
        paper: "own data",
        equation: "pearson-r",
        takes_scores: true,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Own(OwnKind::Pairs),
    },
    Protocol {
        name: "labels",
        title: "Own labeled text",
        metric: "accuracy x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::OwnLabels,
        needs: "NAME.csv, .tsv or .jsonl with text and label, or lines of LABEL<TAB>TEXT, or NAME/train and NAME/test \
            of these",
        paper: "own data",
        equation: "logistic-regression",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Own(OwnKind::Labels),
    },
    Protocol {
        name: "retrieval",
        title: "Retrieval by the nearest sentence",
        metric: "nDCG@10 x 100",
        statistic: Statistic::Mean,
        factor: 100.0,
        section: ProtocolGroup::Retrieval,
        needs: "NAME/corpus.jsonl, NAME/queries.jsonl and NAME/qrels/test.tsv (BEIR)",
        paper: "Thakur et al., NeurIPS 2021",
        equation: "ndcg",
        takes_scores: false,
        in_mean: true,
        needs_classifier: false,
        data: DataSource::Own(OwnKind::Retrieval),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_rows_are_whole() {
        let names: std::collections::BTreeSet<_> = protocols().iter().map(|p| p.name).collect();
        assert_eq!(names.len(), protocols().len());
        for p in protocols() {
            assert!(p.factor > 0.0 && !p.metric.is_empty() && !p.needs.is_empty() && !p.paper.is_empty(), "{p:?}");
        }
    }
}
