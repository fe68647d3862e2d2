//! Compares every kernel with the product of the dequantized weights, and with the scalar
//! reference.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

use super::{
    Format, InputBits, InputKinds, Inputs, InstructionSet, Matrix, N_BLOCK, ThreadPool, multiply,
};

/// The formats, with candle's names for them.
const FORMATS: &[(Format, GgmlDType)] = &[
    (Format::F32, GgmlDType::F32),
    (Format::F16, GgmlDType::F16),
    (Format::BF16, GgmlDType::BF16),
    (Format::Q2K, GgmlDType::Q2K),
    (Format::Q3K, GgmlDType::Q3K),
    (Format::Q4_0, GgmlDType::Q4_0),
    (Format::Q4_1, GgmlDType::Q4_1),
    (Format::Q4K, GgmlDType::Q4K),
    (Format::Q5_0, GgmlDType::Q5_0),
    (Format::Q5_1, GgmlDType::Q5_1),
    (Format::Q5K, GgmlDType::Q5K),
    (Format::Q6K, GgmlDType::Q6K),
    (Format::Q8_0, GgmlDType::Q8_0),
];

/// Rows of weights and of inputs: full and partial tiles, full and partial groups.
const N_ROWS: [usize; 3] = [16, 37, 80];
const N_INPUTS: [usize; 9] = [1, 2, 3, 4, 5, 7, 8, 12, 29];

/// The unit of the widths to test: a block of the file, or an arbitrary width if the format has no
/// blocks.
fn width_unit(format: Format) -> usize {
    match format.layout().n_file_values {
        1 => 37,
        n_values => n_values,
    }
}

fn wave(n_values: usize, step: f32) -> Vec<f32> {
    (0..n_values)
        .map(|i| (i as f32 * step).sin() * (1.0 + (i % 7) as f32))
        .collect()
}

/// A packed matrix, and its weights in single precision.
fn matrix(format: Format, dtype: GgmlDType, n_rows: usize, width: usize) -> (Matrix, Vec<f32>) {
    matrix_of(format, dtype, wave(n_rows * width, 0.37), width)
}

fn matrix_of(
    format: Format,
    dtype: GgmlDType,
    values: Vec<f32>,
    width: usize,
) -> (Matrix, Vec<f32>) {
    let shape = (values.len() / width, width);
    let values = Tensor::from_vec(values, shape, &Device::Cpu);
    let quantized = QTensor::quantize(&values.unwrap(), dtype).unwrap();
    let dequantized = quantized.dequantize(&Device::Cpu).unwrap();
    let matrix = Matrix::pack(format, &quantized.data().unwrap(), width).unwrap();
    (
        matrix,
        dequantized.flatten_all().unwrap().to_vec1().unwrap(),
    )
}

/// A micro-kernel: instructions and the rounding of their inputs.
type Kernel = (InstructionSet, InputBits);

/// All micro-kernels that this CPU supports.
fn kernels() -> impl Iterator<Item = Kernel> {
    let all = InstructionSet::available().into_iter();
    all.flat_map(|instructions| InputBits::ALL.map(|bits| (instructions, bits)))
}

fn product(
    (instructions, bits): Kernel,
    n_threads: usize,
    matrices: &[&Matrix],
    values: &[f32],
) -> Vec<f32> {
    let width = matrices[0].width();
    let kinds = InputKinds::of(matrices.iter().map(|matrix| matrix.format()));
    let threads = ThreadPool::new(n_threads).unwrap();
    let mut inputs = Inputs::new(instructions, bits);
    inputs.set(&threads, values, width, kinds);
    let n_outputs: usize = matrices.iter().map(|matrix| matrix.n_rows()).sum();
    let mut outputs = vec![0.0; values.len() / width * n_outputs];
    multiply(&threads, matrices, &inputs, &mut outputs);
    outputs
}

/// Sums in double precision, each with the sum of the magnitudes of its terms.
fn exact(weights: &[f32], values: &[f32], width: usize) -> Vec<(f64, f64)> {
    let rows = values.chunks_exact(width).flat_map(|input| {
        weights.chunks_exact(width).map(move |weights| {
            let products = weights.iter().zip(input);
            let products = products.map(|(w, x)| f64::from(*w) * f64::from(*x));
            products.fold((0.0, 0.0), |(sum, weight), p| (sum + p, weight + p.abs()))
        })
    });
    rows.collect()
}

