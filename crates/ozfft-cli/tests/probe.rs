//! `ozfft probe`, on machines with and without a GPU.

mod common;

use common::{directory, ozfft, text, text_of};

#[test]
fn a_missing_driver_is_reported() {
    let record = directory("probe").join("record.json");
    let output = ozfft(&["probe", "--json", "--record", text(&record)]);
    let message = text_of(&output.stderr);
    if output.status.success() {
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(
            report["pipes"]
                .as_array()
                .is_some_and(|pipes| pipes.len() == 15)
        );
        assert!(record.exists());
    } else {
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.starts_with("error: "), "{message}");
        assert!(!message.contains("panicked"), "{message}");
        assert!(output.stdout.is_empty() && !record.exists());
    }
}

#[test]
fn a_device_that_does_not_exist_is_rejected() {
    let output = ozfft(&["probe", "--device", "1000"]);
    let message = text_of(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("driver"), "{message}");
}
