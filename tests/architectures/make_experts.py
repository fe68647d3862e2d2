"""Writes fixtures as `make_families.py` does, for the families with mixtures of experts.

    pip install torch transformers gguf
    python make_experts.py LLAMA_CPP [NAME...]

Without names it writes all. `LLAMA_CPP` is a folder with the source of llama.cpp, whose converter
writes the GGUF files. What `make_families.py` says of its fixtures holds for these too. The weights
have the names that files on the Hub give them.
"""

import copy
import json
import math
import shutil
import sys
import tempfile
from pathlib import Path

# Its converter needs the gguf-py of the same version.
sys.path[1:1] = [sys.argv[1], f"{sys.argv[1]}/gguf-py"]

import gguf
import torch
import transformers
from conversion import get_model_class
from conversion.base import ModelBase
from safetensors.torch import load_file, save_file

import make_families as families
import make_fixtures as known
import make_hybrids as hybrids
from make_families import N_PROMPT, PARTIAL, PLAIN, SMALL_HEADS, yarn
from make_fixtures import HERE, N_TOKENS, N_VOCAB, SIZES, WIDE_HEADS, WINDOW, scaled

# With the seeds of their places, undoing some part of these would not change their texts.
SEEDS = {"gpt_oss": 600, "gemma4-experts": 650}
HEADS = dict(SIZES, head_dim=16, rope_parameters=PLAIN)
EXPERTS = dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=16)
LOCAL_EXPERTS = dict(num_local_experts=6, num_experts_per_tok=2)
GRANITE = dict(
    SIZES, **LOCAL_EXPERTS, rope_parameters=PLAIN, embedding_multiplier=3.0,
    attention_multiplier=0.2, residual_multiplier=0.4, logits_scaling=2.5,
    tie_word_embeddings=True)
GPT_OSS = dict(
    SIZES, **LOCAL_EXPERTS, head_dim=16, sliding_window=WINDOW,
    rope_parameters=yarn(truncate=False, beta_fast=8.0, beta_slow=0.5))
GLM4 = dict(
    SIZES, head_dim=16, attention_bias=True, first_k_dense_replace=1, n_routed_experts=6,
    num_experts_per_tok=2, moe_intermediate_size=16, routed_scaling_factor=1.5,
    rope_parameters=PARTIAL)


