//! What the chain editor says of each filter and each selector.

use crate::decoding::{Filter, Selector};

/// What a filter does, in a few words.
pub(super) const fn short_words(filter: &Filter) -> &'static str {
    match filter {
        Filter::LogitBias(_) => "Favours or forbids tokens",
        Filter::RepetitionPenalty(_) => "Holds back what has occurred",
        Filter::FrequencyPenalty(_) => "Holds back, more each time",
        Filter::PresencePenalty(_) => "Holds back, once for all times",
        Filter::NoRepeatNgram(_) => "Never repeats so many tokens",
        Filter::Dry(_) => "Holds back long repetitions",
        Filter::Temperature(_) => "< 1 sharpens, > 1 flattens",
        Filter::DynamicTemperature(dynamic) if dynamic.range <= 0.0 => "< 1 sharpens, > 1 flattens",
        Filter::DynamicTemperature(_) => "Flattens where it is unsure",
        Filter::QuadraticSmoothing(_) => "Lowers what is far from best",
        Filter::TopK(_) => "Keeps so many of the best",
        Filter::TopP(_) => "Keeps this much probability",
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
pub(in crate::ui) const fn long_words(filter: &Filter) -> &'static str {
    match filter {
        Filter::LogitBias(_) => {
            "Adds to the scores of chosen tokens, or rules them out. 0 does nothing, -5 to 5 is usual: \
             1 makes a token 2.7 times as likely beside the others."
        }
        Filter::RepetitionPenalty(_) => {
            "Divides the scores above 0 of tokens that have occurred by this factor, and multiplies \
             their other scores by it. 1 does nothing, 1.05 to 1.3 is usual."
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
            "A temperature that rises and falls with the model's doubt, around this middle. 1 with a \
             range of 0 does nothing, 1 with a range of 0.5 is usual."
        }
        Filter::QuadraticSmoothing(_) => {
            "Puts each score below the best by this factor times the square of its distance, so that \
             near ones gain and far ones lose. 0 does nothing, 0.2 to 0.5 is usual."
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

/// What the end of a chain is called where it is chosen.
pub(super) const fn draw_words(selector: &Selector) -> &'static str {
    match selector {
        Selector::Multinomial => "By coin",
        Selector::Greedy => "Top token",
        other => other.name(),
    }
}

/// What the end of a chain does, in two sentences.
pub(super) const fn long_draw_words(selector: &Selector) -> &'static str {
    match selector {
        Selector::Greedy => {
            "Takes the most likely of the tokens that are left, as temperature 0 does. It tosses no \
             coin, so that only XTC before it lets the text depend on the seed."
        }
        Selector::Multinomial => {
            "A coin from the seed falls on one of the tokens that are left, each as often as its \
             probability says. This is the usual way."
        }
        Selector::GumbelMax => {
            "Each token has a coin of its own, and the best sum of score and coin wins. As often as \
             by one coin, but panes with one seed mostly differ less."
        }
        Selector::MirostatV1(_) => {
            "Keeps as many of the most likely tokens as hold the surprise near a target, by an \
             estimate of how fast the probabilities fall. Other cuts are mostly left out beside it."
        }
        Selector::MirostatV2(_) => {
            "Drops tokens that are too surprising, and moves the bar after each draw so that the \
             surprise stays near a target. Other cuts are mostly left out beside it."
        }
        Selector::AdaptiveP(_) => {
            "Draws tokens whose probability lies near a target that moves with what was drawn. Put a \
             mild cut before it, such as min-p 0.05."
        }
    }
}
