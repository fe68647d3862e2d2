#!/usr/bin/env python3
"""Runs what `quartet settings --to transformers` writes, and compares it with `quartet generate`.

    pip install torch transformers
    cargo build --locked
    tests/interop/execute_transformers.py [QUARTET] [PANE...]

For each pane, the exported Python code is executed with a fixture of `tests/architectures` as its
model. A pane that draws no random numbers must give the same tokens. One that does is made to take
Quartet's tokens, and at each of them the number of tokens that transformers could draw and the
probability of the one taken must be Quartet's.

A pane whose export says a difference in a note may differ; any other difference fails. Versions of
the last run: torch 2.15.0, transformers 5.24.0. It is no part of the tests, because those run
without Python; without transformers, it says so and ends with success.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ["llama", "gpt2", "qwen3"]
PROMPT = "t1 t17 t42 t5 t33 t17 t42 t9"
N_TOKENS = 24
TOLERANCE = 2e-4

# Every filter and way of writing that the exporter knows, alone and together.
PANES = [
    "greedy",
    "repeat 1.3 last all, greedy",
    "repeat 0.8 last all, greedy",
    "no-repeat 2 last all, greedy",
    "bias 7 2.5 33 -1.5, greedy",
    "ban 42 17 5, greedy",
    "bias 7 2.5 ban 42 17, repeat 1.2 last all, no-repeat 3 last all, greedy",
    "green-list 2 ratio 0.25 key 7 window 1, greedy",
    "green-list 2 ratio 0.5 key 7 window 4, greedy",
    'guide 1.5 against "t3 t9 t11", greedy',
    "guide 2, greedy",
    "greedy, drafts 4 ngram 2",
    "sample",
    "temp 0.7",
    "temp 1.8",
    "top-k 10, dialect transformers",
    "top-p 0.8",
    "min-p 0.1",
    "typical-p 0.8, dialect transformers",
    "epsilon 0.01",
    "eta 0.02",
    "top-h 0.4",
    "temp 0.9, top-h 0.6, top-k 20, top-p 0.9, min-p 0.05, typical-p 0.9, epsilon 0.001, eta 0.002, "
    "dialect transformers",
    "bias 7 2.5 ban 42, repeat 1.2 last all, no-repeat 3 last all, temp 1.5, top-p 0.9, "
    "dialect transformers",
    "green-list 2 ratio 0.25 key 7 window 1, dialect transformers",
    "synth-id 2 keys 5 6 7, dialect transformers",
    "temp 0.7, top-p 0.9, synth-id 3 keys 5 6, dialect transformers",
    'guide 1.5 against "t3 t9 t11", temp 0.9',
    "beams 4",
    "beams 4, dialect transformers",
    "beams 3 length 0.5 early 1, dialect transformers",
    "beams 8 length 0 early 2, dialect transformers",
    "no-repeat 2 last all, beams 4",
    "no-repeat 2 last all, beams 4, dialect transformers",
    "repeat 1.3 last all, beams 4, dialect transformers",
    "repeat 1.3 last all, beams 4, dialect transformers, beam-scores renormalized",
    "bias 7 2.5 ban 42 17, repeat 1.2 last all, beams 5, dialect transformers",
    # Those that must say a difference.
    "repeat 1.3 last all, beams 4",
    "repeat 1.3 last 3, greedy",
    "top-p 0.9, temp 2",
    "frequency 0.5, greedy",
]

# The note on every export that sets a seed.
OF_THE_DRAWS = "has its own random numbers"


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done


def folder_of(name, into):
    """A copy of a fixture with a tokenizer, in which token 17 is written t17."""
    folder = Path(into) / name
    folder.mkdir()
    for file in ("config.json", "model.safetensors"):
        shutil.copy(ROOT / "tests/architectures/fixtures" / name / file, folder / file)
    n_tokens = json.loads((folder / "config.json").read_text())["vocab_size"]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {f"t{n}": n for n in range(n_tokens)},
                  "unk_token": "t0"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def of_quartet(quartet, folder, pane):
    """The prompt's tokens and the steps of the pane's text."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "run.json"
        run([quartet, "generate", "--model", folder, "--prompt", PROMPT, "--pane", pane,
             "--max-tokens", str(N_TOKENS), "--json", file])
        document = json.loads(file.read_text())
    tokens = document["prompt"]["tokens"]
    tokens = [token["id"] if isinstance(token, dict) else token for token in tokens]
    return tokens, document["panes"][0]["steps"]


