//! What a tool returns when it succeeded.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cap::{Caps, cap_text};
use crate::{Limits, ToolError};

/// One piece of a result that the model sees.
///
/// Serialises as `{"type":"text","text":…}` or
/// `{"type":"image","media_type":…,"data":…}` with the bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Wire", try_from = "Wire")]
pub enum Content {
    /// Plain text.
    Text(String),
    /// An image.
    Image {
        /// Media type, for example `image/png`.
        media_type: String,
        /// The raw bytes (rendered as base64 where a provider wants it).
        data: Vec<u8>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wire {
    Text { text: String },
    Image { media_type: String, data: String },
}

impl From<Content> for Wire {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::Text { text },
            Content::Image { media_type, data } => Self::Image {
                media_type,
                data: BASE64_STANDARD.encode(data),
            },
        }
    }
}

impl TryFrom<Wire> for Content {
    type Error = base64::DecodeError;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        Ok(match wire {
            Wire::Text { text } => Self::Text(text),
            Wire::Image { media_type, data } => Self::Image {
                media_type,
                data: BASE64_STANDARD.decode(data)?,
            },
        })
    }
}

/// The result of a call that succeeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model sees; dispatch sees to it that it is never empty.
    pub content: Vec<Content>,
    /// Structured form for user interfaces, tests and kernels; not for the
    /// model. An object whose `version` counts incompatible changes.
    #[serde(default)]
    pub details: Value,
    /// Workspace paths changed, relative to the root, with `/`.
    #[serde(default)]
    pub touched: Vec<String>,
    /// How to get the rest when dispatch has to cut the text, for example
    /// `narrow "path"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
}

impl ToolOutput {
    /// Builds an output of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::Text(text.into())])
    }

    /// Builds an output of texts and images.
    #[must_use]
    pub fn new(content: Vec<Content>) -> Self {
        let mut output = Self {
            content,
            details: Value::Null,
            touched: Vec::new(),
            rest: None,
        };
        output.fill();
        output
    }

    /// Sets the structured details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// Sets the structured details to what `details` is as JSON.
    ///
    /// # Errors
    /// It has no form in JSON, which is a fault of the tool: `Internal`, with
    /// this output beside it, so that what the tool did is not lost.
    pub fn with_details_of(self, details: &impl Serialize) -> Result<Self, ToolError> {
        self.with_details_made(serde_json::to_value(details))
    }

    /// Sets the details for programs, where they are put together in parts.
    ///
    /// # Errors
    ///
    /// An internal error with this output as its partial result where that failed.
    pub fn with_details_made(self, details: serde_json::Result<Value>) -> Result<Self, ToolError> {
        match details {
            Ok(details) => Ok(self.with_details(details)),
            Err(error) => Err(
                ToolError::internal("cannot write down the details of the result")
                    .why(&error)
                    .next("what was done stands and is described below; do not do it again")
                    .source(error)
                    .with_partial(self),
            ),
        }
    }

    /// Sets the paths that were changed.
    #[must_use]
    pub fn with_touched(mut self, touched: Vec<String>) -> Self {
        self.touched = touched;
        self
    }

    /// Says how the model gets the rest if the text has to be cut.
    #[must_use]
    pub fn with_rest(mut self, rest: impl Into<String>) -> Self {
        self.rest = Some(rest.into());
        self
    }

    /// Drops blank texts, which providers refuse, and says so when nothing is left.
    fn fill(&mut self) {
        self.content.retain(|part| match part {
            Content::Text(text) => !text.trim().is_empty(),
            Content::Image { .. } => true,
        });
        if self.content.is_empty() {
            self.content.push(Content::Text("(no output)".to_owned()));
        }
    }

    /// Keeps texts within `caps` and images within `limits`, and the content from
    /// being empty.
    pub(crate) fn cap(&mut self, caps: Caps, limits: &Limits) {
        self.cap_images(limits);
        self.fill();
        let (mut lines, mut bytes) = (0, 0);
        for part in &self.content {
            if let Content::Text(text) = part {
                lines += line_count(text);
                bytes += text.len();
            }
        }
        if lines > caps.lines || bytes > caps.bytes {
            self.cap_texts(caps);
        }
    }

    fn cap_images(&mut self, limits: &Limits) {
        let total = self
            .content
            .iter()
            .filter(|part| matches!(part, Content::Image { .. }))
            .count();
        let mut seen = 0;
        for part in &mut self.content {
            let Content::Image { media_type, data } = part else {
                continue;
            };
            seen += 1;
            let size = data.len();
            let note = if seen > limits.images {
                format!(
                    "[image {seen} of {total} left out: {} are shown; produce fewer at once]",
                    limits.images
                )
            } else if size > limits.image_bytes {
                format!(
                    "[image {seen} of {total} left out: {media_type} of {size} bytes, the most is {}; make it smaller]",
                    limits.image_bytes
                )
            } else {
                continue;
            };
            *part = Content::Text(note);
        }
    }

    /// Joins neighbouring texts and gives each a fair share of `caps`.
    fn cap_texts(&mut self, caps: Caps) {
        let mut joined: Vec<Content> = Vec::with_capacity(self.content.len());
        for part in self.content.drain(..) {
            match (joined.last_mut(), part) {
                (Some(Content::Text(before)), Content::Text(text)) => {
                    if !before.ends_with('\n') {
                        before.push('\n');
                    }
                    before.push_str(&text);
                }
                (_, part) => joined.push(part),
            }
        }
        let rest = self
            .rest
            .as_deref()
            .unwrap_or("ask for less at once to see the rest");
        let sizes: Vec<Caps> = joined
            .iter()
            .filter_map(|part| match part {
                Content::Text(text) => Some(Caps {
                    lines: line_count(text),
                    bytes: text.len(),
                }),
                Content::Image { .. } => None,
            })
            .collect();
        let mut shares = fair_shares(&sizes, caps).into_iter();
        for part in &mut joined {
            if let Content::Text(text) = part
                && let Some(share) = shares.next()
            {
                *text = cap_text(text, share, rest).text;
            }
        }
        self.content = joined;
    }
}

