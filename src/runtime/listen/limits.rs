//! What programs may use of the endpoint.

use std::time::Duration;

/// How many requests may be open: those being answered, and those that wait.
pub const MAX_OPEN_REQUESTS: usize = 16;

/// How many texts are written at the same time. Further requests wait.
pub const MAX_WRITING_TEXTS: usize = 8;

/// How many connections may be open. Further ones wait to be accepted.
pub(super) const MAX_CONNECTIONS: usize = 32;

/// How large the body of a request may be.
pub(super) const MAX_BODY_BYTES: usize = 16 << 20;

/// How large the head of a request may be, and how many headers it may have.
pub(super) const MAX_HEAD_BYTES: usize = 32 << 10;
pub(super) const MAX_HEADERS: usize = 64;

/// How long the head of a request may take, and how long a connection may be idle.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// How long the body of a request may take.
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a program may read nothing of its response.
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How many parts of a stream wait for a program that reads slowly, before its texts are stopped.
pub(super) const MAX_UNREAD_PARTS: usize = 4_096;

/// How many refusals wait to be listed. Further ones are not listed.
pub(super) const MAX_UNLISTED_REFUSALS: usize = 256;

/// How soon to ask again if too many requests are open, in seconds.
pub(super) const RETRY_AFTER_SECS: u32 = 1;

/// How long open connections have to send their last bytes when the endpoint closes.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How many earlier requests a prompt is compared with, and how many tokens they may have together.
pub(super) const MAX_EARLIER: usize = 64;
pub(super) const MAX_EARLIER_TOKENS: usize = 1 << 20;
