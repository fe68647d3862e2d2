"""Writes the fixtures beside this file: a tiny random checkpoint for each architecture, as
safetensors and as GGUF, with the logits that transformers computes for one fixed text.

    pip install torch transformers gguf
    python make_fixtures.py [NAME...]

Without names it writes all.
All weights are rounded to 16 bits first, so that both files hold the same numbers. The seeds are
fixed; another version of torch may still draw other numbers, so the fixtures name the versions.
Where GGUF can't say what config.json says, its own logits are there as `gguf_logits`; where a model
reads short texts differently from long ones, the logits of the text's beginning are `short_logits`.
Where a model keeps a state, `greedy` is the text that it writes after `prompt`, the text's first
tokens, each time with the most likely token.
"""

import copy
import importlib.metadata
import json
import math
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers
from safetensors.torch import save_file

HERE = Path(__file__).parent / "fixtures"
N_VOCAB = 64
N_TOKENS = 40
N_ORIGINAL = 16
N_PROMPT = 8
N_GREEDY = {"granite4-h": 32, "lfm2": 200, "qwen3_5": 32}
WINDOW = 9

SIZES = dict(
    vocab_size=N_VOCAB, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    bos_token_id=1, eos_token_id=2, pad_token_id=None,
)
WIDE_HEADS = dict(SIZES, num_attention_heads=2, num_key_value_heads=1, head_dim=16)


def scaled(kind, **numbers):
    return {"rope_type": kind, "rope_theta": 10000.0, **numbers}


