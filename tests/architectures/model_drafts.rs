//! Compares texts drafted by a model with those generated without drafts, and their distribution
//! with the exact one.

use std::time::Instant;

use quartet::decoding::filters::{Temperature, TopK};
use quartet::decoding::{
    Against, ChainConfig, Coins, DraftRule, Drafter, Filter, Guidance, History, ModelDrafts,
    SamplerChain, Selector, TokenId,
};
use quartet::engine::{LoadedModel, Progress, Prompt, Row, Session};
use quartet::generation::{Continuation, GenerationConfig, GenerationId, Limits, Step, Vocabulary};

use crate::architectures::fixture::{Fixture, Form};

const TOKENS: [u32; 5] = [1, 17, 42, 5, 33];

/// The first token after the prompt. It is given, so that the tokens after it are drafted.
const GIVEN: TokenId = TokenId(9);

fn model(name: &str) -> LoadedModel {
    let mut model = Fixture::open(name, Form::Newer).model.into_inner();
    model.end_tokens = Vec::new();
    model
}

/// Returns a session whose second model has different weights, so that its drafts are often wrong.
fn session(name: &str, second: &str) -> Session {
    let mut session = Session::new(model(name));
    session.set_second(Some(model(second))).unwrap();
    session
}

fn prompt(tokens: impl IntoIterator<Item = u32>) -> Prompt {
    Prompt {
        text: String::new(),
        chat: None,
        tokens: tokens.into_iter().map(TokenId).collect(),
    }
}

fn config(chain: &ChainConfig, drafts: Option<ModelDrafts>, seed: u64) -> GenerationConfig {
    GenerationConfig {
        chain: ChainConfig {
            drafts: drafts.map(Into::into),
            ..chain.clone()
        },
        seed,
        limits: Limits {
            max_new_tokens: 16,
            ..Limits::default()
        },
    }
}

/// Runs panes together and returns the steps of each. A pane's id is its index.
fn run(
    session: &mut Session,
    prompt: Prompt,
    panes: Vec<(GenerationConfig, Continuation)>,
) -> Vec<Vec<Step>> {
    let mut texts = vec![Vec::new(); panes.len()];
    let panes = (0..).map(GenerationId).zip(panes);
    let panes: Vec<_> = panes
        .map(|(id, (config, from))| (id, config, from))
        .collect();
    session.generate_from(prompt, panes, Instant::now());
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            if let Progress::Stepped { id, step } = progress {
                texts[id.0 as usize].push(*step);
            }
        }
    }
    texts
}

fn tokens(steps: &[Step]) -> Vec<TokenId> {
    steps.iter().map(|step| step.token).collect()
}

fn chain(selector: Selector) -> ChainConfig {
    let stages = [
        Filter::Temperature(Temperature { temperature: 0.7 }),
        Filter::TopK(TopK { k: 6 }),
    ];
    ChainConfig {
        selector,
        ..ChainConfig::sampled(stages)
    }
}

fn drafts(n_drafts: u32, drafter: Drafter, rule: DraftRule) -> ModelDrafts {
    ModelDrafts {
        n_drafts,
        drafter,
        rule,
    }
}

