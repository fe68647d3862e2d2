//! The X-ray's labels and sentences.

use super::Xray;
use crate::analysis::xray::{BarPart, DrawnBy, XrayCell, XrayColumn, XrayPlace, XrayRow};
use crate::decoding::{Filter, GrammarMode, GrammarRule, KnownCount, Selector, TokenId};
use crate::generation::formatting::{grouped, percent, token_word};

/// Returns a column's name, and how many tokens it leaves if it changes their number.
pub(super) fn head_labels(column: &XrayColumn) -> (String, String) {
    let (name, shows_count) = match &column.at {
        XrayPlace::Model => ("Softmax", true),
        XrayPlace::Row(heading) => (heading.as_str(), false),
        XrayPlace::Mixture(_) => ("Mixture", true),
        XrayPlace::Grammar(grammar) if grammar.masked => (GrammarRule::NAME, true),
        XrayPlace::Grammar(_) => ("Check", true),
        XrayPlace::Stage { stage, .. } => {
            let rules_out = matches!(
                stage.filter,
                Filter::LogitBias(_) | Filter::NoRepeatNgram(_)
            );
            (stage.filter.name(), stage.filter.cuts() || rules_out)
        }
        XrayPlace::Selector(selector) => (selector.name(), true),
    };
    let left = match (&column.at, column.n_left) {
        (XrayPlace::Stage { stage, .. }, _) if !stage.enabled => "muted".to_owned(),
        (XrayPlace::Model | XrayPlace::Mixture(_), KnownCount::Exactly(n)) => {
            format!("{} tokens", grouped(f64::from(n)))
        }
        (XrayPlace::Grammar(grammar), _) => {
            format!("{} legal", grouped(f64::from(grammar.n_legal)))
        }
        (_, KnownCount::Exactly(n)) if shows_count => format!("{} left", grouped(f64::from(n))),
        (_, KnownCount::AtMost(n)) if shows_count => format!("≤ {} left", grouped(f64::from(n))),
        _ => String::new(),
    };
    (name.to_owned(), left)
}

/// Returns a stage's settings, without its name.
pub(super) fn settings_label(column: &XrayColumn) -> String {
    let label = match &column.at {
        XrayPlace::Model | XrayPlace::Row(_) => return String::new(),
        XrayPlace::Mixture(guidance) => return guidance.strength(),
        XrayPlace::Grammar(grammar) => {
            let is_redrawn = grammar.masked && grammar.rule.mode() == GrammarMode::Check;
            return if is_redrawn { "redrawn" } else { "" }.to_owned();
        }
        XrayPlace::Stage { stage, .. } => match &stage.filter {
            bias @ Filter::LogitBias(_) => return bias.to_string(),
            filter => filter.to_string(),
        },
        XrayPlace::Selector(selector) => selector.to_string(),
    };
    let settings = label
        .split_once(' ')
        .map(|(_, settings)| settings.to_owned());
    settings.unwrap_or_default()
}

/// Formats what is below a column: its entropy, and in a compact table, whose heads are short, how
/// many candidates are left: "40 left · 2.45 bits".
pub(super) fn foot_label(column: &XrayColumn, compact: bool) -> String {
    let (_, left) = head_labels(column);
    match column.entropy_nats {
        Some(nats) if compact && !is_muted(column) => {
            let entropy = format!("{:.2} bits", bits(nats));
            match column.at {
                XrayPlace::Model | XrayPlace::Row(_) | XrayPlace::Mixture(_) => entropy,
                _ if left.is_empty() => entropy,
                _ => format!("{left} · {entropy}"),
            }
        }
        _ => entropy_label(column),
    }
}

/// Returns whether the column's stage is muted.
pub(super) const fn is_muted(column: &XrayColumn) -> bool {
    matches!(&column.at, XrayPlace::Stage { stage, .. } if !stage.enabled)
}

