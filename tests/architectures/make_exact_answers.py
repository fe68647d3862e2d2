"""Writes exact_answers.json: how likely transformers is to write exactly one of some texts, with the
fixtures of make_fixtures.py.

    pip install torch transformers==4.54.1
    python make_exact_answers.py > exact_answers.json

A case names a fixture, a vocabulary, a prompt, the right texts, what ends a text, the settings as
words of `--pane`, and the result: `share` is the sum of the probabilities of all token sequences that
spell a right text and end, and `n_sequences` is their number. A text ends with an end token, which is
no part of it, or where a stop string completes, which is cut off with all that follows it.

The logits are those of a forward pass over the whole sequence. The library puts together the
processors of a setting, in its order, as `generate` does. Nothing is cached, and sequences are left
out only if their bytes contradict every right text; where three tokens are the limit, not even those.

In the fixtures' own vocabulary, texts have one spelling each, so a second one of short, overlapping
and partly incomplete pieces stands beside it; a character of a piece is a byte. Random models like no
text more than others, so the texts are those that a model writes most often under the settings.
"""

import heapq
import json
import random
import sys
from pathlib import Path

import torch
import transformers

HERE = Path(__file__).parent / "fixtures"
FIRST = ["<unk>", "<s>", "</s>"]
SPECIAL = {1, 2}
N_VOCAB = 64
FIXTURES = ("llama", "gpt2")

PROMPTS = [
    "w17 w42 w5 w33",
    "w9",
    "w31 w5 w46 w47 w4 w5 w31 w29",
    "<s> w12 w60 w12 w60 w3 w4 w5 w6 w7 w8 w9 w10",
]

# `--pane` words, and what `generate` is told instead. The library's default of top-k is 50.
SETTINGS = [
    ("dialect transformers", dict(top_k=0)),
    ("top-k 50, dialect transformers", dict()),
    ("temp 0.5, dialect transformers", dict(top_k=0, temperature=0.5)),
    ("temp 1.6, top-k 12, dialect transformers", dict(top_k=12, temperature=1.6)),
    ("top-k 4, dialect transformers", dict(top_k=4)),
    ("top-p 0.8, dialect transformers", dict(top_k=0, top_p=0.8)),
    ("temp 0.7, top-p 0.9, dialect transformers", dict(top_k=0, temperature=0.7, top_p=0.9)),
    ("min-p 0.15, dialect transformers", dict(top_k=0, min_p=0.15)),
    ("temp 1.3, min-p 0.2, dialect transformers", dict(top_k=0, temperature=1.3, min_p=0.2)),
    ("typical 0.6, dialect transformers", dict(top_k=0, typical_p=0.6)),
    ("temp 0.6, typical 0.9, dialect transformers", dict(top_k=0, temperature=0.6, typical_p=0.9)),
    ("epsilon 0.04, dialect transformers", dict(top_k=0, epsilon_cutoff=0.04)),
    ("eta 0.05, dialect transformers", dict(top_k=0, eta_cutoff=0.05)),
    ("repeat 1.3 last all, temp 0.6, dialect transformers",
     dict(top_k=0, repetition_penalty=1.3, temperature=0.6)),
    ("repeat 0.7 last all, dialect transformers", dict(top_k=0, repetition_penalty=0.7)),
    ("repeat 1.8 last all, greedy, dialect transformers",
     dict(do_sample=False, repetition_penalty=1.8)),
    ("no-repeat 1 last all, temp 0.5, top-k 6, dialect transformers",
     dict(no_repeat_ngram_size=1, temperature=0.5, top_k=6)),
    ("bias 3 1.5 31 -2 47 1 ban 5 4, repeat 1.2 last all, temp 0.8, top-p 0.7, dialect transformers",
     dict(sequence_bias=[[[3], 1.5], [[31], -2.0], [[47], 1.0]], suppress_tokens=[5, 4],
          repetition_penalty=1.2, temperature=0.8, top_k=0, top_p=0.7)),
    ("repeat 1.15 last all, no-repeat 2 last all, temp 0.9, top-k 20, top-p 0.85, min-p 0.05, "
     "typical 0.95, epsilon 0.002, dialect transformers",
     dict(repetition_penalty=1.15, no_repeat_ngram_size=2, temperature=0.9, top_k=20, top_p=0.85,
          min_p=0.05, typical_p=0.95, epsilon_cutoff=0.002)),
    ("temp 0.4, min-p 0.02, eta 0.02, dialect transformers",
     dict(top_k=0, temperature=0.4, min_p=0.02, eta_cutoff=0.02)),
    ("repeat 1.4 last all, temp 0.5, top-k 10, dialect transformers",
     dict(repetition_penalty=1.4, temperature=0.5, top_k=10)),
]

