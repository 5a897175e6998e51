//! The parts of a result, collected in order.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tiers::{CallContext, Content, ToolError};

use super::details::ImageDetails;
use crate::output::{Part, Shown};

/// Where images are saved.
pub(super) struct Saving<'a> {
    context: &'a CallContext,
    folder: Option<&'a Path>,
}

/// What the parts of a result are collected in.
pub(super) struct Page {
    content: Vec<Content>,
    /// The text that is being written.
    text: String,
    pub(super) output: String,
    pub(super) images: Vec<ImageDetails>,
}

impl Page {
    pub(super) fn new() -> Self {
        Self {
            content: Vec::new(),
            text: String::new(),
            output: String::new(),
            images: Vec::new(),
        }
    }

    /// Returns whether the cell wrote and showed nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.output.is_empty() && self.images.is_empty()
    }

    pub(super) fn text(&mut self, text: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text(line);
        self.text.push('\n');
    }

    pub(super) fn value(&mut self, value: &str) {
        match (self.output.is_empty(), value.contains('\n')) {
            (true, _) => self.text(value),
            (false, true) => {
                self.line("value:");
                self.text(value);
            }
            (false, false) => self.text(&format!("value: {value}")),
        }
    }

    pub(super) fn part(&mut self, part: Part, saving: &Saving<'_>, cell: u64) {
        match part {
            Part::Output(text) => {
                self.text(&text);
                self.output.push_str(&text);
            }
            Part::Shown(Shown::Text(text)) => {
                self.line(&text);
                if !self.output.is_empty() && !self.output.ends_with('\n') {
                    self.output.push('\n');
                }
                self.output.push_str(&text);
                self.output.push('\n');
            }
            Part::Shown(Shown::Image {
                media_type,
                data,
                width,
                height,
            }) => {
                let file = saving.save(cell, self.images.len() + 1, &media_type, &data);
                self.line(&caption(&media_type, width, height, &file));
                self.close_text();
                self.images.push(ImageDetails {
                    media_type: media_type.clone(),
                    width,
                    height,
                    file: file.ok().map(|path| path.display().to_string()),
                });
                self.content.push(Content::Image { media_type, data });
            }
        }
    }

    fn close_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            self.content.push(Content::Text(text.to_owned()));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Content> {
        self.close_text();
        self.content
    }
}

/// Says of an image what one that cannot see it needs.
fn caption(
    media_type: &str,
    width: Option<u32>,
    height: Option<u32>,
    file: &Result<PathBuf, ToolError>,
) -> String {
    let size = match (width, height) {
        (Some(width), Some(height)) => format!(" {width}×{height}"),
        _ => String::new(),
    };
    let mut text = format!("[image{size}, {media_type}");
    let _ = match file {
        Ok(path) => write!(text, ", saved as `{}`]", path.display()),
        Err(error) => write!(text, ", not saved: {error}]"),
    };
    text
}

impl<'a> Saving<'a> {
    pub(super) fn new(context: &'a CallContext, folder: Option<&'a Path>) -> Self {
        Self { context, folder }
    }

    fn save(
        &self,
        cell: u64,
        number: usize,
        media_type: &str,
        data: &[u8],
    ) -> Result<PathBuf, ToolError> {
        let extension = match media_type {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            "image/svg+xml" => "svg",
            _ => "bin",
        };
        self.write(&format!("cell-{cell}-image-{number}.{extension}"), data)
    }

    /// Writes a file; returns where it is.
    pub(super) fn write(&self, name: &str, data: &[u8]) -> Result<PathBuf, ToolError> {
        let Some(folder) = self.folder else {
            return self.context.run().folder().write(name, data);
        };
        let path = folder.join(name);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, data))
            .map(|()| path)
            .map_err(|error| {
                ToolError::unavailable(format!("cannot write `{name}`"))
                    .why(&error)
                    .source(error)
            })
    }
}
