#!/usr/bin/env python3
"""GGUF -> HF-style folder in f32, so that training can go on from the file that ships.  usage: from_gguf.py MODEL.gguf TOKENIZER.json FOLDER

The inverse of to_gguf.py, but for what the quantisation has rounded away.
"""
import sys

import numpy as np
import torch
from gguf import GGUFReader, quants

from to_gguf import N
from train import Llama, export

NAMES = {short: name for name, short in N.items()}


def halves(a, head_dim):
    """ggml's interleaved rotary order -> halves."""
    return a.reshape(-1, head_dim // 2, 2, a.shape[1]).swapaxes(1, 2).reshape(a.shape)


def main():
    source, tokenizer, folder = sys.argv[1:4]
    reader = GGUFReader(source)
    value = lambda name: reader.fields['llama.' + name].contents()
    c = dict(dim=value('embedding_length'), n_layers=value('block_count'), n_heads=value('attention.head_count'), n_kv=value('attention.head_count_kv'),
             ffn=value('feed_forward_length'), ctx=value('context_length'), vocab=value('vocab_size'), theta=value('rope.freq_base'))
    state = {}
    for t in reader.tensors:
        a = np.array(quants.dequantize(t.data, t.tensor_type), dtype=np.float32)
        if t.name == 'token_embd.weight':
            name = 'embed_tokens.weight'
        elif t.name == 'output_norm.weight':
            name = 'norm.weight'
        else:
            _, layer, kind, _ = t.name.split('.')
            name = f'layers.{layer}.{NAMES[kind]}.weight'
            if kind in ('attn_q', 'attn_k'):
                a = halves(a, c['dim'] // c['n_heads'])
        state[name] = torch.from_numpy(np.ascontiguousarray(a))
    model = Llama(c)
    model.load_state_dict(state)
    export(model, c, folder, tokenizer, half=False)


if __name__ == '__main__':
    main()
