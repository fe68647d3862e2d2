//! One pane's text, generated on a server: by Quartet's chain, one token per request, or by the
//! server's sampler, one request per text.

use std::sync::Arc;
use std::time::Instant;

use super::distribution::{CheckedStep, Reported, checked};
use super::error::Broken;
use super::events::Received;
use super::head_sizes::HeadSizes;
use super::refused::check_settings;
use super::request::{Answer, Place, StreamEnd, StreamPart, StreamedToken};
use super::waited::Waited;
use super::{Connection, SampledBy, ServedPrompt, ServerError, StopFlag, sampler};
use crate::decoding::{Coins, DecodingError, History, Sampled, SamplerChain, Taken, TokenId};
use crate::engine::Progress;
use crate::generation::{
    Continuation, FinishReason, GenerationConfig, GenerationId, LastToken, Piece, PieceKind, Step,
    StepTime, TextEnd,
};

/// How many tokens of a head get a name if the server does not send names with them.
const N_NAMED: usize = 48;

/// A text to generate.
#[derive(Debug, Clone)]
pub struct PaneJob {
    /// The id under which its progress is reported.
    pub id: GenerationId,
    pub config: GenerationConfig,
    pub continuation: Continuation,
    /// Which of the server's slots it uses, if one can be chosen.
    pub slot: Option<usize>,
}

/// Generates a text, and reports each step and the finish reason. Returns when it has finished.
pub fn write_pane(
    connection: &Connection,
    prompt: &ServedPrompt,
    job: PaneJob,
    stop: &StopFlag,
    report: &mut dyn FnMut(Progress),
) {
    let id = job.id;
    let mut text = Text::new(connection, prompt, job, stop);
    let mut stepped = |step: Step| {
        let step = Box::new(step);
        report(Progress::Stepped { id, step });
    };
    let reason = match text.write(&mut stepped) {
        Ok(reason) => reason,
        Err(Broken::Stopped) => FinishReason::Cancelled,
        Err(Broken::Failed(error)) => FinishReason::Failed {
            error: error.to_string(),
        },
    };
    report(Progress::Finished { id, reason });
}

/// A text that is being generated.
struct Text<'a> {
    connection: &'a Connection,
    prompt: &'a ServedPrompt,
    stop: &'a StopFlag,
    config: GenerationConfig,
    slot: Option<usize>,
    chain: SamplerChain,
    end: TextEnd,
    /// The prompt's tokens, then the generated ones.
    tokens: Vec<TokenId>,
    /// The text after the prompt.
    bytes: Vec<u8>,
    /// The last tokens, if they end within a character that only later tokens complete.
    unfinished: Vec<TokenId>,
    /// How many log-probabilities to request first.
    sizes: HeadSizes,
    started_at: Instant,
    secs_before: f64,
}

impl<'a> Text<'a> {
    fn new(
        connection: &'a Connection,
        prompt: &'a ServedPrompt,
        job: PaneJob,
        stop: &'a StopFlag,
    ) -> Self {
        let PaneJob {
            config,
            continuation,
            slot,
            ..
        } = job;
        let mut end = TextEnd::new(&config.limits, n_room(connection, prompt));
        let mut bytes = Vec::new();
        for token in &continuation.kept {
            let piece = connection.piece(*token);
            let piece = piece.unwrap_or_else(|| Piece::text(""));
            end.keep(&piece);
            if piece.kind == PieceKind::Text {
                bytes.extend(piece.bytes);
            }
        }
        end.resume(&continuation);
        let mut chain = SamplerChain::new(config.chain.clone());
        chain.restore(continuation.selector_state);
        let mut tokens = prompt.0.tokens.clone();
        tokens.extend(continuation.kept);
        Self {
            connection,
            prompt,
            stop,
            slot,
            chain,
            end,
            config,
            tokens,
            bytes,
            unfinished: Vec::new(),
            sizes: HeadSizes::new(connection.n_probs(), n_whole(connection)),
            started_at: Instant::now(),
            secs_before: continuation.at_secs,
        }
    }

