//! A model's weights as their file stores them, read once, in the file's order, and hashed on the way.
//!
//! This module knows file formats; it knows no architecture and no device.

mod fingerprint;
mod gguf;
mod safetensors;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device, Tensor};

use self::fingerprint::Fingerprint;
use super::EngineError;

pub use gguf::read_header;

const WHAT: &str = "The model's weights";

/// The tensors of one model, by name. Taking one out frees its bytes once it is used.
pub struct Checkpoint {
    tensors: HashMap<String, StoredTensor>,
    fingerprint: Fingerprint,
    quantization: String,
    n_half_bytes: usize,
    n_bytes: usize,
    path: String,
}

/// A tensor as its file stores it.
pub struct StoredTensor {
    dtype: GgmlDType,
    shape: Vec<usize>,
    bytes: Arc<Vec<u8>>,
}

/// Where a tensor stands in its file.
#[derive(Debug, Clone)]
struct Place {
    name: String,
    dtype: GgmlDType,
    shape: Vec<usize>,
    /// From the beginning of the file.
    start: u64,
    n_bytes: usize,
}

impl Checkpoint {
    /// Reads all tensors of a GGUF file whose header was read with [`read_header`].
    pub fn from_gguf(
        header: &candle_core::quantized::gguf_file::Content,
        source: Source<'_>,
        progress: &mut dyn FnMut(f32),
    ) -> Result<Self, EngineError> {
        Self::read(gguf::places(header, source.path)?, source, progress)
    }

    /// Reads all tensors of a safetensors file.
    pub fn from_safetensors(
        mut source: Source<'_>,
        progress: &mut dyn FnMut(f32),
    ) -> Result<Self, EngineError> {
        let (header, places) = safetensors::read_header(&mut source)?;
        let mut reader = std::io::Cursor::new(header).chain(source.reader);
        let source = Source {
            reader: &mut reader,
            n_bytes: source.n_bytes,
            path: source.path,
        };
        Self::read(places, source, progress)
    }

    fn read(
        mut places: Vec<Place>,
        source: Source<'_>,
        progress: &mut dyn FnMut(f32),
    ) -> Result<Self, EngineError> {
        places.sort_by_key(|place| place.start);
        check_places(&places, &source)?;
        let quantization = main_type(&places);
        let n_half_bytes = places
            .iter()
            .filter(|place| is_half(place.dtype))
            .map(|place| place.n_bytes)
            .sum();
        let n_bytes = places.iter().map(|place| place.n_bytes).sum();
        let path = source.path.to_owned();
        let mut stream = Stream::new(source)?;
        let mut tensors = HashMap::new();
        for place in places {
            stream.pass_to(place.start)?;
            let tensor = StoredTensor {
                dtype: place.dtype,
                shape: place.shape,
                bytes: stream.take(place.n_bytes)?,
            };
            tensors.insert(place.name, tensor);
            progress(stream.position as f32 / stream.source.n_bytes.max(1) as f32);
        }
        stream.pass_to(stream.source.n_bytes)?;
        Ok(Self {
            tensors,
            fingerprint: stream.fingerprint,
            quantization,
            n_half_bytes,
            n_bytes,
            path,
        })
    }

    /// Takes out the tensor of this name and shape.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<StoredTensor, EngineError> {
        let reason = match self.tensors.remove(name) {
            Some(tensor) if tensor.shape == shape => return Ok(tensor),
            Some(tensor) => format!("{name} has the shape {:?}, not {shape:?}", tensor.shape),
            None => format!("there is no tensor {name}"),
        };
        Err(EngineError::malformed(WHAT, reason, &self.path))
    }

    /// The shape of a tensor that is there.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|tensor| tensor.shape.as_slice())
    }

    /// Says that these weights can't be understood.
    pub fn malformed(&self, reason: String) -> EngineError {
        EngineError::malformed(WHAT, reason, &self.path)
    }

    /// The type that holds most of the weights: "`Q8_0`".
    pub fn quantization(&self) -> &str {
        &self.quantization
    }

    /// How many bytes of 16-bit floating-point weights the file has.
    pub const fn n_half_bytes(&self) -> usize {
        self.n_half_bytes
    }

    /// How many bytes all weights have.
    pub const fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// The SHA-256 of the whole file, in hexadecimal. Waits for it where it is not yet done.
    pub fn sha256(self) -> String {
        self.fingerprint.finish()
    }
}

