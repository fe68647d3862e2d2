#!/usr/bin/env python3
"""Adds a part `tale` to a packed corpus: fairy tales, folk tales and animal stories from single books of Project Gutenberg.

usage: tales.py OLD NEW BOOKS [tokenizer.json]        (OLD and NEW without .bin and .json)
BOOKS holds one clone for each book, of github.com/GITenberg, in a folder named after the repository; SOURCES.tsv lists them.
Documents are cut and filtered as in build_pd.py and pack.py. One that shares over a quarter of its runs of eight words
with a document already there is left out, and so is one that shares a hundredth with a held-out document.
"""
import json
import random
import re
import subprocess
import sys
import tempfile
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import build_pd
from pack import clean, pieces

old, new, books = sys.argv[1:4]
tokenizer = Tokenizer.from_file(sys.argv[4] if len(sys.argv) > 4 else '../tokenizer.json')


def text_of(book):
    """The book's plain text: the UTF-8 file if there is one, else the ASCII file, else the Latin-1 one."""
    git = ['git', '--git-dir', next(str(p.parent) for p in sorted(book.resolve().rglob('HEAD')) if (p.parent / 'objects').is_dir())]
    names = subprocess.run([*git, 'ls-tree', '--name-only', 'HEAD'], capture_output=True, text=True, check=True).stdout.split('\n')
    number = book.name.rsplit('_', 1)[1]
    name = next((n for n in (f'{number}-0.txt', f'{number}.txt', f'{number}-8.txt') if n in names), None)
    return name and subprocess.run([*git, 'show', f'HEAD:{name}'], capture_output=True, check=True).stdout


def documents(book):
    raw = text_of(book)
    if raw is None:
        return []
    with tempfile.NamedTemporaryFile(suffix='.txt') as file:
        file.write(raw)
        file.flush()
        return build_pd.load(file.name)[1] or []


def packed(docs):
    return [np.array([1] + e.ids + [2], dtype=np.uint16) for e in tokenizer.encode_batch(docs, add_special_tokens=False)]


def main():
    meta = json.load(open(old + '.json'))
    tokens = np.fromfile(old + '.bin', dtype=np.uint16)

    def there(part):
        span = tokens[part['start']:part['end']]
        return tokenizer.decode_batch([d[1:].tolist() for d in np.split(span, np.flatnonzero(span == 1)[1:])])

    held = {run for part in meta['val'] for text in there(part) for run in build_pd.runs(text)}
    for part in meta['sources']:
        if part['name'] in ('fairy', 'youth'):
            for text in there(part):
                build_pd.seen.update(build_pd.runs(text))

    kept, rows = [], []
    folders = sorted(p for p in Path(books).iterdir() if re.search(r'_\d+$', p.name))
    with Pool(2) as pool:
        for book, docs in zip(folders, pool.imap(documents, folders)):
            count = 0
            for doc in (piece for doc in docs if build_pd.english(doc) for piece in pieces(clean(doc))):
                runs = build_pd.runs(doc)
                if len(doc) > 200 and sum(r in held for r in runs) <= len(runs) / 100 and build_pd.fresh2(doc):
                    kept.append(doc)
                    count += 1
            if count:
                rows.append(f'tale\tGITenberg/{book.name}\t{count}\n')
    random.Random(5).shuffle(kept)

    tale = packed(kept)
    meta['sources'].append(dict(name='tale', start=len(tokens), end=len(tokens) + sum(map(len, tale)), weight=0.2, docs=len(tale)))
    np.concatenate([tokens, *tale]).tofile(new + '.bin')
    json.dump(meta, open(new + '.json', 'w'), indent=1)
    open(new + '.sources.tsv', 'w').writelines(rows)
    print(len(rows), 'books,', len(tale), 'documents,', sum(map(len, tale)), 'tokens')


if __name__ == '__main__':
    main()
