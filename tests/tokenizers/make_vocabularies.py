"""Trains two small vocabularies and splits texts with them, for the tests beside this script.

    python make_vocabularies.py > vocabularies.json

The first is byte-level BPE, trained with tokenizers without any rule that cuts the text into words, so
that its tokens reach over words, digits and lines: each rule then gives other tokens. The rules are put
together here as the models' own tokenizer.json files put them together. The second is SentencePiece BPE
with byte fallback, trained and run with sentencepiece.
"""

import io
import json
import sys

import sentencepiece
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from tokenizers.pre_tokenizers import ByteLevel, Digits, Punctuation, Split

CORPUS = [
    "The red fox ran over the hill, and the hill didn't mind: it's a hill.\n",
    "    if x == 10:\n        return x + 1000\n\n\n",
    "It's what they've said, I'm told; we'll see, she'd say. IT'S SAID!\n",
    "12345 sheep and 678 goats, 90% of them in 2024.\n\tTabs\tand  two spaces.\n",
    "Straße und Öl, café à la crème, naïve, Привет мир, Здравствуйте.\n",
    "你好，世界。今天天气很好。こんにちは世界、カタカナ。안녕하세요.\n",
    "🦊🦊 and 👩‍🚀 went to the moon 🌙!!! ... (really?) [yes] {no} <maybe>\n",
    "fn main() { println!(\"{}\", a[0] && !b || c->d); } // 3.14159e-10\n",
]

TEXTS = [
    "",
    " ",
    "   ",
    "\n",
    "\n\n\n x",
    "\t\ta",
    "The fox",
    " The fox",
    "  The  fox ",
    "it's IT'S we'll WE'LL don'T 'd",
    "1 12 123 1234 12345 3.14 1,000,000",
    " 1 12 123 1234",
    "x==10:\r\n  return x+1000\n",
    "Hello, world!!! (yes) [no] {a} <b> a->b && c||d ^ ~ ` $5 = 3 + 2",
    "Straße Öl café cafe\u0301 naïve ǅ ª",
    "Привет, мир! ЗДРАВСТВУЙТЕ",
    "你好，世界 123 今天。 こんにちは カタカナ 안녕하세요",
    "🦊 👩‍🚀🌙 \u200d\u00a0\u3000\ufeff",
    "२०२४ ٣٤ ½ ⅷ",
    "i\u0307 हिन्दी ไทย नमस्ते",
    "tabs\tand\u000bvertical\u000cfeeds\u0085end",
    "\u0000\u0001\u007f",
    "CamelCase snake_case HTTPServer/path//to",
    "a" * 40,
]


def split(pattern, behavior="isolated"):
    return Split(Regex(pattern), behavior)


CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA = (
    CONTRACTIONS
    + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
CASES = (
    r"[^\r\n\p{L}\p{N}]?"
    + UPPER
    + "*"
    + LOWER
    + r"+%s|[^\r\n\p{L}\p{N}]?"
    + UPPER
    + "+"
    + LOWER
    + r"*%s|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
WORDS = ByteLevel(add_prefix_space=False, use_regex=True)
BYTES = ByteLevel(add_prefix_space=False, use_regex=False)

# The parts in the order of the models' files: GPT-2, Llama 3, Qwen 2, SmolLM, Falcon, DeepSeek, Mistral
# NeMo and GPT-4o.
SPLITTINGS = {
    "gpt-2": [WORDS],
    "llama-bpe": [split(LLAMA % "{1,3}"), BYTES],
    "dbrx": [split(LLAMA % "{1,3}"), BYTES],
    "qwen2": [split(LLAMA % ""), BYTES],
    "smollm": [Digits(individual_digits=True), WORDS],
    "starcoder": [Digits(individual_digits=True), WORDS],
    "falcon": [Punctuation("contiguous"), WORDS, split("[0-9][0-9][0-9]")],
    "deepseek-coder": [
        split("[\r\n]"),
        split(r"\s?\p{L}+"),
        split(r"\s?\p{P}+"),
        split("[一-龥ࠀ-一가-\ud7ff]+"),
        Digits(individual_digits=True),
        BYTES,
    ],
    # The letters that have two cases, which DeepSeek LLM lists one range after another.
    "deepseek-llm": [
        split("[\r\n]"),
        split(r"\s?[\p{Lu}\p{Ll}\p{Lt}]+"),
        split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"),
        split(r"\s+$"),
        split("[一-龥ࠀ-一가-\ud7ff]+"),
        Digits(individual_digits=True),
        BYTES,
    ],
    "deepseek-v3": [
        split(r"\p{N}{1,3}"),
        split("[一-龥\u3040-ゟ゠-ヿ]+"),
        split(
            r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        BYTES,
    ],
    "tekken": [split(CASES % ("", "", "")), BYTES],
    "gpt-4o": [split(CASES % (CONTRACTIONS + "?", CONTRACTIONS + "?", "{1,3}")), BYTES],
}

SIGNS = ["<|begin|>", "<|end|>"]
WHOLE = ["<think>", "  \n", "ÿ"]
TEXTS_WITH_SIGNS = [
    "<|begin|>The fox<|end|>",
    "a <think>b</think> <|end|>\n",
    "x  \n\n ÿ <|begin|",
]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = BYTES
    trainer = trainers.BpeTrainer(
        vocab_size=520, initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_special_tokens(SIGNS)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in WHOLE])
    trained = json.loads(tokenizer.to_str())["model"]
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    kinds = [3 if text in SIGNS else 4 if text in WHOLE else 1 for text, _ in vocabulary]
    cases = {}
    for name, parts in SPLITTINGS.items():
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
        tokenizer.normalizer = normalizers.NFC() if name == "qwen2" else normalizers.Sequence([])
        # Llama 3 and Mistral NeMo take a word that is a token whole.
        tokenizer.model.ignore_merges = name in ("llama-bpe", "tekken")
        cases[name] = [
            {"text": text, "ids": tokenizer.encode(text).ids}
            for text in TEXTS + TEXTS_WITH_SIGNS
        ]
    return {
        "tokens": [text for text, _ in vocabulary],
        "token_type": kinds,
        "merges": [" ".join(merge) for merge in trained["merges"]],
        "cases": cases,
    }


def sentence_piece(add_prefix):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 3),
        model_writer=model,
        model_type="bpe",
        vocab_size=480,
        byte_fallback=True,
        character_coverage=0.98,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=add_prefix,
        split_digits=True,
        allow_whitespace_only_pieces=True,
        user_defined_symbols=["<think>"],
        control_symbols=["<|end|>"],
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())

    def kind(token):
        if processor.is_byte(token):
            return 6
        if processor.is_unknown(token):
            return 2
        if processor.is_control(token):
            return 3
        return 4 if processor.id_to_piece(token) == "<think>" else 1

    tokens = range(processor.get_piece_size())
    return {
        "tokens": [processor.id_to_piece(token) for token in tokens],
        "token_type": [kind(token) for token in tokens],
        "scores": [processor.get_score(token) for token in tokens],
        "add_space_prefix": add_prefix,
        "cases": [{"text": text, "ids": processor.encode(text)} for text in TEXTS],
    }


def main():
    fixture = {
        "made_with": {
            "python": sys.version.split()[0],
            "sentencepiece": sentencepiece.__version__,
            "tokenizers": tokenizers.__version__,
        },
        "byte_level": byte_level(),
        "sentence_piece": [sentence_piece(True), sentence_piece(False)],
    }
    json.dump(fixture, sys.stdout, ensure_ascii=True, separators=(",", ":"))
    print()


main()