fn line_count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// Splits `caps` among texts of these sizes; what is left over goes to those
/// that have to be cut, whose note needs room of both kinds.
fn fair_shares(sizes: &[Caps], caps: Caps) -> Vec<Caps> {
    let lines = even_shares(sizes.iter().map(|size| size.lines).collect(), caps.lines);
    let bytes = even_shares(sizes.iter().map(|size| size.bytes).collect(), caps.bytes);
    let left = Caps {
        lines: caps.lines - lines.iter().sum::<usize>(),
        bytes: caps.bytes - bytes.iter().sum::<usize>(),
    };
    let shares = lines
        .into_iter()
        .zip(bytes)
        .map(|(lines, bytes)| Caps { lines, bytes });
    let is_cut = |size: &Caps, share: &Caps| size.lines > share.lines || size.bytes > share.bytes;
    let mut shares: Vec<Caps> = shares.collect();
    let cut = sizes
        .iter()
        .zip(&shares)
        .filter(|(size, share)| is_cut(size, share))
        .count()
        .max(1);
    for (size, share) in sizes.iter().zip(&mut shares) {
        if is_cut(size, share) {
            share.lines += left.lines / cut;
            share.bytes += left.bytes / cut;
        }
    }
    shares
}

/// Splits `budget`: what is smaller than an even share leaves the others more.
fn even_shares(sizes: Vec<usize>, budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&at| sizes.get(at).copied().unwrap_or(0));
    let mut shares = vec![0; sizes.len()];
    let mut left = budget;
    for (done, at) in order.into_iter().enumerate() {
        let even = left / (sizes.len() - done);
        let share = sizes.get(at).copied().unwrap_or(0).min(even);
        left -= share;
        if let Some(slot) = shares.get_mut(at) {
            *slot = share;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn image(size: usize) -> Content {
        Content::Image {
            media_type: "image/png".to_owned(),
            data: vec![7; size],
        }
    }

    fn text(text: &str) -> Content {
        Content::Text(text.to_owned())
    }

    #[test]
    fn details_without_a_form_in_json_are_a_fault_that_keeps_the_result() {
        let unfit = std::collections::BTreeMap::from([((1, 2), 3)]);
        let output = ToolOutput::text("done");
        let error = output.clone().with_details_of(&unfit).unwrap_err();
        assert_eq!(error.kind, crate::ErrorKind::Internal);
        assert_eq!(error.partial.as_deref(), Some(&output));
        let fit = output.with_details_of(&[1, 2]).unwrap();
        assert_eq!(fit.details, serde_json::json!([1, 2]));
    }

    #[test]
    fn content_is_never_empty() {
        let nothing = vec![text("(no output)")];
        assert_eq!(ToolOutput::text("").content, nothing);
        assert_eq!(ToolOutput::new(vec![]).content, nothing);
        let mut emptied = ToolOutput::text("a");
        emptied.content = vec![text(" \n")];
        emptied.cap(Caps::default(), &Limits::default());
        assert_eq!(emptied.content, nothing);
    }

    #[test]
    fn images_over_the_limits_are_named() {
        let limits = Limits {
            images: 2,
            image_bytes: 10,
            ..Limits::default()
        };
        let mut output = ToolOutput::new(vec![image(10), image(11), image(1)]);
        output.cap(limits.output, &limits);
        assert_eq!(
            output.content,
            [
                image(10),
                text(
                    "[image 2 of 3 left out: image/png of 11 bytes, the most is 10; make it smaller]"
                ),
                text("[image 3 of 3 left out: 2 are shown; produce fewer at once]"),
            ]
        );
    }

    #[test]
    fn the_tools_own_hint_says_how_to_get_the_rest() {
        let mut limits = Limits::default();
        limits.output.lines = 3;
        let mut output = ToolOutput::text("1\n2\n3\n4\n").with_rest("narrow `path`");
        output.cap(limits.output, &limits);
        assert_eq!(
            output.content,
            [text(
                "1\n[2 of 4 lines shown, 2 left out here; narrow `path`]\n4\n"
            )]
        );
    }

    #[test]
    fn texts_around_an_image_share_the_cap() {
        let mut limits = Limits::default();
        limits.output.lines = 6;
        let mut output = ToolOutput::new(vec![text("a\nb\nc\nd\ne\nf\n"), image(1), text("z")]);
        output.cap(limits.output, &limits);
        assert_eq!(
            output.content,
            [
                text(
                    "a\nb\n[4 of 6 lines shown, 2 left out here; ask for less at once to see the rest]\ne\nf\n"
                ),
                image(1),
                text("z"),
            ]
        );
    }

    #[test]
    fn an_output_survives_json() {
        let output = ToolOutput::new(vec![text("a"), image(3)])
            .with_details(json!({ "version": 1 }))
            .with_touched(vec!["src/a.rs".to_owned()]);
        let wire = serde_json::to_value(&output).unwrap();
        assert_eq!(
            wire,
            json!({
                "content": [
                    { "type": "text", "text": "a" },
                    { "type": "image", "media_type": "image/png", "data": "BwcH" },
                ],
                "details": { "version": 1 },
                "touched": ["src/a.rs"],
            })
        );
        assert_eq!(serde_json::from_value::<ToolOutput>(wire).unwrap(), output);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_content_fits_its_caps(
            parts in prop::collection::vec(
                prop_oneof![any::<String>().prop_map(Content::Text), (0_usize..9).prop_map(image),
                    "(.{0,60}\n){0,90}".prop_map(Content::Text)],
                0..8,
            ),
        ) {
            let limits = Limits { output: Caps { lines: 60, bytes: 4_000 }, ..Limits::default() };
            let mut output = ToolOutput::text("x");
            output.content = parts;
            output.cap(limits.output, &limits);
            prop_assert!(!output.content.is_empty());
            let texts: Vec<&str> = output.content.iter().filter_map(|part| match part {
                Content::Text(text) => Some(text.as_str()),
                Content::Image { .. } => None,
            }).collect();
            prop_assert!(texts.iter().map(|text| text.len()).sum::<usize>() <= 4_000);
            prop_assert!(texts.iter().map(|text| line_count(text)).sum::<usize>() <= 60);
        }
    }
}
