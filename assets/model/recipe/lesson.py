#!/usr/bin/env python3
"""How much the four default panes of Quartet differ, and where greedy loops, over twenty prompts.

usage: lesson.py QUARTET MODEL.gguf OUT.json [TOKENS]      (tokenizer.json lies beside the GGUF)
"""
import itertools
import json
import subprocess
import sys

PROMPTS = ['Once upon a time there was a little fox who', 'The old king had three', 'Once upon a time', 'One day, a girl named Lily found a', '"Where are you going?" asked the', 'The bear was sad because', 'Dear Grandmother,',
           'Why do leaves fall in autumn?', 'In the basket there were', 'When I was seven years old,', 'The house stood at the edge of the', '"I am not afraid," said the', 'It was a cold winter night, and', 'The captain looked at the sea and',
           'My mother told me that', 'There was once a poor woodcutter who', 'Tom opened the door and saw', 'The princess did not want to', '"Tell me a story," said', 'Long ago, in a village by the sea,']


def loops(tokens, most=24):
    """Whether the end of a text repeats one piece of at most `most` tokens three times."""
    return any(len(tokens) >= 3 * n and tokens[-n:] == tokens[-2 * n:-n] == tokens[-3 * n:-2 * n] for n in range(1, most + 1))


def distinct(tokens):
    pairs = list(zip(tokens, tokens[1:]))
    return len(set(pairs)) / max(1, len(pairs))


def parted(a, b):
    """Share of positions after the first difference at which two texts differ, and where they part."""
    fork = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    n = max(len(a), len(b)) - fork
    same = sum(x == y for x, y in zip(a[fork:], b[fork:]))
    return (1 - same / n if n else 0.0), fork


def main():
    quartet, model, out = sys.argv[1:4]
    n = sys.argv[4] if len(sys.argv) > 4 else '200'
    rows = []
    for p in PROMPTS:
        d = json.loads(subprocess.run([quartet, 'generate', '--model', model, '--prompt', p, '--max-tokens', n, '--json', '-'], capture_output=True, check=True, text=True).stdout)
        panes = [dict(name=x['name'], text=x['text'], end=x['finish_reason'], tokens=[s['token'] for s in x['steps']], entropy=sum(s['entropy_nats'] for s in x['steps']) / max(1, len(x['steps']))) for x in d['panes']]
        pairs = [parted(a['tokens'], b['tokens']) for a, b in itertools.combinations(panes, 2)]
        rows.append(dict(prompt=p, panes=panes, parted=sum(x for x, _ in pairs) / len(pairs), fork=sum(f for _, f in pairs) / len(pairs), least=min(x for x, _ in pairs)))
    json.dump(rows, open(out, 'w'), indent=1)
    names = [p['name'] for p in rows[0]['panes']]
    mean = lambda f: sum(map(f, rows)) / len(rows)
    print(f'mean share of positions that differ after the first fork {mean(lambda r: r["parted"]):.3f}, mean first fork at token {mean(lambda r: r["fork"]):.1f}')
    for i, name in enumerate(names):
        print(f'{name}: distinct-2 {mean(lambda r: distinct(r["panes"][i]["tokens"])):.3f}, entropy {mean(lambda r: r["panes"][i]["entropy"]):.2f} nats a step, ends by itself {sum(r["panes"][i]["end"] == "end_of_text" for r in rows)}/{len(rows)}, loops {sum(loops(r["panes"][i]["tokens"]) for r in rows)}, tokens {mean(lambda r: len(r["panes"][i]["tokens"])):.0f}')
    print('greedy loops on:', [r['prompt'] for r in rows if loops(r['panes'][0]['tokens'])])
    same = [r['prompt'] for r in rows if any(a['tokens'] == b['tokens'] for a, b in itertools.combinations(r['panes'], 2))]
    print('prompts on which two panes are the same:', same)


if __name__ == '__main__':
    main()
