"""Writes fixtures as `make_fixtures.py` does, for families whose layers are not all attention and a
feed-forward network.

    pip install torch transformers gguf
    python make_hybrids.py [NAME...]

Without names it writes all. What `make_fixtures.py` says of its fixtures holds for these too.
Constant factors are powers of two, which GGUF files contain in their 16-bit weights without rounding
them. What makes a family differ from its neighbors is in `undone`: without it, the greedy text must
differ.
"""

import copy
import json
import math
import sys

import gguf
import torch
import transformers
from safetensors.torch import save_file

import make_fixtures as known
from make_fixtures import HERE, N_TOKENS, N_VOCAB, SIZES, WINDOW, scaled

# How many tokens of the text the greedy text follows.
N_PROMPT = 8
N_GREEDY = 200
# How many tokens of the greedy text a change must alter.
N_ALTERED = 32
SEEDS = {}
LONG = dict(SIZES, max_position_embeddings=256)
# A model without attention has no limit, and its files none of these sizes.
RECURRENT = dict(
    vocab_size=N_VOCAB, hidden_size=32, num_hidden_layers=2, layer_norm_epsilon=1e-4,
    bos_token_id=1, eos_token_id=2, pad_token_id=0)
FALCON_H1 = dict(
    LONG, head_dim=16, rms_norm_eps=1e-4, rope_parameters=scaled("default"), mamba_d_ssm=48,
    mamba_n_heads=6, mamba_d_head=8, mamba_n_groups=2, mamba_d_state=5,
    embedding_multiplier=4.0, lm_head_multiplier=0.5, key_multiplier=2.0,
    attention_in_multiplier=0.5, attention_out_multiplier=2.0, ssm_in_multiplier=0.5,
    ssm_out_multiplier=4.0, ssm_multipliers=[4.0, 0.5, 2.0, 8.0, 0.25], mlp_multipliers=[2.0, 0.5])


def cases():
    """Name, configuration, and what GGUF makes of it: the changes to the configuration."""
    t = transformers
    yield "mamba", t.MambaConfig(**RECURRENT, state_size=6, time_step_rank=5), {}
    yield "falcon_mamba", t.FalconMambaConfig(
        **RECURRENT, state_size=6, tie_word_embeddings=False, mixer_rms_eps=1e-4), {}
    yield "mamba2", t.Mamba2Config(
        **RECURRENT, state_size=6, num_heads=8, head_dim=8, n_groups=2), {}
    yield "falcon_h1", t.FalconH1Config(
        **FALCON_H1, mamba_rms_norm=True, mamba_norm_before_gate=False), {}
    yield "falcon_h1-plain", t.FalconH1Config(
        **FALCON_H1, mamba_rms_norm=False, mamba_conv_bias=False), {}
    # llama.cpp gates first.
    yield "falcon_h1-norm-first", t.FalconH1Config(
        **FALCON_H1, mamba_rms_norm=True, mamba_norm_before_gate=True), {
        "mamba_norm_before_gate": False}
    # GGUF files have no shortest time step.
    yield "nemotron_h", t.NemotronHConfig(
        **{key: value for key, value in LONG.items() if key != "num_hidden_layers"}, head_dim=16,
        layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"],
        mamba_num_heads=6, mamba_head_dim=8, n_groups=2, ssm_state_size=5, time_step_min=0.5,
        layer_norm_epsilon=1e-4), {"time_step_min": 1e-30}
    # GGUF files have a row of zeros for each token beyond the table of per-layer embeddings.
    yield "gemma3n", t.Gemma3nTextConfig(
        **dict(LONG, num_hidden_layers=6, intermediate_size=24), head_dim=16,
        sliding_window=WINDOW, layer_types=[
            "sliding_attention", "full_attention", "sliding_attention", "full_attention",
            "sliding_attention", "full_attention"],
        num_kv_shared_layers=3, laurel_rank=8, hidden_size_per_layer_input=8,
        vocab_size_per_layer_input=60, final_logit_softcapping=3.0,
        activation_sparsity_pattern=[0.7, 0.4, 0.0, 0.0, 0.0, 0.0],
        rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}), {
        "vocab_size_per_layer_input": N_VOCAB}
    # llama.cpp has the scales of the one model that was published.
    yield "minicpm3", t.MiniCPM3Config(
        **dict(LONG, num_key_value_heads=4), rms_norm_eps=1e-6, q_lora_rank=12, kv_lora_rank=10,
        qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=8, scale_emb=3.0, scale_depth=0.8,
        dim_model_base=12, tie_word_embeddings=False, rope_parameters=scaled("default")), {
        "scale_emb": 12.0, "scale_depth": 1.4, "dim_model_base": 256}