impl StoredTensor {
    /// How many values it holds.
    pub fn n_values(&self) -> usize {
        self.shape.iter().product()
    }

    /// Rows and columns of a matrix.
    pub fn dims2(&self) -> (usize, usize) {
        let width = self.shape.last().copied().unwrap_or(1);
        (self.n_values() / width.max(1), width)
    }

    /// How its values are stored.
    pub const fn dtype(&self) -> GgmlDType {
        self.dtype
    }

    /// The bytes of several, one after another.
    pub fn bytes(parts: &[Self]) -> Cow<'_, [u8]> {
        if let [part] = parts {
            return Cow::Borrowed(part.bytes.as_slice());
        }
        let bytes: Vec<&[u8]> = parts.iter().map(|part| part.bytes.as_slice()).collect();
        Cow::Owned(bytes.concat())
    }

    /// Rows become columns; for types whose blocks are values.
    pub fn transposed(&self) -> Self {
        let (n_rows, width) = self.dims2();
        let n_value_bytes = self.dtype.type_size();
        let values: Vec<&[u8]> = self.bytes.chunks_exact(n_value_bytes).collect();
        let columns = (0..width).flat_map(|column| values.iter().skip(column).step_by(width));
        Self {
            dtype: self.dtype,
            shape: vec![width, n_rows],
            bytes: Arc::new(columns.copied().flatten().copied().collect()),
        }
    }

    /// The rows, one after another, as one tensor; all parts must have the same type and width.
    pub fn stack(parts: &[Self], device: &Device) -> Result<QTensor, EngineError> {
        let (dtype, width) = match parts {
            [] => (GgmlDType::F32, 1),
            [part, ..] => (part.dtype, part.dims2().1),
        };
        let n_values: usize = parts.iter().map(Self::n_values).sum();
        let storage = QStorage::from_data(Self::bytes(parts), device, dtype)?;
        Ok(QTensor::new(storage, (n_values / width, width))?)
    }

    /// Splits off the rows from `start` on, `n_rows` at most; for types whose blocks are values.
    pub fn slice(
        &self,
        start: usize,
        n_rows: usize,
        device: &Device,
    ) -> Result<QTensor, EngineError> {
        let width = self.shape.last().copied().unwrap_or(1);
        let n_row_bytes = width * self.dtype.type_size();
        let end = (start + n_rows) * n_row_bytes;
        let bytes = self
            .bytes
            .get(start * n_row_bytes..end.min(self.bytes.len()))
            .unwrap_or_default();
        let storage = QStorage::from_data(bytes.into(), device, self.dtype)?;
        Ok(QTensor::new(storage, (bytes.len() / n_row_bytes, width))?)
    }

    /// The values in full precision, as one row.
    pub fn vector(&self, device: &Device) -> Result<Tensor, EngineError> {
        let storage = QStorage::from_data(self.bytes.as_slice().into(), device, self.dtype)?;
        Ok(QTensor::new(storage, self.n_values())?.dequantize(device)?)
    }
}

impl Place {
    /// A tensor at `start`, if its shape is one that a file can have.
    fn new(name: String, dtype: GgmlDType, shape: Vec<usize>, start: u64) -> Result<Self, String> {
        let n_values = shape
            .iter()
            .try_fold(1_usize, |product, dim| product.checked_mul(*dim));
        let whole_rows = shape
            .last()
            .is_some_and(|width| *width > 0 && width.is_multiple_of(dtype.block_size()));
        let n_bytes = n_values
            .filter(|n_values| *n_values > 0 && whole_rows)
            .and_then(|n_values| (n_values / dtype.block_size()).checked_mul(dtype.type_size()));
        match n_bytes {
            Some(n_bytes) => Ok(Self {
                name,
                dtype,
                shape,
                start,
                n_bytes,
            }),
            None => Err(format!(
                "{name} can't have the shape {shape:?} as {dtype:?}"
            )),
        }
    }
}