# What ends a text, and how many tokens it may have.
ENDS = {
    "letters": [
        dict(stops=[], end_tokens=[2, 5]),
        dict(stops=["\n"], end_tokens=[2]),
        dict(stops=["##"], end_tokens=[]),
        dict(stops=["a#", "\n\n", "."], end_tokens=[2, 31]),
        dict(stops=["ba"], end_tokens=[2, 45]),
        dict(stops=["€", "b", "ab."], end_tokens=[2]),
        dict(stops=["#", "\n"], end_tokens=[2, 4], ignores_end_tokens=True),
    ],
    "words": [
        dict(stops=["1"], end_tokens=[2]),
        dict(stops=["5w"], end_tokens=[2, 45]),
        dict(stops=["w4", "w3", "61"], end_tokens=[2, 5]),
        dict(stops=["3w", "7"], end_tokens=[5, 17], ignores_end_tokens=True),
    ],
}


def letters():
    """Pieces of a's and b's, which can be put together in many ways, among parts of stop strings and
    of characters."""
    pieces = ["a", "b", "c", "a", "b"]
    pieces += [x + y for x in "ab" for y in "abc"] + [x + y + z for x in "ab" for y in "ab" for z in "ab"]
    pieces += ["abab", "bbaa", "ca", ".", "a.", "b.", ".\n", "ab.", ".b", "\n", "\n\n", "a\n", "b\n"]
    pieces += ["\na", "#", "##", "###", "a#", "b##", "##a", "#\n", "ba#", " ", " a", " b"]
    pieces += ["€", "é", "aé", "€b"]
    pieces = [piece.encode().decode("latin-1") for piece in pieces]
    pieces += ["\xc3", "\xa9", "\xe2", "\x82", "\xac", "\xe2\x82", "\x82\xac", "a\xc3", "\xacb", "b\xe2"]
    pieces += ["c" * n for n in range(2, 2 + N_VOCAB - len(FIRST) - len(pieces))]
    random.Random(7).shuffle(pieces)
    return FIRST + pieces


VOCABULARIES = {
    "letters": letters(),
    "words": FIRST + [f"w{token}" for token in range(len(FIRST), N_VOCAB)],
}


class Case:
    """A case that is being made."""

    def __init__(self, fixture, model, vocabulary, arguments, **fields):
        self.model = model
        self.fields = dict(fixture=fixture, vocabulary=vocabulary, **fields)
        self.pieces = [piece.encode("latin-1") for piece in VOCABULARIES[vocabulary]]
        self.stops = [stop.encode() for stop in fields["stops"]]
        self.n_max = fields["max_new_tokens"]
        self.ends = set() if fields.get("ignores_end_tokens") else set(fields["end_tokens"])
        names = VOCABULARIES["words"]
        self.prompt = [names.index(word) for word in fields["prompt"].split()]
        config = transformers.GenerationConfig(**{"do_sample": True, **arguments})
        self.samples = config.do_sample
        self.processors = model._get_logits_processor(
            config, input_ids_seq_length=len(self.prompt), device="cpu")

    @torch.no_grad()
    def probs(self, texts, noise=0.0):
        """The probabilities of all tokens after texts of the same length."""
        ids = torch.tensor([self.prompt + list(text) for text in texts])
        logits = torch.cat([self.model(part).logits[:, -1].float() for part in ids.split(2048)])
        logits = logits + noise * torch.randn(logits.shape)
        scores = self.processors(ids, logits)
        if not self.samples:
            return torch.nn.functional.one_hot(scores.argmax(-1), N_VOCAB).double()
        return scores.double().softmax(-1)

    def written(self, tokens):
        return b"".join(self.pieces[token] for token in tokens)

    def answer(self, tokens):
        """What a text says if its last token ends it, or None."""
        if tokens[-1] in self.ends:
            return self.written(tokens[:-1])
        text = self.written(tokens)
        for end in range(len(text) + 1):
            stops = [stop for stop in self.stops if text[:end].endswith(stop)]
            if stops:
                return text[: end - max(map(len, stops))]
        return None

    def share(self, right, noise=0.0, exhaustive=False):
        """Adds up the probabilities of all sequences that spell a right text and end."""
        right = [text.encode() for text in right]
        n_longest = max(map(len, self.stops), default=0)
        total, n_sequences, open_texts = 0.0, 0, [((), 1.0)]
        for n_tokens in range(1, self.n_max + 1):
            rows = self.probs([text for text, _ in open_texts], noise).tolist() if open_texts else []
            longer = []
            for (text, before), row in zip(open_texts, rows):
                for token, prob in enumerate(row):
                    # The name of a special token would be part of the text.
                    if prob == 0.0 or token in SPECIAL - self.ends:
                        continue
                    tokens = (*text, token)
                    answer = self.answer(tokens)
                    if answer is not None:
                        if answer in right:
                            total += before * prob
                            n_sequences += 1
                        continue
                    written = self.written(tokens)
                    if exhaustive or any(
                        written[: len(one)] == one[: len(written)] and len(written) < len(one) + n_longest
                        or one.startswith(written) for one in right
                    ):
                        longer.append((tokens, before * prob))
            open_texts = longer
        return total, n_sequences

    def likely_answers(self):
        """The answers that are written most often, the likeliest first."""
        answers, open_texts = {}, [((), 1.0)]
        for n_tokens in range(1, self.n_max + 1):
            rows = self.probs([text for text, _ in open_texts]).tolist() if open_texts else []
            longer = []
            for (text, before), row in zip(open_texts, rows):
                for token, prob in enumerate(row):
                    tokens = (*text, token)
                    if before * prob < 1e-5 or token in SPECIAL - self.ends:
                        continue
                    answer = self.answer(tokens)
                    if answer is None:
                        longer.append((tokens, before * prob))
                    else:
                        answers[answer] = answers.get(answer, 0.0) + before * prob
            open_texts = heapq.nlargest(200, longer, key=lambda pair: pair[1])
        texts = {}
        for answer, prob in answers.items():
            try:
                texts[answer.decode()] = prob
            except UnicodeDecodeError:
                pass
        return sorted(texts, key=texts.get, reverse=True)

    def right(self, n_texts, n_bytes):
        """Chooses texts to be right: a likely one that is not too short, one that begins with it, and
        the likeliest of all."""
        likely = self.likely_answers()
        long = [text for text in likely if len(text) >= n_bytes]
        if not likely:
            return ["a"]
        first = long[0] if long else likely[0]
        if n_texts == 1:
            return [first]
        pairs = [(text, other) for text in likely for other in likely
                 if text and other != text and other.startswith(text)]
        rank = {text: index for index, text in enumerate(likely)}
        pairs.sort(key=lambda pair: rank[pair[0]] + rank[pair[1]])
        chosen = [*pairs[0]] if pairs else likely[:2]
        others = [text for text in likely if text not in chosen]
        return (chosen + others[: n_texts - 2])[:n_texts]

    def result(self, right):
        share, n_sequences = self.share(right)
        if self.n_max <= 3:
            everything = self.share(right, exhaustive=True)
            assert everything == (share, n_sequences), (self.fields, right, everything, share)
        # A share that hangs on a cut between tokens that are almost equally likely tells nothing.
        for _ in range(2):
            moved, _ = self.share(right, noise=1e-5)
            if abs(moved - share) > 2e-4 * share:
                sys.stderr.write(f"on the edge: {share} {moved} {self.fields}\n")
                return None
        return self.fields | dict(right=right, share=float(f"{share:.9g}"), n_sequences=n_sequences)


