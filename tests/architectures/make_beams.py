"""Writes beams.json: what transformers' beam search makes of the fixtures of make_fixtures.py, with
the library's defaults.

    pip install torch transformers
    python make_beams.py > beams.json

A case names a fixture, the settings of `generate`, the tokens that end a text, and the result: the
generated tokens, and the total score divided by the length to the power of the length penalty.
`renormalize` is there for the few searches that ask for `renormalize_logits=True`. `temperature` and
`top_k` are not used by `generate` unless it samples; here they are passed as processors, which a
search applies after the others.
"""

import json
import sys
from pathlib import Path

import torch
import transformers

HERE = Path(__file__).parent / "fixtures"
PROMPT = [1, 17, 42, 5, 33]
N_TOKENS = 20
N_ENDS = 3

# What the processors of a search are, besides the n-gram rule of the first round.
PROCESSORS = [
    dict(repetition_penalty=1.3),
    dict(repetition_penalty=1.05, no_repeat_ngram_size=3),
    dict(repetition_penalty=0.8),
    dict(no_repeat_ngram_size=1),
    dict(suppress_tokens=[33, 5, 50], repetition_penalty=2.0),
    dict(sequence_bias=[[[7], 2.5], [[33], -1.5]]),
    dict(sequence_bias=[[[7], 2.5]], suppress_tokens=[42, 17], no_repeat_ngram_size=2),
    dict(temperature=0.7),
    dict(top_k=3, repetition_penalty=1.2),
    dict(temperature=1.5, top_k=8, no_repeat_ngram_size=2),
    dict(repetition_penalty=1.3, renormalize=True),
    dict(no_repeat_ngram_size=2, suppress_tokens=[33], renormalize=True),
]


def settings():
    """The shapes of a search, with an n-gram rule in two of three, and then the processors."""
    index = 0
    for n_beams in (2, 4, 8):
        for early_stopping in (False, True, "never"):
            for length_penalty in (1.0, 0.0, -0.5, 2.0):
                yield dict(
                    num_beams=n_beams, early_stopping=early_stopping, length_penalty=length_penalty,
                    no_repeat_ngram_size=(index // 4) % 3 and 2)
                index += 1
    for index, processors in enumerate(PROCESSORS):
        for n_beams in (2, 5):
            yield dict(num_beams=n_beams, early_stopping=(index + n_beams) % 3 == 0,
                       length_penalty=1.0 if index % 2 else 0.5, **processors)


def main():
    cases = []
    for name in ("llama", "gpt2", "qwen3", "gemma2"):
        model = transformers.AutoModelForCausalLM.from_pretrained(HERE / name, dtype=torch.float32)
        model.generation_config = transformers.GenerationConfig()
        ends = common_tokens(model)
        for index, arguments in enumerate(settings()):
            case = dict(
                fixture=name, prompt=PROMPT, max_new_tokens=N_TOKENS,
                end_tokens=ends[: index % (N_ENDS + 1)], **arguments)
            case |= result(model, case)
            cases.append(case)
    names = {"torch": torch.__version__, "transformers": transformers.__version__}
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(f'{{"versions": {json.dumps(names)}, "cases": [\n{lines}\n]}}\n')


def common_tokens(model):
    """Tokens that likely texts contain, so that searches with them as ends do end."""
    case = dict(prompt=PROMPT, max_new_tokens=N_TOKENS, end_tokens=[], no_repeat_ngram_size=2,
                num_beams=4, early_stopping=False, length_penalty=1.0)
    tokens = result(model, case)["tokens"]
    return [tokens[3], tokens[7], tokens[12]]


def processors(case):
    """The processors that `generate` only adds when it samples."""
    kinds = transformers.generation.logits_process
    chosen = []
    if "temperature" in case:
        chosen.append(kinds.TemperatureLogitsWarper(case["temperature"]))
    if "top_k" in case:
        chosen.append(kinds.TopKLogitsWarper(case["top_k"]))
    return transformers.LogitsProcessorList(chosen)


def result(model, case):
    ids = torch.tensor([case["prompt"]])
    names = ("num_beams", "early_stopping", "length_penalty", "max_new_tokens",
             "no_repeat_ngram_size", "repetition_penalty", "suppress_tokens", "sequence_bias")
    arguments = {name: case[name] for name in names if name in case}
    if "renormalize" in case:
        arguments["renormalize_logits"] = case["renormalize"]
    output = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, **arguments,
        logits_processor=processors(case), eos_token_id=case["end_tokens"] or None, pad_token_id=0,
        return_dict_in_generate=True, output_scores=True)
    tokens = output.sequences[0, len(case["prompt"]):].tolist()
    return dict(tokens=tokens, score=output.sequences_scores[0].item())


main()
