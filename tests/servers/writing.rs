//! Texts that are generated over a server.

use std::time::Duration;

use quartet::decoding::{
    ChainConfig, Coins, Detail, History, Picked, SamplerChain, Taken, TokenId,
};
use quartet::generation::{Continuation, FinishReason, GenerationId, PieceKind, PromptText, Step};
use quartet::worker::{PaneRequest, SampledBy, ServerConfig, ServerRequest};

use crate::servers::bench::{Bench, chains, config, pane};
use crate::servers::stand_in::{Fault, KINDS, Kind, StandIn};
use crate::servers::toy_model::{self, END, EURO, ids, log_probs};

/// Returns what the chain generates if it knows every distribution in full. For servers without
/// token ids, `n_before` is 0: they do not count the prompt's tokens.
fn written_here(chain: &ChainConfig, n_tokens: usize, n_before: u64) -> Vec<usize> {
    let mut chain = SamplerChain::new(chain.clone());
    let mut tokens = vec![1, 2, 3, 4];
    for n_done in 0..n_tokens {
        let history = ids(&tokens);
        let coins = Coins {
            seed: 42,
            position: n_before + n_done as u64,
        };
        let row = log_probs(&tokens);
        let sampled = chain
            .sample(&row, History::new(&history, 4), coins)
            .unwrap();
        tokens.push(sampled.token.index());
        if sampled.token.index() == END {
            break;
        }
    }
    tokens.split_off(4)
}

#[test]
fn our_chain_writes_the_same_text_over_llama_server_as_here() {
    let server = StandIn::start(Kind::Llama);
    let panes = (0..).zip(chains()).map(|(id, chain)| pane(id, chain, 24));
    let few = ServerConfig {
        n_probs: Some(8),
        ..config(&server, SampledBy::Chain)
    };
    let bench = Bench::write(few, panes.collect());
    for (text, chain) in bench.written.iter().zip(chains()) {
        let expected: Vec<u32> = written_here(&chain, 24, 4)
            .iter()
            .map(|t| *t as u32)
            .collect();
        assert_eq!(text.tokens(), expected, "{chain}");
        assert!(
            text.steps.iter().all(|step| !step.trace.bounded),
            "it asks for the rest"
        );
        for step in &text.steps {
            let time = step.time;
            assert!(
                time.network_secs.is_some_and(|secs| secs >= 0.0),
                "{time:?}"
            );
            assert!(
                time.forward_secs > 0.0 && time.forward_secs < 0.01,
                "{time:?}"
            );
            assert_eq!(step.trace.raw.n_candidates, 30);
        }
    }
    // A token that eight log-probs decide takes one request.
    let bodies = server.bodies("/completion");
    assert!(
        bodies.iter().any(|body| body["n_probs"] == 30),
        "pure sampling needs them all"
    );
    assert!(bodies.iter().any(|body| body["n_probs"] == 8));
    assert!(bodies.iter().all(|body| body["cache_prompt"] == true));
    let slots: std::collections::BTreeSet<_> = bodies
        .iter()
        .map(|body| body["id_slot"].as_u64().unwrap())
        .collect();
    assert_eq!(slots.len(), 4, "each text has its own slot");
    assert!(
        server.n_most_open() > 1,
        "they are generated at the same time"
    );
    let prompt = bench.prompt.unwrap();
    assert_eq!(prompt.tokens, ids(&[1, 2, 3, 4]));
    assert_eq!(prompt.pieces[1].as_str(), Some(" b"));
    assert_eq!(bench.vocabulary.piece(TokenId(0)).kind, PieceKind::Special);
    assert_eq!(bench.vocabulary.piece(TokenId(0)).as_str(), Some("</s>"));
}

