#!/usr/bin/env python3
"""The weighted mean of the weights of two exported folders, in f32.  usage: mean.py FIRST SECOND SHARE_OF_SECOND OUT

Wortsman et al. 2022, "Model soups: averaging weights of multiple fine-tuned models improves accuracy without increasing inference time".
"""
import os
import shutil
import sys

from safetensors.torch import load_file, save_file


def main():
    first, second, share, out = sys.argv[1:5]
    a, b = (load_file(folder + '/model.safetensors') for folder in (first, second))
    share = float(share)
    os.makedirs(out, exist_ok=True)
    mean = {name: (a[name].float() * (1 - share) + b[name].float() * share).contiguous() for name in a}
    save_file(mean, out + '/model.safetensors', metadata={'format': 'pt'})
    for name in ('config.json', 'tokenizer.json'):
        shutil.copy(first + '/' + name, out + '/' + name)


if __name__ == '__main__':
    main()
