//! p-values of several tests: correction and format.

use crate::error::Result;

/// Applies Holm's correction to the p-values that are defined.
pub(crate) fn corrected(p_values: &[Option<f64>]) -> Result<Vec<Option<f64>>> {
    let mut holm = senv_metrics::holm(&p_values.iter().copied().flatten().collect::<Vec<_>>())?.into_iter();
    Ok(p_values.iter().map(|p| p.and_then(|_| holm.next())).collect())
}

/// Formats a p-value; `-` if it is undefined.
pub(crate) fn p_text(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 1e-99 => "<1e-99".to_owned(),
        Some(p) if p < 1e-4 => format!("{p:.0e}"),
        Some(p) => format!("{p:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_values_keep_their_places_and_count_as_no_test() {
        // Two tests: 2 · .01, then .04 itself.
        let got = corrected(&[None, Some(0.04), None, Some(0.01)]).unwrap();
        assert_eq!(got, [None, Some(0.04), None, Some(0.02)]);
        assert_eq!(corrected(&[None]).unwrap(), [None]);
        assert!(corrected(&[Some(2.0)]).is_err());
        assert_eq!([None, Some(0.0), Some(3e-5), Some(0.25)].map(p_text), ["-", "<1e-99", "3e-5", "0.2500"]);
    }
}