/// A file of weights, from its beginning.
pub struct Source<'a> {
    /// Its bytes.
    pub reader: &'a mut dyn Read,
    /// How many there are.
    pub n_bytes: u64,
    /// Where it is, for messages.
    pub path: &'a str,
}

impl Source<'_> {
    fn unreadable(&self, source: std::io::Error) -> EngineError {
        EngineError::FileUnreadable {
            what: WHAT,
            source,
            path: self.path.to_owned(),
        }
    }

    /// The next bytes, as many as that.
    fn take(&mut self, n_bytes: usize) -> Result<Vec<u8>, EngineError> {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(n_bytes).is_err() {
            return Err(EngineError::MemoryShort {
                n_bytes,
                path: self.path.to_owned(),
            });
        }
        let n_read = (&mut *self.reader)
            .take(n_bytes as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| self.unreadable(error))?;
        if n_read < n_bytes {
            return Err(self.unreadable(std::io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(bytes)
    }
}

/// Reads a file from its beginning to its end and hashes all of it.
struct Stream<'a> {
    source: Source<'a>,
    position: u64,
    fingerprint: Fingerprint,
}

impl<'a> Stream<'a> {
    /// What lies between tensors is passed in pieces of this size.
    const N_PIECE_BYTES: u64 = 1 << 20;

    fn new(source: Source<'a>) -> Result<Self, EngineError> {
        let fingerprint = Fingerprint::start().map_err(|error| source.unreadable(error))?;
        Ok(Self {
            source,
            position: 0,
            fingerprint,
        })
    }

    fn take(&mut self, n_bytes: usize) -> Result<Arc<Vec<u8>>, EngineError> {
        let bytes = Arc::new(self.source.take(n_bytes)?);
        self.position += n_bytes as u64;
        self.fingerprint.add(Arc::clone(&bytes));
        Ok(bytes)
    }

    fn pass_to(&mut self, position: u64) -> Result<(), EngineError> {
        while self.position < position {
            let n_bytes = (position - self.position).min(Self::N_PIECE_BYTES);
            self.take(n_bytes as usize)?;
        }
        Ok(())
    }
}

/// Tensors must lie inside the file and apart, so that they can never need more memory than it has.
fn check_places(places: &[Place], source: &Source<'_>) -> Result<(), EngineError> {
    let mut free_from = 0;
    for place in places {
        let end = place.start.checked_add(place.n_bytes as u64);
        let reason = match end {
            Some(end) if end <= source.n_bytes && place.start >= free_from => {
                free_from = end;
                continue;
            }
            Some(end) if end <= source.n_bytes => "overlaps the tensor before it",
            _ => "lies beyond the end of the file, which seems cut off",
        };
        let reason = format!("{} {reason}", place.name);
        return Err(EngineError::malformed(WHAT, reason, source.path));
    }
    Ok(())
}

/// The name of the type in which most values are stored.
fn main_type(places: &[Place]) -> String {
    let mut n_bytes = BTreeMap::new();
    for place in places {
        *n_bytes.entry(type_name(place.dtype)).or_insert(0) += place.n_bytes;
    }
    let main = n_bytes.into_iter().max_by_key(|(_, n_bytes)| *n_bytes);
    main.map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// Whether values are 16-bit floating-point numbers.
pub const fn is_half(dtype: GgmlDType) -> bool {
    matches!(dtype, GgmlDType::F16 | GgmlDType::BF16)
}

const fn type_name(dtype: GgmlDType) -> &'static str {
    match dtype {
        GgmlDType::F32 => "F32",
        GgmlDType::F16 => "F16",
        GgmlDType::BF16 => "BF16",
        GgmlDType::Q4_0 => "Q4_0",
        GgmlDType::Q4_1 => "Q4_1",
        GgmlDType::Q5_0 => "Q5_0",
        GgmlDType::Q5_1 => "Q5_1",
        GgmlDType::Q8_0 => "Q8_0",
        GgmlDType::Q8_1 => "Q8_1",
        GgmlDType::Q2K => "Q2_K",
        GgmlDType::Q3K => "Q3_K",
        GgmlDType::Q4K => "Q4_K",
        GgmlDType::Q5K => "Q5_K",
        GgmlDType::Q6K => "Q6_K",
        GgmlDType::Q8K => "Q8_K",
    }
}
