//! Points that a record keeps for plots, and the results that produce them.

use serde::{Deserialize, Serialize};

use crate::{
    plot::{
        map::MapResult,
        norms::{NormBin, NormProfile},
    },
    probe::learning_curve::{LearningCurveResult, LearningPoint},
};

/// Points of a figure that belongs to one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Figure {
    /// Kind of figure. Learning curves of several systems share one plot.
    pub kind: String,
    /// Label of the x axis, with its unit.
    pub x_label: String,
    /// Label of the y axis, with its unit.
    pub y_label: String,
    /// Named point lists.
    pub series: Vec<FigureSeries>,
}

/// A named list of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FigureSeries {
    /// The name.
    pub name: String,
    /// `(x, y)`.
    pub points: Vec<(f64, f64)>,
}

/// The kind of figure that [`LearningCurveResult::to_figure`] returns.
pub(super) const LEARNING_CURVE: &str = "learning-curve";
/// The kind of figure that [`MapResult::to_figure`] returns.
pub(super) const MAP: &str = "map";
/// The kind of figure that [`NormProfile::to_figure`] returns.
pub(super) const NORMS: &str = "norms";
/// The kind of figure of cosines by label: x is the cosine of a pair, y its index.
pub(super) const LABEL_COSINES: &str = "label-cosines";

impl LearningCurveResult {
    /// Returns mean accuracy against training pairs as points.
    pub(crate) fn to_figure(&self) -> Figure {
        let point = |point: &LearningPoint| Some((point.n_training_pairs as f64, 100.0 * point.mean_accuracy?));
        let points = self.points.iter().filter_map(point).collect();
        Figure {
            kind: LEARNING_CURVE.to_owned(),
            x_label: "training pairs".to_owned(),
            y_label: "accuracy x 100".to_owned(),
            series: vec![FigureSeries { name: "accuracy".to_owned(), points }],
        }
    }
}

impl MapResult {
    /// Returns the sentences as points, one series per group.
    pub(crate) fn to_figure(&self) -> Figure {
        let mut series: Vec<FigureSeries> = Vec::new();
        for point in &self.points {
            let place = series.iter().position(|series| series.name == point.group).unwrap_or_else(|| {
                series.push(FigureSeries { name: point.group.clone(), points: Vec::new() });
                series.len() - 1
            });
            series[place].points.push((point.x, point.y));
        }
        let [x_label, y_label] = ["first axis of t-SNE", "second axis of t-SNE"].map(str::to_owned);
        Figure { kind: MAP.to_owned(), x_label, y_label, series }
    }
}

impl NormProfile {
    /// Returns the profile as points: mean, quartiles and the SIF curve, scaled to the highest of them.
    #[must_use]
    pub fn to_figure(&self) -> Figure {
        let middle = |bin: &NormBin| (bin.ln_frequency_from + bin.ln_frequency_to) / 2.0;
        let of = |value: fn(&NormBin) -> Option<f64>| {
            self.bins.iter().filter_map(|bin| Some((middle(bin), value(bin)?))).collect::<Vec<_>>()
        };
        let (mean, low, high) = (of(|bin| bin.mean), of(|bin| bin.lower_quartile), of(|bin| bin.upper_quartile));
        let top = mean.iter().chain(&high).map(|point| point.1).fold(0.0, f64::max);
        let sif = self.bins.iter().map(|bin| (middle(bin), bin.sif_weight * top)).collect();
        let named = [("mean", mean), ("lower quartile", low), ("upper quartile", high), ("a/(a+f)", sif)];
        Figure {
            kind: NORMS.to_owned(),
            x_label: "ln of the relative frequency".to_owned(),
            y_label: "L2 norm of the word vector".to_owned(),
            series: named.into_iter().map(|(name, points)| FigureSeries { name: name.to_owned(), points }).collect(),
        }
    }
}
