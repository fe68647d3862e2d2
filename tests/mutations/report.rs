//! What the program reports when a run is generated again.

use quartet::analysis::replay::{
    Fact, Models, Replayed, TextPlaces, TextReplay, Unit, Verdict, WordsCheck, facts_of_all,
};
use quartet::generation::{FinishReason, Generation, Implementation};

use crate::mutations::author::Author;

/// Differences of log-probabilities that rounding does not explain.
const ROUNDING: f32 = 1e-4;

/// Generates texts again, as `quartet replay` and *Verify* do, and returns the first thing that they
/// report about them. `None` if everything is the same.
pub(crate) fn report(texts: &[Generation], authors: &mut [Author]) -> Option<String> {
    let (mut now, mut words) = (Vec::new(), Vec::new());
    for text in texts {
        let author = author_of(text, authors);
        let model = author.session.model();
        if model.info.n_vocab != text.model.n_vocab {
            return Some("the model has another vocabulary".to_owned());
        }
        let prompt = model.check_prompt(&text.prompt);
        words.push(WordsCheck::of(text, &model.vocabulary, Some(&prompt)));
        let again = author.replay(text);
        if let Some(FinishReason::Failed { error }) = &again.finish
            && again.finish != text.finish
        {
            return Some(format!("it can’t be replayed: {error}"));
        }
        now.push(again);
    }
    let then: Vec<&Generation> = texts.iter().collect();
    let now: Vec<&Generation> = now.iter().collect();
    let verdict = Verdict::of(Replayed {
        then: &then,
        now: &now,
        places: TextPlaces::default(),
        words: &words,
        allows_others: false,
        has_branches: false,
    });
    let is_same = verdict.exit_status() == 0 && verdict.texts.iter().all(is_same);
    let words = words.into_iter().find_map(not_compared);
    let words = words.or_else(|| (!is_same).then(|| format!("{verdict}\n{:?}", verdict.texts)));
    words.or_else(|| different_fact(&then, &now))
}

/// Returns the author with the model of a text, or any: another model is reported.
fn author_of<'a>(text: &Generation, authors: &'a mut [Author]) -> &'a mut Author {
    let hashes = authors
        .iter()
        .map(|author| &author.session.model().info.sha256);
    let index = hashes
        .into_iter()
        .position(|hash| *hash == text.model.sha256);
    &mut authors[index.unwrap_or_default()]
}

/// Returns whether nothing is shown beside a text that is the same.
fn is_same(replay: &TextReplay) -> bool {
    let is_served = replay.unit == Unit::LogProbs;
    !replay.has_other_passes
        && (replay.is_identical() || is_served && replay.largest_gap() < ROUNDING)
}

fn not_compared(words: WordsCheck) -> Option<String> {
    match words {
        WordsCheck::NotCompared(reason) => Some(format!("words not compared: {reason}")),
        _ => None,
    }
}

/// Returns what is listed as different then and now. A server names no file, and computes elsewhere.
fn different_fact(then: &[&Generation], now: &[&Generation]) -> Option<String> {
    let pairs = then.iter().zip(now);
    let local = pairs.filter(|(then, _)| then.model.implementation != Implementation::Server);
    let models = local.map(|(then, now)| (Models::of(then), Models::of(now)));
    let facts = facts_of_all(&models.collect::<Vec<_>>());
    let different = facts.iter().find(|fact| Fact::differs(fact))?;
    Some(format!("{different:?}"))
}
