//! The run and its folder.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use tiers::{ErrorKind, Mode, Run, RunError, Tier, Trust};
use tokio_util::sync::CancellationToken;

use crate::support::Place;

#[test]
fn a_run_needs_an_absolute_existing_folder() {
    let build = |path: PathBuf| Run::builder(path, Trust::Untrusted, Mode::Full).build();
    assert!(matches!(
        build("src".into()),
        Err(RunError::RelativeRoot(_))
    ));
    let place = Place::new();
    let gone = place.folder.path().join("gone");
    let error = build(gone.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "workspace root `{}` is not a folder; name an existing one",
            gone.display()
        )
    );
}

#[test]
fn a_run_says_what_it_was_built_with() {
    let place = Place::new();
    let run = place
        .builder(Mode::ReadOnlySubagent)
        .id("r1")
        .build()
        .unwrap();
    assert_eq!(run.id().as_str(), "r1");
    assert_eq!(run.workspace_root(), place.folder.path());
    assert_eq!(
        (run.trust(), run.mode()),
        (Trust::Trusted, Mode::ReadOnlySubagent)
    );
    assert_eq!(run.ceiling().0, Tier::Read);
    assert_eq!(
        (run.limits().output.lines, run.limits().output.bytes),
        (2_000, 51_200)
    );
    assert_ne!(place.run(Mode::Full).id(), place.run(Mode::Full).id());
}

#[test]
fn cancelling_a_run_cancels_its_children_and_not_its_root() {
    let place = Place::new();
    let root = CancellationToken::new();
    let run = place.builder(Mode::Full).token(&root).build().unwrap();
    let child = place.builder(Mode::Full).parent(&run).build().unwrap();
    child.token().cancel();
    assert!(!run.token().is_cancelled());
    let child = place.builder(Mode::Full).parent(&run).build().unwrap();
    run.token().cancel();
    assert!(child.token().is_cancelled() && !root.is_cancelled());
    let run = place.builder(Mode::Full).token(&root).build().unwrap();
    root.cancel();
    assert!(run.token().is_cancelled());
    let both = place.builder(Mode::Full).parent(&run).token(&root).build();
    assert!(matches!(both, Err(RunError::TwoRoots)));
}

fn entries(place: &Place) -> usize {
    fs::read_dir(place.folder.path()).unwrap().count()
}

#[test]
fn the_run_folder_is_created_when_needed_and_removed_at_the_end() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    assert_eq!(entries(&place), 0);
    let path = run.folder().path().unwrap();
    assert_eq!(run.folder().path().unwrap(), path);
    let first = run.folder().write("plot.png", b"1").unwrap();
    let second = run.folder().write("plot.png", b"2").unwrap();
    assert_eq!(
        (first, second),
        (path.join("plot.png"), path.join("plot-2.png"))
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
    assert_eq!(entries(&place), 1);
    drop(run);
    assert_eq!(entries(&place), 0);
}

#[tokio::test]
async fn an_ended_run_has_no_folder_any_more() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    run.folder().write("a", b"1").unwrap();
    run.end().await;
    assert_eq!(entries(&place), 0);
    let error = run.folder().write("a", b"1").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert_eq!(
        error.to_string(),
        "cannot use the run folder: the run has ended"
    );
    assert_eq!(entries(&place), 0);
    drop(Arc::clone(&run));
}

#[test]
fn the_run_folder_is_capped() {
    let place = Place::new();
    let run = place.limited(|limits| limits.folder_bytes = 10);
    let kept = run.folder().write("a", b"12345").unwrap();
    let error = run.folder().write("b", b"123456").unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write `b` to the run folder: it has 5 of 10 bytes and 6 more do not fit; raise \
         the run's limit or write less"
    );
    run.folder().write("c", b"12345").unwrap();
    assert_eq!(fs::read(kept).unwrap(), b"12345");
    assert_eq!(
        fs::read_dir(run.folder().path().unwrap()).unwrap().count(),
        2
    );
}

#[test]
fn a_name_cannot_leave_the_run_folder() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    for name in ["../a", "a/b", "/a", "..", ".", "", "a/"] {
        let error = run.folder().write(name, b"x").unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidInput, "{name}");
    }
}

#[tokio::test]
async fn a_run_keeps_one_value_per_type_until_it_ends() {
    #[derive(Default)]
    struct Words(std::sync::Mutex<Vec<&'static str>>);
    #[derive(Default)]
    struct Other;

    let place = Place::new();
    let run = place.run(Mode::Full);
    run.state::<Words>().0.lock().unwrap().push("kept");
    let _other = run.state::<Other>();
    assert_eq!(*run.state::<Words>().0.lock().unwrap(), ["kept"]);

    let child = place.builder(Mode::Full).parent(&run).build().unwrap();
    assert!(child.state::<Words>().0.lock().unwrap().is_empty());

    let weak = Arc::downgrade(&run.state::<Words>());
    run.end().await;
    assert!(weak.upgrade().is_none());
}
