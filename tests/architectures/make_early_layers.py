"""Writes early_layers.json: what transformers' `dola_layers` makes of the fixtures of
make_fixtures.py.

    pip install torch transformers==4.54.1
    python make_early_layers.py > early_layers.json

Later versions of transformers moved DoLa to a repository of the Hub, with the same code.

A case names a fixture, the prompt and the candidate layers, and the result: the generated tokens,
and for each of them the layer that it was contrasted with, and the scores of some tokens (null if
the token is below the cutoff). DoLa reads no final norm before the output head.

That version reads the older form of a configuration: of the newer one, it ignores StableLM's
partial rotation. Attention is computed in plain steps, because the faster ways leave out Gemma 2's
cap on attention scores.
"""

import json
import math
import sys
from pathlib import Path

import torch
import transformers
from transformers.generation import utils

HERE = Path(__file__).parent / "fixtures"
PROMPT = [1, 17, 42, 5, 33]
N_TOKENS = 20
SHOWN = [0, 5, 23, 45, 63]
LAYERS = ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2])


def main():
    cases = []
    for name in ("llama", "gpt2", "qwen3", "gemma2", "granite", "olmo2", "stablelm"):
        config = transformers.AutoConfig.from_pretrained(HERE / name / "config.older.json")
        model = transformers.AutoModelForCausalLM.from_pretrained(
            HERE / name, config=config, torch_dtype=torch.float32, attn_implementation="eager")
        model.generation_config = transformers.GenerationConfig()
        for layers in LAYERS:
            if max(layers) < model.config.num_hidden_layers:
                case = dict(fixture=name, prompt=PROMPT, layers=layers)
                case |= result(model, case)
                cases.append(case)
    names = {"torch": torch.__version__, "transformers": transformers.__version__}
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(f'{{"versions": {json.dumps(names)}, "shown": {SHOWN}, "cases": [\n{lines}\n]}}\n')


def result(model, case):
    chosen, contrast = [], utils._dola_select_contrast

    def noting(layers, early, last):
        scores = contrast(layers, early, last)
        chosen.append(next(i for i in layers if torch.equal(contrast([i], early, last), scores)))
        return scores

    utils._dola_select_contrast = noting
    ids = torch.tensor([case["prompt"]])
    output = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=N_TOKENS,
        dola_layers=list(case["layers"]), eos_token_id=None, pad_token_id=0,
        return_dict_in_generate=True, output_scores=True)
    utils._dola_select_contrast = contrast
    tokens = output.sequences[0, len(case["prompt"]):].tolist()
    rows = [scores[0][SHOWN].tolist() for scores in output.scores]
    shown = [[None if math.isinf(score) else round(score, 5) for score in row] for row in rows]
    return dict(tokens=tokens, chosen=chosen, scores=shown)


main()
