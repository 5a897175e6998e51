//! Takes the figures and writes the tables.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use host::process::{ChildCommand, Environment};
use tempfile::TempDir;
use test_support::ModuleProject;

use crate::mcpls::Mcpls;
use crate::ours::Ours;
use crate::processes;
use crate::raw::Raw;
use crate::rows::{ROWS, Row};

/// Modules of the project that warm and cold calls are made in.
const MODULES: usize = 400;
/// Runs that work on one project.
const TOGETHER: usize = 8;
/// How long a server may take until it knows the project.
const COLD: Duration = Duration::from_secs(120);
/// How long a client that never gets right is asked.
const NEVER: Duration = Duration::from_secs(30);
/// How long to wait before asking again.
const AGAIN: Duration = Duration::from_millis(25);

/// What is measured, and with what.
pub(crate) struct Bench {
    pub(crate) servers: PathBuf,
    /// Left out where there is none.
    pub(crate) mcpls: Option<PathBuf>,
    pub(crate) runs: usize,
    /// Only the server with this id.
    pub(crate) only: Option<String>,
}

/// A generated project, and how to ask about it.
struct Site<'a> {
    bench: &'a Bench,
    row: &'a Row,
    folder: TempDir,
    project: ModuleProject,
}

/// Medians of the same calls.
struct Warm {
    raw: f64,
    ours: f64,
    mcpls: Option<f64>,
}

impl Bench {
    pub(crate) async fn tables(&self) -> Result<String> {
        let wanted = |row: &&Row| self.only.as_deref().is_none_or(|only| only == row.id);
        let mut warm = heading(&[
            "warm call",
            "server itself, ms",
            "`lsp`, ms",
            "more",
            "mcpls, ms",
            "more",
        ]);
        let mut cold = heading(&[
            "first `references` of a fresh process",
            "server itself",
            "all after, s",
            "`lsp`",
            "after, s",
            "mcpls",
            "all after, s",
        ]);
        let mut together = heading(&[
            "8 runs on one project",
            "processes: `lsp`",
            "mcpls",
            "MB: `lsp`",
            "mcpls",
        ]);
        let mut growth = heading(&[
            "warm `references`",
            "files",
            "references",
            "server itself, ms",
            "`lsp`, ms",
            "ratio",
        ]);
        for row in ROWS.iter().filter(wanted) {
            let Some(_) = row.program(&self.servers) else {
                eprintln!("bench: {} is not installed", row.id);
                continue;
            };
            eprintln!("bench: {}: first answers", row.id);
            cold.push_str(&self.cold(row).await?);
            eprintln!("bench: {}: warm calls", row.id);
            warm.push_str(&self.warm(row).await?);
            eprintln!("bench: {}: {TOGETHER} runs", row.id);
            together.push_str(&self.together(row).await?);
            for modules in row.sizes {
                eprintln!("bench: {}: references in {modules} modules", row.id);
                growth.push_str(&self.growth(row, *modules).await?);
            }
        }
        Ok(format!("{warm}\n{growth}\n{cold}\n{together}"))
    }

    /// Times warm calls of all three.
    async fn warm(&self, row: &Row) -> Result<String> {
        let site = self.site(row, MODULES)?;
        let mut raw = site.raw().await?;
        site.wait_for_raw(&mut raw, Instant::now() + COLD).await?;
        let ours = Ours::new(site.environment()?);
        let run = ours.run(site.root())?;
        let mut mcpls = site.mcpls().await?;
        run.references(&row.declaration(), site.project.line)
            .await?;
        if let Some(mcpls) = &mut mcpls {
            site.settle(mcpls).await;
        }
        let mut text = String::new();
        for (action, method, tool) in [
            ("hover", "textDocument/hover", "get_hover"),
            ("definition", "textDocument/definition", "get_definition"),
        ] {
            let mut times = [const { Vec::new() }; 3];
            // The first round opens the file.
            for round in 0..=self.runs * 20 {
                let start = Instant::now();
                raw.ask(method, &row.user(), site.column_of_use(0)).await?;
                let of_raw = start.elapsed();
                let start = Instant::now();
                run.ask(action, &row.user(), row.use_line).await?;
                let of_ours = start.elapsed();
                let mut of_mcpls = None;
                if let Some(mcpls) = &mut mcpls {
                    let start = Instant::now();
                    let file = site.root().join(row.user());
                    mcpls.call(tool, &file, site.column_of_use(1)).await?;
                    of_mcpls = Some(start.elapsed());
                }
                if round > 0 {
                    let taken = [Some(of_raw), Some(of_ours), of_mcpls];
                    for (times, time) in times.iter_mut().zip(taken) {
                        times.extend(time);
                    }
                }
            }
            let [raw, ours, mcpls] = times;
            let warm = Warm {
                raw: median(raw),
                ours: median(ours),
                mcpls: (!mcpls.is_empty()).then(|| median(mcpls)),
            };
            text.push_str(&warm.line(row.id, action));
        }
        Ok(text)
    }

