"""Nested cross-validation of logistic regression by scikit-learn, on the vectors that probe-speed wrote.

    python probe_speed.py VECTORS.tsv [OUTER_FOLDS [JOBS]]

10 x 10 stratified folds, the outer ones those of probe-speed, C from 2^0 to 2^8, LogisticRegressionCV with its default
solver. OUTER_FOLDS below 10 stops after so many outer folds. JOBS processes share the inner folds. Set
OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, as probe-speed --peer does, which runs this script and reads its last
line. CPU time is that of this process, which with several JOBS is not where the work is done.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    data = np.loadtxt(sys.argv[1], dtype=np.float32)
    fold_of, y, x = data[:, 0].astype(int), data[:, 1].astype(int), data[:, 2:]
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    began, started, scores = time.perf_counter(), time.process_time(), []
    for outer in range(limit):
        train, test = fold_of != outer, fold_of == outer
        inner = StratifiedKFold(10, shuffle=True, random_state=2 + outer)
        model = LogisticRegressionCV(Cs=2.0 ** np.arange(9), cv=inner, max_iter=300, n_jobs=jobs if jobs > 1 else None)
        scores.append(model.fit(x[train], y[train]).score(x[test], y[test]))
        seconds = time.process_time() - started
        print(f"fold {outer}: accuracy {scores[-1]:.4f}, C = {model.C_[0]:g}, {seconds:.1f} s", flush=True)
    cpu, wall = time.process_time() - started, time.perf_counter() - began
    mean, sd = np.mean(scores), np.std(scores, ddof=1)
    print(f"accuracy {mean:.4f} (sd {sd:.4f}), {cpu:.1f} s CPU time, {wall:.1f} s wall time")


if __name__ == "__main__":
    main()
