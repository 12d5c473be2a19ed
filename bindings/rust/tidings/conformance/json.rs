// SPDX-License-Identifier: MIT
//! The JSON that the driver needs; the crate itself reads none.
use std::fmt::Write;

#[derive(Clone, Debug)]
pub enum Json {
    Text(String),
    /// A number, true, false or null, as it was written; or a whole value that is JSON already.
    Raw(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn write(&self, out: &mut String) {
        match self {
            Json::Text(text) => quote(text, out),
            Json::Raw(text) => out.push_str(text),
            Json::List(values) => wrapped(out, ['[', ']'], values, |value, out| value.write(out)),
            Json::Object(members) => wrapped(out, ['{', '}'], members, |(key, value), out| {
                quote(key, out);
                out.push(':');
                value.write(out);
            }),
        }
    }
}

fn wrapped<T>(out: &mut String, ends: [char; 2], values: &[T], write: impl Fn(&T, &mut String)) {
    out.push(ends[0]);
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(value, out);
    }
    out.push(ends[1]);
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => write!(out, "\\u{:04x}", c as u32).unwrap(),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Reads JSON that jansson has written, so it need not detect errors.
pub struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

pub fn read(text: &str) -> Json {
    Reader {
        rest: text.chars().peekable(),
    }
    .value()
}

impl Reader<'_> {
    fn next(&mut self) -> char {
        self.rest.next().expect("a whole JSON text")
    }

    /// The next character that is no space and no separator.
    fn significant(&mut self) -> char {
        loop {
            match self.next() {
                ' ' | '\t' | '\r' | '\n' | ',' | ':' => {}
                c => return c,
            }
        }
    }

    fn value(&mut self) -> Json {
        let first = self.significant();
        self.value_from(first)
    }

    fn value_from(&mut self, first: char) -> Json {
        match first {
            '"' => Json::Text(self.string()),
            '[' => {
                let mut values = Vec::new();
                loop {
                    match self.significant() {
                        ']' => return Json::List(values),
                        c => values.push(self.value_from(c)),
                    }
                }
            }
            '{' => {
                let mut members = Vec::new();
                while self.significant() == '"' {
                    let key = self.string();
                    members.push((key, self.value()));
                }
                Json::Object(members)
            }
            c => {
                let mut raw = String::from(c);
                while let Some(c) = self
                    .rest
                    .next_if(|c| !matches!(c, ',' | ']' | '}' | ' ' | '\n'))
                {
                    raw.push(c);
                }
                Json::Raw(raw)
            }
        }
    }

    fn unit(&mut self) -> u32 {
        let digits: String = (0..4).map(|_| self.next()).collect();
        u32::from_str_radix(&digits, 16).expect("four hexadecimal digits")
    }

    fn escaped(&mut self) -> char {
        match self.next() {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let mut code = self.unit();
                if (0xd800..0xdc00).contains(&code) {
                    self.next();
                    self.next();
                    code = 0x10000 + ((code - 0xd800) << 10) + (self.unit() - 0xdc00);
                }
                char::from_u32(code).expect("a character")
            }
            c => c,
        }
    }

    fn string(&mut self) -> String {
        let mut text = String::new();
        loop {
            match self.next() {
                '"' => return text,
                '\\' => text.push(self.escaped()),
                c => text.push(c),
            }
        }
    }
}
