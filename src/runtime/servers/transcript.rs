//! Reads the bytes of a response without a server, in the way in which those of a server are read.

use super::distribution::{Reported, checked};
use super::events::{EventReader, Received};
use super::peer::Peer;
use super::request::StreamEnd;
use super::served::Served;
use super::{ServerError, ServerInfo, ServerKind};
use crate::decoding::{ChainConfig, Coins, History, SamplerChain, Taken, TokenId, Trace};

/// The text of a response, as far as it could be read.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    pub text: Vec<u8>,
    /// How each token was recorded.
    pub traces: Vec<Trace>,
    /// The server's reason to end the text; `None` if it gave none, or was cut off.
    pub finish: Option<String>,
    /// Why the rest of the response was not read.
    pub error: Option<ServerError>,
    /// How many tokens the server has chosen, as far as it says.
    n_chosen: usize,
}

impl Transcript {
    /// Reads a streamed response that arrives in parts of this size.
    pub fn of_stream(kind: ServerKind, n_vocab: usize, bytes: &[u8], size: usize) -> Self {
        let served = served(kind, n_vocab);
        let mut transcript = Self::default();
        let mut events = EventReader::new(&served.peer);
        let parts = bytes.chunks(size.max(1));
        let arrivals = parts.map(Some).chain([None]);
        for part in arrivals {
            let arrived = match part {
                Some(part) => events.push(part),
                None => events.close(),
            };
            while let Some(received) = events.next() {
                match transcript.read(&served, received) {
                    Ok(false) => {}
                    Ok(true) => return transcript,
                    Err(error) => return transcript.failed(error),
                }
            }
            if let Err(error) = arrived {
                return transcript.failed(error);
            }
        }
        transcript
    }

    /// Reads the response to a request for one token.
    pub fn of_answer(kind: ServerKind, n_vocab: usize, bytes: &[u8]) -> Self {
        let served = served(kind, n_vocab);
        let json = served.peer.parsed(bytes);
        let answer = json.and_then(|json| served.api().answer_of(&served, 1, &json));
        let mut transcript = Self::default();
        match answer {
            Ok(answer) => {
                transcript.finish = answer.end.map(|end| word(&end));
                let read = transcript.push(&served, &answer.reported, &[]);
                transcript.error = read.err();
                transcript
            }
            Err(error) => transcript.failed(error),
        }
    }

    /// Reads the next object. Returns whether the text has ended.
    fn read(&mut self, served: &Served, received: Received) -> Result<bool, ServerError> {
        let Received::Json(part) = received else {
            return Ok(true);
        };
        let mut part = served.api().stream_part(served, &part);
        if part.n_unlisted(&mut self.n_chosen) > 0 {
            part.merge_unlisted();
        }
        for token in &part.tokens {
            self.push(served, &token.reported, &token.bytes)?;
        }
        self.finish = part.end.as_ref().map(word);
        Ok(part.end.is_some())
    }

    fn push(
        &mut self,
        served: &Served,
        reported: &Reported,
        bytes: &[u8],
    ) -> Result<(), ServerError> {
        let step = checked(reported, 20, served)?;
        let token = match step.sampled {
            Some(token) => token,
            None if served.kind().has_ids() => {
                return Err(served.peer.unexpected("a token without an id"));
            }
            None => served.intern(bytes),
        };
        self.text.extend_from_slice(bytes);
        let head = step.head.covering(token);
        let coins = Coins {
            seed: 1,
            position: self.traces.len() as u64,
        };
        let tokens: Vec<TokenId> = self.traces.iter().map(|trace| trace.draw.token).collect();
        let mut chain = SamplerChain::new(ChainConfig::sampled([]));
        let history = History::new(&tokens, 0);
        let sampled = chain.take_served(&head, history, coins, Taken::ByServer(token));
        let sampled = sampled.map_err(|error| ServerError::SamplingFailed {
            reason: error.to_string(),
        })?;
        self.traces.push(sampled.trace);
        Ok(())
    }

