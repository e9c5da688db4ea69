//! The objective of two decoders, one for the sentence itself and one for its paraphrase.
//!
//! Equation: `dual-decoder-objective`

use senv_core::hyperparameters::{Hyperparameter, Hyperparameters, Section, set_value};
use serde::{Deserialize, Serialize};

use crate::error::{Result, check_range};

/// The default α, for λ = 1/3.
pub const DEFAULT_ALPHA: f64 = 2.0;

/// The objective of P-thought: the loss of the autoencoder plus α times that of the paraphrase.
///
/// ```text
/// (F1)  L = l_auto + α l_para                           P-thought, equation 12
/// (B1)  ∂l_auto = ∂L,   ∂l_para = α ∂L
/// ```
///
/// The paper minimizes the sum of both losses with the soft constraint that they are equal. With a multiplier λ:
///
/// ```text
/// l_auto + l_para + λ (l_para − l_auto) = (1 − λ) l_auto + (1 + λ) l_para
///                                       = (1 − λ) (l_auto + α l_para),     α = (1 + λ) / (1 − λ)
/// ```
///
/// So 0 < λ < 1 makes α > 1: the paraphrase, the harder task, has the larger weight. Outside −1 < λ < 1 one of the
/// losses would be maximized, as the paper says, so senv implements only equation 12 with α > 0. The paper does not
/// print its α; 1.5, 2, 3 and 5 are worth trying.
///
/// ```
/// use senv_losses::DualObjective;
/// let objective = DualObjective::from_lambda(0.5)?;
/// assert_eq!(objective.alpha(), 3.0);
/// assert_eq!(objective.value(2.0, 1.5), 6.5);
/// // What to multiply the gradients of the two losses by:
/// assert_eq!(objective.weights(1.0), (1.0, 3.0));
/// # Ok::<(), senv_losses::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct DualObjective {
    alpha: f64,
}

impl Default for DualObjective {
    /// α = 2.
    fn default() -> Self {
        Self { alpha: DEFAULT_ALPHA }
    }
}

/// The hyperparameter α.
impl Hyperparameters for DualObjective {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let doc = &["Weight α of the paraphrase loss relative to the loss of the sentence itself, above 0."];
        vec![Hyperparameter::of("alpha", doc, Section::Training, None, &self.alpha)]
    }

    fn set(&mut self, name: &str, text: &str) -> senv_core::Result<bool> {
        if name != "alpha" {
            return Ok(false);
        }
        set_value(&mut self.alpha, name, text)?;
        Ok(true)
    }

    fn check_ranges(&self) -> senv_core::Result<()> {
        let is_good = self.alpha > 0.0 && self.alpha.is_finite();
        let (requirement, got) = ("finite and above 0", self.alpha.to_string());
        if is_good { Ok(()) } else { Err(senv_core::Error::InvalidParameter { name: "alpha", requirement, got }) }
    }
}

impl DualObjective {
    /// Creates the objective with this weight of the paraphrase; the paper's is above 1.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] unless `alpha` is above 0 and finite.
    pub fn new(alpha: f64) -> Result<Self> {
        check_range("alpha", "above 0 and finite", alpha, alpha > 0.0 && alpha.is_finite())?;
        Ok(Self { alpha })
    }

    /// Creates the objective with α = (1 + λ) / (1 − λ).
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] unless `lambda` is strictly between −1 and 1.
    pub fn from_lambda(lambda: f64) -> Result<Self> {
        check_range("lambda", "between -1 and 1", lambda, lambda > -1.0 && lambda < 1.0)?;
        Self::new((1.0 + lambda) / (1.0 - lambda))
    }

    /// The weight α.
    #[must_use]
    pub fn alpha(self) -> f64 {
        self.alpha
    }

    /// The multiplier λ = (α − 1) / (α + 1).
    #[must_use]
    pub fn lambda(self) -> f64 {
        (self.alpha - 1.0) / (self.alpha + 1.0)
    }

    /// (F1): the value of the objective.
    #[must_use]
    pub fn value(self, auto: f64, paraphrase: f64) -> f64 {
        auto + self.alpha * paraphrase
    }

    /// (B1): the derivatives with respect to the losses of autoencoder and paraphrase, each to be passed as `d_loss`.
    #[must_use]
    pub fn weights(self, d_loss: f64) -> (f64, f64) {
        (d_loss, self.alpha * d_loss)
    }
}

