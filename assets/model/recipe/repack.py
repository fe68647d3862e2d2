#!/usr/bin/env python3
"""Puts a new synth part into a packed corpus, with the same tokenizer, and adds a part of short whole documents.

usage: repack.py OLD NEW synth.txt [tokenizer.json]        (OLD and NEW without .bin and .json)
The texts of fairy and youth stay as they are, but for what the filter of pack.py, as it is now, cuts out of them.
The part `short` repeats the fairy and youth documents of at most 480 tokens, so that the model sees real endings.
Held-out documents: those of OLD, the first half per cent of the new grammar as `synth`, the old grammar's as `synth-old`.
Where OLD has `synth-old` already, its held-out documents stay, and the new documents replace its `synth` alone.
"""
import json
import random
import sys

import numpy as np
from tokenizers import Tokenizer

from pack import clean, pieces

old, new, text = sys.argv[1:4]
meta = json.load(open(old + '.json'))
tokens = np.fromfile(old + '.bin', dtype=np.uint16)
tokenizer = Tokenizer.from_file(sys.argv[4] if len(sys.argv) > 4 else '../tokenizer.json')
out, sources, held = [], [], []


def add(where, name, parts, weight):
    start = sum(map(len, out))
    out.extend(parts)
    where.append(dict(name=name, start=start, end=sum(map(len, out)), weight=weight, docs=len(parts)))


def encoded(docs):
    return [np.array([1] + e.ids + [2], dtype=np.uint16) for e in tokenizer.encode_batch(docs, add_special_tokens=False)]


def filtered(documents):
    """What the filter leaves of the documents; those that it does not touch keep their very tokens."""
    texts = tokenizer.decode_batch([d[1:-1].tolist() for d in documents], skip_special_tokens=False)
    kept = [pieces(text) for text in texts]
    whole = [parts == [text] for parts, text in zip(kept, texts)]
    print(whole.count(False), 'of', len(documents), 'documents cut')
    return [d for document, is_whole, parts in zip(documents, whole, kept) for d in ([document] if is_whole else encoded(parts))]


docs = [d for d in map(clean, open(text, encoding='utf8').read().split('<|endoftext|>\n')) if len(d) > 60]
random.Random(5).shuffle(docs)
packed = encoded(docs)
again = any(v['name'] == 'synth-old' for v in meta['val'])
cut = 0 if again else len(packed) // 200
if not again:
    add(held, 'synth', packed[:cut], 0.15)
for v in meta['val']:
    add(held, 'synth-old' if v['name'] == 'synth' and not again else v['name'], [tokens[v['start']:v['end']]], v['weight'])
    held[-1]['docs'] = v['docs']
add(sources, 'synth', packed[cut:], 0.15)
short = []
for s in (x for x in meta['sources'] if x['name'] in ('fairy', 'youth')):
    part = tokens[s['start']:s['end']]
    each = filtered(np.split(part, np.flatnonzero(part == 1)[1:]))
    short += [d for d in each if len(d) <= 480]
    add(sources, s['name'], each, s['weight'])
random.Random(6).shuffle(short)
add(sources, 'short', short, 0.05)
np.concatenate(out).tofile(new + '.bin')
json.dump(dict(vocab=meta['vocab'], sources=sources, val=held), open(new + '.json', 'w'), indent=1)
for x in held + sources:
    print(x['name'], x['docs'], 'documents', x['end'] - x['start'], 'tokens')
