"""Makes decoding_reference.json: what the reference implementations do with random scores.

    pip install torch transformers numpy && python make_hf_fixtures.py > decoding_reference.json

"transformers" cases run transformers' own logits processors. "vllm" cases are not vLLM's
own output, because vLLM does not run everywhere: they are the rules of its v1 sampler in numpy
(penalties, then temperature, min-p, top-k, top-p). What happens at ties and at the bounds was compared
with the source of its PyTorch path (vllm/v1/sample/sampler.py at 00ec9781 for top-k and top-p,
logits_processor/builtin.py at 0272a72c for min-p); its GPU kernels were not looked at.

"paper" cases are filters that none of these engines has released, in numpy: p-less (arXiv 2509.23234,
p >= the sum of all p^2) and min-k (arXiv 2604.11012, compared with pull request 48142 of vLLM). Among
equals at the end, min-k keeps the lowest ids.

A case holds the scores (or, for a large vocabulary, the number of tokens of the formula below), the
stages in the words of `--pane`, and the probability of every token that is left, by id.
"""

import json
import random
import sys

import numpy as np
import torch
import transformers
from transformers.generation import logits_process as lp

LOW = float("-inf")


def formula(n):
    """Scores that any language computes exactly: 24 bits of a multiplicative hash, over 2^20, less 8."""
    ids = np.arange(n, dtype=np.uint64)
    bits = ((ids * 2654435761) % 2**32) >> 8
    return (bits.astype(np.float64) / 2**20 - 8).astype(np.float32)


def processor(stage):
    name, value = stage
    return {
        "repeat": lambda: lp.RepetitionPenaltyLogitsProcessor(value),
        "no-repeat": lambda: lp.NoRepeatNGramLogitsProcessor(value),
        "temp": lambda: lp.TemperatureLogitsWarper(value),
        "top-h": lambda: lp.TopHLogitsWarper(value),
        "top-k": lambda: lp.TopKLogitsWarper(value),
        "top-p": lambda: lp.TopPLogitsWarper(value),
        "min-p": lambda: lp.MinPLogitsWarper(value),
        "typical-p": lambda: lp.TypicalLogitsWarper(value),
        "epsilon": lambda: lp.EpsilonLogitsWarper(value),
        "eta": lambda: lp.EtaLogitsWarper(value),
    }[name]()


def run_transformers(logits, history, n_prompt, stages):
    scores = torch.tensor(logits, dtype=torch.float32)[None]
    ids = torch.tensor([history], dtype=torch.long)
    for stage in stages:
        scores = processor(stage)(ids, scores)
    return torch.softmax(scores[0].double(), -1).numpy()


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def run_vllm(logits, history, n_prompt, stages):
    logits = np.array(logits, dtype=np.float64)
    output = history[n_prompt:]
    for name, value in stages:
        if name == "repeat":
            seen = sorted(set(history))
            logits[seen] = np.where(logits[seen] > 0, logits[seen] / value, logits[seen] * value)
        elif name == "frequency":
            for token in output:
                logits[token] -= value
        elif name == "presence":
            logits[sorted(set(output))] -= value
        elif name == "temp":
            logits = logits / value
        elif name == "min-p":
            probs = softmax(logits)
            logits = np.where(probs < value * probs.max(), LOW, logits)
        elif name == "top-k":
            kth = np.sort(logits)[-min(value, len(logits))]
            logits = np.where(logits < kth, LOW, logits)
        elif name == "top-p":
            order = np.argsort(logits, kind="stable")
            removed = np.cumsum(softmax(logits)[order]) <= 1 - value
            removed[-1] = False
            logits[order[removed]] = LOW
    return softmax(logits)


