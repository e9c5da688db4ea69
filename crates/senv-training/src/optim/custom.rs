//! Custom update rules, supplied by a program.

use std::{
    any::Any,
    fmt::{self, Debug},
    sync::Arc,
};

use senv_base::{
    Error, Result,
    registry::{Registered, Registry},
};
use senv_kernels::Float;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A custom update rule. [`UpdateRule::custom`](super::UpdateRule::custom) makes an [`UpdateRule`](super::UpdateRule)
/// from it, which can be used wherever one is accepted.
///
/// The change of a value must depend only on its own gradient and state, not on adjacent values. Arrays are divided
/// among threads, and the rows of a batch are updated separately from the rest of a table. The state of a value is up
/// to two numbers, which start at zero; checkpoints store them.
pub trait CustomUpdate: Any + Debug + Send + Sync {
    /// The number of state values per parameter: 0, 1 or 2.
    fn n_moments(&self) -> usize {
        0
    }

    /// Step `t`, counted from 1, at learning rate `lr`: updates `x` with its gradient `d_x` of equal length. The
    /// `moments` that the rule has are of this length; the others are empty.
    fn update(&self, t: u64, lr: f64, x: &mut [f32], d_x: &[f32], moments: [&mut [f32]; 2]);
}

static REGISTRY: Registry<dyn CustomUpdate> =
    Registry::new("update rule", &["adam", "adam-folded", "adam-skip-thoughts", "adagrad", "adadelta", "sgd"]);

/// The name of a rule of [`UpdateRule::custom`](super::UpdateRule::custom). Models open with any name; training
/// requires the rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CustomRule(&'static Registered<dyn CustomUpdate>);

impl CustomRule {
    /// Registers a rule under a name.
    pub(super) fn enter(name: &str, rule: Arc<dyn CustomUpdate>) -> Result<Self> {
        let of = (&*rule as &dyn Any).type_id();
        let rule = Self(REGISTRY.enter(name, of, rule)?);
        rule.check()?;
        Ok(rule)
    }

    /// The registered rule with this name, if there is one.
    pub(super) fn entered(name: &str) -> Option<Self> {
        REGISTRY.find(name).map(Self)
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    pub(super) fn check(self) -> Result<&'static dyn CustomUpdate> {
        let rule = self.0.get().ok_or_else(|| Error::MissingUpdateRule { name: self.name().to_owned() })?;
        let n = rule.n_moments();
        super::check(n <= 2, "moments of an update rule", "0, 1 or 2", n as f64)?;
        Ok(rule)
    }
}

impl Debug for CustomRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self.0, f)
    }
}

