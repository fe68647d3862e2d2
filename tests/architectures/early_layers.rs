//! Compares contrast with early layers with transformers' `dola_layers`, token by token and score by
//! score. `make_early_layers.py` generated the expected texts.

use std::time::Instant;

use quartet::decoding::{
    Against, ChainConfig, EarlyLayers, Guidance, MixedRow, SelectorState, TokenId,
};
use quartet::engine::{EarlyExit, Progress, Prompt, Row, Session};
use quartet::generation::{
    Continuation, FinishReason, FuturesPlan, GenerationConfig, GenerationId, Limits, PromptForm,
    PromptText, Step, SweepPlan,
};
use serde_json::Value;

use crate::architectures::fixture::{Fixture, Form};
use crate::architectures::guidance::{advance, session, swept, tokens, written};

const ID: GenerationId = GenerationId(3);
const N_TOKENS: usize = 20;

fn cases() -> Value {
    serde_json::from_slice(include_bytes!("early_layers.json")).unwrap()
}

fn prompt(tokens: Vec<TokenId>) -> Prompt {
    Prompt {
        text: String::new(),
        chat: None,
        tokens,
    }
}

fn layers(case: &Value) -> Against {
    let layers = tokens(&case["layers"]).into_iter();
    Against::Layers(EarlyLayers::new(layers.map(|token| token.0).collect()).unwrap())
}

fn config(chain: ChainConfig) -> GenerationConfig {
    GenerationConfig {
        chain,
        seed: 5,
        limits: Limits {
            max_new_tokens: N_TOKENS,
            ..Limits::default()
        },
    }
}

fn dola(case: &Value) -> GenerationConfig {
    config(ChainConfig {
        guidance: Some(Guidance::usual(layers(case))),
        ..ChainConfig::greedy()
    })
}

fn scaled(scale: f32, layers: &[u32]) -> ChainConfig {
    let layers = EarlyLayers::new(layers.to_vec()).unwrap();
    ChainConfig {
        guidance: Some(Guidance {
            scale: Some(scale),
            cutoff: 0.05,
            against: Against::Layers(layers),
        }),
        ..ChainConfig::sampled([])
    }
}

fn write(session: &mut Session, case: &Value) -> Vec<Step> {
    let prompt = prompt(tokens(&case["prompt"]));
    session.generate(prompt, [(ID, dola(case))], Instant::now());
    advance(session).into_iter().map(|(_, step)| step).collect()
}

fn other_row(step: &Step) -> &MixedRow {
    &step.trace.mixture.as_ref().unwrap().other
}

#[test]
fn tokens_layers_and_scores_match_transformers() {
    let file = cases();
    let shown = tokens(&file["shown"]);
    let cases = file["cases"].as_array().unwrap();
    let (mut n_compared, mut n_cut) = (0, 0);
    for case in cases {
        let mut session = session(case["fixture"].as_str().unwrap());
        let steps = write(&mut session, case);
        assert_eq!(written(&steps), tokens(&case["tokens"]), "{case}");
        let chosen = steps.iter().map(|step| other_row(step).layer.unwrap());
        let expected = tokens(&case["chosen"]).into_iter().map(|token| token.0);
        assert!(chosen.eq(expected), "{case}");
        for (step, expected) in steps.iter().zip(case["scores"].as_array().unwrap()) {
            let head = &step.trace.raw.head;
            for (token, expected) in shown.iter().zip(expected.as_array().unwrap()) {
                let ranked = head.iter().find(|ranked| ranked.token == *token);
                let ranked = ranked.filter(|ranked| ranked.logit > f32::NEG_INFINITY);
                match (ranked, expected.as_f64()) {
                    (Some(ranked), Some(expected)) => {
                        let error = (f64::from(ranked.logit) - expected).abs();
                        assert!(error < 1e-4, "{}, not {expected}: {case}", ranked.logit);
                        n_compared += 1;
                    }
                    (Some(_), None) => panic!("{token} is below the cutoff: {case}"),
                    // A record holds only the likeliest tokens.
                    (None, Some(_)) => {}
                    (None, None) => n_cut += 1,
                }
            }
        }
    }
    assert_eq!(cases.len(), 25);
    assert!(n_compared > 600 && n_cut > 1000, "{n_compared} {n_cut}");
}

