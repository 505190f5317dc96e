//! Random and adversarial cases against big integers. `examples/verify.rs` runs as many as one likes.

#[path = "common/cases.rs"]
mod cases;
mod common;

use common::Generator;

#[test]
fn every_bit_of_many_random_results_is_right() {
    // The time of day would do as well: the seed is printed with every failure.
    let seed = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(1, |time| time.as_nanos() as u64);
    let mut generator = Generator::new(seed);
    let mut compared = 0;
    for case in 0..20_000 {
        match cases::run(&mut generator) {
            Ok(results) => compared += results,
            Err(wrong) => panic!("seed {seed}, case {case}: {wrong}"),
        }
    }
    assert!(compared > 100_000, "only {compared} results were compared");
}
