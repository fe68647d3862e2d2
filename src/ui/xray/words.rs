//! What the X-ray says in words.

use super::Xray;
use crate::analysis::xray::{DrawnBy, XrayCell, XrayColumn, XrayPlace, XrayRow};
use crate::decoding::{Filter, KnownCount, Selector, TokenId};
use crate::ui::words::{grouped, percent, token_word};

/// A column's name, and how many are left after it where it changes that.
pub(super) fn head_words(column: &XrayColumn) -> (String, String) {
    let (name, tells_count) = match &column.at {
        XrayPlace::Model => ("Model", true),
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
        (XrayPlace::Model, KnownCount::Exactly(n)) => {
            format!("{} tokens", grouped(f64::from(n)))
        }
        (_, KnownCount::Exactly(n)) if tells_count => format!("{} left", grouped(f64::from(n))),
        (_, KnownCount::AtMost(n)) if tells_count => format!("≤ {} left", grouped(f64::from(n))),
        _ => String::new(),
    };
    (name.to_owned(), left)
}

/// What a stage is set to.
pub(super) fn value_words(column: &XrayColumn) -> String {
    let words = match &column.at {
        XrayPlace::Model => return String::new(),
        XrayPlace::Stage { stage, .. } => match &stage.filter {
            bias @ Filter::LogitBias(_) => return bias.to_string(),
            filter => filter.to_string(),
        },
        XrayPlace::Selector(selector) => selector.to_string(),
    };
    let value = words.split_once(' ').map(|(_, value)| value.to_owned());
    value.unwrap_or_default()
}

/// How undecided the choice is after a stage: "2.45 bits · like 5.5 choices".
pub(super) fn foot(column: &XrayColumn) -> String {
    if matches!(&column.at, XrayPlace::Stage { stage, .. } if !stage.enabled) {
        return String::new();
    }
    let Some(nats) = column.entropy_nats else {
        return "Entropy not recorded".to_owned();
    };
    let bits = bits(nats);
    match column.mass_removed {
        Some(mass) if cuts_much(mass) => format!("{bits:.2} bits · {} cut away", percent(mass)),
        _ => match choices(bits).as_str() {
            "1" => format!("{bits:.2} bits · one choice"),
            n => format!("{bits:.2} bits · like {n} choices"),
        },
    }
}

/// The same in a sentence.
pub(super) fn long_foot(column: &XrayColumn) -> String {
    let Some(nats) = column.entropy_nats else {
        return "How undecided the choice is here depends on tokens that were not recorded"
            .to_owned();
    };
    let bits = bits(nats);
    let like = match choices(bits).as_str() {
        "1" => "there is one choice".to_owned(),
        n => format!("as undecided as among {n} equals"),
    };
    let cut = match column.mass_removed {
        Some(mass) if cuts_much(mass) => format!(". What was cut away held {}", percent(mass)),
        _ => String::new(),
    };
    format!("{bits:.2} bits: {like}{cut}")
}

fn bits(nats: f64) -> f64 {
    (nats / std::f64::consts::LN_2).max(0.0)
}

/// Whether it is more than rounding.
fn cuts_much(mass: f64) -> bool {
    mass > 5e-7
}

fn choices(bits: f64) -> String {
    match bits.exp2() {
        ..1.05 => "1".to_owned(),
        n @ ..99.5 => format!("{n:.1}"),
        n => grouped(n),
    }
}

fn word(xray: &Xray<'_>, token: TokenId) -> String {
    format!("‘{}’", token_word(&(xray.piece)(token)))
}

/// How the token was drawn, or would have been, in a sentence.
pub(super) fn drawn(xray: &Xray<'_>) -> String {
    let drawn = xray.table.bar.drawn;
    let name = match drawn.token {
        Some(token) => word(xray, token),
        None => "a token that was not recorded".to_owned(),
    };
    let before = selector_words(xray);
    let top = top_words(xray);
    let Some(written) = xray.written else {
        return match drawn.by {
            DrawnBy::TopToken => format!("No coin: {top} is always taken, {name}"),
            DrawnBy::OneCoin(coin) => format!("{before}coin {coin:.3} falls on {name}"),
            DrawnBy::CoinForEach => {
                format!("A coin for each token: with its own, {name} comes out on top")
            }
        };
    };
    let same = drawn.token == Some(written);
    let how = match (drawn.sure, same) {
        (true, false) => "would",
        (true, true) => "would still",
        (false, false) => "would most likely",
        (false, true) => "would most likely still",
    };
    let instead = if same {
        String::new()
    } else {
        format!(", not on {}", word(xray, written))
    };
    let sentence = match drawn.by {
        DrawnBy::OneCoin(coin) => format!("{before}coin {coin:.3} {how} fall on {name}{instead}"),
        DrawnBy::TopToken if same => format!("No coin: {top} is still {name}"),
        DrawnBy::TopToken => {
            format!("No coin: {top} is {name}, not {}", word(xray, written))
        }
        DrawnBy::CoinForEach => {
            format!("A coin for each token: {name} {how} come out on top")
        }
    };
    if drawn.sure {
        sentence
    } else {
        format!("{sentence}; tokens that were not recorded matter")
    }
}

