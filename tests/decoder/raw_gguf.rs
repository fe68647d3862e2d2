//! Writes GGUF headers byte by byte, including invalid ones.

/// The bytes of a GGUF file.
#[derive(Clone)]
pub(crate) struct RawGguf(pub Vec<u8>);

// GGUF's numeric codes for the types of metadata values.
pub(crate) const BOOL: u32 = 7;
pub(crate) const STRING: u32 = 8;
pub(crate) const ARRAY: u32 = 9;
pub(crate) const U8: u32 = 0;
pub(crate) const U32: u32 = 4;

impl RawGguf {
    /// Starts a file that claims to have these numbers of tensors and metadata entries.
    pub(crate) fn new(n_tensors: u64, n_entries: u64) -> Self {
        Self(b"GGUF".to_vec()).u32(3).u64(n_tensors).u64(n_entries)
    }

    pub(crate) fn u32(mut self, number: u32) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(crate) fn u64(mut self, number: u64) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(crate) fn text(self, text: &[u8]) -> Self {
        self.u64(text.len() as u64).bytes(text)
    }

    /// Appends a key and the type of its value.
    pub(crate) fn key(self, key: &[u8], value_type: u32) -> Self {
        self.text(key).u32(value_type)
    }

    /// Appends a tensor's entry, with the innermost dimension first.
    pub(crate) fn tensor(self, name: &[u8], dims: &[u64], ggml_type: u32, offset: u64) -> Self {
        let raw = self.text(name).u32(dims.len() as u32);
        let raw = dims.iter().fold(raw, |raw, dim| raw.u64(*dim));
        raw.u32(ggml_type).u64(offset)
    }

    /// Pads to a multiple of 32 bytes, then appends `n_bytes` zeros.
    pub(crate) fn data(mut self, n_bytes: usize) -> Self {
        let n_header_bytes = self.0.len().next_multiple_of(32);
        self.0.resize(n_header_bytes + n_bytes, 0);
        self
    }
}
