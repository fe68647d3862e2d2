"""How often a likelihood interval holds the value that a text was written with.

Texts of 80 tokens are drawn from rows of random logits that are about as uneven as a model's. For
each text, the likelihood is computed over a fine grid of values, and the drop from the best to the
true value is compared with 1.92 and 3 nats. Needs numpy: `python tests/fit/coverage.py`. The results
are in `assets/BENCHMARKS.md`; `cargo bench --bench coverage` measures the fit itself.
"""

import numpy as np

N_VOCAB, N_TOKENS, N_TEXTS = 60, 80, 1000
TOKENS = np.arange(N_TOKENS)
random = np.random.default_rng(1)


def logits():
    """Rows of logits, each in descending order."""
    ranks = random.random((N_TOKENS, N_VOCAB)) * N_VOCAB + 0.2
    return np.sort(-1.5 * np.log(ranks), axis=1)[:, ::-1]


def softmax(rows):
    shares = np.exp(rows - rows.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def top_p(rows, p):
    probs = softmax(rows)
    return probs * (np.cumsum(probs, 1) - probs < p)


def min_p(rows, p):
    probs = softmax(rows)
    return probs * (probs >= p * probs[:, :1])


def temperature(rows, t):
    return softmax(rows / t)


def ln_likelihood(weights, tokens):
    with np.errstate(divide="ignore"):
        return (np.log(weights[TOKENS, tokens]) - np.log(weights.sum(1))).sum()


def drop(chain, values, truth):
    """Writes one text, and returns how far the truth is below the best, in nats."""
    rows = logits()
    weights = chain(rows, truth)
    ends = weights.cumsum(1) / weights.sum(1, keepdims=True)
    tokens = (ends < random.random((N_TOKENS, 1))).sum(1)
    at_truth = ln_likelihood(weights, tokens)
    best = max(ln_likelihood(chain(rows, value), tokens) for value in values)
    return max(best - at_truth, 0.0)


for name, chain, values, truth in [
    ("top-p 0.8", top_p, np.linspace(0.65, 0.9, 251), 0.8),
    ("min-p 0.1", min_p, np.linspace(0.05, 0.2, 251), 0.1),
    ("temperature 0.9", temperature, np.linspace(0.5, 1.6, 111), 0.9),
]:
    drops = np.array([drop(chain, values, truth) for _ in range(N_TEXTS)])
    shares = ", ".join(f"{(drops <= nats).mean():.1%} within {nats}" for nats in (1.92, 3.0))
    print(f"{name}: mean drop {drops.mean():.2f} nats, {shares}")
