//! The very first question to a server that has read nothing yet.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use lsp_bridge::{LspLimits, SupervisorLimits};
use serde_json::json;
use tiers::Trust;

use crate::cpp::database;
use crate::sample::{needing, only};
use crate::support::{Opening, Outcome, Project};

/// Modules that all call one function, 9 references each.
const MODULES: usize = 400;
/// How long the first answer may take.
const LIMIT: Duration = Duration::from_secs(30);
/// Questions to a server that knows the project.
const WARM: usize = 40;

/// A generated project for one server.
#[derive(Clone, Copy)]
struct Cold {
    id: &'static str,
    files: fn() -> Vec<(String, String)>,
    /// The file, line and name that is asked about.
    place: (&'static str, u32, &'static str),
    total: usize,
}

const COLD: &[Cold] = &[
    Cold {
        id: "pyright",
        files: python,
        place: ("core.py", 1, "core"),
        total: 3601,
    },
    // The declaration in the header is one more.
    Cold {
        id: "clangd",
        files: cpp,
        place: ("core.cc", 2, "core"),
        total: 3602,
    },
    Cold {
        id: "ty",
        files: python,
        place: ("core.py", 1, "core"),
        total: 3601,
    },
    Cold {
        id: "typescript-language-server",
        files: typescript,
        place: ("core.ts", 1, "core"),
        total: 3601,
    },
    Cold {
        id: "typescript-native",
        files: typescript,
        place: ("core.ts", 1, "core"),
        total: 3601,
    },
    Cold {
        id: "rust-analyzer",
        files: rust,
        place: ("src/core_function.rs", 1, "core_function"),
        total: 3601,
    },
];

fn python() -> Vec<(String, String)> {
    let core = "def core(value: int) -> int:\n    return value\n";
    let mut files = vec![
        ("pyproject.toml".to_owned(), String::new()),
        ("core.py".to_owned(), core.to_owned()),
    ];
    for module in 0..MODULES {
        let mut text =
            format!("from core import core\n\n\ndef work_{module}() -> int:\n    total = 0\n");
        for call in 0..8 {
            writeln!(text, "    total += core({call})").unwrap();
        }
        text.push_str("    return total\n");
        files.push((format!("module_{module:03}.py"), text));
    }
    files
}

fn cpp() -> Vec<(String, String)> {
    let header = "#pragma once\nint core(int value);\n";
    let core = "#include \"core.h\"\nint core(int value) { return value; }\n";
    let mut files = vec![
        ("core.h".to_owned(), header.to_owned()),
        ("core.cc".to_owned(), core.to_owned()),
    ];
    for module in 0..MODULES {
        let mut text = format!("#include \"core.h\"\nint work_{module}() {{\n    int total = 0;\n");
        for call in 0..9 {
            writeln!(text, "    total += core({call});").unwrap();
        }
        text.push_str("    return total;\n}\n");
        files.push((format!("module_{module:03}.cc"), text));
    }
    let sources = files.iter().map(|(name, _)| name.as_str());
    let sources: Vec<&str> = sources.filter(|name| name.ends_with(".cc")).collect();
    files.push(("compile_commands.json".to_owned(), database(&sources)));
    files
}

fn typescript() -> Vec<(String, String)> {
    let core = "export function core(value: number): number {\n    return value;\n}\n";
    let mut files = vec![
        ("tsconfig.json".to_owned(), "{}".to_owned()),
        ("core.ts".to_owned(), core.to_owned()),
    ];
    for module in 0..MODULES {
        let mut text = format!(
            "import {{ core }} from \"./core\";\n\nexport function work_{module}(): number {{\n    let total = 0;\n"
        );
        for call in 0..8 {
            writeln!(text, "    total += core({call});").unwrap();
        }
        text.push_str("    return total;\n}\n");
        files.push((format!("module_{module:03}.ts"), text));
    }
    files
}

fn rust() -> Vec<(String, String)> {
    let manifest = "[package]\nname = \"cold\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let core = "pub fn core_function(value: u32) -> u32 {\n    value\n}\n";
    let mut files = vec![
        ("Cargo.toml".to_owned(), manifest.to_owned()),
        ("src/core_function.rs".to_owned(), core.to_owned()),
    ];
    // The module has another name than the function, which is searched for.
    let mut library = "#[path = \"core_function.rs\"]\npub mod base;\n".to_owned();
    for module in 0..MODULES {
        writeln!(library, "pub mod module_{module:03};").unwrap();
        let mut text = format!(
            "use crate::base::core_function;\n\npub fn work_{module}() -> u32 {{\n    let mut total = 0;\n"
        );
        for call in 0..8 {
            writeln!(text, "    total += core_function({call});").unwrap();
        }
        text.push_str("    total\n}\n");
        files.push((format!("src/module_{module:03}.rs"), text));
    }
    files.push(("src/lib.rs".to_owned(), library));
    files
}

