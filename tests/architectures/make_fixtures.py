"""Writes the fixtures beside this file: a tiny random checkpoint for each architecture, as
safetensors and as GGUF, with the logits that transformers computes for one fixed text.

    pip install torch transformers gguf
    python make_fixtures.py [NAME...]

Without names it writes all.

All weights are rounded to 16 bits first, so that both files hold the same numbers. The seeds are
fixed; another version of torch may still draw other numbers, so the fixtures name the versions.
Where GGUF can't say what config.json says, its own logits are there as `gguf_logits`; where a model
reads short texts differently from long ones, the logits of the text's beginning are `short_logits`.
The newer fixtures also have what transformers writes greedily after the text's first tokens, as
`greedy`. What makes a family differ from its neighbors is in `undone`: without it, that text differs.
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
N_PROMPT = 24
N_GREEDY = 32
WINDOW = 9

# The seed of the first fixture that has a greedy text.
FIRST_WITH_GREEDY = 116

SIZES = dict(
    vocab_size=N_VOCAB, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    bos_token_id=1, eos_token_id=2, pad_token_id=None,
)
WIDE_HEADS = dict(SIZES, num_attention_heads=2, num_key_value_heads=1, head_dim=16)


SMALL_HEADS = {key: value for key, value in WIDE_HEADS.items() if key != "head_dim"}


def scaled(kind, **numbers):
    return {"rope_type": kind, "rope_theta": 10000.0, **numbers}


def yarn(**numbers):
    return {**scaled("yarn", factor=4.0, original_max_position_embeddings=N_ORIGINAL), **numbers}


PARTIAL = scaled("default", partial_rotary_factor=0.5)
LLAMA3 = scaled(
    "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
    original_max_position_embeddings=N_ORIGINAL)


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
    yield "glm4", t.Glm4Config(
        **SIZES, head_dim=8, attention_bias=True, rope_parameters=PARTIAL), {}
    yield "olmo", t.OlmoConfig(**SIZES, clip_qkv=0.5, rope_parameters=scaled("default")), {}
    yield "stablelm", t.StableLmConfig(**SIZES, use_qkv_bias=True, rope_parameters=PARTIAL), {}
    yield "stablelm-parallel", t.StableLmConfig(
        **SIZES, use_parallel_residual=True, rope_parameters=PARTIAL), {}
    yield "olmo3", t.Olmo3Config(
        **dict(SMALL_HEADS, num_hidden_layers=4), sliding_window=WINDOW, rope_parameters={
            "full_attention": yarn(rope_theta=500000.0),
            "sliding_attention": {"rope_type": "default", "rope_theta": 500000.0}}), {}
    yield "exaone4", t.Exaone4Config(
        **dict(WIDE_HEADS, num_hidden_layers=4), sliding_window=WINDOW, sliding_window_pattern=4,
        rope_parameters=LLAMA3), {}
    yield "exaone4-global", t.Exaone4Config(
        **SIZES, sliding_window=None, layer_types=["full_attention"] * 2, rope_parameters=LLAMA3,
        tie_word_embeddings=True), {}
    yield "ernie4_5", t.Ernie4_5Config(
        **SIZES, head_dim=16, use_bias=True, rope_parameters=scaled("default")), {}
    yield "hunyuan", t.HunYuanDenseV1Config(
        **WIDE_HEADS, rope_parameters=scaled("dynamic", alpha=50.0, factor=1.0)), {}
    yield "arcee", t.ArceeConfig(
        **WIDE_HEADS, mlp_bias=True, rope_parameters=yarn()), {}
    yield "seed_oss", t.SeedOssConfig(**SIZES, head_dim=16, rope_parameters=scaled("default")), {}
    yield "cohere2", t.Cohere2Config(
        **dict(SIZES, num_hidden_layers=4), sliding_window=WINDOW, logit_scale=0.4,
        rope_parameters=scaled("default")), {}
    yield "apertus", t.ApertusConfig(**SMALL_HEADS, rope_parameters=LLAMA3), {}
    # Granite computes what MiniCPM computes, under other names.
    yield "minicpm", t.GraniteConfig(
        **SIZES, rope_parameters=scaled("default"), embedding_multiplier=3.0,
        attention_multiplier=8 ** -0.5, residual_multiplier=0.8 / math.sqrt(2),
        logits_scaling=32 / 12, tie_word_embeddings=True), {}
    yield "ministral3", t.Ministral3Config(
        **WIDE_HEADS, rope_parameters=yarn(
            mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=2.0)), {}
    yield "mistral3", t.Mistral3Config(
        text_config=dict(
            SIZES, model_type="mistral", head_dim=16, sliding_window=None,
            rope_parameters=scaled("default")),
        vision_config=dict(
            model_type="pixtral", hidden_size=8, intermediate_size=8, num_hidden_layers=1,
            num_attention_heads=1, head_dim=8, image_size=4, patch_size=2),
        image_token_index=3, tie_word_embeddings=False), {}
    yield "gemma3-vision", t.Gemma3Config(
        text_config=dict(
            WIDE_HEADS, num_hidden_layers=3, sliding_window=WINDOW, query_pre_attn_scalar=24,
            layer_types=["sliding_attention", "sliding_attention", "full_attention"],
            rope_parameters={
                "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}),
        vision_config=dict(
            model_type="siglip_vision_model", hidden_size=8, intermediate_size=8,
            num_hidden_layers=1, num_attention_heads=1, image_size=4, patch_size=2),
        image_token_index=3, boi_token_index=4, eoi_token_index=5, mm_tokens_per_image=1), {
        "query_pre_attn_scalar": 16}
    yield "qwen3_vl", t.Qwen3VLConfig(
        text_config=dict(
            SIZES, head_dim=16, rope_parameters=scaled(
                "default", mrope_section=[4, 2, 2], mrope_interleaved=True)),
        vision_config=dict(
            depth=1, hidden_size=8, intermediate_size=8, num_heads=1, patch_size=2,
            spatial_merge_size=1, temporal_patch_size=1, out_hidden_size=32,
            num_position_embeddings=4, deepstack_visual_indexes=[0]),
        image_token_id=3, video_token_id=4, vision_start_token_id=5, vision_end_token_id=6,
        tie_word_embeddings=True), {}


def undone(name):
    """Changes to a configuration, each of which undoes something that the family is known for."""
    plain = scaled("default")
    return {
        "glm4": [{"rope_parameters": dict(plain, partial_rotary_factor=1.0)}],
        "olmo": [{"clip_qkv": None}],
        "stablelm": [{"rope_parameters": dict(plain, partial_rotary_factor=1.0)},
                     {"use_parallel_residual": True}],
        "stablelm-parallel": [{"use_parallel_residual": False}],
        "olmo3": [{"sliding_window": 64}, {"layer_types": ["sliding_attention"] * 4},
                  {"rope_parameters": {"full_attention": plain, "sliding_attention": plain}}],
        "exaone4": [{"sliding_window": 64}, {"layer_types": ["sliding_attention"] * 4},
                    {"rope_parameters": plain}],
        "exaone4-global": [{"sliding_window": 64}],
        "hunyuan": [{"rope_parameters": plain}],
        "arcee": [{"hidden_act": "silu"}, {"hidden_act": "relu"}],
        "cohere2": [{"sliding_window": 64}, {"layer_types": ["sliding_attention"] * 4}],
        "apertus": [{"hidden_act": "silu"}, {"rope_parameters": plain}],
        "minicpm": [{"embedding_multiplier": 1.0}, {"residual_multiplier": 1.0}],
        "ministral3": [
            {"rope_parameters": yarn(mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.0)},
            {"rope_parameters": yarn(llama_4_scaling_beta=2.0)}],
    }.get(name, [])


def model_of(config, seed):
    """A model with weights that leave no part of it without effect."""
    config._attn_implementation = "eager"
    auto = transformers.AutoModelForCausalLM
    if hasattr(config, "vision_config"):
        auto = transformers.AutoModelForImageTextToText
    model = auto.from_config(config, dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in sorted(model.named_parameters()):
            is_norm = "norm" in name or ".ln_" in name
            scale = 0.3 if weights.dim() == 2 or is_norm else 0.2
            values = scale * torch.randn(weights.shape, generator=generator)
            if is_norm and name.endswith("weight") and "gemma" not in config.model_type:
                values += 1.0
            weights.copy_(values.half().float())
    return model


def logits_of(model, tokens):
    with torch.no_grad():
        return model(torch.tensor([tokens]), use_cache=False).logits[0].float().contiguous()


def greedy_text(model, prompt):
    """The tokens that follow the prompt if the most likely one is always chosen."""
    tokens = list(prompt)
    while len(tokens) < N_PROMPT + N_GREEDY:
        tokens.append(int(logits_of(model, tokens)[-1].argmax()))
    return tokens[len(prompt):]


def text_config(config):
    return getattr(config, "text_config", config)


def with_changes(model, changes, seed):
    config = copy.deepcopy(model.config)
    for key, value in changes.items():
        setattr(text_config(config), key, value)
    changed = model_of(config, seed)
    changed.load_state_dict(model.state_dict(), strict=False)
    return changed


UNUSED = (
    "_name_or_path", "chunk_size_feed_forward", "id2label", "is_encoder_decoder", "label2id",
    "output_attentions", "output_hidden_states", "problem_type", "return_dict",
)


def older(config):
    """The form in which most configurations on the Hub are written."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype", "float32")
    if "text_config" in config:
        config["text_config"] = older(config["text_config"])
        return config
    rope = config.pop("rope_parameters", None)
    if config["model_type"] == "gpt2":
        config["n_ctx"] = config["n_positions"]
        return config
    if "full_attention" in rope:
        if config["model_type"] != "olmo3":
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
    if config.get("_sliding_window_pattern", 6) == 6 and config.get("num_hidden_layers") != 3:
        config.pop("layer_types", None)
    config.pop("no_rope_layers", None)
    if "_sliding_window_pattern" in config:
        config["sliding_window_pattern"] = config.pop("_sliding_window_pattern")
    return config


