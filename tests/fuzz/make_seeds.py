"""Writes the inputs that the fuzzers start from: small valid files, and every input that once failed.

Run it in this folder. It replaces the files that it knows and keeps those that a fuzzer has found.
"""

import json
import struct
from pathlib import Path

TESTS = Path(__file__).parent.parent
CORPUS = Path(__file__).parent / "corpus"


def keep(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def text(value):
    value = value.encode()
    return struct.pack("<Q", len(value)) + value


def gguf(pairs, tensors=b"", n_tensors=0):
    """A GGUF file of version 3 with these keys: integers as u32, floats as f32, texts."""
    body = b""
    for key, value in pairs.items():
        kinds = {int: (4, "<I"), float: (6, "<f")}
        if isinstance(value, str):
            body += text(key) + struct.pack("<I", 8) + text(value)
        else:
            kind, form = kinds[type(value)]
            body += text(key) + struct.pack("<I", kind) + struct.pack(form, value)
    return b"GGUF" + struct.pack("<IQQ", 3, n_tensors, len(pairs)) + body + tensors


def logits(*values):
    return struct.pack(f"<{len(values)}f", *values)


def server_streams():
    """Responses of servers, by target: a usual stream, and what real servers send besides."""
    def event(part):
        return "data: " + json.dumps(part) + "\n\n"

    def llama(identity, text, log_prob=-0.5, **more):
        entry = {"id": identity, "bytes": list(text.encode()), "logprob": log_prob}
        other = {"id": 9, "bytes": [32, 98], "logprob": -2.0}
        probs = [{**entry, "top_logprobs": [entry, other]}]
        return {"content": text, "tokens": [identity], "stop": False,
                "completion_probabilities": probs, **more}

    def openai(text, reason=None, name=None, other=" b", **more):
        name = text if name is None else name
        logprobs = {"tokens": [name], "token_logprobs": [-0.5],
                    "top_logprobs": [{name: -0.5, other: -2.0}]}
        return {"choices": [{"text": text, "finish_reason": reason, "logprobs": logprobs, **more}]}

    def ollama(text, **more):
        entry = {"token": text, "bytes": list(text.encode()), "logprob": -0.5}
        return {"response": text, "done": False,
                "logprobs": [{**entry, "top_logprobs": [entry]}], **more}

    end = {"content": "", "stop": True, "stop_type": "eos", "truncated": False}
    done = "data: [DONE]\n\n"
    yield "server_llama", {
        "usual": event(llama(5, " a")) + event(llama(6, "\u20ac")) + event(end),
        "answer": json.dumps({**llama(5, " a"), "stop": True, "stop_type": "limit"}),
        "drafted": event({**llama(5, " a"), "completion_probabilities": [
            {"id": 5, "bytes": [32, 97], "logprob": 0.0, "top_logprobs": []}]}) + event(end),
        "without-probs": event({"content": "A", "tokens": [5], "stop": False}) + event(end),
        "negative-id": event(llama(-7, " a")),
        "huge-id": event(llama(2**64 - 1, " a")),
        "lowest-float": event(llama(5, " a", -1.7e308)) + event(end),
        "twice": event({**llama(5, " a"), "completion_probabilities": [
            {"id": 5, "logprob": -1, "top_logprobs": [{"id": 5, "logprob": -1}] * 2}]}),
        "error-field": "error: " + json.dumps({"code": 500, "message": "no"}) + "\n\n",
    }
    yield "server_vllm", {
        "usual": event(openai(" a", name="token_id:5", other="token_id:6")) + done,
        "without-probs": event({"choices": [{"text": "A", "token_ids": [5, 6]}]}) + done,
        "negative-id": event(openai(" a", name="token_id:-7", other="token_id:6")),
        "text-as-name": event(openai(" a")),
    }
    yield "server_ollama", {
        "usual": json.dumps(ollama(" a")) + "\n" + json.dumps(
            {"response": "", "done": True, "done_reason": "stop", "eval_duration": 5}) + "\n",
        "answer": json.dumps(ollama(" a", done=True, done_reason="length"), indent=1),
        "without-probs": json.dumps({"response": "A", "done": False}) + "\n",
        "own-word": json.dumps(ollama(" a", done=True, done_reason="unload")) + "\n",
        "part-of-character": json.dumps({"response": "", "logprobs": [
            {"token": "\ufffd", "bytes": [226, 130], "logprob": -0.5}]}) + "\n",
    }
    yield "server_openai", {
        "usual": event(openai(" a")) + event(openai(" b", "stop")) + done,
        "empty-reason": event(openai(" a", "")) + event(openai(" b", "")) + done,
        "blank-events": "data:\n\n: ping\n\n" + event(openai(" a")) + "data\n\n" + done,
        "no-reason": event(openai(" a")) + done,
        "own-word": event(openai(" a", "content_filter")) + done,
        "no-blank-line": event(openai(" a")).strip() + "\n" + event(openai(" b")).strip() + "\n" + done,
        "carriage-returns": (event(openai(" a")) + done).replace("\n", "\r"),
        "both-breaks": "\ufeff" + (event(openai(" a")) + done).replace("\n", "\r\n"),
        "several-lines": "id: 1\nretry: 5\nevent: x\ndata: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n" + done,
        "not-a-number": 'data: {"choices": [{"text": "a", "logprobs": {"tokens": ["a"], '
                        '"token_logprobs": [NaN], "top_logprobs": [{"a": -Infinity}]}}]}\n\n',
        "positive": event(openai(" a")).replace("-0.5", "5.0"),
        "wrong-types": 'data: {"choices": [{"text": 7, "finish_reason": [], "logprobs": {"tokens": '
                       '[1, null], "token_logprobs": "x", "top_logprobs": [[]]}}]}\n\n',
        "chat": event({"choices": [{"delta": {"content": "a"}, "logprobs": {"content": [
            {"token": "a", "bytes": None, "logprob": -0.5, "top_logprobs": []}]}}]}) + done,
        "page": "<!doctype html>",
        "cut": event(openai(" a"))[:60],
    }


def servers():
    for target, streams in server_streams():
        for name, stream in streams.items():
            keep(target, name, stream)


def main():
    for number, pane in enumerate([
        "greedy",
        "temp 0.7, top-p 0.9, seed 7",
        "top-k 40, min-p 0.05, typical-p 0.9, xtc 0.5 threshold 0.1",
        "repeat 1.1 last 64, frequency 0.5, presence 0.5, dry 0.8 breakers 1+2",
        "bias 0 1 3 -2, ban 2, no-repeat 3 last all",
        "mirostat 5, dialect llama.cpp, min-keep 3",
        "green-list 2 ratio 0.5, gumbel-mark 42",
        "drafts 4 ngram 2, name \"My pane\"",
        "beams 4",
        # A bias absorbed by huge logits once gave probabilities that summed to 2 or 4.
        "temp 1e-20, bias 0 1",
    ]):
        keep("pane", f"pane-{number}", pane)
        row = logits(1.0, 1.0, 1.0, 1.0, -2.5)
        keep("chain", f"chain-{number}", pane.encode() + b"\0\3\1\2\1" + row)
    infinite = logits(float("inf"), float("nan"), float("-inf"), 1.0)
    keep("chain", "not-finite", b"sample\0\0" + infinite)
    keep("chain", "thousand-equal", b"top-p 0.3\0\0" + logits(*[0.0] * 1000))

    for path in sorted((TESTS / "tokenizers/templates").glob("*.jinja")):
        keep("chat_template", path.stem, path.read_bytes() + b"\0Why is the sky blue?")
    for name, template in {
        "minus": "{{ " + "-" * 6400 + "1 }}",
        "elif": "{% if a %}" + "{% elif b %}" * 3200 + "{% endif %}",
        "tilde": "{{ 1" + "~1" * 6400 + " }}",
        "not": "{{ " + "not " * 6400 + "a }}",
        "dot": "{{ a" + ".b" * 12800 + " }}",
        "index": "{{ a" + "[0]" * 6400 + " }}",
        "call": "{{ a" + "()" * 6400 + " }}",
        "upper": "{{ 'a'" + "|upper" * 6400 + " }}",
        "ternary": "{{ " + "1 if a else " * 6400 + "1 }}",
    }.items():
        keep("chat_template", f"deep-{name}", template)

    fixtures = TESTS / "architectures/fixtures"
    for family in ["llama", "gemma3", "phi3-longrope", "gpt2", "llama-yarn"]:
        keep("config", family, (fixtures / family / "config.json").read_bytes())
    for family in ["phi", "stablelm"]:
        keep("config", f"{family}-tiny-rope", json.dumps({
            "architectures": [{"phi": "PhiForCausalLM", "stablelm": "StableLmForCausalLM"}[family]],
            "model_type": family, "vocab_size": 32, "hidden_size": 16, "intermediate_size": 32,
            "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2,
            "max_position_embeddings": 64, "layer_norm_eps": 1e-5, "rope_theta": 10000.0,
            "hidden_act": "gelu_new", "partial_rotary_factor": 1e-9, "tie_word_embeddings": False,
            "use_qkv_bias": False, "layer_norm_epsilon": 1e-5,
        }))

    keep("gguf", "llama", (fixtures / "llama/model.gguf").read_bytes())
    keep("gguf", "empty", gguf({}))
    keep("gguf", "lies", gguf({"general.architecture": "llama"}, n_tensors=1 << 60))
    keep("gguf", "phi2-no-rope", gguf({
        "general.architecture": "phi2", "phi2.context_length": 64, "phi2.embedding_length": 16,
        "phi2.block_count": 1, "phi2.attention.head_count": 2, "phi2.attention.head_count_kv": 2,
        "phi2.rope.dimension_count": 0, "phi2.attention.layer_norm_epsilon": 1e-5,
    }))
    weights = (fixtures / "llama/model.safetensors").read_bytes()
    keep("safetensors", "llama", weights)
    keep("safetensors", "cut", weights[:2000])
    keep("safetensors", "long-header", struct.pack("<Q", 1 << 62) + b"{}")

    keep("tokenizer", "small", (fixtures / "tokenizer.json").read_bytes())
    small = json.loads((fixtures / "tokenizer.json").read_text())
    double = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 20}
    for name, change in {
        "doubling": {"normalizer": {"type": "Sequence", "normalizers": [double] * 30}},
        "precompiled": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}},
        "template": {"post_processor": {
            "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<x>", "type_id": 0}}],
            "pair": [], "special_tokens": {},
        }},
        "fixed-length": {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
    }.items():
        keep("tokenizer", name, json.dumps({**small, **change}))

    keep("run_file", "run", (TESTS / "golden/export.json").read_bytes())
    keep("run_file", "cut", (TESTS / "golden/export.json").read_bytes()[:4000])

    servers()

    for name, settings in {
        "llama-flags": "llama-cli --temp 0.7 --top-p 0.9 --top-k 40 --dry-multiplier 0.8 --samplers 'top_k;temperature'",
        "llama-server": '{"temperature": 0.7, "logit_bias": [[5, false]], "samplers": ["top_k"]}',
        "transformers": "sequence_bias=[[[1], float('-inf')]], temperature=0.7",
        "ollama": "PARAMETER temperature 0.7\nPARAMETER stop \"a\"",
        "openai": '{"temperature": 0.7, "top_p": 0.9, "logit_bias": {"5": -100}}',
    }.items():
        keep("settings", name, settings)

    for name, hostile in {
        "plain": "Once upon a time",
        "formula": "=1+2",
        "cell": '"a",b\r\n-1',
        "element": "</td><script>alert(1)</script>&amp;<!--",
        "controls": "\x1b[31m\x00\x9b\u202e\ufeff\t@x",
        "markdown": "| a |\n\n# b `c` ~~~",
    }.items():
        keep("escape", name, hostile)


main()
