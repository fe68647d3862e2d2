//! A model's files as one stream, for those who look for tensors themselves.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

use candle_core::quantized::gguf_file::TensorInfo;

use super::stored_type::StoredType;
use super::{Checkpoint, Source};

/// All files of a model, one after another.
pub struct Stream<'a, 'b> {
    checkpoint: &'a mut Checkpoint<'b>,
    position: u64,
}

impl<'b> Checkpoint<'b> {
    /// The files, from the beginning of the first.
    pub const fn stream<'a>(&'a mut self) -> Stream<'a, 'b> {
        Stream {
            checkpoint: self,
            position: 0,
        }
    }

    /// Where the tensors stand in the stream.
    pub fn tensor_infos(&self) -> HashMap<String, TensorInfo> {
        let places = self.catalog().places();
        let info = places.filter_map(|place| {
            let StoredType::Known(ggml_dtype) = place.stored_type else {
                return None;
            };
            let before = self.sources().iter().take(place.file);
            let info = TensorInfo {
                ggml_dtype,
                shape: place.shape.clone().into(),
                offset: place.start + before.map(Source::n_bytes).sum::<u64>(),
            };
            Some((place.name.clone(), info))
        });
        info.collect()
    }
}

impl Read for Stream<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Only the way out of the middle of a model that reads by itself.
        self.checkpoint.check_wanted().map_err(io::Error::other)?;
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
            self.checkpoint.count(n_read as u64);
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
                let n_bytes: u64 = sources.map(Source::n_bytes).sum();
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
