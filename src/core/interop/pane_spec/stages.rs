//! Reads the parts of a `--pane` description, by the specs of filters and selectors.

use super::words::{PaneSpecError, Word, Words, nearest, plain};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{LogitBias, Phrase, ThinkingBudget, TokenBias, Window};
use crate::decoding::rules::BeamScores;
use crate::decoding::watermark::LayerKeys;
use crate::decoding::{
    Against, ChainConfig, DraftRule, Drafter, Drafts, EarlyLayers, Filter, FilterKind, FilterSpec,
    Guidance, ModelDrafts, ParamSpec, PromptLookup, Selector, SelectorSpec, SettingError, TokenId,
};
use crate::generation::unescape;

/// What the first word of a part stands for.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Filter(&'static FilterSpec),
    /// A logit bias that only bans.
    Ban,
    Selector(&'static SelectorSpec),
    Dialect,
    BeamScores,
    MinKeep,
    Drafts,
    Guide,
    Grammar,
    Seed,
    Name,
}

/// Returns the words that a part can begin with. Messages name the first spelling of each.
fn heads() -> impl Iterator<Item = (&'static [&'static str], Head)> {
    let filters = FilterKind::by_usage()
        .into_iter()
        .map(FilterKind::spec)
        .map(|spec| (spec.keys, Head::Filter(spec)));
    let selectors = Selector::SPECS.map(|spec| (spec.keys, Head::Selector(spec)));
    let others: [(&[&str], Head); 8] = [
        (&["dialect"], Head::Dialect),
        (&["beam-scores"], Head::BeamScores),
        (&["min-keep"], Head::MinKeep),
        (&["drafts"], Head::Drafts),
        (&["guide", "guidance", "cfg"], Head::Guide),
        (super::grammar::KEYS, Head::Grammar),
        (&["seed"], Head::Seed),
        (&["name"], Head::Name),
    ];
    let ban: (&[&str], Head) = (&["ban", "banned"], Head::Ban);
    filters.chain([ban]).chain(selectors).chain(others)
}

/// Takes the word that a part begins with; a keyword may be written as two words.
pub(super) fn head(words: &mut Words) -> Result<Head, PaneSpecError> {
    for n_words in [2, 1] {
        let Some(keyword) = words.keyword(n_words) else {
            continue;
        };
        let is_meant = |spellings: &[&str]| spellings.iter().any(|word| plain(word) == keyword);
        if let Some((_, head)) = heads().find(|(spellings, _)| is_meant(spellings)) {
            for _ in 0..n_words {
                words.next();
            }
            return Ok(head);
        }
    }
    let word = words.next().unwrap_or_else(|| words.last.clone());
    Err(word.wrong(unknown(&word.text)))
}

fn unknown(word: &str) -> String {
    if word.parse::<f32>().is_ok() {
        return format!("{word:?} needs a setting before it; write decimals with a point");
    }
    let known = heads().flat_map(|(spellings, _)| spellings.iter().copied());
    if let Some(meant) = nearest(word, known) {
        return format!("{word:?} is not a setting; did you mean {meant:?}?");
    }
    let names: Vec<&str> = heads()
        .filter_map(|(spellings, _)| spellings.first())
        .copied()
        .collect();
    format!("{word:?} is not a setting; use one of {}", names.join(", "))
}

/// Reads the values of a filter; its key has been taken.
pub(super) fn filter(spec: &FilterSpec, words: &mut Words) -> Result<Filter, PaneSpecError> {
    let mut filter = (spec.usual)();
    if let Some(window) = filter.window_mut() {
        *window = Window::LAST_64;
    }
    let Some((primary, others)) = spec.params.split_first() else {
        return biases(words);
    };
    let key = spec.keys.first().copied().unwrap_or_default();
    set(primary, key, words, &mut filter)?;
    in_range(filter.validate(), words)?;
    options(words, |option, words| {
        if let Some(param) = others.iter().find(|param| param.key == option) {
            set(param, param.key, words, &mut filter)?;
            in_range(filter.validate(), words)?;
            return Ok(true);
        }
        if let ("breakers", Filter::Dry(dry)) = (option, &mut filter) {
            let more = breakers(others, words)?;
            dry.breakers.extend(more);
            return Ok(true);
        }
        if let Filter::ThinkingBudget(budget) = &mut filter
            && let Some(written) = phrase_mut(option, budget)
        {
            *written = phrase(words)?;
            return in_range(filter.validate(), words).map(|()| true);
        }
        if let ("keys", Filter::SynthId(synth)) = (option, &mut filter) {
            synth.keys = layer_keys(words)?;
            return Ok(true);
        }
        match filter.window_mut() {
            Some(window) => window_option(option, window, words),
            None => Ok(false),
        }
    })?;
    Ok(filter)
}