/// The token that is taken without a coin; what is left to take it from may be a matter of chance.
fn top_words(xray: &Xray<'_>) -> &'static str {
    let by_chance = |column: &XrayColumn| {
        matches!(&column.at, XrayPlace::Stage { stage, .. }
            if stage.enabled && stage.filter.is_random())
    };
    if xray.table.columns.iter().any(by_chance) {
        "the top token of those left"
    } else {
        "the top token"
    }
}

/// What the selector did before its coin fell.
fn selector_words(xray: &Xray<'_>) -> String {
    let last = xray.table.columns.last();
    match last.map(|column| (&column.at, column.n_left)) {
        Some((XrayPlace::Selector(Selector::AdaptiveP(_)), _)) => {
            "Adaptive-p weighs them anew, and ".to_owned()
        }
        Some((XrayPlace::Selector(selector), KnownCount::Exactly(n))) => {
            format!("{} leaves {}, and ", selector.name(), grouped(f64::from(n)))
        }
        _ => String::new(),
    }
}

/// The tokens that were not recorded: "6,112 more".
pub(super) fn others(xray: &Xray<'_>) -> String {
    let mut columns = xray.table.columns.iter().rev();
    let last = columns.find(|column| match &column.at {
        XrayPlace::Stage { stage, .. } => stage.enabled,
        XrayPlace::Model | XrayPlace::Selector(_) => true,
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

/// A row for a screen reader and its tooltip.
pub(super) fn spoken_row(xray: &Xray<'_>, row: &XrayRow) -> String {
    let mut words = vec![format!(
        "{} rank {}",
        word(xray, row.token),
        grouped(f64::from(row.rank))
    )];
    for (column, cell) in xray.table.columns.iter().zip(&row.cells) {
        let (name, _) = head_words(column);
        match cell {
            XrayCell::Kept(prob) => words.push(format!("{name} {}", percent(*prob))),
            XrayCell::Between(least, most) => {
                words.push(format!("{name} {}", between(*least, *most)));
            }
            XrayCell::Unknown => words.push(format!("{name} not recorded")),
            XrayCell::Cut(_) => words.push(format!("cut by {}", cut_words(column))),
            XrayCell::Gone | XrayCell::Muted => {}
        }
    }
    let chosen = match (row.chosen, xray.written) {
        (true, None) => Some("chosen"),
        (true, Some(_)) => Some("would be chosen"),
        (false, written) => (written == Some(row.token)).then_some("was written"),
    };
    words.extend(chosen.map(str::to_owned));
    words.join(", ")
}

/// A probability that is known to lie between these: a figure where it is the same for both.
pub(super) fn between(least: f64, most: f64) -> String {
    let (least, most) = (percent(least), percent(most));
    if least == most {
        most
    } else {
        format!("≤ {most}")
    }
}

/// A column as it is named in a sentence: "top-p 0.9".
fn cut_words(column: &XrayColumn) -> String {
    match &column.at {
        XrayPlace::Model => "the model".to_owned(),
        XrayPlace::Stage { stage, .. } => stage.filter.to_string(),
        XrayPlace::Selector(selector) => selector.to_string(),
    }
}

/// The bar for a screen reader.
pub(super) fn spoken_bar(xray: &Xray<'_>) -> String {
    let parts = xray.table.bar.parts.iter().filter_map(|part| {
        let share = percent(part.to - part.from);
        Some(format!("{} {share}", word(xray, part.token?)))
    });
    let mut words = vec![drawn(xray)];
    words.extend(parts);
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::xray::XrayTable;
    use crate::decoding::filters::{MinP, TopP};
    use crate::decoding::{ChainConfig, Coins, History, SamplerChain, Stage};
    use crate::generation::Piece;

    const NAMES: [&str; 4] = [" by", " in", " at", " on"];

    fn xray(table: &XrayTable, written: Option<u32>) -> Xray<'_> {
        Xray {
            table,
            pane: 0,
            piece: &|token| Piece::text(*NAMES.get(token.index()).unwrap_or(&"?")),
            written: written.map(TokenId),
            coin_moves: false,
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
    fn each_selector_has_the_sentence_that_is_true_for_it() {
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
            (Selector::Multinomial, "coin 0.469 falls on ‘in’"),
            (
                Selector::Greedy,
                "No coin: the top token is always taken, ‘by’",
            ),
            (Selector::GumbelMax, "A coin for each token: with its own, "),
            (
                mirostat,
                "Mirostat v2 leaves 2, and coin 0.469 falls on ‘by’",
            ),
            (
                adaptive,
                "Adaptive-p weighs them anew, and coin 0.469 falls on ",
            ),
        ] {
            let sentence = drawn(&xray(&table(&with(selector)), None));
            assert!(sentence.starts_with(expected), "{sentence}");
        }
    }

    #[test]
    fn what_would_be_drawn_is_not_said_to_be_drawn() {
        let mut table = table(&ChainConfig::sampled([]));
        table.what_if = true;
        let sentence = |table: &XrayTable, written| drawn(&xray(table, Some(written)));
        assert_eq!(
            sentence(&table, 0),
            "coin 0.469 would fall on ‘in’, not on ‘by’"
        );
        assert_eq!(sentence(&table, 1), "coin 0.469 would still fall on ‘in’");
        table.bar.drawn.sure = false;
        assert_eq!(
            sentence(&table, 0),
            "coin 0.469 would most likely fall on ‘in’, not on ‘by’; tokens that were not recorded \
             matter"
        );
        table.bar.drawn.token = None;
        table.bar.drawn.sure = true;
        assert_eq!(
            sentence(&table, 0),
            "coin 0.469 would fall on a token that was not recorded, not on ‘by’"
        );
        table.bar.drawn.by = DrawnBy::TopToken;
        table.bar.drawn.token = Some(TokenId(2));
        assert_eq!(
            sentence(&table, 0),
            "No coin: the top token is ‘at’, not ‘by’"
        );
    }

    #[test]
    fn a_figure_that_is_not_known_is_not_told_as_one() {
        assert_eq!(between(0.2501, 0.2519), "25 %");
        assert_eq!(between(0.241, 0.2519), "≤ 25 %");
        assert_eq!(between(0.0, 0.000_01), "< 0.1 %");
    }

    #[test]
    fn a_column_says_what_it_is_set_to_and_what_it_left() {
        let mut chain = ChainConfig::sampled([
            Filter::TopP(TopP { p: 0.85 }),
            Filter::MinP(MinP { p: 0.9 }),
        ]);
        chain.stages.push(Stage {
            enabled: false,
            ..Stage::from(Filter::MinP(MinP { p: 0.1 }))
        });
        let table = table(&chain);
        let words: Vec<(String, String)> = table.columns.iter().map(head_words).collect();
        let words: Vec<(&str, &str)> = words
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(
            words,
            [
                ("Model", "4 tokens"),
                ("Top-p", "3 left"),
                ("Min-p", "1 left"),
                ("Min-p", "muted"),
            ]
        );
        let values: Vec<String> = table.columns.iter().map(value_words).collect();
        assert_eq!(values, ["", "0.85", "0.9", "0.1"]);
        let feet: Vec<String> = table.columns.iter().map(foot).collect();
        assert_eq!(
            feet,
            [
                "1.85 bits · like 3.6 choices",
                "1.53 bits · 10 % cut away",
                "0.00 bits · 56 % cut away",
                "",
            ]
        );
        let long = "1.53 bits: as undecided as among 2.9 equals. What was cut away held 10 %";
        assert_eq!(long_foot(&table.columns[1]), long);
        assert_eq!(
            spoken_row(&xray(&table, None), &table.rows[1]),
            "‘in’ rank 2, Model 30 %, Top-p 33 %, cut by min-p 0.9"
        );
        assert_eq!(
            spoken_row(&xray(&table, None), &table.rows[0]),
            "‘by’ rank 1, Model 40 %, Top-p 44 %, Min-p 100 %, chosen"
        );
    }
}