/// Both backends, all formats and every way to feed a text give the same rows.
#[test]
fn early_exits_leave_the_last_layer_as_it_is() {
    for name in [
        "llama",
        "gpt2",
        "gemma2",
        "granite",
        "qwen3_5",
        "granite4-h",
        "lfm2",
    ] {
        let fixture = Fixture::open(name, Form::Newer);
        let mut model = fixture.model.borrow_mut();
        let n_layers = model.lm.n_layers().unwrap();
        let (plain, whole, alone) = (model.lm.open(), model.lm.open(), model.lm.open());
        let row = |sequence| {
            move |token: &u32| Row {
                sequence,
                token: TokenId(*token),
                logits_wanted: true,
            }
        };
        let tokens = fixture.tokens.iter().take(12);
        let rows: Vec<Row> = tokens.clone().map(row(plain)).collect();
        let expected = model.lm.forward(&rows).unwrap();
        let rows: Vec<Row> = tokens.clone().map(row(whole)).collect();
        let exit = |row, n_layers| EarlyExit { row, n_layers };
        let exits = (0..n_layers).flat_map(|layer| (0..12).map(move |row| exit(row, layer)));
        let exits: Vec<EarlyExit> = exits.collect();
        let (last, early) = model.lm.forward_with_exits(&rows, &exits).unwrap();
        assert_eq!((last.n_rows(), early.n_rows()), (12, 12 * n_layers));
        assert_eq!(last, expected, "{name}");
        for (position, token) in tokens.enumerate() {
            let row = row(alone)(token);
            let exits: Vec<EarlyExit> = (0..n_layers).map(|layer| exit(0, layer)).collect();
            let (_, one) = model.lm.forward_with_exits(&[row], &exits).unwrap();
            for layer in 0..n_layers {
                let pairs = one.row(layer).unwrap().iter();
                let pairs = pairs.zip(early.row(layer * 12 + position).unwrap());
                let gap = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(gap < 1e-4, "{name}, layer {layer}: {gap}");
            }
        }
        let beyond = model
            .lm
            .forward_with_exits(&[row(alone)(&3)], &[exit(0, n_layers)]);
        let error = beyond.unwrap_err().to_string();
        assert!(error.contains(&format!("has {n_layers} layers")), "{error}");
    }
}

#[test]
fn texts_are_the_same_beside_others_and_when_continued() {
    let file = cases();
    for case in file["cases"].as_array().unwrap().iter().skip(2).step_by(4) {
        let expected = tokens(&case["tokens"]);
        let mut session = session(case["fixture"].as_str().unwrap());
        let continuation = Continuation {
            kept: expected.iter().take(7).copied().collect(),
            ..Continuation::default()
        };
        let panes = [
            (
                GenerationId(1),
                config(ChainConfig::greedy()),
                Continuation::default(),
            ),
            (GenerationId(2), dola(case), Continuation::default()),
            (
                GenerationId(4),
                config(scaled(2.0, &[1])),
                Continuation::default(),
            ),
            (ID, dola(case), continuation),
        ];
        let prompt = prompt(tokens(&case["prompt"]));
        session.generate_from(prompt, panes, Instant::now());
        let steps = advance(&mut session);
        let of = |wanted: GenerationId| {
            let own = steps.iter().filter(move |(id, _)| *id == wanted);
            own.map(|(_, step)| step.token).collect::<Vec<_>>()
        };
        assert_eq!(of(GenerationId(2)), expected, "{case}");
        assert_eq!(of(ID), expected[7..], "{case}");
        assert_eq!(of(GenerationId(4)).len(), N_TOKENS);
    }
}

/// The state of a recurrent layer can't go back, so the prompt's last token is read again after the
/// ones before it.
#[test]
fn one_layer_with_a_scale_is_guidance_against_its_row() {
    for name in ["llama", "gemma2", "qwen3_5", "granite4-h", "lfm2"] {
        let mut written = session(name);
        let mut text: Vec<TokenId> = [1, 17, 42, 5, 33].map(TokenId).to_vec();
        let settings = config(scaled(1.5, &[1]));
        let panes = [(ID, settings)];
        written.generate(prompt(text.clone()), panes, Instant::now());
        let mut alone = session(name);
        for (_, step) in advance(&mut written) {
            let lm = alone.lm();
            let sequence = lm.open();
            let rows = text.iter().enumerate().map(|(index, token)| Row {
                sequence,
                token: *token,
                logits_wanted: index + 1 == text.len(),
            });
            let exit = EarlyExit {
                row: text.len() - 1,
                n_layers: 1,
            };
            let (last, early) = lm
                .forward_with_exits(&rows.collect::<Vec<_>>(), &[exit])
                .unwrap();
            lm.close(sequence);
            let guidance = scaled(1.5, &[1]).guidance.unwrap();
            let mixed = guidance.mix(last.row(0).unwrap(), early.row(0).unwrap());
            let mixed = mixed.unwrap();
            assert_eq!(other_row(&step).layer, Some(1));
            for ranked in &step.trace.raw.head {
                let expected = mixed[ranked.token.index()];
                let is_same = (ranked.logit - expected).abs() < 1e-3
                    || ranked.logit.total_cmp(&expected).is_eq();
                assert!(is_same, "{name}: {}, not {expected}", ranked.logit);
            }
            text.push(step.token);
        }
        assert_eq!(text.len(), 5 + N_TOKENS);
    }
}

