//! Bounded.
