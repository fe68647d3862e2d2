//! Compares converted blocks with what gguf-py dequantizes them to.

use std::ops::ControlFlow;
use std::path::Path;

use super::ConvertedType;
use crate::engine::weights::{Catalog, Source, read_header};

/// The types that are rounded to 11 significant bits: their scales, or each value.
const ROUNDED: [ConvertedType; 4] = [
    ConvertedType::Iq2S,
    ConvertedType::Iq2Xs,
    ConvertedType::Iq2Xxs,
    ConvertedType::Iq4Xs,
];

/// The blocks and the values that `tests/quantizations/make_fixtures.py` writes.
fn catalog() -> Catalog {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let path = folder.join("tests/quantizations/blocks.gguf");
    let source = Source::file(&path, "The blocks").unwrap();
    let header = read_header(&source).unwrap();
    Catalog::from_gguf(&[header], vec![source]).unwrap()
}

/// Returns the values of a tensor.
fn values(name: &str) -> Vec<f32> {
    let catalog = catalog();
    let shape = catalog.shape(name).unwrap().to_vec();
    let mut ignored = |_| ControlFlow::Continue(());
    let mut checkpoint = catalog.open(&mut ignored);
    checkpoint.take(name, &shape).unwrap().values().unwrap()
}

#[test]
fn every_type_of_gguf_py_has_its_values() {
    let numbers = (0..64).filter(|number| *number != 41);
    let types: Vec<_> = numbers.filter_map(ConvertedType::from_gguf).collect();
    assert_eq!(types.len(), 18);
    for converted in types {
        let name = converted.name();
        let (found, expected) = (values(name), values(&format!("{name}.f32")));
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.into_iter().zip(expected) {
            let tolerance = if ROUNDED.contains(&converted) {
                expected.abs() / 2048.0
            } else {
                0.0
            };
            assert!(
                (found - expected).abs() <= tolerance,
                "{name}: {found}, {expected}"
            );
        }
    }
}

/// Converts one block.
fn converted(converted: ConvertedType, block: &[u8]) -> Vec<u8> {
    assert_eq!(block.len(), converted.n_block_bytes());
    let mut target = vec![0xAA; converted.n_target_bytes()];
    converted.convert(block, 0, None, &mut target);
    target
}

#[test]
fn the_signs_of_q1_0_become_quants_of_q4_0() {
    let mut block = vec![0x00, 0x3C];
    block.extend([0b0000_0101, 0, 1, 0]);
    block.extend([0xFF; 12]);
    let found = converted(ConvertedType::Q1_0, &block);
    let mut first = vec![0x00, 0x3C];
    first.extend([0x99, 0x77, 0x79].into_iter().chain([0x77; 13]));
    assert_eq!(found[..18], first);
    assert_eq!(found[18..20], [0x00, 0x3C]);
    assert_eq!(found[20..36], [0x99; 16]);
}

#[test]
fn eight_bit_floats_are_those_of_the_specification() {
    for (bits, expected) in [
        (0x00, 0.0),
        (0x01, 2_f32.powi(-9)),
        (0x07, 7.0 * 2_f32.powi(-9)),
        (0x08, 2_f32.powi(-6)),
        (0x38, 1.0),
        (0xBC, -1.5),
        (0x7E, 448.0),
        (0xFE, -448.0),
    ] {
        let found = converted(ConvertedType::F8E4M3, &[bits]);
        assert_eq!(
            found,
            half::f16::from_f32(expected).to_le_bytes(),
            "{bits:x}"
        );
    }
    for bits in [0x7F, 0xFF] {
        let found = converted(ConvertedType::F8E4M3, &[bits]);
        assert!(half::f16::from_le_bytes([found[0], found[1]]).is_nan());
    }
    assert_eq!(converted(ConvertedType::F8E5M2, &[0xC1]), [0, 0xC1]);
}

/// The scale of a block of `Q5_0`, and its first quant.
fn scale_and_quant(block: &[u8]) -> (f32, i32) {
    let scale = half::f16::from_le_bytes([block[0], block[1]]).to_f32();
    let quant = i32::from(block[6] & 0xF) + i32::from(block[2] & 1) * 16 - 16;
    (scale, quant)
}

#[test]
fn powers_of_two_beyond_a_16_bit_float_are_rounded_or_infinite() {
    // The quant 7 stands for 12.
    for (exponent, expected) in [
        (143, (32_768.0, 12)),
        (128, (1.0, 12)),
        (104, (2_f32.powi(-24), 12)),
        (103, (2_f32.powi(-24), 6)),
        (100, (2_f32.powi(-24), 1)),
        (99, (2_f32.powi(-24), 0)),
        (0, (2_f32.powi(-24), 0)),
        (144, (f32::INFINITY, 12)),
        (255, (f32::INFINITY, 12)),
    ] {
        let mut block = vec![exponent];
        block.extend([0x77; 16]);
        let found = scale_and_quant(&converted(ConvertedType::Mxfp4, &block));
        assert_eq!(found, expected, "{exponent}");
    }
}

#[test]
fn a_scale_that_is_not_finite_or_too_large_is_rejected() {
    use crate::engine::weights::finite::all_finite;

    const NAN: [u8; 2] = [0xFF, 0xFF];
    const INFINITE: [u8; 2] = [0x00, 0x7C];
    const LARGEST: [u8; 2] = [0xFF, 0x7B];
    const SMALLEST: [u8; 2] = [0x01, 0x00];
    const ZERO: [u8; 2] = [0x00, 0x00];
    for number in [16, 17, 18, 19, 20, 21, 22, 23, 34, 35, 41] {
        let tested = ConvertedType::from_gguf(number).unwrap();
        let block = |scale: [u8; 2]| {
            let mut block = vec![0xB7; tested.n_block_bytes()];
            let start = match tested {
                ConvertedType::Tq1_0 | ConvertedType::Tq2_0 => block.len() - 2,
                _ => 0,
            };
            block[start..start + 2].copy_from_slice(&scale);
            converted(tested, &block)
        };
        for scale in [NAN, INFINITE] {
            assert!(!all_finite(tested.target(), &block(scale)), "{tested:?}");
        }
        for scale in [SMALLEST, ZERO] {
            assert!(all_finite(tested.target(), &block(scale)), "{tested:?}");
        }
        // Products of scales exceed 16 bits.
        let is_product = ROUNDED.contains(&tested);
        assert_eq!(
            all_finite(tested.target(), &block(LARGEST)),
            !is_product,
            "{tested:?}"
        );
    }
}
