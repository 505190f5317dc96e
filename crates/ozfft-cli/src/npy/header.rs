//! The header of an npy file, such as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
//!
//! It is read in one pass, without recursion, and within limits: a file may come from anywhere. Nothing but the standard library and
//! `thiserror` is used here, so that the fuzz target can include this file.

use std::io::Read;

/// Longest text of a header. numpy rejects more than 10,000 bytes unless it is told to trust the file.
pub const MOST_BYTES: usize = 1 << 16;
/// Most axes of an array, as in numpy 2.
pub const MOST_AXES: usize = 64;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// What messages show of a text that was not understood.
const SHOWN: usize = 40;

/// Which numbers an array has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    Single,
    Double,
    ComplexSingle,
    ComplexDouble,
}

/// A header that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The type as it is written there.
    pub description: String,
    pub number: Number,
    pub big_endian: bool,
    pub fortran_order: bool,
    pub shape: Vec<u64>,
    /// Bytes from the start of the file to its first number.
    pub bytes: u64,
}

/// Why a header cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    #[error("it cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("this is not an npy file that can be read: it ends within its header")]
    Short,
    #[error("this is not an npy file: it does not begin with the mark of one")]
    NoMagic,
    #[error(
        "this is an npy file of version {major}.{minor}; ozfft reads 1.0, 2.0 and 3.0, so write it again with numpy.save"
    )]
    Version { major: u8, minor: u8 },
    #[error(
        "this is not an npy file that can be read: its header has {length} bytes, and at most {MOST_BYTES} are read"
    )]
    Long { length: u32 },
    #[error(
        "this is not an npy file that can be read: byte {at} of its header should be {wanted}, and there is {found:?}"
    )]
    Syntax {
        at: usize,
        wanted: &'static str,
        found: String,
    },
    #[error("this is not an npy file that can be read: its header has {key:?} twice")]
    Twice { key: &'static str },
    #[error("this is not an npy file that can be read: its header has no {key:?}")]
    Missing { key: &'static str },
    #[error(
        "its array has more than {MOST_AXES} axes, and numpy has none of that kind; reshape it first"
    )]
    ManyAxes,
    #[error("its header has the length {digits}, which is larger than any array")]
    HugeLength { digits: String },
    #[error(
        "it holds numbers of type {description}; ozfft reads f4, f8, c8 and c16, so convert it first, with \
         astype('complex128') for example"
    )]
    Type { description: String },
}

impl From<std::io::Error> for HeaderError {
    fn from(error: std::io::Error) -> HeaderError {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => HeaderError::Short,
            _ => HeaderError::Unreadable(error),
        }
    }
}

/// Reads the header, and nothing beyond it.
pub fn read(file: &mut impl Read) -> Result<Header, HeaderError> {
    let mut start = [0; 8];
    file.read_exact(&mut start)?;
    if !start.starts_with(MAGIC) {
        return Err(HeaderError::NoMagic);
    }
    let (length, start_bytes) = match (start[6], start[7]) {
        (1, 0) => {
            let mut length = [0; 2];
            file.read_exact(&mut length)?;
            (u16::from_le_bytes(length).into(), 10)
        }
        (2 | 3, 0) => {
            let mut length = [0; 4];
            file.read_exact(&mut length)?;
            (u32::from_le_bytes(length), 12)
        }
        (major, minor) => return Err(HeaderError::Version { major, minor }),
    };
    if length as usize > MOST_BYTES {
        return Err(HeaderError::Long { length });
    }
    let mut text = vec![0; length as usize];
    file.read_exact(&mut text)?;
    let mut header = parse(&text)?;
    header.bytes = start_bytes + u64::from(length);
    Ok(header)
}

