"""Writes the fixtures under `borrowed`: a tiny random checkpoint for each architecture that runs
through candle-transformers, with the logits that transformers computes for one fixed text.

    pip install torch transformers gguf
    python make_borrowed.py [NAME...]

Without names it writes all. What `make_fixtures.py` says of its fixtures holds for these too.
"""

import itertools
import json
import sys

import gguf
import torch
import transformers
from safetensors.torch import save_file

import make_fixtures as known
from make_fixtures import N_TOKENS, N_VOCAB, SIZES, scaled

HERE = known.HERE.parent / "borrowed"
PARTIAL = scaled("default", partial_rotary_factor=0.5)
# Those that candle-transformers also reads from GGUF, with llama.cpp's name for them.
GGUF = {"phi": "phi2"}
# What config.json calls a fact of these models.
RENAMED = {
    "recurrent_gemma": {"block_types": "_block_types"},
}


def cases():
    """Name and configuration."""
    t = transformers
    yield "helium", t.HeliumConfig(**SIZES, head_dim=8, rope_parameters=scaled("default"))
    yield "phi", t.PhiConfig(
        **dict(SIZES, num_key_value_heads=4), rope_parameters=PARTIAL)
    yield "starcoder2", t.Starcoder2Config(
        **SIZES, sliding_window=48, rope_parameters=scaled("default"))
    # Seeds go by the order: what is new is last.
    endless = {name: size for name, size in SIZES.items() if name != "max_position_embeddings"}
    yield "gpt_bigcode", t.GPTBigCodeConfig(
        vocab_size=N_VOCAB, n_positions=64, n_embd=32, n_layer=2, n_head=4, n_inner=48,
        bos_token_id=1, eos_token_id=2)
    yield "recurrent_gemma", t.RecurrentGemmaConfig(
        **dict(endless, num_hidden_layers=3), lru_width=40, attention_window_size=48,
        block_types=["recurrent", "attention"],
        rope_parameters=PARTIAL)


def older(config):
    """The form in which most configurations on the Hub are written."""
    if "rope_parameters" in config:
        form = known.older(config)
    else:
        form = {**config, "torch_dtype": "float32"}
        form.pop("dtype", None)
    if "layer_types" in config:
        form["layer_types"] = [
            "attention" if kind == "full_attention" else kind
            for kind in config["layer_types"]]
    for name, older_name in RENAMED.get(config["model_type"], {}).items():
        form[older_name] = form.pop(name)
    return form


def write_gguf(path, model):
    config = model.config
    arch = GGUF[config.model_type]
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_eos_token_id(2)
    head_dim = config.hidden_size // config.num_attention_heads
    writer.add_rope_dimension_count(head_dim // 2)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_eps(config.layer_norm_eps)
    known.write_tensors(writer, gguf_tensors(model, arch))


def gguf_tensors(model, arch):
    arch = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}[arch]
    names = gguf.get_tensor_name_map(arch, model.config.num_hidden_layers)
    state = dict(model.state_dict())
    for layer in range(model.config.num_hidden_layers):
        # Phi-2's file has the matrices of attention in one.
        prefix = f"model.layers.{layer}.self_attn."
        for kind in ("weight", "bias"):
            parts = [prefix + name + "_proj." + kind for name in "qkv"]
            fused = torch.cat([state.pop(part) for part in parts])
            state[f"transformer.h.{layer}.mixer.Wqkv.{kind}"] = fused
    for name, weights in state.items():
        yield names.get_name(name, try_suffixes=(".weight", ".bias")), weights


def write_case(name, config, seed):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    model = known.model_of(config, seed)
    written = {key: value for key, value in config.to_dict().items() if key not in known.UNUSED}
    written["architectures"] = [type(model).__name__]
    written["transformers_version"] = transformers.__version__
    for file, form in (("config.json", written), ("config.older.json", older(written))):
        (folder / file).write_text(json.dumps(form, indent=1, sort_keys=True) + "\n")
    tied = config.tie_word_embeddings
    weights = {key: value.half().contiguous() for key, value in model.state_dict().items()
               if not (tied and key == "lm_head.weight")}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    if name in GGUF:
        write_gguf(folder / "model.gguf", model)
    text = torch.randint(3, N_VOCAB, (N_TOKENS,), generator=torch.Generator().manual_seed(7))
    expected = {"tokens": text.to(torch.int64), "logits": known.logits_of(model, text.tolist())}
    save_file(expected, folder / "expected.safetensors", metadata={"made_with": known.versions()})
    known.report(name, expected["logits"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    # The others were the seeds of families that our decoder runs by now.
    seeds = itertools.chain([202, 205, 207], itertools.count(210))
    for seed, (name, config) in zip(seeds, cases()):
        if name in (sys.argv[1:] or [name]):
            write_case(name, config, seed)
