//! What the chain editor says of each filter, and how it is set when it is added.

use crate::decoding::Filter;
use crate::decoding::filters::{
    Dry, DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, MinP, NoRepeatNgram,
    PresencePenalty, QuadraticSmoothing, RepetitionPenalty, TailFree, Temperature, TopA, TopK,
    TopNSigma, TopP, TypicalP, Window, Xtc,
};

/// Makes a filter, set to something usual.
pub(super) type Usual = fn() -> Filter;

/// The filters that most programs have, in the order in which they usually stand.
pub(super) const COMMON: [Usual; 7] = [
    || {
        Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: 1.1,
            window: Window::LAST_64,
        })
    },
    || {
        Filter::FrequencyPenalty(FrequencyPenalty {
            penalty: 0.5,
            window: Window::LAST_64,
        })
    },
    || {
        Filter::PresencePenalty(PresencePenalty {
            penalty: 0.5,
            window: Window::LAST_64,
        })
    },
    || Filter::Temperature(Temperature { temperature: 0.8 }),
    || Filter::TopK(TopK { k: 40 }),
    || Filter::TopP(TopP { p: 0.9 }),
    || Filter::MinP(MinP { p: 0.05 }),
];

/// The others, in the same order.
pub(super) const RARE: [Usual; 11] = [
    || {
        Filter::NoRepeatNgram(NoRepeatNgram {
            n: 3,
            window: Window {
                last_n: None,
                prompt_counted: true,
            },
        })
    },
    || {
        Filter::Dry(Dry {
            multiplier: 0.8,
            base: 1.75,
            allowed_length: 2,
            window: Window {
                last_n: None,
                prompt_counted: true,
            },
            breakers: Vec::new(),
        })
    },
    || {
        Filter::DynamicTemperature(DynamicTemperature {
            temperature: 1.0,
            range: 0.5,
            exponent: 1.0,
        })
    },
    || {
        Filter::QuadraticSmoothing(QuadraticSmoothing {
            factor: 0.3,
            curve: 1.0,
        })
    },
    || Filter::TypicalP(TypicalP { p: 0.9 }),
    || Filter::TopNSigma(TopNSigma { n: 1.0 }),
    || Filter::EpsilonCutoff(EpsilonCutoff { epsilon: 0.001 }),
    || Filter::EtaCutoff(EtaCutoff { epsilon: 0.001 }),
    || {
        Filter::Xtc(Xtc {
            probability: 0.5,
            threshold: 0.1,
        })
    },
    || Filter::TopA(TopA { a: 0.2 }),
    || Filter::TailFree(TailFree { z: 0.95 }),
];

/// What a filter does, in a few words.
pub(super) const fn short_words(filter: &Filter) -> &'static str {
    match filter {
        Filter::LogitBias(_) => "Favours or forbids tokens",
        Filter::RepetitionPenalty(_) => "Holds back what has occurred",
        Filter::FrequencyPenalty(_) => "Holds back, more each time",
        Filter::PresencePenalty(_) => "Holds back what occurred once",
        Filter::NoRepeatNgram(_) => "Never repeats so many tokens",
        Filter::Dry(_) => "Holds back long repetitions",
        Filter::Temperature(_) => "< 1 sharpens, > 1 flattens",
        Filter::DynamicTemperature(_) => "Flattens where it is unsure",
        Filter::QuadraticSmoothing(_) => "Lowers what is far from best",
        Filter::TopK(_) => "Keeps so many of the best",
        Filter::TopP(_) => "Keeps this share of the odds",
        Filter::MinP(_) => "Keeps those near the best",
        Filter::TypicalP(_) => "Keeps the usual surprises",
        Filter::TopNSigma(_) => "Keeps scores near the best",
        Filter::EpsilonCutoff(_) => "Cuts below this probability",
        Filter::EtaCutoff(_) => "Cuts lower where it is unsure",
        Filter::Xtc(_) => "At times cuts the likeliest",
        Filter::TopA(_) => "Cuts far below the best",
        Filter::TailFree(_) => "Cuts the flat tail",
    }
}

/// What a filter does; then what does nothing, and what is usual.
pub(super) const fn long_words(filter: &Filter) -> &'static str {
    match filter {
        Filter::LogitBias(_) => {
            "Adds to the scores of chosen tokens, or rules them out. No token chosen does nothing."
        }
        Filter::RepetitionPenalty(_) => {
            "Divides the score of tokens that have occurred by this factor. 1 does nothing, 1.05 \
             to 1.3 is usual."
        }
        Filter::FrequencyPenalty(_) => {
            "Lowers a token's score by this much for each time that it has occurred. 0 does \
             nothing, 0.1 to 1 is usual."
        }
        Filter::PresencePenalty(_) => {
            "Lowers a token's score by this much once it has occurred. 0 does nothing, 0.1 to 1 is \
             usual."
        }
        Filter::NoRepeatNgram(_) => {
            "Rules out a token that would end a run of this length which occurs already. 0 does \
             nothing, 3 to 5 is usual."
        }
        Filter::Dry(_) => {
            "Lowers the score of tokens that would lengthen a repetition, more the longer it is. 0 \
             does nothing, 0.8 is usual."
        }
        Filter::Temperature(_) => {
            "Divides all scores by this number, so that likely tokens gain below 1 and lose above \
             it. 1 does nothing, 0.5 to 1.2 is usual; 0 takes the top token."
        }
        Filter::DynamicTemperature(_) => {
            "A temperature that rises and falls with the model's doubt, around this middle. A range \
             of 0 is plain temperature, 0.5 is usual."
        }
        Filter::QuadraticSmoothing(_) => {
            "Lowers each score by the square of its distance from the best. 0 does nothing, 0.2 to \
             0.5 is usual."
        }
        Filter::TopK(_) => {
            "Keeps this many of the most likely tokens and cuts all others. 0 does nothing, 20 to \
             100 is usual."
        }
        Filter::TopP(_) => {
            "Keeps the fewest most likely tokens that together hold this share of the probability. \
             1 does nothing, 0.8 to 0.95 is usual."
        }
        Filter::MinP(_) => {
            "Keeps tokens at least this many times as likely as the most likely one. 0 does \
             nothing, 0.02 to 0.2 is usual."
        }
        Filter::TypicalP(_) => {
            "Keeps the tokens whose surprise is nearest to what is expected, until they hold this \
             share. 1 does nothing, 0.9 is usual."
        }
        Filter::TopNSigma(_) => {
            "Keeps tokens whose score is at most this many standard deviations below the best. 0 \
             does nothing, 1 is usual."
        }
        Filter::EpsilonCutoff(_) => {
            "Cuts all tokens less likely than this. 0 does nothing, 0.0003 to 0.001 is usual."
        }
        Filter::EtaCutoff(_) => {
            "Cuts tokens below a bar that falls as the model gets less sure. 0 does nothing, 0.0003 \
             to 0.004 is usual."
        }
        Filter::Xtc(_) => {
            "With this probability, cuts all tokens above the threshold but the least likely of \
             them. 0 does nothing, 0.5 is usual."
        }
        Filter::TopA(_) => {
            "Cuts tokens less likely than this factor times the square of the best one's \
             probability. 0 does nothing, 0.2 is usual."
        }
        Filter::TailFree(_) => {
            "Cuts where the sorted probabilities go flat. 1 does nothing, 0.95 is usual."
        }
    }
}
