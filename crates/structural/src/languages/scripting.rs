//! Scripting languages: Bash, Lua, PHP, PowerShell, Python, R, Ruby.

use super::HoleForm::{Dollar, Lower, Upper};
use super::Rung::{
    Argument, Arm, Clause, Decorator, Expression, Field, Import, Member, Pair, Parameter, Pattern,
    Statement, Type,
};
use super::{Comments, Dropped, Language, Lexis, Reserved, context};

pub(super) const LANGUAGES: &[Language] = &[BASH, LUA, PHP, POWERSHELL, PYTHON, R, RUBY];

const BASH: Language = Language {
    aliases: &["sh", "shell", "zsh", "shellscript"],
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild", "eclass"],
    basenames: &[
        ".bashrc",
        ".bash_profile",
        ".bash_aliases",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        "PKGBUILD",
        "APKBUILD",
    ],
    shebangs: &["bash", "sh", "dash", "zsh", "ksh", "ash"],
    contexts: &[
        context(Statement, "", "\n", "rm -rf $X"),
        context(Argument, "zz ", "\n", "--force \"$dir\""),
        context(Arm, "case x in\n", "\nesac\n", "start) $$$B ;;"),
        context(Clause, "if x; then\n:\n", "\nfi\n", "elif $C; then\n  $$$B"),
    ],
    literal_name_kinds: &["word"],
    reserved: &[Reserved {
        kinds: &["word"],
        words: &[
            "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then",
            "until", "while",
        ],
    }],
    names_in_texts: true,
    ..Language::new(
        "bash",
        compiled!(
            "lang-bash",
            tree_sitter_bash::LANGUAGE,
            tree_sitter_bash::NODE_TYPES
        ),
    )
};

const LUA: Language = Language {
    aliases: &["luau"],
    extensions: &["lua", "rockspec", "luau"],
    basenames: &[".luacheckrc"],
    shebangs: &["lua", "luajit", "texlua"],
    contexts: &[
        context(Statement, "", "\n", "local $X = require($M)"),
        context(Expression, "local x = ", "\n", "$A and $B or $C"),
        context(Field, "local t = {", "}\n", "[$K] = $V"),
        context(Clause, "if x then z()\n", "\nend\n", "elseif $C then $$$B"),
        context(Parameter, "function f", " end\n", "($$$A, ...)"),
    ],
    literal_name_kinds: &["field"],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "break", "do", "else", "elseif", "end", "for", "function", "goto", "if", "local",
            "repeat", "return", "then", "until", "while",
        ],
    }],
    fillers: &["@()"],
    slot_edges: &["do", "else", "elseif", "end", "repeat", "then", "until"],
    whole_words: true,
    ..Language::new(
        "lua",
        compiled!(
            "lang-lua",
            tree_sitter_lua::LANGUAGE,
            tree_sitter_lua::NODE_TYPES
        ),
    )
};

const PHP: Language = Language {
    extensions: &["php", "phtml", "php3", "php4", "php5", "php7", "phps"],
    shebangs: &["php"],
    contexts: &[
        context(Statement, "<?php ", "\n", "if ($C) { return $X; }"),
        context(Statement, "<?php ", ";\n", "$A = $B"),
        context(Expression, "<?php $x = ", ";\n", "$user->name"),
        context(
            Member,
            "<?php class A {\n",
            "\n}\n",
            "public function $F($$$A) { $$$B }",
        ),
        context(Field, "<?php enum A {\n", "\n}\n", "case $N;"),
        context(Pair, "<?php $x = [", "];\n", "'key' => $V"),
        context(Argument, "<?php f(", ");\n", "name: $V"),
        context(
            Parameter,
            "<?php function f(",
            ") {}\n",
            "?string $N = null",
        ),
        context(Type, "<?php function f(): ", " {}\n", "?$T"),
        context(Arm, "<?php $x = match (1) {\n", "\n};\n", "$A, $B => $V"),
        context(Arm, "<?php switch (1) {\n", "\n}\n", "case $X:\n  $$$B"),
        context(Clause, "<?php try {} ", "\n", "catch ($T $E) { $$$B }"),
        context(Clause, "<?php if (1) {} ", "\n", "else { $$$B }"),
        context(
            Decorator,
            "<?php class A { ",
            " function f() {} }\n",
            "#[Route($P)]",
        ),
    ],
    dropped: &[Dropped {
        kinds: &["named_label_statement"],
        when: &["argument", "default_statement"],
    }],
    literal_name_kinds: &["simple_parameter"],
    reserved: &[Reserved {
        kinds: &["name"],
        words: &[
            "abstract",
            "case",
            "catch",
            "class",
            "do",
            "else",
            "elseif",
            "enum",
            "final",
            "finally",
            "for",
            "foreach",
            "function",
            "if",
            "interface",
            "namespace",
            "private",
            "protected",
            "public",
            "readonly",
            "switch",
            "trait",
            "try",
            "use",
            "while",
        ],
    }],
    holes: &[Dollar, Upper, Lower],
    fillers: &["const @ = 0;", "case @: break;"],
    other_fillers: &[super::ELSE_BEHIND_BLOCK],
    slot_edges: &[
        ":",
        "endfor",
        "endforeach",
        "endif",
        "endswitch",
        "endwhile",
    ],
    whole_words: true,
    names_in_texts: true,
    ..Language::new(
        "php",
        compiled!(
            "lang-php",
            tree_sitter_php::LANGUAGE_PHP,
            tree_sitter_php::PHP_NODE_TYPES
        ),
    )
};

