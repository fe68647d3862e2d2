//! Multi-token-prediction heads: that they predict what the references do, however the text was read,
//! and that their drafts change nothing but the speed.

use std::collections::HashMap;
use std::time::Instant;

use candle_core::{Device, Tensor};
use quartet::decoding::filters::{Temperature, TopK};
use quartet::decoding::{
    ChainConfig, DraftRule, Drafter, Filter, ModelDrafts, Selector, TokenId, Trace,
};
use quartet::engine::{CausalLm, EngineError, Progress, Prompt, Row, SequenceId, Session};
use quartet::generation::{Continuation, GenerationConfig, GenerationId, Limits, Step};

use crate::architectures::TOLERANCE;
use crate::architectures::fixture::{Fixture, Form, copy, open_folder, read};

/// The fixtures of `make_mtp.py`.
const NAMES: [&str; 3] = ["glm4_moe-mtp", "qwen3_5-mtp", "qwen3_5_moe-mtp"];
const FORMS: [Form; 3] = [Form::Newer, Form::Older, Form::Gguf];

/// What the head of a fixture must predict.
struct Expected {
    tokens: Vec<TokenId>,
    /// After each pair of a hidden state and the token that follows it.
    logits: Vec<Vec<f32>>,
    /// After the prompt, one row for each draft.
    drafts: Vec<Vec<f32>>,
    n_prompt: usize,
}

impl Expected {
    fn of(name: &str, form: Form) -> Self {
        let bytes = read(name, "expected.safetensors");
        let stored: HashMap<String, Tensor> =
            candle_core::safetensors::load_buffer(&bytes, &Device::Cpu).unwrap();
        let rows = |name: &str| {
            let in_gguf = stored.get(&format!("gguf_{name}"));
            let rows = in_gguf.filter(|_| form == Form::Gguf).or(stored.get(name));
            rows.unwrap().to_vec2().unwrap()
        };
        let tokens: Vec<i64> = stored["mtp_tokens"].to_vec1().unwrap();
        Self {
            tokens: tokens
                .into_iter()
                .map(|token| TokenId(u32::try_from(token).unwrap()))
                .collect(),
            logits: rows("mtp_logits"),
            drafts: rows("mtp_drafts"),
            n_prompt: stored["prompt"].elem_count(),
        }
    }
}

fn feed(lm: &mut dyn CausalLm, sequence: SequenceId, tokens: &[TokenId]) {
    let rows = tokens.iter().map(|token| Row {
        sequence,
        token: *token,
        logits_wanted: false,
    });
    lm.forward(&rows.collect::<Vec<Row>>()).unwrap();
}

fn draft(lm: &mut dyn CausalLm, sequence: SequenceId, token: TokenId, n: usize) -> Vec<f32> {
    let logits = lm.draft_with_mtp_head(sequence, token, n).unwrap();
    logits.row(0).unwrap().to_vec()
}

#[track_caller]
fn assert_near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let difference = (found - expected).abs();
        assert!(difference < TOLERANCE, "{what}: {difference}");
    }
}

#[test]
fn heads_predict_what_the_references_do() {
    for name in NAMES {
        for form in FORMS {
            let expected = Expected::of(name, form);
            let mut model = Fixture::open(name, form).model.into_inner();
            let lm = model.lm.as_mut();
            assert!(lm.has_mtp_head(), "{name}");
            lm.keep_hidden_states();
            let sequence = lm.open();
            for (index, pair) in expected.tokens.windows(2).enumerate() {
                feed(lm, sequence, &pair[..1]);
                let found = draft(lm, sequence, pair[1], 0);
                let what = format!("{name}, {form:?}, {index}");
                assert_near(&found, &expected.logits[index], &what);
            }
        }
    }
}

