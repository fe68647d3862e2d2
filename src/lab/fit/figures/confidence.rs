//! How far below the best log-likelihood an interval must reach to hold the truth in 95 % of texts.
//!
//! For a number that changes probabilities smoothly, such as a temperature, twice the drop from the
//! best to the true value follows a χ² distribution with one degree of freedom (Wilks 1938, "The
//! large-sample distribution of the likelihood ratio for testing composite hypotheses"): 1.92 nats.
//!
//! A number that cuts the support, such as top-p, is different. The likelihood rises as the cut
//! gets tighter, up to the value that rules a token of the text out, and the drop from there to the
//! true value is exponentially distributed: half a χ² with *two* degrees of freedom (Hogg 1956, "On
//! the distribution of the likelihood ratio"). That takes 3.00 nats; 1.92 hold the truth in only
//! 1 − e^−1.92 = 85 % of texts. The degrees of independent numbers add up.

use crate::analysis::sweep::{Axis, Parameter};
use crate::decoding::{ChainConfig, Filter, FilterKind, Ranking, Stage};
use crate::lab::fit::FitSetup;

/// Half the 95 % quantiles of χ² distributions with 1 to 4 degrees of freedom, in nats.
const NATS: [f64; 4] = [1.92, 3.0, 3.91, 4.74];

impl FitSetup {
    /// Returns how far below the best log-likelihood the 95 % interval of an axis reaches, in nats:
    /// 1.92, or 3 if its values cut the support. The other axis is chosen to suit, so it adds
    /// nothing.
    pub fn interval_nats(&self, axis: usize) -> f64 {
        nats(self.degrees(axis))
    }

    /// Returns how far below the best log-likelihood the 95 % region of all axes together reaches,
    /// in nats.
    pub fn region_nats(&self) -> f64 {
        nats((0..self.axes().len()).map(|axis| self.degrees(axis)).sum())
    }

    /// Returns the degrees of freedom of an axis: 2 if its values decide which tokens are possible.
    fn degrees(&self, axis: usize) -> usize {
        let axes = self.axes();
        let Some(axis) = axes.get(axis) else {
            return 1;
        };
        let chain = self.chain_at(&self.values_of(0));
        let is_varied = |filter: &Filter| {
            let is_of = |axis: &&Axis| matches!(axis.parameter, Parameter::Filter(kind, _) if kind == filter.kind());
            axes.iter().any(is_of)
        };
        if moves_support(axis.parameter, &chain, is_varied) {
            2
        } else {
            1
        }
    }
}

/// Returns whether the values of a parameter decide which tokens are possible: because its own stage
/// drops candidates, or because a later one does and sees other probabilities for other values.
/// `is_varied` says which filters are active even if they are neutral in this chain.
fn moves_support(
    parameter: Parameter,
    chain: &ChainConfig,
    is_varied: impl Fn(&Filter) -> bool,
) -> bool {
    let kind = match parameter {
        Parameter::Filter(kind, _) if kind.spec().cuts_support => return true,
        Parameter::Filter(kind, _) => Some(kind),
        // The mixture comes before all stages, and its cutoff drops candidates of its own.
        Parameter::Guidance(1) => return true,
        Parameter::Guidance(_) => None,
        // A selector that is not adaptive draws from what is left.
        Parameter::Selector(..) => return false,
    };
    let is_own = |stage: &Stage| Some(stage.filter.kind()) == kind;
    let own = chain.stages.iter().position(is_own);
    let later = chain.stages.iter().skip(own.map_or(0, |own| own + 1));
    later
        .filter(|stage| stage.enabled && stage.filter.spec().cuts_support)
        .filter(|stage| is_varied(&stage.filter) || !stage.filter.is_neutral())
        .any(|stage| kind.is_none_or(|kind| !keeps_same(&stage.filter, kind)))
}

/// Returns whether a cut keeps the same candidates whatever the values of an earlier filter are.
fn keeps_same(cut: &Filter, earlier: FilterKind) -> bool {
    match cut.kind() {
        FilterKind::TopK => earlier.spec().ranking != Ranking::Changes,
        _ => earlier.place() == FilterKind::Temperature && cut.ignores_scale(),
    }
}

fn nats(degrees: usize) -> f64 {
    let [one, .., most] = NATS;
    let nats = NATS.get(degrees.saturating_sub(1)).copied();
    if degrees == 0 {
        one
    } else {
        nats.unwrap_or(most)
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::sweep::{Axis, Parameter};
    use crate::generation::PaneSettings;
    use crate::lab::fit::FitSetup;

    fn setup(base: &str, varied: &[&str]) -> FitSetup {
        let axis = |key: &&str| {
            let mut all = Parameter::of_sweeps().into_iter();
            let parameter = all.find(|parameter| parameter.key() == *key).unwrap();
            Axis::range(parameter, parameter.usual_range(), 3).unwrap()
        };
        let mut axes = varied.iter().map(axis);
        FitSetup {
            base: base.parse::<PaneSettings>().unwrap().chain,
            rows: axes.next().unwrap(),
            columns: axes.next(),
        }
    }

    #[test]
    fn a_number_that_decides_what_is_possible_needs_three_nats() {
        for (base, varied, nats) in [
            ("sample", "temp", 1.92),
            ("sample", "repeat", 1.92),
            ("sample", "frequency", 1.92),
            ("sample", "top-p", 3.0),
            ("sample", "top-k", 3.0),
            ("sample", "min-p", 3.0),
            ("sample", "typical-p", 3.0),
            ("sample", "xtc threshold", 3.0),
            ("sample", "no-repeat", 3.0),
            // A later cut sees other probabilities.
            ("temp 1, top-p 0.9", "temp", 3.0),
            ("temp 1, top-p 1", "temp", 1.92),
            ("top-p 0.9, temp 1", "temp", 1.92),
            ("temp 1, top-k 40", "temp", 1.92),
            ("temp 1, top-nσ 1", "temp", 1.92),
            ("repeat 1.1, top-k 40", "repeat", 3.0),
            ("sample, guide 1.5 against model", "guide", 1.92),
            ("top-k 40, guide 1.5 against model", "guide", 3.0),
            ("sample, guide 1.5 against model", "guide cutoff", 3.0),
        ] {
            let found = setup(base, &[varied]).interval_nats(0);
            assert!((found - nats).abs() < 1e-9, "{varied} of {base}: {found}");
        }
    }

    #[test]
    fn the_degrees_of_two_numbers_add_up() {
        for (varied, each, region) in [
            (["repeat", "frequency"], [1.92, 1.92], 3.0),
            (["temp", "top-k"], [1.92, 3.0], 3.91),
            (["top-p", "min-p"], [3.0, 3.0], 4.74),
            (["temp", "top-p"], [3.0, 3.0], 4.74),
        ] {
            let setup = setup("sample", &varied);
            let found = [setup.interval_nats(0), setup.interval_nats(1)];
            assert_eq!((found, setup.region_nats()), (each, region), "{varied:?}");
        }
    }
}
