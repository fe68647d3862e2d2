//! Hands out a model's tensors one by one, while a thread may hash its files.

use std::sync::Arc;

use candle_core::quantized::GgmlDType;

use super::buffer_pool::BufferPool;
use super::converted::ConvertedType;
use super::exponents::{Exponents, SCALES};
use super::factors::Factors;
use super::fingerprint::Fingerprint;
use super::stored_type::StoredType;
use super::tensor_entry::TensorEntry;
use super::{Catalog, LoadStop, Source, StoredTensor, WHAT};
use crate::engine::{EngineError, LoadProgress};

/// The pool keeps a buffer if it is no larger than 1/32 of all weights: large enough for the
/// matrices of a layer, too small for the embedding table.
const KEPT_FRACTION: usize = 32;

/// How many bytes of two tensors are compared at once.
const COMPARED_AT_ONCE: u64 = 1 << 20;

/// The tensors of one model. Each is read when its values are requested, so only a few exist in the
/// file's format at a time.
pub(crate) struct Checkpoint<'a> {
    /// The tensors not yet taken.
    catalog: Catalog,
    buffers: BufferPool,
    /// The hash of the files, once it was asked for.
    fingerprint: Option<Fingerprint>,
    n_all_bytes: u64,
    n_all_file_bytes: u64,
    n_taken_bytes: u64,
    progress: LoadProgress<'a>,
    /// Whether the progress listener has asked to stop.
    is_cancelled: bool,
}

impl<'a> Checkpoint<'a> {
    pub(super) fn open(catalog: Catalog, progress: LoadProgress<'a>) -> Self {
        Self {
            buffers: BufferPool::new(catalog.n_bytes() as usize / KEPT_FRACTION),
            n_all_bytes: catalog.n_bytes(),
            n_all_file_bytes: catalog.n_file_bytes(),
            catalog,
            fingerprint: None,
            n_taken_bytes: 0,
            progress,
            is_cancelled: false,
        }
    }

    /// Starts hashing the files on another thread, so that [`Self::sha256`] waits less.
    pub(crate) fn start_hashing(&mut self) -> Result<(), EngineError> {
        self.fingerprint = Some(fingerprint_of(&self.catalog)?);
        Ok(())
    }

    /// Removes a tensor from the catalog. Fails if its shape is not the expected one, or if it is
    /// stored in a type that can't be read.
    pub(crate) fn take(&mut self, name: &str, shape: &[usize]) -> Result<StoredTensor, LoadStop> {
        self.check_cancelled()?;
        let removed = self.catalog.entries.remove(name);
        let found = removed.and_then(|entry| Some((self.catalog.sources.get(entry.file)?, entry)));
        let Some((source, entry)) = found else {
            return Err(self.malformed(format!("tensor {name} is missing")).into());
        };
        if entry.shape != shape {
            let reason = format!(
                "tensor {name} has shape {:?} instead of {shape:?}",
                entry.shape
            );
            return Err(source.malformed(reason).into());
        }
        let source = Arc::clone(source);
        let tensor = StoredTensor {
            dtype: readable_type(&source, &entry)?,
            factors: self.take_factors(&source, &entry)?,
            exponents: self.take_exponents(&source, &entry)?,
            source,
            is_transposed: false,
            buffers: self.buffers.clone(),
            entry,
        };
        self.add_taken(tensor.entry.n_bytes);
        self.check_cancelled()?;
        Ok(tensor)
    }

    /// Removes the factors of a tensor from the catalog and reads them. Returns `None` if the file has
    /// none.
    fn take_factors(
        &mut self,
        source: &Source,
        entry: &TensorEntry,
    ) -> Result<Option<Factors>, LoadStop> {
        for name in entry.factor_names() {
            let Some(shape) = self.catalog.shape(&name).map(<[usize]>::to_vec) else {
                continue;
            };
            let values = self.take(&name, &shape)?.values()?;
            let factors = Factors::new(values, &shape, &entry.shape);
            return factors.map(Some).ok_or_else(|| {
                let (tensor, of) = (&entry.name, &entry.shape);
                let reason = format!("{name} with shape {shape:?} does not fit {tensor}, {of:?}");
                source.malformed(reason).into()
            });
        }
        Ok(None)
    }

    /// Removes the exponents of 4-bit floats from the catalog, if they are stored apart.
    fn take_exponents(
        &mut self,
        source: &Source,
        entry: &TensorEntry,
    ) -> Result<Option<Exponents>, LoadStop> {
        if entry.stored_type != StoredType::Converted(ConvertedType::Mxfp4Quants) {
            return Ok(None);
        }
        let name = format!("{}{SCALES}", entry.name);
        let removed = self.catalog.entries.remove(&name);
        let found = removed.and_then(|entry| Some((self.catalog.sources.get(entry.file)?, entry)));
        let Some((source_of_exponents, exponents)) = found else {
            return Err(source.malformed(format!("tensor {name} is missing")).into());
        };
        let found = Exponents {
            source: Arc::clone(source_of_exponents),
            start: exponents.start,
        };
        self.add_taken(exponents.n_bytes);
        Ok(Some(found))
    }