    fn failed(mut self, error: ServerError) -> Self {
        self.error = Some(error);
        self
    }
}

fn served(kind: ServerKind, n_vocab: usize) -> Served {
    let host = "server";
    let info = ServerInfo {
        n_vocab: Some(n_vocab),
        ..ServerInfo::new(kind, host, "model")
    };
    let peer = Peer {
        host: host.to_owned(),
        key: None,
    };
    Served::new(info, peer)
}

fn word(end: &StreamEnd) -> String {
    match end {
        StreamEnd::EndOfText => "end of text".to_owned(),
        StreamEnd::Limit => "limit".to_owned(),
        StreamEnd::ContextFull => "context full".to_owned(),
        StreamEnd::Word(word) => word.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ServerKind, Transcript};

    /// Reads a stream of OpenAI's in one part.
    fn read(kind: ServerKind, lines: &str) -> (String, Option<String>, Option<String>) {
        let read = Transcript::of_stream(kind, 100, lines.as_bytes(), 1 << 20);
        let error = read.error.map(|error| error.to_string());
        (String::from_utf8(read.text).unwrap(), read.finish, error)
    }

    /// Returns a stream of OpenAI's whose choices have these fields.
    fn choices(fields: &[&str]) -> String {
        let line = |fields: &&str| format!("data: {{\"choices\":[{{{fields}}}]}}\n\n");
        fields.iter().map(line).collect()
    }

    #[test]
    fn a_finish_reason_is_the_servers_own_word() {
        for (reason, finish) in [
            ("null", None),
            ("\"\"", None),
            ("\" \"", None),
            ("\"stop\"", Some("end of text")),
            ("\"length\"", Some("limit")),
            ("\"content_filter\"", Some("content_filter")),
            ("\"a\\u0007\\nb\"", Some("a b")),
            ("7", Some("7")),
            ("{\"type\":\"x\"}", Some("{\"type\":\"x\"}")),
        ] {
            let first = format!("\"text\":\" a\",\"finish_reason\":{reason}");
            let stream = choices(&[&first, "\"text\":\" b\""]);
            let expected = if finish.is_some() { " a" } else { " a b" };
            let read = read(ServerKind::OpenAi, &stream);
            let finish = finish.map(str::to_owned);
            assert_eq!(read, (expected.to_owned(), finish, None), "{reason}");
        }
    }

    #[test]
    fn a_text_without_probabilities_is_kept() {
        for logprobs in [
            "null",
            "{}",
            "{\"tokens\":[],\"top_logprobs\":[]}",
            "{\"tokens\":[\" a\"],\"token_logprobs\":[null],\"top_logprobs\":[null]}",
            "{\"tokens\":[\" a\"],\"token_logprobs\":[-1e308],\"top_logprobs\":[{\" a\":-9999}]}",
            "{\"tokens\":[\" a\"],\"token_logprobs\":[\"x\"],\"top_logprobs\":[7]}",
            "{\"tokens\":[\" a\"],\"token_logprobs\":[NaN],\"top_logprobs\":[{\" a\":-Infinity}]}",
            "{\"tokens\":[\" a\"],\"token_logprobs\":[0.0],\"top_logprobs\":[{}]}",
            "{\"content\":[{\"token\":\" a\",\"logprob\":null,\"top_logprobs\":[]}]}",
        ] {
            let part = format!("\"text\":\" a\",\"logprobs\":{logprobs}");
            let stream = choices(&[&part]);
            let read = Transcript::of_stream(ServerKind::OpenAi, 100, stream.as_bytes(), 9);
            assert_eq!(
                (read.text.as_slice(), read.error),
                (&b" a"[..], None),
                "{logprobs}"
            );
            assert_eq!(read.traces.len(), 1, "{logprobs}");
            assert_eq!(read.traces[0].known_raw_prob(), None, "{logprobs}");
            assert_eq!(read.traces[0].known_final_prob(), None, "{logprobs}");
            assert_eq!(read.traces[0].known_rank(), None, "{logprobs}");
        }
    }

    #[test]
    fn what_is_no_probability_is_an_error_after_the_text_so_far() {
        let good = "\"text\":\" a\"";
        let bad = |top: &str| {
            let logprobs = format!("{{\"tokens\":[\" b\"],\"top_logprobs\":[{top}]}}");
            choices(&[good, &format!("\"text\":\" b\",\"logprobs\":{logprobs}")])
        };
        for (stream, sentence) in [
            (
                bad("{\" b\":5}"),
                "reported a log-probability of 5, but none is above 0",
            ),
            (
                bad("{\" b\":-0.1,\" c\":-0.1}"),
                "reported probabilities that add up to 1.810",
            ),
            (
                bad("{\" b\":-1e999}"),
                "sent an unexpected response: it is not JSON",
            ),
        ] {
            let (text, _, error) = read(ServerKind::OpenAi, &stream);
            assert_eq!(text, " a");
            let error = error.unwrap();
            assert!(error.contains(sentence), "{error}");
        }
    }

    #[test]
    fn an_id_outside_the_vocabulary_is_named_as_it_was_sent() {
        for (id, named) in [
            ("-7", "-7"),
            ("100", "100"),
            ("18446744073709551615", "18446744073709551615"),
            ("1e30", "1000000000000000019884624838656"),
        ] {
            let stream = format!(
                "data: {{\"content\":\" a\",\"completion_probabilities\":[{{\"id\":{id},\"logprob\":-1}}]}}\n\n"
            );
            let (text, _, error) = read(ServerKind::LlamaServer, &stream);
            let expected =
                format!("server reported token {named}, but its vocabulary has 100 tokens");
            assert_eq!(
                (text.as_str(), error.as_deref()),
                ("", Some(expected.as_str()))
            );
        }
    }

    #[test]
    fn llama_servers_text_is_kept_with_ids_alone() {
        let stream = "data: {\"content\":\"A B\",\"tokens\":[5,6],\"stop\":false}\n\n\
                      data: {\"content\":\"\",\"stop\":true,\"stop_type\":\"eos\"}\n\n";
        let read = Transcript::of_stream(ServerKind::LlamaServer, 100, stream.as_bytes(), 1);
        assert_eq!((read.text.as_slice(), read.traces.len()), (&b"A B"[..], 2));
        assert_eq!(read.finish.as_deref(), Some("end of text"));
    }

    #[test]
    fn several_tokens_in_one_part_share_its_text() {
        let stream = "data: {\"content\":\"A B\",\"completion_probabilities\":[\
                      {\"id\":5,\"bytes\":[65],\"logprob\":-1,\"top_logprobs\":[{\"id\":5,\"logprob\":-1}]},\
                      {\"id\":6,\"bytes\":[32,66],\"logprob\":-1,\"top_logprobs\":[{\"id\":6,\"logprob\":-1}]}\
                      ]}\n\n";
        assert_eq!(read(ServerKind::LlamaServer, stream).0, "A B");
    }

    #[test]
    fn an_answer_without_probabilities_says_so() {
        for (kind, answer) in [
            (ServerKind::LlamaServer, "{\"content\":\"a\"}"),
            (
                ServerKind::LlamaServer,
                "{\"completion_probabilities\":[{\"id\":1,\"logprob\":-1e308,\"top_logprobs\":null}]}",
            ),
            (
                ServerKind::Ollama,
                "{\"response\":\"a\",\"done_reason\":\"length\"}",
            ),
            (
                ServerKind::OpenAi,
                "{\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}",
            ),
        ] {
            let error = Transcript::of_answer(kind, 100, answer.as_bytes()).error;
            let error = error.unwrap().to_string();
            let begin =
                "server reported no probabilities for token 1, and Quartet’s chain needs them";
            assert!(error.starts_with(begin), "{error}");
        }
    }
}
