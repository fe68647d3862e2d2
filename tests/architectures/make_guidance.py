"""Writes guidance.json: what transformers' classifier-free guidance makes of the fixtures of
make_fixtures.py.

    pip install torch transformers
    python make_guidance.py > guidance.json

A case names a fixture, the prompt, the scale and the second prompt (empty: the last token of the
prompt takes its place, as without `negative_prompt_ids`), and the result: the generated tokens, and
for each of them the log-probs of the mixture at some tokens.
"""

import json
import sys
from pathlib import Path

import torch
import transformers

HERE = Path(__file__).parent / "fixtures"
PROMPT = [1, 17, 42, 5, 33]
N_TOKENS = 20
SHOWN = [0, 5, 23, 45, 63]


def main():
    cases = []
    for name in ("llama", "gpt2", "qwen3", "gemma2"):
        model = transformers.AutoModelForCausalLM.from_pretrained(HERE / name, dtype=torch.float32)
        model.generation_config = transformers.GenerationConfig()
        for scale in (0.0, 0.7, 1.5, 3.0, -0.5):
            for second in ([], [9], [9, 50, 4, 21, 33, 60, 8]):
                case = dict(fixture=name, prompt=PROMPT, scale=scale, second=second)
                case |= result(model, case)
                cases.append(case)
    names = {"torch": torch.__version__, "transformers": transformers.__version__}
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(f'{{"versions": {json.dumps(names)}, "shown": {SHOWN}, "cases": [\n{lines}\n]}}\n')


def result(model, case):
    ids = torch.tensor([case["prompt"]])
    second = torch.tensor([case["second"]]) if case["second"] else None
    output = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=N_TOKENS,
        guidance_scale=case["scale"], negative_prompt_ids=second, eos_token_id=None, pad_token_id=0,
        return_dict_in_generate=True, output_scores=True)
    tokens = output.sequences[0, len(case["prompt"]):].tolist()
    rows = [scores[0].log_softmax(-1)[SHOWN] for scores in output.scores]
    return dict(tokens=tokens, log_probs=[[round(x, 5) for x in row.tolist()] for row in rows])


main()
