//! Runs as one self-contained HTML page: tinted tokens with a card for each, an X-ray of any step,
//! and plots.
//!
//! The page requests nothing, is complete without scripts and when printed, and treats whatever a
//! model or a user wrote as text. Its plots are passed in as SVG, because this module does not
//! draw.

mod escape;
mod figures;
#[cfg(test)]
mod page_tests;
mod prompt;
mod steps;

use self::escape::{Look, data_url, escaped, script_json, shown};
use self::figures::push_figures;
use self::prompt::{push_message, push_prompt};
use super::finish_date::finish_words;
use super::runs::{Run, runs};
use super::{contradiction_words, earlier_words, left_out_turns_words, settings_words};
use crate::analysis::{Metrics, TextScore, TokenScale};
use crate::generation::formatting::{counted, grouped, pane_letter, percent, speed};
use crate::generation::{Generation, ModelInfo, Step, listed};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The hash of the script. The page's policy lets this script run and no other, even if something
/// on the page were not escaped. A test compares it with the script.
const SCRIPT_HASH: &str = "sha256-FoJJpZoocONzYaECWYUiCmXXjJaPcP6kwGA03M91p88=";

/// A plot on the page, as SVG for either theme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagePlot {
    pub title: String,
    pub light: String,
    pub dark: String,
}

/// Renders the page of a run that was finished at this time, in seconds since 1970. A pane's index
/// determines its letter; a pane without a text is left out.
pub fn render(
    panes: &[Option<&Generation>],
    plots: &[PagePlot],
    finished_at: Option<u64>,
) -> String {
    let texts: Vec<(usize, &Generation)> = panes
        .iter()
        .enumerate()
        .filter_map(|(place, text)| Some((place, (*text)?)))
        .collect();
    let mut page = String::new();
    push_head(&mut page, &texts);
    if let Some(words) = finished_at.and_then(finish_words) {
        line(&mut page, &format!("<p class=\"quiet\">{words}</p>"));
    }
    for run in runs(panes) {
        push_source(&mut page, &run);
    }
    push_controls(&mut page);
    page.push_str("<div class=\"beside\">\n<main class=\"panes\">\n");
    for (place, text) in &texts {
        push_pane(&mut page, *place, text);
    }
    page.push_str(
        "</main>\n<section class=\"needs-script\" id=\"xray\" aria-live=\"polite\"></section>\n</div>\n",
    );
    push_plots(&mut page, plots);
    let turns: Vec<(usize, &Generation)> = texts
        .iter()
        .flat_map(|(place, text)| text.turns().into_iter().map(|turn| (*place, turn)))
        .collect();
    push_figures(&mut page, &turns);
    page.push_str("<div id=\"card\" role=\"tooltip\" hidden></div>\n");
    page.push_str("<script type=\"application/json\" id=\"data\">");
    page.push_str(&script_json(&steps::data(&turns)));
    page.push_str("</script>\n<script>");
    page.push_str(SCRIPT);
    page.push_str("</script>\n</body>\n</html>\n");
    page
}

fn push_head(page: &mut String, texts: &[(usize, &Generation)]) {
    let first = texts.first().and_then(|(_, text)| text.turn(0));
    let prompt = first.map(|text| text.prompt.text.trim());
    let title = match prompt.filter(|prompt| !prompt.is_empty()) {
        Some(prompt) => prompt.chars().take(60).collect(),
        None => "A scored text".to_owned(),
    };
    line(
        page,
        &format!(
            "<!doctype html>\n<html lang=\"en\" data-tint=\"p\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
             style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"generator\" content=\"Quartet {}\">\n<title>{} · Quartet</title>\n<style>\n{STYLE}</style>\n</head>\n<body>",
            env!("CARGO_PKG_VERSION"),
            escaped(&title)
        ),
    );
    line(
        page,
        "<header><h1>Quartet</h1><span class=\"quiet\">One prompt, several decodings, token by token</span>\
         <button id=\"theme\" class=\"needs-script\" type=\"button\">Light or dark</button></header>",
    );
}

