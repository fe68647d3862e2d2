"""Writes fixtures as `make_experts.py` does, for models whose files have a multi-token-prediction head.

    pip install torch transformers gguf
    python make_mtp.py LLAMA_CPP [NAME...]

Without names it writes all. `LLAMA_CPP` is as for `make_experts.py`. Each model is made with one layer
more than it has; that layer is the head's block. Beside what the other fixtures expect, these have the
head's logits after each pair of a hidden state and a token, and those of drafts that go on from the
head's own output. For GLM-4.5, they are also those of transformers' `MtpModel`.
"""

import copy
import json
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers.masking_utils import create_causal_mask

import make_experts as experts
import make_fixtures as known
from make_experts import EXPERTS, GLM4, HERE
from make_families import N_PROMPT, greedy_text
from make_fixtures import N_TOKENS, N_VOCAB, SIZES, scaled

# Longer than what a pass reads at once.
N_LONG = 150
# How many tokens the head drafts after the prompt.
N_DRAFTS = 4
LONG = dict(max_position_embeddings=256)
QWEN35 = dict(
    SIZES, **LONG, num_hidden_layers=3, head_dim=16,
    layer_types=["linear_attention", "full_attention", "full_attention"],
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8,
    linear_value_head_dim=8, rms_norm_eps=1e-4,
    rope_parameters=scaled("default", partial_rotary_factor=0.25))


def cases():
    """Name, and configuration with the block among the layers."""
    t = transformers
    yield "glm4_moe-mtp", t.Glm4MoeConfig(**dict(GLM4, **LONG, num_hidden_layers=3), use_qk_norm=True)
    yield "qwen3_5-mtp", t.Qwen3_5TextConfig(**QWEN35, tie_word_embeddings=True)
    yield "qwen3_5_moe-mtp", t.Qwen3_5MoeTextConfig(
        **QWEN35, **EXPERTS, shared_expert_intermediate_size=24)


def one_less(values):
    """Weights to which GGUF can add 1 without rounding."""
    return ((values + 1.0).half().float() - 1.0).half().float()


class Head:
    """The model without its last layer, and the head that this layer is the block of."""

    def __init__(self, config, seed):
        self.extended = experts.model_of("", copy.deepcopy(config), seed)
        self.is_offset = "qwen" in config.model_type
        for key, weights in self.extended.named_parameters():
            if self.is_offset and "norm" in key and "linear_attn" not in key:
                weights.data = one_less(weights.data)
        self.index = config.num_hidden_layers - 1
        shorter = copy.deepcopy(self.extended.config)
        shorter.num_hidden_layers = self.index
        if getattr(shorter, "layer_types", None):
            shorter.layer_types = shorter.layer_types[:self.index]
        self.main = experts.model_of("", shorter, seed)
        self.main.load_state_dict(self.extended.state_dict(), strict=False)
        generator = torch.Generator().manual_seed(2000 + seed)
        width, norm = config.hidden_size, type(self.extended.model.norm)
        self.norms = {}
        for name in ("enorm", "hnorm", "shared_head.norm"):
            self.norms[name] = norm(width, eps=config.rms_norm_eps)
            values = 0.3 * torch.randn(width, generator=generator)
            values = one_less(values) if self.is_offset else (values + 1.0).half().float()
            self.norms[name].weight.data = values
        self.eh_proj = (0.2 * torch.randn(width, 2 * width, generator=generator)).half().float()

    def weights(self, name):
        """The head's weights by the names that they have in a file."""
        stored = experts.stored(name, self.extended)
        block = f"model.layers.{self.index}"
        own = {"eh_proj": self.eh_proj} | {key: norm.weight.data for key, norm in self.norms.items()}
        stored |= {f"{block}.{key}.weight": values.half() for key, values in own.items()}
        if "qwen" not in name:
            return stored
        renamed = {"eh_proj": "fc", "enorm": "pre_fc_norm_embedding", "hnorm": "pre_fc_norm_hidden",
                   "shared_head.norm": "norm"}
        renamed = {f"{block}.{key}.weight": f"mtp.{value}.weight" for key, value in renamed.items()}
        return {
            renamed.get(key, key.replace(f"{block}.", "mtp.layers.0.")): values
            for key, values in stored.items()}

    def after(self, inputs):
        """The block's output, normed, after rows of inputs."""
        inputs = inputs[None]
        positions = torch.arange(inputs.shape[1])[None]
        mask = create_causal_mask(
            config=self.extended.config, inputs_embeds=inputs, attention_mask=None, cache=None,
            position_ids=positions)
        rotary = self.extended.model.rotary_emb(inputs, position_ids=positions)
        layer = self.extended.model.layers[self.index]
        output = layer(
            inputs, attention_mask=mask, position_embeddings=rotary, position_ids=positions)
        return (output[0] if isinstance(output, tuple) else output)[0]

    def read(self, tokens, change=None, n_drafts=0):
        """The head's logits after each pair of a text, and those of the drafts that follow it."""
        with torch.no_grad():
            model = self.main.model
            ids = torch.tensor(tokens)
            hidden = model(ids[None], use_cache=False).last_hidden_state[0]
            if change == "hidden states before the norm":
                found = {}
                hook = model.norm.register_forward_pre_hook(
                    lambda _, args: found.update(states=args[0][0]))
                model(ids[None], use_cache=False)
                hook.remove()
                hidden = found["states"]
            states, following = hidden[:-1], ids[1:]
            drafts = []
            while True:
                pair = [self.norms["enorm"](model.embed_tokens(following)),
                        self.norms["hnorm"](states)]
                if change == "the hidden state first":
                    pair.reverse()
                inputs = torch.cat(pair, -1) @ self.eh_proj.T
                output = self.after(inputs)
                if change != "no norm after the block":
                    output = self.norms["shared_head.norm"](output)
                logits = self.main.lm_head(output)
                if n_drafts == 0:
                    return logits.contiguous()
                drafts.append(logits[-1])
                if len(drafts) == n_drafts:
                    return torch.stack(drafts)
                states = torch.cat([states, output[-1:]])
                following = torch.cat([following, logits[-1].argmax()[None]])

    def by_transformers(self, tokens):
        """The same logits from transformers' own head, where it has one."""
        from transformers.modeling_layers import MtpModel

        model = MtpModel(self.main, 1).eval()
        layer = model.layers[0]
        layer.mtp_block.load_state_dict(self.extended.model.layers[self.index].state_dict())
        layer.eh_proj.weight.data = self.eh_proj
        layer.enorm, layer.hnorm = self.norms["enorm"], self.norms["hnorm"]
        layer.post_norm = self.norms["shared_head.norm"]
        with torch.no_grad():
            ids = torch.tensor([tokens])
            hidden = self.main.model(ids, use_cache=False).last_hidden_state[:, :-1]
            positions = torch.arange(1, ids.shape[1])[None]
            output = model.forward_layer(0, hidden, positions, None, input_ids=ids[:, 1:])
            return model._project_to_logits(output)[0]


