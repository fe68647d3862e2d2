//! What leaves the program: golden files, a run that reads back, and texts that try to break out.
//!
//! `UPDATE_GOLDEN=1 cargo test --test export` rewrites the golden files.

use std::path::Path;
use std::sync::Arc;

use quartet::export::{ExportFormat, json, render};
use quartet::generation::{ChatRecord, FinishReason, Piece, PromptRecord};

use self::fixture::{greedy, top_p, without_version};

/// The golden run is read and written again, so that no rounding of this machine's is in it.
#[test]
fn the_golden_run_still_loads_and_each_format_writes_it_as_before() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let golden = |format: ExportFormat| folder.join("export").with_extension(format.extension());
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    if update {
        let run = render(ExportFormat::Json, &[&greedy(), &top_p()]);
        std::fs::write(golden(ExportFormat::Json), without_version(run)).unwrap();
    }
    let run = std::fs::read(golden(ExportFormat::Json)).unwrap();
    let run = json::parse(&run).unwrap();
    assert_eq!(run.len(), 2);
    assert_eq!(run[1].config, top_p().config);
    for format in ExportFormat::ALL {
        let rendered = without_version(render(format, &run.iter().collect::<Vec<_>>()));
        if update {
            std::fs::write(golden(format), &rendered).unwrap();
        }
        let expected = std::fs::read_to_string(golden(format)).unwrap();
        assert_eq!(rendered, expected, "{}", format.name());
    }
}

#[test]
fn a_run_file_reads_back_as_what_was_written() {
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
        let [read] = read.try_into().unwrap();
        assert_eq!(read, written);
    }
}

#[test]
fn a_logit_of_minus_infinity_survives_json() {
    let mut written = greedy();
    written.steps[0].trace.raw.head[3].logit = f32::NEG_INFINITY;
    let read = json::parse(&render(ExportFormat::Json, &[&written])).unwrap();
    assert_eq!(read, [written]);
}

#[test]
fn a_file_from_before_the_draw_s_count_was_kept_is_counted_by_its_stages() {
    let written = [greedy(), top_p()];
    let bytes = render(ExportFormat::Json, &[&written[0], &written[1]]);
    let mut file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    for pane in file["panes"].as_array_mut().unwrap() {
        for step in pane["steps"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("n_kept").unwrap();
        }
    }
    let read = json::parse(&serde_json::to_vec(&file).unwrap()).unwrap();
    assert_eq!(read, written);
    assert_eq!(read[1].steps[2].trace.draw.n_kept, 4);
}

#[test]
fn a_chat_survives_json_with_what_its_template_made_of_it() {
    let first = greedy();
    let mut chat = greedy();
    chat.prompt = Arc::new(PromptRecord {
        chat: Some(ChatRecord {
            system: "Be kind".to_owned(),
            rendered: "<|user|>Once upon".to_owned(),
        }),
        ..(*first.prompt).clone()
    });
    let written = render(ExportFormat::Json, &[&chat, &first]);
    let page = String::from_utf8(render(ExportFormat::Markdown, &[&chat])).unwrap();
    assert_eq!(json::parse(&written).unwrap(), [chat, first]);
    let file: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(file["prompt"]["chat"]["rendered"], "<|user|>Once upon");
    assert!(file["panes"][1]["prompt"]["chat"].is_null());

    let message = page.find("Message:\n\n").unwrap();
    let read = page.find("As the model read it, ").unwrap();
    assert!(
        message < read && page[read..].contains("<|user|>Once upon"),
        "{page}"
    );
}

