//! Comparison of figures over several seeds.

/// The 97.5 % quantile of Student's t with 1, 2, ... degrees of freedom (Student 1908). It hardly decreases after the
/// last.
const STUDENT: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// A difference of figures: its mean over the seeds, and half of its 95 % interval if there are several seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    pub(super) mean: f64,
    pub(super) half_width: Option<f64>,
}

impl Difference {
    /// Computes the difference of two rows, seed by seed. Seeds for which only one row has a figure are left out. A row
    /// with one seed therefore gives a single run.
    pub(super) fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        (!differences.is_empty()).then(|| Self::over(differences))
    }

    /// Computes the difference from a number without seeds.
    pub(super) fn from(values: &[f64], bound: f64) -> Option<Self> {
        (!values.is_empty()).then(|| Self::over(values.iter().map(|value| value - bound).collect()))
    }

    fn over(differences: Vec<f64>) -> Self {
        let n = differences.len();
        let mean = differences.iter().sum::<f64>() / n as f64;
        let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
        let half = || {
            let quantile = STUDENT[(n - 2).min(STUDENT.len() - 1)];
            quantile * (squares / (n - 1) as f64 / n as f64).sqrt()
        };
        Self { mean, half_width: (n > 1).then(half) }
    }

    /// Returns whether the difference is above zero by more than seed noise.
    pub(super) fn is_positive(self) -> bool {
        self.mean > self.half_width.unwrap_or(0.0)
    }

    /// Returns whether the difference is within seed noise.
    pub(super) fn is_noise(self) -> bool {
        self.half_width.is_some_and(|half| self.mean.abs() <= half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences 1, 2, 3: mean 2, standard deviation 1, so half the interval is 4.303 / sqrt(3).
    #[test]
    fn an_interval_is_that_of_student() {
        let difference = Difference::of(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(difference.mean, 2.0);
        assert!((difference.half_width.unwrap() - 2.484_34).abs() < 1e-4, "{difference:?}");
        assert!(!difference.is_positive() && difference.is_noise());
        let clear = Difference::from(&[2.0, 2.1, 1.9], 1.0).unwrap();
        assert!(clear.is_positive() && !clear.is_noise(), "{clear:?}");
        let reverse = Difference::from(&[0.0, 0.1, -0.1], 1.0).unwrap();
        assert!(!reverse.is_positive() && !reverse.is_noise(), "{reverse:?}");
    }

    #[test]
    fn one_seed_has_no_interval_and_none_no_difference() {
        let one = Difference::of(&[2.0], &[1.5]).unwrap();
        assert_eq!(one, Difference { mean: 0.5, half_width: None });
        assert_eq!(Difference::of(&[2.0], &[1.5, 7.0]), Some(one));
        assert!(one.is_positive() && !one.is_noise());
        assert_eq!(Difference::of(&[], &[1.0]), None);
        // The second run was stopped early.
        assert_eq!(Difference::of(&[1.0, 2.0, 3.0], &[0.0, 1.0]).unwrap().mean, 1.0);
    }
}
