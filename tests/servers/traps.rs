//! Surprising behavior of each kind of server.

use quartet::decoding::filters::Temperature;
use quartet::decoding::{ChainConfig, Filter, TokenId};
use quartet::generation::FinishReason;
use quartet::worker::{SampledBy, ServerConfig, ServerEvent, ServerKind, ServerRequest};

use crate::servers::bench::{Bench, Written, chains, config, pane};
use crate::servers::stand_in::{Fault, KINDS, Kind, StandIn};
use crate::servers::toy_model::EURO;

#[test]
fn llama_server_with_drafts_reports_no_probabilities() {
    // It then sends an empty list and a log-prob of 0 for each token.
    let server = StandIn::start(Kind::Llama);
    let drafted = "data: {\"content\":\" a\",\"tokens\":[5],\"stop\":false,\"completion_probabilities\":\
                   [{\"id\":5,\"logprob\":0.0,\"top_logprobs\":[]}]}\n\n\
                   data: {\"content\":\"\",\"stop\":true,\"stop_type\":\"limit\"}\n\n";
    server.fail("/completion", 0, Fault::Raw(drafted));
    let bench = Bench::write(
        config(&server, SampledBy::Server),
        vec![pane(0, ChainConfig::greedy(), 1)],
    );
    let text = &bench.written[0];
    assert_eq!(text.text(), " a");
    assert_eq!(text.finish, Some(FinishReason::MaxTokens));
    assert_eq!(text.steps[0].trace.known_raw_prob(), None);
    // Quartet's chain can't choose without them.
    let server = StandIn::start(Kind::Llama);
    server.fail(
        "/completion",
        0,
        Fault::Replaced("top_logprobs", "top_logprobs_of_nothing"),
    );
    let bench = Bench::write(
        config(&server, SampledBy::Chain),
        vec![pane(0, ChainConfig::greedy(), 4)],
    );
    let error = bench.written[0].error();
    assert!(
        error.contains("reported no probabilities for token 1, and Quartet’s chain needs them"),
        "{error}"
    );
}

#[test]
fn llama_server_is_asked_for_probabilities_before_sampling() {
    // The probabilities after sampling omit all that are zero.
    for sampled_by in [SampledBy::Chain, SampledBy::Server] {
        let server = StandIn::start(Kind::Llama);
        Bench::write(
            config(&server, sampled_by),
            vec![pane(0, chains()[2].clone(), 3)],
        );
        let bodies = server.bodies("/completion");
        assert!(
            bodies
                .iter()
                .all(|body| body["post_sampling_probs"] == false)
        );
    }
}

#[test]
fn what_llama_server_was_started_with_does_not_join_the_settings() {
    // A server may have been started with other samplers, which apply wherever a request is silent.
    let server = StandIn::start(Kind::Llama);
    Bench::write(
        config(&server, SampledBy::Server),
        vec![pane(0, chains()[2].clone(), 3)],
    );
    let bodies = server.bodies("/completion");
    assert_eq!(bodies.len(), 1);
    for name in ["xtc_probability", "dry_multiplier", "presence_penalty"] {
        assert_eq!(bodies[0][name], 0.0, "{name}");
    }
    assert_eq!(bodies[0]["mirostat"], 0);
    let order = bodies[0]["samplers"].as_array().unwrap();
    assert!(order.contains(&"temperature".into()), "{order:?}");
}

#[test]
fn llama_server_has_two_names_for_its_probabilities() {
    let server = StandIn::start(Kind::Llama);
    let greedy = || vec![pane(0, ChainConfig::greedy(), 1)];
    let usual = Bench::write(config(&server, SampledBy::Chain), greedy());
    server.fail(
        "/completion",
        0,
        Fault::Replaced("completion_probabilities", "probs"),
    );
    let as_documented = Bench::write(config(&server, SampledBy::Chain), greedy());
    assert_eq!(usual.written[0].tokens(), as_documented.written[0].tokens());
}

#[test]
fn a_part_of_a_character_does_not_hide_the_probabilities() {
    // llama-server lists no probabilities for a token that ends within a character, so a bias
    // makes it choose another one: reported probabilities don't include biases.
    let server = StandIn::start(Kind::Llama);
    let mut begun = pane(0, ChainConfig::greedy(), 3);
    begun.continuation.by_hand = vec![TokenId(EURO[0] as u32)];
    let bench = Bench::write(config(&server, SampledBy::Chain), vec![begun]);
    assert_eq!(bench.written[0].text(), "€");
    let bodies = server.bodies("/completion");
    assert!(bodies.iter().any(|body| body["logit_bias"].is_array()));
    let second = &bench.written[0].steps[1].trace;
    assert!(
        second.raw_prob > 0.9,
        "as if there were no bias: {}",
        second.raw_prob
    );
}

