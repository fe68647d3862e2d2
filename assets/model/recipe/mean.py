#!/usr/bin/env python3
"""The weighted mean of the weights of two exported folders, kept in 32 bits, or in 16 with `half`.  usage: mean.py FIRST SECOND SHARE_OF_SECOND OUT [half]

Wortsman et al. 2022, "Model soups: averaging weights of multiple fine-tuned models improves accuracy without increasing inference time".
"""
import sys

import torch

from sample import load
from train import export


def main():
    first, second, share, out = sys.argv[1:5]
    (mean, _), (other, _) = load(first), load(second)
    share = float(share)
    with torch.no_grad():
        for p, q in zip(mean.parameters(), other.parameters()):
            p.copy_(p * (1 - share) + q * share)
    export(mean, mean.c, out, first + '/tokenizer.json', half=sys.argv[5:] == ['half'])


if __name__ == '__main__':
    main()
