//! The settings that wrote the first steps of a text, if it went on under others.

use super::{Generation, GenerationConfig};

/// Settings under which a text was written up to a step, before it went on under others.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierSettings {
    /// How many steps the text had when its settings changed.
    pub n_steps: usize,
    pub config: GenerationConfig,
}

impl Generation {
    /// Returns the settings that wrote the step with this index.
    pub fn config_at(&self, step: usize) -> &GenerationConfig {
        let mut earlier = self.earlier.iter();
        let wrote = earlier.find(|earlier| step < earlier.n_steps);
        wrote.map_or(&self.config, |earlier| &earlier.config)
    }

    /// Returns how many of the first steps were written under settings that have changed since.
    pub fn n_under_earlier(&self) -> usize {
        self.earlier.last().map_or(0, |earlier| earlier.n_steps)
    }

    /// Keeps the first steps, and lets the text go on from there under these settings.
    pub fn go_on(&mut self, n_kept: usize, config: GenerationConfig) {
        self.steps.truncate(n_kept);
        let is_same = self.config == config;
        let before = std::mem::replace(&mut self.config, config);
        self.earlier.push(EarlierSettings {
            n_steps: n_kept,
            config: before,
        });
        let n_kept = self.steps.len();
        let mut n_before = 0;
        self.earlier.retain_mut(|earlier| {
            earlier.n_steps = earlier.n_steps.min(n_kept);
            let wrote_some = earlier.n_steps > n_before;
            n_before = earlier.n_steps;
            wrote_some
        });
        // The settings in use are no earlier ones.
        while let Some(last) = self.earlier.pop() {
            if last.config != self.config {
                self.earlier.push(last);
                break;
            }
        }
        // What a server did not apply was in settings that wrote none of the text.
        if self.earlier.is_empty() && !is_same {
            self.not_applied.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EarlierSettings;
    use crate::generation::testing::generation;

    #[test]
    fn a_text_remembers_which_settings_wrote_which_steps() {
        let mut text = generation(&[(" a", 0.5), (" fox", 0.5), (" ran", 0.5)]);
        let config = |seed| crate::generation::GenerationConfig {
            seed,
            ..text.config.clone()
        };
        let [first, second, third] = [42, 43, 44].map(config);
        let step = text.steps[0].clone();
        text.go_on(2, second.clone());
        text.steps.push(step.clone());
        text.go_on(3, third.clone());
        text.steps.push(step);
        let seeds: Vec<u64> = (0..4).map(|index| text.config_at(index).seed).collect();
        assert_eq!(seeds, [42, 42, 43, 44]);
        assert_eq!(text.n_under_earlier(), 3);
        // A branch before the first change forgets both, and the same settings are no change.
        let mut branch = text.clone();
        branch.go_on(1, third);
        let earlier = [EarlierSettings {
            n_steps: 1,
            config: first.clone(),
        }];
        assert_eq!((&branch.earlier[..], branch.steps.len()), (&earlier[..], 1));
        text.go_on(1, first);
        assert_eq!(text.earlier, []);
        text.go_on(0, second);
        assert_eq!(text.earlier, []);
    }
}
