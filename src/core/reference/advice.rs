//! What to do about a text that goes wrong, with settings and presets that exist.

/// A text that goes wrong, and what helps.
#[derive(Debug, Clone, Copy)]
pub struct Advice {
    pub symptom: &'static str,
    /// How to tell, and why it happens.
    pub cause: &'static str,
    /// What to try, the mildest first.
    pub remedies: &'static [Remedy],
}

/// Something to try.
#[derive(Debug, Clone, Copy)]
pub struct Remedy {
    pub words: &'static str,
    /// The settings, as `--pane` reads them; empty if they are no settings.
    pub settings: &'static str,
    /// The built-in preset that has them.
    pub preset: Option<&'static str>,
}

const fn set(settings: &'static str, words: &'static str) -> Remedy {
    Remedy {
        words,
        settings,
        preset: None,
    }
}

const fn preset(name: &'static str, words: &'static str) -> Remedy {
    Remedy {
        words,
        settings: "",
        preset: Some(name),
    }
}

/// All advice.
pub const ADVICE: [Advice; 4] = [
    Advice {
        symptom: "My text repeats itself",
        cause: "The Loop tab underlines a passage that comes three times in a row. A repetition makes \
                the next one more likely, so a chain that stays close to the top token can’t leave it.",
        remedies: &[
            set(
                "temp 0.8, min-p 0.05",
                "Let the coin work. Greedy and very low temperatures go round in circles; a little \
                 chance is often enough.",
            ),
            preset(
                "Deterministic",
                "If it must be the same text every time: DRY looks for repeated sequences and leaves \
                 single words alone.",
            ),
            set(
                "dry 0.8, temp 0.8, min-p 0.05",
                "DRY with a draw. Add the names and refrains that may come back as sequence breakers.",
            ),
            set(
                "frequency 0.3, temp 0.8, min-p 0.05",
                "A small frequency penalty, which grows with each repetition. It also weakens ‘the’ \
                 and the full stop, so keep it small and the text short.",
            ),
        ],
    },
    Advice {
        symptom: "My text is bland",
        cause: "Most tokens are the model’s first choice, and the Surprise plot stays low. A low \
                temperature or a tight cut leaves nothing else to draw.",
        remedies: &[
            set(
                "temp 1, min-p 0.05",
                "Temperature 1 with a mild cut that follows how sure the model is.",
            ),
            preset(
                "Creative",
                "A high temperature, after which min-p removes what is far less likely than the top \
                 token.",
            ),
            set(
                "temp 1, min-p 0.05, xtc 0.5 threshold 0.1",
                "XTC leaves out the obvious words now and then, but only where others are good, too.",
            ),
            set(
                "",
                "Write several texts with different seeds and keep the best: one text says little \
                 about a setting.",
            ),
        ],
    },
    Advice {
        symptom: "My text falls apart",
        cause: "Tint it by rank: the token at which it goes astray is nearly always a rare one. What \
                follows is less sure, and draws more of them.",
        remedies: &[
            set(
                "temp 0.7, top-p 0.9",
                "Sharpen the distribution and cut off its tail.",
            ),
            set(
                "min-p 0.1, temp 1.3",
                "If you want the heat, cut first: with min-p before the temperature, heat can’t bring \
                 rare tokens back.",
            ),
            set(
                "",
                "If a penalty is on, lower it: a strong one takes away the words that grammar needs.",
            ),
            set(
                "",
                "If a chat model writes nonsense, look at the prompt as the model reads it: without \
                 its template it does not know whose turn it is.",
            ),
        ],
    },
    Advice {
        symptom: "My answer must be right",
        cause: "One answer is right, and every other token costs probability: hotter is more random, \
                not better.",
        remedies: &[
            preset(
                "Greedy",
                "The most likely token each time, for a date, a name, a label.",
            ),
            preset("Code", "Close to the top token, with a little variation."),
            set(
                "",
                "If a program reads the answer, add a grammar: it makes the form right, and says \
                 nothing about the content.",
            ),
        ],
    },
];
