"""The plots. Each names its hero, the other characters, a moral and its beats; a beat is a list of wordings.

In a `plot` the wordings of a beat stand for one another, so that stories mix them; a moral that ends with `!` says
that they belong together, the first of each beat or the second. A `pair` is two stories on one theme, side by side.
"""
from importlib import import_module

PLOTS = []


def plot(hero, others, moral, *beats):
    PLOTS.append((hero, others, moral.rstrip('!'), moral.endswith('!'), beats))


def pair(hero, others, moral, *beats):
    assert all(len(b) == 2 for b in beats), beats[0]
    PLOTS.append((hero, others, moral, True, beats))


for name in ('first', 'quests', 'school', 'sea', 'winter', 'market', 'makers', 'friends', 'amends', 'wits', 'animals', 'weather', 'journeys', 'night'):
    import_module('plots.' + name)
