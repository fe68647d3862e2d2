//! The sentence that says where the panes diverge, and which tokens they picked there.

use crate::analysis::Divergence;
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, Step, listed};
use crate::state::notice::capitalize;
use crate::state::{AppState, Pane};

/// The sentence about the first divergence, at full length and for a narrow window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DivergenceSummary {
    /// Includes the tokens and the coins.
    pub long: String,
    /// Says only which panes diverge, and where.
    pub short: String,
    /// The step at which they diverge, from 0.
    pub step: Option<usize>,
}

/// Describes where the panes diverge, in the turn that the views show.
pub fn divergence_summary(state: &AppState) -> DivergenceSummary {
    let summary = summary_of_turn(state);
    let n_turns = state.panes.n_turns();
    if n_turns < 2 {
        return summary;
    }
    let number = state.panes.shown_turn().map_or(n_turns, |turn| turn + 1);
    let of_turn = |words: &str| format!("Turn {number}: {words}");
    DivergenceSummary {
        long: of_turn(&summary.long),
        short: of_turn(&summary.short),
        ..summary
    }
}

fn summary_of_turn(state: &AppState) -> DivergenceSummary {
    let n_panes = state.panes.len();
    if let Some(words) = state
        .panes
        .reading_words()
        .or_else(|| given_words(&state.generations()))
    {
        return without_divergence(words);
    }
    if !are_comparable(&state.generations()) {
        return without_divergence(incomparable_words(&state.generations()));
    }
    match state.divergence() {
        Divergence::NothingToCompare => {
            without_divergence(introduction(n_panes, state.uses_several_models()))
        }
        Divergence::Agree { n_shared } if state.is_running() => {
            without_divergence(format!("The panes agree so far, for {}", tokens(n_shared)))
        }
        Divergence::Agree { .. } => without_divergence(agreement_words(state)),
        Divergence::At { step, groups } => at_divergence(state, step, &groups),
    }
}

/// Says which panes show a text that was given, if any does.
fn given_words(texts: &[Option<&Generation>]) -> Option<String> {
    let given = (0..)
        .zip(texts)
        .filter(|(_, text)| text.is_some_and(Generation::is_scored));
    let given: Vec<String> = given.map(|(place, _)| pane_letter(place)).collect();
    let who = listed(&given);
    match given.len() {
        0 => None,
        1 => Some(format!(
            "{who} is a given text: each token is scored as if the model had to write it"
        )),
        _ => Some(format!(
            "{who} are given texts: each token is scored as if the model had to write it"
        )),
    }
}

/// Returns whether all started texts continue the same prompt tokens, or answer the same message of a
/// conversation, with the same model.
pub(in crate::state) fn are_comparable(texts: &[Option<&Generation>]) -> bool {
    let started = || texts.iter().flatten().filter(|text| !text.steps.is_empty());
    let Some(first) = started().next() else {
        return true;
    };
    started().all(|text| text.shares_prompt_with(first) || answer_alike(text, first))
}

/// Returns whether two texts answer the same message, each after its own turns, with the same model.
fn answer_alike(one: &Generation, other: &Generation) -> bool {
    one.previous_turn.is_some()
        && other.previous_turn.is_some()
        && one.prompt.text == other.prompt.text
        && one.model.is_equivalent_to(&other.model)
}

/// Says why the texts are not compared token by token.
fn incomparable_words(texts: &[Option<&Generation>]) -> String {
    let prompts = || texts.iter().flatten().map(|text| &text.prompt.text);
    let same_prompt = prompts().all(|prompt| Some(prompt) == prompts().next());
    let mut models = texts.iter().flatten().map(|text| &text.model);
    let first = models.next();
    let same_model = models.all(|model| first.is_some_and(|first| first.is_equivalent_to(model)));
    let words = if same_prompt && !same_model {
        "These texts come from different models, so they are not compared token by token"
    } else {
        "These texts come from different prompts or models, so they are not compared"
    };
    words.to_owned()
}

fn without_divergence(words: String) -> DivergenceSummary {
    DivergenceSummary {
        short: words.clone(),
        long: words,
        step: None,
    }
}

fn introduction(n_panes: usize, several_models: bool) -> String {
    if n_panes == 1 {
        "The pane continues the prompt with its own settings".to_owned()
    } else {
        let all = all(n_panes);
        let read = if several_models {
            "Each model reads the prompt once"
        } else {
            "The prompt is read once"
        };
        format!("{read}. Then {all} panes continue it, each with its own settings.")
    }
}

/// Texts of different lengths can agree as far as the shortest goes.
fn agreement_words(state: &AppState) -> String {
    let lengths: Vec<usize> = state
        .generations()
        .into_iter()
        .flatten()
        .map(|generation| generation.steps.len())
        .filter(|length| *length > 0)
        .collect();
    let shortest = lengths.iter().min().copied().unwrap_or(0);
    let n_longer = lengths.iter().filter(|length| **length > shortest).count();
    let agreed = format!("All agree for {}", tokens(shortest));
    match n_longer {
        0 => {
            let all = capitalize(&all(lengths.len()));
            let why = if same_config_panes(state).is_some_and(|same| same.len() == lengths.len()) {
                ": same settings, same seed"
            } else {
                ""
            };
            format!("{all} are identical, token for token{why}")
        }
        1 => format!("{agreed}, then one continues alone"),
        n => format!("{agreed}, then {} continue identically", number(n)),
    }
}

