//! What a rule remembers of a word table, and how it moves the rows: those of a batch alone, or all of them.
//!
//! A word table is large and a batch touches few of its rows. The *sparse* rule moves those alone: the moments of the
//! others neither decay nor push. The *dense* rule is the papers' exact one: every row moves at every step, by its
//! moments, by the pull towards where it started, and by its gradient where it has one.

use ndarray::ArrayView2;

use super::rule::{Rule, check_rate};
use crate::{Error, Float, Result, Table, TokenId};

/// A force of `strength` (w − w₀) towards the rows a table started from: the gradient of ½ strength |w − w₀|².
#[derive(Debug, Clone, Copy)]
pub struct Pull<'a> {
    /// w₀, of the same shape.
    pub initial: &'a Table,
    /// How strong; 0 for none.
    pub strength: f32,
}

/// A table that a rule moves, and what it remembers of it.
#[derive(Debug, Clone)]
pub struct TableOptimizer {
    rule: Rule,
    moments: Vec<Table>,
    n_steps: u64,
}

impl TableOptimizer {
    /// The state before the first step, for a table of this shape.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a hyperparameter is out of range, [`Error::TooLarge`] if there is no memory.
    pub fn new(rule: Rule, table: &Table) -> Result<Self> {
        let n = rule.check()?.n_moments();
        let moments: Result<Vec<Table>> = (0..n).map(|_| Table::zeros(table.n_rows(), table.dim())).collect();
        Ok(Self { rule, moments: moments?, n_steps: 0 })
    }

    /// The state as it was: of a checkpoint.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the rule has another number of moments.
    pub fn from_parts(rule: Rule, moments: Vec<Table>, n_steps: u64) -> Result<Self> {
        let expected = rule.check()?.n_moments();
        if moments.len() != expected {
            return Err(Error::ShapeMismatch { what: "moments of a table", expected, got: moments.len() });
        }
        Ok(Self { rule, moments, n_steps })
    }

    /// The moments, each of the shape of the table.
    #[must_use]
    pub fn moments(&self) -> &[Table] {
        &self.moments
    }

    /// Steps taken so far.
    #[must_use]
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// The sparse rule: one step of the rows of `tokens` (ascending, each once) against `d_rows`, shape
    /// `(n_tokens, dim)`; all other rows stay as they are.
    ///
    /// Runs on the threads of the present rayon pool, with the same bits at any number of them.
    ///
    /// # Errors
    /// As [`TableOptimizer::update_all`].
    pub fn update_rows(
        &mut self,
        lr: f64,
        table: &mut Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        pull: Option<Pull<'_>>,
    ) -> Result<()> {
        self.update(lr, table, tokens, d_rows, pull, false)
    }

    /// The dense rule: one step of every row; `d_rows` holds the gradient of the rows of `tokens`, it is zero elsewhere.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `lr` is negative or not finite or if the tokens do not rise;
    /// [`Error::ShapeMismatch`] if a shape is not that of the table the state was made for. Nothing is changed then.
    pub fn update_all(
        &mut self,
        lr: f64,
        table: &mut Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        pull: Option<Pull<'_>>,
    ) -> Result<()> {
        self.update(lr, table, tokens, d_rows, pull, true)
    }

    fn update(
        &mut self,
        lr: f64,
        table: &mut Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        pull: Option<Pull<'_>>,
        every_row: bool,
    ) -> Result<()> {
        check_rate(lr)?;
        self.check_shapes(table, tokens, d_rows, pull)?;
        self.n_steps += 1;
        let step = self.rule.check()?.at::<f32>(self.n_steps, lr);
        let pull = pull.filter(|pull| pull.strength != 0.0);
        let (dim, n_rows) = (table.dim(), table.n_rows());
        let d_rows = d_rows.as_standard_layout();
        let d_rows = d_rows.as_slice().unwrap_or(&[]);
        let n_first = self.moments.len().min(1);
        let (first, second) = self.moments.split_at_mut(n_first);
        let mut none: [f32; 0] = [];
        let m = first.first_mut().map_or((&mut none[..], 0), with_stride);
        let mut none: [f32; 0] = [];
        let v = second.first_mut().map_or((&mut none[..], 0), with_stride);
        let x = with_stride(table);
        let rows = RowsOf { first: 0, n_rows, parts: [x, m, v], tokens, d_rows };
        let grain = if every_row { 256 } else { 64 };
        rows.split(dim, every_row, grain, &|row, scratch, x, d_x, m, v| {
            if let Some(Pull { initial, strength }) = pull {
                scratch.copy_from_slice(x);
                f32::axpy(-1.0, crate::Rows::row(initial, row), scratch);
                f32::scale(strength, scratch);
                if !d_x.is_empty() {
                    f32::add_to(d_x, scratch);
                }
                step.apply(x, scratch, [m, v]);
            } else if d_x.is_empty() {
                scratch.fill(0.0);
                step.apply(x, scratch, [m, v]);
            } else {
                step.apply(x, d_x, [m, v]);
            }
        });
        Ok(())
    }