#[test]
fn our_chain_is_exact_on_every_kind_if_the_head_decides() {
    for kind in KINDS {
        let server = StandIn::start(kind);
        for chain in &chains()[..3] {
            let panes = vec![pane(0, chain.clone(), 10)];
            let enough = ServerConfig {
                n_probs: Some(20),
                ..config(&server, SampledBy::Chain)
            };
            let bench = Bench::write(enough, panes);
            let text = &bench.written[0];
            let n_before = if matches!(kind, Kind::Llama | Kind::Vllm) {
                4
            } else {
                0
            };
            let expected = written_here(chain, 10, n_before);
            let is_exact = |step: &&Step| !step.trace.bounded;
            let exact: Vec<&Step> = text.steps.iter().take_while(is_exact).collect();
            assert!(
                exact.len() == 10 || chain.stages.len() > 1,
                "{kind:?} {chain}"
            );
            for (step, expected) in exact.iter().zip(expected) {
                let same_id = step.token.index() == expected;
                let bytes = toy_model::bytes(expected);
                // Servers without ids name tokens by their texts.
                assert!(same_id || n_before == 0, "{kind:?} {chain}");
                assert!(
                    step.piece.bytes == bytes || expected == END,
                    "{kind:?} {chain}"
                );
            }
        }
    }
}

#[test]
fn a_token_that_a_short_head_does_not_decide_is_marked() {
    let server = StandIn::start(Kind::OpenAi);
    let few = ServerConfig {
        n_probs: Some(2),
        ..config(&server, SampledBy::Chain)
    };
    let bench = Bench::write(few, vec![pane(0, ChainConfig::sampled([]), 12)]);
    let text = &bench.written[0];
    let bounded = text.steps.iter().filter(|step| step.trace.bounded);
    assert!(bounded.count() > 0);
    for step in &text.steps {
        let raw = &step.trace.raw;
        assert_eq!(raw.head.len(), 2, "only what the server listed");
        assert_eq!(raw.detail, Detail::HeadOnly);
        let known: f64 = raw.head.iter().map(|known| known.prob).sum();
        assert!(known < 0.99, "the rest is unknown: {known}");
        let own = raw
            .head
            .iter()
            .find(|known| known.token == step.token)
            .unwrap();
        assert!((own.prob - step.trace.raw_prob).abs() < 1e-6);
    }
}

#[test]
fn a_servers_sampler_streams_with_its_probabilities_as_evidence() {
    for kind in KINDS {
        let server = StandIn::start(kind);
        let bench = Bench::write(
            config(&server, SampledBy::Server),
            vec![pane(0, chains()[2].clone(), 12)],
        );
        let text = &bench.written[0];
        assert_eq!(text.finish, Some(FinishReason::MaxTokens), "{kind:?}");
        assert!(
            !text.text().contains(char::REPLACEMENT_CHARACTER),
            "{kind:?}"
        );
        for step in &text.steps {
            let draw = step.trace.draw;
            assert_eq!((draw.picked, draw.coin), (Picked::ByServer, None));
            assert!(step.trace.raw.head.len() >= 5, "{kind:?}");
            assert!(step.trace.raw_prob > 0.0);
        }
        let paths = ["/completion", "/v1/completions", "/api/generate"];
        let n_requests = paths.map(|path| server.bodies(path).len());
        assert_eq!(
            n_requests.iter().sum::<usize>(),
            1,
            "one request for the text"
        );
    }
}

#[test]
fn a_character_split_across_tokens_is_joined() {
    // Greedy decoding may never begin "€", so its first byte is picked by hand.
    for kind in [Kind::Llama, Kind::Vllm] {
        let server = StandIn::start(kind);
        let mut begun = pane(0, ChainConfig::greedy(), 3);
        begun.continuation.by_hand = vec![TokenId(EURO[0] as u32)];
        let bench = Bench::write(config(&server, SampledBy::Chain), vec![begun]);
        let text = &bench.written[0];
        assert_eq!(text.tokens(), EURO.map(|token| token as u32), "{kind:?}");
        assert_eq!(text.text(), "€", "{kind:?}");
        assert_eq!(text.steps[0].trace.draw.picked, Picked::ByHand);
    }
}