#[test]
fn panes_of_another_prompt_carry_their_own() {
    let first = greedy();
    let mut second = greedy();
    second.prompt = Arc::new(PromptRecord {
        text: "Twice".to_owned(),
        ..(*first.prompt).clone()
    });
    let panes = [&first, &second];
    let read = json::parse(&render(ExportFormat::Json, &panes)).unwrap();
    assert_eq!(read, [first.clone(), second.clone()]);

    let page = String::from_utf8(render(ExportFormat::Markdown, &panes)).unwrap();
    for words in ["## Run 1", "## Run 2", "Twice", "Once upon"] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
    let table = String::from_utf8(render(ExportFormat::Csv, &panes)).unwrap();
    let runs: Vec<&str> = table.lines().skip(1).map(|row| &row[..2]).collect();
    assert_eq!(runs, ["1,", "1,", "1,", "1,", "2,", "2,", "2,", "2,"]);
}

#[test]
fn a_pane_that_found_its_prompt_in_the_cache_is_of_the_same_run() {
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
    assert_eq!(json::parse(&bytes).unwrap(), [first, again]);
}

#[test]
fn what_is_no_run_is_refused_in_a_sentence() {
    let cases = [
        ("", "this is not a run of Quartet: EOF while parsing"),
        (
            "{}",
            "this is not a run of Quartet: missing field `format_version`",
        ),
        (
            r#"{"format_version": 2}"#,
            "a newer Quartet wrote this file, in format 2; this one reads up to 1",
        ),
        (
            r#"{"format_version": 1, "quartet": "0.1.0"}"#,
            "this is not a run of Quartet: missing field `panes`",
        ),
    ];
    for (file, sentence) in cases {
        let error = json::parse(file.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{error}");
    }
    let run = String::from_utf8(render(ExportFormat::Json, &[&greedy()])).unwrap();
    let broken = run.replace("\"token\": 3,", "\"token\": 4000000000,");
    let error = json::parse(broken.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "token 4000000000 is in no vocabulary");
}

#[test]
fn nothing_exports_as_nothing() {
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
        assert!(!outside.contains(word), "{word} stands outside:\n{outside}");
    }
    assert!(
        outside.contains(r"### 1 · a\|b \# \*c\* \<b\>"),
        "{outside}"
    );
    assert!(outside.contains("stops at ``\"`|\\n\"``"), "{outside}");
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
fn formats_are_known_by_their_ending() {
    for format in ExportFormat::ALL {
        let ending = format.extension().to_uppercase();
        assert_eq!(ExportFormat::from_extension(&ending), Some(format));
    }
    assert_eq!(ExportFormat::from_extension("pdf"), None);
}

#[cfg(test)]
mod fixture {
    use std::sync::Arc;

    use quartet::decoding::filters::{Temperature, TopP};
    use quartet::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, TokenId};
    use quartet::generation::{
        FinishReason, Generation, GenerationConfig, Implementation, Limits, ModelInfo, Piece,
        PromptRecord, Step, StepTime, Vocabulary,
    };

    pub fn without_version(rendered: Vec<u8>) -> String {
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

    pub fn greedy() -> Generation {
        generation("Greedy", ChainConfig::greedy())
    }

    pub fn top_p() -> Generation {
        let filters = [
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.9 }),
        ];
        generation("Top-p", ChainConfig::sampled(filters))
    }

    /// Four steps, drawn by the chain itself from logits that are written down here.
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
                trace: drawn.trace,
                time: StepTime {
                    at_secs: 0.021 + 0.002 * index as f64,
                    forward_secs: 0.0015,
                    n_batch: 2,
                },
            }
        });
        Generation {
            name: name.to_owned(),
            config: GenerationConfig {
                chain,
                seed: 42,
                limits: Limits {
                    max_new_tokens: 4,
                    ..Limits::default()
                },
            },
            model: Arc::new(ModelInfo {
                name: "Test model".to_owned(),
                architecture: "llama".to_owned(),
                implementation: Implementation::Quartet,
                n_params: 1234,
                quantization: "F32".to_owned(),
                device: "CPU".to_owned(),
                n_threads: None,
                n_vocab: 8,
                n_context: 16,
                file: "test.gguf".to_owned(),
                sha256: "00ff".to_owned(),
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
        }
    }
}
