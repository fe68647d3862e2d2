//! What identifies a run besides its settings, then and now, and which change explains a
//! difference.

use crate::generation::{Generation, Implementation, ModelInfo, listed};

/// Something that can change a model's numbers, as recorded and as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub name: &'static str,
    pub then: String,
    pub now: String,
    /// What it does to the numbers, if it differs.
    effect: &'static str,
}

impl Fact {
    /// Whether both values are known and differ.
    pub fn differs(&self) -> bool {
        !self.then.is_empty() && !self.now.is_empty() && self.then != self.now
    }

    fn is_plural(&self) -> bool {
        self.name.ends_with('s')
    }

    /// Says what it was: "the inputs were 16-bit".
    fn then_words(&self) -> String {
        let was = if self.is_plural() { "were" } else { "was" };
        format!("the {} {was} {}", self.name.to_lowercase(), self.then)
    }
}

/// The names of the facts that say in which number formats a model computes, and on what.
const FORMATS: [&str; 4] = ["Device", "Precision", "Cache", "Inputs"];

/// The models of a run.
#[derive(Debug, Clone, Copy)]
pub struct Models<'a> {
    pub model: &'a ModelInfo,
    /// The model that drafted or guided.
    pub second: Option<&'a ModelInfo>,
}

impl<'a> Models<'a> {
    /// Returns the models of a text.
    pub fn of(text: &'a Generation) -> Self {
        Self {
            model: &text.model,
            second: text.second_model.as_deref(),
        }
    }
}

impl<'a> From<&'a ModelInfo> for Models<'a> {
    fn from(model: &'a ModelInfo) -> Self {
        let second = None;
        Self { model, second }
    }
}

/// Lists what can change the numbers, strongest cause first.
pub fn facts(then: Models<'_>, now: Models<'_>) -> Vec<Fact> {
    facts_of_all(&[(then, now)])
}

/// Lists what can change the numbers of texts by several models, each then and now. Values that are
/// not the same for all texts are listed side by side.
pub fn facts_of_all(models: &[(Models<'_>, Models<'_>)]) -> Vec<Fact> {
    let mut all: Vec<(Fact, Vec<[String; 2]>)> = Vec::new();
    for (then, now) in models {
        for (index, fact) in all_facts(*then, *now).into_iter().enumerate() {
            let values = [fact.then.clone(), fact.now.clone()];
            let is_known = values.iter().any(|value| !value.is_empty());
            if all.len() == index {
                all.push((fact, Vec::new()));
            }
            if let Some((_, listed)) = all.get_mut(index)
                && is_known
                && !listed.contains(&values)
            {
                listed.push(values);
            }
        }
    }
    all.retain(|(_, listed)| !listed.is_empty());
    let merged = all.into_iter().map(|(fact, listed)| Fact {
        then: side_by_side(listed.iter().map(|[then, _]| then)),
        now: side_by_side(listed.iter().map(|[_, now]| now)),
        ..fact
    });
    merged.collect()
}

/// Lists values: "2fb47323, 00c0ffee". An unknown one beside others is a dash.
fn side_by_side<'a>(values: impl ExactSizeIterator<Item = &'a String>) -> String {
    let is_single = values.len() == 1;
    let words = values.map(|value| match value.as_str() {
        "" if !is_single => "–",
        known => known,
    });
    words.collect::<Vec<_>>().join(", ")
}

fn all_facts(then: Models<'_>, now: Models<'_>) -> Vec<Fact> {
    let hash = |second: Option<&ModelInfo>| second.map(|second| second.sha256.clone());
    let is_long = hash(then.second) != hash(now.second)
        && second_words(then.second, false) == second_words(now.second, false);
    let second = Fact {
        name: "Second model",
        then: second_words(then.second, is_long),
        now: second_words(now.second, is_long),
        effect: "A different second model drafts and guides differently",
    };
    let second_setup = Fact {
        name: "Second setup",
        then: setup_words(then.second),
        now: setup_words(now.second),
        effect: "What changes the logits of the model changes those of the second one too",
    };
    let (then, now) = (then.model, now.model);
    let fact = |name, effect, of: &dyn Fn(&ModelInfo) -> String| Fact {
        name,
        then: of(then),
        now: of(now),
        effect,
    };
    let threads = |info: &ModelInfo| info.n_threads.map_or(String::new(), |n| n.to_string());
    vec![
        shortened(fact(
            "Model file",
            "Different weights produce different logits",
            &|info| info.sha256.clone(),
        )),
        second,
        shortened(fact(
            "Tokenizer",
            "Different token ids make a different prompt",
            &|info| info.provenance.tokenizer_sha256.clone(),
        )),
        shortened(fact(
            "Chat template",
            "A different template makes a different prompt",
            &|info| info.provenance.template_sha256.clone(),
        )),
        fact("Device", "Devices add numbers in different orders", &device),
        fact(
            "Precision",
            "Rounding to fewer bits changes the logits",
            &|info| info.provenance.precision.clone(),
        ),
        fact(
            "Cache",
            "Rounding keys and values changes the logits",
            &|info| info.provenance.cache.clone(),
        ),
        fact(
            "Inputs",
            "Rounding the inputs of matrix products changes the logits",
            &inputs,
        ),
        fact(
            "System",
            "Systems compute exponentials with different libraries",
            &|info| info.provenance.system.clone(),
        ),
        fact(
            "Instructions",
            "Instruction sets add numbers in different orders",
            &|info| info.provenance.instructions.clone(),
        ),
        fact("Version", "Versions may compute differently", &|info| {
            info.provenance.version.clone()
        }),
        second_setup,
        fact(
            "Threads",
            "On some devices, the number of threads changes how sums are split",
            &threads,
        ),
        fact("End tokens", "Other tokens end a text", &end_token_ids),
    ]
}

