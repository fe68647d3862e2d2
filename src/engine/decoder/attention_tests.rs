//! Attention over slices against attention over tensors.

use candle_core::{Device, Tensor};

use super::attention::{Attention, AttentionLayer, Batch, HeadNorms, HeadShape, Place};
use super::cache::Cache;
use super::cpu_attention::CpuAttention;
use super::tensor_attention::TensorAttention;
use crate::engine::blueprint::{RopeForm, Rotation};

const PLAIN: HeadShape = HeadShape {
    n_heads: 4,
    n_kv_heads: 2,
    head_dim: 16,
    score_scale: 0.3,
    score_cap: None,
};

const LAYER: AttentionLayer = AttentionLayer {
    index: 0,
    window: None,
    rope: Some(0),
    norms: None,
};

fn rotation(form: RopeForm, n_dims: usize) -> Rotation {
    let steps = (0..n_dims / 2).map(|plane| 0.5_f32.powf(plane as f32));
    Rotation {
        form,
        steps: steps.collect(),
        far: None,
        amplitude: 1.2,
    }
}

fn wave(n_rows: usize, width: usize, phase: usize) -> Tensor {
    let values = (0..n_rows * width).map(|i| 2.0 * ((i + phase) as f32 * 0.77).sin());
    Tensor::from_vec(values.collect(), (n_rows, width), &Device::Cpu).unwrap()
}

/// Sequences that part from one, read in chunks, with all that a cache can go through.
fn mix<A: Attention>(
    attention: &A,
    shape: HeadShape,
    layer: &AttentionLayer,
    rotation: &Rotation,
) -> Vec<f32> {
    let mut mixed = Vec::new();
    let mut read = |caches: &mut [Cache<A::Run>], rows: &[usize]| {
        let mut places: Vec<Place> = Vec::new();
        for &cache in rows {
            let n_before = places.iter().filter(|place| place.cache == cache).count();
            places.push(Place {
                cache,
                position: caches[cache].n_read() + n_before,
                far: false,
            });
        }
        let qkv = wave(
            rows.len(),
            shape.q_width() + 2 * shape.kv_width(),
            mixed.len(),
        );
        let batch = Batch::new(places, std::slice::from_ref(rotation), &Device::Cpu).unwrap();
        let found = attention.forward(layer, &qkv, &batch, caches).unwrap();
        mixed.extend(found.flatten_all().unwrap().to_vec1::<f32>().unwrap());
        for &cache in rows {
            caches[cache].commit(1);
        }
    };
    let mut caches = vec![Cache::new()];
    read(&mut caches, &[0; 21]);
    let fork = caches[0].fork();
    caches.push(fork);
    read(&mut caches, &[0, 1, 1, 0, 1]);
    caches[0].truncate(17);
    read(&mut caches, &[1, 0]);
    let fork = caches[1].fork();
    caches.push(fork);
    read(&mut caches, &[2, 1, 0, 0, 2, 2]);
    caches[2].truncate(3);
    read(&mut caches, &[0, 2, 1]);
    // So far that windows leave the runs before the forks behind.
    for _ in 0..60 {
        read(&mut caches, &[0, 1, 2]);
    }
    mixed
}

#[track_caller]
fn assert_agree(shape: HeadShape, layer: &AttentionLayer, rotation: &Rotation) {
    let fast = mix(&CpuAttention::new(shape), shape, layer, rotation);
    let plain = mix(&TensorAttention::new(shape), shape, layer, rotation);
    assert_eq!(fast.len(), plain.len());
    for (fast, plain) in fast.iter().zip(&plain) {
        assert!(
            (fast - plain).abs() < 2e-5,
            "{shape:?} {layer:?}: {fast} {plain}"
        );
    }
}

#[test]
fn slices_agree_with_tensors_for_heads_of_any_shape() {
    for form in [RopeForm::Interleaved, RopeForm::HalfSplit] {
        for (n_heads, n_kv_heads, head_dim) in [
            (4, 2, 16),
            (3, 1, 2),
            (2, 2, 24),
            (4, 1, 30),
            (2, 1, 80),
            (1, 1, 128),
        ] {
            let shape = HeadShape {
                n_heads,
                n_kv_heads,
                head_dim,
                ..PLAIN
            };
            assert_agree(shape, &LAYER, &rotation(form, head_dim));
        }
    }
}

#[test]
fn slices_agree_with_tensors_in_windows_of_any_size() {
    for window in [1, 2, 5, 15, 16, 17, 40] {
        let layer = AttentionLayer {
            window: Some(window),
            ..LAYER
        };
        assert_agree(PLAIN, &layer, &rotation(RopeForm::HalfSplit, 16));
    }
}

#[test]
fn slices_agree_with_tensors_where_scores_are_capped() {
    for window in [None, Some(6)] {
        let shape = HeadShape {
            score_cap: Some(2.0),
            ..PLAIN
        };
        let layer = AttentionLayer { window, ..LAYER };
        assert_agree(shape, &layer, &rotation(RopeForm::HalfSplit, 16));
    }
}

#[test]
fn slices_agree_with_tensors_where_a_part_of_a_head_turns_or_nothing() {
    for form in [RopeForm::Interleaved, RopeForm::HalfSplit] {
        assert_agree(PLAIN, &LAYER, &rotation(form, 6));
        let still = AttentionLayer {
            rope: None,
            ..LAYER
        };
        assert_agree(PLAIN, &still, &rotation(form, 16));
    }
}

#[test]
fn slices_agree_with_tensors_where_heads_are_normed() {
    let weights = |n_values| wave(1, n_values, 3).flatten_all().unwrap();
    for (n_query, n_key) in [(16, 16), (64, 32)] {
        let layer = AttentionLayer {
            norms: Some(HeadNorms {
                queries: weights(n_query),
                keys: weights(n_key),
                eps: 1e-5,
            }),
            ..LAYER
        };
        assert_agree(PLAIN, &layer, &rotation(RopeForm::HalfSplit, 16));
    }
}

#[test]
fn many_rows_on_several_threads_agree_with_tensors() {
    let shape = HeadShape {
        head_dim: 32,
        ..PLAIN
    };
    let places = (0..96).map(|position| Place {
        cache: 0,
        position,
        far: false,
    });
    let rotations = [rotation(RopeForm::HalfSplit, 32)];
    let batch = Batch::new(places.collect(), &rotations, &Device::Cpu).unwrap();
    let qkv = wave(96, 256, 0);
    for window in [None, Some(30)] {
        let layer = AttentionLayer { window, ..LAYER };
        let fast = CpuAttention::new(shape).forward(&layer, &qkv, &batch, &mut [Cache::new()]);
        let plain = TensorAttention::new(shape).forward(&layer, &qkv, &batch, &mut [Cache::new()]);
        let difference = (fast.unwrap() - plain.unwrap()).unwrap().abs().unwrap();
        assert!(difference.max_all().unwrap().to_scalar::<f32>().unwrap() < 1e-5);
    }
}

#[test]
fn a_window_holds_the_token_itself() {
    for (window, position, first) in [
        (None, 7, 0),
        (Some(1), 7, 7),
        (Some(4), 7, 4),
        (Some(8), 7, 0),
        (Some(9), 7, 0),
    ] {
        let layer = AttentionLayer { window, ..LAYER };
        assert_eq!(layer.first_visible(position), first);
    }
}