#[test]
fn a_stop_sequence_or_an_end_token_ends_a_text_only_after_the_given_tokens() {
    let server = StandIn::start(Kind::Llama);
    let stop = || FinishReason::StopString {
        stop: " x y".to_owned(),
    };
    for sampled_by in [SampledBy::Chain, SampledBy::Server] {
        for (given, n_steps, finish) in [
            (&[24, 25, 1][..], 5, FinishReason::Paused),
            (&[24, 25], 2, stop()),
            (&[END, 1], 5, FinishReason::Paused),
            (&[1, END], 2, FinishReason::EndOfText),
        ] {
            let mut pane = pane(0, ChainConfig::greedy(), 60);
            pane.config.limits.stop_strings = vec![" x y".to_owned()];
            pane.continuation.by_hand = ids(given);
            pane.continuation.pause_after = Some(5);
            let bench = Bench::write(config(&server, sampled_by), vec![pane]);
            let text = &bench.written[0];
            assert_eq!(text.finish, Some(finish), "{given:?}");
            assert_eq!(text.steps.len(), n_steps, "{given:?}");
        }
    }
}

#[test]
fn limits_stop_sequences_and_pauses_end_a_text() {
    let server = StandIn::start(Kind::Llama);
    let greedy = written_here(&ChainConfig::greedy(), 60, 4);
    let stop = String::from_utf8(toy_model::bytes(greedy[3])).unwrap();
    for sampled_by in [SampledBy::Chain, SampledBy::Server] {
        let mut stopped = pane(0, ChainConfig::greedy(), 60);
        stopped.config.limits.stop_strings = vec![stop.clone()];
        let mut paused = pane(1, ChainConfig::greedy(), 60);
        paused.continuation.pause_after = Some(5);
        let full = pane(2, ChainConfig::sampled([]), 1000);
        let bench = Bench::write(config(&server, sampled_by), vec![stopped, paused, full]);
        let finish = |index: usize| bench.written[index].finish.clone().unwrap();
        assert_eq!(finish(0), FinishReason::StopString { stop: stop.clone() });
        assert_eq!(
            bench.written[0].steps.len(),
            1 + greedy.iter().position(|token| *token == greedy[3]).unwrap()
        );
        assert_eq!(finish(1), FinishReason::Paused);
        assert_eq!(bench.written[1].steps.len(), 5);
        let ended = finish(2);
        assert!(
            matches!(
                ended,
                FinishReason::ContextFull | FinishReason::EndOfText | FinishReason::MaxTokens
            ),
            "{ended:?}"
        );
        assert!(bench.written[2].steps.len() <= 60);
    }
}

#[test]
fn a_stop_closes_the_request_and_leaves_the_others() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/completion", 0, Fault::Silence);
    let mut bench = Bench::new(config(&server, SampledBy::Chain));
    bench.generate(vec![pane(0, ChainConfig::greedy(), 4)]);
    bench.collect_until(|_| server.bodies("/completion").len() == 1);
    bench.worker.send(ServerRequest::Stop(GenerationId(0)));
    bench.finish();
    assert_eq!(bench.written[0].finish, Some(FinishReason::Cancelled));
    bench.collect_until(|_| server.n_hung_up() == 1);
    // A stream is closed too, and keeps its text.
    server.fail("/completion", 0, Fault::SilentAfter(3));
    let mut bench = Bench::new(config(&server, SampledBy::Server));
    bench.generate(vec![pane(0, ChainConfig::greedy(), 9)]);
    bench.collect_until(|bench| bench.written[0].steps.len() == 3);
    bench.worker.send(ServerRequest::StopAll);
    bench.finish();
    assert_eq!(bench.written[0].finish, Some(FinishReason::Cancelled));
    bench.collect_until(|_| server.n_hung_up() == 2);
}

