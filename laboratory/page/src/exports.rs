//! How the page calls the model: it writes a question into memory, asks, and reads the answer, both as JSON.
//!
//! Memory is two vectors that live as long as the page, so no pointer is followed here: the page alone reads and writes through them.

use crate::{Question, answer};
use roofline::{Record, RooflineError};
use serde::Serialize;
use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
}

/// Room for so many bytes, and where it is.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Where the last answer is.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Reply<T> {
    Ok(T),
    Error(String),
}

/// Stores a reply and says how long it is.
fn reply<T: Serialize>(outcome: Result<T, String>) -> usize {
    let reply = match outcome {
        Ok(value) => Reply::Ok(value),
        Err(message) => Reply::Error(message),
    };
    let text = serde_json::to_vec(&reply)
        .unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}").into_bytes());
    let length = text.len();
    OUTPUT.set(text);
    length
}

/// Takes the record that mode *measured* rests on. Called once.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> usize {
    let record = INPUT.with_borrow(|input| serde_json::from_slice::<Record>(input));
    reply(match record {
        Ok(record) => {
            RECORD.set(Some(record));
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    })
}

/// Answers the question that was written.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let question = INPUT.with_borrow(|input| serde_json::from_slice::<Question>(input));
    let answered = question
        .map_err(|error| error.to_string())
        .and_then(|question| {
            RECORD.with_borrow(|record| {
                let record = record.as_ref().ok_or("the record was not given")?;
                answer(&question, record).map_err(|error: RooflineError| error.to_string())
            })
        });
    reply(answered)
}
