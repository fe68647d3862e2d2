"""Characters, templates and the last polish.

A template is a sentence with choices `[a|b]` and slots: `{H}` is the hero by name or kind, `{H he}` its pronoun,
`{H^}` the same at the start of a sentence, and `{thing}` a bound word.
"""
import re

from grammar.words import ANIMAL, BOY, FEMALE, GIRL, PET, PLAIN, TRAIT

SMALL, BIG, FLY = ([a for a in ANIMAL if ANIMAL[a] == k] for k in ('small', 'big', 'fly'))
CHOICE = re.compile(r'\[([^\[\]]*)\]')
SLOT = re.compile(r'\{(\w+)(\^?)(?: (\w+))?\}')
SHE = {'he': 'she', 'him': 'her', 'his': 'her', 'himself': 'herself', 'own': 'hers'}
I = {'he': 'I', 'him': 'me', 'his': 'my', 'himself': 'myself', 'own': 'mine'}


def article(s):
    return ('an ' if s[0] in 'aeiou' else 'a ') + s


class Character:
    """Someone in a story: a child with a name, an animal with or without one, or a person known by trade or rank."""

    def __init__(self, rng, kind=None, used=()):
        kind = kind or rng.choices(['human', 'animal'], [0.45, 0.55])[0]
        self.rng, self.animal, self.named, self.name = rng, False, False, ''
        if kind in ('human', 'girl', 'boy'):
            girl = kind == 'girl' or kind == 'human' and rng.random() < 0.5
            self.name = rng.choice([n for n in (GIRL if girl else BOY) if n not in used])
            self.kind, self.sex, self.named = ('girl', 'f', True) if girl else ('boy', 'm', True)
        elif kind in ANIMAL or kind in ('animal', 'small', 'big', 'fly'):
            pool = {'small': SMALL, 'big': BIG, 'fly': FLY, 'animal': list(ANIMAL)}.get(kind, [kind])
            self.kind = rng.choice([a for a in pool if a not in used] or pool)
            self.sex = 'f' if self.kind in FEMALE or rng.random() < 0.4 else 'm'
            self.animal, self.named = True, rng.random() < 0.55
            self.name = rng.choice([n for n in PET if n not in used])
        else:
            self.kind, self.sex = kind, 'f' if kind in FEMALE else 'm'
        self.trait = '' if self.kind in PLAIN else rng.choice(TRAIT)

    def reference(self):
        if self.named and (not self.animal or self.rng.random() < 0.8):
            return self.name
        little = 'little ' if self.kind in SMALL and self.rng.random() < 0.25 else ''
        return 'the ' + little + self.kind

    def plain(self):
        """The kind with its trait, `a shy fox`."""
        return article((self.trait + ' ' if self.trait else '') + self.kind)

    def introduction(self):
        return self.plain() + (self.rng.choice([' named ', ' called ', ' whose name was ', ' named ']) + self.name if self.named else '')

    def pronoun(self, word):
        w = SHE[word.lower()] if self.sex == 'f' else word.lower()
        return w.capitalize() if word[0].isupper() else w


class Narrator(Character):
    """The hero of a story told in the first person."""

    def reference(self):
        return 'I'

    def pronoun(self, word):
        w = I[word.lower()]
        return w.capitalize() if word[0].isupper() else w


def choose(template, rng):
    """Resolves the choices, innermost first."""
    while m := CHOICE.search(template):
        template = template[:m.start()] + rng.choice(m.group(1).split('|')) + template[m.end():]
    return template


def expand(template, bound, rng):
    """A sentence from a template; a word in a slot may itself hold choices and slots."""
    def fill(m):
        key, capital, pronoun = m.groups()
        v = bound[key]
        if isinstance(v, Character):
            v = v.pronoun(pronoun) if pronoun else v.reference()
        elif isinstance(v, list):
            v = rng.choice(v)
        return v[0].upper() + v[1:] if capital else v
    before = None
    while before != template:
        before, template = template, SLOT.sub(fill, choose(template, rng))
    return template


def polish(t):
    """Spaces, articles and capitals of a paragraph."""
    t = re.sub(r' +', ' ', t).strip()
    t = re.sub(r' ([.,!?;:])', r'\1', t)
    t = re.sub(r'([?!]),"', r'\1"', t)
    t = re.sub(r'\b([Aa]) (?=[aeiou])', r'\1n ', t)
    t = re.sub(r'\b([Aa])n (?=one\b|use|uni|[b-df-gj-np-tv-z])', r'\1 ', t)
    t = re.sub(r'\b([Aa]) (?=hour|honest)', r'\1n ', t)
    t = re.sub(r'(^|[.!?] |\.\.\. |[.]" |\n)([a-z])', lambda m: m.group(1) + m.group(2).upper(), t)
    t = re.sub(r'((?:^| |\n)")((?:the|a|an) )', lambda m: m.group(1) + m.group(2) if continues(t, m.start()) else m.group(1) + m.group(2).capitalize(), t)
    return re.sub(r'\b(But|And|Then|So) (One|Early|On|Late)\b', lambda m: m.group(1) + ' ' + m.group(2).lower(), t)


def continues(t, at):
    """Whether the speech that opens at `at` goes on with a sentence begun before (`"Well," he said, "come in."`)."""
    return t[:at].rstrip().endswith(',') and '"' in t[:at] and not re.search(r'[.!?]"? [^"]*$', t[:at])