    fn check_shapes(
        &self,
        table: &Table,
        tokens: &[TokenId],
        d_rows: ArrayView2<'_, f32>,
        pull: Option<Pull<'_>>,
    ) -> Result<()> {
        let shape = (table.n_rows(), table.dim());
        let others = self.moments.iter().chain(pull.as_ref().map(|pull| pull.initial));
        for other in others {
            for (expected, got) in [(shape.0, other.n_rows()), (shape.1, other.dim())] {
                if expected != got {
                    return Err(Error::ShapeMismatch { what: "table of an update", expected, got });
                }
            }
        }
        for (expected, got) in [(tokens.len(), d_rows.nrows()), (shape.1, d_rows.ncols())] {
            if expected != got {
                return Err(Error::ShapeMismatch { what: "gradient of rows", expected, got });
            }
        }
        let rising = tokens.windows(2).all(|w| w[0] < w[1]);
        if !rising || tokens.last().is_some_and(|last| last.index() >= shape.0) {
            let got = format!("{} tokens out of order, repeated or past the table", tokens.len());
            return Err(Error::InvalidParameter { name: "tokens", requirement: "rising and in the table", got });
        }
        Ok(())
    }
}

fn with_stride(table: &mut Table) -> (&mut [f32], usize) {
    let stride = table.stride();
    (table.values_mut(), stride)
}

