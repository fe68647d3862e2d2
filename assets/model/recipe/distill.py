#!/usr/bin/env python3
"""Trains a small draft model to guess what a larger one writes.  usage: distill.py TEACHER DATA TOKENIZER.json OUT [options]

TEACHER and OUT are exported folders (see train.py and from_gguf.py); DATA is a packed corpus without .bin and .json.
The loss is the KL divergence of the teacher's distribution from the student's at every place of a window, because
speculative decoding accepts a guess with probability sum min(p, q), which is the larger the nearer q is to p.
`--written FILE.bin` adds texts that the teacher wrote itself (uint16 tokens, each document from <s>), which is what it drafts for.
Reports on held-out windows: the share of places where both have the same most likely token (greedy drafts are accepted there),
and the mean of sum min(p, q) (accepted at temperature 1).
"""
import argparse
import json
import os
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from train import Data, Llama, Muon, export

LAYERS, FFN = [0, -1], 384


def load(folder):
    c = json.load(open(folder + '/config.json'))
    shape = dict(dim=c['hidden_size'], n_layers=c['num_hidden_layers'], n_heads=c['num_attention_heads'], n_kv=c['num_key_value_heads'],
                 ffn=c['intermediate_size'], ctx=c['max_position_embeddings'], vocab=c['vocab_size'], theta=c['rope_theta'])
    model = Llama(shape)
    weights = load_file(folder + '/model.safetensors')
    model.load_state_dict({k.removeprefix('model.'): v.float() for k, v in weights.items()})
    return model, shape


def beginning(teacher, shape):
    """A student that begins as the teacher's first and last layer, with the feed-forward units that weigh most."""
    shape = dict(shape, n_layers=len(LAYERS), ffn=FFN)
    student = Llama(shape)
    student.embed_tokens.load_state_dict(teacher.embed_tokens.state_dict())
    student.norm.load_state_dict(teacher.norm.state_dict())
    for own, place in zip(student.layers, LAYERS):
        layer = teacher.layers[place]
        own.self_attn.load_state_dict(layer.self_attn.state_dict())
        for name in ('input_layernorm', 'post_attention_layernorm'):
            getattr(own, name).load_state_dict(getattr(layer, name).state_dict())
        mlp = layer.mlp
        weight = mlp.gate_proj.weight.norm(dim=1) * mlp.up_proj.weight.norm(dim=1) * mlp.down_proj.weight.norm(dim=0)
        kept = weight.topk(FFN).indices
        own.mlp.gate_proj.weight.data = mlp.gate_proj.weight.data[kept].clone()
        own.mlp.up_proj.weight.data = mlp.up_proj.weight.data[kept].clone()
        own.mlp.down_proj.weight.data = mlp.down_proj.weight.data[:, kept].clone()
    return student, shape


class Windows:
    """Windows of the corpus, and of what the teacher wrote."""

    def __init__(self, o):
        self.corpus = Data(o.data)
        self.corpus.weigh(json.loads(o.weights))
        self.corpus.rng = np.random.default_rng(o.seed)
        self.corpus.starts = {x['name']: 0.4 for x in self.corpus.src}
        self.written, self.share, self.held = None, o.share, None
        if o.written:
            tokens = np.fromfile(o.written, dtype=np.uint16)
            n_held = len(tokens) // 50
            self.held, self.written = tokens[:n_held], tokens[n_held:]
            self.starts = np.flatnonzero(self.written == 1)

    def batch(self, n, length):
        n_written = int(self.corpus.rng.binomial(n, self.share)) if self.written is not None else 0
        parts = [self.corpus.batch(n - n_written, length)[:, :-1]] if n > n_written else []
        if n_written:
            at = np.minimum(self.corpus.rng.choice(self.starts, n_written), len(self.written) - length)
            parts.append(torch.from_numpy(np.stack([self.written[a:a + length] for a in at]).astype(np.int64)))
        return torch.cat(parts)

    def held_out(self, length, n_max=12):
        sets = {v['name']: self.corpus.val(v['name'], length, n_max)[:, :-1] for v in self.corpus.meta['val']}
        if self.held is not None:
            n = min(n_max, len(self.held) // length)
            sets['written'] = torch.from_numpy(self.held[:n * length].reshape(n, length).astype(np.int64))
        return sets


@torch.no_grad()
def evaluate(teacher, student, sets):
    student.eval()
    report = {}
    for name, windows in sets.items():
        p, q = (model(windows).float().softmax(-1) for model in (teacher, student))
        same = (p.argmax(-1) == q.argmax(-1)).float().mean()
        report[name] = dict(same=round(same.item(), 3), overlap=round(torch.minimum(p, q).sum(-1).mean().item(), 3))
    student.train()
    return report


def main():
    a = argparse.ArgumentParser()
    for name in ('teacher', 'data', 'tokenizer', 'out'):
        a.add_argument(name)
    a.add_argument('--written', default='')
    a.add_argument('--share', type=float, default=0.5, help='of the windows, those that the teacher wrote')
    a.add_argument('--weights', default='{"synth":0.4,"fairy":0.4,"youth":0.2}')
    a.add_argument('--minutes', type=float, default=30)
    a.add_argument('--batch', type=int, default=8)
    a.add_argument('--lr', type=float, default=3e-3)
    a.add_argument('--threads', type=int, default=1)
    a.add_argument('--seed', type=int, default=101)
    o = a.parse_args()
    torch.manual_seed(o.seed)
    torch.set_num_threads(o.threads)
    teacher, shape = load(o.teacher)
    teacher.eval()
    student, shape = beginning(teacher, shape)
    length, windows = shape['ctx'], Windows(o)
    sets = windows.held_out(length)
    matrices = [p for n, p in student.named_parameters() if p.dim() == 2 and 'embed' not in n]
    others = [p for n, p in student.named_parameters() if not (p.dim() == 2 and 'embed' not in n)]
    optimizers = [torch.optim.AdamW(others, lr=o.lr, betas=(0.9, 0.98), weight_decay=0.0), Muon(matrices, lr=o.lr, wd=0.02)]
    os.makedirs(o.out, exist_ok=True)
    log = open(o.out + '/log.txt', 'a')

    def say(*x):
        print(*x, flush=True)
        print(*x, file=log, flush=True)

    say(sum(p.numel() for p in student.parameters()), 'parameters', shape, vars(o))
    begun, step, mean = time.process_time(), 0, None
    while (done := (time.process_time() - begun) / 60 / o.minutes / o.threads) < 1:
        rate = min(1.0, (step + 1) / 60) * (1.0 if done < 0.4 else (1 - done) / 0.6)
        for group in (g for x in optimizers for g in x.param_groups):
            group['lr'] = o.lr * max(rate, 0.01)
        x = windows.batch(o.batch, length)
        with torch.no_grad():
            target = teacher(x).softmax(-1)
        loss = -(target * student(x).log_softmax(-1)).sum(-1).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        for x in optimizers:
            x.step()
            x.zero_grad(set_to_none=True)
        step += 1
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if step % 20 == 0:
            say(f'step {step} tokens {step * o.batch * length / 1e6:.2f}M loss {mean:.4f} done {done:.3f}')
        if step % 400 == 0:
            say(' held out', evaluate(teacher, student, sets))
            export(student, shape, o.out, o.tokenizer, half=False)
    say('held out', evaluate(teacher, student, sets), 'steps', step)
    export(student, shape, o.out, o.tokenizer, half=False)


if __name__ == '__main__':
    main()
