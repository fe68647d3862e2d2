//! Brings one file's content into the cache: range after range onto its end, then the checksum, then
//! its name. A content has a name only when it is right.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::{Duration, Instant};

use super::attempt::Limits;
use super::cache::Shelf;
use super::journey::{Journey, Order, Stage, whole_seconds};
use super::patience::{Halt, Persistence, Question, Sign};
use super::repository::RemoteFile;
use super::{Hub, HubError};

/// A range should be what comes in this time.
const PIECE_TIME: Duration = Duration::from_secs(4);

/// How many bytes are hashed between two looks at the user.
const HASHED_AT_ONCE: usize = 1 << 20;

/// A file of a commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub repository: &'a str,
    pub commit: &'a str,
    pub file: &'a RemoteFile,
}

impl Hub {
    /// Brings a content that is not there yet, from what is there of it.
    pub(super) fn carry(
        &self,
        source: Source<'_>,
        shelf: &Shelf,
        journey: &mut Journey<'_>,
    ) -> Result<(), Halt> {
        let file = source.file;
        let _lock = shelf.lock(&file.checksum, &file.path)?;
        let incomplete = shelf.incomplete(&file.checksum);
        self.fetch(source, &incomplete, journey)?;
        if !verify(file, &incomplete, journey)? {
            // Nothing of a wrong content is worth going on from.
            fs::remove_file(&incomplete).map_err(|error| HubError::writing(&incomplete, error))?;
            let file = file.path.clone();
            return Err(HubError::ChecksumWrong { file }.into());
        }
        let blob = shelf.blob(&file.checksum);
        fs::rename(&incomplete, &blob).map_err(|error| HubError::writing(&blob, error))?;
        Ok(())
    }

    fn fetch(
        &self,
        source: Source<'_>,
        incomplete: &Path,
        journey: &mut Journey<'_>,
    ) -> Result<(), Halt> {
        let writing = |error| HubError::writing(incomplete, error);
        let mut output = OpenOptions::new()
            .create(true)
            .append(true)
            .open(incomplete)
            .map_err(writing)?;
        let n_bytes = source.file.n_bytes;
        let mut n_here = output.metadata().map_err(writing)?.len();
        if n_here > n_bytes {
            output.set_len(0).map_err(writing)?;
            n_here = 0;
        }
        let mut piece = *self.config.piece.start();
        let mut persistence = Persistence::Again;
        while n_here < n_bytes {
            let range = n_here..n_bytes.min(n_here + piece);
            let asked_at = Instant::now();
            let mut tell = |sign: &Sign<'_>| tell(journey, n_here, sign);
            let bytes = self.fetch_range(source, range, persistence, &mut tell)?;
            let bytes = bytes.as_ref();
            output.write_all(bytes).map_err(writing)?;
            n_here += bytes.len() as u64;
            piece = next_piece(bytes.len() as u64, asked_at.elapsed(), &self.config.piece);
            persistence = Persistence::AgainWithoutNetwork;
            journey.received(n_here).go_on()?;
        }
        // A name given to bytes that a power cut could still take would be a lie.
        Ok(output.sync_all().map_err(writing)?)
    }

    /// Brings these bytes of a file, all of them.
    fn fetch_range(
        &self,
        source: Source<'_>,
        range: Range<u64>,
        persistence: Persistence,
        tell: &mut dyn FnMut(&Sign<'_>) -> Order,
    ) -> Result<impl AsRef<[u8]> + use<>, Halt> {
        let n_asked = range.end - range.start;
        let question = Question {
            subject: self.subject(source.repository, &source.file.path),
            limits: Limits {
                n_bytes: n_asked,
                n_bytes_announced: source.file.n_bytes,
            },
            persistence,
        };
        let handle = self.model(source.repository);
        let (path, commit) = (source.file.path.clone(), source.commit.to_owned());
        let call = move |ear| {
            let asked = handle.download_file_to_bytes().filename(path.clone());
            let asked = asked.revision(commit.clone()).range(range.clone());
            let bytes = asked.progress(ear).send()?;
            if bytes.len() as u64 == n_asked {
                Ok(bytes)
            } else {
                // Asked again, as after a break.
                Err(std::io::Error::from(ErrorKind::UnexpectedEof).into())
            }
        };
        self.ask(&question, tell, call)
    }
}

fn tell(journey: &mut Journey<'_>, n_here: u64, sign: &Sign<'_>) -> Order {
    match sign {
        Sign::Bytes(n_bytes) => journey.received(n_here + n_bytes),
        Sign::Pause(error, left) => journey.stage(Stage::Waiting {
            reason: error.to_string(),
            seconds: whole_seconds(*left),
        }),
    }
}

/// How many bytes to ask for next, after so many took so long. It grows no faster than by doubling.
fn next_piece(n_bytes: u64, took: Duration, limits: &RangeInclusive<u64>) -> u64 {
    let took = took.as_millis().max(1);
    let wanted = u128::from(n_bytes) * PIECE_TIME.as_millis() / took;
    let wanted = wanted.min(2 * u128::from(n_bytes)) as u64;
    wanted.clamp(*limits.start(), *limits.end())
}

/// Whether the content is what it must be.
fn verify(file: &RemoteFile, path: &Path, journey: &mut Journey<'_>) -> Result<bool, Halt> {
    let reading = |error: std::io::Error| HubError::CacheUnreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let mut input = File::open(path).map_err(reading)?;
    let mut check = file.checksum.start(file.n_bytes);
    let mut buffer = vec![0; HASHED_AT_ONCE];
    loop {
        journey.stage(Stage::Verifying).go_on()?;
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

    use super::next_piece;

    #[test]
    fn a_range_is_what_comes_in_four_seconds_within_limits() {
        let limits = 1_000..=100_000;
        for (n_bytes, milliseconds, next) in [
            (10_000, 4_000, 10_000),
            (10_000, 8_000, 5_000),
            (10_000, 10, 20_000),
            (90_000, 10, 100_000),
            (2_000, 60_000, 1_000),
        ] {
            let took = Duration::from_millis(milliseconds);
            assert_eq!(next_piece(n_bytes, took, &limits), next);
        }
    }
}