fn end_token_ids(info: &ModelInfo) -> String {
    let ids = info.provenance.end_tokens.iter();
    let ids: Vec<String> = ids.map(|token| token.0.to_string()).collect();
    ids.join(", ")
}

/// Returns whether a text and its replay were computed in the same way as far as the record tells, so
/// that every number should be the same. The prompt is the same anyway, token for token. What is not
/// recorded is different from what is known now.
pub fn computed_alike(then: &Generation, now: &Generation) -> bool {
    let is_served = then.model.implementation == Implementation::Server;
    // Our own kernels add numbers in the same order on any number of threads.
    let any_threads =
        then.model.implementation.is_quartet() && now.model.implementation.is_quartet();
    let decides = |fact: &Fact| match fact.name {
        "Tokenizer" | "Chat template" => false,
        "Threads" => !any_threads,
        _ => true,
    };
    let facts = all_facts(Models::of(then), Models::of(now));
    let mut deciding = facts.iter().filter(|fact| decides(fact));
    !is_served && deciding.all(|fact| fact.then == fact.now)
}

/// Explains a difference by what has changed: "Then the cache was f32, now it is f16. …"
pub fn likely_cause(facts: &[Fact]) -> String {
    let Some(fact) = facts.iter().find(|fact| fact.differs()) else {
        return "Nothing that is recorded explains it: the file was changed after it was written, or \
                something that it does not record is different"
            .to_owned();
    };
    let it = if fact.is_plural() {
        "they are"
    } else {
        "it is"
    };
    format!(
        "Then {}, now {it} {}. {}",
        fact.then_words(),
        fact.now,
        fact.effect
    )
}

/// Says in which number formats a model computes now, and in which it computed then: "Then the cache
/// was f32, now it is f16". `None` if no known one differs.
pub fn format_change(then: &ModelInfo, now: &ModelInfo) -> Option<String> {
    let mut changed = facts(then.into(), now.into());
    changed.retain(|fact| FORMATS.contains(&fact.name) && fact.differs());
    let [first, others @ ..] = &changed[..] else {
        return None;
    };
    let it = if others.is_empty() && !first.is_plural() {
        "it is"
    } else {
        "they are"
    };
    let then: Vec<String> = changed.iter().map(Fact::then_words).collect();
    let now: Vec<&str> = changed.iter().map(|fact| fact.now.as_str()).collect();
    Some(format!("Then {}, now {it} {}", listed(&then), listed(&now)))
}

/// Returns the device without its number formats.
fn device(info: &ModelInfo) -> String {
    let name = info.device.split(" with ").next().unwrap_or_default();
    name.split(" in ").next().unwrap_or_default().to_owned()
}

/// Returns the precision to which a CPU rounds the inputs of quantized matrix products. Servers
/// do not report it.
fn inputs(info: &ModelInfo) -> String {
    let is_recorded = !info.provenance.cache.is_empty();
    let bits = is_recorded.then(|| info.input_rounding());
    bits.unwrap_or_default().to_owned()
}

/// Returns the name and the hash, because several files may have the same name.
fn second_words(second: Option<&ModelInfo>, is_long: bool) -> String {
    let hash = |second: &ModelInfo| {
        if is_long {
            second.sha256.clone()
        } else {
            short_hash(&second.sha256)
        }
    };
    second.map_or_else(String::new, |second| {
        let (name, hash) = (&second.name, hash(second));
        format!("{name} {hash}").trim().to_owned()
    })
}

/// Says how a second model was run: "CPU, f32, f32 cache, AVX2, linux `x86_64`, 0.1.0".
fn setup_words(second: Option<&ModelInfo>) -> String {
    let Some(second) = second else {
        return String::new();
    };
    let provenance = &second.provenance;
    let cache = match provenance.cache.as_str() {
        "" => String::new(),
        cache => format!("{cache} cache"),
    };
    let words = [
        second.device.clone(),
        provenance.precision.clone(),
        cache,
        provenance.instructions.clone(),
        provenance.system.clone(),
        provenance.version.clone(),
    ];
    let known: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    known.join(", ")
}