def run_paper(logits, history, n_prompt, stages):
    logits = np.array(logits, dtype=np.float64)
    for name, value in stages:
        if name == "temp":
            logits = logits / value
        elif name == "p-less":
            probs = softmax(logits)
            logits = np.where(probs < value * np.sum(probs**2) - 1e-15, LOW, logits)
        elif name == "min-k":
            order = np.argsort(-logits, kind="stable")
            ordered = logits[order][np.isfinite(logits[order])]
            span = ordered[0] - ordered[-1] + 1e-8
            ranks = np.arange(1, len(ordered))
            decay = (ordered[:-1] - ordered[1:]) / span / ranks
            cliff = int(np.argmax(decay)) + 1 if len(decay) else 1
            kept = max(cliff, int(min(max(value, 0) // span, len(logits))))
            logits[order[kept:]] = LOW
    return softmax(logits)


def words(engine, stage):
    name, value = stage
    window = ""
    if name in ("repeat", "no-repeat"):
        window = " last all"
    if name in ("frequency", "presence"):
        window = " last all generated only"
    return f"{name} {value}{window}"


def main():
    rng = random.Random(20)
    cases = []

    def case(engine, title, logits, stages, history=(), n_prompt=0):
        run = {"transformers": run_transformers, "vllm": run_vllm, "paper": run_paper}[engine]
        large = isinstance(logits, int)
        scores = formula(logits) if large else np.array(logits, dtype=np.float32)
        probs = run(scores, list(history), n_prompt, stages)
        kept = {int(id): float(f"{probs[id]:.9g}") for id in np.nonzero(probs)[0]}
        if large:
            ids = sorted(kept, key=lambda id: (-kept[id], id))
            kept = {"n_kept": len(kept), "head": {id: kept[id] for id in ids[:5]}}
        cases.append({
            "engine": engine,
            "title": title,
            "n_formula": logits if large else None,
            "logits": None if large else [None if x == LOW else float(x) for x in scores],
            "history": list(history),
            "n_prompt": n_prompt,
            "stages": ", ".join(words(engine, stage) for stage in stages),
            "kept": None if large else kept,
            "large": kept if large else None,
        })

    rows = {
        "random": [float(np.float32(rng.gauss(0, 3))) for _ in range(50)],
        "ties": [float(rng.choice([-2, -1, 0, 1, 2])) for _ in range(12)],
        "impossible": [LOW if rng.random() < 0.4 else float(np.float32(rng.gauss(0, 2))) for _ in range(20)],
        "all equal": [1.5] * 10,
        "one candidate": [0.25],
        "a sure one": [20.0] + [float(np.float32(rng.gauss(0, 1))) for _ in range(15)],
    }
    cuts = [("top-k", 5), ("top-k", 1), ("top-p", 0.9), ("top-p", 0.5), ("min-p", 0.05), ("min-p", 0.5),
            ("typical-p", 0.3), ("typical-p", 0.9), ("epsilon", 0.01), ("epsilon", 0.2), ("eta", 0.01),
            ("eta", 0.3), ("temp", 0.7), ("temp", 2.0), ("top-h", 0.35), ("top-h", 0.75)]
    for title, row in rows.items():
        for stage in cuts:
            # Which of several equals top-p and top-h keep is left to torch's sort; see the test of
            # dialects.
            if not (stage[0] in ("top-p", "top-h") and title in ("ties", "all equal")):
                case("transformers", title, row, [stage])
    history = [3, 7, 3, 11, 4, 3, 7]
    case("transformers", "penalty", rows["random"], [("repeat", 1.3)], history, 4)
    case("transformers", "runs", rows["random"], [("no-repeat", 2)], history, 4)
    case("transformers", "runs", rows["random"], [("no-repeat", 3)], history, 4)
    case("transformers", "runs", rows["random"], [("no-repeat", 1)], history, 4)
    case("transformers", "whole chain", rows["random"],
         [("repeat", 1.1), ("no-repeat", 3), ("temp", 0.8), ("top-k", 20), ("top-p", 0.95), ("min-p", 0.02)], history, 4)
    case("transformers", "whole chain", rows["random"],
         [("temp", 1.4), ("top-k", 30), ("typical-p", 0.8), ("epsilon", 0.005), ("eta", 0.01)])
    case("transformers", "whole chain", rows["random"],
         [("temp", 1.3), ("top-h", 0.9), ("top-k", 20), ("top-p", 0.95), ("min-p", 0.02)])
    case("transformers", "large", 50257, [("temp", 0.7), ("top-h", 0.5)])
    for stages in ([("temp", 0.7), ("top-k", 50), ("top-p", 0.9)], [("min-p", 0.5)], [("typical-p", 0.2)],
                   [("top-k", 1000)], [("top-p", 0.3)]):
        case("transformers", "large", 50257, stages)

    for title, row in rows.items():
        for stages in ([("top-k", 5)], [("min-p", 0.3)], [("temp", 0.7), ("min-p", 0.1), ("top-k", 8)]):
            case("vllm", title, row, stages)
    case("vllm", "penalties", rows["random"], [("repeat", 1.3), ("frequency", 0.4), ("presence", 0.6)], history, 4)
    case("vllm", "whole chain", rows["random"],
         [("repeat", 1.1), ("frequency", 0.2), ("presence", 0.1), ("temp", 0.8), ("min-p", 0.02), ("top-k", 20), ("top-p", 0.9)],
         history, 4)
    case("vllm", "large", 50257, [("temp", 0.7), ("min-p", 0.01), ("top-k", 200), ("top-p", 0.9)])

    for title, row in rows.items():
        for stages in ([("p-less", 1.0)], [("p-less", 0.5)], [("temp", 1.7), ("p-less", 1.0)], [("min-k", 3.0)],
                       [("min-k", 0.0)], [("min-k", 60.0)], [("temp", 4.0), ("min-k", 3.0)]):
            case("paper", title, row, stages)
    for stages in ([("p-less", 1.0)], [("min-k", 3.0)], [("temp", 20.0), ("min-k", 100.0)]):
        case("paper", "large", 50257, stages)

    out = {
        "versions": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
                     "numpy": np.__version__, "python": sys.version.split()[0]},
        "formula": "logit of token i: ((i * 2654435761 mod 2^32) >> 8) / 2^20 - 8",
    }
    body = ",\n".join(json.dumps(case) for case in cases)
    print(json.dumps(out)[:-1] + ', "cases": [\n' + body + "\n]}")


main()
