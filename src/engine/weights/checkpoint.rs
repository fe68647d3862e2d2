//! A model's tensors, taken out one by one while its files are hashed.

use std::sync::Arc;

use super::buffers::Buffers;
use super::fingerprint::Fingerprint;
use super::finite::all_finite;
use super::place::Place;
use super::stored_type::StoredType;
use super::{Catalog, Source, StoredTensor, WHAT};
use crate::engine::{EngineError, LoadProgress};

/// Buffers are kept for the next tensors up to this part of all weights each: as large as the matrices of
/// a layer, but not as the table of tokens.
const N_KEPT_PART: usize = 32;

/// The tensors of one model. Each is read when it is taken out, straight into memory of its own, so that
/// no more than one or a few exist in the form of the file.
pub struct Checkpoint<'a> {
    catalog: Catalog,
    buffers: Buffers,
    fingerprint: Fingerprint,
    n_all_bytes: u64,
    n_all_file_bytes: u64,
    n_taken: u64,
    progress: LoadProgress<'a>,
    is_left: bool,
}

impl<'a> Checkpoint<'a> {
    pub(super) fn open(catalog: Catalog, progress: LoadProgress<'a>) -> Result<Self, EngineError> {
        let fingerprint = Fingerprint::start(Arc::clone(&catalog.sources)).map_err(|source| {
            EngineError::FileUnreadable {
                what: WHAT,
                source,
                path: catalog.path().to_owned(),
            }
        })?;
        Ok(Self {
            buffers: Buffers::new(catalog.n_bytes() as usize / N_KEPT_PART),
            n_all_bytes: catalog.n_bytes(),
            n_all_file_bytes: catalog.n_file_bytes(),
            catalog,
            fingerprint,
            n_taken: 0,
            progress,
            is_left: false,
        })
    }

    /// Takes out the tensor of this name and shape. Where whoever hears the progress wants no more of it,
    /// the error is only the way out of the middle of a decoder.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<StoredTensor, EngineError> {
        self.check_wanted()?;
        let removed = self.catalog.places.remove(name);
        let found = removed.and_then(|place| Some((self.catalog.sources.get(place.file)?, place)));
        let Some((source, place)) = found else {
            return Err(self.malformed(format!("there is no tensor {name}")));
        };
        if place.shape != shape {
            let reason = format!("{name} has the shape {:?}, not {shape:?}", place.shape);
            return Err(source.malformed(reason));
        }
        let n_bytes = place.n_bytes;
        let tensor = read(source, place, &self.buffers)?;
        self.count(n_bytes);
        self.check_wanted()?;
        Ok(tensor)
    }

    /// Refuses to go on where whoever hears the progress wants no more of it.
    pub(super) fn check_wanted(&self) -> Result<(), EngineError> {
        if self.is_left {
            Err(self.malformed("its loading was called off"))
        } else {
            Ok(())
        }
    }

    /// So many bytes of tensors more were taken.
    pub(super) fn count(&mut self, n_bytes: u64) {
        self.n_taken = self.n_all_bytes.min(self.n_taken + n_bytes);
        self.report();
    }

    pub(super) fn sources(&self) -> &[Source] {
        &self.catalog.sources
    }

    /// The error that these weights are not what they should be.
    pub fn malformed(&self, reason: impl Into<String>) -> EngineError {
        EngineError::malformed(WHAT, reason, self.catalog.path())
    }

    /// Whether whoever hears the progress wants no more of it.
    pub const fn is_left(&self) -> bool {
        self.is_left
    }

    /// What is left to be taken.
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The shape of a tensor that is there.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.catalog.shape(name)
    }

    /// The SHA-256 of the model's files, one after another, in hexadecimal. Waits for it where it is not
    /// yet done; nothing comes back where the progress is not to go on.
    pub fn sha256(self) -> Result<Option<String>, EngineError> {
        let progress = self.progress;
        let sha256 = self
            .fingerprint
            .finish(&mut |n_hashed| progress(half_of(n_hashed, self.n_all_file_bytes) + 0.5))?;
        Ok(sha256.filter(|_| progress(1.0).is_continue()))
    }

    /// Taking all tensors is one half of the way, hashing all bytes is the other.
    fn report(&mut self) {
        let hashed = half_of(self.fingerprint.n_hashed(), self.n_all_file_bytes);
        let taken = half_of(self.n_taken, self.n_all_bytes);
        self.is_left = (self.progress)(taken + hashed).is_break();
    }
}

fn read(source: &Source, place: Place, buffers: &Buffers) -> Result<StoredTensor, EngineError> {
    let Place {
        name,
        stored_type,
        shape,
        ..
    } = place;
    let dtype = match stored_type {
        StoredType::Known(dtype) => dtype,
        StoredType::Foreign(stored_as) => {
            return Err(EngineError::TypeUnknown {
                tensor: name,
                stored_as,
                instead: "the model's BF16 or F16 weights, or a GGUF file of it",
                path: source.path().to_owned(),
            });
        }
    };
    let n_bytes = place.n_bytes as usize;
    let Some(mut bytes) = buffers.take(n_bytes) else {
        return Err(source.memory_short(n_bytes));
    };
    source.take_into(place.start, n_bytes, bytes.bytes_mut())?;
    if !all_finite(dtype, &bytes) {
        return Err(source.malformed(format!("{name} holds values that are not numbers")));
    }
    Ok(StoredTensor {
        dtype,
        shape,
        bytes,
        buffers: buffers.clone(),
        path: source.path().to_owned(),
    })
}

fn half_of(n: u64, n_all: u64) -> f32 {
    n as f32 / n_all.max(1) as f32 / 2.0
}