const POWERSHELL: Language = Language {
    aliases: &["pwsh", "ps1", "ps"],
    extensions: &["ps1", "psm1", "psd1"],
    shebangs: &["pwsh", "powershell"],
    contexts: &[
        context(Statement, "", "\n", "Get-ChildItem -Path $P"),
        context(Statement, "", "\nzz\n", "param([string] $N = 1)"),
        context(Pair, "$x = @{\n", "\n}\n", "Name = $V"),
        context(Member, "class A {\n", "\n}\n", "[string] $N"),
        context(Parameter, "function f(", ") {}\n", "[string] $N = 1"),
        context(Argument, "zz ", "\n", "-Path $P").only(&["command_parameter"]),
        context(Arm, "switch (1) {\n", "\n}\n", "1 { $$$B }"),
        context(Clause, "if (1) {} ", "\n", "elseif ($C) { $$$B }"),
        context(Clause, "try {} ", "\n", "catch { $$$B }"),
    ],
    literal_name_kinds: &[
        "hash_entry",
        "class_property_definition",
        "script_parameter",
    ],
    reserved: &[
        Reserved {
            kinds: &["command_name", "generic_token"],
            words: &["default"],
        },
        Reserved {
            kinds: &[
                "command_name",
                "generic_token",
                "simple_name",
                "switch_clause_condition",
            ],
            words: &[
                "catch", "class", "do", "else", "elseif", "enum", "filter", "finally", "for",
                "foreach", "function", "if", "param", "return", "switch", "throw", "trap", "try",
                "until", "while",
            ],
        },
    ],
    holes: &[Dollar, Upper, Lower],
    ignores_case: true,
    names_in_texts: true,
    ..Language::new(
        "powershell",
        compiled!(
            "lang-powershell",
            tree_sitter_powershell::LANGUAGE,
            tree_sitter_powershell::NODE_TYPES
        ),
    )
};

