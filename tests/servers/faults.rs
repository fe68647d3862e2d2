//! What can go wrong with a server, and how it is reported.

use std::time::Duration;

use quartet::decoding::ChainConfig;
use quartet::generation::FinishReason;
use quartet::worker::{Key, KeySource, SampledBy, ServerConfig};

use crate::servers::bench::{Bench, config, pane};
use crate::servers::stand_in::{Fault, Kind, StandIn};

fn greedy(config: ServerConfig) -> Bench {
    Bench::write(config, vec![pane(0, ChainConfig::greedy(), 6)])
}

/// Returns a configuration with the shortest limit that a message can name.
fn impatient(server: &StandIn, sampled_by: SampledBy) -> ServerConfig {
    ServerConfig {
        timeout: Duration::from_secs(1),
        ..config(server, sampled_by)
    }
}

/// Generates over a llama-server with a fault, and returns the error, with `HOST` for the server's
/// address.
fn error_after(path: &str, n_before: usize, fault: Fault, sampled_by: SampledBy) -> String {
    let server = StandIn::start(Kind::Llama);
    server.fail(path, n_before, fault);
    let bench = greedy(config(&server, sampled_by));
    let host = server.address.trim_start_matches("http://").to_owned();
    bench.written[0].error().replace(&host, "HOST")
}