fn at_divergence(state: &AppState, step: usize, groups: &[Vec<usize>]) -> DivergenceSummary {
    let texts = state.generations();
    let leaving = leaving_panes(groups);
    let verb = if leaving.len() == 1 {
        "diverges"
    } else {
        "diverge"
    };
    let who = letters(&leaving);
    // A single sentence has no full stop.
    let sentences = |clause: &str| match step {
        0 => format!("At token 1, {clause}"),
        n => {
            let agreeing = agreeing_panes(&texts, groups);
            let (agreed, at) = (tokens(n), n + 1);
            format!("{agreeing} agree for {agreed}. At token {at}, {clause}.")
        }
    };
    let short = sentences(&format!("{who} {verb}"));
    let is_by_hand = |place: usize| {
        let pane = state.panes.get(place);
        pane.is_some_and(Pane::has_hand_picks)
    };
    let same = same_config_panes(state).map_or_else(String::new, |places| {
        format!(" {}", same_config_words(&places, is_by_hand))
    });
    let long = if state.is_running() && step > 0 {
        format!("The panes agreed for {}, then {who} diverged", tokens(step))
    } else {
        let diverging = sentences(&clauses(&texts, groups, step).join("; "));
        let end = if step == 0 && !same.is_empty() {
            "."
        } else {
            ""
        };
        format!("{diverging}{end}{same}")
    };
    DivergenceSummary {
        long,
        short,
        step: Some(step),
    }
}

/// Says which panes have equal settings and seeds, and in which of them a token was picked by hand.
fn same_config_words(places: &[usize], is_by_hand: impl Fn(usize) -> bool) -> String {
    let by_hand = places.iter().copied().filter(|place| is_by_hand(*place));
    let by_hand: Vec<usize> = by_hand.collect();
    let same = format!("{} have the same settings and seed", letters(places));
    match by_hand.len() {
        0 => format!("{same}."),
        n if n == places.len() => format!("{same}, but each has a token picked by hand."),
        1 => format!(
            "{same}, but {} has a token picked by hand.",
            letters(&by_hand)
        ),
        _ => format!(
            "{same}, but {} have tokens picked by hand.",
            letters(&by_hand)
        ),
    }
}

/// Returns the first panes with equal settings and seeds, whose texts can differ only if a token was
/// picked by hand.
fn same_config_panes(state: &AppState) -> Option<Vec<usize>> {
    let texts = state.generations();
    let config = |place: usize| Some(&texts.get(place).copied().flatten()?.config);
    let sharing = |first: usize| -> Vec<usize> {
        let same = |place: &usize| config(*place).is_some() && config(*place) == config(first);
        (first..texts.len()).filter(same).collect()
    };
    (0..texts.len())
        .map(sharing)
        .find(|places| places.len() > 1)
}

/// Returns the panes whose texts reach the divergence: "All", or "B and C" if others stopped
/// before it.
fn agreeing_panes(texts: &[Option<&Generation>], groups: &[Vec<usize>]) -> String {
    let started = texts.iter().flatten().filter(|text| !text.steps.is_empty());
    let mut reaching = groups.concat();
    if reaching.len() == started.count() {
        return "All".to_owned();
    }
    reaching.sort_unstable();
    letters(&reaching)
}

/// Returns all panes except those of the largest group; among equals, the last group stays.
pub(in crate::state) fn leaving_panes(groups: &[Vec<usize>]) -> Vec<usize> {
    let largest = groups
        .iter()
        .enumerate()
        .max_by_key(|(_, group)| group.len())
        .map(|(index, _)| index);
    let mut leaving: Vec<usize> = groups
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != largest)
        .flat_map(|(_, group)| group.iter().copied())
        .collect();
    leaving.sort_unstable();
    leaving
}

/// Returns one clause per coin: "A picks ‘house’", or "the coin 0.987 picks ‘cottage’ for B and C",
/// or "the same coin, 0.987, picks ‘cottage’ for B, ‘forest’ for C". A text that has no token at
/// this step "has ended".
fn clauses(texts: &[Option<&Generation>], groups: &[Vec<usize>], index: usize) -> Vec<String> {
    let mut by_coin: Vec<(Option<f64>, Vec<String>)> = Vec::new();
    for group in groups {
        let steps: Vec<&Step> = group
            .iter()
            .filter_map(|place| texts.get(*place).copied().flatten()?.steps.get(index))
            .collect();
        let (who, is_one) = (letters(group), group.len() == 1);
        let Some(first) = steps.first() else {
            let have = if is_one { "has" } else { "have" };
            by_coin.push((None, vec![format!("{who} {have} ended")]));
            continue;
        };
        let token = quoted(first);
        if steps.iter().any(|step| step.trace.draw.is_by_hand()) {
            by_coin.push((None, vec![format!("{token} is picked by hand in {who}")]));
            continue;
        }
        let coin = first.trace.draw.coin;
        if coin.is_none() || steps.iter().any(|step| step.trace.draw.coin != coin) {
            let verb = if is_one { "picks" } else { "pick" };
            by_coin.push((None, vec![format!("{who} {verb} {token}")]));
            continue;
        }
        let pick = format!("{token} for {who}");
        match by_coin.iter_mut().find(|(other, _)| *other == coin) {
            Some((_, picks)) => picks.push(pick),
            None => by_coin.push((coin, vec![pick])),
        }
    }
    let clauses = by_coin.into_iter().map(|(coin, picks)| {
        let subject = match coin {
            None => String::new(),
            Some(coin) if picks.len() > 1 => format!("the same coin, {coin:.3}, picks "),
            Some(coin) => format!("the coin {coin:.3} picks "),
        };
        subject + &picks.join(", ")
    });
    clauses.collect()
}

