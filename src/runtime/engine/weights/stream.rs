//! A model's files as one stream, in which candle-transformers seeks to the tensors itself.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

use candle_core::quantized::gguf_file::TensorInfo;

use super::Checkpoint;
use super::stored_type::StoredType;

/// All files of a model, concatenated.
pub(crate) struct Stream<'a, 'b> {
    checkpoint: &'a mut Checkpoint<'b>,
    position: u64,
}

impl<'b> Checkpoint<'b> {
    /// Returns a stream over the concatenated files, at its start.
    pub(crate) const fn stream<'a>(&'a mut self) -> Stream<'a, 'b> {
        Stream {
            checkpoint: self,
            position: 0,
        }
    }

    /// Returns the offset of each tensor within [`Self::stream`].
    pub(crate) fn tensor_infos(&self) -> HashMap<String, TensorInfo> {
        let entries = self.catalog().entries();
        let info = entries.filter_map(|entry| {
            let StoredType::Known(ggml_dtype) = entry.stored_type else {
                return None;
            };
            let before = self.sources().iter().take(entry.file);
            let info = TensorInfo {
                ggml_dtype,
                shape: entry.shape.clone().into(),
                offset: entry.start + before.map(|source| source.n_bytes()).sum::<u64>(),
            };
            Some((entry.name.clone(), info))
        });
        info.collect()
    }
}

impl Read for Stream<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // This ends the read. The caller asks the checkpoint whether the load was cancelled.
        if self.checkpoint.check_cancelled().is_err() {
            return Err(io::Error::other("the load was cancelled"));
        }
        let mut start = self.position;
        for source in self.checkpoint.sources() {
            let Some(n_left) = source.n_bytes().checked_sub(start).filter(|n| *n > 0) else {
                start -= source.n_bytes();
                continue;
            };
            let n_read = n_left.min(buffer.len() as u64) as usize;
            let (buffer, _) = buffer.split_at_mut(n_read);
            source.read_at(start, buffer)?;
            self.position += n_read as u64;
            self.checkpoint.add_taken(n_read as u64);
            return Ok(n_read);
        }
        Ok(0)
    }
}

impl Seek for Stream<'_, '_> {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        let sources = self.checkpoint.sources().iter();
        let position = match target {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(step) => self.position.checked_add_signed(step),
            SeekFrom::End(step) => {
                let n_bytes: u64 = sources.map(|source| source.n_bytes()).sum();
                n_bytes.checked_add_signed(step)
            }
        };
        match position {
            Some(position) => {
                self.position = position;
                Ok(position)
            }
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}
