//! By how much the best settings are better than each other one.

use super::TasksReading;
use super::statistics::Comparison;

impl TasksReading {
    /// Returns the settings with the largest share of right answers, the first if several have it.
    pub fn best(&self) -> Option<usize> {
        let shares = self.shares.iter().enumerate().rev();
        let known = shares.filter_map(|(index, share)| Some((index, share.as_ref()?.share)));
        let best = known.max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(index, _)| index)
    }

    /// Returns how the best settings differ from each other one, in the order of the panes.
    pub fn better_by(&self) -> Vec<Comparison> {
        let Some(best) = self.best() else {
            return Vec::new();
        };
        let pairs = self.pairs.iter().filter_map(|pair| {
            if pair.first == best {
                Some(*pair)
            } else if pair.second == best {
                Some(Comparison {
                    first: best,
                    second: pair.first,
                    paired: pair.paired.reversed(),
                })
            } else {
                None
            }
        });
        let mut pairs: Vec<Comparison> = pairs.collect();
        pairs.sort_by_key(|pair| pair.second);
        pairs
    }
}
