//! What a child sees of the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables that programs need to find their user, language, tools and proxies.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    // Where toolchains live.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "GOCACHE",
    "GOPROXY",
    "GOFLAGS",
    "JAVA_HOME",
    "PUB_CACHE",
    "FLUTTER_ROOT",
    "DOTNET_ROOT",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "GEM_HOME",
    "GEM_PATH",
    "DEVELOPER_DIR",
    "SDKROOT",
    "ANDROID_HOME",
    // How the network is reached.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

const USUAL_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// The environment of a child: what is named here and nothing else.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Returns an environment without variables.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Keeps of `variables` what programs need to find their user, language,
    /// toolchain and proxies. Tokens, keys and everything unknown are dropped.
    ///
    /// The caller reads its environment where the program starts
    /// (`std::env::vars_os()`), and passes it on from there.
    #[must_use]
    pub fn usual(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let is_usual = |name: &OsStr| {
            name.to_str().is_some_and(|name| {
                USUAL.contains(&name)
                    || USUAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            })
        };
        Self {
            variables: variables
                .into_iter()
                .filter(|(name, _)| is_usual(name))
                .collect(),
        }
    }

    /// Sets one variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Removes one variable.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Self {
        self.variables.remove(name.as_ref());
        self
    }

    /// Returns the value of one variable.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Returns names and values, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Shows the names only: values may be secret.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Environment")
            .field(&self.variables.keys().collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_keeps_the_path_and_drops_tokens() {
        let given = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("ANTHROPIC_API_KEY", "x"),
            ("LD_PRELOAD", "x"),
        ];
        let environment =
            Environment::usual(given.map(|(name, value)| (name.into(), value.into())))
                .with("A", "1")
                .without("LC_ALL");
        let names: Vec<_> = environment.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["A", "PATH"]);
        assert_eq!(environment.get("A"), Some(OsStr::new("1")));
        assert!(!format!("{environment:?}").contains("/bin"));
    }
}