/// Formats the entropy after a stage: "2.45 bits · like 5.5 choices".
pub(super) fn entropy_label(column: &XrayColumn) -> String {
    if is_muted(column) {
        return String::new();
    }
    if let XrayPlace::Grammar(grammar) = &column.at {
        return match column.distortion_bits {
            Some(bits) if bits >= 0.05 => format!(
                "{} forbidden · {bits:.1} bits",
                percent(1.0 - grammar.legal_mass)
            ),
            _ => format!("{} legal", percent(grammar.legal_mass)),
        };
    }
    let Some(nats) = column.entropy_nats else {
        return "Entropy not recorded".to_owned();
    };
    let bits = bits(nats);
    if let Some(distortion) = column.distortion_bits {
        return format!("{bits:.2} bits · distorted by {distortion:.2}");
    }
    match column.mass_removed {
        Some(mass) if is_significant(mass) => format!("{bits:.2} bits · {} removed", percent(mass)),
        _ => match choices(bits).as_str() {
            "1" => format!("{bits:.2} bits · one choice"),
            n => format!("{bits:.2} bits · like {n} choices"),
        },
    }
}

/// Describes the entropy after a stage in a sentence, and what a watermark costs there.
pub(super) fn foot_sentence(column: &XrayColumn) -> String {
    let entropy = entropy_sentence(column);
    match (column.distortion_bits, &column.at) {
        (Some(bits), XrayPlace::Grammar(grammar)) => format!(
            "The model gave {} to the legal tokens. Keeping to them moves its distribution by \
             {bits:.2} bits (Kullback-Leibler divergence)",
            percent(grammar.legal_mass)
        ),
        (Some(bits), _) => format!(
            "{entropy}. The watermark moves the distribution by {bits:.2} bits (Kullback-Leibler \
             divergence)"
        ),
        (None, XrayPlace::Stage { stage, .. }) if matches!(stage.filter, Filter::SynthId(_)) => {
            format!("{entropy}. On average over all keys, the watermark changes nothing")
        }
        (None, XrayPlace::Mixture(guidance)) => format!("{entropy}. {}", guidance.formula()),
        (None, _) => entropy,
    }
}

fn entropy_sentence(column: &XrayColumn) -> String {
    let Some(nats) = column.entropy_nats else {
        return "The entropy here depends on tokens that were not recorded".to_owned();
    };
    let bits = bits(nats);
    let like = match choices(bits).as_str() {
        "1" => "only one choice".to_owned(),
        n => format!("as uncertain as {n} equally likely tokens"),
    };
    let cut = match column.mass_removed {
        Some(mass) if is_significant(mass) => {
            format!(". The removed tokens held {}", percent(mass))
        }
        _ => String::new(),
    };
    format!("{bits:.2} bits: {like}{cut}")
}

fn bits(nats: f64) -> f64 {
    (nats / std::f64::consts::LN_2).max(0.0)
}

/// Returns whether the removed mass is more than a rounding error.
fn is_significant(mass: f64) -> bool {
    mass > 5e-7
}

/// Formats the perplexity: the number of equally likely tokens with the same entropy.
fn choices(bits: f64) -> String {
    match bits.exp2() {
        ..1.05 => "1".to_owned(),
        n @ ..99.5 => format!("{n:.1}"),
        n => grouped(n),
    }
}

pub(super) fn quoted(xray: &Xray<'_>, token: TokenId) -> String {
    format!("‘{}’", token_word(&(xray.piece)(token)))
}

