//! How a byte-level model cuts a text into the words that it then splits into tokens.
//!
//! The rules are the models' own, from the tokenizer that each was published with; the names are those
//! that llama.cpp writes into GGUF files. A name stands here if its rules are known to the letter.

/// What is done to a text before merges apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Splitting {
    /// Regular expressions. Each cuts what those before it left whole; what none of them matches is a
    /// word too.
    pub rules: &'static [&'static str],
    /// Whether a word that is a token is taken whole, without merges.
    pub whole_words: bool,
    /// Whether a text begins with a sign where the file does not say.
    pub begins: bool,
    /// Whether letters and their accents are first written as one character where there is one.
    pub composes: bool,
}

impl Splitting {
    /// By the name that a file gives.
    pub fn of(name: &str) -> Option<Self> {
        let rules: &[&str] = match name {
            "a.x-4.0" | "exaone4" | "gigachat" | "gpt-2" | "gpt2" | "granite-docling" | "jais"
            | "mellum" | "modern-bert" | "mpt" | "olmo" | "phi-2" | "trillion" => &[GPT_2],
            "codeshell" | "command-r" | "exaone" | "mellum2" | "minerva-7b" | "refact"
            | "smollm" | "starcoder" => &[DIGIT, GPT_2],
            "falcon" => &[PUNCTUATION, GPT_2, THREE_DIGITS],
            "falcon-h1" | "falcon3" | "lfm2" | "llama-bpe" | "llama-v3" | "llama3" | "midm-2.0"
            | "pixtral" | "chatglm-bpe" | "dbrx" | "glm4" | "smaug-bpe" => &[LLAMA_3],
            "deepseek-r1-qwen" | "grok-2" | "hunyuan" | "kormo" | "megrez" | "qwen2"
            | "solar-open" | "stablelm2" => &[QWEN_2],
            "qwen35" => &[QWEN_3_5],
            "deepseek-llm" => &DEEPSEEK_LLM,
            "deepseek-coder" => &DEEPSEEK_CODER,
            "deepseek-v3" | "hunyuan-dense" | "joyai-llm" => &DEEPSEEK_3,
            "tekken" => &[TEKKEN],
            "gpt-4o" | "kanana2" | "llama4" | "minimax-m2" => &[GPT_4O],
            "bailingmoe" | "bailingmoe2" | "llada-moe" => &[BAILING],
            "seed-coder" => &[SEED_CODER],
            "bloom" | "gpt3-finnish" | "poro-chat" => &[BLOOM],
            _ => return None,
        };
        let like_llama_3 = matches!(
            name,
            "falcon-h1"
                | "falcon3"
                | "lfm2"
                | "llama-bpe"
                | "llama-v3"
                | "llama3"
                | "midm-2.0"
                | "pixtral"
                | "tekken"
        );
        Some(Self {
            rules,
            whole_words: like_llama_3,
            begins: like_llama_3,
            composes: matches!(name, "olmo" | "qwen2" | "qwen35"),
        })
    }
}

const DIGIT: &str = r"\p{N}";

const THREE_DIGITS: &str = "[0-9][0-9][0-9]";

/// What Unicode or ASCII calls punctuation.
const PUNCTUATION: &str = r"[\p{P}$+<=>^`|~]+";

const GPT_2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

const LLAMA_3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const QWEN_2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const QWEN_3_5: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const SEED_CODER: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+";

const BAILING: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";

const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const GPT_4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const BLOOM: &str = r" ?[^(\s|.,!?…。，、।۔،)]+";

const DEEPSEEK_LLM: [&str; 6] = [
    r"[\r\n]",
    // The letters that have an upper and a lower case, as Unicode counted them then.
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+",
    r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    r"\s+$",
    CJK,
    DIGIT,
];

const DEEPSEEK_CODER: [&str; 5] = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, DIGIT];

/// Chinese, Japanese and Korean, and all that stands between them.
const CJK: &str = "[一-龥ࠀ-一가-\u{D7FF}]+";

const DEEPSEEK_3: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
];
