#!/usr/bin/env python3
"""What the draft model's teacher writes.

usage: written.py prompts DATA TOKENIZER.json prompts.txt      beginnings of documents, for `quartet sweep --prompts`
       written.py tokens sweep.json written.bin                the texts of such a sweep as uint16 tokens, shuffled
"""
import json
import sys

import numpy as np

COUNTS = {'synth': 420, 'fairy': 340, 'youth': 160}
STARTERS = ['Once upon a time there was a little fox who', 'Once upon a time', 'The old king had three'] * 3


def prompts(data, tokenizer, out):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(tokenizer)
    meta, tokens = json.load(open(data + '.json')), np.fromfile(data + '.bin', dtype=np.uint16)
    rng, lines = np.random.default_rng(5), []
    for source in meta['sources']:
        starts = source['start'] + np.flatnonzero(tokens[source['start']:source['end']] == 1)
        for start in rng.choice(starts, min(COUNTS.get(source['name'], 60), len(starts)), replace=False):
            ids = [int(token) for token in tokens[start + 1:start + 1 + int(rng.integers(3, 26))]]
            ids = ids[:ids.index(2)] if 2 in ids else ids
            line = ' '.join(tokenizer.decode(ids).split())
            if len(line) > 4:
                lines.append(line)
    rng.shuffle(lines)
    open(out, 'w').write('\n'.join(STARTERS + lines) + '\n')


def tokens(sweep, out):
    sweep = json.load(open(sweep))
    texts = [sweep['prompts'][text['prompt']]['tokens'] + text['tokens'] for cell in sweep['cells'] for text in cell['texts']]
    np.random.default_rng(3).shuffle(texts)
    np.concatenate([np.array(text, dtype=np.uint16) for text in texts]).tofile(out)


if __name__ == '__main__':
    {'prompts': prompts, 'tokens': tokens}[sys.argv[1]](*sys.argv[2:])