#[test]
fn drafts_do_not_change_texts_with_the_same_coin_or_greedy_decoding() {
    let (mut n_accepted, mut n_rejected) = (0, 0);
    for (name, second) in [("llama", "gpt2"), ("gpt2", "qwen2")] {
        let mut session = session(name, second);
        for number in 0..100 {
            let greedy = ChainConfig::greedy();
            let prompt = prompt((0..6).map(|n| (number * 7 + n * n * 11 + 3) % 64));
            for (chain, drafts) in [
                (
                    &greedy,
                    drafts(4, Drafter::SecondModel, DraftRule::SameCoin),
                ),
                (&greedy, drafts(4, Drafter::SecondModel, DraftRule::Ratio)),
                (
                    &greedy,
                    drafts(3, Drafter::FirstLayers(1), DraftRule::Ratio),
                ),
                (
                    &chain(Selector::Multinomial),
                    drafts(4, Drafter::SecondModel, DraftRule::SameCoin),
                ),
                (
                    &chain(Selector::GumbelMax),
                    drafts(4, Drafter::FirstLayers(1), DraftRule::SameCoin),
                ),
            ] {
                let panes = [None, Some(drafts)].map(|drafts| {
                    let config = config(chain, drafts, u64::from(number));
                    (config, Continuation::default())
                });
                let texts = run(&mut session, prompt.clone(), panes.into());
                assert_eq!(
                    tokens(&texts[0]),
                    tokens(&texts[1]),
                    "{name} {number} {drafts}"
                );
                for draft in texts[1].iter().filter_map(|step| step.draft) {
                    assert_eq!(draft.draft_prob.is_some(), draft.token.is_some());
                }
                let verdicts = texts[1].iter().filter_map(|step| {
                    let draft = step.draft?.token?;
                    Some(draft == step.token)
                });
                for accepted in verdicts {
                    *(if accepted {
                        &mut n_accepted
                    } else {
                        &mut n_rejected
                    }) += 1;
                }
            }
        }
    }
    assert!(
        n_accepted > 300 && n_rejected > 1000,
        "{n_accepted} accepted, {n_rejected} rejected"
    );
}

/// Panes that use the second model share its forward passes, alongside guided panes and panes that
/// do not use it.
#[test]
fn panes_that_share_a_second_model_write_the_same_texts_as_alone() {
    for (name, second) in [("llama", "gpt2"), ("gpt2", "qwen2")] {
        let mut session = session(name, second);
        let greedy = ChainConfig::greedy();
        let contrast = ChainConfig {
            guidance: Some(Guidance {
                scale: Some(1.7),
                cutoff: 0.05,
                against: Against::Model,
            }),
            ..chain(Selector::Multinomial)
        };
        let by_model = |n, rule| Some(drafts(n, Drafter::SecondModel, rule));
        let configs = [
            config(&greedy, by_model(4, DraftRule::SameCoin), 0),
            config(&chain(Selector::Multinomial), None, 7),
            config(
                &chain(Selector::Multinomial),
                by_model(2, DraftRule::Ratio),
                7,
            ),
            config(&contrast, None, 7),
            config(
                &chain(Selector::GumbelMax),
                by_model(6, DraftRule::SameCoin),
                3,
            ),
            config(
                &greedy,
                Some(drafts(3, Drafter::FirstLayers(1), DraftRule::SameCoin)),
                0,
            ),
        ];
        for number in 0..20 {
            let prompt = prompt((0..3 + number).map(|n| (number * 5 + n * n * 13 + 1) % 64));
            let panes = configs.iter().cloned();
            let panes = panes.map(|config| (config, Continuation::default()));
            let together = run(&mut session, prompt.clone(), panes.collect());
            for (config, together) in configs.iter().zip(&together) {
                let pane = (config.clone(), Continuation::default());
                let alone = run(&mut session, prompt.clone(), vec![pane]);
                let numbers = |step: &Step| (step.token, step.draft, step.trace.raw.clone());
                let [alone, together] = [&alone[0], together]
                    .map(|steps| steps.iter().map(numbers).collect::<Vec<_>>());
                assert_eq!(alone, together, "{name} {number} {:?}", config.chain);
            }
        }
    }
}

/// Returns the probabilities that a chain leaves after these tokens.
fn probs(model: &mut LoadedModel, chain: &ChainConfig, read: &[TokenId]) -> Vec<f64> {
    let sequence = model.lm.open();
    let rows: Vec<Row> = read
        .iter()
        .map(|token| Row {
            sequence,
            token: *token,
            logits_wanted: true,
        })
        .collect();
    let logits = model.lm.forward(&rows).unwrap();
    model.lm.close(sequence);
    let row = logits.row(rows.len() - 1).unwrap();
    let coins = Coins {
        seed: 0,
        position: 0,
    };
    let mut chain = SamplerChain::new(chain.clone());
    chain.probs(row, History::empty(), coins).unwrap()
}

