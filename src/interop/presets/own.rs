//! The list of the user's own presets: a name stands for one of them.

use super::OwnPreset;

/// Puts a preset into the list, in the place of the one that has its name, or at the end. Gives the
/// one that was replaced.
pub fn save(presets: &mut Vec<OwnPreset>, preset: OwnPreset) -> Option<OwnPreset> {
    let mut others = presets.iter_mut();
    if let Some(namesake) = others.find(|other| other.name == preset.name) {
        return Some(std::mem::replace(namesake, preset));
    }
    presets.push(preset);
    None
}

/// The name, or where a preset has it already, the name with the first number that is free:
/// "Poems 2".
pub fn free_name(presets: &[OwnPreset], name: &str) -> String {
    let is_taken = |name: &str| presets.iter().any(|preset| preset.name == name);
    if !is_taken(name) {
        return name.to_owned();
    }
    // Of n + 1 names, n presets leave one.
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
    fn a_name_that_is_taken_gets_a_number() {
        let presets = ["Poems", "Poems 2", "Code"].map(named);
        for (name, free) in [("Prose", "Prose"), ("Code", "Code 2"), ("Poems", "Poems 3")] {
            assert_eq!(free_name(&presets, name), free);
        }
    }

    #[test]
    fn a_preset_takes_the_place_of_its_namesake() {
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