/// Describes how the token was drawn, or would be drawn with the current settings.
pub(super) fn draw_sentence(xray: &Xray<'_>) -> String {
    let drawn = xray.table.bar.drawn;
    let name = match drawn.token {
        Some(token) => quoted(xray, token),
        None => "an unrecorded token".to_owned(),
    };
    let coin_label = coin_label(xray);
    let top = top_token_label(xray);
    let Some(generated) = xray.generated else {
        return match drawn.by {
            DrawnBy::TopToken => format!("No coin: always {top}, {name}"),
            DrawnBy::OneCoin(coin) => format!("{coin_label} {coin:.3} falls on {name}"),
            DrawnBy::CoinForEach => format!("One coin per token: {name} wins"),
            DrawnBy::Hand => format!("Picked by hand: {name}"),
            DrawnBy::Given => given_label(xray, &name),
            DrawnBy::Beams => format!("Beam search took {name} for the total of its text"),
            DrawnBy::Ratio => format!("Speculative sampling took {name}: see the Loop tab"),
            DrawnBy::Server => format!("The server’s own sampler took {name}"),
        };
    };
    let same = drawn.token == Some(generated);
    let how = match (drawn.sure, same) {
        (true, false) => "would",
        (true, true) => "would still",
        (false, false) => "would most likely",
        (false, true) => "would most likely still",
    };
    let instead = if same {
        String::new()
    } else {
        format!(", not on {}", quoted(xray, generated))
    };
    let sentence = match drawn.by {
        DrawnBy::OneCoin(coin) => format!("{coin_label} {coin:.3} {how} fall on {name}{instead}"),
        DrawnBy::TopToken if same => format!("No coin: {top} is still {name}"),
        DrawnBy::TopToken => {
            format!("No coin: {top} is {name}, not {}", quoted(xray, generated))
        }
        DrawnBy::CoinForEach => format!("One coin per token: {name} {how} win"),
        DrawnBy::Hand => format!("Picked by hand: {name}"),
        DrawnBy::Given => given_label(xray, &name),
        DrawnBy::Beams => "Beam search compares whole texts, so one step can’t tell".to_owned(),
        DrawnBy::Ratio => format!("Speculative sampling took {name}: see the Loop tab"),
        DrawnBy::Server => format!("The server’s own sampler took {name}"),
    };
    if drawn.sure {
        sentence
    } else {
        format!("{sentence}; it also depends on unrecorded tokens")
    }
}