#[test]
fn twenty_thousand_pairs_of_tokens_have_the_exact_distribution() {
    const N: usize = 20_000;
    let chain = chain(Selector::Multinomial);
    let mut read: Vec<TokenId> = TOKENS.map(TokenId).into();
    read.push(GIVEN);
    let (mut main, mut second) = (model("llama"), model("gpt2"));
    let p = probs(&mut main, &chain, &read);
    let q = probs(&mut second, &chain, &read);
    let mut expected = vec![0.0; 64 * 64];
    for (first, prob) in p.iter().enumerate().filter(|(_, prob)| **prob > 0.0) {
        read.push(TokenId(first as u32));
        for (next, then) in probs(&mut main, &chain, &read).iter().enumerate() {
            expected[64 * first + next] = prob * then * N as f64;
        }
        read.pop();
    }

    let mut session = session("llama", "gpt2");
    let mut observed = vec![0.0; 64 * 64];
    let mut n_accepted = 0.0;
    let drafts = drafts(2, Drafter::SecondModel, DraftRule::Ratio);
    for seeds in (0..N as u64).collect::<Vec<_>>().chunks(100) {
        let panes = seeds.iter().map(|seed| {
            let mut config = config(&chain, Some(drafts), *seed);
            config.limits.max_new_tokens = 4;
            let continuation = Continuation {
                by_hand: vec![GIVEN],
                ..Continuation::default()
            };
            (config, continuation)
        });
        for steps in run(&mut session, prompt(TOKENS), panes.collect()) {
            let [_, first, next, _] = steps.as_slice() else {
                panic!("{} steps", steps.len());
            };
            observed[64 * first.token.index() + next.token.index()] += 1.0;
            let draft = first.draft.unwrap();
            n_accepted += f64::from(u32::from(draft.token == Some(first.token)));
            assert!(draft.prob.is_some() && draft.draft_prob.is_some() && draft.coin.is_some());
        }
    }

    let (mut chi_squared, mut n_cells, mut rest) = (0.0, 0.0, (0.0, 0.0));
    for (observed, expected) in observed.iter().zip(&expected) {
        assert!(
            *expected > 0.0 || *observed < 1.0,
            "an impossible pair was drawn"
        );
        if *expected >= 5.0 {
            chi_squared += (observed - expected).powi(2) / expected;
            n_cells += 1.0;
        } else {
            rest = (rest.0 + observed, rest.1 + expected);
        }
    }
    if rest.1 >= 5.0 {
        chi_squared += (rest.0 - rest.1).powi(2) / rest.1;
        n_cells += 1.0;
    }
    let n_free: f64 = n_cells - 1.0;
    // With n degrees of freedom, the mean is n, and the standard deviation is the root of 2n.
    let limit = n_free + 4.0 * (2.0 * n_free).sqrt();
    assert!(
        n_free > 15.0 && chi_squared < limit,
        "{chi_squared} with {n_free} degrees of freedom"
    );
    let overlap: f64 = p.iter().zip(&q).map(|(p, q)| p.min(*q)).sum();
    let accepted = n_accepted / N as f64;
    assert!(
        (accepted - overlap).abs() < 0.015,
        "{accepted} accepted, not {overlap}"
    );
}

#[test]
fn a_second_model_with_another_vocabulary_is_refused() {
    let mut session = Session::new(model("llama"));
    let mut other = model("gpt2");
    let mut pieces: Vec<_> = (0..64)
        .map(|id| other.vocabulary.piece(TokenId(id)))
        .collect();
    pieces.swap(9, 10);
    other.vocabulary = std::sync::Arc::new(Vocabulary::new(pieces));
    let error = session.set_second(Some(other)).unwrap_err().to_string();
    assert!(error.contains("token 9 is"), "{error}");
    let drafts = Some(drafts(4, Drafter::SecondModel, DraftRule::SameCoin));
    let config = config(&ChainConfig::greedy(), drafts, 0);
    let error = session.check_config(&prompt(TOKENS), &config).unwrap_err();
    assert!(error.to_string().contains("--draft-model"), "{error}");
}