/// Appends the models and the prompt of a run.
fn push_source(page: &mut String, run: &Run<'_>) {
    page.push_str("<section>");
    push_model(page, "", &run.first.model);
    for (second, letters) in run.second_models() {
        let title = format!("Second model of {} ", listed(&letters));
        push_model(page, &title, second);
    }
    push_prompt(page, run.prompt(), run.first.is_scored());
    line(page, "</section>");
}

fn push_model(page: &mut String, title: &str, model: &ModelInfo) {
    let sha256: String = model.sha256.chars().take(12).collect();
    let facts = [
        model.quantization_words(),
        model.device.clone(),
        model
            .n_threads
            .map(|n| counted(n.get(), "thread"))
            .unwrap_or_default(),
        if sha256.is_empty() {
            String::new()
        } else {
            format!("SHA-256 {sha256}…")
        },
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    line(
        page,
        &format!(
            "<p>{title}<strong>{}</strong> <span class=\"quiet\">{}</span></p>",
            escaped(&model.name),
            escaped(&facts.join(" · "))
        ),
    );
}

/// Appends the tint menu, its legend, and a hint about pointing at tokens.
fn push_controls(page: &mut String) {
    let options = ["p", "r", "e", "s"].into_iter().zip(TokenScale::ALL);
    let options = options.map(|(letter, scale)| {
        let name = scale.name();
        format!("<option value=\"{letter}\">{name}</option>")
    });
    line(
        page,
        &format!(
            "<div class=\"bar\"><label class=\"needs-script\">Tint <select id=\"tint\">{}\
             <option value=\"\">None</option></select></label>{}\
             <span class=\"quiet small needs-script\"><span class=\"can-hover\">Point at a token for its \
             alternatives, click it for its X-ray; arrow keys move, Esc unpins</span>\
             <span class=\"no-hover\">Tap a token for its X-ray</span></span>\
             <noscript class=\"quiet small\">Turn on scripts to see the alternatives of each token. \
             The texts, figures and plots are complete without them.</noscript></div>",
            options.collect::<String>(),
            legends()
        ),
    );
}

fn push_pane(page: &mut String, place: usize, text: &Generation) {
    let letter = pane_letter(place);
    let color = steps::color(place);
    line(
        page,
        &format!(
            "<article><p><span class=\"badge p{color}\">{letter}</span> <strong>{}</strong> \
             <span class=\"quiet small\">{}</span></p>",
            escaped(&text.shown_name()),
            escaped(&settings_line(text))
        ),
    );
    if text.previous_turn.is_none() {
        push_text(page, &letter, text);
    } else {
        for (number, turn) in (1..).zip(text.turns()) {
            push_message(page, number, &turn.prompt);
            push_text(page, &format!("{letter}, turn {number}"), turn);
        }
    }
    line(page, "</article>");
}

/// Appends a text under its name: the prompt, unless it is a turn, and the tokens.
fn push_text(page: &mut String, name: &str, text: &Generation) {
    // One element without line breaks, because its white space is significant.
    write(
        page,
        &format!(
            "<div class=\"text\" tabindex=\"0\" role=\"document\" aria-label=\"Text {name}\">"
        ),
    );
    let prompt = escaped(&text.prompt.text);
    if !prompt.is_empty() {
        write(page, &format!("<span class=\"prompt\">{prompt}</span>"));
    }
    for step in &text.steps {
        push_token(page, step);
    }
    line(page, "</div>");
    let finish = text.finish_words();
    let finish = finish.unwrap_or_else(|| "Still running".to_owned());
    let notes = left_out_turns_words(text).into_iter();
    let notes = notes
        .chain(earlier_words(text))
        .chain(contradiction_words(text));
    let notes = notes.map(|words| format!("<p class=\"small\">{}.</p>", escaped(&words)));
    write(
        page,
        &format!(
            "<p class=\"quiet small\">{} · {}</p>{}",
            escaped(&finish),
            escaped(&counts(text)),
            notes.collect::<String>()
        ),
    );
}

fn push_token(page: &mut String, step: &Step) {
    let (word, look) = shown(&step.piece);
    let mut classes = String::from("t");
    for (letter, scale) in ["p", "r", "e", "s"].into_iter().zip(TokenScale::ALL) {
        let step = scale.step(step);
        if step > 0 {
            write(&mut classes, &format!(" {letter}{step}"));
        }
    }
    let draw = &step.trace.draw;
    classes.push_str(match look {
        Look::Text => "",
        Look::Special => " x",
        Look::Bytes => " y",
    });
    if draw.is_given() && !draw.was_possible() {
        classes.push_str(" k");
    } else if draw.is_by_hand() {
        classes.push_str(" n");
    }
    let unknown = || "unknown".to_owned();
    let before = step.trace.known_raw_prob().map_or_else(unknown, percent);
    let rank = step.trace.known_rank();
    let rank = rank.map_or_else(unknown, |rank| grouped(rank.into()));
    let title = escaped(&format!("{before}, rank {rank}"));
    // A tint on a leading space would be a stray blob at the end of a row.
    let n_spaces = match word.trim_start_matches(' ') {
        "" => 0,
        trimmed => word.len() - trimmed.len(),
    };
    let (spaces, word) = word.split_at(n_spaces);
    let word = escaped(word);
    write(
        page,
        &format!("{spaces}<span class=\"{classes}\" title=\"{title}\">{word}</span>"),
    );
}

fn settings_line(text: &Generation) -> String {
    format!("{} · seed {}", settings_words(text), text.config.seed)
}

/// Formats the counts: "196 tokens · 491 tok/s", or "60 tokens · perplexity 37.2 · …" for a scored
/// text.
fn counts(text: &Generation) -> String {
    let tokens = counted(text.steps.len(), "token");
    let score = TextScore::of(text);
    if let Some(perplexity) = score.perplexity().filter(|_| text.is_scored()) {
        return format!(
            "{tokens} · perplexity {perplexity:.1} · {}",
            score.cut_words()
        );
    }
    match Metrics::of(text).decode_per_sec {
        Some(per_sec) => format!("{tokens} · {} tok/s", speed(per_sec)),
        None => tokens,
    }
}

fn push_plots(page: &mut String, plots: &[PagePlot]) {
    if plots.is_empty() {
        return;
    }
    line(page, "<section><h2>Plots</h2><div class=\"plots\">");
    for plot in plots {
        let title = escaped(&plot.title);
        let (light, dark) = (data_url(&plot.light), data_url(&plot.dark));
        line(
            page,
            &format!(
                "<figure><img class=\"light\" alt=\"{title}\" src=\"{light}\">\
                 <img class=\"dark\" alt=\"{title}\" src=\"{dark}\"></figure>"
            ),
        );
    }
    line(page, "</div></section>");
}

/// Returns the legends of all tints; the style sheet shows only the chosen one's.
fn legends() -> String {
    let legend = |(letter, scale): (&str, TokenScale)| {
        let steps = scale.legend().into_iter().enumerate();
        let steps = steps.map(|(index, label)| {
            let label = escaped(label);
            format!("<span class=\"{letter}{index}\">{label}</span>")
        });
        format!(
            "<span class=\"legend l{letter} small\">{} {}</span>",
            scale.name(),
            steps.collect::<String>()
        )
    };
    ["p", "r", "e", "s"]
        .into_iter()
        .zip(TokenScale::ALL)
        .map(legend)
        .collect()
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

fn write(page: &mut String, text: &str) {
    page.push_str(text);
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::{PagePlot, SCRIPT, SCRIPT_HASH, render};
    use crate::generation::Piece;
    use crate::generation::testing::{generation, generation_of, scored};

    const HOSTILE: &str =
        "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">'&amp;";

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let encode = |chunk: &[u8]| {
            let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
            let group = byte(0) << 16 | byte(1) << 8 | byte(2);
            let digit = |index: usize| {
                if index <= chunk.len() {
                    char::from(DIGITS[(group >> (18 - 6 * index)) as usize & 63])
                } else {
                    '='
                }
            };
            [0, 1, 2, 3].map(digit).into_iter().collect::<String>()
        };
        bytes.chunks(3).map(encode).collect()
    }

    #[test]
    fn the_policy_allows_exactly_the_page_s_script() {
        let hash = format!("sha256-{}", base64(&Sha256::digest(SCRIPT)));
        assert_eq!(SCRIPT_HASH, hash);
    }

    #[test]
    fn hostile_texts_stay_text() {
        let mut text = generation_of(&[
            (Piece::text(HOSTILE), 0.5),
            (Piece::special(HOSTILE), 0.5),
            (Piece::text([0xFF, b'<']), 0.5),
        ]);
        HOSTILE.clone_into(&mut text.name);
        text.config.limits.stop_strings = vec![HOSTILE.to_owned()];
        std::sync::Arc::make_mut(&mut text.model).name = HOSTILE.to_owned();
        let prompt = std::sync::Arc::make_mut(&mut text.prompt);
        prompt.text = HOSTILE.to_owned();
        prompt.chat = Some(crate::generation::ChatRecord {
            settings: crate::generation::ChatSettings::with_system(HOSTILE),
            rendered: HOSTILE.to_owned(),
        });
        let plot = PagePlot {
            title: HOSTILE.to_owned(),
            light: format!("<svg>{HOSTILE}</svg>"),
            dark: HOSTILE.to_owned(),
        };
        let page = render(&[Some(&text)], &[plot], None);
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script").count(), 2);
        assert_eq!(page.matches("<img").count(), 2);
        assert!(!page.contains("onerror=\""), "{page}");
        assert!(page.contains("&lt;/script&gt;"));
    }

    #[test]
    fn half_a_character_is_shown_as_its_bytes() {
        let euro = "€".as_bytes();
        let halves = [&euro[..2], &euro[2..]].map(|half| (Piece::text(half), 0.5));
        let page = render(&[Some(&generation_of(&halves))], &[], None);
        for bytes in ["E2 82", "AC"] {
            assert!(page.contains(&format!(">{bytes}</span>")), "{page}");
            assert!(
                page.contains(&format!("\"{bytes}\"")),
                "in the card and the X-ray"
            );
        }
        assert_eq!(page.matches(" y\" title=").count(), 2, "in their own style");
    }

    #[test]
    fn the_page_requests_nothing() {
        let text = generation(&[(" the", 0.5), (" fox", 0.5)]);
        let page = render(&[Some(&text)], &[], None);
        for remote in ["http:", "https:", "//cdn", "@import", "url("] {
            assert!(!page.contains(remote), "{remote}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn a_pane_keeps_its_letter_and_a_cut_token_is_marked() {
        let text = scored(&[(" the", 0.9), (" fox", 0.01)], "greedy");
        let page = render(&[None, Some(&text)], &[], None);
        assert!(page.contains("aria-label=\"Text B\""), "{page}");
        assert!(page.contains(" k\" title=\"1.0 %, rank"), "{page}");
        assert!(page.contains("1 of 2 tokens could not have been generated (cut by greedy)"));
    }

    #[test]
    fn four_panes_of_500_tokens_take_less_than_2_megabytes() {
        let words = [" the", " fox", " ran", " home", "."];
        let pieces: Vec<(&str, f64)> = (0..500).map(|n| (words[n % 5], 0.3)).collect();
        let text = generation(&pieces);
        let panes = [Some(&text); 4];
        let page = render(&panes, &[], None);
        // Plots take less than 0.6 MB.
        assert!(page.len() < 1_400_000, "{} bytes", page.len());
    }
}