def undone(name):
    """Changes to a configuration, each of which undoes something that the family is known for."""
    # A factor of all logits doesn't change which is the highest.
    multipliers = [
        {key: 1.0} for key in FALCON_H1
        if key.endswith("_multiplier") and key != "lm_head_multiplier"]
    lists = [{"ssm_multipliers": [1.0] * 5}, {"mlp_multipliers": [1.0] * 2}]
    return {
        "falcon_mamba": [{"mixer_rms_eps": 1.0}],
        "falcon_h1": [*multipliers, *lists, {"mamba_norm_before_gate": True}],
        "falcon_h1-plain": [*multipliers, *lists],
        "falcon_h1-norm-first": [{"mamba_norm_before_gate": False}],
        "gemma3n": [
            {"sliding_window": 64}, {"activation_sparsity_pattern": [0.0] * 6},
            {"altup_correct_scale": False},
            {"rope_parameters": {
                kind: {"rope_type": "default", "rope_theta": 1e4}
                for kind in ("full_attention", "sliding_attention")}}],
        "minicpm3": [{"scale_emb": 1.0}, {"scale_depth": 1.4},
                     {"rope_parameters": scaled("default") | {"rope_theta": 10.0}}],
        "nemotron_h": [{"time_step_min": 1e-30}, {"mlp_hidden_act": "relu"}],
    }.get(name, [])


def model_of(config, seed):
    model = known.model_of(config, seed)
    if config.model_type == "gemma3n_text":
        with torch.no_grad():
            for name, weights in model.named_parameters():
                # Unlike those of other Gemmas, its norms multiply by their weights as they are.
                if "norm" in name or name.endswith("correct_output_scale"):
                    weights.copy_((weights + 1.0).half().float())
                # Its inputs are divided by the hidden size.
                if "modality_router" in name:
                    weights.mul_(4.0)
    if config.model_type == "minicpm3":
        with torch.no_grad():
            # GGUF multiplies logits by 256 / 32.
            model.lm_head.weight.mul_(0.25)
    return model


def with_changes(model, changes, seed):
    config = copy.deepcopy(model.config)
    for key, value in changes.items():
        setattr(config, key, value)
    changed = model_of(config, seed)
    weights = model.state_dict()
    for name, zeros in changed.state_dict().items():
        n_lacking = len(zeros) - len(weights[name]) if zeros.dim() else 0
        weights[name] = torch.cat([weights[name], torch.zeros_like(zeros[:n_lacking])]
                                  ) if n_lacking else weights[name]
    changed.load_state_dict(weights)
    return changed


def stored(model):
    """The weights of a file, which leaves out a head that is the embedding table."""
    for name, weights in model.state_dict().items():
        if model.config.tie_word_embeddings and name == "lm_head.weight":
            continue
        if model.config.model_type == "nemotron_h":
            name = name.replace("model.", "backbone.", 1)
        yield name, weights


def config_json(config, model):
    written = {key: value for key, value in config.to_dict().items() if key not in known.UNUSED}
    written["architectures"] = [type(model).__name__]
    written["transformers_version"] = transformers.__version__
    if "time_step_limit" in written:
        # As transformers 5 writes it.
        written["time_step_limit"] = [0.0, {"__float__": "Infinity"}]
    return written


