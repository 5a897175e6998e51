//! Which server would serve a file, from where, and with what.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use host::executable::{
    Finding, NoProgram, NoRoot, Program, ProjectPrograms, Requirement, Root, SearchPath, find,
};
use host::process::Environment;
use host::{Trust, WorkspacePath};
use serde_json::Value;

use crate::project::{PYTHON_FOLDERS, outer_root, refusal, told};
use crate::row::{ProjectEnvironment, ServerRow};
use crate::seen::merge;
use crate::servers::Catalogue;

/// What tells one server process from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ServerKey {
    root: PathBuf,
    id: String,
    program: PathBuf,
    /// Arguments, settings, environment and trust.
    configuration: u64,
}

/// A server that claims a file, and what was found of it.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub(crate) row: Arc<ServerRow>,
    pub(crate) root: Result<Root, NoRoot>,
    pub(crate) program: Result<Program, NoProgram>,
    /// Why it is not used although both were found.
    pub(crate) refused: Option<String>,
    /// Built once for all that share the lookup.
    plan: Arc<OnceLock<Option<Arc<Plan>>>>,
}

/// All that is needed to start a server.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) row: Arc<ServerRow>,
    pub(crate) root: WorkspacePath,
    pub(crate) program: Program,
    pub(crate) settings: Value,
    pub(crate) initialization: Value,
    pub(crate) environment: Environment,
    /// The folder it is started in.
    pub(crate) directory: PathBuf,
    pub(crate) key: ServerKey,
}

impl Candidate {
    /// Returns the id of the server.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.row.id
    }

    /// Returns whether root marker and executable were both found, and nothing
    /// else is in the way.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        let is_found = self.root.is_ok() && self.program.is_ok();
        is_found && self.refused.is_none() && !self.row.disabled
    }

    /// Returns whether it can be asked about code, and not only for faults.
    pub(crate) fn is_main(&self) -> bool {
        self.is_usable() && !self.row.linter
    }

    /// Returns the name of the server of this root.
    pub(crate) fn label(&self) -> String {
        let root = self.root.as_ref().map(|root| &root.folder);
        root.map_or_else(|_| self.id().to_owned(), |root| label(self.id(), root))
    }

    /// Says what is missing; empty where nothing is.
    #[must_use]
    pub fn lacks(&self) -> String {
        let mut lacks = Vec::new();
        if self.row.disabled {
            lacks.push("it is switched off".to_owned());
        }
        lacks.extend(self.root.as_ref().err().map(ToString::to_string));
        lacks.extend(self.program.as_ref().err().map(ToString::to_string));
        lacks.extend(self.refused.clone());
        lacks.join("; ")
    }

    /// Returns the plan to start it; `None` where it cannot be used.
    ///
    /// `environment` is the one that the candidate was looked up in.
    pub(crate) fn plan(&self, environment: &Environment) -> Option<Arc<Plan>> {
        let plan = (self.plan).get_or_init(|| Plan::new(self, environment).map(Arc::new));
        plan.clone()
    }
}

/// Returns those that are asked for the faults of a file: the first that can be
/// asked about code, and all that report faults only.
pub(crate) fn asked_for_faults(candidates: &[Candidate]) -> impl Iterator<Item = &Candidate> {
    let main = candidates.iter().find(|candidate| candidate.is_main());
    let linters = candidates.iter().filter(|c| c.is_usable() && c.row.linter);
    main.into_iter().chain(linters)
}

/// Returns the name of the server of one root, among those of a workspace.
pub(crate) fn label(id: &str, root: &WorkspacePath) -> String {
    match root.relative() {
        "." => id.to_owned(),
        folder => format!("{id} in `{}`", tiers::visible(folder)),
    }
}

/// Returns the servers of `catalogue` that claim `from`, in order of preference.
///
/// Reads the disk, starts nothing.
pub(crate) fn candidates(
    catalogue: &Catalogue,
    from: &WorkspacePath,
    environment: &Environment,
) -> Vec<Candidate> {
    catalogue
        .claiming(from.absolute())
        .map(|row| candidate(row, from, environment))
        .collect()
}

/// Returns the folders that lookups and plans for `from` look into, there or
/// not. What is looked at elsewhere must be added here.
pub(crate) fn looked_into(
    catalogue: &Catalogue,
    from: &WorkspacePath,
    environment: &Environment,
) -> Vec<PathBuf> {
    let mut inside: Vec<&str> = PYTHON_FOLDERS.to_vec();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for row in catalogue.claiming(from.absolute()) {
        inside.extend(row.project_folders.iter().map(String::as_str));
        let refused = row.untrusted.refuse.iter();
        let nested = row.markers.iter().flatten().chain(refused);
        let nested = nested.filter_map(|marker| marker.trim_end_matches('/').rsplit_once('/'));
        inside.extend(nested.map(|(folder, _)| folder));
        // What these say counts, and not only that they are there.
        names.extend(row.outer.iter().map(|outer| outer.file.as_str()));
        if row.environment == ProjectEnvironment::Typescript {
            names.push("node_modules/typescript/package.json");
        }
        if Path::new(row.program()).is_absolute() {
            paths.push(PathBuf::from(row.program()));
        }
    }
    inside.sort_unstable();
    inside.dedup();
    let root = from.workspace().root();
    let above = from.absolute().ancestors();
    // A file is edited, which changes nothing here.
    let above = above.skip(usize::from(!from.absolute().is_dir()));
    for folder in above.take_while(|folder| folder.starts_with(root)) {
        paths.push(folder.to_owned());
        paths.extend(
            inside
                .iter()
                .chain(&names)
                .map(|inside| folder.join(inside)),
        );
    }
    let path = SearchPath::parse(environment.get("PATH").unwrap_or_default());
    paths.extend(path.folders().iter().cloned());
    let active = environment.get("VIRTUAL_ENV");
    paths.extend(active.map(|prefix| Path::new(prefix).join("bin")));
    paths
}