def cases():
    """Name, configuration, and what GGUF makes of it: a change, as in `undone`."""
    t = transformers
    yield "qwen3_moe", t.Qwen3MoeConfig(**HEADS, **EXPERTS, norm_topk_prob=True), {}
    yield "qwen2_moe", t.Qwen2MoeConfig(
        **dict(SIZES, rope_parameters=PLAIN), **EXPERTS, shared_expert_intermediate_size=24), {}
    yield "olmoe", t.OlmoeConfig(
        **dict(SIZES, intermediate_size=16, rope_parameters=PLAIN), num_experts=6,
        num_experts_per_tok=2), {}
    yield "mixtral", t.MixtralConfig(
        **dict(SIZES, intermediate_size=16, rope_parameters=PLAIN), **LOCAL_EXPERTS), {}
    yield "gpt_oss", t.GptOssConfig(**GPT_OSS), {
        "rope_parameters": dict(GPT_OSS["rope_parameters"], truncate=True)}
    yield "gpt_oss-mxfp4", t.GptOssConfig(**dict(GPT_OSS, rope_parameters=PLAIN)), {}
    yield "lfm2_moe", t.Lfm2MoeConfig(
        **dict(SIZES, num_hidden_layers=3, rope_parameters=PLAIN, tie_word_embeddings=True),
        **EXPERTS, num_dense_layers=1, layer_types=["conv", "full_attention", "conv"]), {}
    yield "glm4_moe", t.Glm4MoeConfig(**GLM4, use_qk_norm=True), {}
    yield "glm4_moe-groups", t.Glm4MoeConfig(**GLM4, n_group=3, topk_group=2), {}
    yield "qwen3_5_moe", t.Qwen3_5MoeTextConfig(
        **dict(SIZES, num_hidden_layers=2), **EXPERTS, head_dim=16,
        layer_types=["linear_attention", "full_attention"],
        shared_expert_intermediate_size=24, linear_num_key_heads=2, linear_num_value_heads=4,
        linear_key_head_dim=8, linear_value_head_dim=8, rms_norm_eps=1e-4,
        rope_parameters=scaled("default", partial_rotary_factor=0.25)), rounded_decay
    yield "granitemoe", t.GraniteMoeConfig(**dict(GRANITE, intermediate_size=16)), {}
    yield "granite4-experts", t.GraniteMoeHybridConfig(
        **dict(GRANITE, intermediate_size=16), shared_intermediate_size=24, mamba_n_heads=8,
        mamba_d_head=8, mamba_d_state=6, mamba_n_groups=2,
        layer_types=["linear_attention", "full_attention"]), rounded_decay
    yield "gemma4-experts", t.Gemma4TextConfig(
        **dict(families.GEMMA4, num_key_value_heads=2, num_hidden_layers=2), attention_k_eq_v=True,
        num_global_key_value_heads=1, hidden_size_per_layer_input=0, enable_moe_block=True,
        num_experts=6, top_k_experts=2, moe_intermediate_size=8, tie_word_embeddings=False,
        layer_types=["sliding_attention", "full_attention"]), {}
    # GGUF files have no shortest time step.
    yield "nemotron_h-experts", t.NemotronHConfig(
        **{key: value for key, value in SIZES.items() if key != "num_hidden_layers"} | {
            "max_position_embeddings": 256}, head_dim=16,
        layers_block_type=["linear_attention", "moe", "full_attention", "moe"],
        mamba_num_heads=8, mamba_head_dim=8, n_groups=2, ssm_state_size=5, time_step_min=0.5,
        layer_norm_epsilon=1e-4, n_routed_experts=6, num_experts_per_tok=2,
        moe_intermediate_size=16, moe_shared_expert_intermediate_size=24,
        routed_scaling_factor=1.5), without_shortest_step
    yield "qwen3_vl_moe", t.Qwen3VLMoeConfig(
        text_config=dict(
            HEADS, max_position_embeddings=256, num_local_experts=6, num_experts_per_tok=2, moe_intermediate_size=12,
            rope_parameters=scaled(
                "default", mrope_section=[4, 2, 2], mrope_interleaved=True)),
        vision_config=dict(
            depth=1, hidden_size=8, intermediate_size=8, num_heads=1, patch_size=2,
            spatial_merge_size=1, temporal_patch_size=1, out_hidden_size=32,
            num_position_embeddings=4, deepstack_visual_indexes=[0]),
        image_token_id=3, video_token_id=4, vision_start_token_id=5, vision_end_token_id=6), {}


# How many tokens of the greedy text some fixtures have, if more than others.
N_LONG = {"nemotron_h-experts": 200, "qwen3_vl_moe": 200}


def greedy_text(name, model, prompt):
    tokens = families.greedy_text(model, prompt)
    while len(tokens) < N_LONG.get(name, 0):
        tokens.append(int(known.logits_of(model, prompt + tokens)[-1].argmax()))
    return tokens


def rounded_decay(model):
    """How fast states decay in GGUF: the converter works it out from 16-bit logarithms in 16 bits."""
    with torch.no_grad():
        for name, weights in model.state_dict().items():
            if name.endswith("A_log"):
                weights.copy_(weights.exp().half().float().log())


def without_shortest_step(model):
    rounded_decay(model)
    for module in model.modules():
        if hasattr(module, "time_step_limit"):
            module.time_step_limit = (1e-30, math.inf)


def one_expert(key="num_experts_per_tok"):
    return {key: 1}


def one_expert_of_text(model):
    """As `one_expert`, for a model whose text part has a configuration of its own."""
    for module in model.modules():
        if hasattr(module, "top_k"):
            module.top_k = 1


def without(part, value=0.0):
    """A change to a model: fills the weights whose names contain the part."""
    def change(model):
        with torch.no_grad():
            found = [weights for name, weights in model.state_dict().items() if part in name]
            assert found, part
            for weights in found:
                weights.fill_(value)
    return change


