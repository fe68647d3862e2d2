//! The rules by which byte-level models split a text into words, before merges apply.
//!
//! The rules come from the tokenizer published with each model. The names are those that llama.cpp
//! writes to GGUF files. Only names whose rules are known exactly are listed.

/// How to prepare a text for merging.
#[derive(Debug, Clone, Copy)]
pub(super) struct Splitting {
    /// Regular expressions. Each splits the pieces left by those before it. Text between matches is
    /// a word too.
    pub rules: &'static [&'static str],
    /// Whether a word that is itself a token is used as is, without merges.
    pub whole_words: bool,
    /// Whether to add the beginning-of-text token if the file does not say.
    pub adds_bos: bool,
    /// Whether to normalize the text to NFC first.
    pub normalizes: bool,
}

impl Splitting {
    /// Looks up the rules by the name in a GGUF file.
    pub(super) fn of(name: &str) -> Option<Self> {
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
            adds_bos: like_llama_3,
            normalizes: matches!(name, "olmo" | "qwen2" | "qwen35"),
        })
    }
}

/// Returns the name of the rules that a model family used before GGUF files named them, which they
/// have done since April 2024.
pub(super) fn usual_name(architecture: &str, n_tokens: usize) -> &'static str {
    match (architecture, n_tokens) {
        // Other families were converted as Llama too; the vocabulary size tells them apart.
        ("llama", 128_000..129_000) => "llama-bpe",
        ("llama", 102_400) => "deepseek-llm",
        ("llama", 32_000..33_000) => "deepseek-coder",
        ("stablelm", 100_000..) => "stablelm2",
        ("qwen" | "qwen2" | "qwen2moe", _) => "qwen2",
        ("falcon", _) => "falcon",
        ("starcoder" | "starcoder2", _) => "starcoder",
        ("refact", _) => "refact",
        ("codeshell", _) => "codeshell",
        ("command-r", _) => "command-r",
        ("bloom", _) => "bloom",
        ("dbrx", _) => "dbrx",
        ("olmo", _) => "olmo",
        // GPT-2's rules are also those of GPT-NeoX, MPT, Phi-2, Jais and the first StableLM.
        _ => "gpt-2",
    }
}

const DIGIT: &str = r"\p{N}";

const THREE_DIGITS: &str = "[0-9][0-9][0-9]";

/// Punctuation according to Unicode or ASCII.
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
    // Letters with an upper and a lower case, in the version of Unicode that was current then. Not
    // in verbose mode, in which the spaces and line breaks of the layout would belong to the class.
    concat!(
        r"\s?[",
        r"\x{41}-\x{5A}\x{61}-\x{7A}\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}",
        r"\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373}\x{376}-\x{377}",
        r"\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}",
        r"\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}",
        r"\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}",
        r"\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}",
        r"\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}",
        r"\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}",
        r"\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}",
        r"\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}",
        r"\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}",
        r"\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}",
        r"\x{214E}\x{2183}-\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}",
        r"\x{2CF2}-\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}",
        r"\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}",
        r"\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}",
        r"\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}",
        r"\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}",
        "]+",
    ),
    r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    r"\s+$",
    CJK,
    DIGIT,
];

const DEEPSEEK_CODER: [&str; 5] = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, DIGIT];

/// Chinese, Japanese and Korean, and everything in the code point ranges between them.
const CJK: &str = "[一-龥ࠀ-一가-\u{D7FF}]+";

const DEEPSEEK_3: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
];

#[cfg(test)]
mod tests {
    use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
    use tokenizers::{
        OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _,
        SplitDelimiterBehavior,
    };

    use super::{Splitting, usual_name};

    /// Splits a text into words by the rules of this name.
    fn words(name: &str, text: &str) -> Vec<String> {
        let mut pieces = PreTokenizedString::from(text);
        for rule in Splitting::of(name).unwrap().rules {
            let pattern = SplitPattern::Regex((*rule).to_owned());
            let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false).unwrap();
            split.pre_tokenize(&mut pieces).unwrap();
        }
        let pieces = pieces.get_splits(OffsetReferential::Original, OffsetType::Byte);
        pieces.iter().map(|(word, ..)| (*word).to_owned()).collect()
    }

    #[test]
    fn a_space_belongs_to_the_punctuation_or_word_after_it() {
        for name in ["deepseek-llm", "deepseek-coder"] {
            assert_eq!(
                words(name, "f (x)\n"),
                ["f", " (", "x", ")", "\n"],
                "{name}"
            );
            assert_eq!(words(name, "one  two"), ["one", " ", " two"], "{name}");
        }
    }

    #[test]
    fn the_rules_of_an_old_file_are_those_of_its_family() {
        for (architecture, n_tokens, name) in [
            ("llama", 128_256, "llama-bpe"),
            ("llama", 102_400, "deepseek-llm"),
            ("llama", 32_256, "deepseek-coder"),
            ("qwen2", 151_936, "qwen2"),
            ("stablelm", 100_352, "stablelm2"),
            ("stablelm", 50_304, "gpt-2"),
            ("gptneox", 50_432, "gpt-2"),
        ] {
            assert_eq!(usual_name(architecture, n_tokens), name);
            assert!(Splitting::of(name).is_some());
        }
    }
}
