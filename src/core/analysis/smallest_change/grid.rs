//! The values of a setting that a search tries, and how far apart they are.

use crate::decoding::{Filter, ParamSpec, Scale};

/// How many distances a search tries if the choice may change back and forth along the slider.
pub(super) const N_SCANNED: u32 = 24;

/// The tolerance for a setting that is stored in single precision, in grid steps.
const GRID_ROUNDING: f64 = 1e-3;

/// The values of a setting in one direction, one decimal finer than its slider.
pub(super) struct Grid {
    /// Grid steps per unit.
    per_unit: f64,
    /// The setting's place on the grid, in steps.
    origin: f64,
    up: bool,
    pub(super) n_steps: u32,
}

impl Grid {
    /// Returns `None` if the slider ends here.
    #[expect(clippy::cast_sign_loss, reason = "a number of steps is not negative")]
    pub(super) fn of(param: &ParamSpec<Filter>, from: f64, up: bool) -> Option<Self> {
        let per_unit = if param.is_count() {
            1.0
        } else {
            10_f64.powi(i32::from(param.decimals) + 1)
        };
        let (start, end) = (
            f64::from(*param.range.start()),
            f64::from(*param.range.end()),
        );
        let at = from * per_unit;
        let (origin, n_steps) = if up {
            let origin = (at + GRID_ROUNDING).floor();
            (origin, (end * per_unit + GRID_ROUNDING).floor() - origin)
        } else {
            let origin = (at - GRID_ROUNDING).ceil();
            (origin, origin - (start * per_unit - GRID_ROUNDING).ceil())
        };
        (n_steps >= 1.0).then_some(Self {
            per_unit,
            origin,
            up,
            n_steps: n_steps as u32,
        })
    }

    pub(super) fn value(&self, index: u32) -> f64 {
        let steps = f64::from(index);
        let at = if self.up {
            self.origin + steps
        } else {
            self.origin - steps
        };
        at / self.per_unit
    }
}

/// Spaces the scanned distances logarithmically, from 1 step to `n_steps`.
#[expect(clippy::cast_sign_loss, reason = "a power of a count is not negative")]
pub(super) fn scan_index(at: u32, n_steps: u32) -> u32 {
    let exponent = f64::from(at) / f64::from(N_SCANNED);
    (f64::from(n_steps).powf(exponent).round() as u32).clamp(1, n_steps)
}

/// Returns the distance between two values as a share of the slider.
pub(super) fn distance(param: &ParamSpec<Filter>, from: f64, to: f64) -> f64 {
    let (start, end) = (
        f64::from(*param.range.start()),
        f64::from(*param.range.end()),
    );
    let is_ratio = param.scale == Scale::Logarithmic && from > 0.0 && to > 0.0 && start > 0.0;
    if is_ratio {
        (to / from).ln().abs() / (end / start).ln()
    } else {
        (to - from).abs() / (end - start)
    }
}