def exported(quartet, pane):
    """The Python code for a pane, and the notes on it."""
    done = run([quartet, "settings", "--pane", pane, "--to", "transformers",
                "--max-tokens", str(N_TOKENS)])
    notes = [line for line in done.stderr.splitlines() if line.strip()]
    return done.stdout, [note for note in notes if OF_THE_DRAWS not in note]


class Executed:
    """A call of `generate` that takes the tokens of Quartet's text wherever it would draw one."""

    def __init__(self, model, tokenizer, prompt, steps):
        import torch
        self.torch, self.model, self.tokenizer = torch, model, tokenizer
        self.prompt, self.steps = prompt, steps
        self.differences = []

    def generate(self, **arguments):
        self.output = self.model.generate(**arguments)
        return self.output

    def multinomial(self, probs, num_samples=1, **_):
        step = self.steps[self.n_drawn] if self.n_drawn < len(self.steps) else None
        if step is None:
            self.differences.append(f"draws a token more than {len(self.steps)}")
            return probs.argmax(-1, keepdim=True)
        n_kept = int((probs[0] > 0).sum())
        prob = float(probs[0, step["token"]])
        if n_kept != step["n_kept"] or abs(prob - step["final_prob"]) > TOLERANCE:
            self.differences.append(
                f"step {self.n_drawn}: keeps {n_kept} with {prob:.6f}, "
                f"here {step['n_kept']} with {step['final_prob']:.6f}")
        self.n_drawn += 1
        return self.torch.tensor([[step["token"]]])

    def run(self, code):
        ids = self.torch.tensor([self.prompt])
        inputs = {"input_ids": ids, "attention_mask": self.torch.ones_like(ids)}
        names = {"model": self, "tokenizer": self.tokenizer, "inputs": inputs}
        original, self.torch.multinomial = self.torch.multinomial, self.multinomial
        self.n_drawn = 0
        try:
            exec(code, names)
        finally:
            self.torch.multinomial = original
        tokens = self.output[0, len(self.prompt):].tolist()
        own = [step["token"] for step in self.steps]
        if tokens != own:
            self.differences.append(f"{tokens}, here {own}")
        return self.differences


def check(quartet, folder, panes):
    import torch
    import transformers
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.generation_config.pad_token_id = 0
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    counts = {"equal": 0, "told": 0, "silent": 0}
    for pane in panes:
        prompt, steps = of_quartet(quartet, folder, pane)
        code, notes = exported(quartet, pane)
        differences = Executed(model, tokenizer, prompt, steps).run(code)
        outcome = "equal" if not differences else "told" if notes else "silent"
        counts[outcome] += 1
        print(f"{folder.name:6} {outcome:6} {pane}")
        for line in (differences[:2] if outcome == "silent" else notes if differences else []):
            print(f"              {line}")
    return counts


def main():
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"Not run: {' and '.join(missing)} can't be imported (pip install torch transformers)")
        return
    quartet = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/quartet").resolve()
    panes = sys.argv[2:] or PANES
    totals = {"equal": 0, "told": 0, "silent": 0}
    with tempfile.TemporaryDirectory() as place:
        for name in FIXTURES:
            for outcome, n in check(quartet, folder_of(name, place), panes).items():
                totals[outcome] += n
    print(", ".join(f"{n} {outcome}" for outcome, n in totals.items()))
    if totals["silent"]:
        sys.exit(1)


main()
