//! `references`: every use, or how much of it is missing.
//!
//! A server that is still reading the project answers with what it has, and
//! nothing in the answer says so. So it is waited for first, and then the files
//! of the language are searched for the word: those that hold it and are not in
//! the answer are waited for too, unless the server has shown that it is done.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tiers::visible;
use tokio::time::Instant;

use super::LspAction;
use super::ask::{Ask, Target, check_offer};
use super::details::{Answer, LspDetails};
use super::enclosing;
use super::input::Place;
use super::locations::{self, Shower, Spot};
use super::navigate::unreadable_note;
use super::words::Words;
use crate::error::Error;
use crate::readiness::Readiness;
use crate::server::Look;

/// References that are shown.
const MAX_SHOWN: usize = 50;
/// The first pause before the server is asked again, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// Uncovered files that are named.
const MAX_NAMED: usize = 3;

const METHOD: &str = "textDocument/references";

/// What a server answered, and what the files say to that.
struct Answered {
    spots: Vec<Spot>,
    unreadable: usize,
    readiness: Readiness,
    /// Files that hold the word and are not in the answer.
    uncovered: Vec<PathBuf>,
    /// Whether every file was searched.
    is_searched: bool,
}

pub(super) async fn answer(place: &Place, ask: &Ask<'_>) -> Result<Answer, Error> {
    let target = ask.target(place, Look::Always).await?;
    check_offer(
        &target.chosen.server,
        METHOD,
        "referencesProvider",
        "references",
    )?;
    let mut answer = gather(&target, ask).await?;
    order(&mut answer.spots, place.file.absolute());

    let server = &target.chosen.server;
    let mut details = LspDetails::new(LspAction::References);
    details.answered_by.push(server.id().to_owned());
    details.total = answer.spots.len();
    details.notes = target.notes();
    if answer.unreadable > 0 {
        details.notes.push(unreadable_note(answer.unreadable));
    }
    let shown: Vec<Spot> = answer.spots.iter().take(MAX_SHOWN).cloned().collect();
    let containers = enclosing::names(server, ask, &shown).await;
    let mut shower = Shower::new(ask.workspace, server);
    for (spot, container) in shown.iter().zip(containers) {
        let mut location = shower.show(spot).await;
        location.container = location.container.or(container);
        details.locations.push(location);
    }
    details.incomplete = incomplete(&answer, server.id(), ask);
    details
        .notes
        .extend(uncovered_note(&answer, &target.aim.name));
    let text = text(&target, &answer, &details);
    Ok(details.into_answer(text))
}

/// Asks until the answer covers the files that hold the word, or the server has
/// shown that there is no more, or the time is up.
async fn gather(target: &Target, ask: &Ask<'_>) -> Result<Answered, Error> {
    let server = &target.chosen.server;
    let until = ask.ready_deadline();
    let was_ready = server.readiness() == Readiness::Proven;
    ask.wait_until_ready(server).await;
    // While the server looks, so do we.
    let mut words = Words::start(&target.aim.name, server, ask).await;
    let mut params = target.params.clone();
    if let Some(params) = params.as_object_mut() {
        params.insert("context".to_owned(), json!({ "includeDeclaration": true }));
    }
    let mut pause = PAUSE.0;
    // One that was ready only now is asked once more.
    let mut is_certain = was_ready;
    loop {
        let answer = once(&params, target, &mut words, ask).await?;
        let is_covered = answer.uncovered.is_empty() && !answer.spots.is_empty();
        let is_final = match answer.readiness {
            Readiness::Proven => is_covered || is_certain,
            Readiness::Never(_) => true,
            Readiness::Assumed | Readiness::Loading { .. } => is_covered,
        };
        if is_final || Instant::now() + pause >= until {
            return Ok(answer);
        }
        is_certain = answer.readiness == Readiness::Proven;
        ask.context.progress(format!(
            "{}: {} references so far, {} files with the word are not covered",
            server.id(),
            answer.spots.len(),
            answer.uncovered.len(),
        ));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE.1);
        ask.wait_until_ready(server).await;
    }
}