    /// Returns whether two tensors, neither of them taken yet, have other shapes, types or values.
    /// Reads both of them to the first difference. If their values are not known, they may differ.
    pub(crate) fn differ(&self, one: &str, other: &str) -> Result<bool, EngineError> {
        let stored = |name: &str| {
            let entry = self.catalog.entries.get(name)?;
            Some((self.catalog.sources.get(entry.file)?, entry))
        };
        let (Some((source, entry)), Some((other_source, other))) = (stored(one), stored(other))
        else {
            return Ok(true);
        };
        let differ = entry.shape != other.shape || entry.stored_type != other.stored_type;
        if differ || source.is_start() {
            return Ok(true);
        }
        let mut done = 0;
        while done < entry.n_bytes {
            let n_bytes = COMPARED_AT_ONCE.min(entry.n_bytes - done) as usize;
            let bytes = source.take(entry.start + done, n_bytes)?;
            if bytes != other_source.take(other.start + done, n_bytes)? {
                return Ok(true);
            }
            done += n_bytes as u64;
        }
        Ok(false)
    }

    /// Stops the load if the progress listener has asked for it.
    pub(crate) fn check_cancelled(&self) -> Result<(), LoadStop> {
        if self.is_cancelled {
            Err(LoadStop::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Adds to the bytes read so far and reports the progress.
    pub(super) fn add_taken(&mut self, n_bytes: u64) {
        self.n_taken_bytes = self.n_all_bytes.min(self.n_taken_bytes + n_bytes);
        self.report();
    }

    pub(super) fn sources(&self) -> &[Arc<Source>] {
        &self.catalog.sources
    }

    /// Returns an error saying that the weights are not what the model needs.
    pub(crate) fn malformed(&self, reason: impl Into<String>) -> EngineError {
        EngineError::malformed(WHAT, reason, self.catalog.path())
    }

    /// Returns the tensors not yet taken.
    pub(crate) const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the shape of a tensor, or `None` if it is missing or already taken.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.catalog.shape(name)
    }

    /// Returns whether a tensor, not yet taken, has values that are stored in blocks.
    pub(crate) fn is_quantized(&self, name: &str) -> bool {
        let entry = self.catalog.entries.get(name);
        let block = entry.and_then(|entry| entry.stored_type.block());
        block.is_some_and(|(n_values, _)| n_values > 1)
    }

    /// Waits for the SHA-256 of the concatenated files and returns it in hexadecimal, or `None` if
    /// the load was cancelled. Fails if a file was written to in the meantime.
    pub(crate) fn sha256(self) -> Result<Option<String>, EngineError> {
        let progress = self.progress;
        let fingerprint = match self.fingerprint {
            Some(fingerprint) => fingerprint,
            None => fingerprint_of(&self.catalog)?,
        };
        let sha256 = fingerprint
            .finish(&mut |n_hashed| progress(half_of(n_hashed, self.n_all_file_bytes) + 0.5))?;
        let mut sources = self.catalog.sources.iter();
        sources.try_for_each(|source| source.check_unchanged())?;
        Ok(sha256.filter(|_| progress(1.0).is_continue()))
    }

    /// Reports the progress: taking the tensors is one half of it, hashing the files the other.
    fn report(&mut self) {
        let n_hashed = self.fingerprint.as_mut().map_or(0, Fingerprint::n_hashed);
        let hashed = half_of(n_hashed, self.n_all_file_bytes);
        let taken = half_of(self.n_taken_bytes, self.n_all_bytes);
        self.is_cancelled = (self.progress)(taken + hashed).is_break();
    }
}

/// Starts hashing the files of a model.
fn fingerprint_of(catalog: &Catalog) -> Result<Fingerprint, EngineError> {
    Fingerprint::start(catalog.sources.clone()).map_err(|source| EngineError::FileUnreadable {
        what: WHAT,
        source,
        path: catalog.path().to_owned(),
    })
}

/// Returns the type of a tensor in memory. Fails if it is stored in one that can't be read.
fn readable_type(source: &Source, entry: &TensorEntry) -> Result<GgmlDType, EngineError> {
    let dtype = entry.stored_type.dtype();
    dtype.ok_or_else(|| EngineError::UnsupportedTensorType {
        tensor: entry.name.clone(),
        stored_as: entry.stored_type.to_string(),
        instead: "the model’s BF16 or F16 weights, or a GGUF version of it",
        path: source.path().to_owned(),
    })
}

fn half_of(n: u64, n_all: u64) -> f32 {
    n as f32 / n_all.max(1) as f32 / 2.0
}