    fn write(&mut self, report: &mut dyn FnMut(Step)) -> Result<FinishReason, Broken> {
        check_settings(self.connection, &self.config.chain)?;
        if let Some(limit) = self.end.limit_reached() {
            return Ok(limit);
        }
        while self.connection.sampled_by() == SampledBy::Chain
            || self.end.n_until_picked().is_some()
        {
            if let Some(reason) = self.step_by_chain(report)? {
                return Ok(reason);
            }
        }
        self.stream(report)
    }

    /// Requests one distribution and chooses from it.
    fn step_by_chain(
        &mut self,
        report: &mut dyn FnMut(Step),
    ) -> Result<Option<FinishReason>, Broken> {
        let mut waited = Waited::default();
        let (state, picked) = (self.chain.state(), self.end.take_picked());
        let mut sizes = self.sizes;
        let mut step = match self.ask(sizes.n_probs(), &mut waited)? {
            Asked::Step(step) => step,
            Asked::Ended(end) => return Ok(Some(self.finish_of(Some(end)))),
        };
        let mut sampled = self.choose(&step, picked)?;
        // What the head can't decide, a longer one can, if the server reports it.
        while !is_decided(sampled.as_ref()) && sizes.grow() {
            self.chain.restore(state);
            if let Asked::Step(longer) = self.ask(sizes.n_probs(), &mut waited)? {
                step = longer;
            }
            sampled = self.choose(&step, picked)?;
        }
        self.sizes = sizes.for_next_step();
        let sampled = if let Some(sampled) = sampled {
            sampled
        } else {
            let (chain, history, coins) = self.chain_here();
            let only = chain.sample_served_only(&step.head, history, coins);
            only.map_err(|error| failed(&error))?
        };
        let time = waited.step_time(self.secs());
        let piece = self.piece(sampled.token, None)?;
        Ok(self.push(sampled, piece, time, report))
    }

    /// Requests a distribution.
    fn ask(&self, n_probs: usize, waited: &mut Waited) -> Result<Asked, Broken> {
        let asked_at = Instant::now();
        let Answer {
            reported,
            server_secs,
            model,
            end,
        } = self
            .connection
            .api()
            .ask_step(self.connection, self.place(), n_probs, self.stop)?;
        waited.add(asked_at.elapsed().as_secs_f64(), server_secs);
        self.connection.check_model(model.as_deref())?;
        match end {
            Some(end) => Ok(Asked::Ended(end)),
            None => self.checked(&reported, n_probs).map(Asked::Step),
        }
    }

    fn checked(&self, reported: &Reported, n_probs: usize) -> Result<CheckedStep, Broken> {
        let step = checked(reported, n_probs, self.connection.served())?;
        let shown = step.head.tokens().take(N_NAMED).chain(step.sampled);
        self.connection.name_tokens(shown, self.stop)?;
        Ok(step)
    }

    fn choose(
        &mut self,
        step: &CheckedStep,
        picked: Option<Taken>,
    ) -> Result<Option<Sampled>, ServerError> {
        let (chain, history, coins) = self.chain_here();
        let sampled = match picked {
            Some(taken) => chain
                .take_served(&step.head, history, coins, taken)
                .map(Some),
            None => chain.sample_served(&step.head, history, coins),
        };
        sampled.map_err(|error| failed(&error))
    }

    /// Lets the server's sampler write the rest.
    fn stream(&mut self, report: &mut dyn FnMut(Step)) -> Result<FinishReason, Broken> {
        let n_left = self.end.n_left();
        let (path, body) = sampler::request(self.connection, self.place(), &self.config, n_left)?;
        let mut stream = self.connection.http().stream(path, &body, self.stop)?;
        let (mut arrived_at, mut decoded_secs, mut n_chosen) = (Instant::now(), 0.0, 0);
        loop {
            let mut part = match stream.next()? {
                Some(Received::Json(part)) => self
                    .connection
                    .api()
                    .stream_part(self.connection.served(), &part),
                Some(Received::Done) => return Ok(self.finish_of(None)),
                None => {
                    let host = self.connection.host().to_owned();
                    return Err(ServerError::ConnectionLost { host }.into());
                }
            };
            self.connection.check_model(part.model.as_deref())?;
            let waited_secs = arrived_at.elapsed().as_secs_f64();
            if !part.tokens.is_empty() {
                arrived_at = Instant::now();
                stream.progressed();
            }
            let forward_secs = match part.server_secs {
                Some(now) => now - std::mem::replace(&mut decoded_secs, now),
                None => waited_secs,
            };
            let n_unlisted = part.n_unlisted(&mut n_chosen);
            if n_unlisted > 0 {
                self.list_unlisted(&mut part, n_unlisted)?;
            }
            let n_tokens = part.tokens.len().max(1) as f64;
            for token in part.tokens {
                let time = StepTime {
                    at_secs: self.secs(),
                    forward_secs: forward_secs / n_tokens,
                    n_batch: 1,
                    mask_secs: None,
                    network_secs: None,
                };
                if let Some(reason) = self.follow(&token, time, report)? {
                    return Ok(reason);
                }
            }
            if part.end.is_some() {
                return Ok(self.finish_of(part.end));
            }
        }
    }