/// Returns what is found of `row` for the file or folder `from`.
pub(crate) fn candidate(
    row: &Arc<ServerRow>,
    from: &WorkspacePath,
    environment: &Environment,
) -> Candidate {
    let path = SearchPath::parse(environment.get("PATH").unwrap_or_default());
    let project = ProjectPrograms::for_trust(from.workspace().trust());
    let look = |from: &WorkspacePath, markers: &[String]| -> Finding {
        let mut requirement = Requirement::program(row.program());
        for folder in &row.project_folders {
            requirement = requirement.project_folder(folder);
        }
        for marker in markers {
            requirement = requirement.marker(marker);
        }
        find(&requirement, from, &path, project)
    };
    let candidate = |root: Result<Root, NoRoot>, program: Result<Program, NoProgram>| {
        let refused = match (&root, &program) {
            (Ok(root), Ok(program)) => refusal(row, &root.folder, program, environment),
            _ => None,
        };
        Candidate {
            row: Arc::clone(row),
            root,
            program,
            refused,
            plan: Arc::default(),
        }
    };
    if let Some(outer) = &row.outer
        && let Some(from) = outer_root(outer, from)
    {
        let finding = look(&from, std::slice::from_ref(&outer.file));
        return candidate(finding.root, finding.program);
    }
    let mut missing: Option<NoRoot> = None;
    for markers in &row.markers {
        let finding = look(from, markers);
        match finding.root {
            Ok(root) => return candidate(Ok(root), finding.program),
            Err(no_root) => match &mut missing {
                Some(missing) => missing.markers.extend(no_root.markers),
                None => missing = Some(no_root),
            },
        }
    }
    let finding = look(from, &[]);
    candidate(missing.map_or(finding.root, Err), finding.program)
}

impl Plan {
    /// Builds the plan of a candidate; `None` where it cannot be used.
    pub(crate) fn new(candidate: &Candidate, environment: &Environment) -> Option<Self> {
        if !candidate.is_usable() {
            return None;
        }
        let (Ok(root), Ok(program)) = (&candidate.root, &candidate.program) else {
            return None;
        };
        let row = Arc::clone(&candidate.row);
        let trust = root.folder.workspace().trust();
        let mut environment = of_child(environment, root.folder.workspace().root(), trust);
        let told = told(&row, &root.folder, program, &environment);
        let mut settings = row.settings.clone();
        let mut initialization = row.initialization.clone();
        add(&mut settings, &told.settings);
        add(&mut initialization, &told.initialization);
        if trust == Trust::Untrusted {
            add(&mut settings, &row.untrusted.settings);
            add(&mut initialization, &row.untrusted.initialization);
            for (name, value) in &row.untrusted.variables {
                environment = environment.with(name, value);
            }
        }
        let directory = match trust {
            Trust::Trusted => root.folder.absolute().to_owned(),
            // Programs look into the folder that they are started in.
            Trust::Untrusted => PathBuf::from("/"),
        };
        let mut hasher = DefaultHasher::new();
        (row.command.as_slice(), trust == Trust::Trusted).hash(&mut hasher);
        settings.to_string().hash(&mut hasher);
        initialization.to_string().hash(&mut hasher);
        for variable in environment.iter() {
            variable.hash(&mut hasher);
        }
        let key = ServerKey {
            root: root.folder.absolute().to_owned(),
            id: row.id.clone(),
            program: program.path.clone(),
            configuration: hasher.finish(),
        };
        Some(Self {
            row,
            root: root.folder.clone(),
            program: program.clone(),
            settings,
            initialization,
            environment,
            directory,
            key,
        })
    }
}

/// Returns what a server sees of the environment: from an untrusted workspace
/// no program is found through `PATH`.
fn of_child(environment: &Environment, root: &Path, trust: Trust) -> Environment {
    let Some(path) = environment.get("PATH") else {
        return environment.clone();
    };
    let folders = std::env::split_paths(path).filter(|folder| {
        let is_inside = || {
            folder.starts_with(root)
                || host::Workspace::open(folder, Trust::Untrusted)
                    .is_ok_and(|folder| folder.root().starts_with(root))
        };
        folder.is_absolute() && (trust == Trust::Trusted || !is_inside())
    });
    let kept: Vec<PathBuf> = folders.collect();
    match std::env::join_paths(kept) {
        Ok(path) => environment.clone().with("PATH", path),
        // They came out of such a text, so they fit into one.
        Err(_) => environment.clone().with("PATH", OsString::new()),
    }
}

