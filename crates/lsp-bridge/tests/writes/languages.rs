//! One small project in each language: a core with helpers, modules that use
//! them, and lines that are faults.

use tiers::Trust;

/// How a project is written in one language.
#[derive(Clone, Copy)]
pub(crate) struct Language {
    /// The server's id.
    pub(crate) id: &'static str,
    /// Folders of `.toolset/servers` whose programs it needs.
    pub(crate) programs: &'static [&'static str],
    pub(crate) trust: Trust,
    /// Files that make it a project, `$folder` being its folder.
    pub(crate) fixed: &'static [(&'static str, &'static str)],
    /// The file that the modules use.
    pub(crate) core: &'static str,
    /// The name of a module's file; `#` is its number.
    pub(crate) module: &'static str,
    /// What core begins with.
    pub(crate) core_head: &'static str,
    /// A helper; `@` is its name.
    pub(crate) helper: &'static str,
    pub(crate) module_head: &'static str,
    /// The use of a helper; `@` is its name, `#` the module's number.
    pub(crate) usage: &'static str,
    /// A line that does nothing.
    pub(crate) comment: &'static str,
    /// A line that is an error; `@` is the name that is not there, `#` a number
    /// that is not used twice.
    pub(crate) fault: &'static str,
    /// Whether faults of modules are told that a change of core brought.
    pub(crate) tells_others: bool,
}

const PYTHON: Language = Language {
    id: "pyright",
    programs: &["pyright"],
    trust: Trust::Untrusted,
    fixed: &[("pyproject.toml", "")],
    core: "core.py",
    module: "module_#.py",
    core_head: "",
    helper: "def @() -> int:\n    return 1\n",
    module_head: "",
    usage: "from core import @\n",
    comment: "# nothing\n",
    fault: "v_# = @\n",
    tells_others: true,
};

const TYPESCRIPT: Language = Language {
    id: "typescript-language-server",
    programs: &["typescript-language-server"],
    trust: Trust::Untrusted,
    fixed: &[(
        "tsconfig.json",
        "{ \"compilerOptions\": { \"strict\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"target\": \"esnext\", \"types\": [] } }",
    )],
    core: "src/core.ts",
    module: "src/module_#.ts",
    core_head: "export const first = 1;\n",
    helper: "export const @ = (): number => 1;\n",
    module_head: "export const own = 1;\n",
    usage: "import { @ } from \"./core\";\nexport const use_@ = @;\n",
    comment: "// nothing\n",
    fault: "export const v_# = @;\n",
    tells_others: true,
};

const C: Language = Language {
    id: "clangd",
    programs: &["clangd"],
    trust: Trust::Untrusted,
    fixed: &[("compile_flags.txt", "-xc++\n-std=c++17\n")],
    core: "core.h",
    module: "module_#.cc",
    core_head: "#pragma once\n",
    helper: "inline int @() { return 1; }\n",
    module_head: "#include \"core.h\"\n",
    usage: "int use_@_#() { return @(); }\n",
    comment: "// nothing\n",
    fault: "inline int v_#() { return @; }\n",
    // A header is what its includers are made of, and they are read again only
    // where they are open.
    tells_others: true,
};

const GO: Language = Language {
    id: "gopls",
    programs: &["gopls"],
    trust: Trust::Untrusted,
    fixed: &[("go.mod", "module sample\n\ngo 1.19\n")],
    core: "core.go",
    module: "module_#.go",
    core_head: "package sample\n\n",
    helper: "func @() int { return 1 }\n",
    module_head: "package sample\n\n",
    usage: "func use_@_#() int { return @() }\n",
    comment: "// nothing\n",
    fault: "var v_# = @\n",
    tells_others: true,
};

const RUST: Language = Language {
    id: "rust-analyzer",
    programs: &["rust-analyzer"],
    trust: Trust::Trusted,
    fixed: &[
        (
            "Cargo.toml",
            "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        ),
        (
            "src/lib.rs",
            "pub mod core;\npub mod module_0;\npub mod module_1;\npub mod module_2;\n",
        ),
    ],
    core: "src/core.rs",
    module: "src/module_#.rs",
    core_head: "",
    helper: "pub fn @() -> u32 {\n    1\n}\n",
    module_head: "",
    usage: "pub fn use_@() -> u32 {\n    crate::core::@()\n}\n",
    comment: "// nothing\n",
    fault: "pub fn v_#() -> u32 {\n    @\n}\n",
    tells_others: true,
};

pub(crate) const LANGUAGES: &[Language] = &[
    PYTHON,
    Language {
        id: "basedpyright",
        programs: &["basedpyright"],
        fixed: &[(
            "pyproject.toml",
            "[tool.basedpyright]\ntypeCheckingMode = \"standard\"\n",
        )],
        ..PYTHON
    },
    Language {
        id: "ty",
        programs: &["ty"],
        ..PYTHON
    },
    TYPESCRIPT,
    Language {
        id: "typescript-native",
        programs: &["typescript-native"],
        ..TYPESCRIPT
    },
    C,
    GO,
    RUST,
];
