//! `ozfft-lab ladder`.

mod common;

use common::{fail, json, number, succeed};
use std::path::PathBuf;

#[test]
fn every_rung_is_measured_drawn_and_written_into_the_document() {
    let name = format!("ozfft-ladder-{}", std::process::id());
    let [record, picture, document] =
        ["json", "svg", "md"].map(|ending| std::env::temp_dir().join(format!("{name}.{ending}")));
    let text = |path: &PathBuf| path.to_str().expect("a path in text").to_string();
    let (record_path, picture_path, document_path) =
        (text(&record), text(&picture), text(&document));
    let sizes = [
        "--shape",
        "16",
        "--shape",
        "15",
        "--batch",
        "4",
        "--seconds",
        "0",
        "--threads",
        "1",
        "--device",
        "cpu",
    ];
    let options = [&["ladder", "--json", "-o", &record_path][..], &sizes].concat();
    let rows = json(&options);
    let (rungs, posts): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row["shape"].is_string());
    assert_eq!(posts.len(), 17);
    for rung in &rungs {
        let found = &rung["found"];
        assert!(found.is_object(), "{rung}");
        assert!(number(found, "l2") <= number(found, "bound"), "{rung}");
        assert!(number(found, "ns_per_point") > 0.0, "{rung}");
        // What was asked for is kept.
        if let Some(Ok(target)) = rung["accuracy"].as_str().map(str::parse::<f64>) {
            assert!(number(found, "l2") <= target, "{rung}");
        }
    }
    let of = |numbers: &str, asked: &str| {
        let same = |rung: &&&serde_json::Value| {
            rung["numbers"] == numbers && rung["asked"] == asked && rung["shape"] == "16"
        };
        rungs.iter().filter(same).count()
    };
    // Errors to the end of the type, Single and Double.
    assert_eq!((of("f64", "auto"), of("f64", "digits")), (16, 16));
    assert_eq!((of("f32", "auto"), of("f32", "digits")), (8, 8));
    assert_eq!((of("f32", "ozaki"), of("f64", "double")), (1, 1));
    let beyond: Vec<_> = rungs.iter().filter(|r| r["numbers"] == "pairs").collect();
    assert_eq!(beyond.len(), 2);
    assert!(beyond.iter().all(|r| number(&r["found"], "l2") < 1e-30));
    succeed(&["plot", "--record", &record_path, "-o", &picture_path]);
    let drawn = std::fs::read_to_string(&picture).expect("a picture");
    assert!(drawn.contains("nanoseconds a point") && drawn.contains("double"));
    let marks = ["machine", "modes", "accuracies", "lengths", "posts"]
        .map(|name| format!("<!-- ozfft-lab ladder: {name} -->\n<!-- end -->\n"));
    std::fs::write(&document, marks.concat()).expect("a file can be written");
    succeed(&[
        "ladder",
        "--from",
        &record_path,
        "--document",
        &document_path,
    ]);
    let written = std::fs::read_to_string(&document).expect("the document");
    assert!(written.contains("| `bf16` | 64 | 2.20e-3 |"), "{written}");
    for path in [record, picture, document] {
        std::fs::remove_file(path).expect("the file was written");
    }
}

#[test]
fn invalid_options_are_rejected() {
    for (arguments, word) in [
        (&["ladder", "--shape", "0"][..], "length 0"),
        (&["ladder", "--device", "auto"], "cpu or cuda"),
        (&["ladder", "--seconds=-1"], "seconds"),
    ] {
        let message = fail(arguments);
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
}
