//! The marks that make up each icon, on a 16 × 16 grid whose origin is the top left corner.

use super::mark::Mark::{self, Arc, Block, Box, Circle, Curve, Dot, Fill, Line, Outline};

pub(super) const AGAIN: &[Mark] = &[
    Arc((8.0, 8.0), 5.0, [-0.35, -5.75]),
    Line(&[(13.0, 3.0), (13.0, 6.5), (9.5, 6.5)]),
];
pub(super) const CHECK: &[Mark] = &[Line(&[(3.5, 8.5), (6.5, 11.5), (12.5, 4.5)])];
pub(super) const CLOSE: &[Mark] = &[
    Line(&[(4.5, 4.5), (11.5, 11.5)]),
    Line(&[(11.5, 4.5), (4.5, 11.5)]),
];
pub(super) const COIN: &[Mark] = &[Circle((8.0, 8.0), 5.2), Line(&[(8.0, 5.2), (8.0, 10.8)])];
pub(super) const COPY: &[Mark] = &[
    Box((5.5, 5.5), (13.0, 13.0), 1.5),
    Line(&[(10.5, 3.0), (4.5, 3.0), (3.4, 3.4), (3.0, 4.5), (3.0, 10.5)]),
];
pub(super) const CUT: &[Mark] = &[
    Circle((4.6, 11.6), 1.8),
    Circle((11.4, 11.6), 1.8),
    Line(&[(5.6, 10.1), (10.6, 2.6)]),
    Line(&[(10.4, 10.1), (5.4, 2.6)]),
];
pub(super) const DOWN: &[Mark] = &[Line(&[(4.5, 6.5), (8.0, 10.0), (11.5, 6.5)])];
pub(super) const DOWNLOAD: &[Mark] = &[
    Line(&[(8.0, 2.5), (8.0, 10.0)]),
    Line(&[(5.0, 7.2), (8.0, 10.0), (11.0, 7.2)]),
    Line(&[(3.0, 13.0), (13.0, 13.0)]),
];
pub(super) const DICE: &[Mark] = &[
    Box((3.0, 3.0), (13.0, 13.0), 2.5),
    Dot((5.9, 5.9), 1.0),
    Dot((8.0, 8.0), 1.0),
    Dot((10.1, 10.1), 1.0),
];
pub(super) const EDIT: &[Mark] = &[
    Line(&[
        (3.0, 13.0),
        (3.6, 10.2),
        (10.6, 3.2),
        (12.8, 5.4),
        (5.8, 12.4),
        (3.0, 13.0),
    ]),
    Line(&[(9.2, 4.6), (11.4, 6.8)]),
];
pub(super) const EXPORT: &[Mark] = &[
    Line(&[(8.0, 10.0), (8.0, 2.5)]),
    Line(&[(5.0, 5.2), (8.0, 2.5), (11.0, 5.2)]),
    Line(&[(3.0, 9.5), (3.0, 13.0), (13.0, 13.0), (13.0, 9.5)]),
];
pub(super) const EYE: &[Mark] = &[UPPER_LID, LOWER_LID, Dot((8.0, 8.0), 2.2)];
pub(super) const EYE_OFF: &[Mark] = &[UPPER_LID, LOWER_LID, Line(&[(3.0, 13.0), (13.0, 3.0)])];
pub(super) const FAST: &[Mark] = &[
    GAUGE,
    Line(&[(8.0, 10.5), (10.8, 7.0)]),
    Dot((8.0, 10.5), 1.2),
];
pub(super) const FILE: &[Mark] = &[
    Outline(&[
        (4.0, 2.5),
        (9.0, 2.5),
        (12.5, 6.0),
        (12.5, 13.5),
        (4.0, 13.5),
    ]),
    Line(&[(9.0, 2.5), (9.0, 6.0), (12.5, 6.0)]),
];
pub(super) const FORK: &[Mark] = &[
    Line(&[(4.0, 2.5), (4.0, 13.5)]),
    Curve([(4.0, 9.0), (4.0, 6.0), (11.5, 8.0), (11.5, 3.0)]),
    Dot((11.5, 3.0), 1.5),
];
pub(super) const GEAR: &[Mark] = &[
    Circle((8.0, 8.0), 1.6),
    Circle((8.0, 8.0), 4.4),
    Line(&[(8.0, 3.6), (8.0, 1.8)]),
    Line(&[(11.1, 4.9), (12.4, 3.6)]),
    Line(&[(12.4, 8.0), (14.2, 8.0)]),
    Line(&[(11.1, 11.1), (12.4, 12.4)]),
    Line(&[(8.0, 12.4), (8.0, 14.2)]),
    Line(&[(4.9, 11.1), (3.6, 12.4)]),
    Line(&[(3.6, 8.0), (1.8, 8.0)]),
    Line(&[(4.9, 4.9), (3.6, 3.6)]),
];
pub(super) const GRIP: &[Mark] = &[
    Dot((6.0, 3.5), 1.1),
    Dot((6.0, 8.0), 1.1),
    Dot((6.0, 12.5), 1.1),
    Dot((10.0, 3.5), 1.1),
    Dot((10.0, 8.0), 1.1),
    Dot((10.0, 12.5), 1.1),
];
pub(super) const INFO: &[Mark] = &[
    Circle((8.0, 8.0), 5.5),
    Line(&[(8.0, 7.6), (8.0, 11.0)]),
    Dot((8.0, 5.1), 0.9),
];
pub(super) const LEFT: &[Mark] = &[Line(&[(9.5, 4.5), (6.0, 8.0), (9.5, 11.5)])];
pub(super) const LIST: &[Mark] = &[
    Dot((3.4, 4.5), 0.9),
    Dot((3.4, 8.0), 0.9),
    Dot((3.4, 11.5), 0.9),
    Line(&[(6.5, 4.5), (13.0, 4.5)]),
    Line(&[(6.5, 8.0), (13.0, 8.0)]),
    Line(&[(6.5, 11.5), (13.0, 11.5)]),
];
pub(super) const LISTEN: &[Mark] = &[
    Dot((8.0, 8.0), 1.3),
    Arc((8.0, 8.0), 3.4, [-0.8, 0.8]),
    Arc((8.0, 8.0), 3.4, [2.34, 3.94]),
    Arc((8.0, 8.0), 6.2, [-0.8, 0.8]),
    Arc((8.0, 8.0), 6.2, [2.34, 3.94]),
];
pub(super) const MORE: &[Mark] = &[
    Dot((3.5, 8.0), 1.2),
    Dot((8.0, 8.0), 1.2),
    Dot((12.5, 8.0), 1.2),
];
pub(super) const PIN: &[Mark] = &[
    Outline(&[(5.5, 3.0), (10.5, 3.0), (10.0, 7.5), (6.0, 7.5)]),
    Line(&[(4.0, 7.5), (12.0, 7.5)]),
    Line(&[(8.0, 7.5), (8.0, 13.5)]),
];
pub(super) const PLAY: &[Mark] = &[Fill(&[(4.5, 3.0), (13.0, 8.0), (4.5, 13.0)])];
pub(super) const PLUS: &[Mark] = &[
    Line(&[(8.0, 3.5), (8.0, 12.5)]),
    Line(&[(3.5, 8.0), (12.5, 8.0)]),
];
pub(super) const REDO: &[Mark] = &[
    Line(&[(10.0, 3.0), (13.0, 6.0), (10.0, 9.0)]),
    Curve([(13.0, 6.0), (4.0, 6.0), (0.0, 12.0), (8.5, 12.8)]),
];
pub(super) const RIGHT: &[Mark] = &[Line(&[(6.5, 4.5), (10.0, 8.0), (6.5, 11.5)])];
pub(super) const SEARCH: &[Mark] = &[Circle((7.0, 7.0), 4.0), Line(&[(10.0, 10.0), (13.5, 13.5)])];
pub(super) const SLOW: &[Mark] = &[
    GAUGE,
    Line(&[(8.0, 10.5), (5.2, 7.0)]),
    Dot((8.0, 10.5), 1.2),
];
pub(super) const STEP: &[Mark] = &[
    Fill(&[(3.5, 3.5), (9.5, 8.0), (3.5, 12.5)]),
    Line(&[(12.0, 3.5), (12.0, 12.5)]),
];
pub(super) const STOP: &[Mark] = &[Block((3.5, 3.5), (12.5, 12.5), 2.0)];
pub(super) const UNDO: &[Mark] = &[
    Line(&[(6.0, 3.0), (3.0, 6.0), (6.0, 9.0)]),
    Curve([(3.0, 6.0), (12.0, 6.0), (16.0, 12.0), (7.5, 12.8)]),
];
pub(super) const UP: &[Mark] = &[Line(&[(4.5, 9.5), (8.0, 6.0), (11.5, 9.5)])];
pub(super) const WARNING: &[Mark] = &[
    Outline(&[(8.0, 2.5), (14.0, 13.0), (2.0, 13.0)]),
    Line(&[(8.0, 6.5), (8.0, 9.5)]),
    Dot((8.0, 11.3), 0.8),
];

/// The dial that the needle of a pace icon points at.
const GAUGE: Mark = Arc((8.0, 10.0), 6.0, [-3.5, 0.36]);
const UPPER_LID: Mark = Curve([(1.8, 8.0), (4.0, 4.2), (12.0, 4.2), (14.2, 8.0)]);
const LOWER_LID: Mark = Curve([(1.8, 8.0), (4.0, 11.8), (12.0, 11.8), (14.2, 8.0)]);
