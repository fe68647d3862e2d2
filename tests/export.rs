//! Export formats: golden files, round trips, and texts that try to break out of their markup.
//!
//! `UPDATE_GOLDEN=1 cargo test --test engine export` rewrites the golden files.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use quartet::export::{ExportFormat, FileFacts, json, render, render_panes};
use quartet::generation::{
    ChatRecord, ChatSettings, FinishReason, Generation, GenerationId, Piece, PromptRecord,
};

use self::fixture::{greedy, top_p, without_version};

/// Numbers the texts from 1, as reading a file without branches does.
fn numbered<const N: usize>(mut texts: [Generation; N]) -> [Generation; N] {
    for (id, text) in (1..).zip(&mut texts) {
        text.lineage.id = GenerationId(id);
    }
    texts
}

/// Loads and renders the golden run, so that this machine's rounding can't affect the result.
#[test]
fn the_golden_run_still_loads_and_each_format_renders_it_as_before() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let golden = |format: ExportFormat| folder.join("export").with_extension(format.extension());
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let run = std::fs::read(golden(ExportFormat::Json)).unwrap();
    let run = json::parse(&run).unwrap();
    assert_eq!(run.len(), 2);
    assert_eq!(run[1].config, top_p().config);
    let panes: Vec<&Generation> = run.iter().collect();
    let all: Vec<Option<&Generation>> = run.iter().map(Some).collect();
    let pretty = json::Form {
        pretty: true,
        detail: true,
    };
    for format in ExportFormat::ALL {
        let rendered = match format {
            ExportFormat::Json => json::write(&json::RunHeader::default(), &panes, pretty),
            _ => render_panes(
                format,
                &all,
                FileFacts {
                    finished_at: Some(1_700_000_000),
                    ..FileFacts::default()
                },
            ),
        };
        let rendered = without_version(rendered);
        if update {
            std::fs::write(golden(format), &rendered).unwrap();
        }
        let expected = std::fs::read_to_string(golden(format)).unwrap();
        assert_eq!(rendered, expected, "{}", format.name());
    }
}

/// This holds wherever the file is cut, even within a number.
#[test]
fn a_run_file_that_ends_early_is_called_incomplete() {
    let panes = numbered([greedy(), top_p()]);
    let panes: Vec<&Generation> = panes.iter().collect();
    let file = json::write(&json::RunHeader::default(), &panes, json::Form::default());
    let whole = file.trim_ascii();
    for end in 1..whole.len() {
        let error = json::parse(&whole[..end]).unwrap_err().to_string();
        assert!(error.contains("is incomplete"), "{end}: {error}");
    }
}

#[test]
fn a_run_file_survives_a_round_trip() {
    let finishes = [
        None,
        Some(FinishReason::EndOfText),
        Some(FinishReason::StopString {
            stop: "\n".to_owned(),
        }),
        Some(FinishReason::MaxTokens),
        Some(FinishReason::ContextFull),
        Some(FinishReason::Cancelled),
        Some(FinishReason::Failed {
            error: "the model returned 3 logits that are NaN or +∞".to_owned(),
        }),
    ];
    for finish in finishes {
        let mut written = top_p();
        written.finish = finish;
        written.config.seed = u64::MAX;
        let bytes = render(ExportFormat::Json, &[&written]);
        let read = json::parse(&bytes).unwrap();
        assert_eq!(read, numbered([written]));
    }
}

#[test]
fn a_logit_of_minus_infinity_survives_json() {
    let mut written = greedy();
    Arc::make_mut(&mut written.steps[0].trace).raw.head[3].logit = f32::NEG_INFINITY;
    let read = json::parse(&render(ExportFormat::Json, &[&written])).unwrap();
    assert_eq!(read, numbered([written]));
}

#[test]
fn a_chat_and_its_rendered_prompt_survive_json() {
    let first = greedy();
    let mut chat = greedy();
    chat.prompt = Arc::new(PromptRecord {
        chat: Some(ChatRecord {
            settings: ChatSettings::with_system("Be kind"),
            rendered: "<|user|>Once upon".to_owned(),
        }),
        ..(*first.prompt).clone()
    });
    let written = render(ExportFormat::Json, &[&chat, &first]);
    let page = String::from_utf8(render(ExportFormat::Markdown, &[&chat])).unwrap();
    assert_eq!(json::parse(&written).unwrap(), numbered([chat, first]));
    let file: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(file["prompt"]["chat"]["rendered"], "<|user|>Once upon");
    assert!(file["panes"][1]["prompt"]["chat"].is_null());

    let message = page.find("Message:\n\n").unwrap();
    let rendered = page.find("Rendered by the chat template (").unwrap();
    assert!(
        message < rendered && page[rendered..].contains("<|user|>Once upon"),
        "{page}"
    );
}

