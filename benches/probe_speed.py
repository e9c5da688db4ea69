"""Nested cross-validation of logistic regression by scikit-learn, on the vectors that probe-speed wrote.

    python probe_speed.py VECTORS.tsv [OUTER_FOLDS]

10 x 10 stratified folds, the outer ones those of probe-speed, C from 2^0 to 2^8, LogisticRegressionCV with its default solver. OUTER_FOLDS below 10 stops
after so many outer folds. Seconds are of CPU time: set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

warnings.simplefilter("ignore", ConvergenceWarning)
warnings.simplefilter("ignore", FutureWarning)
data = np.loadtxt(sys.argv[1], dtype=np.float32)
fold_of, y, x = data[:, 0].astype(int), data[:, 1].astype(int), data[:, 2:]
limit = int(sys.argv[2]) if len(sys.argv) > 2 else 10
started, scores = time.process_time(), []
for outer in range(limit):
    train, test = fold_of != outer, fold_of == outer
    inner = StratifiedKFold(10, shuffle=True, random_state=2 + outer)
    model = LogisticRegressionCV(Cs=2.0 ** np.arange(9), cv=inner, max_iter=300)
    scores.append(model.fit(x[train], y[train]).score(x[test], y[test]))
    print(f"fold {outer}: accuracy {scores[-1]:.4f}, C = {model.C_[0]:g}, {time.process_time() - started:.1f} s", flush=True)
print(f"accuracy {np.mean(scores):.4f} (sd {np.std(scores, ddof=1):.4f}), {time.process_time() - started:.1f} s")