impl TryFrom<f64> for DualObjective {
    type Error = crate::Error;

    fn try_from(alpha: f64) -> Result<Self> {
        Self::new(alpha)
    }
}

impl From<DualObjective> for f64 {
    fn from(objective: DualObjective) -> Self {
        objective.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::gradcheck;

    #[test]
    fn weights_are_the_derivatives() {
        let objective = DualObjective::new(1.5).unwrap();
        let (auto, paraphrase) = objective.weights(2.5);
        let f = |losses: &[f64]| 2.5 * objective.value(losses[0], losses[1]);
        assert!(gradcheck::max_relative_error(f, &[3.0, 4.0], &[auto, paraphrase]) < 1e-9);
        assert!(gradcheck::max_relative_error(f, &[3.0, 4.0], &[paraphrase, auto]) > 0.3);
    }

    #[test]
    fn lambda_and_alpha_are_one_number() {
        for lambda in [-0.9, 0.0, 0.1, 1.0 / 3.0, 0.999] {
            assert!((DualObjective::from_lambda(lambda).unwrap().lambda() - lambda).abs() < 1e-12);
        }
        assert!((DualObjective::default().lambda() - 1.0 / 3.0).abs() < 1e-15);
        for (auto, paraphrase) in [(2.0, 3.0), (5.0, 0.5)] {
            let held = auto + paraphrase + 0.25 * (paraphrase - auto);
            let objective = DualObjective::from_lambda(0.25).unwrap();
            assert!((0.75 * objective.value(auto, paraphrase) - held).abs() < 1e-12);
        }
    }

    #[test]
    fn weights_outside_their_range() {
        for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(DualObjective::new(alpha).is_err(), "{alpha}");
        }
        for lambda in [-1.0, 1.0, 1.5, f64::NAN] {
            assert!(DualObjective::from_lambda(lambda).is_err(), "{lambda}");
        }
        assert!(DualObjective::new(1e-300).is_ok());
        assert!(serde_json::from_str::<DualObjective>("0.0").is_err());
        let objective = DualObjective::new(1.5).unwrap();
        assert_eq!(
            serde_json::from_str::<DualObjective>(&serde_json::to_string(&objective).unwrap()).unwrap(),
            objective
        );
    }

    #[test]
    fn alpha_is_a_hyperparameter_in_its_range() {
        let mut objective = DualObjective::default();
        let [alpha] = &objective.hyperparameters()[..] else { panic!("one") };
        assert_eq!((alpha.name, objective.alpha()), ("alpha", DEFAULT_ALPHA));
        assert!(objective.set("alpha", "3.5").unwrap());
        assert_eq!(objective, DualObjective::new(3.5).unwrap());
        assert!(!objective.set("margin", "0.5").unwrap(), "not its own");
        assert_eq!(objective.alpha(), 3.5);
        for (alpha, good) in [(1e-300, true), (0.0, false), (-1.0, false), (f64::INFINITY, false), (f64::NAN, false)] {
            assert_eq!(DualObjective { alpha }.check_ranges().is_ok(), good, "{alpha}");
        }
    }

    #[test]
    fn a_lambda_out_of_range_is_named_and_not_the_alpha_that_would_follow() {
        for lambda in [-1.0, 1.0, 1.5, -1.5] {
            let error = DualObjective::from_lambda(lambda).unwrap_err().to_string();
            assert!(error.contains("lambda"), "{error}");
        }
    }
}