#[test]
fn each_fault_has_an_error_message() {
    let page = "<!DOCTYPE html><html><body>It works!</body></html>";
    let overloaded = r#"{"error":{"message":"out of\n  memory","code":500}}"#;
    let rows = [
        (
            Fault::Refused(200, "", page),
            "HOST sent a web page instead of JSON: is this the address of a model server?",
        ),
        (
            Fault::Refused(404, "", page),
            "HOST did not find /completion (404)",
        ),
        (
            Fault::Refused(401, "", "{}"),
            "HOST requires a key (401), but none was given",
        ),
        (
            Fault::Refused(429, "Retry-After: 900\r\n", "{}"),
            "too many requests to HOST (429): try again in 900 seconds",
        ),
        (
            Fault::Refused(500, "", overloaded),
            "HOST returned a server error (500): out of memory",
        ),
        (
            Fault::Refused(503, "", r#"{"error":{"message":"Loading model"}}"#),
            "HOST is not ready (503): Loading model",
        ),
        (
            Fault::Refused(400, "", r#"{"error":{"message":"too long"}}"#),
            "HOST refused the request (400): too long",
        ),
        (
            Fault::Refused(200, "", r#"{"error":{"message":"no slot","code":400}}"#),
            "HOST refused the request (400): no slot",
        ),
        (
            Fault::Refused(302, "Location: https://elsewhere.example/\r\n", ""),
            "HOST redirects to https://elsewhere.example/; use that address",
        ),
        (
            Fault::Replaced("\"id\":", "\"id\":9"),
            "HOST reported token",
        ),
        (
            Fault::Replaced("\"id\":", "\"id\":-"),
            "HOST reported token",
        ),
        (
            Fault::Replaced("\"toy\"", "\"other\""),
            "the model changed from \"toy\" to \"other\" while the text was written",
        ),
        (
            Fault::Replaced("\"logprob\":", "\"logprob\":0,\"before\":"),
            "HOST reported probabilities that add up to",
        ),
    ];
    for sampled_by in [SampledBy::Chain, SampledBy::Server] {
        for (fault, sentence) in &rows {
            let error = error_after("/completion", 0, fault.clone(), sampled_by);
            assert!(
                error.starts_with(sentence),
                "{fault:?} {sampled_by:?}: {error}"
            );
        }
    }
}

#[test]
fn an_unreachable_or_silent_server_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let bench = greedy(ServerConfig::at(address.clone()));
    let expected = format!("could not connect to {address}: is the server running?");
    assert_eq!(bench.written[0].error(), expected);

    let server = StandIn::start(Kind::Llama);
    server.fail("/completion", 2, Fault::Silence);
    let bench = greedy(impatient(&server, SampledBy::Chain));
    assert!(
        bench.written[0]
            .error()
            .ends_with("sent no token for 1 s; the text so far is kept")
    );
    assert_eq!(bench.written[0].steps.len(), 2);
}

/// A server that never stops sending bytes ends a text only by the limit on time without a token.
#[test]
fn a_server_that_drips_for_ever_does_not_hold_a_text() {
    let (ping, blank) = (": ping\n\n", "data:\n\n");
    let empty_choice = "data: {\"choices\":[{\"text\":\"\"}]}\n\n";
    for (kind, path, drip) in [
        (Kind::Llama, "/completion", ping),
        (Kind::Llama, "/completion", "data: {\"content\":\"\"}\n\n"),
        (Kind::Vllm, "/v1/completions", blank),
        (Kind::OpenAi, "/v1/completions", empty_choice),
        (Kind::OpenAi, "/v1/completions", " "),
        (Kind::Ollama, "/api/generate", "\n"),
        (Kind::Ollama, "/api/generate", "{\"response\":\"\"}\n"),
    ] {
        let server = StandIn::start(kind);
        server.fail(path, 0, Fault::DripAfter(3, drip));
        let bench = greedy(impatient(&server, SampledBy::Server));
        let text = &bench.written[0];
        assert!(
            text.error()
                .ends_with("sent no token for 1 s; the text so far is kept"),
            "{kind:?} {drip:?}: {}",
            text.error()
        );
        assert!(text.steps.len() >= 2, "{kind:?} {drip:?}");
    }
}

#[test]
fn a_response_that_drips_for_ever_does_not_hold_a_step() {
    for (kind, path) in [
        (Kind::Llama, "/completion"),
        (Kind::Vllm, "/v1/completions"),
        (Kind::Ollama, "/api/generate"),
        (Kind::OpenAi, "/v1/completions"),
    ] {
        let server = StandIn::start(kind);
        server.fail(path, 2, Fault::DripAfter(0, " "));
        let bench = greedy(impatient(&server, SampledBy::Chain));
        let text = &bench.written[0];
        assert!(
            text.error()
                .ends_with("sent no token for 1 s; the text so far is kept"),
            "{kind:?}: {}",
            text.error()
        );
        assert_eq!(text.steps.len(), 2, "{kind:?}");
    }
}

#[test]
fn a_stream_that_is_cut_in_the_middle_of_a_line_is_a_lost_connection() {
    for (kind, path) in [
        (Kind::Llama, "/completion"),
        (Kind::Vllm, "/v1/completions"),
        (Kind::Ollama, "/api/generate"),
        (Kind::OpenAi, "/v1/completions"),
    ] {
        let server = StandIn::start(kind);
        server.fail(path, 0, Fault::CutAfter(4));
        let bench = greedy(config(&server, SampledBy::Server));
        let text = &bench.written[0];
        assert!(
            text.error().ends_with("was lost; the text so far is kept"),
            "{}",
            text.error()
        );
        assert!(text.steps.len() >= 2 && text.steps.len() <= 4, "{kind:?}");
    }
}

#[test]
fn a_request_to_a_busy_server_is_retried() {
    let server = StandIn::start(Kind::Llama);
    server.fail(
        "/completion",
        1,
        Fault::Refused(429, "Retry-After: 1\r\n", "{}"),
    );
    let bench = greedy(config(&server, SampledBy::Chain));
    assert_eq!(bench.written[0].finish, Some(FinishReason::MaxTokens));
}

#[test]
fn a_key_is_sent_and_never_shown() {
    let server = StandIn::start(Kind::Llama);
    let echo = r#"{"error":{"message":"sk-very-secret has no access to this model"}}"#;
    server.fail("/completion", 0, Fault::Refused(400, "", echo));
    let with_key = ServerConfig {
        key: Some(KeySource::Typed(Key::new("sk-very-secret"))),
        ..config(&server, SampledBy::Chain)
    };
    let bench = greedy(with_key.clone());
    let error = bench.written[0].error();
    assert!(error.ends_with("… has no access to this model"), "{error}");
    let sent = server.received();
    assert!(
        sent.iter()
            .all(|request| request.headers["authorization"] == "Bearer sk-very-secret")
    );
    server.fail("/v1/models", 0, Fault::Refused(401, "", "{}"));
    let bench = greedy(with_key);
    assert!(bench.written[0].error().ends_with("refused the key (401)"));
}

#[test]
fn the_error_for_a_missing_model_lists_the_available_ones() {
    let server = StandIn::start(Kind::Llama);
    let wrong = ServerConfig {
        model: Some("large".to_owned()),
        ..config(&server, SampledBy::Chain)
    };
    let bench = greedy(wrong);
    assert!(
        bench.written[0]
            .error()
            .ends_with("has no model \"large\"; it serves toy")
    );
}

#[test]
fn what_needs_more_than_a_head_is_refused() {
    for (settings, kind, sentence) in [
        (
            "beams 2",
            Kind::Llama,
            "beam search needs a model on this computer",
        ),
        (
            "greedy, drafts 4 ngram 2",
            Kind::Llama,
            "speculative decoding needs a model on this computer",
        ),
        ("bias 3 +2", Kind::OpenAi, "needs token ids"),
        (
            "grammar regex \"[a-z ]*\"",
            Kind::Llama,
            "a grammar needs the whole vocabulary",
        ),
    ] {
        let settings: quartet::generation::PaneSettings = settings.parse().unwrap();
        let server = StandIn::start(kind);
        let bench = Bench::write(
            config(&server, SampledBy::Chain),
            vec![pane(0, settings.chain, 4)],
        );
        let error = bench.written[0].error();
        assert!(error.contains(sentence), "{error}");
    }
}
