//! The words that Quartet uses, each with one sentence and, where there is one, its formula: shown in
//! the help, and wherever a word appears in the window.

/// A word and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    pub name: &'static str,
    /// Other labels in the window that mean the same.
    pub also: &'static [&'static str],
    pub sentence: &'static str,
    pub formula: Option<&'static str>,
}

impl Term {
    /// Returns the sentence, and the formula on a line of its own.
    pub fn explanation(&self) -> String {
        match self.formula {
            Some(formula) => format!("{}\n\n{formula}", self.sentence),
            None => self.sentence.to_owned(),
        }
    }
}

/// Returns the term with this label, whatever its case.
pub fn term(label: &str) -> Option<&'static Term> {
    let is_label = |name: &&str| name.eq_ignore_ascii_case(label);
    TERMS
        .iter()
        .find(|term| is_label(&term.name) || term.also.iter().any(is_label))
}

/// Describes a term.
const fn new(
    name: &'static str,
    also: &'static [&'static str],
    sentence: &'static str,
    formula: Option<&'static str>,
) -> Term {
    Term {
        name,
        also,
        sentence,
        formula,
    }
}

/// All terms, in alphabetical order.
pub const TERMS: [Term; 43] = [
    new(
        "Beam search",
        &[],
        "Several texts grow side by side, and at each step the few with the highest total log-probability stay.",
        Some("score = Σ ln p over the tokens"),
    ),
    new(
        "Bit and nat",
        &["Bit", "Nat"],
        "The units of surprise and entropy: one bit halves a probability, and one nat is 1.44 bits.",
        Some("bits = −log2 p, nats = −ln p"),
    ),
    new(
        "Chain",
        &[],
        "The stages that the candidates pass through, in order, before one is drawn.",
        None,
    ),
    new(
        "Coin",
        &[],
        "The random number from 0 to 1 that picks the token. In Quartet, it depends on the seed and the position alone.",
        Some("coin = f(seed, position)"),
    ),
    new(
        "Context",
        &[],
        "Everything that the model reads to predict the next token: the prompt and the text so far, up to a maximum length.",
        None,
    ),
    new(
        "Decode",
        &[],
        "Writing: one forward pass for each new token, because each needs the one before it.",
        None,
    ),
    new(
        "Distortion",
        &[],
        "How strongly a grammar bends the choice: the surprise of hitting a legal token at all.",
        Some("−log2 Σ p over the legal tokens"),
    ),
    new(
        "Diverge",
        &[],
        "Two texts diverge at the first token in which they differ.",
        None,
    ),
    new(
        "Draft",
        &["Drafts", "Speculative decoding"],
        "A cheap guess of the next tokens, which the model checks in one forward pass: speculative decoding.",
        Some("accepted with probability min(1, p / q)"),
    ),
    new(
        "End of text",
        &[],
        "A token that is no text: once it is drawn, the text is over.",
        None,
    ),
    new(
        "Entropy",
        &[],
        "How unsure the model is before the draw: the mean surprise of the token to come.",
        Some("H = −Σ p log2 p"),
    ),
    new(
        "Forward pass",
        &[],
        "One run of the model: it reads tokens and returns a logit for every token of the vocabulary.",
        None,
    ),
    new(
        "Grammar",
        &["Mask"],
        "A rule for the form of a text. A mask removes every token that would break it.",
        None,
    ),
    new(
        "Greedy",
        &[],
        "Always taking the most likely token that is left. No coin is tossed.",
        Some("argmax p"),
    ),
    new(
        "Guidance",
        &[],
        "Moving the logits away from what another prompt, a smaller model, or the model’s own early layers would make of the text.",
        Some("other + scale · (own − other)"),
    ),
    new(
        "Kept",
        &["Candidates kept", "How many kept"],
        "How many tokens a stage, or the whole chain, leaves possible.",
        None,
    ),
    new(
        "KL divergence",
        &["KL"],
        "How far one distribution is from another: the extra surprise of expecting q where p is true.",
        Some("Σ p log2(p / q)"),
    ),
    new(
        "KV cache",
        &[],
        "The keys and values of the tokens that were read, kept so that a new token need not read them again.",
        Some("numbers = 2 · layers · KV heads · head width · tokens"),
    ),
    new(
        "Logit",
        &["Logits", "Score"],
        "The model’s raw score for a token, before softmax. Only differences between logits count.",
        None,
    ),
    new(
        "Margin",
        &[],
        "The gap between the two most likely tokens. Where it is smaller than the noise of rounding, another machine may choose the other one.",
        Some("first logit − second logit"),
    ),
    new(
        "Mass",
        &["Mass kept"],
        "The probability that a set of tokens holds together.",
        Some("Σ p over the set"),
    ),
    new(
        "Min-p",
        &[],
        "Keeps the tokens that have at least this share of the best one’s probability.",
        Some("p ≥ min-p · (p of the best)"),
    ),
    new(
        "p-value",
        &[],
        "How likely a text without the watermark is to match its key at least as well.",
        None,
    ),
    new(
        "Pane",
        &[],
        "One text with its own settings. All panes continue the same prompt.",
        None,
    ),
    new(
        "Penalty",
        &[],
        "Lowers the logits of tokens that have appeared: repetition by a factor and presence by an amount, both once; frequency by an amount for each time.",
        Some("repetition: l / r if l > 0, else l · r; presence: l − a; frequency: l − f · count"),
    ),
    new(
        "Perplexity",
        &[],
        "How surprising the tokens of a text were on average, as a number of equally likely choices.",
        Some("2^(mean surprise in bits)"),
    ),
    new(
        "Prefill",
        &[],
        "Reading the prompt: all its tokens in one forward pass, because all are known.",
        None,
    ),
    new(
        "Probability",
        &[],
        "How likely a token is to come next: before the chain, the model’s own; after it, what the draw uses.",
        None,
    ),
    new(
        "Rank",
        &[],
        "A token’s place in the model’s own order. The most likely one has rank 1.",
        None,
    ),
    new(
        "Repetition",
        &["Loop of repetition"],
        "A passage that occurs at least three times in a row.",
        None,
    ),
    new(
        "Sampling",
        &["Sample", "Pure sampling"],
        "Drawing a token by chance, each with its probability. Pure sampling uses the model’s own probabilities as they are.",
        None,
    ),
    new(
        "Seed",
        &[],
        "The number from which all coins of a text are computed.",
        None,
    ),
    new(
        "Softmax",
        &[],
        "Turns logits into probabilities that add up to one.",
        Some("p = e^logit / Σ e^logit"),
    ),
    new(
        "Stage",
        &["Stages"],
        "One step of the chain: it cuts tokens off or reshapes their probabilities. It sees the softmax of what the stages before it left.",
        None,
    ),
    new(
        "Stop sequence",
        &[],
        "A text that ends the generation as soon as it appears; it is cut off.",
        None,
    ),
    new(
        "Surprise",
        &[],
        "How unexpected a token was: none if it was certain, one more bit for each halving of its probability.",
        Some("−log2 p"),
    ),
    new(
        "Temperature",
        &[],
        "Divides the logits before softmax: below 1 sharpens, above 1 flattens, and 0 means greedy by convention.",
        Some("p = softmax(logit / T)"),
    ),
    new(
        "Token",
        &["Tokens"],
        "A piece of text, often a word or a part of one: the unit that a model reads and writes.",
        None,
    ),
    new(
        "Top-k",
        &[],
        "Keeps the k most likely tokens, however sure the model is.",
        None,
    ),
    new(
        "Top-p",
        &["Nucleus"],
        "Keeps the nucleus: the fewest most likely tokens that hold at least this share of the probability.",
        Some("smallest set with Σ p ≥ top-p"),
    ),
    new("Vocabulary", &[], "All tokens that a model knows.", None),
    new(
        "Watermark",
        &[],
        "A pattern in the choice of tokens that only the owner of the key can find.",
        None,
    ),
    new(
        "What if",
        &[],
        "Which token other settings would have drawn at the same position with the same coin, read from the record without running the model.",
        None,
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{TERMS, term};

    /// The top of the page of the documentation.
    const HEAD: &str = "# Glossary\n\nThe words that Quartet uses, as the window explains them.\n\n\
         | word | meaning | formula |\n| --- | --- | --- |\n";

    /// Returns the page of the documentation.
    fn page() -> String {
        let rows = TERMS.map(|term| {
            let formula = term
                .formula
                .map(|formula| format!("`{formula}`"))
                .unwrap_or_default();
            format!("| {} | {} | {formula} |\n", term.name, term.sentence)
        });
        format!("{HEAD}{}", rows.concat())
    }

    #[test]
    fn the_documentation_has_the_same_words() {
        let documentation = include_str!("../../assets/docs/GLOSSARY.md");
        let page = page();
        assert_eq!(
            documentation, page,
            "assets/docs/GLOSSARY.md must be:\n{page}"
        );
    }

    #[test]
    fn every_word_has_one_meaning_and_a_place_in_the_alphabet() {
        let names: Vec<String> = TERMS.iter().map(|term| term.name.to_lowercase()).collect();
        assert!(names.is_sorted(), "{names:?}");
        let mut seen = BTreeSet::new();
        for entry in TERMS {
            assert!(entry.sentence.ends_with('.'), "{}", entry.name);
            for name in entry.also.iter().chain([&entry.name]) {
                assert!(seen.insert(name.to_lowercase()), "{name}");
                assert_eq!(term(&name.to_uppercase()), Some(&entry), "{name}");
            }
        }
    }

    #[test]
    fn a_formula_stands_below_its_sentence() {
        let softmax = term("softmax").unwrap().explanation();
        assert!(
            softmax.ends_with("\n\np = e^logit / Σ e^logit"),
            "{softmax}"
        );
        assert_eq!(term("nothing"), None);
    }
}