/// Returns a token for use in a sentence: trimmed, in single quotes.
fn quoted(step: &Step) -> String {
    let piece = step.piece.to_string();
    match piece.trim() {
        "" => format!("‘{}’", piece.escape_debug()),
        word => format!("‘{word}’"),
    }
}

fn letters(places: &[usize]) -> String {
    let letters: Vec<String> = places.iter().map(|place| pane_letter(*place)).collect();
    listed(&letters)
}

fn tokens(n: usize) -> String {
    match n {
        1 => "1 token".to_owned(),
        n => format!("{n} tokens"),
    }
}

fn all(n: usize) -> String {
    match n {
        2 => "both".to_owned(),
        n => format!("all {}", number(n)),
    }
}

fn number(n: usize) -> String {
    let words = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight",
    ];
    words
        .get(n)
        .map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{clauses, same_config_words};
    use crate::generation::Generation;
    use crate::generation::testing::generation;
    use crate::state::panes::hand_picks::HandPicks;

    fn clauses_of(texts: &[&Generation], groups: &[&[usize]], index: usize) -> Vec<String> {
        let texts: Vec<Option<&Generation>> = texts.iter().copied().map(Some).collect();
        let groups: Vec<Vec<usize>> = groups.iter().map(|group| group.to_vec()).collect();
        clauses(&texts, &groups, index)
    }

    #[test]
    fn a_text_without_a_token_at_the_divergence_has_ended() {
        let text = generation(&[(" a", 0.5)]);
        assert_eq!(clauses_of(&[&text], &[&[0]], 1), ["A has ended"]);
        let both = clauses_of(&[&text, &text], &[&[0, 1]], 1);
        assert_eq!(both, ["A and B have ended"]);
    }

    #[test]
    fn a_token_picked_by_hand_explains_why_panes_with_the_same_settings_differ() {
        let text = generation(&[(" a", 0.5)]);
        let mut by_hand = text.clone();
        let draw = &mut std::sync::Arc::make_mut(&mut by_hand.steps[0].trace).draw;
        draw.picked = crate::decoding::Picked::ByHand;
        for (texts, words) in [
            ([&text, &text], "A and B have the same settings and seed."),
            (
                [&text, &by_hand],
                "A and B have the same settings and seed, but B has a token picked by hand.",
            ),
            (
                [&by_hand, &by_hand],
                "A and B have the same settings and seed, but each has a token picked by hand.",
            ),
        ] {
            let is_by_hand = |place: usize| HandPicks::default().any_in(texts[place]);
            assert_eq!(same_config_words(&[0, 1], is_by_hand), words);
        }
    }

    #[test]
    fn a_coin_that_picks_different_tokens_is_named_once() {
        let text = |piece: &str, coin: Option<f64>| {
            let mut text = generation(&[(piece, 0.5)]);
            std::sync::Arc::make_mut(&mut text.steps[0].trace).draw.coin = coin;
            text
        };
        let (a, b) = (text(" a", Some(0.7)), text(" b", Some(0.7)));
        let (other, greedy) = (text(" c", Some(0.2)), text(" c", None));
        let mut by_hand = text(" c", None);
        let draw = &mut std::sync::Arc::make_mut(&mut by_hand.steps[0].trace).draw;
        draw.picked = crate::decoding::Picked::ByHand;
        let each: &[&[usize]] = &[&[0], &[1], &[2]];
        for (third, expected) in [
            (
                &a,
                &["the same coin, 0.700, picks ‘a’ for A, ‘b’ for B, ‘a’ for C"][..],
            ),
            (
                &other,
                &[
                    "the same coin, 0.700, picks ‘a’ for A, ‘b’ for B",
                    "the coin 0.200 picks ‘c’ for C",
                ],
            ),
            (
                &greedy,
                &[
                    "the same coin, 0.700, picks ‘a’ for A, ‘b’ for B",
                    "C picks ‘c’",
                ],
            ),
            (
                &by_hand,
                &[
                    "the same coin, 0.700, picks ‘a’ for A, ‘b’ for B",
                    "‘c’ is picked by hand in C",
                ],
            ),
        ] {
            assert_eq!(clauses_of(&[&a, &b, third], each, 0), expected);
        }
    }
}