/// A run of rows of a table and its moments, and the gradients that fall into it.
struct RowsOf<'a> {
    /// Number of the first row.
    first: usize,
    n_rows: usize,
    /// The numbers of the table and of the moments, with their strides; empty where there is none.
    parts: [(&'a mut [f32], usize); 3],
    tokens: &'a [TokenId],
    d_rows: &'a [f32],
}

impl<'a> RowsOf<'a> {
    /// Splits until a run has at most `grain` rows to work on, then works on them in order. Runs are disjoint slices,
    /// so no row is seen by two threads.
    fn split<W>(self, dim: usize, every_row: bool, grain: usize, work: &W)
    where
        W: Fn(usize, &mut [f32], &mut [f32], &[f32], &mut [f32], &mut [f32]) + Sync,
    {
        let n = if every_row { self.n_rows } else { self.tokens.len() };
        if n <= grain {
            return self.each(dim, every_row, work);
        }
        let (middle_row, middle_token) = if every_row {
            let row = self.first + n / 2;
            (row, self.tokens.partition_point(|token| token.index() < row))
        } else {
            (self.tokens[n / 2].index(), n / 2)
        };
        let rows = middle_row - self.first;
        let [x, m, v] = self.parts.map(|(values, stride)| {
            let (left, right) = values.split_at_mut((rows * stride).min(values.len()));
            ((left, stride), (right, stride))
        });
        let (left_tokens, right_tokens) = self.tokens.split_at(middle_token);
        let (left_d, right_d) = self.d_rows.split_at(middle_token * dim);
        let left =
            Self { first: self.first, n_rows: rows, parts: [x.0, m.0, v.0], tokens: left_tokens, d_rows: left_d };
        let right = Self {
            first: middle_row,
            n_rows: self.n_rows - rows,
            parts: [x.1, m.1, v.1],
            tokens: right_tokens,
            d_rows: right_d,
        };
        rayon::join(|| left.split(dim, every_row, grain, work), || right.split(dim, every_row, grain, work));
    }

    fn each<W>(self, dim: usize, every_row: bool, work: &W)
    where
        W: Fn(usize, &mut [f32], &mut [f32], &[f32], &mut [f32], &mut [f32]),
    {
        let Self { first, n_rows, parts: [(x, x_stride), (m, m_stride), (v, v_stride)], tokens, d_rows } = self;
        let mut scratch = vec![0.0; dim];
        let span = |len: usize, start: usize| if len == 0 { 0..0 } else { start..start + dim };
        let mut one = |row: usize, d_x: &[f32]| {
            let at = row - first;
            let (x_span, m_span) = (span(x.len(), at * x_stride), span(m.len(), at * m_stride));
            let v_span = span(v.len(), at * v_stride);
            work(row, &mut scratch, &mut x[x_span], d_x, &mut m[m_span], &mut v[v_span]);
        };
        let mut gradients = tokens.iter().zip(d_rows.chunks_exact(dim.max(1))).peekable();
        if every_row {
            for row in first..first + n_rows {
                one(row, gradients.next_if(|(token, _)| token.index() == row).map_or(&[], |(_, d_x)| d_x));
            }
        } else {
            gradients.for_each(|(token, d_x)| one(token.index(), d_x));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::{AdaGradParams, AdamParams, ParametersOptimizer};
    use crate::{Parameters, Rows, stream};
    use rand::RngExt;

    fn numbers(n: usize, seed: u64) -> Vec<f32> {
        let mut rng = stream(seed, "table tests", &[]);
        (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    const RULES: fn() -> [Rule; 3] =
        || [Rule::Sgd, Rule::AdaGrad(AdaGradParams::default()), Rule::Adam(AdamParams::default())];

    /// 700 rows of 19 numbers after six steps on some rows, on so many threads.
    fn trained(rule: Rule, every_row: bool, pull: f32, threads: usize) -> Vec<Vec<f32>> {
        let mut table = Table::zeros(700, 19).unwrap();
        (0..700).for_each(|row| table.row_mut(row).copy_from_slice(&numbers(19, row as u64)));
        let initial = table.clone();
        let mut optimizer = TableOptimizer::new(rule, &table).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for step in 0..6 {
            let tokens: Vec<TokenId> = (step..700).step_by(step as usize + 1).map(TokenId).collect();
            let d_rows =
                ndarray::Array2::from_shape_vec((tokens.len(), 19), numbers(tokens.len() * 19, 9000 + u64::from(step)));
            let pull = Some(Pull { initial: &initial, strength: pull });
            let d_rows = d_rows.unwrap();
            pool.install(|| {
                if every_row {
                    optimizer.update_all(0.01, &mut table, &tokens, d_rows.view(), pull)
                } else {
                    optimizer.update_rows(0.01, &mut table, &tokens, d_rows.view(), pull)
                }
            })
            .unwrap();
        }
        assert_eq!(optimizer.n_steps(), 6);
        table.iter().map(<[f32]>::to_vec).collect()
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        for rule in RULES() {
            for every_row in [false, true] {
                let one = trained(rule, every_row, 0.1, 1);
                assert!(one == trained(rule, every_row, 0.1, 2) && one == trained(rule, every_row, 0.1, 5));
            }
        }
    }

    /// Row `row` as the rule for arrays moves it: one array, a gradient of zero where the row is not touched.
    fn as_array(rule: Rule, row: u32, every_row: bool, pull: f32) -> Vec<f32> {
        let mut x = Parameters::new();
        let initial = numbers(19, u64::from(row));
        x.push("row", [1, 19], initial.clone()).unwrap();
        let mut optimizer = ParametersOptimizer::new(rule, &x).unwrap();
        for step in 0..6 {
            let place = (step..700).step_by(step as usize + 1).position(|token| token == row);
            let n = (step..700).step_by(step as usize + 1).count();
            let mut d_x = x.zeros_like();
            for (i, d) in d_x[0].values_mut().iter_mut().enumerate() {
                *d = pull * (x[0].values()[i] - initial[i]);
                if let Some(place) = place {
                    *d += numbers(n * 19, 9000 + u64::from(step))[place * 19 + i];
                }
            }
            // Where the sparse rule leaves the row alone, time passes for its corrections alone.
            let before = (x.clone(), optimizer.clone());
            optimizer.update(0.01, &mut x, &d_x).unwrap();
            if place.is_none() && !every_row {
                x = before.0;
                let n_steps = optimizer.n_steps();
                optimizer = before.1;
                optimizer.skip_to(n_steps);
            }
        }
        x[0].values().to_vec()
    }

    #[test]
    fn a_row_moves_as_an_array_of_its_own() {
        for rule in RULES() {
            for every_row in [false, true] {
                for pull in [0.0, 0.3] {
                    let table = trained(rule, every_row, pull, 2);
                    for row in [0, 1, 2, 5, 120, 359, 699] {
                        let expected = as_array(rule, row, every_row, pull);
                        for (got, expected) in table[row as usize].iter().zip(&expected) {
                            assert!((got - expected).abs() < 1e-6, "{rule:?} {every_row} row {row}: {got} {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn gradients_that_do_not_fit_change_nothing() {
        let mut table = Table::zeros(3, 2).unwrap();
        let mut optimizer = TableOptimizer::new(Rule::default(), &table).unwrap();
        let d = ndarray::Array2::<f32>::ones((2, 2));
        for tokens in [[1, 1], [2, 1], [1, 3]] {
            let tokens = tokens.map(TokenId);
            assert!(optimizer.update_rows(0.1, &mut table, &tokens, d.view(), None).is_err());
        }
        assert!(optimizer.update_rows(f64::NAN, &mut table, &[0, 1].map(TokenId), d.view(), None).is_err());
        assert!(optimizer.update_rows(0.1, &mut table, &[TokenId(0)], d.view(), None).is_err());
        let other = Table::zeros(4, 2).unwrap();
        let pull = Some(Pull { initial: &other, strength: 0.1 });
        assert!(optimizer.update_all(0.1, &mut table, &[0, 1].map(TokenId), d.view(), pull).is_err());
        assert_eq!((table.row(0), optimizer.n_steps()), (&[0.0, 0.0][..], 0));
        assert!(TableOptimizer::from_parts(Rule::Sgd, vec![other], 3).is_err());
    }
}
