"""Writes fixtures as `make_fixtures.py` does, for the families that came later.

    pip install torch transformers gguf
    python make_families.py [NAME...]

Without names it writes all. What `make_fixtures.py` says of its fixtures holds for these too. They
also have what transformers writes after `prompt`, the text's first tokens, if it always chooses the
most likely token, as `greedy`. What makes a family differ from its neighbors is in `undone`: without it, that text
must differ.
"""

import copy
import json
import math
import sys

import gguf
import numpy as np
import torch
import transformers
from safetensors.torch import save_file

import make_fixtures as known
from make_fixtures import HERE, N_ORIGINAL, N_TOKENS, N_VOCAB, SIZES, WIDE_HEADS, WINDOW, scaled

# How many tokens of the text the greedy text follows.
N_PROMPT = 24
N_GREEDY = 32
# With the seed of its place, this one would repeat a single token.
SEEDS = {"gemma4": 324}
SMALL_HEADS = {key: value for key, value in WIDE_HEADS.items() if key != "head_dim"}


def yarn(**numbers):
    return {**scaled("yarn", factor=4.0, original_max_position_embeddings=N_ORIGINAL), **numbers}


PLAIN = scaled("default")
PARTIAL = scaled("default", partial_rotary_factor=0.5)
LLAMA3 = scaled(
    "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
    original_max_position_embeddings=N_ORIGINAL)


