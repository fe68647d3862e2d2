#!/usr/bin/env python3
"""Loss on the held-out documents of every source, in nats a token, of one or more exported folders.

usage: evaluate.py DATA FOLDER...          (windows of the model's context, one after another, in f32)
With --gguf TYPE the weights are quantised and read back first, so that the loss of that form is shown.
"""
import argparse
import json

import numpy as np
import torch
from gguf import GGMLQuantizationType, quants

from sample import load


def quantised(model, kind):
    """The model with its matrices as the GGUF form holds them."""
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() == 2:
                q = quants.quantize(p.numpy().astype(np.float32), GGMLQuantizationType[kind])
                p.copy_(torch.from_numpy(quants.dequantize(q, GGMLQuantizationType[kind])))
    return model


def main():
    a = argparse.ArgumentParser()
    a.add_argument('data')
    a.add_argument('folders', nargs='+')
    a.add_argument('--gguf', default='')
    a.add_argument('--windows', type=int, default=10**9)
    o = a.parse_args()
    torch.set_num_threads(2)
    meta = json.load(open(o.data + '.json'))
    tokens = np.fromfile(o.data + '.bin', dtype=np.uint16)
    for folder in o.folders:
        model, _ = load(folder)
        model = quantised(model, o.gguf) if o.gguf else model
        n, row = model.c['ctx'], {}
        for v in meta['val']:
            starts = list(range(v['start'], v['end'] - n - 1, n))[:o.windows]
            total = 0.0
            for i in range(0, len(starts), 8):
                x = torch.from_numpy(np.stack([tokens[s:s + n + 1] for s in starts[i:i + 8]]).astype(np.int64))
                with torch.no_grad():
                    total += model(x[:, :-1].contiguous(), x[:, 1:].contiguous()).item() * len(x)
            row[v['name']] = round(total / len(starts), 4)
        print(folder, o.gguf or 'f16', row, flush=True)


if __name__ == '__main__':
    main()