GGUF_NAMES = {
    "mistral": "llama", "gemma3_text": "gemma3", "hunyuan_v1_dense": "hunyuan-dense",
    "ministral3": "mistral3", "olmo3": "olmo2", "qwen3_vl_text": "qwen3vl",
}
PERMUTED = (
    "llama", "mistral", "granite", "smollm3", "arcee", "minicpm", "ministral3", "olmo")
# Families with layer norms.
LAYER_NORMS = {"gpt2": "layer_norm_epsilon", "cohere2": "layer_norm_eps",
               "stablelm": "layer_norm_eps", "olmo": None}


def write_gguf(path, model):
    config = text_config(model.config)
    kind = "minicpm" if path.parent.name == "minicpm" else config.model_type
    arch = GGUF_NAMES.get(kind, kind)
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name(path.stem)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_eos_token_id(2)
    if kind == "gpt2":
        writer.add_feed_forward_length(4 * config.n_embd)
    else:
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count_kv(config.num_key_value_heads)
        add_rope(writer, config, kind)
    if kind in LAYER_NORMS:
        writer.add_layer_norm_eps(getattr(config, LAYER_NORMS[kind] or "", 1e-5))
    else:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if config.to_dict().get("head_dim"):
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    add_quirks(writer, config, kind)
    if kind == "apertus":
        for name in ("alpha_p", "alpha_n", "beta", "eps"):
            values = [getattr(layer.mlp.act_fn, name).item() for layer in model.model.layers]
            writer.add_array(f"xielu.{name}", values)
    write_tensors(writer, gguf_tensors(model, config, kind))


