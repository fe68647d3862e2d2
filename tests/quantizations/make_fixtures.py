"""Writes `blocks.gguf` beside this file, and the codebooks `grids.bin` beside the code that uses them.

    pip install gguf numpy
    python make_fixtures.py

`blocks.gguf` holds, for each type of gguf-py that is converted while it is read, some blocks of
random bytes under the type's name, and the values to which gguf-py dequantizes them under the name
with `.f32` appended. Every sequence of bytes is a valid block; only the scales are chosen, so that
values have the size of weights.

`model.gguf` is a tiny Llama of random blocks of such types, with a different type for each matrix;
`native.gguf` is one of the types that are multiplied as they are stored. `model.json` and `native.json`
have a text, and the log-probabilities that f32 arithmetic gives after each of its tokens with the
weights that gguf-py dequantizes. The seeds are fixed. Every type of gguf-py's `quants.py` is in one of
the two models.
"""

import importlib.metadata
import json
from pathlib import Path

import gguf
import numpy as np
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Type

HERE = Path(__file__).parent
GRIDS = HERE / "../../src/runtime/engine/weights/converted/grids.bin"

# The offset of the 16-bit scale in a block, and the standard deviation of random quants times
# random sub-scales.
SCALES = {
    Type.IQ1_S: (0, 8.0), Type.IQ2_S: (0, 64.0), Type.IQ2_XS: (0, 64.0), Type.IQ2_XXS: (0, 64.0),
    Type.IQ3_S: (0, 160.0), Type.IQ3_XXS: (0, 160.0), Type.IQ4_NL: (0, 72.0),
    Type.IQ4_XS: (0, 1300.0), Type.TQ1_0: (52, 0.8), Type.TQ2_0: (64, 0.8),
}
# Those that are multiplied as they are stored: also the offset of what is added to each value, and its
# ratio to the scale.
NATIVE_SCALES = {
    Type.Q4_0: (0, 4.6, None, 0), Type.Q4_1: (0, 4.6, 2, -7.5), Type.Q5_0: (0, 9.2, None, 0),
    Type.Q5_1: (0, 9.2, 2, -15.5), Type.Q8_0: (0, 74.0, None, 0), Type.Q2_K: (80, 14.0, 82, 1.5),
    Type.Q3_K: (108, 42.0, None, 0), Type.Q4_K: (0, 250.0, 2, 7.5), Type.Q5_K: (0, 500.0, 2, 15.5),
    Type.Q6_K: (208, 1370.0, None, 0),
}
INTEGERS = {Type.I8: np.int8, Type.I16: np.int16, Type.I32: np.int32, Type.I64: np.int64}
OTHERS = [Type.IQ1_M, Type.MXFP4, Type.NVFP4]
DEVIATION = 0.04


def random_blocks(kind, n_blocks, rng, deviation=DEVIATION):
    """Random bytes, with scales that give values about this standard deviation."""
    _, n_bytes = GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (n_blocks, n_bytes), dtype=np.uint8)
    spread = lambda size: deviation * rng.uniform(0.7, 1.4, (n_blocks, 1)) / size
    if kind in SCALES:
        offset, size = SCALES[kind]
        scale = spread(size) * rng.choice([-1, 1], (n_blocks, 1))
        blocks[:, offset : offset + 2] = scale.astype(np.float16).view(np.uint8)
    elif kind in NATIVE_SCALES:
        offset, size, other, ratio = NATIVE_SCALES[kind]
        scale = spread(size)
        blocks[:, offset : offset + 2] = scale.astype(np.float16).view(np.uint8)
        if other is not None:
            blocks[:, other : other + 2] = (ratio * scale).astype(np.float16).view(np.uint8)
    elif kind == Type.BF16:
        values = rng.normal(0, deviation, (n_blocks, 1)).astype(np.float32)
        blocks[:] = values.view(np.uint8)[:, 2:]
    elif kind == Type.IQ1_M:
        # The factor is spread over the upper nibbles of four words.
        bits = spread(8.0).astype(np.float16).view(np.uint16)
        words = blocks[:, 48:].view(np.uint16)
        words[:] = words & 0x0FFF | (bits >> np.array([0, 4, 8, 12]) & 0xF).astype(np.uint16) << 12
    elif kind == Type.MXFP4:
        blocks[:, 0] = rng.integers(119, 123, n_blocks)
    elif kind == Type.NVFP4:
        # Numbers from 2 to 7.5: the tensor has a factor, too.
        blocks[:, :4] = rng.integers(64, 80, (n_blocks, 4))
    return blocks