#[test]
fn a_head_goes_on_from_its_own_output() {
    for name in NAMES {
        for form in FORMS {
            let expected = Expected::of(name, form);
            let mut model = Fixture::open(name, form).model.into_inner();
            let lm = model.lm.as_mut();
            let sequence = lm.open();
            let (before, last) = expected.tokens.split_at(expected.n_prompt - 1);
            feed(lm, sequence, before);
            // Twice, because drafts must leave no trace.
            for _ in 0..2 {
                let mut token = last[0];
                for (n, expected) in expected.drafts.iter().enumerate() {
                    let found = draft(lm, sequence, token, n);
                    assert_near(&found, expected, &format!("{name}, {form:?}, draft {n}"));
                    let best = (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b]));
                    token = TokenId(best.unwrap() as u32);
                }
            }
        }
    }
}

/// Long texts are read in several chunks, and the head follows them in several.
#[test]
fn predictions_do_not_depend_on_how_a_text_was_read() {
    for name in NAMES {
        let expected = Expected::of(name, Form::Newer);
        let (tokens, n) = (&expected.tokens, expected.tokens.len() - 1);
        let mut model = Fixture::open(name, Form::Newer).model.into_inner();
        let lm = model.lm.as_mut();
        let unfollowed = lm.open();
        feed(lm, unfollowed, &tokens[..n]);
        let wanted = draft(lm, unfollowed, tokens[n], 0);
        lm.keep_hidden_states();
        for n_chunk in [1, 7, n] {
            let sequence = lm.open();
            for chunk in tokens[..n].chunks(n_chunk) {
                feed(lm, sequence, chunk);
            }
            assert_eq!(
                draft(lm, sequence, tokens[n], 0),
                wanted,
                "{name}, {n_chunk}"
            );
            let fork = lm.fork(sequence).unwrap();
            assert_eq!(draft(lm, fork, tokens[n], 0), wanted, "{name}, fork");
            // Near and far back.
            for n_kept in [n - 1, n - 9, 20, 0] {
                lm.truncate(fork, n_kept).unwrap();
                feed(lm, fork, &tokens[3..6]);
                draft(lm, fork, tokens[9], 0);
                draft(lm, fork, tokens[8], 1);
                lm.truncate(fork, n_kept).unwrap();
                feed(lm, fork, &tokens[n_kept..n]);
                assert_eq!(draft(lm, fork, tokens[n], 0), wanted, "{name}, {n_kept}");
            }
            assert_eq!(draft(lm, sequence, tokens[n], 0), wanted, "{name}, parent");
        }
    }
}

fn drafts(n_drafts: u32, rule: DraftRule) -> ModelDrafts {
    ModelDrafts {
        n_drafts,
        drafter: Drafter::MtpHead,
        rule,
    }
}

fn config(chain: &ChainConfig, drafts: Option<ModelDrafts>) -> GenerationConfig {
    GenerationConfig {
        chain: ChainConfig {
            drafts: drafts.map(Into::into),
            ..chain.clone()
        },
        seed: 5,
        limits: Limits {
            max_new_tokens: 32,
            ..Limits::default()
        },
    }
}

/// Runs panes together and returns the steps of each. A pane's id is its index.
fn run(session: &mut Session, prompt: &Prompt, panes: Vec<GenerationConfig>) -> Vec<Vec<Step>> {
    let mut texts = vec![Vec::new(); panes.len()];
    let panes = (0..).map(GenerationId).zip(panes);
    let panes = panes.map(|(id, config)| (id, config, Continuation::default()));
    session.generate_from(prompt.clone(), panes, Instant::now());
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { id, step } => texts[id.0 as usize].push(*step),
                Progress::Finished { reason, .. } => {
                    assert!(!format!("{reason:?}").contains("Failed"), "{reason:?}");
                }
                _ => {}
            }
        }
    }
    texts
}

fn evidence(steps: &[Step]) -> Vec<(TokenId, &Trace)> {
    let steps = steps.iter();
    steps.map(|step| (step.token, &*step.trace)).collect()
}

