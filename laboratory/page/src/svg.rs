//! Pictures as text: a few shapes, colours by the name of their class, and words that a screen reader reads instead.

use std::fmt::Write;

/// Rules for classes, with variables for colours: the page sets them for light and dark.
pub const STYLE: &str = include_str!("figures.css");
/// What the variables are on white paper, where no page sets them.
const ON_PAPER: [(&str, &str); 8] = [
    ("--ink", "#16191d"),
    ("--quiet", "#4a525c"),
    ("--grid", "#d5d9de"),
    ("--ground", "#ffffff"),
    ("--printed", "#8a4b00"),
    ("--corrected", "#00695c"),
    ("--corrected-fill", "#bfe3dc"),
    ("--measured", "#0b5394"),
];
/// Pixels around a picture of its own.
const MARGIN: f64 = 8.0;
/// Hatching of what the paper printed.
pub const PATTERNS: &str = r#"<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/><line class="hatch-line" x1="1.5" y1="0" x2="1.5" y2="6"/></pattern></defs>"#;

/// Where a text is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture that grows.
#[derive(Debug, Clone, PartialEq)]
pub struct Svg {
    pub width: f64,
    pub height: f64,
    body: String,
}

/// Text and attributes of HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Places have a tenth of a pixel.
pub fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_string()
}

/// How wide a text is about, in pixels, at a size of letters.
pub fn text_width(text: &str, size: f64) -> f64 {
    0.56 * size * text.chars().count() as f64
}

impl Svg {
    pub fn new(width: f64) -> Svg {
        Svg {
            width,
            height: 0.0,
            body: String::new(),
        }
    }

    fn add(&mut self, arguments: std::fmt::Arguments) {
        // A String takes everything.
        let _ = writeln!(self.body, "{arguments}");
    }

    /// The shapes so far.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Text of other shapes, as it is.
    pub fn raw(&mut self, text: &str) {
        self.add(format_args!("{text}"));
    }

    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.add(format_args!(
            r#"<rect class="{class}" x="{}" y="{}" width="{}" height="{}"/>"#,
            place(x),
            place(y),
            place(width.max(0.0)),
            place(height)
        ));
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.add(format_args!(
            r#"<line class="{class}" x1="{}" y1="{}" x2="{}" y2="{}"/>"#,
            place(from.0),
            place(from.1),
            place(to.0),
            place(to.1)
        ));
    }

    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{},{}", place(*x), place(*y)))
            .collect();
        self.add(format_args!(
            r#"<polyline class="{class}" points="{}"/>"#,
            points.join(" ")
        ));
    }

    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.add(format_args!(
            r#"<text class="{class}" x="{}" y="{}"{anchor}>{}</text>"#,
            place(x),
            place(y),
            escaped(text)
        ));
    }

    /// A mark whose form tells series apart where colours do not: 0 a circle, 1 a square, 2 a diamond, 3 a triangle, 4 a cross, 5 a bar.
    pub fn mark(&mut self, class: &str, form: usize, (x, y): (f64, f64), r: f64) {
        let points = match form % 6 {
            0 => {
                self.add(format_args!(
                    r#"<circle class="{class}" cx="{}" cy="{}" r="{}"/>"#,
                    place(x),
                    place(y),
                    place(r)
                ));
                return;
            }
            1 => vec![(-r, -r), (r, -r), (r, r), (-r, r)],
            2 => vec![
                (0.0, -1.3 * r),
                (1.3 * r, 0.0),
                (0.0, 1.3 * r),
                (-1.3 * r, 0.0),
            ],
            3 => vec![(0.0, -1.2 * r), (1.2 * r, r), (-1.2 * r, r)],
            4 => {
                let (a, b) = (r / 2.5, 1.2 * r);
                vec![
                    (-a, -b),
                    (a, -b),
                    (a, -a),
                    (b, -a),
                    (b, a),
                    (a, a),
                    (a, b),
                    (-a, b),
                    (-a, a),
                    (-b, a),
                    (-b, -a),
                    (-a, -a),
                ]
            }
            _ => vec![
                (-1.3 * r, -r / 2.0),
                (1.3 * r, -r / 2.0),
                (1.3 * r, r / 2.0),
                (-1.3 * r, r / 2.0),
            ],
        };
        let points: Vec<String> = points
            .iter()
            .map(|(dx, dy)| format!("{},{}", place(x + dx), place(y + dy)))
            .collect();
        self.add(format_args!(
            r#"<polygon class="{class}" points="{}"/>"#,
            points.join(" ")
        ));
    }

    /// For a page, which has rules and patterns once for all.
    pub fn inline(&self, id: &str, class: &str, title: &str, description: &str) -> String {
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" aria-labelledby=\"{id}-t\" aria-describedby=\"{id}-d\">\n<title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n{}</svg>",
            place(self.width),
            place(self.height),
            place(self.width),
            place(self.height),
            escaped(title),
            escaped(description),
            self.body
        )
    }

    /// For a paper: a file that needs nothing, with colours written out, because few programs but browsers know variables.
    pub fn standalone(&self, title: &str, description: &str) -> String {
        let mut style = STYLE.to_string();
        for (name, colour) in ON_PAPER {
            style = style.replace(&format!("var({name})"), colour);
        }
        // A little room on all sides.
        let (width, height) = (self.width + 2.0 * MARGIN, self.height + 2.0 * MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-{MARGIN} -{MARGIN} {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-labelledby=\"t\" aria-describedby=\"d\">\n<title id=\"t\">{2}</title>\n<desc id=\"d\">{3}</desc>\n<style>\n{style}</style>\n{PATTERNS}\n<rect class=\"ground\" x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"{0}\" height=\"{1}\"/>\n{4}</svg>",
            place(width),
            place(height),
            escaped(title),
            escaped(description),
            self.body
        )
    }
}
