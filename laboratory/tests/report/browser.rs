//! A real browser, driven by the protocol that `chromedriver` speaks: JSON over HTTP, which needs no library.

use ozfft_testkit::{Requirement, available};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Keys that have no letter.
pub const TAB: &str = "\u{E004}";

/// A browser with one page. It ends with the test.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

fn found(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    files.find(|file| file.is_file())
}

impl Browser {
    /// None, with a notice, where there is no browser.
    pub fn start(name: &str) -> Option<Browser> {
        let both = found(&["chromium", "chromium-browser"]).zip(found(&["chromedriver"]));
        let reason =
            "chromium or chromedriver is not installed (Debian: chromium, chromium-driver)";
        let (program, driver) = available(Requirement::Browser, both.ok_or(reason))?;
        let profile = super::common::directory(&format!("report-browser-{name}"));
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let lines = BufReader::new(driver.stdout.take().expect("its output")).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let rest = line.split("successfully on port ").nth(1)?;
            rest.trim_end_matches('.').parse().ok()
        });
        let port = port.expect("chromedriver says its port");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=1000,1400",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let mut browser = Browser {
            driver,
            port,
            session: String::new(),
            profile,
        };
        let made = browser.call(
            "POST",
            "/session",
            &json!({ "capabilities": { "alwaysMatch": {
                "browserName": "chrome",
                "goog:loggingPrefs": { "browser": "ALL" },
                "goog:chromeOptions": { "args": arguments, "binary": program },
            } } }),
        );
        browser.session = made["sessionId"].as_str().expect("a session").to_string();
        Some(browser)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        let wait = Some(Duration::from_secs(120));
        stream.set_read_timeout(wait).expect("a time limit");
        let body = if method == "POST" {
            body.to_string()
        } else {
            String::new()
        };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .expect("a request can be sent");
        let mut answer = BufReader::new(stream);
        let mut length = None;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).expect("an answer");
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse::<usize>().ok();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut text = vec![0; length.expect("the answer has a length")];
        answer.read_exact(&mut text).expect("the whole answer");
        let value: Value = serde_json::from_slice(&text).expect("JSON");
        let value = value["value"].clone();
        assert!(
            value.get("error").is_none_or(Value::is_null),
            "{method} {path}: {} {}",
            value["error"],
            value["message"]
        );
        value
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.call("POST", &format!("/session/{}{path}", self.session), &body)
    }

    pub fn open(&self, file: &Path) {
        self.post(
            "/url",
            json!({ "url": format!("file://{}", file.display()) }),
        );
    }

    /// Runs a script's function body in the page.
    pub fn run(&self, script: &str, arguments: Value) -> Value {
        self.post(
            "/execute/sync",
            json!({ "script": script, "args": arguments }),
        )
    }

    /// The same for a body without arguments.
    pub fn value(&self, script: &str) -> Value {
        self.run(script, json!([]))
    }

    /// What a script hands to its last argument, a function, sooner or later.
    pub fn value_later(&self, script: &str) -> Value {
        self.post("/execute/async", json!({ "script": script, "args": [] }))
    }

    pub fn text(&self, selector: &str) -> String {
        let text = self.run(
            "return document.querySelector(arguments[0]).textContent",
            json!([selector]),
        );
        text.as_str().expect("text").to_string()
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post(
            "/element",
            json!({ "using": "css selector", "value": selector }),
        );
        let id = found.as_object().and_then(|object| object.values().next());
        id.and_then(Value::as_str).expect("an element").to_string()
    }

    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/click"), json!({}));
    }

    /// Replaces what a field has by these keys.
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        // All that is there is marked, and the first key replaces it.
        let keys = format!(
            "\u{E009}a\u{E000}{}",
            if text.is_empty() { "\u{E017}" } else { text }
        );
        self.post(
            &format!("/element/{element}/value"),
            json!({ "text": keys }),
        );
    }

    /// A key for whatever has the focus.
    pub fn press(&self, key: &str) {
        let actions =
            json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        self.post(
            "/actions",
            json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        );
    }

    pub fn command(&self, name: &str, parameters: Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            json!({ "cmd": name, "params": parameters }),
        )
    }

    /// A screen of this width.
    pub fn screen(&self, width: u32, is_phone: bool) {
        let parameters =
            json!({ "width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": is_phone });
        self.command("Emulation.setDeviceMetricsOverride", parameters);
    }

    pub fn media(&self, kind: &str, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.command(
            "Emulation.setEmulatedMedia",
            json!({ "media": kind, "features": features }),
        );
    }

    /// The page on A4 paper, as the bytes of a PDF in base64.
    pub fn print(&self) -> String {
        // In inches. The structure has the names of figures.
        let page = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": true, "preferCSSPageSize": true, "generateTaggedPDF": true });
        let pdf = self.command("Page.printToPDF", page)["data"].clone();
        pdf.as_str().expect("a document").to_string()
    }

    /// What the page complained about since this was asked last.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({ "type": "browser" }));
        let lines = log.as_array().expect("lines").iter();
        lines.map(|line| line["message"].to_string()).collect()
    }

    /// Writes what is seen to a file of the test's folder, for those who want to look.
    pub fn picture(&self, file: &Path) {
        let path = format!("/session/{}/screenshot", self.session);
        let picture = self.call("GET", &path, &Value::Null);
        let bytes = decoded(picture.as_str().expect("a picture"));
        std::fs::write(file, bytes).expect("the picture can be written");
    }
}

/// Base64.
pub fn decoded(text: &str) -> Vec<u8> {
    let value = |sign: u8| match sign {
        b'A'..=b'Z' => sign - b'A',
        b'a'..=b'z' => sign - b'a' + 26,
        b'0'..=b'9' => sign - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let signs: Vec<u8> = text
        .bytes()
        .filter(|sign| *sign != b'=')
        .map(value)
        .collect();
    let mut bytes = Vec::new();
    for group in signs.chunks(4) {
        let bits = group
            .iter()
            .fold(0u32, |bits, sign| bits << 6 | u32::from(*sign))
            << (6 * (4 - group.len()));
        let three = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
        bytes.extend(&three[..group.len() - 1]);
    }
    bytes
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A test that fails already must not fail again here.
        let path = format!("/session/{}", self.session);
        if !std::thread::panicking() {
            self.call("DELETE", &path, &Value::Null);
        } else if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = write!(
                stream,
                "DELETE {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.read(&mut [0; 1000]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