def dequantized(blocks, kind):
    with np.errstate(over="ignore"):
        return quants.dequantize(blocks, kind).astype(np.float32)


def write_grids():
    classes = [quants.IQ2_XXS, quants.IQ2_XS, quants.IQ2_S, quants.IQ3_XXS, quants.IQ3_S, quants.IQ1_S]
    GRIDS.write_bytes(b"".join(bytes.fromhex(it.grid_hex.decode()) for it in classes))


def write_blocks():
    rng = np.random.default_rng(54)
    writer = gguf.GGUFWriter(HERE / "blocks.gguf", "blocks")
    for kind in [*SCALES, *OTHERS]:
        n_values, _ = GGML_QUANT_SIZES[kind]
        blocks = random_blocks(kind, max(1, 512 // n_values), rng)
        writer.add_tensor(kind.name, blocks, raw_dtype=kind)
        writer.add_tensor(kind.name + ".f32", dequantized(blocks, kind).reshape(len(blocks), -1))
    for kind, dtype in [*INTEGERS.items(), (Type.F64, np.float64)]:
        values = rng.normal(0, 50, (2, 8)).astype(dtype)
        writer.add_tensor(kind.name, values, raw_dtype=kind)
        writer.add_tensor(kind.name + ".f32", values.astype(np.float32))
    finish(writer)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


HIDDEN, FFN, N_VOCAB, HEAD_DIM, BASE, EPS = 256, 32, 32, 16, 10000.0, 1e-5
LAYERS = [
    dict(attn_q=Type.IQ4_XS, attn_k=Type.IQ3_XXS, attn_v=Type.IQ3_S, ffn_gate=Type.IQ2_XXS, ffn_up=Type.IQ2_XS),
    dict(attn_q=Type.IQ2_S, attn_k=Type.IQ1_S, attn_v=Type.IQ1_M, ffn_gate=Type.TQ1_0, ffn_up=Type.TQ2_0),
    dict(attn_q=Type.MXFP4, attn_k=Type.NVFP4, attn_v=Type.IQ4_NL, ffn_gate=Type.IQ4_XS, ffn_up=Type.MXFP4),
]
NATIVE_LAYERS = [
    dict(attn_q=Type.Q2_K, attn_k=Type.Q3_K, attn_v=Type.Q4_K, ffn_gate=Type.Q5_K, ffn_up=Type.Q6_K),
    dict(attn_q=Type.Q4_0, attn_k=Type.Q4_1, attn_v=Type.Q5_0, ffn_gate=Type.Q5_1, ffn_up=Type.BF16),
    dict(attn_q=Type.Q6_K, attn_k=Type.Q8_0, attn_v=Type.Q3_K, ffn_gate=Type.Q2_K, ffn_up=Type.Q4_K),
]
# The types of the embedding table, the output head and the down projections.
OTHER_MATRICES = (Type.IQ4_XS, Type.IQ3_S, Type.IQ4_NL)
NATIVE_OTHERS = (Type.Q8_0, Type.Q6_K, Type.Q5_1)
FACTOR = np.float32(0.004)


def write_model(stem, layers, others, file_type, seed):
    rng = np.random.default_rng(seed)
    table, head, down = others
    writer = gguf.GGUFWriter(HERE / f"{stem}.gguf", "llama")
    writer.add_block_count(len(layers))
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_rope_freq_base(BASE)
    writer.add_layer_norm_rms_eps(EPS)
    writer.add_file_type(file_type)
    weights = {}

    def matrix(name, n_rows, width, kind, deviation=DEVIATION):
        n_values, n_bytes = GGML_QUANT_SIZES[kind]
        blocks = random_blocks(kind, n_rows * width // n_values, rng, deviation)
        values = dequantized(blocks, kind).reshape(n_rows, width)
        if kind == Type.NVFP4:
            writer.add_tensor(f"{name}.scale", np.array([FACTOR]))
            values = values * FACTOR
        writer.add_tensor(f"{name}.weight", blocks.reshape(n_rows, -1), raw_dtype=kind)
        weights[name] = values

    def vector(name):
        weights[name] = rng.uniform(0.8, 1.2, HIDDEN).astype(np.float32)
        writer.add_tensor(f"{name}.weight", weights[name])

    # Larger, as rounding would otherwise grow from layer to layer.
    matrix("token_embd", N_VOCAB, HIDDEN, table, 0.2)
    matrix("output", N_VOCAB, HIDDEN, head, 0.1)
    vector("output_norm")
    for layer, kinds in enumerate(layers):
        name = f"blk.{layer}.%s"
        vector(name % "attn_norm")
        vector(name % "ffn_norm")
        for role in ("attn_q", "attn_k", "attn_v"):
            matrix(name % role, HEAD_DIM, HIDDEN, kinds[role])
        for role in ("ffn_gate", "ffn_up"):
            matrix(name % role, FFN, HIDDEN, kinds[role])
        matrix(name % "ffn_down", HIDDEN, FFN, down)
        # Too narrow for a block.
        output = rng.normal(0, DEVIATION, (HIDDEN, HEAD_DIM)).astype(np.float16)
        writer.add_tensor(f"{name % 'attn_output'}.weight", output)
        weights[name % "attn_output"] = output.astype(np.float32)
    finish(writer)
    tokens = rng.integers(4, N_VOCAB, 12).tolist()
    log_probs = forward(weights, tokens, len(layers))
    versions = {name: importlib.metadata.version(name) for name in ("gguf", "numpy")}
    text = dict(versions=versions, tokens=tokens, log_probs=np.round(log_probs, 5).tolist())
    (HERE / f"{stem}.json").write_text(json.dumps(text) + "\n")


def normed(rows, weight):
    return rows / np.sqrt(np.mean(rows * rows, axis=-1, keepdims=True) + EPS) * weight


def rotated(rows):
    """Rotates neighboring values, as llama.cpp does for Llama."""
    positions = np.arange(len(rows))[:, None]
    angles = positions * BASE ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    even, odd = rows[:, 0::2], rows[:, 1::2]
    pairs = (even * np.cos(angles) - odd * np.sin(angles), even * np.sin(angles) + odd * np.cos(angles))
    return np.stack(pairs, axis=-1).reshape(rows.shape)


def forward(weights, tokens, n_layers):
    """The log-probabilities after each token."""
    weights = {name: values.astype(np.float64) for name, values in weights.items()}
    rows = weights["token_embd"][tokens]
    for layer in range(n_layers):
        of = lambda role: weights[f"blk.{layer}.{role}"]
        inputs = normed(rows, of("attn_norm"))
        queries, keys, values = (inputs @ of(role).T for role in ("attn_q", "attn_k", "attn_v"))
        scores = rotated(queries) @ rotated(keys).T / np.sqrt(HEAD_DIM)
        scores[np.triu_indices(len(tokens), 1)] = -np.inf
        probs = np.exp(scores - scores.max(axis=-1, keepdims=True))
        probs /= probs.sum(axis=-1, keepdims=True)
        rows = rows + probs @ values @ of("attn_output").T
        inputs = normed(rows, of("ffn_norm"))
        gates, ups = inputs @ of("ffn_gate").T, inputs @ of("ffn_up").T
        rows = rows + (gates / (1 + np.exp(-gates)) * ups) @ of("ffn_down").T
    logits = normed(rows, weights["output_norm"]) @ weights["output"].T
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


if __name__ == "__main__":
    write_grids()
    write_blocks()
    write_model("model", LAYERS, OTHER_MATRICES, gguf.LlamaFileType.MOSTLY_IQ4_XS, 2026)
    write_model("native", NATIVE_LAYERS, NATIVE_OTHERS, gguf.LlamaFileType.MOSTLY_Q4_K_M, 2027)
