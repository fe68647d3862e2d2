//! The values behind a tensor on the processor.

use candle_core::{CpuStorage, Storage, Tensor};

/// Hands the values of a contiguous f32 tensor on the processor to `f`.
pub fn with_values<T>(tensor: &Tensor, f: impl FnOnce(&[f32]) -> T) -> candle_core::Result<T> {
    let (storage, layout) = tensor.storage_and_layout();
    match (&*storage, layout.contiguous_offsets()) {
        (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) => match values.get(start..end)
        {
            Some(values) => Ok(f(values)),
            None => candle_core::bail!("a tensor that ends beyond its storage"),
        },
        _ => candle_core::bail!("a tensor that is not contiguous f32 on the processor"),
    }
}