def older(config):
    """The form in which most configurations on the Hub are written."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype", "float32")
    if "time_step_limit" in config:
        config["time_step_limit"] = [0.0, math.inf]
    rope = config.pop("rope_parameters", None)
    if rope and "sliding_attention" in rope:
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    if rope:
        config |= {"rope_theta": rope["rope_theta"], "rope_scaling": None}
    if config["model_type"] == "falcon_mamba":
        config["time_step_rank"] = "auto"
    if config["model_type"] == "nemotron_h":
        letters = {"linear_attention": "M", "full_attention": "*", "mlp": "-", "moe": "E"}
        kinds = config.pop("layers_block_type")
        config["hybrid_override_pattern"] = "".join(letters[kind] for kind in kinds)
        config["num_hidden_layers"] = len(kinds)
        config["attention_head_dim"] = config.pop("head_dim")
    return config


GGUF_NAMES = {"falcon_h1": "falcon-h1", "falcon_mamba": "mamba", "gemma3n_text": "gemma3n"}


def write_gguf(path, model):
    config = model.config
    kind = config.model_type
    arch = GGUF_NAMES.get(kind, kind)
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name(path.stem)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_eos_token_id(2)
    writer.add_layer_norm_rms_eps(1e-6 if arch in ("gemma3n", "minicpm3") else 1e-4)
    {"mamba": add_mamba, "falcon_mamba": add_mamba, "mamba2": add_mamba2,
     "falcon_h1": add_falcon_h1, "nemotron_h": add_nemotron_h,
     "gemma3n_text": add_gemma3n, "minicpm3": add_minicpm3}[kind](writer, config)
    known.write_tensors(writer, gguf_tensors(model, arch))


def add_recurrent(writer):
    writer.add_context_length(2**20)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)


def add_sizes(writer, n_taps, inner_width, state_dim, step_rank):
    writer.add_ssm_conv_kernel(n_taps)
    writer.add_ssm_inner_size(inner_width)
    writer.add_ssm_state_size(state_dim)
    writer.add_ssm_time_step_rank(step_rank)


def add_mamba(writer, config):
    add_recurrent(writer)
    add_sizes(writer, config.conv_kernel, 2 * config.hidden_size, config.state_size,
              config.time_step_rank)
    writer.add_ssm_dt_b_c_rms(config.model_type == "falcon_mamba")


def add_mamba2(writer, config):
    add_recurrent(writer)
    add_sizes(writer, config.conv_kernel, 2 * config.hidden_size, config.state_size,
              config.num_heads)
    writer.add_ssm_group_count(config.n_groups)


def add_falcon_h1(writer, config):
    add_attention(writer, config)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    add_sizes(writer, config.mamba_d_conv, config.mamba_d_ssm, config.mamba_d_state,
              config.mamba_n_heads)
    writer.add_ssm_group_count(config.mamba_n_groups)


def add_nemotron_h(writer, config):
    add_attention(writer, config)
    kinds = config.layers_block_type
    writer.add_head_count_kv(
        [config.num_key_value_heads if kind == "full_attention" else 0 for kind in kinds])
    writer.add_feed_forward_length(
        [config.intermediate_size if kind == "mlp" else 0 for kind in kinds])
    writer.add_rope_scaling_finetuned(False)
    add_sizes(writer, config.conv_kernel, config.mamba_num_heads * config.mamba_head_dim,
              config.ssm_state_size, config.mamba_num_heads)
    writer.add_ssm_group_count(config.n_groups)


def add_gemma3n(writer, config):
    add_attention(writer, config)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_rope_freq_base(1e6)
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern(
        [kind == "sliding_attention" for kind in config.layer_types])
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    writer.add_altup_active_idx(config.altup_active_idx)
    writer.add_altup_num_inputs(config.altup_num_inputs)
    normal = torch.distributions.normal.Normal(0, 1)
    writer.add_activation_sparsity_scale(
        [normal.icdf(torch.tensor(share)).item() for share in config.activation_sparsity_pattern])


def add_minicpm3(writer, config):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_q_lora_rank(config.q_lora_rank)
    writer.add_kv_lora_rank(config.kv_lora_rank)
    writer.add_key_length(config.qk_nope_head_dim + config.qk_rope_head_dim)
    writer.add_rope_dimension_count(config.qk_rope_head_dim)


def add_attention(writer, config):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_head_count(config.num_attention_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)


def gguf_tensors(model, arch):
    config = model.config
    kind = config.model_type
    arch = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}[arch]
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    n_groups = getattr(config, "mamba_n_groups", None) or getattr(config, "n_groups", None)
    if kind == "gemma3n_text":
        for part in ("altup_projections", "altup_unembed_projections"):
            matrices = [matrix.weight for matrix in getattr(model.model, part)]
            name = names.get_name(f"model.{part}")
            yield f"{name}.weight", torch.stack(matrices).detach()
    for name, weights in stored(model):
        if "altup_" in name:
            continue
        if kind == "falcon_h1":
            weights = multiplied(name, weights, config)
        if "embed_tokens_per_layer" in name:
            weights = torch.cat([weights, torch.zeros(N_VOCAB - len(weights), weights.shape[1])])
        if name.endswith("_scale"):
            name += ".weight"
        if name.endswith("A_log"):
            weights = -weights.exp()
        if weights.dim() == 3:
            weights = weights.squeeze(1)
        if n_groups and name.endswith((".A_log", ".D")):
            weights = weights[:, None]
        if name.endswith((".mixer.norm.weight", ".mamba.norm.weight")):
            weights = weights.reshape(n_groups, -1)
        name = name.replace(".dt_bias", ".dt_proj.bias")
        yield names.get_name(name, try_suffixes=(".weight", ".bias")), weights


def multiplied(name, weights, config):
    """Weights of Falcon-H1 with the constant factors in them, as its converter writes them."""
    inner, group = config.mamba_d_ssm, config.mamba_n_groups * config.mamba_d_state
    gate, down = config.mlp_multipliers
    attention = config.attention_in_multiplier
    factors = {
        "embed_tokens": config.embedding_multiplier, "lm_head": config.lm_head_multiplier,
        "q_proj": attention, "k_proj": attention * config.key_multiplier, "v_proj": attention,
        "o_proj": config.attention_out_multiplier, "out_proj": config.ssm_out_multiplier,
        "gate_proj": gate, "down_proj": down}
    part = name.split(".")[-2]
    if part == "in_proj":
        widths = torch.tensor([inner, inner, group, group, config.mamba_n_heads])
        parts = torch.tensor(config.ssm_multipliers).repeat_interleave(widths)
        return weights * parts[:, None] * config.ssm_in_multiplier
    return weights * factors.get(part, 1.0)


def write_case(name, config, changes, seed):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    model = model_of(config, seed)
    written = config_json(config, model)
    for file, form in (("config.json", written), ("config.older.json", older(written))):
        (folder / file).write_text(json.dumps(form, indent=1, sort_keys=True) + "\n")
    weights = {key: value.half().contiguous() for key, value in stored(model)}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_gguf(folder / "model.gguf", model)
    text = torch.randint(3, N_VOCAB, (N_TOKENS,), generator=torch.Generator().manual_seed(7))
    tokens = text.tolist()
    expected = {"tokens": text.to(torch.int64), "logits": known.logits_of(model, tokens)}
    if changes:
        expected["gguf_logits"] = known.logits_of(with_changes(model, changes, seed), tokens)
    expected["prompt"] = text[:N_PROMPT].clone()
    expected["greedy"] = known.greedy_text(model, tokens[:N_PROMPT], N_GREEDY)
    greedy = expected["greedy"][:N_ALTERED].tolist()
    for change in undone(name):
        other = with_changes(model, change, seed)
        altered = known.greedy_text(other, tokens[:N_PROMPT], N_ALTERED).tolist()
        assert altered != greedy, change
    save_file(expected, folder / "expected.safetensors", metadata={"made_with": known.versions()})
    known.report(name, expected["logits"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed, (name, config, changes) in enumerate(cases()):
        if name in (sys.argv[1:] or [name]):
            write_case(name, config, changes, SEEDS.get(name, 400 + seed))