const PYTHON: Language = Language {
    comments: Some(&Comments {
        line: &["#"],
        other: &[],
        quotes: b"\"'",
        plain_quotes: b"\"'",
        lexis: Lexis::Python,
    }),
    aliases: &["py", "python3"],
    extensions: &[
        "py", "pyi", "pyw", "bzl", "bazel", "star", "wsgi", "gyp", "gypi",
    ],
    basenames: &["SConstruct", "SConscript", "BUILD", "WORKSPACE", "wscript"],
    shebangs: &["python", "pypy", "pypy3"],
    contexts: &[
        context(Statement, "", "\n", "if $C:\n    $$$B"),
        context(Pair, "x = {", "}\n", "\"key\": $V"),
        context(Argument, "f(", ")\n", "*$A, key=$V"),
        context(Parameter, "def f(", "): pass\n", "$N: int"),
        context(Type, "def f() -> ", ": pass\n", "Optional[$T]"),
        context(Arm, "match x:\n ", "\n", "case $P:\n    $$$B"),
        context(
            Pattern,
            "match x:\n case {1: ",
            "}: pass\n",
            "Point(x=$X, y=0)",
        ),
        context(Clause, "try:\n    pass\n", "\n", "except $E:\n    $$$B"),
        context(
            Clause,
            "try:\n    pass\nexcept:\n    pass\n",
            "\n",
            "finally:\n    $$$B",
        ),
        context(Clause, "if x:\n    pass\n", "\n", "elif $C:\n    $$$B"),
        context(Clause, "x = [y for y in z ", "]\n", "for $X in $Y if $C")
            .only(&["for_in_clause", "if_clause"]),
        context(Decorator, "", "\ndef f(): pass\n", "@$D").only(&["decorator"]),
        context(Import, "import ", "\n", "numpy as $N"),
    ],
    dropped: &[Dropped {
        kinds: &["constrained_type", "keyword_pattern", "splat_type"],
        when: &["assignment", "list_splat", "dictionary_splat", "pair"],
    }],
    never_one: &["as_pattern"],
    never_empty: &["block"],
    literal_name_kinds: &[
        "keyword_argument",
        "default_parameter",
        "dotted_name",
        "class_pattern",
    ],
    whole_words: true,
    ..Language::new(
        "python",
        compiled!(
            "lang-python",
            tree_sitter_python::LANGUAGE,
            tree_sitter_python::NODE_TYPES
        ),
    )
};

const R: Language = Language {
    aliases: &["rlang"],
    extensions: &["r"],
    basenames: &[".Rprofile", "Rprofile.site"],
    shebangs: &["rscript", "r"],
    contexts: &[
        context(Statement, "", "\n", "$X <- $F($$$A)"),
        context(Argument, "f(", ")\n", "na.rm = $V"),
        context(Parameter, "f <- function(", ") 1\n", "$N = $V"),
        context(Clause, "if (x) {} ", "\n", "else { $$$B }").only(&["else"]),
    ],
    literal_name_kinds: &["argument", "parameter"],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &["else"],
    }],
    ..Language::new(
        "r",
        compiled!("lang-r", tree_sitter_r::LANGUAGE, tree_sitter_r::NODE_TYPES),
    )
};

const RUBY: Language = Language {
    aliases: &["rb", "jruby"],
    extensions: &[
        "rb", "rake", "gemspec", "ru", "podspec", "jbuilder", "rabl", "rbi", "thor",
    ],
    basenames: &[
        "Rakefile",
        "Gemfile",
        "Guardfile",
        "Podfile",
        "Vagrantfile",
        "Fastfile",
        "Capfile",
        "Brewfile",
        "Dangerfile",
        "Berksfile",
        "Thorfile",
        ".irbrc",
        ".pryrc",
    ],
    shebangs: &["ruby", "jruby", "rake", "truffleruby"],
    contexts: &[
        context(Statement, "", "\n", "$A.each do |$X|\n  $$$B\nend"),
        context(Pair, "x = {", "}\n", "key: $V"),
        context(Argument, "f(", ")\n", "*$A, &$B"),
        context(Parameter, "def f(", ")\nend\n", "$N: nil"),
        context(Clause, "f() ", ".z\n", "{ |$X| $$$B }"),
        context(Parameter, "f { ", " }\n", "|$A, $B|").only(&["block_parameters"]),
        context(Clause, "begin\nx\n", "\nend\n", "rescue $E => $V\n  $$$B"),
        context(Clause, "if x\ny\n", "\nend\n", "elsif $C\n  $$$B"),
        context(Arm, "case x\n", "\nend\n", "when $X\n  $$$B"),
        context(Pattern, "case x\nin {z: ", "}\ny\nend\n", "{name: $N}"),
    ],
    literal_name_kinds: &["optional_parameter"],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "class", "def", "do", "else", "elsif", "end", "ensure", "if", "in", "module", "rescue",
            "then", "unless", "until", "when", "while",
        ],
    }],
    fillers: &["@: 0"],
    text_kinds: &[
        "regex",
        "simple_symbol",
        "delimited_symbol",
        "character",
        "uninterpreted",
    ],
    whole_words: true,
    ..Language::new(
        "ruby",
        compiled!(
            "lang-ruby",
            tree_sitter_ruby::LANGUAGE,
            tree_sitter_ruby::NODE_TYPES
        ),
    )
};