def add_quirks(writer, config, kind):
    if kind in ("gemma2", "gemma3_text", "cohere2", "olmo3", "phi3"):
        writer.add_sliding_window(config.sliding_window or 0)
    if kind == "exaone4" and config.sliding_window:
        writer.add_sliding_window(config.sliding_window)
        writer.add_sliding_window_pattern(
            [layer == "sliding_attention" for layer in config.layer_types])
    if kind == "gemma3_text" and config.num_hidden_layers == 3:
        writer.add_sliding_window_pattern(
            [layer == "sliding_attention" for layer in config.layer_types])
    if kind == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if kind == "granite":
        writer.add_attention_scale(config.attention_multiplier)
    if kind in ("granite", "minicpm"):
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if kind == "cohere2":
        writer.add_logit_scale(config.logit_scale)
    if kind == "olmo":
        writer.add_clamp_kqv(config.clip_qkv)
    if kind == "ministral3":
        beta = config.rope_parameters["llama_4_scaling_beta"]
        writer.add_attn_temperature_scale(beta)
    if kind == "qwen3_vl_text":
        writer.add_rope_dimension_sections([4, 2, 2, 0])
        writer.add_num_deepstack_layers(1)
    if kind == "stablelm":
        writer.add_parallel_residual(config.use_parallel_residual)