#[test]
fn drafts_of_a_head_change_neither_a_token_nor_a_bit_of_its_evidence() {
    let (mut n_accepted, mut n_rejected) = (0, 0);
    let warm = [
        Filter::Temperature(Temperature { temperature: 0.7 }),
        Filter::TopK(TopK { k: 6 }),
    ];
    let chains = [
        ChainConfig::greedy(),
        ChainConfig::sampled(warm.clone()),
        ChainConfig {
            selector: Selector::GumbelMax,
            ..ChainConfig::sampled(warm)
        },
    ];
    for name in NAMES {
        let mut model = Fixture::open(name, Form::Gguf).model.into_inner();
        model.end_tokens = Vec::new();
        let mut session = Session::new(model);
        for number in 0..40 {
            let tokens = (0..8 + number % 5).map(|n| TokenId((number * 7 + n * n * 11 + 3) % 64));
            let prompt = Prompt {
                text: String::new(),
                chat: None,
                tokens: tokens.collect(),
            };
            for chain in &chains {
                let plain = run(&mut session, &prompt, vec![config(chain, None)]);
                session.clear_prefix_cache();
                // Two panes that draft, beside one that does not.
                let same = |n| Some(drafts(n, DraftRule::SameCoin));
                let panes = [same(1), same(4), None].map(|drafts| config(chain, drafts));
                let texts = run(&mut session, &prompt, panes.into());
                for steps in &texts {
                    assert_eq!(evidence(steps), evidence(&plain[0]), "{name} {number}");
                }
                for draft in texts[1]
                    .iter()
                    .filter_map(|step| step.draft?.token.zip(Some(step)))
                {
                    *(if draft.0 == draft.1.token {
                        &mut n_accepted
                    } else {
                        &mut n_rejected
                    }) += 1;
                }
            }
            let ratio = config(&chains[0], Some(drafts(3, DraftRule::Ratio)));
            let plain = config(&chains[0], None);
            let texts = run(&mut session, &prompt, vec![ratio, plain]);
            let tokens = |index: usize| texts[index].iter().map(|step| step.token);
            assert!(tokens(0).eq(tokens(1)), "{name} {number}");
        }
    }
    // Random heads are nearly always wrong.
    assert!(
        n_accepted > 20 && n_rejected > 1000,
        "{n_accepted} {n_rejected}"
    );
}

/// GLM-4.5's head comes with copies of the embedding table and the output head.
#[test]
fn copies_of_tables_in_a_head_are_ignored_in_silence() {
    let name = NAMES[0];
    let folder = tempfile::tempdir().unwrap();
    copy(name, &["config.json"], folder.path());
    let weights = read(name, "model.safetensors");
    let mut weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    for (from, to) in [
        ("model.embed_tokens", "embed_tokens"),
        ("lm_head", "shared_head.head"),
    ] {
        let table = weights[&format!("{from}.weight")].clone();
        weights.insert(format!("model.layers.2.{to}.weight"), table);
    }
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    let model = open_folder(folder.path());
    assert_eq!(model.load_warning, None);
    assert!(model.lm.has_mtp_head());
}

#[test]
fn a_model_without_a_head_says_so() {
    // Of the last, the file has a part of the block only.
    for name in ["llama", "qwen3_5", "qwen3_5_moe", "glm4_moe"] {
        for form in [Form::Newer, Form::Gguf] {
            let model = Fixture::open(name, form).model.into_inner();
            assert!(!model.lm.has_mtp_head(), "{name}, {form:?}");
            let mut session = Session::new(model);
            let prompt = Prompt {
                text: String::new(),
                chat: None,
                tokens: vec![TokenId(5)],
            };
            let drafted = config(&ChainConfig::greedy(), Some(drafts(2, DraftRule::SameCoin)));
            let error = session.check_config(&prompt, &drafted).unwrap_err();
            assert!(matches!(error, EngineError::NoMtpHead), "{name}: {error}");
            let lm = session.lm();
            let sequence = lm.open();
            feed(lm, sequence, &prompt.tokens);
            let refused = lm.draft_with_mtp_head(sequence, TokenId(4), 0);
            assert!(matches!(refused, Err(EngineError::NoMtpHead)), "{name}");
        }
    }
}
