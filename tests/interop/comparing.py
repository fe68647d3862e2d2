"""Compares what other programs do with Quartet's exports with what Quartet does itself.

Another program reports the probabilities before its sampler and the tokens that it could draw.
From the former, `quartet sample` must keep the same tokens with the same probabilities at every
position, except for a cutoff within the rounding of the other's sums. Mirostat and adaptive-p adapt
to what was drawn, so `quartet sample` gets the target to which the published rule moves them by
then. A pane that draws no random numbers must also write the text of `quartet generate`, up to a
near tie: a position at which a shift of one logit within the noise of rounding gives the other
token. With a grammar, guidance or beams, only the texts are compared. A pane whose export says a
difference in a note may differ; any other difference is a silent one.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "assets/model/quartet-stories-q8_0.gguf"
PROMPT = "Once upon a time there was a fox. The fox saw a hen, and the fox saw a"
N_TOKENS = 24
N_CONTEXT = 384
N_VOCAB = 6144
END_OF_TEXT = 2

# Between two chains over the same log-probabilities. A repetition penalty also depends on the
# log-sum-exp, which is Quartet's.
TOLERANCE = 1e-3
TOLERANCE_OF_PENALTY = 0.01
# The noise of rounding: how far one program's log-probability may be from the other's.
NEAR_TIE_NATS = 0.15
# Less likely tokens underflow to zero in one program before they do in the other.
UNDERFLOW = 1e-9

# Every filter and way of writing that the exporter knows, alone and together.
PANES = [
    "greedy",
    "temp 0",
    "temp 0.5, top-k 3, greedy",
    "top-k 1",
    "repeat 1.3, greedy",
    "repeat 0.8, greedy",
    "repeat 1.3 last 8, greedy",
    "repeat 1.3 last all, greedy",
    "frequency 0.7, greedy",
    "presence 0.9, greedy",
    "repeat 1.2, frequency 0.4, presence 0.5, greedy",
    "dry 2, greedy",
    "dry 2 base 1.5 allowed 1 last all, greedy",
    "bias 14 -3 264 2, greedy",
    "ban 14 16 264, greedy",
    "bias 14 -3 ban 16 264, repeat 1.2, dry 1, greedy",
    "xtc 1 threshold 0.1, greedy",
    "greedy, drafts 4 ngram 2",
    'grammar check choices " big dog| red hen", greedy',
    'grammar check gbnf "root ::= [ a-z]+", greedy',
    "sample",
    "temp 0.7",
    "temp 1.8",
    "dyn-temp 1 range 0.5 exponent 1",
    "dyn-temp 0.8 range 0.6 exponent 2, dialect llama.cpp",
    "top-k 10",
    "top-p 0.8",
    "min-p 0.1",
    "typical-p 0.8",
    "typical-p 0.8, dialect llama.cpp",
    "top-nσ 1",
    "xtc 1 threshold 0.1",
    "xtc 0.5 threshold 0.05",
    "min-keep 3, top-p 0.1",
    "min-keep 3, min-p 0.9",
    "min-keep 3, typical-p 0.1, dialect llama.cpp",
    "min-keep 3, xtc 1 threshold 0.02",
    "repeat 1.3",
    "frequency 0.7",
    "presence 0.9",
    "repeat 1.2 last 16, frequency 0.3 last 16, presence 0.4 last 16, temp 0.8",
    "dry 2",
    "dry 2 base 1.5 allowed 1 last all",
    "bias 14 -3 264 2",
    "ban 14 16 264",
    "top-nσ 2, top-k 30, typical-p 0.95, top-p 0.9, min-p 0.02, temp 0.8, dialect llama.cpp",
    "bias 14 -3 ban 16 264, repeat 1.2, dry 1, top-k 30, top-p 0.9, min-p 0.02, temp 0.8",
    "top-k 40, min-p 0.02, xtc 1 threshold 0.1, temp 1.2",
    "top-p 0.8, temp 2",
    "temp 2, top-p 0.8",
    "temp 1.5, min-p 0.1, top-k 5",
    "min-p 0.05, top-p 0.9, top-k 20",
    "xtc 1 threshold 0.1, min-p 0.05",
    "top-k 20, repeat 1.3",
    "min-p 0.02, dyn-temp 1 range 0.5 exponent 1, top-p 0.9",
    "temp 0.7, top-p 0.9, drafts 4 ngram 2",
    "mirostat 3",
    "temp 0.7, mirostat 4 eta 0.3",
    "bias 14 -3, mirostat 3",
    "mirostat-1 3",
    "temp 0.7, mirostat-1 2 eta 0.2",
    "adaptive-p 0.5",
    "min-p 0.05, adaptive-p 0.3 decay 0.5",
    # Those that must say a difference.
    'grammar choices " big dog| red hen", greedy',
    "grammar check json, greedy",
    'grammar check schema "{\\"type\\": \\"boolean\\"}", greedy',
    "guide 1.5, greedy",
    "no-repeat 2, greedy",
    "beams 4",
    "repeat 1.3 generated only, greedy",
    "repeat 1.3 last 8, frequency 0.7 last 64",
    "temp 0.7, bias 14 -3",
    "top-p 0.9, temp 0.7, top-p 0.5",
    "min-p 0.1, dyn-temp 1 range 0.5 exponent 1, mirostat 3",
    "dry 2 breakers 274, greedy",
    "smooth 0.3",
    "top-a 0.2",
    "tail-free 0.9",
    "top-h 0.4",
    "epsilon 0.01",
    "eta 0.02",
    "p-less 1",
    "min-k 3",
    "green-list 2 ratio 0.25 key 42 window 1",
]

# Notes on every export that sets a seed, and on drafts, which leave the text as it is.
NOT_OF_THE_TEXT = ["has its own random numbers", "configures prompt lookup", "looks up only"]


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done


class Quartet:
    """Runs the commands of Quartet that say what the same settings do here."""

    def __init__(self, program, inputs):
        """`inputs` are the bits to which matrix products round their inputs, as the other does."""
        self.program, self.inputs = program, str(inputs)

    def exported(self, pane, tool):
        """The settings in another tool's format, and the notes on them."""
        done = run([self.program, "settings", "--pane", pane, "--to", tool,
                    "--max-tokens", str(N_TOKENS)])
        notes = [line for line in done.stderr.splitlines() if line.strip()]
        return done.stdout, [
            note for note in notes if not any(words in note for words in NOT_OF_THE_TEXT)
        ]

    def text(self, pane):
        """The prompt's tokens and those of the pane's text."""
        done = run([self.program, "generate", "--prompt", PROMPT, "--pane", pane, "--inputs", self.inputs,
                    "--max-tokens", str(N_TOKENS), "--json", "-"])
        document = json.loads(done.stdout)
        return document["prompt"]["tokens"], [s["token"] for s in document["panes"][0]["steps"]]

    def kept(self, pane, rows):
        """For each row of logits, the probabilities of the tokens that the pane could take."""
        # Drafts need a model, and leave the distribution as it is.
        chain = ", ".join(stage for stage in pane.split(", ") if not stage.startswith("drafts"))
        done = run([self.program, "sample", "--logits", "-", "--pane", chain, "--draws", "1",
                    "--json", "-"], input=json.dumps(rows))
        return [{token["id"]: token["expected"] for token in row["draws"]["counts"]}
                for row in json.loads(done.stdout)]

    def scored(self, pane, text):
        """The steps of a given text under the pane."""
        done = run([self.program, "score", "-", "--pane", pane, "--inputs", self.inputs, "--json", "-"],
                   input=text)
        document = json.loads(done.stdout)
        return document["panes"][0]["steps"]