def write_tensors(writer, tensors):
    """Matrices in 16 bits, everything else in full precision, as converters do."""
    for name, weights in tensors:
        weights = weights.contiguous().numpy()
        writer.add_tensor(name, weights.astype(np.float16 if weights.ndim == 2 else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_rope(writer, config, kind):
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    # Converters raise the base for Hunyuan, as its scaling does.
    growth = rope.get("alpha", 1.0) ** (head_dim / (head_dim - 2))
    writer.add_rope_freq_base(rope["rope_theta"] * growth)
    if kind in PERMUTED + ("phi3", "glm4", "stablelm"):
        writer.add_rope_dimension_count(int(head_dim * rope.get("partial_rotary_factor", 1.0)))
    kind = rope["rope_type"]
    if kind == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    elif kind == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if "mscale_all_dim" in rope:
            writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
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


def gguf_tensors(model, config, kind):
    arch = GGUF_NAMES.get(kind, kind)
    arch = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}[arch]
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for name, weights in stored(model).items():
        if ".act_fn." in name:
            continue
        if hasattr(model.config, "vision_config"):
            if "language_model." not in name and "lm_head" not in name:
                continue
            name = name.replace("language_model.", "")
        if kind in PERMUTED and "q_proj" in name:
            weights = permuted(weights, config.num_attention_heads)
        if kind in PERMUTED and "k_proj" in name:
            weights = permuted(weights, config.num_key_value_heads)
        if kind == "gpt2" and weights.dim() == 2 and ".h." in name:
            weights = weights.T
        if "gemma" in kind and name.endswith("norm.weight"):
            weights = weights + 1.0
        yield names.get_name(name, try_suffixes=(".weight", ".bias")), weights


def stored(model):
    """The weights of a file, which leaves out a head that is the embedding table."""
    tied = model.config.tie_word_embeddings
    return {name: weights for name, weights in model.state_dict().items()
            if not (tied and name == "lm_head.weight")}


def permuted(weights, n_heads):
    """The two halves of each head's rows, row by row in turn."""
    rest = weights.shape[1:]
    halves = weights.reshape(n_heads, 2, weights.shape[0] // n_heads // 2, *rest)
    return halves.swapaxes(1, 2).reshape(weights.shape)


def config_json(model, name):
    written = {key: value for key, value in model.config.to_dict().items() if key not in UNUSED}
    if "text_config" in written:
        written["text_config"] = {
            key: value for key, value in written["text_config"].items() if key not in UNUSED}
    written["architectures"] = [type(model).__name__]
    written["transformers_version"] = transformers.__version__
    if name == "minicpm":
        written |= {
            "architectures": ["MiniCPMForCausalLM"], "model_type": "minicpm", "dim_model_base": 12,
            "scale_depth": 0.8, "scale_emb": written.pop("embedding_multiplier")}
        for key in ("attention_multiplier", "residual_multiplier", "logits_scaling"):
            written.pop(key)
    return written


def write_case(name, config, changes, seed):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    model = model_of(config, seed)
    written = config_json(model, name)
    for file, form in (("config.json", written), ("config.older.json", older(written))):
        (folder / file).write_text(json.dumps(form, indent=1, sort_keys=True) + "\n")
    weights = {key: value.half().contiguous() for key, value in stored(model).items()}
    if config.model_type == "gpt2":
        # As openai-community/gpt2 and its kin are stored.
        weights = {key.removeprefix("transformer."): value for key, value in weights.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_gguf(folder / "model.gguf", model)
    text = torch.randint(3, N_VOCAB, (N_TOKENS,), generator=torch.Generator().manual_seed(7))
    tokens = text.tolist()
    expected = {"tokens": text.to(torch.int64), "logits": logits_of(model, tokens)}
    if changes:
        expected["gguf_logits"] = logits_of(with_changes(model, changes, seed), tokens)
    if "longrope" in name:
        expected["short_logits"] = logits_of(model, tokens[:N_ORIGINAL])
    if seed >= FIRST_WITH_GREEDY:
        prompt = tokens[:N_PROMPT]
        greedy = greedy_text(model, prompt)
        expected["greedy"] = torch.tensor(greedy)
        for changes in undone(name):
            assert greedy_text(with_changes(model, changes, seed), prompt) != greedy, changes
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