/// Shortens the hashes of a fact, unless only what is cut off tells them apart.
fn shortened(fact: Fact) -> Fact {
    let (then, now) = (short_hash(&fact.then), short_hash(&fact.now));
    if then == now && fact.then != fact.now {
        return fact;
    }
    Fact { then, now, ..fact }
}

fn short_hash(hash: &str) -> String {
    hash.chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::{Models, likely_cause};
    use crate::generation::{ModelInfo, Provenance};

    fn facts(then: &ModelInfo, now: &ModelInfo) -> Vec<super::Fact> {
        super::facts(then.into(), now.into())
    }

    #[test]
    fn another_second_model_is_a_cause() {
        let model = ModelInfo::default();
        let second = |hash: &str| ModelInfo {
            name: "Small".to_owned(),
            sha256: hash.to_owned(),
            ..ModelInfo::default()
        };
        let cause = |then: Option<&ModelInfo>, now: Option<&ModelInfo>| {
            let models = |second| Models {
                model: &model,
                second,
            };
            likely_cause(&super::facts(models(then), models(now)))
        };
        let (one, other) = (second("2fb47323aa"), second("00c0ffee00"));
        let same = cause(Some(&one), Some(&one));
        assert!(
            same.starts_with("Nothing that is recorded explains it"),
            "{same}"
        );
        let words = cause(Some(&one), Some(&other));
        let start = "Then the second model was Small 2fb47323, now it is Small 00c0ffee.";
        assert!(words.starts_with(start), "{words}");
        let mut elsewhere = one.clone();
        elsewhere.device = "CUDA 0".to_owned();
        let words = cause(Some(&elsewhere), Some(&elsewhere));
        assert!(words.starts_with("Nothing"), "{words}");
        let mut here = elsewhere.clone();
        here.device = "CPU".to_owned();
        let words = cause(Some(&elsewhere), Some(&here));
        let start = "Then the second setup was CUDA 0, now it is CPU.";
        assert!(words.starts_with(start), "{words}");
        // A run that does not name its second model can't be compared.
        assert!(cause(None, Some(&other)).starts_with("Nothing"));
    }

    #[test]
    fn the_strongest_change_is_the_likely_cause() {
        let then = ModelInfo {
            device: "CPU".to_owned(),
            sha256: "2fb47323aa".to_owned(),
            provenance: Provenance {
                cache: "f32".to_owned(),
                instructions: "AVX2".to_owned(),
                ..Provenance::default()
            },
            ..ModelInfo::default()
        };
        let same = likely_cause(&facts(&then, &then));
        assert!(
            same.starts_with("Nothing that is recorded explains it"),
            "{same}"
        );
        let mut now = then.clone();
        now.provenance.instructions = "portable".to_owned();
        let cause = likely_cause(&facts(&then, &now));
        assert!(cause.starts_with("Then the instructions were AVX2, now they are portable."));
        now.device = "CPU with an f16 cache".to_owned();
        now.provenance.cache = "f16".to_owned();
        let cause = likely_cause(&facts(&then, &now));
        assert!(
            cause.starts_with("Then the cache was f32, now it is f16."),
            "{cause}"
        );
        now = then.clone();
        now.device = "CPU with 8-bit inputs".to_owned();
        let cause = likely_cause(&facts(&then, &now));
        assert!(
            cause.starts_with("Then the inputs were 16-bit, now they are 8-bit."),
            "{cause}"
        );
        // What is not recorded explains nothing.
        let unknown = ModelInfo {
            provenance: Provenance::default(),
            ..then.clone()
        };
        assert!(likely_cause(&facts(&unknown, &then)).starts_with("Nothing"));
    }

    #[test]
    fn all_changed_formats_are_said_in_one_sentence() {
        let then = ModelInfo {
            device: "CPU".to_owned(),
            provenance: Provenance {
                instructions: "AVX2".to_owned(),
                precision: "f32".to_owned(),
                cache: "f32".to_owned(),
                ..Provenance::default()
            },
            ..ModelInfo::default()
        };
        let words = |now: &ModelInfo| super::format_change(&then, now);
        let mut now = then.clone();
        assert_eq!(words(&now), None);
        now.provenance.instructions = "portable".to_owned();
        assert_eq!(words(&now), None, "these are no formats");
        now.device = "CPU with 8-bit inputs".to_owned();
        let expected = "Then the inputs were 16-bit, now they are 8-bit";
        assert_eq!(words(&now).as_deref(), Some(expected));
        now.provenance.cache = "q8".to_owned();
        let expected =
            "Then the cache was f32 and the inputs were 16-bit, now they are q8 and 8-bit";
        assert_eq!(words(&now).as_deref(), Some(expected));
        now.provenance = Provenance::default();
        assert_eq!(words(&now), None, "what is not recorded is not said");
    }
}
