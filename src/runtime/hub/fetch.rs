//! Downloads one file's content into the cache: appends range after range, verifies the checksum,
//! then renames the file, which gets its final name only once it has been verified.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::{Duration, Instant};

use super::cache::RepoCache;
use super::http::FileAddress;
use super::progress::{DownloadControl, DownloadPhase, ProgressReporter, whole_seconds};
use super::repository::RemoteFile;
use super::retry::{CallEvent, CallSpec, Interruption, RetryPolicy};
use super::{Hub, HubError};
use crate::generation::formatting::io_words;

/// Ranges are sized so that each takes about this long.
const RANGE_TIME: Duration = Duration::from_secs(4);

/// How many bytes are hashed between two checks for a user request.
const HASH_BUFFER_LEN: usize = 1 << 20;

/// The file to download, at a fixed commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub repository: &'a str,
    pub commit: &'a str,
    pub file: &'a RemoteFile,
}

impl Hub {
    /// Downloads and verifies a file's content, resuming from its partial file.
    pub(super) fn fetch_file(
        &self,
        source: Source<'_>,
        cache: &RepoCache,
        reporter: &mut ProgressReporter<'_>,
    ) -> Result<(), Interruption> {
        let file = source.file;
        let _lock = cache.lock(&file.checksum, &file.path)?;
        let incomplete = cache.incomplete(&file.checksum);
        self.fetch_content(source, &incomplete, reporter)?;
        if !verify(file, &incomplete, reporter)? {
            // A corrupt file can't be resumed.
            fs::remove_file(&incomplete).map_err(|error| HubError::writing(&incomplete, error))?;
            let file = file.path.clone();
            return Err(HubError::ChecksumWrong { file }.into());
        }
        let blob = cache.blob(&file.checksum);
        fs::rename(&incomplete, &blob).map_err(|error| HubError::writing(&blob, error))?;
        Ok(())
    }

    fn fetch_content(
        &self,
        source: Source<'_>,
        incomplete: &Path,
        reporter: &mut ProgressReporter<'_>,
    ) -> Result<(), Interruption> {
        let writing = |error| HubError::writing(incomplete, error);
        let mut output = OpenOptions::new()
            .create(true)
            .append(true)
            .open(incomplete)
            .map_err(writing)?;
        let address = FileAddress {
            repository: source.repository.to_owned(),
            commit: source.commit.to_owned(),
            path: source.file.path.clone(),
        };
        let n_bytes = source.file.n_bytes;
        let mut n_here = output.metadata().map_err(writing)?.len();
        if n_here > n_bytes {
            output.set_len(0).map_err(writing)?;
            n_here = 0;
        }
        let mut range_len = *self.config.range_len.start();
        let mut retry_policy = RetryPolicy::Transient;
        while n_here < n_bytes {
            let range = n_here..n_bytes.min(n_here + range_len);
            let asked_at = Instant::now();
            let mut observe = |event: &CallEvent<'_>| report(reporter, n_here, event);
            let bytes = self.fetch_range(&address, range, retry_policy, &mut observe)?;
            output.write_all(&bytes).map_err(writing)?;
            n_here += bytes.len() as u64;
            range_len = next_range_len(
                bytes.len() as u64,
                asked_at.elapsed(),
                &self.config.range_len,
            );
            retry_policy = RetryPolicy::TransientOrOffline;
            reporter.received(n_here).go_on()?;
        }
        // The bytes must be on disk before the rename, so that a power cut can't leave a named but
        // incomplete file.
        Ok(output.sync_all().map_err(writing)?)
    }

    /// Downloads exactly this range of a file.
    pub(super) fn fetch_range(
        &self,
        address: &FileAddress,
        range: Range<u64>,
        retry_policy: RetryPolicy,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<Vec<u8>, Interruption> {
        let spec = CallSpec {
            subject: self.subject(&address.repository, &address.path),
            timeout: self.timeouts.download,
            retry_policy,
        };
        let http = self.http()?;
        self.call_with_retries(&spec, observe, |listener| {
            let (http, address, range) = (http.clone(), address.clone(), range.clone());
            async move { http.range(&address, range, &listener).await }
        })
    }
}

fn report(
    reporter: &mut ProgressReporter<'_>,
    n_here: u64,
    event: &CallEvent<'_>,
) -> DownloadControl {
    match event {
        CallEvent::Received(n_bytes) => reporter.received(n_here + n_bytes),
        CallEvent::Retrying(error, left) => reporter.stage(DownloadPhase::Waiting {
            reason: error.to_string(),
            seconds: whole_seconds(*left),
        }),
    }
}

/// Returns the length of the next range, given that `n_bytes` took this long. At most doubles it.
fn next_range_len(n_bytes: u64, took: Duration, limits: &RangeInclusive<u64>) -> u64 {
    let took = took.as_millis().max(1);
    let wanted = u128::from(n_bytes) * RANGE_TIME.as_millis() / took;
    let wanted = wanted.min(2 * u128::from(n_bytes)) as u64;
    wanted.clamp(*limits.start(), *limits.end())
}

/// Returns whether the content matches the file's checksum.
fn verify(
    file: &RemoteFile,
    path: &Path,
    reporter: &mut ProgressReporter<'_>,
) -> Result<bool, Interruption> {
    let reading = |error: std::io::Error| HubError::CacheUnreadable {
        path: path.to_owned(),
        reason: io_words(&error),
    };
    let mut input = File::open(path).map_err(reading)?;
    let mut check = file.checksum.start(file.n_bytes);
    let mut buffer = vec![0; HASH_BUFFER_LEN];
    loop {
        reporter.stage(DownloadPhase::Verifying).go_on()?;
        let n_read = input.read(&mut buffer).map_err(reading)?;
        match buffer.get(..n_read) {
            Some(bytes) if n_read > 0 => check.update(bytes),
            _ => return Ok(check.holds()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::next_range_len;

    #[test]
    fn a_range_takes_about_four_seconds_and_stays_within_limits() {
        let limits = 1_000..=100_000;
        for (n_bytes, milliseconds, next) in [
            (10_000, 4_000, 10_000),
            (10_000, 8_000, 5_000),
            (10_000, 10, 20_000),
            (90_000, 10, 100_000),
            (2_000, 60_000, 1_000),
        ] {
            let took = Duration::from_millis(milliseconds);
            assert_eq!(next_range_len(n_bytes, took, &limits), next);
        }
    }
}