def differences_of(theirs, ours, tolerance):
    """How two distributions differ, in words, or None."""
    extra, missing = only_in(theirs, ours), only_in(ours, theirs)
    if extra or missing:
        return (f"keeps {len(theirs)} tokens, here {len(ours)}; {len(extra)} only there and "
                f"{len(missing)} only here, with at most {max(extra + missing):.6f}")
    token = max(theirs, key=lambda token: abs(theirs[token] - ours.get(token, 0.0)))
    if abs(theirs[token] - ours.get(token, 0.0)) > tolerance:
        return f"token {token} has {theirs[token]:.6f}, here {ours.get(token, 0.0):.6f}"
    return None


def only_in(these, those):
    """The probabilities of the tokens that only the first distribution has."""
    return [prob for token, prob in these.items() if prob > UNDERFLOW and not those.get(token)]


def words_of(pane):
    return {setting.split()[0] for setting in pane.split(", ")}


def draws(pane):
    return not words_of(pane) & {"greedy", "beams"} and pane not in ("temp 0", "top-k 1")


def remembers(pane):
    return bool(words_of(pane) & {"mirostat", "mirostat-1", "adaptive-p"})


class Refusal(Exception):
    """The other program's reason for taking no request with these settings."""


class Check:
    """What another program makes of a pane's export.

    `ask` returns its answer to a prompt: the `tokens`, the tokens that it could draw at each
    position with their `probs`, the `log_probs` or logits before that, and `rows`, from which
    `quartet sample` chooses the same tokens.
    """

    def __init__(self, quartet, pane, notes, ask):
        self.quartet, self.pane, self.notes, self.differences = quartet, pane, notes, []
        self.n_compared, self.n_at_cutoff, self.near_tie = 0, 0, None
        self.prompt, self.tokens = quartet.text(pane)
        try:
            self.answer = ask(self.prompt)
        except Refusal as refusal:
            self.answer = None
            self.differences.append(f"refused: {refusal}")
            return
        if not self.answer.tokens:
            self.differences.append("writes nothing")
        elif remembers(pane):
            self.compare_states()
        elif not words_of(pane) & {"grammar", "guide", "beams"}:
            self.compare_distributions()
        if not draws(pane):
            self.compare_texts()

    def outcome(self):
        return "equal" if not self.differences else "told" if self.notes else "silent"

    def compare_distributions(self):
        rows = self.answer.rows(self.quartet, self.pane)
        kept = [self.quartet.kept(pane, rows) for pane in self.outcomes_of_xtc()]
        with_penalty = "repeat" in words_of(self.pane)
        tolerance = TOLERANCE_OF_PENALTY if with_penalty else TOLERANCE
        for position, theirs in enumerate(self.answer.probs[:len(rows)]):
            found = [differences_of(theirs, ours[position], tolerance) for ours in kept]
            cut = any(only_in(theirs, ours[position]) + only_in(ours[position], theirs)
                      for ours in kept)
            if all(found) and cut and self.is_at_cutoff(rows[position], theirs, tolerance):
                self.n_at_cutoff += 1
            elif all(found):
                self.differences.append(f"position {position}: {found[0]}")
        self.n_compared = len(rows)

    def is_at_cutoff(self, row, theirs, tolerance):
        """Whether a shift of what the server kept, within the rounding of its sums, explains it."""
        shifted = [
            {**row, "logits": [logit + shift * (token in theirs)
                               for token, logit in enumerate(row["logits"])]}
            for shift in (-tolerance, tolerance)
        ]
        return any(differences_of(theirs, ours, 2 * tolerance) is None
                   for ours in self.quartet.kept(self.pane, shifted))

    def outcomes_of_xtc(self):
        """The pane, or both that it can be when XTC tosses a coin."""
        coin = "xtc 0.5"
        if coin not in self.pane:
            return [self.pane]
        return [self.pane.replace(coin, f"xtc {chance}") for chance in (0, 1)]

    def compare_states(self):
        """Compares a selector that adapts its target to what the server drew."""
        *stages, selector = self.pane.split(", ")
        name, target, *more = selector.split()
        rate = float(more[1]) if more else 0.9 if name == "adaptive-p" else 0.1
        state = (AdaptiveTarget if name == "adaptive-p" else Mirostat)(float(target), rate)
        rows = self.answer.rows(self.quartet, self.pane)
        before = self.quartet.kept(", ".join([*stages, "sample"]), rows)
        for position, (row, token) in enumerate(zip(rows, self.answer.tokens)):
            pane = ", ".join([*stages, f"{name} {state.fresh_target():.9f}"])
            theirs = self.answer.probs[position]
            difference = differences_of(theirs, self.quartet.kept(pane, [row])[0], TOLERANCE)
            if difference:
                self.differences.append(f"position {position}: {difference}")
            state.accept(theirs[token], before[position].get(token, 0.0))
        self.n_compared = len(rows)

    def compare_texts(self):
        theirs, ours = (without_end(tokens) for tokens in (self.answer.tokens, self.tokens))
        position = common(theirs, ours)
        if position == max(len(theirs), len(ours)):
            return
        both_continue = position < min(len(theirs), len(ours))
        if both_continue and self.is_near_tie(position, theirs[position], ours[position]):
            self.near_tie = f"position {position} is a near tie, token {ours[position]} here"
            return
        self.differences.append(f"{theirs}, here {ours}")

    def is_near_tie(self, position, theirs, ours):
        """Whether a shift of one logit within the noise of rounding gives Quartet's token."""
        log_probs = self.answer.log_probs[position]
        if self.n_compared <= position:
            return abs(log_probs[theirs] - log_probs[ours]) < NEAR_TIE_NATS
        row = self.answer.rows(self.quartet, self.pane)[position]
        likeliest = sorted(log_probs, key=log_probs.get, reverse=True)[:16]
        shifted = []
        for token in {ours, theirs, *likeliest}:
            for shift in (-NEAR_TIE_NATS, NEAR_TIE_NATS):
                logits = list(row["logits"])
                logits[token] += shift
                shifted.append({**row, "logits": logits})
        return any(ours in kept for kept in self.quartet.kept(self.pane, shifted))