#[test]
fn panes_with_different_prompts_store_their_own() {
    let first = greedy();
    let mut second = greedy();
    second.prompt = Arc::new(PromptRecord {
        text: "Twice".to_owned(),
        ..(*first.prompt).clone()
    });
    let panes = [&first, &second];
    let read = json::parse(&render(ExportFormat::Json, &panes)).unwrap();
    assert_eq!(read, numbered([first.clone(), second.clone()]));

    let page = String::from_utf8(render(ExportFormat::Markdown, &panes)).unwrap();
    for words in ["## Run 1", "## Run 2", "Twice", "Once upon"] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
    let table = String::from_utf8(render(ExportFormat::Csv, &panes)).unwrap();
    let runs: Vec<&str> = table.lines().skip(1).map(|row| &row[..2]).collect();
    assert_eq!(runs, ["1,", "1,", "1,", "1,", "2,", "2,", "2,", "2,"]);
}

#[test]
fn a_pane_with_a_cached_prompt_belongs_to_the_same_run() {
    let first = greedy();
    let mut again = top_p();
    again.prompt = Arc::new(PromptRecord {
        n_prefilled: 0,
        prefill_secs: 0.0,
        ..(*first.prompt).clone()
    });
    let bytes = render(ExportFormat::Json, &[&first, &again]);
    let text = std::str::from_utf8(&bytes).unwrap();
    assert_eq!(text.matches("\"prompt\":").count(), 1);
    assert_eq!(json::parse(&bytes).unwrap(), numbered([first, again]));
}

