//! Source text without comments and literals, and the blocks in it.

use std::ops::Range;

/// The text with comments, texts and characters blanked, line by line as long as before.
pub fn code_of(text: &str) -> String {
    let text = text.as_bytes();
    let mut code = text.to_vec();
    let mut at = 0;
    while at < text.len() {
        let end = match text[at] {
            b'/' if text[at..].starts_with(b"//") => find(text, at, b"\n"),
            b'/' if text[at..].starts_with(b"/*") => find(text, at + 2, b"*/") + 2,
            b'r' if is_start(text, at) && raw_text(&text[at..]).is_some() => {
                at + raw_text(&text[at..]).unwrap()
            }
            b'"' => quoted(text, at),
            // A lifetime has no second apostrophe, and digits of C++ have one between them.
            b'\'' if (is_start(text, at) || is_byte(text, at)) && is_character(&text[at..]) => {
                quoted(text, at)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let end = end.min(text.len());
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8(code).expect("only whole characters are blanked")
}

fn find(text: &[u8], from: usize, what: &[u8]) -> usize {
    let from = from.min(text.len());
    let found = text[from..].windows(what.len()).position(|w| w == what);
    found.map_or(text.len(), |place| from + place)
}

/// Whether a word could start here.
fn is_start(text: &[u8], at: usize) -> bool {
    at == 0 || !is_word(text[at - 1] as char)
}

/// Whether the `b` of `b'x'` precedes.
fn is_byte(text: &[u8], at: usize) -> bool {
    text[at - 1] == b'b' && is_start(text, at - 1)
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of `r"…"`, `r#"…"#` and so on.
fn raw_text(text: &[u8]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|&&byte| byte == b'#').count();
    let open = 1 + hashes;
    (text.get(open) == Some(&b'"')).then(|| {
        let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
        find(text, open + 1, &close) + close.len()
    })
}

fn is_character(text: &[u8]) -> bool {
    let text = &text[1..text.len().min(8)];
    let text = String::from_utf8_lossy(text);
    let mut characters = text.chars();
    characters.next() == Some('\\') || characters.next() == Some('\'')
}

/// Where the literal that opens at `at` ends.
fn quoted(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text[end] != text[at] {
        end += 1 + usize::from(text[end] == b'\\');
    }
    end + 1
}

/// A block in braces and what precedes it since the last statement.
pub struct Block {
    pub header: Range<usize>,
    pub braces: Range<usize>,
}

/// All blocks of `code`, outer ones before those in them.
pub fn blocks(code: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut header = 0;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' => open.push((byte, 0)),
            b'{' => {
                open.push((byte, blocks.len()));
                blocks.push(Block {
                    header: header..at,
                    braces: at..code.len(),
                });
                header = at + 1;
            }
            b')' | b']' => _ = open.pop(),
            b'}' => {
                if let Some((b'{', block)) = open.pop() {
                    blocks[block].braces.end = at + 1;
                }
                header = at + 1;
            }
            b';' if !matches!(open.last(), Some((b'(' | b'[', _))) => header = at + 1,
            _ => (),
        }
    }
    blocks
}

/// Words of `code` with where they start.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + code[rest..].find(is_word)?;
        let length = code[start..].find(|c| !is_word(c));
        rest = length.map_or(code.len(), |length| start + length);
        Some((start, &code[start..rest]))
    })
}

/// Functions that are in no other: name and lines from the first of the signature to the last of the body.
pub fn functions(text: &str, extension: &str) -> Vec<(String, usize)> {
    if extension == "py" {
        return python_functions(text);
    }
    let is_rust = extension == "rs";
    let mut code = code_of(text);
    if !is_rust {
        code = without_directives(&code);
    }
    let mut found = Vec::new();
    let mut end = 0;
    for block in blocks(&code) {
        let header = &code[block.header.clone()];
        let name = match is_rust {
            true => rust_name(header),
            false => c_name(header),
        };
        let Some((offset, name)) = name.filter(|_| block.header.start >= end) else {
            continue;
        };
        end = block.braces.end;
        let lines = code[block.header.start + offset..end].matches('\n').count() + 1;
        found.push((name.to_string(), lines));
    }
    found
}

/// The name after `fn`, and where `fn` is.
fn rust_name(header: &str) -> Option<(usize, &str)> {
    let mut words = words(header);
    let (start, _) = words.find(|(_, word)| *word == "fn")?;
    Some((start, words.next()?.1))
}

/// The name before the parameters of a function of C, C++ or JavaScript, and where its header starts.
fn c_name(header: &str) -> Option<(usize, &str)> {
    const OTHERS: [&str; 8] = [
        "struct",
        "class",
        "enum",
        "union",
        "namespace",
        "extern",
        "if",
        "for",
    ];
    let (start, first) = words(header).find(|(_, word)| *word != "template")?;
    let parameters = header.find('(')?;
    let name = words(&header[..parameters]).last()?.1;
    let is_other = OTHERS.contains(&first) && !header.trim_end().ends_with(')');
    (!is_other).then_some((start, name))
}

fn without_directives(code: &str) -> String {
    let mut is_directive = false;
    let line = |line: &str| {
        is_directive |= line.trim_start().starts_with('#');
        let blank = is_directive;
        is_directive &= line.ends_with('\\');
        if blank {
            " ".repeat(line.len())
        } else {
            line.to_string()
        }
    };
    code.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn python_functions(text: &str) -> Vec<(String, usize)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut end = 0;
    for (start, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("def ") else {
            continue;
        };
        if start < end {
            continue;
        }
        let is_after = |next: &&str| {
            let next: &str = next;
            !next.trim().is_empty()
                && indent(next) <= indent(line)
                && !next.trim_start().starts_with(')')
        };
        let body = &lines[start + 1..];
        let length = body.iter().position(is_after).unwrap_or(body.len());
        let blank = body[..length]
            .iter()
            .rev()
            .take_while(|line| line.trim().is_empty());
        let length = length - blank.count();
        end = start + 1 + length;
        let name = rest.split('(').next().unwrap_or_default();
        found.push((name.to_string(), 1 + length));
    }
    found
}

#[test]
fn comments_and_literals_are_blanked() {
    let text =
        "a(\"x // {\", b'\"', '{', r#\"\"}\"#); // b\nfn f<'a>(c: &'a str) {} /* d */ '\\'' 'é'";
    let code = code_of(text);
    assert_eq!(code.len(), text.len());
    let words: Vec<&str> = words(&code).map(|(_, word)| word).collect();
    assert_eq!(words, ["a", "b", "fn", "f", "a", "c", "a", "str"]);
}

#[test]
fn functions_are_measured() {
    let rust = "struct A { b: u8 }\n/// Doc.\nfn c(d: [u8; 2])\n{\n    fn e() {\n    }\n}\nimpl A {\n    pub const fn g() { if x { } }\n}\n";
    assert_eq!(functions(rust, "rs"), [("c".into(), 5), ("g".into(), 1)]);
    let cuda = "#define A(b) \\\n    {\nnamespace n {\nstruct S {\n    int c(int d) const {\n        for (;;) {\n        }\n    }\n};\ntemplate <int N>\n__device__ void e() {\n}\n}";
    assert_eq!(functions(cuda, "cu"), [("c".into(), 4), ("e".into(), 3)]);
    let python = "def a(\n    b,\n):\n    c\n\n    def d():\n        e\n\n\nclass F:\n    def g(self):\n        h\n";
    assert_eq!(functions(python, "py"), [("a".into(), 7), ("g".into(), 2)]);
}