def write_case(name, config, seed):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    head = Head(config, seed)
    written = experts.config_json(name, head.main)
    is_qwen = "qwen" in name
    if is_qwen:
        written |= {"mtp_num_hidden_layers": 1, "full_attention_interval": 2}
    else:
        written["num_nextn_predict_layers"] = 1
    for file, form in (("config.json", written), ("config.older.json", experts.older(written))):
        (folder / file).write_text(json.dumps(form, indent=1, sort_keys=True) + "\n")
    save_file(head.weights(name), folder / "model.safetensors", metadata={"format": "pt"})
    # GGUF rounds how fast states decay.
    experts.write_gguf(folder)
    text = torch.randint(3, N_VOCAB, (N_LONG,), generator=torch.Generator().manual_seed(7))
    tokens = text.tolist()
    short = tokens[:N_TOKENS]
    logits = head.read(tokens)
    expected = {
        "tokens": text[:N_TOKENS].to(torch.int64).clone(),
        "logits": known.logits_of(head.main, short), "prompt": text[:N_PROMPT].clone(),
        "greedy": torch.tensor(greedy_text(head.main, tokens[:N_PROMPT])),
        "mtp_tokens": text, "mtp_logits": logits,
        "mtp_drafts": head.read(tokens[:N_PROMPT], n_drafts=N_DRAFTS)}
    if is_qwen:
        rounded = copy.deepcopy(head)
        experts.rounded_decay(rounded.main)
        expected |= {
            "gguf_logits": known.logits_of(rounded.main, short),
            "gguf_greedy": torch.tensor(greedy_text(rounded.main, tokens[:N_PROMPT])),
            "gguf_mtp_logits": rounded.read(tokens),
            "gguf_mtp_drafts": rounded.read(tokens[:N_PROMPT], n_drafts=N_DRAFTS)}
    else:
        difference = (head.by_transformers(tokens) - logits).abs().max()
        assert difference < 1e-5, difference
    for change in ("hidden states before the norm", "the hidden state first",
                   "no norm after the block"):
        other = head.read(tokens, change)
        assert (other.argmax(-1) != logits.argmax(-1)).any(), (name, change)
    save_file(expected, folder / "expected.safetensors", metadata={"made_with": known.versions()})
    known.report(name, expected["logits"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    _, _, *wanted = sys.argv
    for seed, (name, config) in enumerate(cases()):
        if name in (wanted or [name]):
            write_case(name, config, 800 + seed)
