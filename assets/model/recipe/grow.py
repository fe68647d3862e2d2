#!/usr/bin/env python3
"""A larger model that computes what a smaller one does, to train on from.  usage: grow.py FOLDER OUT LAYERS FEED_FORWARD_WIDTH

New layers are copies of the one below whose two output matrices are zero; new feed-forward neurons read at random and write nothing.

Chen et al. 2015, "Net2Net: accelerating learning via knowledge transfer"; Wu et al. 2024, "LLaMA Pro: progressive LLaMA with block expansion".
"""
import sys

import torch

from sample import load
from train import Llama, export


def main():
    folder, out, layers, width = sys.argv[1:5]
    small, _ = load(folder)
    before = small.c
    c = dict(before, n_layers=int(layers), ffn=int(width))
    torch.manual_seed(1)
    grown, weights = Llama(c), small.state_dict()
    share = before['n_layers'] / c['n_layers']
    source = [int(i * share) for i in range(c['n_layers'])]
    with torch.no_grad():
        for name, p in grown.named_parameters():
            parts = name.split('.')
            new = False
            if parts[0] == 'layers':
                layer = int(parts[1])
                new = layer > 0 and source[layer] == source[layer - 1]
                parts[1] = str(source[layer])
            old = weights['.'.join(parts)]
            if new and parts[-2] in ('o_proj', 'down_proj'):
                p.zero_()
            elif 'mlp' in parts:
                if parts[-2] == 'down_proj':
                    p.zero_()
                p[:old.shape[0], :old.shape[1]] = old
            else:
                p.copy_(old)
    ids = torch.randint(3, c['vocab'], (2, 64))
    with torch.no_grad():
        difference = (small.eval()(ids) - grown.eval()(ids)).abs().max().item()
    print(f"{sum(p.numel() for p in grown.parameters())} parameters, logits differ by at most {difference:.1e}")
    export(grown, c, out, folder + '/tokenizer.json', half=False)


if __name__ == '__main__':
    main()