impl Cold {
    fn open(self, calls: LspLimits) -> Project {
        let opening = Opening {
            trust: Trust::Untrusted,
            catalogue: only(&[self.id]),
            servers: SupervisorLimits::default(),
            calls,
            programs: self.programs(),
        };
        let files = (self.files)();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let project = Project::open(&files, opening);
        if let Some((name, text)) = files.iter().find(|(_, text)| text.contains("$folder")) {
            let folder = project.folder.path().to_str().unwrap();
            project.write(name, &text.replace("$folder", folder));
        }
        project
    }

    fn programs(self) -> &'static [&'static str] {
        match self.id {
            "pyright" => &["pyright"],
            "clangd" => &["clangd"],
            "ty" => &["ty"],
            "typescript-language-server" => &["typescript-language-server"],
            "typescript-native" => &["typescript-native"],
            other => {
                assert_eq!(other, "rust-analyzer");
                &["rust-analyzer"]
            }
        }
    }

    async fn ask(self, project: &Project) -> Outcome {
        let (file, line, name) = self.place;
        project.ask("references", file, line, name).await
    }

    /// Returns whether the answer carries a flag; a total that is not the right
    /// one has to.
    fn is_flagged(self, outcome: &Outcome) -> bool {
        assert!(outcome.error.is_none(), "{}", outcome.text);
        let total = outcome.details["total"].as_u64().unwrap();
        let is_flagged = outcome.text.starts_with("incomplete: ");
        assert_eq!(
            is_flagged,
            outcome.details["incomplete"] != json!(null),
            "{}",
            outcome.text
        );
        assert!(
            is_flagged || total == self.total as u64,
            "a wrong total without a word: {}",
            outcome.text.lines().next().unwrap()
        );
        is_flagged
    }

    async fn first_and_later(self) {
        let project = self.open(LspLimits::default());
        let start = Instant::now();
        let first = self.ask(&project).await;
        let took = start.elapsed();
        let (name, total) = (self.place.2, self.total);
        let files = MODULES + 1 + usize::from(self.id == "clangd");
        let begin = format!("50 of {total} references to `{name}` in {files} files shown");
        assert!(first.text.starts_with(&begin), "{}", first.text);
        assert!(!self.is_flagged(&first));
        assert!(took < LIMIT, "{took:?}");
        let mut flagged = 0;
        for _ in 0..WARM {
            flagged += usize::from(self.is_flagged(&self.ask(&project).await));
        }
        // 5 %.
        assert!(flagged * 20 <= WARM, "{flagged} of {WARM} are flagged");
        project.end().await;
    }

    /// With a deadline that is too short the answer is flagged, or right.
    async fn short_deadline(self) {
        let mut limits = LspLimits::default();
        limits.ready = Duration::from_millis(300);
        let project = self.open(limits);
        let outcome = self.ask(&project).await;
        let is_flagged = self.is_flagged(&outcome);
        if is_flagged {
            assert!(outcome.text.contains("not covered"), "{}", outcome.text);
            let line = outcome.text.lines().nth(1).unwrap_or_default();
            assert!(
                line.contains("at least ") || line.starts_with("no reference"),
                "{}",
                outcome.text
            );
        }
        // The others may be so fast, or answer only once they know.
        let must_be = matches!(self.id, "clangd" | "rust-analyzer");
        assert!(is_flagged || !must_be, "{}", outcome.text);
        project.end().await;
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for cold in COLD {
        let id = cold.id.replace('-', "_");
        let all = format!(
            "pitfall_37_the_first_references_of_{id}_are_all_{}",
            cold.total
        );
        tests.push(needing(cold.programs(), all, || cold.first_and_later()));
        // Of a rule of readiness one server is enough.
        if matches!(cold.id, "pyright" | "typescript-native") {
            continue;
        }
        let short = format!("pitfall_38_a_short_deadline_of_{id}_gives_a_flag_or_all");
        tests.push(needing(cold.programs(), short, || cold.short_deadline()));
    }
    tests
}