def fields():
    """The settings of each case, which combine everything that a case can be."""
    for index, (pane, arguments) in enumerate(SETTINGS):
        for of_fixture in range(2):
            number = 2 * index + of_fixture
            vocabulary = "words" if number % 5 == 2 else "letters"
            ends = ENDS[vocabulary][(number + index) % len(ENDS[vocabulary])]
            if not arguments.get("do_sample", True):
                # The one text of a greedy model ends soon.
                ends = dict(stops=["b", "c", "4"], end_tokens=[2])
            yield (number % 3 + 1, number % 4 + 1, FIXTURES[(index + of_fixture) % 2], arguments, dict(
                vocabulary=vocabulary, prompt=PROMPTS[(number + index // 4) % 4], pane=pane,
                max_new_tokens=(3, 5, 4, 3, 6)[number % 5], **ends))
    # The last token of a text needs no room in the context of 64 tokens.
    for n_prompt, n_texts in ((62, 2), (64, 1)):
        yield (n_texts, 1, "llama", dict(top_k=8), dict(
            vocabulary="letters", prompt=" ".join(f"w{3 + 7 * n % 61}" for n in range(n_prompt)),
            pane="top-k 8, dialect transformers", max_new_tokens=65 - n_prompt, stops=["."],
            end_tokens=[2, 31, 14, 5]))


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    models = {}
    for name in FIXTURES:
        config = transformers.AutoConfig.from_pretrained(HERE / name / "config.older.json")
        models[name] = transformers.AutoModelForCausalLM.from_pretrained(
            HERE / name, config=config, torch_dtype=torch.float32, attn_implementation="eager").eval()
        models[name].generation_config = transformers.GenerationConfig()
    cases = []
    for n_texts, n_bytes, fixture, arguments, given in fields():
        case = Case(fixture, models[fixture], arguments=arguments, **given)
        result = case.result(case.right(n_texts, n_bytes))
        if result:
            cases.append(result)
    names = {"torch": torch.__version__, "transformers": transformers.__version__}
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(f'{{"versions": {json.dumps(names)}, '
                     f'"vocabularies": {json.dumps(VOCABULARIES)}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