def undone(name):
    """Changes to the configuration or to the model, each of which undoes something that the family is
    known for.
    """
    plain = {"rope_parameters": PLAIN}
    return {
        "qwen3_moe": [one_expert(), {"norm_topk_prob": False}, without("q_norm", 1.0)],
        "qwen2_moe": [one_expert(), {"norm_topk_prob": True}, without("shared_expert_gate"),
                      without("shared_expert.down")],
        "olmoe": [one_expert(), {"norm_topk_prob": True}, without("k_norm", 1.0)],
        "mixtral": [one_expert()],
        "gpt_oss": [one_expert(), plain, {"sliding_window": 64}, {"swiglu_limit": 100.0},
                    {"swiglu_alpha": 1.0}, without("sinks", -math.inf), without("router.bias"),
                    without("down_proj_bias"), without("gate_up_proj_bias")],
        "gpt_oss-mxfp4": [one_expert(), {"sliding_window": 64}],
        "lfm2_moe": [one_expert(), {"norm_topk_prob": False}, {"routed_scaling_factor": 2.0},
                     without("expert_bias")],
        "glm4_moe": [one_expert(), {"norm_topk_prob": False}, {"routed_scaling_factor": 1.0},
                     without("e_score_correction_bias"), without("shared_experts.down"),
                     without("q_norm", 1.0),
                     {"rope_parameters": dict(PLAIN, partial_rotary_factor=1.0)}],
        "glm4_moe-groups": [{"n_group": 1, "topk_group": 1}],
        "qwen3_5_moe": [one_expert(), without("shared_expert_gate")],
        "nemotron_h-experts": [
            one_expert(), {"norm_topk_prob": False}, {"routed_scaling_factor": 1.0},
            without("e_score_correction_bias"), without("shared_experts.down"),
            {"mlp_hidden_act": "relu"}, {"n_group": 3, "topk_group": 1}],
        "qwen3_vl_moe": [one_expert_of_text, without("q_norm", 1.0)],
        "granitemoe": [one_expert(), {"residual_multiplier": 1.0}],
        "granite4-experts": [one_expert(), without("shared_mlp.output")],
        "gemma4-experts": [
            one_expert("top_k_experts"), without("router.scale", 1.0),
            without("per_expert_scale", 1.0), without("mlp.down"),
            without("pre_feedforward_layernorm_2", 1.0),
            without("post_feedforward_layernorm_1", 1.0),
            without("post_feedforward_layernorm_2", 1.0)],
    }[name]


# The values of 4-bit floats.
FOUR_BITS = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def in_four_bits(weights):
    """Rounds `[expert, output, input]` to MXFP4. Returns the blocks, the scales and the values."""
    blocks = weights.reshape(*weights.shape[:-1], -1, 32)
    largest = blocks.abs().amax(-1, keepdim=True)
    exponents = torch.floor(torch.log2(largest)) - 2
    ratios = blocks * torch.exp2(-exponents)
    digits = (ratios.abs()[..., None] - FOUR_BITS).abs().argmin(-1)
    values = FOUR_BITS[digits] * ratios.sign() * torch.exp2(exponents)
    codes = (digits + 8 * (ratios < 0)).to(torch.uint8)
    packed = codes[..., 0::2] | (codes[..., 1::2] << 4)
    scales = (exponents[..., 0] + 127).to(torch.uint8)
    return packed, scales, values.reshape(weights.shape)


def model_of(name, config, seed):
    model = families.model_of(config, seed)
    generator = torch.Generator().manual_seed(1000 + seed)
    with torch.no_grad():
        if config.model_type == "qwen3_5_moe_text":
            # Norms multiply by 1 more than their weights, except in linear attention.
            for key, weights in model.named_parameters():
                if "norm" in key and "linear_attn" not in key:
                    weights.copy_((weights - 1.0).half().float())
        for key, weights in model.state_dict().items():
            # Not parameters, and so left as they are until here.
            if key.endswith(("expert_bias", "e_score_correction_bias")):
                weights.copy_((0.3 * torch.randn(weights.shape, generator=generator)).half())
            if key.endswith((".router.scale", ".per_expert_scale")):
                weights.copy_((1.0 + 0.5 * torch.randn(weights.shape, generator=generator)).half())
            if name == "gpt_oss-mxfp4" and key.endswith(("gate_up_proj", "down_proj")):
                _, _, values = in_four_bits(weights.transpose(1, 2))
                weights.copy_(values.transpose(1, 2))
    return model


def with_change(name, model, change, seed):
    config = copy.deepcopy(model.config)
    if isinstance(change, dict):
        for key, value in change.items():
            setattr(config, key, value)
    changed = model_of(name, config, seed)
    changed.load_state_dict(model.state_dict(), strict=False)
    if not isinstance(change, dict):
        change(changed)
    return changed


