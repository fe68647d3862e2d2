"""Makes watermark_reference.json: what the reference implementations of three watermarks do.

    pip install torch transformers numpy
    pip download --no-deps vllm && unzip vllm-*.whl -d vllm
    python make_watermark_fixtures.py vllm > watermark_reference.json

Green list and SynthID-Text are transformers' own logits processors and detector. Gumbel-max is vLLM's
pseudorandom function and detector, loaded from its source without its other modules, because vLLM does
not run everywhere.
"""

import importlib.util
import json
import random
import sys
import types
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers import PretrainedConfig, SynthIDTextWatermarkingConfig, WatermarkDetector, WatermarkingConfig
from transformers.generation.logits_process import SynthIDTextWatermarkLogitsProcessor, WatermarkLogitsProcessor


def vllm_watermarking(folder):
    """Loads vLLM's watermarking package with the few names that it takes from other modules."""
    root = Path(folder) / "vllm"

    def module(name, **names):
        made = types.ModuleType(name)
        made.__dict__.update(names)
        sys.modules[name] = made
        return made

    def load(name, path):
        spec = importlib.util.spec_from_file_location(name, root / path)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded
        spec.loader.exec_module(loaded)
        return loaded

    for package in ("vllm", "vllm.config", "vllm.v1", "vllm.v1.watermarking"):
        module(package).__path__ = []
    module("vllm.config.watermarking", WatermarkPRFName=str, derive_watermark_key=None)
    module("vllm.v1.watermarking.watermarker", **dict.fromkeys(
        ["DraftContextState", "RandomSampler", "WatermarkSample"], object), Watermarker=type("Watermarker", (), {}),
        SupportsSpeculativeDecoding=type("SupportsSpeculativeDecoding", (), {}))
    prfs = module("vllm.v1.watermarking.prfs")
    prfs.__path__ = []
    base = load("vllm.v1.watermarking.prfs.base", "v1/watermarking/prfs/base.py")
    philox = load("vllm.v1.watermarking.prfs.philox", "v1/watermarking/prfs/philox.py")
    prfs.WatermarkPRF, prfs.PhiloxPRF = base.WatermarkPRF, philox.PhiloxPRF
    prfs.create_prf = lambda name, key: philox.PhiloxPRF(key)
    load("vllm.v1.watermarking.detector", "v1/watermarking/detector.py")
    gumbel = load("vllm.v1.watermarking.gumbel", "v1/watermarking/gumbel.py")
    version = next(Path(folder).glob("vllm-*.dist-info")).name.removeprefix("vllm-").removesuffix(".dist-info")
    return philox.PhiloxPRF, gumbel.GumbelWatermarkDetector, version


def scheme(window):
    """Quartet's window in transformers' words: 1 is the token before, more includes the token itself."""
    name = "lefthash" if window == 1 else "selfhash"
    return {"seeding_scheme": name, "context_width": window}


def rounded(values):
    return [float(f"{value:.7g}") for value in values]


def green_cases(rng):
    cases = []
    for vocab, ratio, key, window in [(50, 0.25, 15485863, 1), (50, 0.5, 42, 1), (64, 0.25, 7, 2), (200, 0.1, 4_000_000_007, 4),
                                      (6144, 0.25, 15485863, 1)]:
        processor = WatermarkLogitsProcessor(vocab, "cpu", ratio, 2.0, key, **scheme(window))
        history = [rng.randrange(vocab) for _ in range(6)]
        logits = [float(np.float32(rng.gauss(0, 3))) for _ in range(vocab)]
        after = processor(torch.tensor([history]), torch.tensor([logits], dtype=torch.float32))[0]
        raised = [token for token in range(vocab) if abs(after[token].item() - logits[token] - 2.0) < 1e-3]
        # Few enough distinct tokens that some n-grams repeat.
        text = [rng.randrange(min(vocab, 12)) for _ in range(80)]
        detector = WatermarkDetector(
            PretrainedConfig(vocab_size=vocab, bos_token_id=-1), "cpu",
            WatermarkingConfig(ratio, 2.0, key, **scheme(window)), ignore_repeated_ngrams=True)
        found = detector(torch.tensor([text]), return_dict=True)
        cases.append({
            "vocab": vocab, "ratio": ratio, "key": key, "window": window, "history": history,
            "logits": rounded(logits) if vocab <= 200 else None, "raised": raised,
            "text": text, "n_scored": int(found.num_tokens_scored[0]), "n_green": int(found.num_green_tokens[0]),
            "z": float(found.z_score[0]),
        })
    return cases


def gumbel_cases(rng, prf, detector):
    cases = []
    for key, window in [(42, 4), (0, 1), (2**32 - 1, 3), (12345, 6), (9, 8)]:
        contexts = [[rng.randrange(150_000) for _ in range(window)] for _ in range(3)]
        contexts.append([-1] * window)
        contexts.append([-1] * (window - 1) + [11])
        tokens = [0, 1, 2, 3, 4, 77, 6143, 151_935]
        uniforms = [[float(prf(key).uniform(torch.tensor([context]), torch.tensor([[token]]))[0, 0]) for token in tokens]
                    for context in contexts]
        text = [rng.randrange(9) for _ in range(60)]
        found = detector(key, window).detect(text)
        cases.append({
            "key": key, "window": window, "contexts": contexts, "tokens": tokens, "uniforms": uniforms,
            "text": text, "n_scored": found.num_scored_tokens, "score": found.score, "p_value": found.p_value,
        })
    return cases


def synth_cases(rng):
    cases = []
    for vocab, keys, window in [(40, [654, 400, 836, 123, 340, 443, 597, 160, 57], 4), (64, [1, 2, 3], 1), (33, [99] * 30, 2)]:
        config = SynthIDTextWatermarkingConfig(ngram_len=window + 1, keys=keys)
        processor = config.construct_processor(vocab, "cpu")
        # The prompt does not count: the state begins with zeros, and sees each generated token.
        text = [5, 9, 5, 9, 5, 9, 3, 3, 3, 3, 8]
        rows = []
        for n in range(len(text)):
            logits = [float("-inf") if rng.random() < 0.2 else float(np.float32(rng.gauss(0, 2))) for _ in range(vocab)]
            ids = torch.tensor([[7, 7] + text[:n]])
            probs = torch.softmax(processor(ids, torch.tensor([logits], dtype=torch.float32))[0].double(), -1)
            if n in (0, 1, 3, 4, 7, 8, 10):
                rows.append({"n": n, "logits": [None if x == float("-inf") else x for x in rounded(logits)],
                             "probs": rounded(probs.tolist())})
        long = [rng.randrange(6) for _ in range(50)]
        fresh = config.construct_processor(vocab, "cpu")
        ids = torch.tensor([long])
        cases.append({
            "vocab": vocab, "keys": keys, "window": window, "text": text, "rows": rows, "long": long,
            "g_values": fresh.compute_g_values(ids)[0].tolist(),
            "counted": fresh.compute_context_repetition_mask(ids)[0].int().tolist(),
        })
    return cases


def main():
    rng = random.Random(29)
    prf, detector, vllm_version = vllm_watermarking(sys.argv[1])
    out = {
        "versions": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
                     "vllm": vllm_version, "python": sys.version.split()[0]},
        "green_list": green_cases(rng),
        "gumbel": gumbel_cases(rng, prf, detector),
        "synth_id": synth_cases(rng),
    }
    parts = [f'"versions": {json.dumps(out["versions"])}']
    for name in ("green_list", "gumbel", "synth_id"):
        parts.append(f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in out[name]) + "\n]")
    print("{" + ",\n".join(parts) + "}")


main()