/// A response of llama-server with a character of several tokens: it lists only the last one and its
/// probability, beside the text of all.
const WITH_EURO: &str = "data: {\"content\":\"€\",\"tokens\":[29],\"tokens_predicted\":3,\"stop\":false,\
     \"completion_probabilities\":[{\"id\":29,\"bytes\":[226,130,172],\"logprob\":-0.1,\
     \"top_logprobs\":[{\"id\":29,\"bytes\":[172],\"logprob\":-0.1}]}]}\n\n\
     data: {\"content\":\" a\",\"tokens\":[1],\"tokens_predicted\":4,\"stop\":false,\
     \"completion_probabilities\":[{\"id\":1,\"bytes\":[32,97],\"logprob\":-0.5,\
     \"top_logprobs\":[{\"id\":1,\"bytes\":[32,97],\"logprob\":-0.5}]}]}\n\n\
     data: {\"content\":\"\",\"stop\":true,\"stop_type\":\"limit\"}\n\n";

#[test]
fn all_tokens_of_a_character_are_recorded_and_continued() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/completion", 0, Fault::Raw(WITH_EURO));
    let four_tokens = pane(0, ChainConfig::greedy(), 4);
    let mut bench = Bench::write(config(&server, SampledBy::Server), vec![four_tokens]);
    let text = &bench.written[0];
    assert_eq!(text.text(), "€ a");
    assert_eq!(text.tokens(), [27, 28, 29, 1]);
    assert_eq!(text.finish, Some(FinishReason::MaxTokens));
    let probs = text.steps.iter().map(|step| step.trace.known_raw_prob());
    let probs: Vec<_> = probs.collect();
    assert_eq!(probs[..2], [None, None]);
    // What was reported beside the text of all tokens is the probability of the last one.
    for (prob, log_prob) in probs[2..].iter().zip([-0.1_f64, -0.5]) {
        assert!((prob.unwrap() - log_prob.exp()).abs() < 1e-6, "{probs:?}");
    }
    let mut rest = pane(0, ChainConfig::greedy(), 5);
    rest.continuation.kept = text.steps.iter().map(|step| step.token).collect();
    bench.written[0].finish = None;
    bench.worker.send(ServerRequest::Continue {
        prompt: bench.prompt.clone().unwrap(),
        panes: vec![rest],
    });
    bench.finish();
    let bodies = server.bodies("/completion");
    let sent = bodies[1]["prompt"].as_array().unwrap();
    assert_eq!(sent[sent.len() - 4..], [27, 28, 29, 1]);
}

#[test]
fn a_character_of_unknown_tokens_does_not_get_the_probability_of_its_last() {
    // The server can't tokenize, or its tokens are not those that it wrote: other bytes, another
    // last one, a different number.
    for fault in [
        Fault::Refused(500, "", ""),
        Fault::Replaced("[226]", "\"x\""),
        Fault::Replaced("\"id\":29", "\"id\":5"),
        Fault::Replaced("{\"id\":27,\"piece\":[226]},", ""),
    ] {
        let server = StandIn::start(Kind::Llama);
        server.fail("/completion", 0, Fault::Raw(WITH_EURO));
        // The prompt is tokenized first.
        server.fail("/tokenize", 1, fault);
        let four_tokens = pane(0, ChainConfig::greedy(), 4);
        let bench = Bench::write(config(&server, SampledBy::Server), vec![four_tokens]);
        let text = &bench.written[0];
        assert_eq!(text.text(), "€ a");
        let probs = text.steps.iter().map(|step| step.trace.known_raw_prob());
        let probs: Vec<_> = probs.collect();
        assert_eq!(probs[0], None);
        assert!(
            (probs[1].unwrap() - (-0.5_f64).exp()).abs() < 1e-6,
            "{probs:?}"
        );
        assert_eq!(text.finish, Some(FinishReason::MaxTokens));
    }
}

