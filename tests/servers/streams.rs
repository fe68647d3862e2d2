//! Streams as real servers send them.

use quartet::decoding::ChainConfig;
use quartet::generation::FinishReason;
use quartet::worker::SampledBy;

use crate::servers::bench::{Bench, Written, config, pane};
use crate::servers::stand_in::{Fault, Kind, StandIn};

/// Generates up to 20 tokens from this response of a server with OpenAI's API.
fn written(body: &'static str) -> Bench {
    let server = StandIn::start(Kind::OpenAi);
    server.fail("/v1/completions", 0, Fault::Raw(body));
    let panes = vec![pane(0, ChainConfig::greedy(), 20)];
    Bench::write(config(&server, SampledBy::Server), panes)
}

fn by_server(word: Option<&str>) -> FinishReason {
    let word = word.map(str::to_owned);
    FinishReason::ByServer { word }
}

#[test]
fn the_whole_text_is_kept_and_the_servers_reason_is_told() {
    let [empty_reason, blank_events, no_reason] = [
        include_str!("streams/finish-empty.sse"),
        include_str!("streams/empty-data.sse"),
        include_str!("streams/no-finish.sse"),
    ];
    for (body, finish) in [
        (empty_reason, Some(by_server(None))),
        (blank_events, Some(FinishReason::EndOfText)),
        (no_reason, Some(by_server(None))),
    ] {
        let bench = written(body);
        let text = &bench.written[0];
        assert_eq!(
            (text.text().as_str(), text.steps.len()),
            (" the cat sat down.", 5)
        );
        assert_eq!(text.finish, finish);
    }
}

#[test]
fn an_unknown_reason_is_shown_in_the_servers_own_word() {
    let bench = written(
        "data: {\"choices\":[{\"text\":\"A\",\"finish_reason\":\"content_filter\"}]}\n\ndata: [DONE]\n\n",
    );
    let text = &bench.written[0];
    assert_eq!(text.finish, Some(by_server(Some("content_filter"))));
    let shown = text.finish.as_ref().map(ToString::to_string);
    assert_eq!(
        shown.as_deref(),
        Some("Ended by the server: \"content_filter\"")
    );
}

#[test]
fn a_text_without_probabilities_is_kept_to_its_end() {
    let bench = written(
        "data: {\"choices\":[{\"text\":\"A\"}]}\n\ndata: {\"choices\":[{\"text\":\" A\"}]}\n\n\
         data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let text: &Written = &bench.written[0];
    assert_eq!(text.text(), "A A");
    assert_eq!(text.finish, Some(FinishReason::EndOfText));
    for step in &text.steps {
        let trace = &step.trace;
        assert_eq!(trace.known_raw_prob(), None);
        assert_eq!(trace.known_entropy_nats(), None);
        assert_eq!(
            (trace.n_known_candidates(), trace.n_known_kept()),
            (None, None)
        );
    }
}

#[test]
fn a_stream_without_its_end_is_a_lost_connection() {
    let bench = written("data: {\"choices\":[{\"text\":\"A\"}]}\n\n");
    let text = &bench.written[0];
    assert_eq!(text.text(), "A");
    assert!(text.error().ends_with("was lost; the text so far is kept"));
}