#[test]
fn invalid_run_files_are_rejected_with_a_message() {
    let cases = [
        ("", "this is not a Quartet run file: it is empty"),
        (
            "{}",
            "this is not a Quartet run file: ‘format_version’ is missing",
        ),
        (
            r#"{"format_version": 3}"#,
            "this file has format 3, but this version of Quartet only reads up to format 2; update",
        ),
        (
            r#"{"format_version": 1, "quartet": "0.1.0"}"#,
            "this file has format 1, from a version of Quartet that was never released; generate",
        ),
    ];
    for (file, message) in cases {
        let error = json::parse(file.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let run = String::from_utf8(render(ExportFormat::Json, &[&greedy()])).unwrap();
    let broken = run.replace("\"token\":3,", "\"token\":4000000000,");
    let error = json::parse(broken.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        error,
        "this file is damaged: token id 4000000000 is out of range"
    );
}

#[test]
fn an_empty_export_is_valid() {
    let bytes = render(ExportFormat::Json, &[]);
    assert_eq!(json::parse(&bytes).unwrap(), []);
    let table = String::from_utf8(render(ExportFormat::Csv, &[])).unwrap();
    assert_eq!(table.lines().count(), 1);
}

#[test]
fn no_text_breaks_out_of_its_fence() {
    let nasty = "# head\n```\n<script>alert(1)</script>\n~~~\n````\n| a | b |\n---\n";
    let mut generation = greedy();
    generation.name = "a|b\n# *c* <b>".to_owned();
    generation.steps[0].piece = Piece::text(nasty);
    generation.config.limits.stop_strings = vec!["`|\n".to_owned()];
    let page = String::from_utf8(render(ExportFormat::Markdown, &[&generation])).unwrap();

    let mut fence: Option<&str> = None;
    let mut outside = String::new();
    for line in page.lines() {
        let ticks = line.trim_end_matches("text");
        let is_fence = ticks.len() >= 3 && ticks.chars().all(|character| character == '`');
        match fence {
            None if is_fence => fence = Some(ticks),
            None => outside.extend([line, "\n"]),
            Some(opened) if is_fence && line.len() >= opened.len() => fence = None,
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "every fence is closed");
    for word in ["<script>", "~~~", "````", "# head"] {
        assert!(!outside.contains(word), "{word} is unfenced:\n{outside}");
    }
    assert!(
        outside.contains(r"### A · a\|b \# \*c\* \<b\>"),
        "{outside}"
    );
    assert!(outside.contains("stop sequence ``\"`|\\n\"``"), "{outside}");
    assert!(page.contains(nasty));
}

#[test]
fn fields_with_commas_quotes_and_line_breaks_stay_one_field() {
    let pieces = [
        ("a,b", "\"a,b\""),
        ("say \"no\"", "\"say \"\"no\"\"\""),
        ("\n\n", "\"\n\n\""),
        (" the", "\" the\""),
        ("fox", "fox"),
    ];
    for (piece, field) in pieces {
        let mut generation = greedy();
        generation.steps.truncate(1);
        generation.steps[0].piece = Piece::text(piece);
        let table = String::from_utf8(render(ExportFormat::Csv, &[&generation])).unwrap();
        assert!(table.contains(&format!(",3,{field},,false,")), "{table}");
        assert!(table.ends_with("\r\n"));
    }
}

#[test]
fn every_format_has_its_own_extension() {
    let extensions = ExportFormat::ALL.map(ExportFormat::extension);
    let distinct: BTreeSet<&str> = extensions.into_iter().collect();
    assert_eq!(distinct.len(), extensions.len());
}

#[cfg(test)]
mod fixture {
    use std::sync::Arc;

    use quartet::decoding::filters::{Temperature, TopP};
    use quartet::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, TokenId};
    use quartet::generation::{
        FinishReason, Generation, GenerationConfig, Implementation, Limits, Lineage, ModelInfo,
        Piece, PromptRecord, Provenance, Step, StepTime, Vocabulary,
    };

    pub(crate) fn without_version(rendered: Vec<u8>) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let rendered = String::from_utf8(rendered).unwrap();
        rendered
            .replace(
                &format!("\"quartet\": \"{version}\""),
                "\"quartet\": \"VERSION\"",
            )
            .replace(&format!("Quartet {version}"), "Quartet VERSION")
    }

    const WORDS: [&[u8]; 8] = [
        b"<s>",
        b"</s>",
        b"Once",
        b" upon",
        b" \"fox\"",
        b", ",
        b"\n\n",
        b"\xE2\x82",
    ];

    fn piece(id: usize) -> Piece {
        match id {
            0 | 1 => Piece::special(std::str::from_utf8(WORDS[id]).unwrap()),
            _ => Piece::text(WORDS[id]),
        }
    }

    pub(crate) fn greedy() -> Generation {
        generation("Greedy", ChainConfig::greedy())
    }

    pub(crate) fn top_p() -> Generation {
        let filters = [
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.9 }),
        ];
        generation("Top-p", ChainConfig::sampled(filters))
    }

    /// Returns a text of four steps that the chain samples from fixed logits.
    fn generation(name: &str, chain: ChainConfig) -> Generation {
        let logits: [[f32; 8]; 4] = [
            [-9.0, -4.0, 0.5, 3.0, 2.5, 1.0, -1.0, -2.0],
            [-9.0, -3.0, 0.0, -1.0, 2.0, 1.75, 1.5, -0.5],
            [-9.0, -2.0, 0.0, -1.0, 0.5, -0.25, 0.75, 1.0],
            [-9.0, 3.0, 0.0, -1.0, 0.5, 0.25, 1.5, 1.0],
        ];
        let prompt = [TokenId(0), TokenId(2)];
        let mut sampler = SamplerChain::new(chain.clone());
        let steps = (0..).zip(logits).map(|(index, row)| {
            let coins = Coins {
                seed: 42,
                position: 2 + index,
            };
            let drawn = sampler.sample(&row, History::empty(), coins).unwrap();
            Step {
                token: drawn.token,
                piece: piece(drawn.token.index()),
                trace: Arc::new(drawn.trace),
                time: StepTime {
                    at_secs: 0.021 + 0.002 * index as f64,
                    forward_secs: 0.0015,
                    n_batch: 2,
                    mask_secs: None,
                    network_secs: None,
                },
                draft: None,
                logits_hash: None,
            }
        });
        Generation {
            name: name.to_owned(),
            earlier: Vec::new(),
            contradiction: None,
            config: GenerationConfig {
                chain,
                seed: 42,
                limits: Limits {
                    max_new_tokens: 4,
                    ..Limits::default()
                },
            },
            second_model: None,
            model: Arc::new(ModelInfo {
                name: "Test model".to_owned(),
                architecture: "llama".to_owned(),
                implementation: Implementation::Quartet,
                n_params: 1234,
                quantization: "F32".to_owned(),
                formats: Vec::new(),
                device: "CPU".to_owned(),
                n_threads: None,
                n_vocab: 8,
                n_context: 16,
                file: "test.gguf".to_owned(),
                sha256: "00ff".to_owned(),
                provenance: Provenance::default(),
            }),
            vocabulary: Arc::new(Vocabulary::new((0..8).map(piece).collect())),
            prompt: Arc::new(PromptRecord {
                text: "Once upon".to_owned(),
                chat: None,
                tokens: prompt.to_vec(),
                pieces: prompt.map(|token| piece(token.index())).to_vec(),
                n_prefilled: 2,
                prefill_secs: 0.02,
            }),
            steps: steps.collect(),
            finish: Some(FinishReason::MaxTokens),
            grammar_complete: None,
            lineage: Lineage::default(),
            beams: Arc::default(),
            previous_turn: None,
            not_applied: Vec::new(),
        }
    }
}