/// The header of an array of numbers of this machine, as numpy writes it: the numbers after it begin at a multiple of 64 bytes.
pub fn written(kind: &str, fortran_order: bool, shape: &[usize]) -> Vec<u8> {
    let mark = if cfg!(target_endian = "big") {
        '>'
    } else {
        '<'
    };
    let order = if fortran_order { "True" } else { "False" };
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    let lengths = match &lengths[..] {
        [one] => format!("{one},"),
        several => several.join(", "),
    };
    let mut text =
        format!("{{'descr': '{mark}{kind}', 'fortran_order': {order}, 'shape': ({lengths}), }}");
    // A shape of 64 lengths of 20 digits leaves room enough in the two bytes of version 1.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// Reads the text of a header.
fn parse(text: &[u8]) -> Result<Header, HeaderError> {
    let mut cursor = Cursor { text, at: 0 };
    let (mut description, mut fortran_order, mut shape) = (None, None, None);
    cursor.expect(b'{', "{")?;
    while !cursor.takes(b'}') {
        cursor.skip_space();
        let key_at = cursor.at;
        let key = cursor.quoted("a key in quotes, or }")?;
        cursor.expect(b':', "a colon")?;
        let twice = match key {
            b"descr" => description.replace(cursor.description()?).is_some(),
            b"fortran_order" => fortran_order.replace(cursor.truth()?).is_some(),
            b"shape" => shape.replace(cursor.lengths()?).is_some(),
            _ => {
                cursor.at = key_at;
                return Err(cursor.wrong("descr, fortran_order or shape"));
            }
        };
        if twice {
            let known = ["descr", "fortran_order", "shape"];
            let key = known.into_iter().find(|name| name.as_bytes() == key);
            let key = key.unwrap_or_default();
            return Err(HeaderError::Twice { key });
        }
        if !cursor.takes(b',') {
            cursor.expect(b'}', "a comma or }")?;
            break;
        }
    }
    cursor.skip_space();
    if cursor.at < text.len() {
        return Err(cursor.wrong("the end"));
    }
    let missing = |key| HeaderError::Missing { key };
    let description = description.ok_or(missing("descr"))?;
    let fortran_order = fortran_order.ok_or(missing("fortran_order"))?;
    let shape = shape.ok_or(missing("shape"))?;
    let (number, big_endian) = number(&description)?;
    Ok(Header {
        description,
        number,
        big_endian,
        fortran_order,
        shape,
        bytes: 0,
    })
}

/// What a type such as `<f8` says.
fn number(description: &str) -> Result<(Number, bool), HeaderError> {
    let (big_endian, kind) = match description.split_at_checked(1) {
        Some(("<", kind)) => (false, kind),
        Some((">", kind)) => (true, kind),
        Some(("=", kind)) => (cfg!(target_endian = "big"), kind),
        _ => (cfg!(target_endian = "big"), description),
    };
    let number = match kind {
        "f4" => Number::Single,
        "f8" => Number::Double,
        "c8" => Number::ComplexSingle,
        "c16" => Number::ComplexDouble,
        _ => {
            return Err(HeaderError::Type {
                description: description.into(),
            });
        }
    };
    Ok((number, big_endian))
}

/// A place in the text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let space = self.rest().iter().take_while(|b| b.is_ascii_whitespace());
        self.at += space.count();
    }

    /// Takes this character, if it comes next after white space.
    fn takes(&mut self, character: u8) -> bool {
        self.skip_space();
        let next = self.rest().first() == Some(&character);
        self.at += usize::from(next);
        next
    }

    fn expect(&mut self, character: u8, wanted: &'static str) -> Result<(), HeaderError> {
        if self.takes(character) {
            Ok(())
        } else {
            Err(self.wrong(wanted))
        }
    }

    /// What comes next, shortened for people.
    fn shown(&self) -> String {
        let rest = self.rest();
        String::from_utf8_lossy(&rest[..rest.len().min(SHOWN)]).into_owned()
    }

    fn wrong(&self, wanted: &'static str) -> HeaderError {
        HeaderError::Syntax {
            at: self.at,
            wanted,
            found: self.shown(),
        }
    }

    /// A text in quotes of either kind; what is needed here has no escapes.
    fn quoted(&mut self, wanted: &'static str) -> Result<&'a [u8], HeaderError> {
        self.skip_space();
        let rest = self.rest();
        let Some(&quote @ (b'\'' | b'"')) = rest.first() else {
            return Err(self.wrong(wanted));
        };
        let length = rest[1..].iter().position(|&b| b == quote || b == b'\\');
        match length {
            Some(length) if rest[1 + length] == quote => {
                self.at += length + 2;
                Ok(&rest[1..=length])
            }
            _ => Err(self.wrong(wanted)),
        }
    }

    /// The type of the numbers. Records are lists of types, and are not looked into.
    fn description(&mut self) -> Result<String, HeaderError> {
        self.skip_space();
        if let Some(b'[' | b'(') = self.rest().first() {
            return Err(HeaderError::Type {
                description: self.shown(),
            });
        }
        let text = self.quoted("a type in quotes")?;
        let shown = &text[..text.len().min(SHOWN)];
        Ok(String::from_utf8_lossy(shown).into_owned())
    }

    fn truth(&mut self) -> Result<bool, HeaderError> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if self.rest().starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("True or False"))
    }

    /// A tuple of lengths; that of one length has a comma, as Python writes it.
    fn lengths(&mut self) -> Result<Vec<u64>, HeaderError> {
        self.expect(b'(', "a tuple")?;
        let mut lengths = Vec::new();
        while !self.takes(b')') {
            if lengths.len() == MOST_AXES {
                return Err(HeaderError::ManyAxes);
            }
            lengths.push(self.length()?);
            if !self.takes(b',') {
                if lengths.len() == 1 {
                    return Err(self.wrong("a comma"));
                }
                self.expect(b')', "a comma or )")?;
                break;
            }
        }
        Ok(lengths)
    }

    fn length(&mut self) -> Result<u64, HeaderError> {
        self.skip_space();
        let rest = self.rest();
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.wrong("a length"));
        }
        let digits = String::from_utf8_lossy(&rest[..count]);
        let length = digits.parse().map_err(|_| HeaderError::HugeLength {
            digits: digits[..digits.len().min(SHOWN)].into(),
        })?;
        self.at += count;
        // As Python 2 wrote long integers.
        self.at += usize::from(self.rest().first() == Some(&b'L'));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that has only this header.
    fn file(text: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([2, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    fn header(text: &str) -> Result<Header, HeaderError> {
        read(&mut &file(text)[..])
    }

    fn of_shape(shape: &str) -> Result<Header, HeaderError> {
        header(&format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}  \n"
        ))
    }

    fn message(outcome: Result<Header, HeaderError>) -> String {
        outcome.expect_err("it is wrong").to_string()
    }

    #[test]
    fn headers_as_numpy_and_others_write_them() {
        let found = of_shape("(3, 4)").expect("a header");
        assert_eq!(found.shape, [3, 4]);
        assert!(!found.fortran_order && !found.big_endian);
        assert_eq!(found.number, Number::Double);
        assert_eq!(
            found.bytes,
            file("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  \n").len() as u64
        );
        assert!(of_shape("()").expect("a header").shape.is_empty());
        assert_eq!(of_shape("(7,)").expect("a header").shape, [7]);
        assert_eq!(of_shape("( 7L ,2 , )").expect("a header").shape, [7, 2]);
        let other = "{\"shape\":(0,1),\n\"descr\":\">c8\",\t\"fortran_order\":True}";
        let found = header(other).expect("a header");
        assert!(found.fortran_order && found.big_endian);
        assert_eq!(found.number, Number::ComplexSingle);
    }

    #[test]
    fn headers_round_trip() {
        for shape in [&[][..], &[0], &[5], &[3, 4], &[usize::MAX; MOST_AXES]] {
            for (kind, number) in [("f4", Number::Single), ("c16", Number::ComplexDouble)] {
                let bytes = written(kind, shape.len() == 2, shape);
                assert!(bytes.len().is_multiple_of(64) && bytes.ends_with(b"\n"));
                let found = read(&mut &bytes[..]).expect("a header");
                let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
                assert_eq!((found.number, found.shape), (number, lengths));
                assert_eq!(found.fortran_order, shape.len() == 2);
                assert_eq!(found.big_endian, cfg!(target_endian = "big"));
                assert_eq!(found.bytes, bytes.len() as u64);
            }
        }
        // Byte for byte what numpy 2 saves for np.zeros((3, 4)).
        let numpy =
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
        if cfg!(target_endian = "little") {
            let ours = written("f8", false, &[3, 4]);
            assert!(ours.starts_with(numpy) && ours.len() == 128);
        }
    }

    #[test]
    fn version_one_has_a_short_length() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0, text.len() as u8, 0]);
        bytes.extend(text.as_bytes());
        let found = read(&mut &bytes[..]).expect("a header");
        assert_eq!((found.number, found.bytes), (Number::Single, 10 + 57));
        bytes[6] = 9;
        assert!(message(read(&mut &bytes[..])).contains("version 9.0"));
        bytes[6] = 1;
        for length in 0..bytes.len() {
            let message = message(read(&mut &bytes[..length]));
            assert!(message.contains("ends within"), "{length} bytes: {message}");
        }
    }

    #[test]
    fn many_axes_are_rejected_and_as_many_as_numpy_has_are_not() {
        let ones = |count: usize| of_shape(&format!("({})", "1,".repeat(count)));
        assert_eq!(ones(MOST_AXES).expect("a header").shape.len(), MOST_AXES);
        for count in [MOST_AXES + 1, 8_000, 32_000] {
            assert!(message(ones(count)).contains("64 axes"));
        }
    }

    #[test]
    fn brackets_within_brackets_are_rejected_where_they_begin() {
        for depth in [1, 20, 20_000] {
            for bracket in ["(", "[", "{"] {
                let nested = bracket.repeat(depth);
                assert!(of_shape(&nested).is_err(), "{depth} {bracket}");
                assert!(header(&nested).is_err(), "{depth} {bracket}");
                let types = format!("{{'descr': {nested}");
                assert!(header(&types).is_err(), "{depth} {bracket}");
            }
        }
        assert!(message(of_shape("((3,),)")).contains("a length"));
    }

    #[test]
    fn malformed_headers_name_the_cause() {
        assert!(message(of_shape("(3)")).contains("comma"));
        assert!(message(of_shape("(-3,)")).contains("-3"));
        assert!(message(of_shape("(99999999999999999999,)")).contains("99999999999999999999"));
        assert!(message(of_shape("[3, 4]")).contains("a tuple"));
        assert!(message(header("{}")).contains("descr"));
        let twice = "{'shape': (1,), 'shape': (2,), }";
        assert!(message(header(twice)).contains("twice"));
        assert!(message(header("{'descr': '<i4', 'other': 1}")).contains("other"));
        let typed = |t: &str| {
            header(&format!(
                "{{'descr': {t}, 'fortran_order': False, 'shape': (), }}"
            ))
        };
        for wrong in ["'<i4'", "'|b1'", "'<f2'", "'<f16'", "'O'", "''", "'é'"] {
            assert!(message(typed(wrong)).contains("ozfft reads"), "{wrong}");
        }
        assert!(message(typed("[('a', '<f8')]")).contains("[('a', '<f8')]"));
        assert!(message(typed("'<f\\x38'")).contains("a type in quotes"));
        assert!(message(header(&format!("{}x", " ".repeat(9)))).contains("byte 9"));
        let long = file(&" ".repeat(MOST_BYTES + 1));
        assert!(message(read(&mut &long[..])).contains("65537"));
    }
}
