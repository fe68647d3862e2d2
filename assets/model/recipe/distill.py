#!/usr/bin/env python3
"""Distils the two-layer draft model from the embedded one, which is its only source of text.

usage: distill.py write TEACHER TEXTS        TEACHER as from_gguf.py writes it; adds TEXTS-0.npz, TEXTS-1.npz, … until stopped
       distill.py train TEACHER TEXTS OUT    reads these, and writes a folder for to_gguf.py (Q8_0)

The teacher writes documents by itself, from <s> on, at several temperatures; each token is kept with the teacher's most likely
ones and their probabilities (at temperature 1), from which the student learns. It begins with the principal components of the
teacher's embedding. First it learns by cross-entropy; then, in the decay of the rate, what counts: the probability that a draft is
accepted, which is the sum of min(p, q).
"""
import argparse
import glob
import json
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from train import Llama, Muon, export, rope

N_TOP, T, EOS, BOS = 32, 384, 2, 1
CONFIG = dict(dim=128, n_layers=2, n_heads=4, n_kv=4, ffn=384, ctx=T, vocab=6144, theta=10000.0)


def teacher_of(folder):
    c = json.load(open(folder + '/config.json'))
    c = dict(dim=c['hidden_size'], n_layers=c['num_hidden_layers'], n_heads=c['num_attention_heads'], n_kv=c['num_key_value_heads'],
             ffn=c['intermediate_size'], ctx=c['max_position_embeddings'], vocab=c['vocab_size'], theta=c['rope_theta'])
    model = Llama(c)
    model.load_state_dict({k.removeprefix('model.'): v.float() for k, v in load_file(folder + '/model.safetensors').items()})
    return model.eval()


def next_logits(model, ids, caches, at):
    """One token of each text, with a cache of keys and values."""
    x = model.embed_tokens(ids)[:, None]
    cos, sin = model.cos[at:at + 1], model.sin[at:at + 1]
    for layer, (keys, values) in zip(model.layers, caches):
        a, h = layer.self_attn, layer.input_layernorm(x)
        heads = lambda proj, n: proj(h).view(len(ids), 1, n, a.hd).transpose(1, 2)
        q, k = rope(heads(a.q_proj, a.h), cos, sin), rope(heads(a.k_proj, a.kv), cos, sin)
        keys[:, :, at:at + 1], values[:, :, at:at + 1] = k, heads(a.v_proj, a.kv)
        y = F.scaled_dot_product_attention(q, keys[:, :, :at + 1], values[:, :, :at + 1], enable_gqa=True)
        x = x + a.o_proj(y.transpose(1, 2).reshape(len(ids), 1, -1))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    return F.linear(model.norm(x), model.embed_tokens.weight)[:, 0]


@torch.no_grad()
def write(o, batch=96):
    model = teacher_of(o.teacher)
    for number in range(o.first, o.first + o.batches):
        torch.manual_seed(number)
        temperatures = torch.tensor([1.0, 1.0, 0.7, 0.4])[torch.arange(batch) % 4][:, None]
        a = model.layers[0].self_attn
        caches = [(torch.zeros(batch, a.kv, T, a.hd), torch.zeros(batch, a.kv, T, a.hd)) for _ in model.layers]
        tokens = torch.full((batch, T), BOS)
        top, probs = np.zeros((batch, T, N_TOP), np.uint16), np.zeros((batch, T, N_TOP), np.float16)
        started = time.time()
        for at in range(T):
            logits = next_logits(model, tokens[:, at], caches, at)
            p, ids = logits.softmax(-1).topk(N_TOP)
            top[:, at], probs[:, at] = ids.numpy(), p.numpy()
            if at + 1 < T:
                drawn = torch.multinomial((logits / temperatures).softmax(-1), 1)[:, 0]
                tokens[:, at + 1] = torch.where(tokens[:, at] == EOS, BOS, drawn)
        np.savez(f'{o.texts}-{number}.npz', tokens=tokens.numpy().astype(np.uint16), top=top, probs=probs)
        print(number, round(batch * T / (time.time() - started)), 'tokens a second', flush=True)


def principal(embedding, n):
    """The embedding in its n directions of most variance."""
    _, _, v = torch.linalg.svd(embedding, full_matrices=False)
    return embedding @ v[:n].T


def read(texts):
    parts = [np.load(path) for path in sorted(glob.glob(texts + '-*.npz'))]
    parts = [{name: part[name] for name in ('tokens', 'top', 'probs')} for part in parts]
    return [torch.from_numpy(np.concatenate([part[name] for part in parts])) for name in ('tokens', 'top', 'probs')]


def losses(model, tokens, top, probs):
    """The cross-entropy to the teacher's most likely tokens, and the probability that a draft is accepted."""
    logits = model(tokens.long())
    log_q = logits.gather(-1, top.long()) - logits.logsumexp(-1, keepdim=True)
    p = probs.float()
    counted = (tokens != EOS).float()          # what follows the end of a document is not drawn
    mean = lambda x: (x * counted).sum() / counted.sum()
    return mean(-(p / p.sum(-1, keepdim=True) * log_q).sum(-1)), mean(torch.minimum(p, log_q.exp()).sum(-1))


def train(o, batch=8):
    torch.manual_seed(1)
    data = read(o.texts)
    held, data = [x[:16] for x in data], [x[16:] for x in data]
    model = Llama(CONFIG)
    with torch.no_grad():
        model.embed_tokens.weight.copy_(principal(teacher_of(o.teacher).embed_tokens.weight, CONFIG['dim']))
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and 'embed' not in n]
    others = [p for n, p in model.named_parameters() if p.dim() == 1 or 'embed' in n]
    optimizers = [torch.optim.AdamW([dict(params=others, weight_decay=0.0)], lr=o.lr, betas=(0.9, 0.98)), Muon(matrices, lr=o.lr, wd=0.02)]
    started, step = time.time(), 0
    order = torch.randperm(len(data[0]))
    while (done := (time.time() - started) / (60 * o.minutes)) < 1:
        at = step * batch % (len(order) - batch + 1)
        if step and at < batch:
            order = torch.randperm(len(data[0]))
        rows = order[at:at + batch]
        rate = o.lr * min(1, (step + 1) / 50) * min(1, (1 - done) / 0.5 + 0.02)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group['lr'] = rate
        entropy, accepted = losses(model, *(x[rows] for x in data))
        loss = entropy if done < 0.5 else 0.2 * entropy + 2 * (1 - accepted)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        step += 1
        if step % 50 == 0:
            with torch.no_grad():
                entropy, accepted = losses(model, *held)
            print(f'step {step}, {done * o.minutes:.1f} min, held-out cross-entropy {entropy:.3f}, accepted {accepted:.3f}', flush=True)
    export(model, CONFIG, o.out, o.tokenizer)
    with torch.no_grad():
        print('steps', step, 'tokens', step * batch * T, 'texts', len(data[0]), 'accepted', round(losses(model, *held)[1].item(), 4))


def main():
    a = argparse.ArgumentParser()
    a.add_argument('what', choices=['write', 'train'])
    a.add_argument('teacher')
    a.add_argument('texts')
    a.add_argument('out', nargs='?')
    a.add_argument('--tokenizer', default='../tokenizer.json')
    a.add_argument('--first', type=int, default=0)
    a.add_argument('--batches', type=int, default=30)
    a.add_argument('--minutes', type=float, default=30)
    a.add_argument('--lr', type=float, default=4e-3)
    o = a.parse_args()
    torch.set_num_threads(1)
    write(o) if o.what == 'write' else train(o)


if __name__ == '__main__':
    main()
