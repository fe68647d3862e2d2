"""A llama-server in this process, and its answers to requests."""

import contextlib
import json
import os
import sys
import tempfile
import urllib.error
import urllib.request

from comparing import MODEL, N_CONTEXT, N_VOCAB, PROMPT, Refusal, common, words_of


@contextlib.contextmanager
def log_of_the_library():
    """Sends the standard error of this process to a file while the server runs."""
    with tempfile.TemporaryFile() as file:
        original = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield file
        finally:
            os.dup2(original, 2)
            os.close(original)


class Server:
    """A llama-server in this process, with the built-in model."""

    def __init__(self, params):
        import xllamacpp
        params.model.path = str(MODEL)
        params.n_ctx, params.n_parallel, params.cpuparams.n_threads = N_CONTEXT, 1, 1
        self.server = xllamacpp.Server(params)

    def complete(self, body):
        data = json.dumps({**body, "cache_prompt": False, "return_tokens": True}).encode()
        request = urllib.request.Request(
            self.server.listening_address + "/completion", data,
            {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            raise Refusal(refusal.read().decode()) from refusal


class Answer:
    """The server's text for a request, with its log-probabilities and the tokens it could draw."""

    def __init__(self, server, body):
        before = server.complete({**body, "n_probs": N_VOCAB})
        after = server.complete({**body, "n_probs": N_VOCAB, "post_sampling_probs": True})
        if before["tokens"] != after["tokens"]:
            sys.exit(f"the server writes two texts for one request: {body}")
        self.prompt, self.tokens, self.content = body["prompt"], after["tokens"], after["content"]
        self.settings = after["generation_settings"]
        self.log_probs = [
            {token["id"]: token["logprob"] for token in position["top_logprobs"]}
            for position in before["completion_probabilities"]
        ]
        self.probs = [
            {token["id"]: token["prob"] for token in position["top_probs"] if token["prob"] > 0}
            for position in after["completion_probabilities"]
        ]

    def log_sum_exps(self, quartet, pane):
        """Quartet's, as far as the text has the tokens that the server drew."""
        if "repeat" not in words_of(pane):
            return [0.0] * len(self.tokens)
        steps = quartet.scored("sample", PROMPT + self.content)[len(self.prompt) - 1:]
        same = common(self.tokens, [step["token"] for step in steps])
        return [step["log_sum_exp"] for step in steps[:same + 1]]

    def rows(self, quartet, pane):
        """What `quartet sample` needs to choose the next token at each position."""
        log_sum_exps = self.log_sum_exps(quartet, pane)
        return [
            {"logits": [log_probs[token] + log_sum_exp for token in range(N_VOCAB)],
             "history": self.prompt + self.tokens[:position], "n_prompt": len(self.prompt)}
            for position, (log_probs, log_sum_exp) in enumerate(zip(self.log_probs, log_sum_exps))
        ]
