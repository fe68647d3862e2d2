//! The window: drains events, draws, applies commands, runs effects.