    /// Times `references` of the server and of ours in a project of some size.
    async fn growth(&self, row: &Row, modules: usize) -> Result<String> {
        let site = self.site(row, modules)?;
        let mut raw = site.raw().await?;
        site.wait_for_raw(&mut raw, Instant::now() + COLD).await?;
        let ours = Ours::new(site.environment()?);
        let run = ours.run(site.root())?;
        let (file, line) = (row.declaration(), site.project.line);
        let mut times = [const { Vec::new() }; 2];
        for round in 0..=self.runs {
            let start = Instant::now();
            let found = site.raw_references(&mut raw).await?;
            let of_raw = start.elapsed();
            ensure!(
                found == site.project.references,
                "{}: {found} references",
                row.id
            );
            let start = Instant::now();
            let (found, is_complete) = run.references(&file, line).await?;
            let of_ours = start.elapsed();
            ensure!(
                found == site.project.references && is_complete,
                "{}: {found} of ours",
                row.id
            );
            if round > 0 {
                for (times, time) in times.iter_mut().zip([of_raw, of_ours]) {
                    times.push(time);
                }
            }
        }
        let [raw, ours] = times.map(median);
        Ok(format!(
            "| {} | {} | {} | {raw:.1} | {ours:.1} | {:.2} |\n",
            row.id,
            site.project.covered,
            site.project.references,
            ours / raw
        ))
    }

    /// Asks fresh processes for references, each in a project of its own: some
    /// servers keep an index there.
    async fn cold(&self, row: &Row) -> Result<String> {
        let site = self.site(row, MODULES)?;
        let start = Instant::now();
        let mut raw = site.raw().await?;
        let first_raw = site.raw_references(&mut raw).await?;
        let all_raw = match site.wait_for_raw(&mut raw, start + COLD).await {
            Ok(()) => seconds(start.elapsed()),
            Err(_) => "never".to_owned(),
        };
        drop(raw);

        let site = self.site(row, MODULES)?;
        let ours = Ours::new(site.environment()?);
        let run = ours.run(site.root())?;
        let start = Instant::now();
        let (found, is_complete) = run
            .references(&row.declaration(), site.project.line)
            .await?;
        let of_ours = seconds(start.elapsed());
        let said = if is_complete {
            ""
        } else {
            ", said to be incomplete"
        };
        drop((run, ours));

        let site = self.site(row, MODULES)?;
        let start = Instant::now();
        let mut mcpls = site.mcpls().await?;
        let (mut first, mut all) = (None, "never".to_owned());
        while let Some(mcpls) = &mut mcpls
            && start.elapsed() < NEVER
        {
            let answer = mcpls
                .references(&site.declaration(), site.column_of_declaration(1))
                .await;
            let found = answer.as_ref().ok().copied();
            first.get_or_insert_with(|| match &answer {
                Ok(found) => format!("{found} of {}", site.project.references),
                Err(_) => "an error".to_owned(),
            });
            if found == Some(site.project.references) {
                all = seconds(start.elapsed());
                break;
            }
            tokio::time::sleep(AGAIN).await;
        }
        let wanted = site.project.references;
        Ok(format!(
            "| {} | {first_raw} of {wanted} | {all_raw} | {found} of {wanted}{said} | {of_ours} | {} | {all} |\n",
            row.id,
            first.unwrap_or_default()
        ))
    }

    /// Counts what runs that work on one project start.
    async fn together(&self, row: &Row) -> Result<String> {
        let site = self.site(row, MODULES)?;
        let ours = Ours::new(site.environment()?);
        let mut runs = Vec::new();
        for _ in 0..TOGETHER {
            let run = ours.run(site.root())?;
            run.references(&row.declaration(), site.project.line)
                .await?;
            runs.push(run);
        }
        let of_ours = processes::count(site.root());
        drop((runs, ours));

        let site = self.site(row, MODULES)?;
        let mut mcpls = Vec::new();
        for _ in 0..TOGETHER {
            if let Some(mut one) = site.mcpls().await? {
                site.settle(&mut one).await;
                mcpls.push(one);
            }
        }
        let of_mcpls = processes::count(site.root());
        Ok(format!(
            "| {} | {} | {} | {:.0} | {:.0} |\n",
            row.id, of_ours.0, of_mcpls.0, of_ours.1, of_mcpls.1
        ))
    }

