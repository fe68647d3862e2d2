//! Inspects models without loading them.

use candle_core::DType;
use candle_core::quantized::GgmlDType;
use quartet::engine::inspect;

use crate::decoder::fixture::{
    HEAD_DIM, N_CONTEXT, N_KV_HEADS, N_LAYERS, open, write_folder, write_gguf,
};

#[test]
fn an_outline_agrees_with_the_loaded_model() {
    for tied in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let gguf = write_gguf(folder.path(), tied, GgmlDType::Q8_0, &[]);
        let file_name = gguf.file_name().unwrap();
        write_folder(folder.path(), tied, DType::BF16);
        for (path, file) in [
            (gguf.clone(), file_name.to_str().unwrap()),
            (folder.path().to_owned(), "model.safetensors"),
        ] {
            let outline = inspect(&path).unwrap();
            let info = open(&path).unwrap().info;
            assert_eq!(outline.name, info.name);
            assert_eq!(outline.architecture, info.architecture);
            assert_eq!(outline.n_params, info.n_params);
            assert_eq!(outline.quantization, info.quantization);
            assert_eq!(outline.n_context, N_CONTEXT);
            let n_file_bytes = folder.path().join(file).metadata().unwrap().len();
            assert_eq!(outline.n_file_bytes, n_file_bytes);
        }
    }
}

#[test]
fn memory_counts_the_weights_as_loaded_and_the_kv_cache() {
    let folder = tempfile::tempdir().unwrap();
    let n_cache_bytes = 4 * 2 * N_LAYERS * N_KV_HEADS * HEAD_DIM;
    for (dtype, n_bytes_per_block) in [
        (GgmlDType::F32, 128),
        (GgmlDType::F16, 64),
        (GgmlDType::Q8_0, 34),
        (GgmlDType::Q5_0, 22),
    ] {
        let path = write_gguf(folder.path(), true, dtype, &[]);
        let outline = inspect(&path).unwrap();
        let memory = outline.memory;
        assert_eq!(memory.n_cache_bytes_per_token, n_cache_bytes as u64);
        let n_norm_values = 64 * (2 * N_LAYERS + 1);
        let n_blocks = (outline.n_params as usize - n_norm_values) / 32;
        let expected = 4 * n_norm_values + n_bytes_per_block * n_blocks;
        assert_eq!(memory.n_weight_bytes, expected as u64, "{dtype:?}");
    }
}