class Mirostat:
    """The threshold of mirostat, which both versions move in the same way."""

    def __init__(self, target, rate):
        self.target, self.rate, self.mu = target, rate, 2 * target

    def fresh_target(self):
        """The target whose threshold is this one before the first draw."""
        return self.mu / 2

    def accept(self, prob, _):
        self.mu -= self.rate * (-math.log2(prob) - self.target)


class AdaptiveTarget:
    """The target of adaptive-p, which depends on the average of what was drawn."""

    def __init__(self, target, decay):
        self.target, self.decay = target, decay
        self.sum, self.weight = target / (1 - decay), 1 / (1 - decay)

    def fresh_target(self):
        return min(max(2 * self.target - self.sum / self.weight, 0.0), 1.0)

    def accept(self, _, prob_before):
        self.sum = prob_before + self.decay * self.sum
        self.weight = 1 + self.decay * self.weight


def without_end(tokens):
    """The tokens of a text; Quartet ends a finished grammar without an end-of-text token."""
    return tokens[:-1] if tokens[-1:] == [END_OF_TEXT] else tokens


def common(these, those):
    """The length of the common beginning."""
    return next((at for at, (a, b) in enumerate(zip(these, those)) if a != b),
                min(len(these), len(those)))


class Counts:
    """How many panes were equal, told and silent."""

    def __init__(self, name):
        self.name, self.outcomes = name, {"equal": 0, "told": 0, "silent": 0}
        self.n_compared = self.n_near_ties = 0

    def count(self, outcome):
        self.outcomes[outcome] += 1

    def add(self, check):
        """Counts a pane, and prints its outcome with what differs and why."""
        outcome = check.outcome()
        self.count(outcome)
        self.n_compared += check.n_compared
        self.n_near_ties += check.near_tie is not None
        print(f"{outcome:6} {check.n_compared:2} {check.pane}", flush=True)
        lines = check.differences[:2] + (check.notes if outcome == "told" else [])
        if check.n_at_cutoff:
            lines.append(f"{check.n_at_cutoff} within the rounding of a cutoff")
        if check.near_tie:
            lines.append(check.near_tie)
        for line in lines:
            print(f"          {line}")


def end(*all_counts):
    """Prints the totals, and ends with a failure if a pane was silent."""
    for counts in all_counts:
        print(f"{counts.name}: " + ", ".join(f"{n} {o}" for o, n in counts.outcomes.items()))
    n_compared = sum(counts.n_compared for counts in all_counts)
    n_near_ties = sum(counts.n_near_ties for counts in all_counts)
    print(f"{n_compared} positions compared, {n_near_ties} texts left Quartet's at a near tie")
    if any(counts.outcomes["silent"] for counts in all_counts):
        sys.exit(1)