/// Reads the values of a selector; its key has been taken.
pub(super) fn selector(spec: &SelectorSpec, words: &mut Words) -> Result<Selector, PaneSpecError> {
    let mut selector = spec.usual;
    let key = spec.keys.first().copied().unwrap_or_default();
    numbers(spec.params, key, words, &mut selector, Selector::validate)?;
    Ok(selector)
}

/// Reads the numbers of drafts, and where they come from; their key has been taken.
pub(super) fn drafts(words: &mut Words) -> Result<Drafts, PaneSpecError> {
    let chain = ChainConfig::sampled([]);
    let mut lookup = PromptLookup::USUAL;
    for param in PromptLookup::PARAMS.iter().take(1) {
        set(param, "drafts", words, &mut lookup)?;
        in_range(Drafts::Lookup(lookup).validate(&chain), words)?;
    }
    let (mut model, mut is_lookup, mut rule) = (None, false, None);
    options(words, |option, words| {
        match option {
            "model" => model = Some(ModelDrafts::usual(Drafter::SecondModel)),
            "mtp" => model = Some(ModelDrafts::usual(Drafter::MtpHead)),
            "layers" => {
                let mut drafts = ModelDrafts::usual(Drafter::FirstLayers(0));
                for param in ModelDrafts::LAYERS {
                    set(param, param.key, words, &mut drafts)?;
                }
                in_range(drafts.validate(&chain), words)?;
                model = Some(drafts);
            }
            "ngram" => {
                is_lookup = true;
                for param in PromptLookup::PARAMS.iter().skip(1) {
                    set(param, param.key, words, &mut lookup)?;
                }
                in_range(Drafts::Lookup(lookup).validate(&chain), words)?;
            }
            "ratio" => rule = Some(words.last.clone()),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    match (model, rule) {
        (Some(_), _) if is_lookup => {
            Err(words.last.wrong("drafts come from a model or from n-grams"))
        }
        (Some(mut drafts), rule) => {
            drafts.n_drafts = lookup.n_drafts;
            if rule.is_some() {
                drafts.rule = DraftRule::Ratio;
            }
            Ok(drafts.into())
        }
        (None, Some(word)) => {
            Err(word
                .wrong("n-grams have no probabilities to compare; use \"drafts 4 model ratio\""))
        }
        (None, None) => Ok(lookup.into()),
    }
}

/// Reads the numbers of guidance, and what it is against; its key has been taken.
pub(super) fn guidance(words: &mut Words) -> Result<Guidance, PaneSpecError> {
    let mut guidance = Guidance {
        scale: Some(1.0),
        cutoff: 0.0,
        against: Against::Prompt(String::new()),
    };
    let Some((scale, others)) = Guidance::PARAMS.split_first() else {
        return Ok(guidance);
    };
    if words.take(Guidance::DIFFERENCE) {
        guidance.scale = None;
    } else {
        set(scale, "guide", words, &mut guidance)?;
    }
    in_range(guidance.validate_numbers(), words)?;
    options(words, |option, words| {
        if option == "against" {
            guidance.against = against(words)?;
            return Ok(true);
        }
        let Some(param) = others.iter().find(|param| param.key == option) else {
            return Ok(false);
        };
        set(param, param.key, words, &mut guidance)?;
        in_range(guidance.validate_numbers(), words)?;
        Ok(true)
    })?;
    Ok(guidance)
}

/// Takes a text in quotes, the word "model", or layers.
fn against(words: &mut Words) -> Result<Against, PaneSpecError> {
    let keyword = words.last.clone();
    let Some(word) = words.next() else {
        return Err(keyword.wrong(AGAINST));
    };
    match word.text.as_str() {
        _ if word.is_quoted() => Ok(Against::Prompt(word.text)),
        "model" => Ok(Against::Model),
        "layers" => Ok(Against::Layers(layers(words)?)),
        _ => Err(word.wrong(AGAINST)),
    }
}

const AGAINST: &str = "write a text in quotes, as in against \"A sad story:\", or against model, or \
                       against layers 2 4";

/// Takes the numbers of at least one layer, up to the next word.
fn layers(words: &mut Words) -> Result<EarlyLayers, PaneSpecError> {
    let example = "against layers 2 4";
    let mut layers = vec![words.number(COUNT, example)?];
    while words
        .keyword(1)
        .is_some_and(|next| next.parse::<u32>().is_ok())
    {
        layers.push(words.number(COUNT, example)?);
    }
    EarlyLayers::new(layers).map_err(|error| words.last.wrong(error.to_string()))
}

/// Reads the first of these numbers, and the others in any order by their keys.
fn numbers<T>(
    params: &[ParamSpec<T>],
    key: &str,
    words: &mut Words,
    owner: &mut T,
    validate: impl Fn(&T) -> Result<(), SettingError>,
) -> Result<(), PaneSpecError> {
    let Some((primary, others)) = params.split_first() else {
        return Ok(());
    };
    set(primary, key, words, owner)?;
    in_range(validate(owner), words)?;
    options(words, |option, words| {
        let Some(param) = others.iter().find(|param| param.key == option) else {
            return Ok(false);
        };
        set(param, param.key, words, owner)?;
        in_range(validate(owner), words)?;
        Ok(true)
    })
}

/// Takes the value of a parameter and sets it.
fn set<T>(
    param: &ParamSpec<T>,
    key: &str,
    words: &mut Words,
    owner: &mut T,
) -> Result<(), PaneSpecError> {
    let usual = param
        .get(owner)
        .map_or(*param.usual.start(), |value| value as f32);
    let example = format!("{key} {usual}");
    let value = if param.is_count() {
        f64::from(words.number::<u32>(COUNT, &example)?)
    } else {
        f64::from(decimal(&example, words)?)
    };
    param.set(owner, value);
    Ok(())
}

/// Takes a number. One that would be rounded to 0 is an error, because 0 often has a special
/// meaning.
fn decimal(example: &str, words: &mut Words) -> Result<f32, PaneSpecError> {
    let number: f32 = words.number("a number", example)?;
    let written = &words.last.text;
    if number == 0.0 && written.parse::<f64>().is_ok_and(|exact| exact != 0.0) {
        let message = format!(
            "{written:?} is too small; write 0 or at least {:e}",
            f32::MIN_POSITIVE
        );
        return Err(words.last.wrong(message));
    }
    Ok(number)
}

/// Takes the token sequences up to the next option, or up to the end of the part or its "off".
fn breakers(
    others: &[ParamSpec<Filter>],
    words: &mut Words,
) -> Result<Vec<Vec<TokenId>>, PaneSpecError> {
    let is_option = |word: &str| {
        ["breakers", "last", "generated"].contains(&word)
            || others.iter().any(|param| param.key == word)
    };
    let mut breakers = Vec::new();
    while words.list_goes_on()
        && words.keyword(1).is_some_and(|next| !is_option(&next))
        && let Some(breaker) = words.next()
    {
        breakers.push(token_sequence(&breaker)?);
    }
    Ok(breakers)
}

/// Takes the keys of SynthID-Text, up to the end of the part or its "off".
fn layer_keys(words: &mut Words) -> Result<LayerKeys, PaneSpecError> {
    let mut keys = Vec::new();
    while words.list_goes_on() {
        keys.push(words.number(COUNT, "keys 654 400 836")?);
    }
    LayerKeys::new(&keys).ok_or_else(|| {
        let most = LayerKeys::MAX;
        words.last.wrong(format!("there are at most {most} keys"))
    })
}

fn token_sequence(breaker: &Word) -> Result<Vec<TokenId>, PaneSpecError> {
    ids(breaker).ok_or_else(|| {
        breaker.wrong("a breaker is a token id, or several as in \"breakers 13 5+6\"")
    })
}

/// Returns token ids with plus signs between them.
fn ids(word: &Word) -> Option<Vec<TokenId>> {
    let ids = word.text.split('+').map(|id| id.parse().map(TokenId));
    ids.collect::<Result<_, _>>().ok()
}

/// Returns the phrase of a thinking budget that an option sets.
fn phrase_mut<'a>(option: &str, budget: &'a mut ThinkingBudget) -> Option<&'a mut Phrase> {
    Some(match option {
        "open" => &mut budget.opening,
        "close" => &mut budget.closing,
        "message" => &mut budget.message,
        _ => return None,
    })
}

/// Takes a text in quotes, or its tokens.
fn phrase(words: &mut Words) -> Result<Phrase, PaneSpecError> {
    let keyword = words.last.clone();
    let Some(word) = words.next() else {
        return Err(keyword.wrong(PHRASE));
    };
    if word.is_quoted() {
        return Ok(Phrase::Text(unescape(&word.text)));
    }
    ids(&word)
        .map(Phrase::Tokens)
        .ok_or_else(|| word.wrong(PHRASE))
}

const PHRASE: &str = "write a text in quotes, as in message \"\\nTime is up.\\n\", or its tokens, as in \
                      message 13 or message 5+6";

fn biases(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let mut filter = LogitBias::default();
    while words.list_goes_on() && words.keyword(1).is_some_and(|word| word != "ban") {
        let token = TokenId(words.number("a token id", "bias 13 -2.5")?);
        let bias = TokenBias {
            token,
            bias: words.number("a number", "bias 13 -2.5")?,
        };
        // Only the new one is validated, because a list may be long.
        let alone = LogitBias {
            biases: vec![bias],
            banned: Vec::new(),
        };
        in_range(Filter::LogitBias(alone).validate(), words)?;
        filter.biases.push(bias);
    }
    if words.take("ban") {
        filter.banned = token_ids(words)?;
    }
    Ok(Filter::LogitBias(filter))
}

/// Reads the tokens to ban; the word "ban" has been taken.
pub(super) fn ban(words: &mut Words) -> Result<Filter, PaneSpecError> {
    Ok(Filter::LogitBias(LogitBias {
        biases: Vec::new(),
        banned: token_ids(words)?,
    }))
}

/// Takes at least one token id, up to the end of the part or its "off".
fn token_ids(words: &mut Words) -> Result<Vec<TokenId>, PaneSpecError> {
    let mut ids = vec![TokenId(words.number("a token id", "ban 13 14")?)];
    while words.list_goes_on() {
        ids.push(TokenId(words.number("a token id", "ban 13 14")?));
    }
    Ok(ids)
}

/// Takes the name of an engine.
pub(super) fn dialect(words: &mut Words) -> Result<Dialect, PaneSpecError> {
    let name: String = words.number("the name of an engine", "dialect llama.cpp")?;
    let is_meant = |dialect: &Dialect| plain(dialect.key()) == plain(&name);
    Dialect::ALL.into_iter().find(is_meant).ok_or_else(|| {
        let known = Dialect::ALL.map(Dialect::key).join(", ");
        words
            .last
            .wrong(format!("{name:?} is not an engine; use one of {known}"))
    })
}

/// Takes what the stages of a beam search see.
pub(super) fn beam_scores(words: &mut Words) -> Result<BeamScores, PaneSpecError> {
    let name: String = words.number("a kind of score", "beam-scores log-probs")?;
    let mut all = BeamScores::ALL.into_iter();
    let meant = all.find(|scores| plain(scores.key()) == plain(&name));
    meant.ok_or_else(|| {
        let known = BeamScores::ALL.map(BeamScores::key).join(", ");
        words.last.wrong(format!(
            "{name:?} is not a kind of score; use one of {known}"
        ))
    })
}

/// Takes the minimum number of candidates that each cut leaves.
pub(super) fn min_keep(words: &mut Words) -> Result<u32, PaneSpecError> {
    words.number(COUNT, "min-keep 2")
}

/// The kind of value that a count needs, in an error.
const COUNT: &str = "a whole number of 0 or more";

/// Points an error at the number that was taken last.
pub(super) fn in_range(
    validated: Result<(), SettingError>,
    words: &Words,
) -> Result<(), PaneSpecError> {
    validated.map_err(|error| words.last.wrong(error.to_string()))
}

/// Reads options in any order, as long as `read` knows the next word.
fn options(
    words: &mut Words,
    mut read: impl FnMut(&str, &mut Words) -> Result<bool, PaneSpecError>,
) -> Result<(), PaneSpecError> {
    while let Some(option) = words.keyword(1) {
        let mut after = words.clone();
        after.next();
        if !read(&option, &mut after)? {
            break;
        }
        *words = after;
    }
    Ok(())
}

/// Reads "last 64", "last all" or "generated only"; returns whether the option was one of these.
fn window_option(
    option: &str,
    window: &mut Window,
    words: &mut Words,
) -> Result<bool, PaneSpecError> {
    match option {
        "last" if words.take("all") => window.last_n = None,
        "last" => {
            let kind = format!("{COUNT}, or \"all\"");
            window.last_n = Some(words.number(&kind, "last 64")?);
        }
        "generated" => {
            words.take("only");
            window.prompt_counted = false;
        }
        _ => return Ok(false),
    }
    Ok(true)
}