#[test]
fn a_scored_text_is_guided_as_it_was_written() {
    for name in ["gemma2", "granite", "lfm2"] {
        let mut session = session(name);
        let case = serde_json::json!({"prompt": [1], "layers": [0, 1]});
        let steps = write(&mut session, &case);
        let text = [vec![TokenId(1)], written(&steps)].concat();
        let panes = [
            (GenerationId(1), config(ChainConfig::greedy())),
            (GenerationId(2), config(scaled(1.5, &[1]))),
            (ID, dola(&case)),
        ];
        session.score(prompt(text), panes, Instant::now());
        let mut scored = Vec::new();
        while session.is_busy() {
            let mut progress = Vec::new();
            session.advance(&mut progress);
            for progress in progress {
                match progress {
                    Progress::Stepped { id: ID, step } => scored.push(*step),
                    Progress::Finished { reason, .. } => assert_eq!(reason, FinishReason::Scored),
                    _ => {}
                }
            }
        }
        assert_eq!(scored.len(), N_TOKENS);
        for (scored, step) in scored.iter().zip(&steps) {
            let [now, then] = [scored, step].map(|step| step.trace.mixture.as_ref().unwrap());
            assert_eq!(now.other.layer, then.other.layer, "{name}");
            assert!((now.own.prob - then.own.prob).abs() < 1e-5, "{name}");
            assert!((now.other.prob - then.other.prob).abs() < 1e-5, "{name}");
        }
    }
}

#[test]
fn a_sweep_over_the_scale_writes_the_same_texts_as_guided_panes() {
    let mut session = session("gemma2");
    let cells: Vec<ChainConfig> = [0.5, 1.5, 3.0]
        .map(|scale| scaled(scale, &[0, 2]))
        .into_iter()
        .chain([ChainConfig::sampled([])])
        .collect();
    let limits = Limits {
        max_new_tokens: 12,
        ..Limits::default()
    };
    let prompts = ["w3 w14 w15", "w9 w2"].map(PromptText::raw);
    let plan = SweepPlan {
        prompts: prompts.to_vec(),
        cells: cells.clone(),
        limits: limits.clone(),
        seed: 5,
        n_seeds: 3,
        width: 5,
    };
    let texts = swept(&mut session, &plan);
    assert_eq!(texts.len(), 2 * 4 * 3);
    for text in &texts {
        let config = GenerationConfig {
            chain: cells[text.cell].clone(),
            seed: 5 + text.seed as u64,
            limits: limits.clone(),
        };
        let prompt = session.prompt(prompts[text.prompt].clone()).unwrap();
        session.generate(prompt, [(ID, config)], Instant::now());
        let steps: Vec<Step> = advance(&mut session)
            .into_iter()
            .map(|(_, step)| step)
            .collect();
        assert_eq!(text.tokens, written(&steps), "cell {}", text.cell);
    }
}

#[test]
fn models_that_can_t_show_their_layers_say_so() {
    let deep = config(scaled(1.5, &[1, 4]));
    let text = prompt(vec![TokenId(1)]);
    let refusal = |session: &Session| session.check_config(&text, &deep).unwrap_err().to_string();
    assert_eq!(
        refusal(&session("gemma2")),
        "the model has 4 layers, so the early ones are 0 to 3; layer 4 is not one of them"
    );
    for name in ["starcoder2", "gemma3n"] {
        assert_eq!(
            refusal(&session(name)),
            "this model can’t show its early layers; choose other guidance"
        );
    }
    let plan = FuturesPlan {
        text: vec![TokenId(1)],
        n_prompt: 1,
        form: PromptForm::Raw,
        selector_state: SelectorState::default(),
        config: deep,
        n_futures: 2,
        n_tokens: 4,
        width: 2,
    };
    let refused = session("starcoder2").run_job(ID, &plan, None);
    assert!(refused.unwrap_err().to_string().contains("early layers"));
}
