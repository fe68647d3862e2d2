"""Makes judged.json: what scipy and the formula of a paper say about small random cases.

    python -m venv VENV && VENV/bin/pip install numpy scipy
    VENV/bin/python tests/statistics/judged.py

Shares of right answers are counts out of `n_answers`. Each paired case has at most 12 prompts on which
the two settings differ, so that scipy tries every sign flip. scipy gets the counts instead of the
shares: their sums have no rounding errors.
"""

import json
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, permutation_test

random = np.random.default_rng(55)


def mean_difference(a, b, axis=-1):
    return np.mean(a - b, axis=axis)


def paired():
    n_answers = int(random.choice([1, 2, 3, 5, 10]))
    n = int(random.integers(4, 31))
    a = random.binomial(n_answers, random.beta(0.7, 0.7, n))
    b = a.copy()
    differing = random.permutation(n)[: random.integers(4, 13)]
    b[differing] = random.binomial(n_answers, random.beta(0.6, 1.8, len(differing)))
    differ = a != b
    # scipy takes no sample of one.
    if differ.sum() < 2:
        return paired()
    found = permutation_test(
        (a[differ], b[differ]),
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative="two-sided",
    )
    case = {"n_answers": n_answers, "a": a.tolist(), "b": b.tolist()}
    return case | {"p_value": float(found.pvalue)}


def pass_at_k(n, c, k):
    """As printed in Chen et al. 2021, "Evaluating large language models trained on code", figure 3."""
    if n - c < k:
        return 1.0
    return 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))


def passing():
    n = int(random.integers(1, 201))
    c, k = int(random.integers(0, n + 1)), int(random.integers(1, n + 1))
    return {"n": n, "n_right": c, "k": k, "prob": float(pass_at_k(n, c, k))}


def wilson():
    n = int(random.integers(2, 201))
    n_right = int(random.integers(0, n + 1))
    interval = binomtest(n_right, n).proportion_ci(method="wilson")
    return {"n": n, "n_right": n_right, "low": float(interval.low), "high": float(interval.high)}


cases = {
    "paired": [paired() for _ in range(100)],
    "pass_at_k": [passing() for _ in range(60)],
    "wilson": [wilson() for _ in range(60)],
}
lines = [
    f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in group) + "\n]"
    for name, group in cases.items()
]
Path(__file__).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