#[test]
fn dropping_the_worker_ends_everything() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/v1/models", 0, Fault::Silence);
    let patient = ServerConfig {
        timeout: Duration::from_hours(24),
        ..config(&server, SampledBy::Chain)
    };
    let mut bench = Bench::new(patient);
    bench.generate(vec![pane(0, ChainConfig::greedy(), 4)]);
    bench.collect_until(|_| server.received().len() == 1);
    drop(bench);
    // No time limit hangs up while the test runs.
    while server.n_hung_up() == 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_lost_connection_keeps_the_text_and_can_be_continued() {
    for (kind, sampled_by) in [
        (Kind::Llama, SampledBy::Chain),
        (Kind::Vllm, SampledBy::Chain),
        (Kind::Llama, SampledBy::Server),
        (Kind::Ollama, SampledBy::Server),
    ] {
        let server = StandIn::start(kind);
        let whole = Bench::write(
            config(&server, sampled_by),
            vec![pane(0, ChainConfig::greedy(), 12)],
        );
        let path = match kind {
            Kind::Llama => "/completion",
            Kind::Vllm => "/v1/completions",
            _ => "/api/generate",
        };
        match sampled_by {
            SampledBy::Chain => server.fail(path, 5, Fault::Refused(500, "", "")),
            SampledBy::Server => server.fail(path, 0, Fault::CutAfter(5)),
        }
        let mut bench = Bench::write(
            config(&server, sampled_by),
            vec![pane(0, ChainConfig::greedy(), 12)],
        );
        let finish = bench.written[0].finish.clone().unwrap();
        assert!(finish.can_continue(), "{finish:?}");
        let steps = std::mem::take(&mut bench.written[0].steps);
        assert!(!steps.is_empty() && steps.len() < 12, "{}", steps.len());
        let kept: Vec<TokenId> = steps.iter().map(|step| step.token).collect();
        let last = steps.last().unwrap();
        let rest = PaneRequest {
            continuation: Continuation {
                kept: kept.clone(),
                selector_state: last.trace.selector_state,
                at_secs: last.time.at_secs,
                ..Continuation::default()
            },
            ..pane(0, ChainConfig::greedy(), 12)
        };
        bench.written[0].finish = None;
        bench.worker.send(ServerRequest::Continue {
            prompt: bench.prompt.clone().unwrap(),
            panes: vec![rest],
        });
        bench.finish();
        let continued: Vec<u32> = kept
            .iter()
            .map(|t| t.0)
            .chain(bench.written[0].tokens())
            .collect();
        assert_eq!(
            continued,
            whole.written[0].tokens(),
            "{kind:?} {sampled_by:?}"
        );
        assert!(bench.written[0].steps[0].time.at_secs >= last.time.at_secs);
    }
}

#[test]
fn a_message_is_rendered_by_the_servers_template() {
    let server = StandIn::start(Kind::Llama);
    let mut bench = Bench::new(config(&server, SampledBy::Chain));
    bench
        .written
        .push(crate::servers::bench::Written::default());
    bench.worker.send(ServerRequest::Generate {
        prompt: PromptText::chat(" c d", " a b"),
        panes: vec![pane(0, ChainConfig::greedy(), 2)],
    });
    bench.finish();
    let prompt = bench.prompt.unwrap();
    let chat = prompt.chat.as_ref().unwrap();
    assert_eq!(chat.rendered, " a b c d q");
    assert_eq!(prompt.tokens.len(), 5);
    assert_eq!(bench.written[0].steps.len(), 2);
}

#[test]
fn taking_a_token_needs_no_special_case() {
    // The chain takes a token that the server has picked, as it takes any other.
    let row = log_probs(&[1, 2]);
    let mut chain = SamplerChain::new(ChainConfig::greedy());
    let coins = Coins {
        seed: 1,
        position: 2,
    };
    let taken = chain.take(&row, History::empty(), coins, Taken::ByServer(TokenId(5)));
    let draw = taken.unwrap().trace.draw;
    assert!(draw.is_by_server());
}
