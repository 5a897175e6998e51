//! The tables of servers that workspaces have of their own.
//!
//! A table names programs to run, so only that of a trusted workspace is read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use host::Workspace;
use tiers::Trust;

use crate::servers::Catalogue;
use crate::stamp::Stamp;

/// The file at a workspace's root.
const FILE: &str = "toolset-servers.toml";
/// The largest that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// Workspaces whose tables are kept.
const MAX_KEPT: usize = 64;

/// The tables that were read, by the workspace's root.
#[derive(Debug, Default)]
pub(super) struct Tables(Mutex<HashMap<PathBuf, Table>>);

#[derive(Debug, Clone)]
struct Table {
    stamp: Stamp,
    /// The servers, or why the table cannot be used.
    read: Result<Arc<Catalogue>, String>,
}

impl Tables {
    /// Returns the servers of a workspace: those of `all`, with what its own
    /// table says of them.
    pub(super) fn of(&self, all: &Arc<Catalogue>, workspace: &Workspace) -> Arc<Catalogue> {
        match self.read(all, workspace) {
            Some(Ok(catalogue)) => catalogue,
            Some(Err(_)) | None => Arc::clone(all),
        }
    }

    /// Says that a workspace's table is not used, and why.
    pub(super) fn note(&self, all: &Arc<Catalogue>, workspace: &Workspace) -> Option<String> {
        let is_there = workspace.root().join(FILE).symlink_metadata().is_ok();
        if workspace.trust() == Trust::Untrusted && is_there {
            return Some(format!(
                "`{FILE}` was left out because the workspace is not trusted"
            ));
        }
        let why = self.read(all, workspace)?.err()?;
        Some(format!("`{FILE}` is not used: {why}"))
    }

    /// Returns nothing where there is no table that may be read.
    fn read(
        &self,
        all: &Arc<Catalogue>,
        workspace: &Workspace,
    ) -> Option<Result<Arc<Catalogue>, String>> {
        if workspace.trust() == Trust::Untrusted {
            return None;
        }
        let file = workspace.root().join(FILE);
        let stamp = Stamp::take(&file)?;
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tables.get(workspace.root());
        if let Some(known) = known.filter(|known| stamp.is_unchanged_since(&known.stamp)) {
            return Some(known.read.clone());
        }
        let read = read(all, &file, stamp);
        if tables.len() >= MAX_KEPT {
            tables.clear();
        }
        let table = Table {
            stamp,
            read: read.clone(),
        };
        tables.insert(workspace.root().to_owned(), table);
        Some(read)
    }
}

fn read(all: &Catalogue, file: &Path, stamp: Stamp) -> Result<Arc<Catalogue>, String> {
    if stamp.length() > MAX_BYTES {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let catalogue = all.with(&text).map_err(|error| error.to_string())?;
    Ok(Arc::new(catalogue))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "[[server]]\nid = \"mine\"\ncommand = [\"mine\"]\n\
        files = [{ language = \"mine\", extensions = [\"mine\"] }]\n";

    fn ids(tables: &Tables, all: &Arc<Catalogue>, workspace: &Workspace) -> Vec<String> {
        let catalogue = tables.of(all, workspace);
        catalogue.ids().map(str::to_owned).collect()
    }

    #[test]
    fn only_a_trusted_workspace_has_a_table_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let open = |trust| Workspace::open(folder.path(), trust).unwrap();
        let (trusted, untrusted) = (open(Trust::Trusted), open(Trust::Untrusted));
        let all = Arc::new(Catalogue::empty());
        let tables = Tables::default();
        assert_eq!(tables.note(&all, &untrusted), None);
        assert!(ids(&tables, &all, &trusted).is_empty());

        std::fs::write(folder.path().join(FILE), ROW).unwrap();
        assert_eq!(ids(&tables, &all, &trusted), ["mine"]);
        assert_eq!(tables.note(&all, &trusted), None);
        assert!(ids(&tables, &all, &untrusted).is_empty());
        let note = tables.note(&all, &untrusted).unwrap();
        assert!(note.contains("left out because the workspace is not trusted"));

        let two = ROW.replace("\"mine\"", "\"other\"");
        std::fs::write(folder.path().join(FILE), format!("{ROW}{two}")).unwrap();
        assert_eq!(ids(&tables, &all, &trusted), ["mine", "other"]);
    }

    #[test]
    fn a_table_that_cannot_be_read_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path(), Trust::Trusted).unwrap();
        let all = Arc::new(Catalogue::built_in());
        let tables = Tables::default();
        std::fs::write(folder.path().join(FILE), "server = 1").unwrap();
        let note = tables.note(&all, &workspace).unwrap();
        assert!(
            note.starts_with("`toolset-servers.toml` is not used: "),
            "{note}"
        );
        let count = all.rows().len();
        assert_eq!(tables.of(&all, &workspace).rows().len(), count);
    }
}