impl Serialize for CustomRule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for CustomRule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        REGISTRY.named(&String::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

/// The number of values passed to a rule at a time.
const PIECE: usize = 256;

/// A step in any precision; the rule computes in f32.
pub(super) fn apply<F: Float>(rule: &dyn CustomUpdate, t: u64, lr: f64, x: &mut [F], d_x: &[F], [m, v]: [&mut [F]; 2]) {
    let n_moments = rule.n_moments();
    let [mut xs, mut ds, mut ms, mut vs] = [[0.0_f32; PIECE]; 4];
    let load = |to: &mut [f32], from: &[F]| to.iter_mut().zip(from).for_each(|(to, from)| *to = from.wide() as f32);
    let store =
        |to: &mut [F], from: &[f32]| to.iter_mut().zip(from).for_each(|(to, &from)| *to = F::of(f64::from(from)));
    for (i, (x, d_x)) in x.chunks_mut(PIECE).zip(d_x.chunks(PIECE)).enumerate() {
        let n = x.len();
        let part = |len: usize| (i * PIECE).min(len)..(i * PIECE + n).min(len);
        let (of_m, of_v) = (part(m.len()), part(v.len()));
        let (m, v) = (&mut m[of_m], &mut v[of_v]);
        load(&mut xs, x);
        load(&mut ds, d_x);
        load(&mut ms, m);
        load(&mut vs, v);
        let [has_m, has_v] = [1, 2].map(|place| if n_moments >= place { n } else { 0 });
        rule.update(t, lr, &mut xs[..n], &ds[..n], [&mut ms[..has_m], &mut vs[..has_v]]);
        store(x, &xs);
        store(m, &ms);
        store(v, &vs);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use senv_base::TokenId;
    use senv_kernels::Table;

    use super::*;
    use crate::{
        Parameters,
        optim::{ParametersOptimizer, TableOptimizer, UpdateRule},
    };

    /// Heavy-ball momentum, with the first gradient of a value as a second moment.
    #[derive(Debug)]
    struct Momentum;

    impl CustomUpdate for Momentum {
        fn n_moments(&self) -> usize {
            2
        }

        fn update(&self, t: u64, lr: f64, x: &mut [f32], d_x: &[f32], [m, first]: [&mut [f32]; 2]) {
            for (i, x) in x.iter_mut().enumerate() {
                m[i] = 0.5 * m[i] + d_x[i];
                first[i] = if t == 1 { d_x[i] } else { first[i] };
                *x -= lr as f32 * m[i];
            }
        }
    }

    #[derive(Debug)]
    struct Plain;

    impl CustomUpdate for Plain {
        fn update(&self, _: u64, lr: f64, x: &mut [f32], d_x: &[f32], [m, v]: [&mut [f32]; 2]) {
            assert!(m.is_empty() && v.is_empty());
            x.iter_mut().zip(d_x).for_each(|(x, d)| *x -= lr as f32 * d);
        }
    }

    #[derive(Debug)]
    struct Greedy;

    impl CustomUpdate for Greedy {
        fn n_moments(&self) -> usize {
            3
        }

        fn update(&self, _: u64, _: f64, _: &mut [f32], _: &[f32], _: [&mut [f32]; 2]) {}
    }

    fn momentum() -> UpdateRule {
        UpdateRule::custom("momentum-half", Arc::new(Momentum)).unwrap()
    }

    /// More values than a thread processes at a time, after two steps with gradients of 1 and 1 at a rate of 0.5.
    fn stepped<F: Float>(rule: UpdateRule, n: usize) -> ParametersOptimizer<F> {
        let mut x = Parameters::<F>::new();
        x.push("x", [1, n], (0..n).map(|i| F::of((i % 8) as f64)).collect()).unwrap();
        let mut optimizer = ParametersOptimizer::new(rule, &x).unwrap();
        let mut ones = x.zeros_like();
        ones[0].values_mut().fill(F::of(1.0));
        let start = x.clone();
        (0..2).for_each(|_| optimizer.update(0.5, &mut x, &ones).unwrap());
        // By hand: steps of 0.5 · 1 and, with momentum, 0.5 · 1.5.
        let way = F::of(if matches!(rule, UpdateRule::Custom(rule) if rule.name() == "plain") { 1.0 } else { 1.25 });
        assert!(x[0].values().iter().zip(start[0].values()).all(|(&x, &start)| x == start - way));
        optimizer
    }

    #[test]
    fn every_value_takes_its_step_in_both_precisions() {
        let plain = UpdateRule::custom("plain", Arc::new(Plain)).unwrap();
        for n in [1, PIECE, PIECE + 1, 100_000] {
            for rule in [plain, momentum()] {
                stepped::<f32>(rule, n);
                stepped::<f64>(rule, n);
            }
        }
        let saved = serde_json::to_value(stepped::<f32>(momentum(), 2)).unwrap();
        assert_eq!(saved["rule"], serde_json::json!({ "custom": "momentum-half" }));
        assert!(saved.to_string().contains("1.5"), "the state is in checkpoints: {saved}");
    }

    #[test]
    fn rows_of_a_table_that_rest_keep_their_state() {
        let mut table = Table::zeros(3, 2).unwrap();
        let mut optimizer = TableOptimizer::new(momentum(), &table).unwrap();
        for rows in [&[0, 2][..], &[2]] {
            let rows: Vec<TokenId> = rows.iter().copied().map(TokenId).collect();
            let d = Array2::ones((rows.len(), 2));
            optimizer.update_rows(1.0, &mut table, &rows, d.view(), None).unwrap();
        }
        assert_eq!([0, 1, 2].map(|i| table.row_mut(i)[1]), [-1.0, 0.0, -2.5]);
        let again = TableOptimizer::from_parts(momentum(), optimizer.moments().to_vec(), 2).unwrap();
        assert_eq!((again.moments().len(), again.n_steps()), (2, 2));
    }

    #[test]
    fn a_name_is_kept_in_files_and_asked_for_when_training_starts() {
        let text = r#"{"custom":"never-entered"}"#;
        let rule: UpdateRule = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&rule).unwrap(), text);
        let error = ParametersOptimizer::new(rule, &Parameters::<f32>::new()).unwrap_err();
        assert!(matches!(&error, Error::MissingUpdateRule { name } if name == "never-entered"), "{error}");
        assert!(serde_json::from_str::<UpdateRule>(r#"{"custom":"two words"}"#).is_err());
        assert_eq!((momentum(), UpdateRule::entered("momentum-half")), (momentum(), Some(momentum())));
        assert_eq!(UpdateRule::entered("never-entered"), None);
        for (name, rule) in [("sgd", Arc::new(Plain) as Arc<dyn CustomUpdate>), ("momentum-half", Arc::new(Plain))] {
            momentum();
            assert!(matches!(UpdateRule::custom(name, rule), Err(Error::NameTaken { .. })), "{name}");
        }
        assert!(matches!(UpdateRule::custom("greedy", Arc::new(Greedy)), Err(Error::InvalidParameter { .. })));
    }
}