#[test]
fn products_match_the_dequantized_weights() {
    for &(format, dtype) in FORMATS {
        let n_block = width_unit(format);
        for kernel in kernels() {
            for (n_rows, n_blocks) in [(16, 1), (37, 2), (80, 3), (48, 8)] {
                let width = n_block * n_blocks;
                let (matrix, weights) = matrix(format, dtype, n_rows, width);
                for n_inputs in N_INPUTS {
                    let values = wave(n_inputs * width, 0.71);
                    let found = product(kernel, 1, &[&matrix], &values);
                    let expected = exact(&weights, &values, width);
                    // Quantization to 8 bits changes an input by at most a 254th of the largest,
                    // and quantization of the rest by at most a 254th of that. Beyond that, sums
                    // are rounded to single precision.
                    let tolerance = match kernel {
                        _ if !format.quantizes_inputs() => 1e-6,
                        (_, InputBits::Eight) => 0.008,
                        (_, InputBits::Sixteen) => 4e-5,
                        (_, InputBits::TwentyFour) => 2e-6,
                    };
                    for (found, (sum, weight)) in found.iter().zip(expected) {
                        let error = (f64::from(*found) - sum).abs();
                        assert!(
                            error <= tolerance * weight,
                            "{format:?} {kernel:?} {n_rows} × {width}, {n_inputs}: {found} for {sum}",
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn every_kernel_agrees_with_the_scalar_reference() {
    for &(format, dtype) in FORMATS {
        let n_block = width_unit(format);
        for n_rows in N_ROWS {
            for width in [n_block, 3 * n_block, 12 * n_block] {
                let (matrix, _) = matrix(format, dtype, n_rows, width);
                for n_inputs in N_INPUTS {
                    let values = wave(n_inputs * width, 0.71);
                    let expected = InputBits::ALL.map(|bits| {
                        let reference = (InstructionSet::Scalar, bits);
                        (bits, product(reference, 1, &[&matrix], &values))
                    });
                    for kernel in kernels() {
                        let mut expected = expected.iter();
                        let (_, expected) = expected.find(|(bits, _)| *bits == kernel.1).unwrap();
                        let largest = expected.iter().fold(0.0_f32, |max, sum| max.max(sum.abs()));
                        let found = product(kernel, 1, &[&matrix], &values);
                        // A kernel may add in a different order.
                        for (found, expected) in found.iter().zip(expected) {
                            assert!(
                                (found - expected).abs() <= 1e-5 * largest,
                                "{format:?} {kernel:?}: {found} for {expected}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_row_is_bit_identical_alone_in_a_batch_and_on_several_threads() {
    for &(format, dtype) in FORMATS {
        let width = 2 * width_unit(format);
        let (first, _) = matrix(format, dtype, 37, width);
        let (second, _) = matrix(format, dtype, 4000, width);
        for kernel in kernels() {
            let values = wave(13 * width, 0.71);
            let together = product(kernel, 3, &[&first, &second], &values);
            let alone = values.chunks_exact(width).flat_map(|values| {
                let mut outputs = product(kernel, 1, &[&first], values);
                outputs.extend(product(kernel, 1, &[&second], values));
                outputs
            });
            let alone: Vec<u32> = alone.map(f32::to_bits).collect();
            let together: Vec<u32> = together.into_iter().map(f32::to_bits).collect();
            assert!(alone == together, "{format:?} {kernel:?}");
        }
    }
}

/// One set of inputs has all representations that the matrices need.
#[test]
fn matrices_side_by_side_give_the_same_bits_as_alone() {
    let width = 512;
    let matrices: Vec<Matrix> = FORMATS
        .iter()
        .map(|&(format, dtype)| matrix(format, dtype, 37, width).0)
        .collect();
    for kernel in kernels() {
        for n_inputs in [1, 4, 7] {
            let values = wave(n_inputs * width, 0.71);
            let all: Vec<&Matrix> = matrices.iter().collect();
            let together = product(kernel, 1, &all, &values);
            for (index, matrix) in matrices.iter().enumerate() {
                let alone = product(kernel, 1, &[matrix], &values);
                let rows = together.chunks_exact(37 * matrices.len());
                let found: Vec<f32> = rows
                    .flat_map(|row| &row[37 * index..37 * (index + 1)])
                    .copied()
                    .collect();
                assert_eq!(found, alone, "{:?} {kernel:?}", matrix.format());
            }
        }
    }
}

#[test]
fn new_inputs_replace_all_previous_ones() {
    let threads = ThreadPool::new(1).unwrap();
    for &(format, dtype) in FORMATS {
        let width = width_unit(format);
        let (matrix, _) = matrix(format, dtype, 16, width);
        let kinds = InputKinds::of([format]);
        for kernel in kernels() {
            for n_rows in [1, 4, 7] {
                let values = wave(n_rows * width, 0.71);
                let expected = product(kernel, 1, &[&matrix], &values);
                let mut inputs = Inputs::new(kernel.0, kernel.1);
                inputs.set(&threads, &vec![f32::NAN; 13 * 3 * width], 3 * width, kinds);
                inputs.set(&threads, &values, width, kinds);
                let mut found = vec![f32::NAN; n_rows * 16];
                multiply(&threads, &[&matrix], &inputs, &mut found);
                assert_eq!(found, expected, "{format:?} {kernel:?} {n_rows}");
            }
        }
    }
}

#[test]
fn all_vector_kernels_are_bit_identical() {
    for &(format, dtype) in FORMATS {
        let width = 6 * width_unit(format);
        let (matrix, _) = matrix(format, dtype, 37, width);
        let values = wave(5 * width, 0.71);
        for bits in InputBits::ALL {
            let sets = InstructionSet::available().into_iter();
            let sets = sets.filter(|set| *set != InstructionSet::Scalar);
            let mut products = sets.map(|set| product((set, bits), 1, &[&matrix], &values));
            if let Some(first) = products.next() {
                assert!(
                    products.all(|product| product == first),
                    "{format:?} {bits:?}"
                );
            }
        }
    }
}

/// How far each sum may be off: inputs are rounded to this fraction of the largest input of their
/// block, and sums to single precision.
fn error_bounds(weights: &[f32], values: &[f32], width: usize, fraction: f32) -> Vec<f32> {
    let rows = values.chunks_exact(width).flat_map(|inputs| {
        weights.chunks_exact(width).map(move |weights| {
            let blocks = weights.chunks(N_BLOCK).zip(inputs.chunks(N_BLOCK));
            let bounds = blocks.map(|(weights, inputs)| {
                let largest = inputs
                    .iter()
                    .fold(0.0_f32, |max, input| max.max(input.abs()));
                let magnitudes: f32 = weights.iter().map(|weight| weight.abs()).sum();
                let terms = weights.iter().zip(inputs).map(|(w, x)| (w * x).abs());
                fraction * largest * magnitudes + 2e-6 * terms.sum::<f32>()
            });
            bounds.sum()
        })
    });
    rows.collect()
}

#[test]
fn an_outlier_among_the_inputs_costs_no_more_than_its_rounding() {
    for &(format, dtype) in FORMATS {
        let width = 4 * width_unit(format);
        let (matrix, weights) = matrix(format, dtype, 37, width);
        for n_inputs in [1, 3, 8] {
            let mut values: Vec<f32> = wave(n_inputs * width, 0.71);
            for (row, values) in values.chunks_exact_mut(width).enumerate() {
                values[(row * 7 + 3) % width] *= 1000.0;
            }
            let expected = exact(&weights, &values, width);
            for kernel in kernels() {
                let fraction = match kernel.1 {
                    _ if !format.quantizes_inputs() => 0.0,
                    InputBits::Eight => 1.0 / 254.0,
                    InputBits::Sixteen => 1.0 / 254.0 / 254.0,
                    InputBits::TwentyFour => 1.0 / 254.0 / 254.0 / 254.0,
                };
                let bounds = error_bounds(&weights, &values, width, fraction);
                let found = product(kernel, 1, &[&matrix], &values);
                for ((found, (sum, _)), bound) in found.iter().zip(&expected).zip(bounds) {
                    let error = (f64::from(*found) - sum).abs();
                    assert!(
                        error <= f64::from(bound),
                        "{format:?} {kernel:?} {n_inputs}: {found} for {sum} ± {bound}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_largest_quants_do_not_overflow() {
    for &(format, dtype) in FORMATS {
        let width = 2 * width_unit(format);
        let largest = (0..16 * width).map(|i| if i % 32 == 0 { -8.0 } else { 7.0 });
        let (matrix, _) = matrix_of(format, dtype, largest.collect(), width);
        let reference = (InstructionSet::Scalar, InputBits::Eight);
        let expected = product(reference, 1, &[&matrix], &vec![1.0; width]);
        for kernel in kernels() {
            let found = product(kernel, 1, &[&matrix], &vec![1.0; width]);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found / expected - 1.0).abs() < 1e-5, "{format:?}");
            }
        }
    }
    let mut block = vec![0x80; 34];
    block[..2].copy_from_slice(&half::f16::ONE.to_le_bytes());
    let matrix = Matrix::pack(Format::Q8_0, &block, 32).unwrap();
    for kernel in kernels() {
        for input in [1.0, -1.0] {
            let found = product(kernel, 1, &[&matrix], &[input; 32]);
            assert!((found[0] / input + 4096.0).abs() < 0.01, "{kernel:?}");
        }
    }
}

#[test]
fn the_largest_sub_scales_do_not_overflow() {
    let cases = [(Format::Q2K, 84, &[80, 82][..]), (Format::Q3K, 110, &[108])];
    for (format, n_bytes, factors) in cases {
        for filling in [0x00, 0x0f, 0xf0, 0xff] {
            let mut block = vec![filling; n_bytes];
            for &offset in factors {
                block[offset..offset + 2].copy_from_slice(&half::f16::ONE.to_le_bytes());
            }
            let matrix = Matrix::pack(format, &block, 256).unwrap();
            let mut weights = Vec::new();
            matrix.extend_with_row(0, &mut weights);
            for kernel in kernels() {
                for input in [1.0, -1.0] {
                    let found = product(kernel, 1, &[&matrix], &[input; 256]);
                    let expected = input * weights.iter().sum::<f32>();
                    let tolerance = 1e-5 * weights.iter().map(|weight| weight.abs()).sum::<f32>();
                    let error = (found[0] - expected).abs();
                    assert!(error <= tolerance, "{format:?} {kernel:?} {filling:x}");
                }
            }
        }
    }
}

#[test]
fn packing_adds_at_most_three_percent() {
    for &(format, dtype) in FORMATS {
        let width = 8 * width_unit(format);
        let (matrix, _) = matrix(format, dtype, 32, width);
        let n_file_bytes = 32 * width / dtype.block_size() * dtype.type_size();
        assert!(100 * matrix.n_bytes() <= 103 * n_file_bytes, "{format:?}");
    }
}

#[test]
fn an_unpacked_row_equals_the_dequantized_one() {
    for &(format, dtype) in FORMATS {
        let width = 3 * width_unit(format);
        let (matrix, weights) = matrix(format, dtype, 37, width);
        for row in [0, 15, 16, 36] {
            let mut values = Vec::new();
            matrix.extend_with_row(row, &mut values);
            let expected = &weights[row * width..(row + 1) * width];
            assert_eq!(values, expected, "{format:?}, row {row}");
        }
        let mut values = Vec::new();
        matrix.extend_with_row(37, &mut values);
        assert!(values.is_empty());
    }
}

#[test]
fn incomplete_rows_are_rejected() {
    assert!(Matrix::pack(Format::Q8_0, &[0; 35], 32).is_none());
    assert!(Matrix::pack(Format::Q8_0, &[0; 34], 33).is_none());
    assert!(Matrix::pack(Format::Q8_0, &[0; 34], 0).is_none());
}

/// The matrix is read in several pieces, of which the last is smaller and ends within a tile.
#[test]
fn a_matrix_is_packed_piece_by_piece() {
    for &(format, dtype) in FORMATS {
        let (n_rows, width) = (3001, 256);
        let (matrix, weights) = matrix(format, dtype, n_rows, width);
        for row in [0, 15, 16, 1499, 1500, 2999, n_rows - 1] {
            let mut values = Vec::new();
            matrix.extend_with_row(row, &mut values);
            let expected = &weights[row * width..(row + 1) * width];
            assert_eq!(values, expected, "{format:?}, row {row}");
        }
    }
}

#[test]
fn a_failed_read_ends_the_packing() {
    let packed = Matrix::pack_from(Format::F32, [100_000, 32], |start, _| {
        if start < 1 << 20 { Ok(()) } else { Err(start) }
    });
    assert!(packed.unwrap_err() >= 1 << 20);
}
