#!/usr/bin/env python3
"""GGUF -> HF-style folder in f32, so that training can go on from the file that ships.  usage: from_gguf.py MODEL.gguf TOKENIZER.json FOLDER

The inverse of to_gguf.py, but for what the quantisation has rounded away.
"""
import json
import os
import shutil
import sys

import numpy as np
import torch
from gguf import GGUFReader, quants
from safetensors.torch import save_file

NAMES = {'attn_q': 'self_attn.q_proj', 'attn_k': 'self_attn.k_proj', 'attn_v': 'self_attn.v_proj', 'attn_output': 'self_attn.o_proj', 'ffn_gate': 'mlp.gate_proj',
         'ffn_up': 'mlp.up_proj', 'ffn_down': 'mlp.down_proj', 'attn_norm': 'input_layernorm', 'ffn_norm': 'post_attention_layernorm'}


def halves(a, head_dim):
    """ggml's interleaved rotary order -> halves."""
    return a.reshape(-1, head_dim // 2, 2, a.shape[1]).swapaxes(1, 2).reshape(a.shape)


def main():
    source, tokenizer, folder = sys.argv[1:4]
    reader = GGUFReader(source)
    value = lambda name: reader.fields['llama.' + name].contents()
    n_heads, n_kv = value('attention.head_count'), value('attention.head_count_kv')
    dim = value('embedding_length')
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
                a = halves(a, dim // n_heads)
        state['model.' + name] = torch.from_numpy(np.ascontiguousarray(a))
    os.makedirs(folder, exist_ok=True)
    save_file(state, folder + '/model.safetensors', metadata={'format': 'pt'})
    shutil.copy(tokenizer, folder + '/tokenizer.json')
    config = dict(architectures=['LlamaForCausalLM'], model_type='llama', hidden_size=dim, intermediate_size=value('feed_forward_length'), num_hidden_layers=value('block_count'),
                  num_attention_heads=n_heads, num_key_value_heads=n_kv, head_dim=dim // n_heads, vocab_size=value('vocab_size'), max_position_embeddings=value('context_length'),
                  rms_norm_eps=1e-5, rope_theta=value('rope.freq_base'), hidden_act='silu', tie_word_embeddings=True, bos_token_id=1, eos_token_id=2, pad_token_id=0, torch_dtype='float32')
    json.dump(config, open(folder + '/config.json', 'w'), indent=1)


if __name__ == '__main__':
    main()