    /// Lists all tokens of a part that has more than the server listed, so that the text can be
    /// continued from them. If the server can't tell which they are, one step stands for them.
    fn list_unlisted(&mut self, part: &mut StreamPart, n_unlisted: usize) -> Result<(), Broken> {
        let text: Vec<u8> = part.tokens.iter().flat_map(|it| it.bytes.clone()).collect();
        let text = String::from_utf8_lossy(&text);
        let api = self.connection.api();
        let all = match api.tokenize_part(self.connection, &text, self.stop) {
            Ok(all) => all,
            Err(Broken::Stopped) => return Err(Broken::Stopped),
            Err(Broken::Failed(_)) => Vec::new(),
        };
        if !part.list_all(&all, n_unlisted) {
            part.merge_unlisted();
            self.end.add_unlisted(n_unlisted);
        }
        Ok(())
    }

    /// Returns why the text ended, from what the server said: `None` if it gave no reason.
    fn finish_of(&self, end: Option<StreamEnd>) -> FinishReason {
        match end {
            Some(StreamEnd::EndOfText) => FinishReason::EndOfText,
            // A limit before the requested one is the server's own.
            Some(StreamEnd::Limit) => {
                let own = self.end.limit_reached();
                own.unwrap_or_else(|| FinishReason::ByServer {
                    word: Some("length".to_owned()),
                })
            }
            Some(StreamEnd::ContextFull) => FinishReason::ContextFull,
            Some(StreamEnd::Word(word)) => FinishReason::ByServer { word: Some(word) },
            None => FinishReason::ByServer { word: None },
        }
    }

    /// Learns the text of a token that the server has drafted, for which it reports no `bytes`. For a
    /// special token, it reports an empty list.
    fn learn_drafted(&self, token: &StreamedToken) -> Result<(), Broken> {
        let served = self.connection.served();
        if served.api().spec().streams_drafted_texts
            && !token.bytes.is_empty()
            && let Some(sampled) = &token.reported.sampled
            && sampled.bytes.is_none()
            && let Some(id) = sampled.id
        {
            let id = served.check_id(id)?;
            if served.piece(id).is_none() {
                served.learn(id, Piece::text(token.bytes.as_slice()));
            }
        }
        Ok(())
    }

    /// Records a token that the server's sampler chose, whether or not it reported probabilities.
    fn follow(
        &mut self,
        token: &StreamedToken,
        time: StepTime,
        report: &mut dyn FnMut(Step),
    ) -> Result<Option<FinishReason>, Broken> {
        let served = self.connection.served();
        self.end.take_picked();
        let n_probs = self.connection.n_probs();
        let step = if token.is_last_of_several {
            checked(&token.reported, n_probs, served)?
        } else {
            self.learn_drafted(token)?;
            self.checked(&token.reported, n_probs)?
        };
        let taken = match step.sampled {
            Some(sampled) => sampled,
            None if served.kind().has_ids() => {
                return Err(served.peer.unexpected("a token without an id").into());
            }
            None => served.intern(&token.bytes),
        };
        let (chain, history, coins) = self.chain_here();
        let taken = chain.take_served(&step.head, history, coins, Taken::ByServer(taken));
        let sampled = taken.map_err(|error| failed(&error))?;
        let piece = if token.is_last_of_several {
            Piece::text(token.bytes.as_slice())
        } else {
            self.piece(sampled.token, Some(&token.bytes))?
        };
        Ok(self.push(sampled, piece, time, report))
    }

