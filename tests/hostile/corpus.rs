//! Replays the inputs that the fuzzers have saved: those that reach new code, and every past
//! failure.

use std::fs;
use std::path::Path;

#[expect(unreachable_pub, reason = "the fuzz targets use it as a library")]
#[path = "../fuzz/attacks.rs"]
mod attacks;

#[test]
fn no_saved_input_causes_a_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for (name, attack) in attacks::ATTACKS {
        let inputs = fs::read_dir(corpus.join(name)).unwrap();
        let mut n_inputs = 0;
        for input in inputs {
            let path = input.unwrap().path();
            // The last line printed names the input that failed.
            println!("{}", path.display());
            attack(&fs::read(&path).unwrap());
            n_inputs += 1;
        }
        assert!(n_inputs > 0, "{name}");
    }
}