#[test]
fn servers_without_ids_cannot_continue_after_a_part_of_a_character() {
    for kind in [Kind::Ollama, Kind::OpenAi] {
        let server = StandIn::start(kind);
        // At this temperature, some text takes the first byte of "€".
        let hot = ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 9.0 })]);
        let seeds = (0..12).map(|seed| {
            let mut pane = pane(seed, hot.clone(), 6);
            pane.config.seed = seed;
            pane
        });
        let with_probs = ServerConfig {
            n_probs: Some(30),
            ..config(&server, SampledBy::Chain)
        };
        let bench = Bench::write(with_probs, seeds.collect());
        let cut = bench.written.iter().filter(|text| {
            text.steps
                .last()
                .is_some_and(|last| last.piece.bytes == [0xE2])
                && text.steps.len() < 6
        });
        let cut: Vec<&str> = cut.map(Written::error).collect();
        assert!(!cut.is_empty(), "{kind:?}");
        for error in cut {
            assert!(
                error.starts_with("the token is part of a character"),
                "{error}"
            );
            assert!(
                error.ends_with("let its own sampler choose the tokens"),
                "{error}"
            );
        }
    }
}

#[test]
fn vllm_may_report_the_sampled_token_on_top_of_the_n_most_likely() {
    // The token that the stand-in samples has rank 26.
    let server = StandIn::start(Kind::Vllm);
    let ten = ServerConfig {
        n_probs: Some(10),
        ..config(&server, SampledBy::Chain)
    };
    let bench = Bench::write(ten, vec![pane(0, ChainConfig::greedy(), 6)]);
    for step in &bench.written[0].steps {
        assert_eq!(step.trace.raw.head.len(), 10, "it is not part of the head");
    }
    assert!(server.bodies("/v1/completions").iter().all(|body| {
        body["return_token_ids"] == true && body["return_tokens_as_token_ids"] == true
    }));
}

#[test]
fn minus_9999_is_not_a_log_prob() {
    let server = StandIn::start(Kind::OpenAi);
    // Every log-prob that begins with −2 becomes −9999.
    for _ in 0..20 {
        server.fail("/v1/completions", 0, Fault::Replaced(":-2.", ":-9999."));
    }
    let twenty = ServerConfig {
        n_probs: Some(20),
        ..config(&server, SampledBy::Chain)
    };
    let bench = Bench::write(twenty, vec![pane(0, ChainConfig::greedy(), 6)]);
    let heads = bench.written[0]
        .steps
        .iter()
        .map(|step| &step.trace.raw.head);
    for head in heads {
        assert!(head.iter().all(|known| known.logit > -100.0));
    }
}

#[test]
fn a_server_is_recognized_by_its_responses() {
    let kinds = [
        ServerKind::LlamaServer,
        ServerKind::Vllm,
        ServerKind::Ollama,
        ServerKind::OpenAi,
    ];
    for (kind, expected) in KINDS.into_iter().zip(kinds) {
        let server = StandIn::start(kind);
        // With and without the path of OpenAI's API, which Ollama supports too.
        for path in ["", "/", "/v1"] {
            let there = ServerConfig::at(format!("{}{path}", server.address));
            let mut bench = Bench::new(there);
            bench.worker.send(ServerRequest::Connect);
            let event = bench.next();
            let ServerEvent::Connected { server, model, .. } = event else {
                panic!("{event:?}");
            };
            assert_eq!((server.kind, server.model.as_str()), (expected, "toy"));
            assert_eq!(model.name, "toy");
            assert!(
                model.device.starts_with(expected.name()),
                "{}",
                model.device
            );
        }
    }
}

#[test]
fn a_service_that_lists_no_models_needs_a_kind_and_a_model() {
    let server = StandIn::start(Kind::OpenAi);
    server.fail("/v1/models", 0, Fault::Refused(404, "", "{}"));
    let named = ServerConfig {
        kind: Some(ServerKind::OpenAi),
        model: Some("toy".to_owned()),
        ..config(&server, SampledBy::Chain)
    };
    let bench = Bench::write(named, vec![pane(0, ChainConfig::greedy(), 3)]);
    assert_eq!(bench.written[0].steps.len(), 3);
}

#[test]
fn nothing_is_contacted_before_a_request() {
    let server = StandIn::start(Kind::Llama);
    // Dropping a worker joins its threads.
    drop(Bench::new(config(&server, SampledBy::Chain)));
    assert!(server.received().is_empty());

    // The first request that arrives is refused: it must be the one that the test asks for.
    server.fail("/", 0, Fault::Refused(401, "", "{}"));
    let mut bench = Bench::new(config(&server, SampledBy::Chain));
    bench.worker.send(ServerRequest::Connect);
    let event = bench.next();
    assert!(
        matches!(event, ServerEvent::ConnectFailed { .. }),
        "{event:?}"
    );
    drop(bench);
    assert_eq!(server.received().len(), 1);
}