async fn once(
    params: &Value,
    target: &Target,
    words: &mut Words,
    ask: &Ask<'_>,
) -> Result<Answered, Error> {
    let server = &target.chosen.server;
    // Before the question: what it knew by then is in the answer.
    let readiness = server.readiness();
    let reply = server.request(METHOD, params, ask.deadline).await?;
    let (spots, unreadable) = locations::read(reply);
    let answered: HashSet<&Path> = spots.iter().filter_map(|s| s.path.as_deref()).collect();
    let words = words.found().await;
    let uncovered = words.files.iter();
    let uncovered = uncovered.filter(|path| !answered.contains(path.as_path()));
    Ok(Answered {
        uncovered: uncovered.cloned().collect(),
        unreadable,
        readiness,
        is_searched: words.is_complete,
        spots,
    })
}

/// The file that was asked about comes first, then the others by path.
fn order(spots: &mut [Spot], file: &Path) {
    spots.sort_by(|one, other| {
        let is_other = |spot: &Spot| spot.path.as_deref() != Some(file);
        (is_other(one), &one.path, one.range.start).cmp(&(
            is_other(other),
            &other.path,
            other.range.start,
        ))
    });
}

/// Says why there may be more.
fn incomplete(answer: &Answered, server: &str, ask: &Ask<'_>) -> Option<String> {
    let uncovered = answer.uncovered.len();
    let covers_all = uncovered == 0 && answer.is_searched;
    let missing = |what: &str| {
        let (files, are) = if uncovered == 1 {
            ("file", "is")
        } else {
            ("files", "are")
        };
        let named = named(answer, ask);
        format!("{uncovered} {files} with {what} {are} not covered ({named})")
    };
    match &answer.readiness {
        Readiness::Proven => None,
        // Every file that could have one is in the answer.
        Readiness::Never(_) if covers_all => None,
        Readiness::Never(why) => Some(format!("{server}: {why}; {}", missing("the word"))),
        Readiness::Assumed | Readiness::Loading { .. }
            if covers_all && !answer.spots.is_empty() =>
        {
            None
        }
        Readiness::Assumed => Some(format!(
            "{server} does not show whether it knows the whole project; {}",
            missing("the word")
        )),
        Readiness::Loading { .. } => Some(format!(
            "the index is still building ({server}: {}): {}; call again for the rest",
            answer.readiness.describe(),
            missing("textual hits")
        )),
    }
}

fn named(answer: &Answered, ask: &Ask<'_>) -> String {
    let names = answer.uncovered.iter().take(MAX_NAMED);
    let names = names.map(|path| visible(&locations::name_of(ask.workspace, path).0).into_owned());
    let mut names: Vec<String> = names.collect();
    if answer.uncovered.len() > MAX_NAMED {
        names.push("…".to_owned());
    }
    if !answer.is_searched {
        names.push("not every file was searched".to_owned());
    }
    if names.is_empty() {
        names.push("every file with the word is".to_owned());
    }
    names.join(", ")
}

/// A server that is done may leave files out: comments, other things of the name.
fn uncovered_note(answer: &Answered, name: &str) -> Option<String> {
    let count = answer.uncovered.len();
    if answer.readiness != Readiness::Proven || count == 0 {
        return None;
    }
    let noun = if count == 1 {
        "file holds"
    } else {
        "files hold"
    };
    Some(format!(
        "{count} more {noun} the word `{name}` without a reference: comments, texts, other things of that name, or files that the server does not build"
    ))
}

fn text(target: &Target, answer: &Answered, details: &LspDetails) -> String {
    let name = &target.aim.name;
    let files: HashSet<&str> = answer.spots.iter().map(|spot| spot.uri.as_str()).collect();
    let references = |count: usize| {
        if count == 1 {
            "reference"
        } else {
            "references"
        }
    };
    let in_files = match files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let total = details.total;
    let at_least = if details.incomplete.is_some() {
        "at least "
    } else {
        ""
    };
    let mut text = match total {
        0 => format!(
            "no reference to `{name}` is known to {}",
            target.chosen.server.id()
        ),
        total if total > details.locations.len() => format!(
            "{} of {at_least}{total} references to `{name}` in {in_files} shown, its declaration included:",
            details.locations.len()
        ),
        total => format!(
            "{at_least}{total} {} to `{name}` in {in_files}, its declaration included:",
            references(total)
        ),
    };
    for location in &details.locations {
        text.push('\n');
        text.push_str(&locations::line(location));
    }
    text
}