def stored(name, model):
    """The weights by the names that they have in a file."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        weights = load_file(Path(folder) / "model.safetensors")
    if name == "gpt_oss-mxfp4":
        for key in [key for key in weights if key.endswith(("gate_up_proj", "down_proj"))]:
            blocks, scales, _ = in_four_bits(weights.pop(key).transpose(1, 2))
            weights |= {f"{key}_blocks": blocks, f"{key}_scales": scales}
    if name == "qwen3_vl_moe":
        # As published, `[expert, inputs, outputs]`.
        for key in [key for key in weights if key.endswith(("gate_up_proj", "down_proj"))]:
            weights[key] = weights[key].transpose(1, 2)
    if name == "glm4_moe":
        # The block that predicts tokens after the next, which nobody needs to run.
        block, width = f"model.layers.{model.config.num_hidden_layers}", model.config.hidden_size
        weights[f"{block}.eh_proj.weight"] = torch.ones(width, 2 * width)
        weights[f"{block}.enorm.weight"] = torch.ones(width)
    if name == "qwen3_5_moe":
        weights["mtp.norm.weight"] = torch.ones(model.config.hidden_size)
    as_stored = {}
    for key, values in weights.items():
        if values.dtype == torch.float32:
            values = values.half()
        as_stored[key] = values.contiguous()
    return as_stored


def config_json(name, model):
    written = families.config_json(model, name)
    if name == "gpt_oss-mxfp4":
        written["quantization_config"] = {"quant_method": "mxfp4"}
    if name == "qwen3_5_moe":
        written |= {"mtp_num_hidden_layers": 1, "full_attention_interval": 2}
    if name == "glm4_moe":
        written["num_nextn_predict_layers"] = 1
    if "time_step_limit" in written:
        # As transformers 5 writes it.
        written["time_step_limit"] = [0.0, {"__float__": "Infinity"}]
    return written


RENAMED = {"qwen3_moe": {"num_local_experts": "num_experts"}}


def older(config):
    """The form in which most configurations on the Hub are written."""
    if config["model_type"] == "nemotron_h":
        return hybrids.older(config)
    kinds = config.get("layer_types")
    form = families.older(config)
    if config["model_type"] in ("gpt_oss", "lfm2_moe"):
        form["layer_types"] = kinds
    if config["model_type"] == "lfm2_moe":
        form["tie_embedding"] = form.pop("tie_word_embeddings")
    for name, older_name in RENAMED.get(config["model_type"], {}).items():
        if name in form:
            form[older_name] = form.pop(name)
    return form


def write_gguf(folder):
    """Runs llama.cpp's converter."""
    hparams = ModelBase.load_hparams(folder, False)
    base = get_model_class(hparams["architectures"][0])

    class Model(base):
        model_arch = base.model_arch

        def set_vocab(self):
            self.gguf_writer.add_eos_token_id(2)

    with torch.inference_mode(), tempfile.TemporaryDirectory() as copies:
        # The converter looks for a tokenizer beside the weights.
        for file in (folder / "model.safetensors", HERE / "tokenizer.json"):
            shutil.copy(file, copies)
        # It knows the kinds of Granite's layers by their older names.
        is_granite = hparams["model_type"] == "granitemoehybrid"
        config = "config.older.json" if is_granite else "config.json"
        shutil.copy(folder / config, Path(copies) / "config.json")
        ftype = gguf.LlamaFileType.MOSTLY_F16
        Model(Path(copies), ftype, folder / "model.gguf", model_name=folder.name).write()


def write_case(name, config, changes, seed):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    model = model_of(name, config, seed)
    written = config_json(name, model)
    for file, form in (("config.json", written), ("config.older.json", older(written))):
        (folder / file).write_text(json.dumps(form, indent=1, sort_keys=True) + "\n")
    save_file(stored(name, model), folder / "model.safetensors", metadata={"format": "pt"})
    write_gguf(folder)
    text = torch.randint(3, N_VOCAB, (N_TOKENS,), generator=torch.Generator().manual_seed(7))
    tokens = text.tolist()
    greedy = greedy_text(name, model, tokens[:N_PROMPT])
    expected = {
        "tokens": text.to(torch.int64), "logits": known.logits_of(model, tokens),
        "prompt": text[:N_PROMPT].clone(), "greedy": torch.tensor(greedy)}
    if changes:
        in_gguf = with_change(name, model, changes, seed)
        expected["gguf_logits"] = known.logits_of(in_gguf, tokens)
        expected["gguf_greedy"] = torch.tensor(
            greedy_text(name, in_gguf, tokens[:N_PROMPT]))
    for index, change in enumerate(undone(name)):
        other = with_change(name, model, change, seed)
        assert greedy_text(name, other, tokens[:N_PROMPT]) != greedy, (name, index)
    save_file(expected, folder / "expected.safetensors", metadata={"made_with": known.versions()})
    known.report(name, expected["logits"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    _, _, *wanted = sys.argv
    for seed, (name, config, changes) in enumerate(cases()):
        if name in (wanted or [name]):
            write_case(name, config, changes, SEEDS.get(name, 500 + seed))