fn add(settings: &mut Value, more: &Value) {
    if !more.is_null() {
        merge(settings, more);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use host::Workspace;

    use super::*;

    fn executable(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    struct Setting {
        folder: tempfile::TempDir,
        bin: tempfile::TempDir,
    }

    impl Setting {
        fn new(files: &[&str]) -> Self {
            let setting = Self {
                folder: tempfile::tempdir().unwrap(),
                bin: tempfile::tempdir().unwrap(),
            };
            for file in files {
                let path = setting.folder.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            setting
        }

        fn plan(&self, file: &str, trust: Trust) -> (Vec<Candidate>, Option<Plan>) {
            let inside = self.folder.path().join("bin");
            let path = std::env::join_paths([self.bin.path(), &inside]).unwrap();
            let environment = Environment::empty().with("PATH", path);
            let workspace = Workspace::open(self.folder.path(), trust).unwrap();
            let from = workspace.resolve(file).unwrap();
            let catalogue = Catalogue::built_in();
            let candidates = candidates(&catalogue, &from, &environment);
            let plan = candidates.first().and_then(|c| Plan::new(c, &environment));
            (candidates, plan)
        }
    }

    #[test]
    fn pitfall_50_the_nearest_marker_of_the_first_row_is_the_root() {
        let files = [
            "compile_commands.json",
            "lib/CMakeLists.txt",
            "lib/src/a.cc",
        ];
        let setting = Setting::new(&files);
        executable(&setting.bin.path().join("clangd"));
        let (_, plan) = setting.plan("lib/src/a.cc", Trust::Untrusted);
        let plan = plan.unwrap();
        assert_eq!(plan.root.relative(), ".");

        let setting = Setting::new(&["pyproject.toml", "lib/pyproject.toml", "lib/a.py"]);
        executable(&setting.bin.path().join("pyright-langserver"));
        let (_, plan) = setting.plan("lib/a.py", Trust::Untrusted);
        assert_eq!(plan.unwrap().root.relative(), "lib");
    }

    #[test]
    fn pitfall_48_a_missing_marker_and_a_missing_program_are_told_apart() {
        let setting = Setting::new(&["lib/a.cc"]);
        let (candidates, plan) = setting.plan("lib/a.cc", Trust::Untrusted);
        assert!(plan.is_none());
        let [clangd] = candidates.as_slice() else {
            panic!("{candidates:?}");
        };
        let no_root = clangd.root.as_ref().unwrap_err();
        assert_eq!(no_root.folders, ["lib", "."]);
        assert!(no_root.markers.iter().any(|marker| marker == "meson.build"));
        assert!(clangd.program.is_err());
    }

    #[test]
    fn pitfall_57_what_an_untrusted_workspace_supplies_is_left_out() {
        let setting = Setting::new(&["pyproject.toml", "a.py"]);
        let root = setting.folder.path();
        for file in [
            ".venv/bin/pyright-langserver",
            ".venv/bin/python3",
            "bin/python3",
        ] {
            executable(&root.join(file));
        }
        let (candidates, plan) = setting.plan("a.py", Trust::Untrusted);
        assert!(plan.is_none());
        let why = candidates[0].program.as_ref().unwrap_err().to_string();
        assert!(why.contains("was left out because the workspace"), "{why}");

        executable(&setting.bin.path().join("pyright-langserver"));
        let (_, plan) = setting.plan("a.py", Trust::Untrusted);
        let plan = plan.unwrap();
        assert_eq!(
            plan.program.path,
            setting.bin.path().join("pyright-langserver")
        );
        assert_eq!(plan.settings, Value::Null);
        assert_eq!(
            plan.environment.get("PATH"),
            Some(setting.bin.path().as_os_str())
        );
        assert_eq!(plan.directory, Path::new("/"));
    }

    #[test]
    fn pitfall_51_a_trusted_project_brings_its_virtual_environment() {
        let setting = Setting::new(&["pyproject.toml", "a.py"]);
        let root = setting.folder.path().canonicalize().unwrap();
        executable(&root.join(".venv/bin/python3"));
        executable(&setting.bin.path().join("pyright-langserver"));
        executable(&setting.bin.path().join("python3"));
        let (_, plan) = setting.plan("a.py", Trust::Trusted);
        let python = root.join(".venv/bin/python3");
        let plan = plan.unwrap();
        assert_eq!(
            plan.settings["python"]["pythonPath"],
            python.to_str().unwrap()
        );
        let (_, untrusted) = setting.plan("a.py", Trust::Untrusted);
        let untrusted = untrusted.unwrap();
        let outside = setting.bin.path().join("python3");
        assert_eq!(
            untrusted.settings["python"]["pythonPath"],
            outside.to_str().unwrap()
        );
        assert_ne!(untrusted.key, plan.key);
    }
}
