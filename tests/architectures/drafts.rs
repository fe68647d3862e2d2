//! Compares texts generated with drafts with those generated without.

use std::time::Instant;

use quartet::decoding::filters::{Temperature, TopP};
use quartet::decoding::selector::MirostatV2;
use quartet::decoding::{ChainConfig, Drafts, Filter, PromptLookup, Selector, TokenId, Trace};
use quartet::engine::{Progress, Prompt, Session};
use quartet::generation::{
    Continuation, FinishReason, GenerationConfig, GenerationId, Limits, Step,
};

use crate::architectures::fixture::{Fixture, Form};

const ID: GenerationId = GenerationId(1);
const N_TOKENS: usize = 24;

fn config(chain: &ChainConfig, drafts: Option<Drafts>) -> GenerationConfig {
    GenerationConfig {
        chain: ChainConfig {
            drafts,
            ..chain.clone()
        },
        seed: 5,
        limits: Limits {
            max_new_tokens: N_TOKENS,
            ..Limits::default()
        },
    }
}

/// Returns a prompt that partly repeats itself, different for each number.
fn prompt(number: u32) -> Prompt {
    let tokens = (0..8 + number % 5).map(|n| {
        let place = if n > 4 { n - 3 } else { n };
        TokenId((number * 7 + place * place * 11 + 3) % 64)
    });
    Prompt {
        text: String::new(),
        chat: None,
        tokens: tokens.collect(),
    }
}

fn run(
    session: &mut Session,
    prompt: &Prompt,
    config: GenerationConfig,
    continuation: Continuation,
) -> (Vec<Step>, FinishReason) {
    let panes = [(ID, config, continuation)];
    session.generate_from(prompt.clone(), panes, Instant::now());
    let (mut steps, mut finish) = (Vec::new(), None);
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { step, .. } => steps.push(*step),
                Progress::Finished { reason, .. } => finish = Some(reason),
                _ => {}
            }
        }
    }
    (steps, finish.unwrap())
}

fn evidence(steps: &[Step]) -> Vec<(TokenId, &Trace)> {
    let steps = steps.iter();
    steps.map(|step| (step.token, &*step.trace)).collect()
}

fn chains() -> [ChainConfig; 3] {
    let warm = [
        Filter::Temperature(Temperature { temperature: 0.7 }),
        Filter::TopP(TopP { p: 0.9 }),
    ];
    let mirostat = MirostatV2 { tau: 3.0, eta: 0.1 };
    [
        ChainConfig::greedy(),
        ChainConfig::sampled(warm),
        ChainConfig {
            selector: Selector::MirostatV2(mirostat),
            ..ChainConfig::sampled([])
        },
    ]
}

#[test]
fn drafts_change_neither_a_token_nor_a_bit_of_its_evidence() {
    let (mut n_accepted, mut n_rejected) = (0, 0);
    for name in ["llama", "gpt2", "gemma2", "mamba", "falcon_h1"] {
        let model = Fixture::open(name, Form::Newer).model.into_inner();
        let mut session = Session::new(model);
        for (number, chain) in (0..200).zip(chains().iter().cycle()) {
            let prompt = prompt(number);
            let plain = config(chain, None);
            let (expected, expected_finish) =
                run(&mut session, &prompt, plain, Continuation::default());
            for (n_drafts, n_gram) in [(4, 2), (16, 1)] {
                session.clear_prefix_cache();
                let lookup = PromptLookup { n_drafts, n_gram };
                let drafted = config(chain, Some(lookup.into()));
                let (steps, finish) = run(&mut session, &prompt, drafted, Continuation::default());
                assert_eq!(evidence(&steps), evidence(&expected), "{name} {number}");
                assert_eq!(finish, expected_finish, "{name} {number}");
                for step in &steps {
                    let draft = step.draft.unwrap();
                    match draft.token {
                        Some(token) if token == step.token => n_accepted += 1,
                        Some(_) => n_rejected += 1,
                        None => assert_eq!(draft.place, draft.n_drafts),
                    }
                }
            }
        }
    }
    assert!(
        n_accepted > 1000 && n_rejected > 1000,
        "{n_accepted} accepted, {n_rejected} rejected"
    );
}

#[test]
fn drafts_beside_another_pane_and_after_tokens_picked_by_hand_change_nothing() {
    let model = Fixture::open("llama", Form::Newer).model.into_inner();
    let mut session = Session::new(model);
    let [greedy, warm, _] = chains();
    let prompt = prompt(3);
    let continuation = Continuation {
        kept: vec![TokenId(9), TokenId(10)],
        by_hand: vec![TokenId(9), TokenId(11)],
        ..Continuation::default()
    };
    let plain = config(&greedy, None);
    let (expected, _) = run(&mut session, &prompt, plain, continuation.clone());
    session.clear_prefix_cache();
    // The other pane shares every forward pass.
    let other = [(GenerationId(2), config(&warm, None))];
    session.generate(prompt.clone(), other, Instant::now());
    session.advance(&mut Vec::new());
    let drafted = config(&greedy, Some(PromptLookup::USUAL.into()));
    let (steps, _) = run(&mut session, &prompt, drafted, continuation);
    let own: Vec<Step> = steps.into_iter().filter(|s| s.draft.is_some()).collect();
    assert_eq!(evidence(&own), evidence(&expected));
}