GEMMA4 = dict(
    SIZES, intermediate_size=16, num_attention_heads=2, num_key_value_heads=1, head_dim=8,
    global_head_dim=16, sliding_window=WINDOW, rope_parameters={
        "full_attention": {
            "rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 100.0},
        "sliding_attention": PLAIN})


def cases():
    """Name, configuration, and what GGUF makes of it: the changes to the configuration."""
    t = transformers
    yield "glm4", t.Glm4Config(
        **SIZES, head_dim=8, attention_bias=True, rope_parameters=PARTIAL), {}
    yield "olmo", t.OlmoConfig(**SIZES, clip_qkv=0.5, rope_parameters=PLAIN), {}
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
        **SIZES, head_dim=16, use_bias=True, rope_parameters=PLAIN), {}
    yield "hunyuan", t.HunYuanDenseV1Config(
        **WIDE_HEADS, rope_parameters=scaled("dynamic", alpha=50.0, factor=1.0)), {}
    yield "arcee", t.ArceeConfig(
        **WIDE_HEADS, mlp_bias=True, rope_parameters=yarn()), {}
    yield "seed_oss", t.SeedOssConfig(**SIZES, head_dim=16, rope_parameters=PLAIN), {}
    yield "cohere2", t.Cohere2Config(
        **dict(SIZES, num_hidden_layers=4), sliding_window=WINDOW, logit_scale=0.4,
        rope_parameters=PLAIN), {}
    yield "apertus", t.ApertusConfig(**SMALL_HEADS, rope_parameters=LLAMA3), {}
    # Granite computes what MiniCPM computes, under other names.
    yield "minicpm", t.GraniteConfig(
        **SIZES, rope_parameters=PLAIN, embedding_multiplier=3.0,
        attention_multiplier=8 ** -0.5, residual_multiplier=0.8 / math.sqrt(2),
        logits_scaling=32 / 12, tie_word_embeddings=True), {}
    yield "ministral3", t.Ministral3Config(
        **WIDE_HEADS, rope_parameters=yarn(
            mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=1.0)), {}
    yield "mistral3", t.Mistral3Config(
        text_config=dict(
            SIZES, model_type="mistral", head_dim=16, sliding_window=None,
            rope_parameters=PLAIN),
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
    yield "gemma4", t.Gemma4TextConfig(
        **dict(GEMMA4, num_hidden_layers=5), layer_types=[
            "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
            "full_attention"],
        hidden_size_per_layer_input=8, vocab_size_per_layer_input=N_VOCAB, num_kv_shared_layers=2,
        use_double_wide_mlp=True, final_logit_softcapping=3.0), {}
    yield "gemma4-large", t.Gemma4TextConfig(
        **dict(GEMMA4, num_key_value_heads=2, num_hidden_layers=3), attention_k_eq_v=True,
        num_global_key_value_heads=1, hidden_size_per_layer_input=0,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"]), {}



def undone(name):
    """Changes to a configuration, each of which undoes something that the family is known for."""
    return {
        "glm4": [{"rope_parameters": dict(PLAIN, partial_rotary_factor=1.0)}],
        "olmo": [{"clip_qkv": None}],
        "stablelm": [{"rope_parameters": dict(PLAIN, partial_rotary_factor=1.0)},
                     {"use_parallel_residual": True}],
        "stablelm-parallel": [{"use_parallel_residual": False}],
        "olmo3": [{"sliding_window": 64}, {"layer_types": ["sliding_attention"] * 4},
                  {"rope_parameters": {"full_attention": PLAIN, "sliding_attention": PLAIN}}],
        "exaone4": [{"sliding_window": 64}, {"layer_types": ["sliding_attention"] * 4},
                    {"rope_parameters": PLAIN}],
        "exaone4-global": [{"sliding_window": 64}],
        "hunyuan": [{"rope_parameters": PLAIN}],
        "arcee": [{"hidden_act": "silu"}, {"hidden_act": "relu"}],
        "cohere2": [{"sliding_window": 64}, {"layer_types": ["sliding_attention"] * 4}],
        "apertus": [{"hidden_act": "silu"}, {"rope_parameters": PLAIN}],
        "minicpm": [{"embedding_multiplier": 1.0}, {"residual_multiplier": 1.0}],
        "ministral3": [
            {"rope_parameters": yarn(mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.0)},
            {"rope_parameters": yarn(llama_4_scaling_beta=1.0)}],
        "gemma4": [
            {"sliding_window": 64},
            {"rope_parameters": {**GEMMA4["rope_parameters"], "full_attention": {
                "rope_type": "proportional", "partial_rotary_factor": 1.0, "rope_theta": 100.0}}}],
    }.get(name, [])


def model_of(config, seed):
    if config.model_type == "gemma4_text":
        return gemma4_of(config, seed)
    if not hasattr(config, "vision_config"):
        return known.model_of(config, seed)
    auto, transformers.AutoModelForCausalLM = (
        transformers.AutoModelForCausalLM, transformers.AutoModelForImageTextToText)
    try:
        return known.model_of(config, seed)
    finally:
        transformers.AutoModelForCausalLM = auto


def greedy_text(model, prompt):
    """The tokens that follow the prompt if the most likely one is always chosen."""
    tokens = list(prompt)
    while len(tokens) < N_PROMPT + N_GREEDY:
        tokens.append(int(known.logits_of(model, tokens)[-1].argmax()))
    return tokens[len(prompt):]


def gemma4_of(config, seed):
    """Unlike those of earlier Gemmas, its norms multiply by their weights as they are."""
    model = known.model_of(config, seed)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "norm" in name:
                weights.copy_((weights + 1.0).half().float())
        for index, layer in enumerate(model.model.layers):
            layer.layer_scalar.fill_(1.25 - index / 8)
    return model


def text_config(config):
    """The configuration of the text part, if there are others."""
    return getattr(config, "text_config", config)


def with_changes(model, changes, seed):
    config = copy.deepcopy(model.config)
    for key, value in changes.items():
        setattr(text_config(config), key, value)
    changed = model_of(config, seed)
    changed.load_state_dict(model.state_dict(), strict=False)
    return changed


def older(config):
    """The form in which most configurations on the Hub are written."""
    if "text_config" in config:
        return {**config, "text_config": older(config["text_config"])}
    if config["model_type"] == "gemma4_text":
        form = {**config, "torch_dtype": "float32", "global_head_dim": 16}
        if config["attention_k_eq_v"]:
            form["num_global_key_value_heads"] = 1
        return {key: form[key] for key in form if key not in ("dtype", "per_layer_config")}
    form = known.older(config)
    if config["model_type"] == "olmo3":
        form.pop("rope_local_base_freq")
    if config["model_type"] == "gemma3_text":
        form["layer_types"] = config["layer_types"]
    return form


GGUF_NAMES = {
    **known.GGUF_NAMES, "hunyuan_v1_dense": "hunyuan-dense", "ministral3": "mistral3",
    "olmo3": "olmo2", "qwen3_vl_text": "qwen3vl", "gemma4_text": "gemma4",
}
PERMUTED = ("arcee", "minicpm", "ministral3", "mistral", "olmo")
# Families with layer norms.
LAYER_NORMS = {"cohere2": "layer_norm_eps", "stablelm": "layer_norm_eps", "olmo": None}


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
    if kind == "gemma4_text":
        add_gemma4(writer, model)
    else:
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count_kv(config.num_key_value_heads)
        add_rope(writer, config, kind)
    if kind in LAYER_NORMS:
        writer.add_layer_norm_eps(getattr(config, LAYER_NORMS[kind] or "", 1e-5))
    else:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if config.to_dict().get("head_dim") and kind != "gemma4_text":
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    add_quirks(writer, config, kind)
    if kind == "apertus":
        for name in ("alpha_p", "alpha_n", "beta", "eps"):
            values = [getattr(layer.mlp.act_fn, name).item() for layer in model.model.layers]
            writer.add_array(f"xielu.{name}", values)
    known.write_tensors(writer, gguf_tensors(model, config, kind))


def add_quirks(writer, config, kind):
    windowed = [layer == "sliding_attention" for layer in getattr(config, "layer_types", ())]
    if any(windowed):
        writer.add_sliding_window(config.sliding_window)
    if kind in ("exaone4", "gemma3_text", "gemma4_text") and any(windowed):
        writer.add_sliding_window_pattern(windowed)
    if kind == "minicpm":
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if kind == "cohere2":
        writer.add_logit_scale(config.logit_scale)
    if kind == "olmo":
        writer.add_clamp_kqv(config.clip_qkv)
    if kind == "ministral3":
        writer.add_attn_temperature_scale(config.rope_parameters["llama_4_scaling_beta"])
    if kind == "qwen3_vl_text":
        writer.add_rope_dimension_sections([4, 2, 2, 0])
        writer.add_num_deepstack_layers(1)
    if kind == "stablelm":
        writer.add_parallel_residual(config.use_parallel_residual)


def add_gemma4(writer, model):
    config, layers = model.config, model.model.layers
    writer.add_feed_forward_length([layer.mlp.intermediate_size for layer in layers])
    n_kv_heads = 1
    if config.attention_k_eq_v:
        n_kv_heads = [1 if kind == "full_attention" else 2 for kind in config.layer_types]
    writer.add_head_count_kv(n_kv_heads)
    for add in (writer.add_key_length, writer.add_value_length, writer.add_rope_dimension_count):
        add(16)
    for add in (writer.add_key_length_swa, writer.add_value_length_swa,
                writer.add_rope_dimension_count_swa):
        add(8)
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    if config.final_logit_softcapping:
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_rope_freq_base(100.0)
    writer.add_rope_freq_base_swa(1e4)
    writer.add_tensor("rope_freqs.weight", np.array([1.0] * 2 + [1e30] * 6, dtype=np.float32))


def add_rope(writer, config, kind):
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    # Converters raise the base for Hunyuan, as its scaling does.
    growth = rope.get("alpha", 1.0) ** (head_dim / (head_dim - 2))
    writer.add_rope_freq_base(rope["rope_theta"] * growth)
    if kind in (*PERMUTED, "glm4", "stablelm"):
        writer.add_rope_dimension_count(int(head_dim * rope.get("partial_rotary_factor", 1.0)))
    scaling = rope["rope_type"]
    if scaling == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    elif scaling == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if "mscale_all_dim" in rope:
            writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
    elif scaling == "llama3":
        writer.add_tensor("rope_freqs.weight", known.llama3_factors(rope, head_dim))


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
            weights = known.permuted(weights, config.num_attention_heads)
        if kind in PERMUTED and "k_proj" in name:
            weights = known.permuted(weights, config.num_key_value_heads)
        if kind == "gemma3_text" and name.endswith("norm.weight"):
            weights = weights + 1.0
        if name.endswith("layer_scalar"):
            name += ".weight"
        yield names.get_name(name, try_suffixes=(".weight", ".bias")), weights


def stored(model):
    """The weights of a file, which leaves out a head that is the embedding table."""
    tied = model.config.tie_word_embeddings
    return {name: weights for name, weights in model.state_dict().items()
            if not (tied and name == "lm_head.weight")}


def config_json(model, name):
    written = {key: value for key, value in model.config.to_dict().items() if key not in known.UNUSED}
    if "text_config" in written:
        written["text_config"] = {
            key: value for key, value in written["text_config"].items() if key not in known.UNUSED}
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
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_gguf(folder / "model.gguf", model)
    text = torch.randint(3, N_VOCAB, (N_TOKENS,), generator=torch.Generator().manual_seed(7))
    tokens = text.tolist()
    expected = {"tokens": text.to(torch.int64), "logits": known.logits_of(model, tokens)}
    if changes:
        expected["gguf_logits"] = known.logits_of(with_changes(model, changes, seed), tokens)
    else:
        greedy = greedy_text(model, tokens[:N_PROMPT])
        expected["prompt"] = text[:N_PROMPT].clone()
        expected["greedy"] = torch.tensor(greedy)
        for change in undone(name):
            other = with_changes(model, change, seed)
            assert greedy_text(other, tokens[:N_PROMPT]) != greedy, change
    save_file(expected, folder / "expected.safetensors", metadata={"made_with": known.versions()})
    known.report(name, expected["logits"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed, (name, config, changes) in enumerate(cases()):
        if name in (sys.argv[1:] or [name]):
            write_case(name, config, changes, SEEDS.get(name, 300 + seed))