    fn site<'a>(&'a self, row: &'a Row, modules: usize) -> Result<Site<'a>> {
        let folder = tempfile::tempdir()?;
        let project = (row.project)(modules, folder.path());
        project.write(folder.path())?;
        Ok(Site {
            bench: self,
            row,
            folder,
            project,
        })
    }
}

impl Site<'_> {
    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn declaration(&self) -> PathBuf {
        self.root().join(self.row.declaration())
    }

    /// Returns line and column of the declaration, counted from `first`.
    fn column_of_declaration(&self, first: u32) -> (u32, u32) {
        self.place(&self.row.declaration(), self.project.line, first)
    }

    fn column_of_use(&self, first: u32) -> (u32, u32) {
        self.place(&self.row.user(), self.row.use_line, first)
    }

    fn place(&self, file: &str, line: u32, first: u32) -> (u32, u32) {
        let text = self.text(file);
        let text = text.lines().nth(line as usize - 1).unwrap_or_default();
        let column = u32::try_from(text.find("core(").unwrap_or_default()).unwrap_or_default();
        (line - 1 + first, column + first)
    }

    fn text(&self, file: &str) -> &str {
        let found = self.project.files.iter().find(|(name, _)| name == file);
        found.map_or("", |(_, text)| text.as_str())
    }

    #[expect(clippy::disallowed_methods, reason = "it reads its own environment")]
    fn environment(&self) -> Result<Environment> {
        let program = self
            .row
            .program(&self.bench.servers)
            .context("not installed")?;
        let folder = program.parent().context("no folder")?.to_owned();
        let path = std::env::var("PATH")?;
        let path = std::iter::once(folder).chain(std::env::split_paths(&path));
        Ok(Environment::usual(std::env::vars_os())
            .with("PATH", std::env::join_paths(path)?)
            .with(processes::MARK, self.root()))
    }

    /// Starts the server itself and opens the files that are asked about.
    async fn raw(&self) -> Result<Raw> {
        let program = self
            .row
            .program(&self.bench.servers)
            .context("not installed")?;
        let command = ChildCommand::new(&program, self.root())
            .args(self.row.command.iter().skip(1))
            .environment(self.environment()?);
        let mut raw = Raw::start(command, self.root()).await?;
        for file in [self.row.declaration(), self.row.user()] {
            raw.open(&file, self.row.language.0, self.text(&file))
                .await?;
        }
        Ok(raw)
    }

    async fn raw_references(&self, raw: &mut Raw) -> Result<usize> {
        let at = self.column_of_declaration(0);
        let answer = raw
            .ask("textDocument/references", &self.row.declaration(), at)
            .await?;
        Ok(answer.as_array().map_or(0, Vec::len))
    }

    /// Asks the server until it knows all references.
    async fn wait_for_raw(&self, raw: &mut Raw, until: Instant) -> Result<()> {
        while self.raw_references(raw).await? != self.project.references {
            ensure!(Instant::now() < until, "{} never knows all", self.row.id);
            tokio::time::sleep(AGAIN).await;
        }
        Ok(())
    }

    async fn mcpls(&self) -> Result<Option<Mcpls>> {
        let Some(program) = &self.bench.mcpls else {
            return Ok(None);
        };
        // Beside the project, which must not change.
        let configuration = self.root().with_extension("toml");
        let started = Mcpls::start(
            program,
            self.row,
            self.root(),
            &configuration,
            self.environment()?,
        );
        let started = started.await;
        std::fs::remove_file(configuration)?;
        started.map(Some)
    }

    /// Asks for references until it knows all, or does not get there.
    async fn settle(&self, mcpls: &mut Mcpls) {
        let start = Instant::now();
        while start.elapsed() < NEVER {
            let at = self.column_of_declaration(1);
            let answer = mcpls.references(&self.declaration(), at).await;
            if answer.is_ok_and(|found| found >= self.project.references.min(900)) {
                break;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

impl Warm {
    fn line(&self, id: &str, action: &str) -> String {
        let Self { raw, ours, mcpls } = self;
        let mcpls = mcpls.map_or_else(
            || "| |".to_owned(),
            |mcpls| format!("| {mcpls:.2} | {:.2} |", mcpls - raw),
        );
        format!(
            "| {id} `{action}` | {raw:.2} | {ours:.2} | {:.2} {mcpls}\n",
            ours - raw
        )
    }
}

fn heading(columns: &[&str]) -> String {
    let mut text = format!("| {} |\n|", columns.join(" | "));
    for number in 0..columns.len() {
        let _ = write!(text, " ---{} |", if number == 0 { "" } else { ":" });
    }
    text.push('\n');
    text
}

/// Returns the median in milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1000.0
}

fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}
