//! What the token text promises.
