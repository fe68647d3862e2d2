//! Benchmarks of matrix products: `cargo bench --bench products`, with an optional name filter
//! after `--`. Throughput is in bytes of weights, so for one row it is comparable with the memory
//! bandwidth.
#![allow(
    missing_docs,
    reason = "criterion's macros generate functions without docs"
)]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quartet::engine::CpuThreads;
use quartet::kernels::{
    Format, InputBits, InputKinds, Inputs, InstructionSet, Matrix, ThreadPool, multiply,
};

/// Rows and width of the first feed-forward matrix in models of these sizes.
const SHAPES: [(&str, usize, usize); 3] =
    [("135M", 1536, 576), ("0.5B", 4864, 896), ("1B", 8192, 2048)];

const FORMATS: [Format; 6] = [
    Format::Q4_0,
    Format::Q4K,
    Format::Q5_0,
    Format::Q5K,
    Format::Q6K,
    Format::Q8_0,
];

/// Batch sizes: one pane, four panes, eight panes, and a prompt.
const N_ROWS: [usize; 4] = [1, 4, 8, 128];

/// The memory to fill with copies of a matrix, which are used in turn so that the weights come from
/// memory: those of a model do not fit into the CPU caches.
const MIN_BYTES: usize = 128 << 20;

fn products(criterion: &mut Criterion) {
    let Ok(threads) = ThreadPool::new(CpuThreads::of_machine().n_default.get()) else {
        return;
    };
    for (model, n_outputs, width) in SHAPES {
        for format in FORMATS {
            let Some(matrices) = matrices(format, n_outputs, width) else {
                continue;
            };
            for instructions in InstructionSet::available() {
                if instructions != InstructionSet::Scalar {
                    let name = format!("{model} {format:?} {}", instructions.name());
                    bench_rows(criterion, &name, &threads, instructions, &matrices);
                }
            }
        }
    }
}

/// Returns copies of a matrix, or `None` if the format does not support the width.
fn matrices(format: Format, n_rows: usize, width: usize) -> Option<Vec<Matrix>> {
    let layout = format.layout();
    let n_bytes = n_rows * width / layout.n_file_values * layout.n_file_bytes;
    // Bytes that decode to small scales and quants in every format.
    let blocks = vec![0x11; n_bytes];
    let copies = 0..MIN_BYTES.div_ceil(n_bytes);
    copies
        .map(|_| Matrix::pack(format, &blocks, width))
        .collect()
}

fn bench_rows(
    criterion: &mut Criterion,
    name: &str,
    threads: &ThreadPool,
    instructions: InstructionSet,
    matrices: &[Matrix],
) {
    let mut copies = matrices.iter().cycle();
    let Some(matrix) = copies.next() else {
        return;
    };
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(matrix.n_bytes() as u64));
    for n_rows in N_ROWS {
        let values = (0..n_rows * matrix.width()).map(|i| (i as f32).sin());
        let values: Vec<f32> = values.collect();
        let kinds = InputKinds::of([matrix.format()]);
        let mut outputs = vec![0.0; n_rows * matrix.n_rows()];
        for bits in InputBits::ALL {
            let mut inputs = Inputs::new(instructions, bits);
            group.bench_function(BenchmarkId::new(bits.phrase(), n_rows), |bencher| {
                bencher.iter(|| {
                    inputs.set(threads, &values, matrix.width(), kinds);
                    multiply(threads, copies.next().as_slice(), &inputs, &mut outputs);
                });
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    targets = products
}
criterion_main!(benches);
