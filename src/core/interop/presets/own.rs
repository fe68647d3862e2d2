//! The list of the user's presets, in which names are unique.

use super::OwnPreset;

/// Replaces the preset of the same name, or appends the preset to the list. Returns the preset that
/// was replaced, if any.
pub fn save(presets: &mut Vec<OwnPreset>, preset: OwnPreset) -> Option<OwnPreset> {
    let mut existing = presets.iter_mut();
    if let Some(namesake) = existing.find(|other| other.name == preset.name) {
        return Some(std::mem::replace(namesake, preset));
    }
    presets.push(preset);
    None
}

/// Makes a name unique: returns it unchanged, or with the first free number if it is taken:
/// "Poems 2".
pub fn free_name(presets: &[OwnPreset], name: &str) -> String {
    let is_taken = |name: &str| presets.iter().any(|preset| preset.name == name);
    if !is_taken(name) {
        return name.to_owned();
    }
    // n presets can't take all of n + 1 names.
    (2..presets.len() + 3)
        .map(|n| format!("{name} {n}"))
        .find(|name| !is_taken(name))
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{OwnPreset, free_name, save};
    use crate::decoding::ChainConfig;

    fn named(name: &str) -> OwnPreset {
        OwnPreset {
            name: name.to_owned(),
            chain: ChainConfig::greedy(),
        }
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let presets = ["Poems", "Poems 2", "Code"].map(named);
        for (name, free) in [("Prose", "Prose"), ("Code", "Code 2"), ("Poems", "Poems 3")] {
            assert_eq!(free_name(&presets, name), free);
        }
    }

    #[test]
    fn a_preset_replaces_its_namesake() {
        let mut presets = vec![named("Poems"), named("Code")];
        let poems = OwnPreset {
            chain: ChainConfig::sampled([]),
            ..named("Poems")
        };
        assert_eq!(save(&mut presets, poems.clone()), Some(named("Poems")));
        assert_eq!(presets, [poems.clone(), named("Code")]);
        assert_eq!(save(&mut presets, named("Prose")), None);
        assert_eq!(presets.len(), 3);
    }
}
