"""Writes beams.json: what transformers' beam search makes of the fixtures of make_fixtures.py.

    pip install torch transformers
    python make_beams.py > beams.json

A case names a fixture, the settings of `generate`, the tokens that end a text, and the result: the
generated tokens, and the total log-prob divided by the length to the power of the length penalty.
"""

import json
import sys
from pathlib import Path

import torch
import transformers

HERE = Path(__file__).parent / "fixtures"
PROMPT = [1, 17, 42, 5, 33]
N_TOKENS = 20


def settings():
    for n_beams in (2, 4, 8):
        for early_stopping in (False, True, "never"):
            for length_penalty in (1.0, 0.0, -0.5, 2.0):
                yield dict(num_beams=n_beams, early_stopping=early_stopping, length_penalty=length_penalty)


def main():
    cases = []
    for name in ("llama", "gpt2", "qwen3", "gemma2"):
        model = transformers.AutoModelForCausalLM.from_pretrained(HERE / name, dtype=torch.float32)
        model.generation_config = transformers.GenerationConfig()
        ends = common_tokens(model)
        for index, arguments in enumerate(settings()):
            case = dict(
                fixture=name, prompt=PROMPT, max_new_tokens=N_TOKENS, end_tokens=ends[: index % 4],
                no_repeat_ngram=(index // 4) % 3 and 2, **arguments)
            case |= result(model, case)
            cases.append(case)
    names = {"torch": torch.__version__, "transformers": transformers.__version__}
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(f'{{"versions": {json.dumps(names)}, "cases": [\n{lines}\n]}}\n')


def common_tokens(model):
    """Tokens that likely texts contain, so that searches with them as ends do end."""
    case = dict(prompt=PROMPT, max_new_tokens=N_TOKENS, end_tokens=[], no_repeat_ngram=2,
                num_beams=4, early_stopping=False, length_penalty=1.0)
    tokens = result(model, case)["tokens"]
    return [tokens[3], tokens[7], tokens[12]]


def result(model, case):
    ids = torch.tensor([case["prompt"]])
    output = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, num_beams=case["num_beams"],
        early_stopping=case["early_stopping"], length_penalty=case["length_penalty"],
        max_new_tokens=case["max_new_tokens"], no_repeat_ngram_size=case["no_repeat_ngram"],
        renormalize_logits=True, eos_token_id=case["end_tokens"] or None, pad_token_id=0,
        return_dict_in_generate=True, output_scores=True)
    tokens = output.sequences[0, len(case["prompt"]):].tolist()
    return dict(tokens=tokens, score=output.sequences_scores[0].item())


main()