    /// Returns what a token adds to the text. `streamed` are the bytes that the server sent for it.
    fn piece(&mut self, token: TokenId, streamed: Option<&[u8]>) -> Result<Piece, Broken> {
        self.connection
            .name_tokens([token].into_iter(), self.stop)?;
        let known = self.connection.piece(token);
        if let Some(special) = known
            .as_ref()
            .filter(|piece| piece.kind == PieceKind::Special)
        {
            return Ok(special.clone());
        }
        if let Some(bytes) = streamed {
            return Ok(Piece::text(bytes));
        }
        let known = known.unwrap_or_else(|| Piece::text(""));
        let is_part = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
        let is_unnamed = known.as_str().is_some_and(is_part);
        let is_whole = !is_unnamed && self.unfinished.is_empty();
        if is_whole {
            return Ok(known);
        }
        let parts = [self.unfinished.as_slice(), &[token]].concat();
        let api = self.connection.api();
        let Some(text) = api.join_parts(self.connection, &parts, self.stop)? else {
            return Ok(known);
        };
        self.unfinished = parts;
        if text.ends_with(char::REPLACEMENT_CHARACTER) && self.unfinished.len() < 4 {
            return Ok(Piece::text(""));
        }
        self.unfinished.clear();
        Ok(Piece::text(text))
    }

    /// Appends a step. Returns why the text ends with it, or `None` if it continues.
    fn push(
        &mut self,
        sampled: Sampled,
        piece: Piece,
        time: StepTime,
        report: &mut dyn FnMut(Step),
    ) -> Option<FinishReason> {
        self.tokens.push(sampled.token);
        let is_end = piece.kind == PieceKind::Special
            && piece
                .as_str()
                .is_some_and(|name| self.connection.info().is_end(name));
        if piece.kind == PieceKind::Text {
            self.bytes.extend_from_slice(&piece.bytes);
        }
        let finish = self.end.push(LastToken {
            piece: &piece,
            is_end,
            // A server follows the grammar itself.
            completes_grammar: false,
        });
        report(Step {
            token: sampled.token,
            piece,
            trace: Arc::new(sampled.trace),
            time,
            draft: None,
            logits_hash: None,
        });
        finish
    }

    /// Returns the chain, with the history and the coins for the next token.
    fn chain_here(&mut self) -> (&mut SamplerChain, History<'_>, Coins) {
        let history = History::new(&self.tokens, self.prompt.0.tokens.len());
        let coins = Coins {
            seed: self.config.seed,
            position: self.tokens.len() as u64,
        };
        (&mut self.chain, history, coins)
    }

    fn place(&self) -> Place<'_> {
        Place {
            prompt: &self.prompt.0,
            tokens: &self.tokens,
            text: &self.bytes,
            slot: self.slot,
        }
    }

    fn secs(&self) -> f64 {
        self.secs_before + self.started_at.elapsed().as_secs_f64()
    }
}

/// The response to a request for one step.
enum Asked {
    Step(CheckedStep),
    /// The server's own sampler ended the text there and reported nothing.
    Ended(StreamEnd),
}

/// Returns how many tokens the server's context has room for after the prompt. A server without token
/// ids does not count its prompt's tokens.
fn n_room(connection: &Connection, prompt: &ServedPrompt) -> usize {
    let n_context = connection.info().n_context;
    let n_context = n_context.filter(|_| connection.kind().has_ids());
    n_context.map_or(usize::MAX, |n| n.saturating_sub(prompt.0.tokens.len()))
}

/// Returns how many log-probabilities make a whole distribution, if the server can report it.
fn n_whole(connection: &Connection) -> Option<usize> {
    let info = connection.info();
    let n_vocab = info.n_vocab;
    n_vocab.filter(|_| info.kind.api().spec().reports_all)
}

/// Whether a token was chosen that the rest of the distribution can't change.
fn is_decided(sampled: Option<&Sampled>) -> bool {
    sampled.is_some_and(|sampled| !sampled.trace.bounded)
}

fn failed(error: &DecodingError) -> ServerError {
    ServerError::SamplingFailed {
        reason: error.to_string(),
    }
}