def cases():
    """Name, configuration, and what GGUF makes of it: the changes to the configuration."""
    t = transformers
    yield "llama", t.LlamaConfig(**SIZES, rope_parameters=scaled("default")), {}
    yield "llama-linear", t.LlamaConfig(
        **WIDE_HEADS, attention_bias=True, mlp_bias=True, tie_word_embeddings=True,
        rope_parameters=scaled("linear", factor=4.0)), {}
    yield "llama-llama3", t.LlamaConfig(**WIDE_HEADS, rope_parameters=scaled(
        "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=N_ORIGINAL)), {}
    yield "llama-yarn", t.LlamaConfig(**WIDE_HEADS, rope_parameters=scaled(
        "yarn", factor=4.0, original_max_position_embeddings=N_ORIGINAL)), {}
    yield "mistral", t.MistralConfig(
        **SIZES, head_dim=16, sliding_window=WINDOW, rope_parameters=scaled("default")), {
        "sliding_window": None}
    yield "smollm3", t.SmolLM3Config(
        **dict(SIZES, num_hidden_layers=4), rope_parameters=scaled("default")), {}
    yield "qwen2", t.Qwen2Config(
        **SIZES, use_sliding_window=True, sliding_window=WINDOW, max_window_layers=1,
        tie_word_embeddings=True, rope_parameters=scaled("default")), {
        "sliding_window": None, "layer_types": ["full_attention"] * 2}
    yield "qwen3", t.Qwen3Config(**SIZES, head_dim=16, rope_parameters=scaled("default")), {}
    yield "phi3", t.Phi3Config(
        **SIZES, sliding_window=WINDOW, rope_parameters=scaled("default")), {}
    yield "phi3-longrope", t.Phi3Config(
        **{k: v for k, v in WIDE_HEADS.items() if k != "head_dim"},
        original_max_position_embeddings=N_ORIGINAL,
        rope_parameters=scaled("longrope", partial_rotary_factor=0.75,
                               short_factor=[1.0, 1.1, 1.2, 1.4, 1.6, 1.9],
                               long_factor=[1.0, 1.5, 2.5, 3.0, 4.5, 6.0])), {}
    yield "gemma2", t.Gemma2Config(
        **dict(SIZES, num_hidden_layers=4), head_dim=16, sliding_window=WINDOW,
        query_pre_attn_scalar=24, attn_logit_softcapping=2.0, final_logit_softcapping=3.0,
        rope_parameters=scaled("default")), {"query_pre_attn_scalar": 16}
    yield "gemma3", t.Gemma3TextConfig(
        **dict(WIDE_HEADS, num_hidden_layers=7), sliding_window=WINDOW,
        query_pre_attn_scalar=24, rope_parameters={
            "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}), {
        "query_pre_attn_scalar": 16}
    yield "granite", t.GraniteConfig(
        **SIZES, rope_parameters=scaled("default"), embedding_multiplier=3.0,
        attention_multiplier=0.2, residual_multiplier=0.4, logits_scaling=2.5), {}
    yield "olmo2", t.Olmo2Config(
        **SIZES, rope_parameters=scaled("default")), {}
    yield "gpt2", t.GPT2Config(
        vocab_size=N_VOCAB, n_positions=64, n_embd=32, n_layer=2, n_head=4,
        bos_token_id=1, eos_token_id=2), {}
    yield "gemma", t.GemmaConfig(
        **SIZES, head_dim=16, tie_word_embeddings=True, rope_parameters=scaled("default")), {}
    # Seeds go by the order: what is new is last.
    yield "lfm2", t.Lfm2Config(
        **dict(SIZES, num_hidden_layers=3, intermediate_size=72, max_position_embeddings=256),
        block_multiple_of=32, layer_types=["conv", "full_attention", "conv"],
        tie_word_embeddings=True, rope_parameters=scaled("default")), {}
    yield "qwen3_5", t.Qwen3_5TextConfig(
        **dict(SIZES, num_hidden_layers=3), head_dim=16,
        layer_types=["linear_attention", "full_attention", "linear_attention"],
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16,
        linear_value_head_dim=16, rms_norm_eps=1e-4, tie_word_embeddings=True,
        rope_parameters=scaled("default", partial_rotary_factor=0.25)), {}
    granite4 = dict(
        SIZES, shared_intermediate_size=48, num_local_experts=0, num_experts_per_tok=0,
        mamba_n_heads=8, mamba_d_head=8, mamba_d_state=6, mamba_n_groups=2,
        tie_word_embeddings=True, rope_parameters=scaled("default"), embedding_multiplier=3.0,
        attention_multiplier=0.2, residual_multiplier=0.4, logits_scaling=2.5)
    yield "granite4", t.GraniteMoeHybridConfig(
        **granite4, position_embedding_type="rope", layer_types=["full_attention"] * 2), {}
    yield "granite4-h", t.GraniteMoeHybridConfig(
        **dict(granite4, num_hidden_layers=3),
        layer_types=["linear_attention", "full_attention", "linear_attention"]), {}


def model_of(config, seed):
    """A model with weights that leave no part of it without effect."""
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in sorted(model.named_parameters()):
            is_norm = "norm" in name or ".ln_" in name
            scale = {2: 0.3, 3: 0.5}.get(weights.dim(), 0.3 if is_norm else 0.2)
            values = scale * torch.randn(weights.shape, generator=generator)
            if is_norm and name.endswith("weight") and not is_offset(config, name):
                values += 1.0
            weights.copy_(values.half().float())
    return model


def is_offset(config, name):
    """Whether a norm multiplies by 1 more than its weights."""
    kind = config.model_type
    return "gemma" in kind or (kind == "qwen3_5_text" and "linear_attn" not in name)


def logits_of(model, tokens):
    with torch.no_grad():
        return model(torch.tensor([tokens]), use_cache=False).logits[0].float().contiguous()


def greedy_text(model, prompt, n_tokens):
    """The text after a prompt, with the logits of a pass over the whole text for each token."""
    tokens = list(prompt)
    for _ in range(n_tokens):
        tokens.append(int(logits_of(model, tokens)[-1].argmax()))
    return torch.tensor(tokens[len(prompt):])


def with_changes(model, changes, seed):
    config = copy.deepcopy(model.config)
    for key, value in changes.items():
        setattr(config, key, value)
    return model_of(config, seed)


UNUSED = (
    "_name_or_path", "chunk_size_feed_forward", "id2label", "is_encoder_decoder", "label2id",
    "output_attentions", "output_hidden_states", "problem_type", "return_dict",
)


def older(config):
    """The form in which most configurations on the Hub are written."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype", "float32")
    rope = config.pop("rope_parameters", None)
    if config["model_type"] == "gpt2":
        config["n_ctx"] = config["n_positions"]
        return config
    if "full_attention" in rope:
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    rope = dict(rope)
    config["rope_theta"] = rope.pop("rope_theta")
    kind = rope.pop("rope_type")
    if "partial_rotary_factor" in rope:
        config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    if config["model_type"] == "phi3":
        rope.pop("original_max_position_embeddings", None)
    config["rope_scaling"] = None if kind == "default" else {"type": kind, **rope}
    if config["model_type"] == "lfm2":
        # As in the first of its files.
        kinds = enumerate(config["layer_types"])
        config["full_attn_idxs"] = [index for index, kind in kinds if kind == "full_attention"]
        config["block_ff_dim"] = config.pop("intermediate_size")
        config["tie_embedding"] = config.pop("tie_word_embeddings")
    if config["model_type"] == "qwen3_5_text":
        config["full_attention_interval"] = 2
    kinds = config.get("layer_types")
    for key in ("layer_types", "no_rope_layers"):
        config.pop(key, None)
    if config["model_type"] == "granitemoehybrid":
        older_kinds = {"full_attention": "attention", "linear_attention": "mamba"}
        config["layer_types"] = [older_kinds[kind] for kind in kinds]
        config["time_step_limit"] = [0.0, math.inf]
    if "_sliding_window_pattern" in config:
        config["sliding_window_pattern"] = config.pop("_sliding_window_pattern")
    return config


GGUF_NAMES = {"mistral": "llama", "gemma3_text": "gemma3", "granitemoehybrid": "granitehybrid",
              "qwen3_5_text": "qwen35"}
PERMUTED = ("llama", "mistral", "granite", "granitemoehybrid", "smollm3")


def write_gguf(path, model):
    config = model.config
    kind = config.model_type
    arch = GGUF_NAMES.get(kind, kind)
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name(path.stem)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    # Qwen 3.5 counts the block that predicts tokens after the next.
    writer.add_block_count(config.num_hidden_layers + (arch == "qwen35"))
    writer.add_head_count(config.num_attention_heads)
    writer.add_eos_token_id(2)
    if kind == "gpt2":
        writer.add_feed_forward_length(4 * config.n_embd)
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
    else:
        writer.add_feed_forward_length(ffn_size(model))
        writer.add_head_count_kv(n_kv_heads(config))
        writer.add_layer_norm_rms_eps(getattr(config, "rms_norm_eps", None) or config.norm_eps)
        add_rope(writer, config)
    if kind == "lfm2":
        writer.add_shortconv_l_cache(config.conv_L_cache)
    if arch == "qwen35":
        writer.add_full_attention_interval(2)
        writer.add_rope_dimension_sections([1, 1, 0, 0])
        writer.add_nextn_predict_layers(1)
        writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
        writer.add_ssm_group_count(config.linear_num_key_heads)
        writer.add_ssm_time_step_rank(config.linear_num_value_heads)
        writer.add_ssm_state_size(config.linear_key_head_dim)
        writer.add_ssm_inner_size(config.linear_num_value_heads * config.linear_value_head_dim)
    if "head_dim" in config.to_dict():
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    if kind in ("gemma2", "gemma3_text"):
        writer.add_sliding_window(config.sliding_window)
    if kind == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if kind == "phi3":
        writer.add_sliding_window(config.sliding_window or 0)
    if kind == "granitemoehybrid":
        writer.add_rope_scaling_finetuned(config.position_embedding_type == "rope")
        writer.add_ssm_conv_kernel(config.mamba_d_conv)
        writer.add_ssm_group_count(config.mamba_n_groups)
        writer.add_ssm_time_step_rank(config.mamba_n_heads)
        writer.add_ssm_state_size(config.mamba_d_state)
        writer.add_ssm_inner_size(config.mamba_n_heads * config.mamba_d_head)
    if kind in ("granite", "granitemoehybrid"):
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    write_tensors(writer, gguf_tensors(model, arch))


def ffn_size(model):
    """What the weights say: LFM2's configuration gives a width that is adjusted."""
    if model.config.model_type == "granitemoehybrid":
        return model.config.shared_intermediate_size
    if model.config.model_type == "lfm2":
        return model.model.layers[0].feed_forward.w1.out_features
    return model.config.intermediate_size


def n_kv_heads(config):
    """A number for each layer, 0 for one without attention, if there are any."""
    kinds = getattr(config, "layer_types", None) or []
    if config.model_type not in ("granitemoehybrid", "lfm2"):
        return config.num_key_value_heads
    return [config.num_key_value_heads if kind == "full_attention" else 0 for kind in kinds]


def write_tensors(writer, tensors):
    """Matrices in 16 bits, everything else in full precision, as converters do."""
    for name, weights in tensors:
        weights = weights.contiguous().numpy()
        exact = ("conv.conv", "ssm_conv1d", "ssm_a", "ssm_d", "ssm_norm")
        is_matrix = weights.ndim == 2 and not any(
            part in name and "ssm_alpha" not in name for part in exact)
        writer.add_tensor(name, weights.astype(np.float16 if is_matrix else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_rope(writer, config):
    head_dim = getattr(config, "head_dim", config.hidden_size // config.num_attention_heads)
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    if config.model_type in PERMUTED + ("phi3", "qwen3_5_text"):
        writer.add_rope_dimension_count(int(head_dim * rope.get("partial_rotary_factor", 1.0)))
    kind = rope["rope_type"]
    if kind == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    elif kind == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    elif kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(rope, head_dim))
    elif kind == "longrope":
        original = rope["original_max_position_embeddings"]
        ratio = config.max_position_embeddings / original
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(ratio) / math.log(original)))
        for name in ("long", "short"):
            factors = np.array(rope[name + "_factor"], dtype=np.float32)
            writer.add_tensor(f"rope_factors_{name}.weight", factors)


def llama3_factors(rope, head_dim):
    """By how much each plane is slowed, as a converter works it out beforehand."""
    frequencies = rope["rope_theta"] ** -(np.arange(0, head_dim, 2, dtype=np.float64) / head_dim)
    turns = rope["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return (1.0 / ((1.0 - kept) / factor + kept)).astype(np.float32)


def gguf_tensors(model, arch):
    config = model.config
    arch = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}[arch]
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    tied = config.tie_word_embeddings
    for name, weights in model.state_dict().items():
        if tied and name == "lm_head.weight":
            continue
        if config.model_type in PERMUTED and "q_proj" in name:
            weights = permuted(weights, config.num_attention_heads)
        if config.model_type in PERMUTED and "k_proj" in name:
            weights = permuted(weights, config.num_key_value_heads)
        if config.model_type == "gpt2" and weights.dim() == 2 and ".h." in name:
            weights = weights.T
        if name.endswith("norm.weight") and is_offset(config, name):
            weights = weights + 1.0
        if weights.dim() == 3:
            weights = weights.squeeze(1)
        if ".linear_attn." in name:
            yield linear_tensor(name, weights, config)
            continue
        if ".mamba." in name or ".shared_mlp." in name:
            yield from granite4_tensors(name, weights, config)
            continue
        yield names.get_name(name, try_suffixes=(".weight", ".bias")), weights


    if config.model_type == "qwen3_5_text":
        # The block that predicts tokens after the next, which nobody needs to run.
        block = f"blk.{config.num_hidden_layers}"
        yield f"{block}.attn_norm.weight", torch.ones(config.hidden_size)
        yield f"{block}.nextn.enorm.weight", torch.ones(config.hidden_size)


LINEAR_NAMES = {
    "in_proj_qkv.weight": "attn_qkv.weight", "in_proj_z.weight": "attn_gate.weight",
    "in_proj_b.weight": "ssm_beta.weight", "in_proj_a.weight": "ssm_alpha.weight",
    "conv1d.weight": "ssm_conv1d.weight", "dt_bias": "ssm_dt.bias", "A_log": "ssm_a",
    "norm.weight": "ssm_norm.weight", "out_proj.weight": "ssm_out.weight"}


def linear_tensor(name, weights, config):
    """A tensor of Gated DeltaNet, with value heads that share a key head as far apart as can be."""
    prefix, kind = name.split(".linear_attn.")
    n_keys = 2 * config.linear_num_key_heads * config.linear_key_head_dim
    width = config.linear_value_head_dim
    if kind in ("in_proj_qkv.weight", "conv1d.weight"):
        weights = torch.cat([weights[:n_keys], tiled(weights[n_keys:], width, config)])
    elif kind == "in_proj_z.weight":
        weights = tiled(weights, width, config)
    elif kind == "out_proj.weight":
        weights = tiled(weights.T, width, config).T
    elif kind != "norm.weight":
        weights = tiled(weights, 1, config)
    if kind == "A_log":
        weights = -weights.exp()
    return f"blk.{prefix.split('.')[-1]}.{LINEAR_NAMES[kind]}", weights


def tiled(weights, width, config):
    n_key_heads = config.linear_num_key_heads
    groups = weights.reshape(n_key_heads, -1, width, *weights.shape[1:])
    return groups.swapaxes(0, 1).reshape(weights.shape)


MAMBA_NAMES = {
    "in_proj.weight": "ssm_in.weight", "conv1d.weight": "ssm_conv1d.weight",
    "conv1d.bias": "ssm_conv1d.bias", "dt_bias": "ssm_dt.bias", "A_log": "ssm_a", "D": "ssm_d",
    "norm.weight": "ssm_norm.weight", "out_proj.weight": "ssm_out.weight"}


def granite4_tensors(name, weights, config):
    block = f"blk.{name.split('.')[2]}"
    kind = name.split(".", 4)[4]
    if kind == "input_linear.weight":
        gate, up = weights.chunk(2)
        yield f"{block}.ffn_gate.weight", gate
        yield f"{block}.ffn_up.weight", up
    elif kind == "output_linear.weight":
        yield f"{block}.ffn_down.weight", weights
    else:
        if kind == "A_log":
            weights = -weights.exp()
        if kind in ("A_log", "D"):
            weights = weights[:, None]
        if kind == "norm.weight":
            weights = weights.reshape(config.mamba_n_groups, -1)
        yield f"{block}.{MAMBA_NAMES[kind]}", weights


def permuted(weights, n_heads):
    """The two halves of each head's rows, row by row in turn."""
    rest = weights.shape[1:]
    halves = weights.reshape(n_heads, 2, weights.shape[0] // n_heads // 2, *rest)
    return halves.swapaxes(1, 2).reshape(weights.shape)


def write_case(name, config, changes, seed):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    model = model_of(config, seed)
    written = {key: value for key, value in config.to_dict().items() if key not in UNUSED}
    written["architectures"] = [type(model).__name__]
    written["transformers_version"] = transformers.__version__
    if "time_step_limit" in written:
        # As transformers 5 writes it.
        written["time_step_limit"] = [0.0, {"__float__": "Infinity"}]
    for file, form in (("config.json", written), ("config.older.json", older(written))):
        (folder / file).write_text(json.dumps(form, indent=1, sort_keys=True) + "\n")
    tied = config.tie_word_embeddings
    weights = {key: value.half().contiguous() for key, value in model.state_dict().items()
               if not (tied and key == "lm_head.weight")}
    if config.model_type == "gpt2":
        # As openai-community/gpt2 and its kin are stored.
        weights = {key.removeprefix("transformer."): value for key, value in weights.items()}
    if config.model_type == "qwen3_5_text":
        weights["mtp.norm.weight"] = torch.ones(config.hidden_size).half()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_gguf(folder / "model.gguf", model)
    text = torch.randint(3, N_VOCAB, (N_TOKENS,), generator=torch.Generator().manual_seed(7))
    tokens = text.tolist()
    expected = {"tokens": text.to(torch.int64), "logits": logits_of(model, tokens)}
    if changes:
        expected["gguf_logits"] = logits_of(with_changes(model, changes, seed), tokens)
    if "longrope" in name:
        expected["short_logits"] = logits_of(model, tokens[:N_ORIGINAL])
    if name in N_GREEDY:
        expected["prompt"] = text[:N_PROMPT].clone()
        expected["greedy"] = greedy_text(model, tokens[:N_PROMPT], N_GREEDY[name])
    save_file(expected, folder / "expected.safetensors", metadata={"made_with": versions()})
    report(name, expected["logits"])


def versions():
    packages = ("gguf", "safetensors", "torch", "transformers")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)


def report(name, logits):
    moved = (logits[1:] - logits[:-1]).abs().mean().item()
    print(f"{name:16} logits {logits.std().item():.3f}, from token to token {moved:.3f}")


def write_tokenizer():
    words = ["<unk>", "<s>", "</s>"] + [f"w{i}" for i in range(3, N_VOCAB)]
    special = [{"id": i, "content": words[i], "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": True} for i in (1, 2)]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": None, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
        "decoder": None, "model": {"type": "WordLevel", "unk_token": "<unk>",
                                   "vocab": {word: i for i, word in enumerate(words)}}}
    (HERE / "tokenizer.json").write_text(json.dumps(tokenizer) + "\n")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    write_tokenizer()
    for seed, (name, config, changes) in enumerate(cases()):
        if name in (sys.argv[1:] or [name]):
            write_case(name, config, changes, 100 + seed)