/// Names the token that is picked without a coin. A random stage may have dropped the model's top
/// token.
fn top_token_label(xray: &Xray<'_>) -> &'static str {
    let by_chance = |column: &XrayColumn| {
        matches!(&column.at, XrayPlace::Stage { stage, .. }
            if stage.enabled && stage.filter.is_random())
    };
    if xray.table.columns.iter().any(by_chance) {
        "the top remaining token"
    } else {
        "the top token"
    }
}

/// Says that the text was given, and whether the chain could have written it.
fn given_label(xray: &Xray<'_>, name: &str) -> String {
    let is_left = |part: &BarPart| part.token == xray.table.bar.drawn.token;
    let parts = &xray.table.bar.parts;
    if parts.iter().any(is_left) || parts.iter().any(|part| part.token.is_none()) {
        format!("The text was given: {name}")
    } else {
        format!("The text was given: {name}. These settings could not have written it.")
    }
}

/// Names the coin, preceded by what the selector did before the draw.
fn coin_label(xray: &Xray<'_>) -> String {
    let last = xray.table.columns.last();
    match last.map(|column| (&column.at, column.n_left)) {
        Some((XrayPlace::Selector(Selector::AdaptiveP(_)), _)) => {
            "Adaptive-p reweights the tokens, then coin".to_owned()
        }
        Some((XrayPlace::Selector(selector), KnownCount::Exactly(n))) => {
            let n_left = grouped(f64::from(n));
            format!("{} keeps {n_left}, then coin", selector.name())
        }
        _ => "Coin".to_owned(),
    }
}

/// Counts the unrecorded tokens: "6,112 more", or "others" if their number is unknown.
pub(super) fn unrecorded_label(xray: &Xray<'_>) -> String {
    let mut columns = xray.table.columns.iter().rev();
    let last = columns.find(|column| match &column.at {
        XrayPlace::Stage { stage, .. } => stage.enabled,
        _ => true,
    });
    let n_known = xray.table.bar.parts.iter();
    let n_known = n_known.filter(|part| part.token.is_some()).count() as u32;
    match last.map(|column| column.n_left) {
        Some(KnownCount::Exactly(n)) if n > n_known => {
            format!("{} more", grouped(f64::from(n - n_known)))
        }
        _ => "others".to_owned(),
    }
}

/// Describes a row for its tooltip and for a screen reader.
pub(super) fn row_sentence(xray: &Xray<'_>, row: &XrayRow) -> String {
    let rank = row.rank.map(|rank| grouped(f64::from(rank)));
    let mut phrases = vec![format!(
        "{} rank {}",
        quoted(xray, row.token),
        rank.as_deref().unwrap_or("unknown")
    )];
    if row.logit.is_some() {
        phrases.push(format!("score {}", score_label(row)));
    }
    for (column, cell) in xray.table.columns.iter().zip(&row.cells) {
        let (name, _) = head_labels(column);
        match cell {
            XrayCell::Kept(prob) => phrases.push(format!("{name} {}", percent(*prob))),
            XrayCell::Between(least, most) => {
                phrases.push(format!("{name} {}", prob_range(*least, *most)));
            }
            XrayCell::Unknown => phrases.push(format!("{name} not recorded")),
            XrayCell::Cut(_) if matches!(column.at, XrayPlace::Grammar(_)) => {
                phrases.push("forbidden by the grammar".to_owned());
            }
            XrayCell::Cut(_) => phrases.push(format!("cut by {}", stage_label(column))),
            XrayCell::Gone | XrayCell::Muted => {}
        }
    }
    let outcome = match (row.chosen, xray.generated) {
        (true, None) => Some("chosen"),
        (true, Some(_)) => Some("would be chosen"),
        (false, generated) => (generated == Some(row.token)).then_some("was generated"),
    };
    phrases.extend(outcome.map(str::to_owned));
    phrases.join(", ")
}

/// Formats a candidate's logit, or returns an empty string if it was not recorded.
pub(super) fn score_label(row: &XrayRow) -> String {
    match row.logit {
        None => String::new(),
        Some(logit) if logit.is_infinite() => "−∞".to_owned(),
        Some(logit) => format!("{logit:.2}").replace('-', "−"),
    }
}

/// Formats a probability known only by its bounds: one number if both round to it.
pub(super) fn prob_range(least: f64, most: f64) -> String {
    let (least, most) = (percent(least), percent(most));
    if least == most {
        most
    } else {
        format!("≤ {most}")
    }
}

/// Names a column in a sentence: "top-p 0.9".
fn stage_label(column: &XrayColumn) -> String {
    match &column.at {
        XrayPlace::Model => "the model".to_owned(),
        XrayPlace::Row(_) | XrayPlace::Mixture(_) => "the guidance".to_owned(),
        XrayPlace::Grammar(_) => "the grammar".to_owned(),
        XrayPlace::Stage { stage, .. } => stage.filter.to_string(),
        XrayPlace::Selector(selector) => selector.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::xray::XrayTable;
    use crate::decoding::filters::{MinP, TopP};
    use crate::decoding::{ChainConfig, Coins, History, SamplerChain, Stage};
    use crate::generation::Piece;
    use crate::ui::xray::Heights;

    const NAMES: [&str; 4] = [" by", " in", " at", " on"];

    fn xray(table: &XrayTable, generated: Option<u32>) -> Xray<'_> {
        Xray {
            table,
            pane: 0,
            piece: &|token| Piece::text(*NAMES.get(token.index()).unwrap_or(&"?")),
            generated: generated.map(TokenId),
            coin_draggable: false,
            can_draw: false,
            is_picture: false,
            heights: Heights::USUAL,
            step: (0, 0),
        }
    }

    fn table(chain: &ChainConfig) -> XrayTable {
        let logits = [0.4_f32, 0.3, 0.2, 0.1].map(f32::ln);
        let coins = Coins {
            seed: 42,
            position: 0,
        };
        let sampled = SamplerChain::new(chain.clone()).sample(&logits, History::empty(), coins);
        XrayTable::recorded(chain, &sampled.unwrap().trace)
    }

    #[test]
    fn each_selector_describes_its_own_draw() {
        let with = |selector| ChainConfig {
            selector,
            ..ChainConfig::sampled([])
        };
        let mirostat =
            Selector::MirostatV2(crate::decoding::selector::MirostatV2 { tau: 0.9, eta: 0.1 });
        let adaptive = Selector::AdaptiveP(crate::decoding::selector::AdaptiveP {
            target: 0.2,
            decay: 0.9,
        });
        for (selector, expected) in [
            (Selector::Multinomial, "Coin 0.469 falls on ‘in’"),
            (Selector::Greedy, "No coin: always the top token, ‘by’"),
            (Selector::GumbelMax, "One coin per token: "),
            (
                mirostat,
                "Mirostat v2 keeps 2, then coin 0.469 falls on ‘by’",
            ),
            (
                adaptive,
                "Adaptive-p reweights the tokens, then coin 0.469 falls on ",
            ),
        ] {
            let sentence = draw_sentence(&xray(&table(&with(selector)), None));
            assert!(sentence.starts_with(expected), "{sentence}");
        }
    }

    #[test]
    fn a_hypothetical_draw_is_worded_as_one() {
        let mut table = table(&ChainConfig::sampled([]));
        table.what_if = true;
        let sentence = |table: &XrayTable, generated| draw_sentence(&xray(table, Some(generated)));
        assert_eq!(
            sentence(&table, 0),
            "Coin 0.469 would fall on ‘in’, not on ‘by’"
        );
        assert_eq!(sentence(&table, 1), "Coin 0.469 would still fall on ‘in’");
        table.bar.drawn.sure = false;
        assert_eq!(
            sentence(&table, 0),
            "Coin 0.469 would most likely fall on ‘in’, not on ‘by’; it also depends on unrecorded \
             tokens"
        );
        table.bar.drawn.token = None;
        table.bar.drawn.sure = true;
        assert_eq!(
            sentence(&table, 0),
            "Coin 0.469 would fall on an unrecorded token, not on ‘by’"
        );
        table.bar.drawn.by = DrawnBy::TopToken;
        table.bar.drawn.token = Some(TokenId(2));
        assert_eq!(
            sentence(&table, 0),
            "No coin: the top token is ‘at’, not ‘by’"
        );
    }

    #[test]
    fn an_uncertain_probability_shows_its_upper_bound() {
        assert_eq!(prob_range(0.2501, 0.2519), "25 %");
        assert_eq!(prob_range(0.241, 0.2519), "≤ 25 %");
        assert_eq!(prob_range(0.0, 0.000_01), "< 0.1 %");
    }

    #[test]
    fn a_column_shows_its_settings_and_what_it_left() {
        let mut chain = ChainConfig::sampled([
            Filter::TopP(TopP { p: 0.85 }),
            Filter::MinP(MinP { p: 0.9 }),
        ]);
        chain.stages.push(Stage {
            enabled: false,
            ..Stage::from(Filter::MinP(MinP { p: 0.1 }))
        });
        let table = table(&chain);
        let heads: Vec<(String, String)> = table.columns.iter().map(head_labels).collect();
        let heads: Vec<(&str, &str)> = heads
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(
            heads,
            [
                ("Softmax", "4 tokens"),
                ("Top-p", "3 left"),
                ("Min-p", "1 left"),
                ("Min-p", "muted"),
            ]
        );
        let settings: Vec<String> = table.columns.iter().map(settings_label).collect();
        assert_eq!(settings, ["", "0.85", "0.9", "0.1"]);
        let feet: Vec<String> = table.columns.iter().map(entropy_label).collect();
        assert_eq!(
            feet,
            [
                "1.85 bits · like 3.6 choices",
                "1.53 bits · 10 % removed",
                "0.00 bits · 56 % removed",
                "",
            ]
        );
        let long =
            "1.53 bits: as uncertain as 2.9 equally likely tokens. The removed tokens held 10 %";
        assert_eq!(entropy_sentence(&table.columns[1]), long);
        assert_eq!(
            row_sentence(&xray(&table, None), &table.rows[1]),
            "‘in’ rank 2, score −1.20, Softmax 30 %, Top-p 33 %, cut by min-p 0.9"
        );
        assert_eq!(
            row_sentence(&xray(&table, None), &table.rows[0]),
            "‘by’ rank 1, score −0.92, Softmax 40 %, Top-p 44 %, Min-p 100 %, chosen"
        );
    }
}
