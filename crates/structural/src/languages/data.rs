//! Data, query, markup and build languages.

use super::HoleForm::{Dollar, Lower, Quoted, Upper};
use super::Rung::{
    Argument, Arm, Attribute, Clause, Declaration, Decorator, Expression, Field, Member, Pair,
    Statement, Type,
};
use super::{Dropped, Language, Reserved, context};

pub(super) const LANGUAGES: &[Language] = &[
    CMAKE, DOCKERFILE, DTD, GRAPHQL, HCL, JSON, MAKE, MARKDOWN, PROTO, REGEX, SQL, TOML, XML, YAML,
];

const CMAKE: Language = Language {
    extensions: &["cmake"],
    basenames: &["CMakeLists.txt"],
    contexts: &[
        context(Statement, "", "\n", "target_link_libraries($T $$$L)"),
        context(Argument, "z(z ", " z)\n", "PRIVATE $X"),
        context(Clause, "if(X)\n", "\nendif()\n", "elseif($C)"),
    ],
    dropped: &[Dropped {
        kinds: &["argument", "argument_list"],
        when: &[
            "block_def",
            "foreach_loop",
            "function_def",
            "if_condition",
            "macro_def",
            "normal_command",
            "while_loop",
        ],
    }],
    literal_name_kinds: &["argument"],
    reserved: &[Reserved {
        kinds: &["identifier", "unquoted_argument"],
        words: &[
            "foreach",
            "function",
            "if",
            "macro",
            "while",
            "else",
            "elseif",
            "endforeach",
            "endfunction",
            "endif",
            "endmacro",
            "endwhile",
        ],
    }],
    fillers: &["@()"],
    text_kinds: &["bracket_argument"],
    ignores_case: true,
    ..Language::new(
        "cmake",
        compiled!(
            "lang-cmake",
            tree_sitter_cmake::LANGUAGE,
            tree_sitter_cmake::NODE_TYPES
        ),
    )
};

const DOCKERFILE: Language = Language {
    aliases: &["docker", "containerfile"],
    extensions: &["dockerfile", "containerfile"],
    basenames: &["Dockerfile", "Containerfile"],
    contexts: &[context(Statement, "", "\n", "FROM $X AS $Y")],
    holes: &[Upper, Lower, Quoted, Dollar],
    ignores_case: true,
    names_in_texts: true,
    ..Language::new(
        "dockerfile",
        compiled!(
            "lang-dockerfile",
            tree_sitter_containerfile::LANGUAGE,
            tree_sitter_containerfile::NODE_TYPES
        ),
    )
};

const DTD: Language = Language {
    extensions: &["dtd", "ent"],
    contexts: &[context(Declaration, "", "\n", "<!ELEMENT $N EMPTY>")],
    ..Language::new(
        "dtd",
        compiled!(
            "lang-xml",
            tree_sitter_xml::LANGUAGE_DTD,
            tree_sitter_xml::DTD_NODE_TYPES
        ),
    )
};

const GRAPHQL: Language = Language {
    aliases: &["gql"],
    extensions: &["graphql", "gql", "graphqls"],
    contexts: &[
        context(Declaration, "", "\n", "type $T { $$$F }"),
        context(Field, "type Z {\n", "\n}\n", "$N: $T"),
        context(Field, "query {\n", "\n}\n", "$F(id: $I) { $$$S }"),
        context(Field, "enum Z {\n", "\n}\n", "$V @deprecated"),
        context(Argument, "query { z(", ") }\n", "id: $V"),
        context(Decorator, "type Z ", " { z: Z }\n", "@key(fields: $F)"),
        context(Type, "type Z { z: ", " }\n", "[$T!]!"),
    ],
    dropped: &[Dropped {
        kinds: &["enum_value_definition", "field", "selection"],
        when: &[
            "directive_definition",
            "enum_type_definition",
            "fragment_definition",
            "input_object_type_definition",
            "interface_type_definition",
            "object_type_definition",
            "object_type_extension",
            "operation_definition",
            "scalar_type_definition",
            "schema_definition",
            "union_type_definition",
        ],
    }],
    holes: &[Upper, Lower, Quoted, Dollar],
    fillers: &["@: Z"],
    whole_words: true,
    ..Language::new(
        "graphql",
        compiled!(
            "lang-graphql",
            tree_sitter_graphql::LANGUAGE,
            tree_sitter_graphql::NODE_TYPES
        ),
    )
};

const HCL: Language = Language {
    aliases: &["terraform", "tf", "opentofu", "packer", "nomad"],
    extensions: &["hcl", "tf", "tfvars", "tofu", "nomad"],
    basenames: &[".terraformrc", "terraform.rc"],
    contexts: &[
        context(Statement, "z = 1\n", "\nz = 1\n", "resource $T $N { $$$B }"),
        context(Expression, "z = ", "\n", "aws_instance.$N.id"),
        context(Pair, "z = {\n", "\n}\n", "$K : $V"),
        context(Argument, "z = f(", ")\n", "$$$A, $B..."),
    ],
    holes: &[Upper, Lower, Quoted],
    fillers: &["@ = 1"],
    text_kinds: &["template_literal"],
    whole_words: true,
    ..Language::new(
        "hcl",
        compiled!(
            "lang-hcl",
            tree_sitter_hcl::LANGUAGE,
            tree_sitter_hcl::NODE_TYPES
        ),
    )
};

const JSON: Language = Language {
    aliases: &["jsonc", "json5"],
    extensions: &[
        "json",
        "jsonc",
        "json5",
        "geojson",
        "webmanifest",
        "ipynb",
        "har",
        "avsc",
        "code-workspace",
    ],
    basenames: &[
        ".babelrc",
        ".eslintrc",
        ".prettierrc",
        ".swcrc",
        ".jshintrc",
        ".bowerrc",
        "flake.lock",
        "composer.lock",
        "Pipfile.lock",
    ],
    contexts: &[
        context(Expression, "", "\n", "{\"a\": $V}"),
        context(Pair, "{\"z\": 0,\n", "\n}\n", "\"key\": $V"),
        context(Pair, "{\"z\": 0,\n", "\n\"z\": 0}\n", "\"key\": $V,"),
    ],
    holes: &[Quoted],
    fillers: &["\"@\": 0"],
    ..Language::new(
        "json",
        compiled!(
            "lang-json",
            tree_sitter_json::LANGUAGE,
            tree_sitter_json::NODE_TYPES
        ),
    )
};

const MAKE: Language = Language {
    aliases: &["makefile", "mk"],
    extensions: &["mk", "mak", "make"],
    basenames: &["Makefile", "GNUmakefile"],
    shebangs: &["make"],
    contexts: &[
        context(Statement, "", "\n", "$T: $$$D"),
        context(Clause, "ifdef Z\n", "\nendif\n", "else\n$X = 1"),
        context(Argument, "z = z ", " z\n", "$(CC)"),
    ],
    names_in_texts: true,
    ..Language::new(
        "make",
        compiled!(
            "lang-make",
            tree_sitter_make::LANGUAGE,
            tree_sitter_make::NODE_TYPES
        ),
    )
};

const MARKDOWN: Language = Language {
    aliases: &["md"],
    extensions: &["md", "markdown", "mdown", "mkd"],
    contexts: &[context(Declaration, "", "\n", "# $TITLE")],
    ..Language::new(
        "markdown",
        compiled!(
            "lang-markdown",
            tree_sitter_md::LANGUAGE,
            tree_sitter_md::NODE_TYPES_BLOCK
        ),
    )
};

const PROTO: Language = Language {
    aliases: &["protobuf", "proto3", "proto2"],
    extensions: &["proto"],
    contexts: &[
        context(Declaration, "", "\n", "message $M { $$$F }"),
        context(Field, "message M {\n", "\n}\n", "repeated $T $N = 1;"),
        context(Field, "enum E {\n", "\n}\n", "$V = 0;"),
        context(Member, "service S {\n", "\n}\n", "rpc $M($A) returns ($B);"),
    ],
    holes: &[Upper, Lower, Quoted],
    fillers: &[
        "1",
        "Z @ = 1;",
        "@ = 0;",
        "rpc @(Z) returns (Z);",
        "option @ = 1;",
    ],
    slot_edges: &["="],
    whole_words: true,
    ..Language::new(
        "proto",
        compiled!(
            "lang-proto",
            tree_sitter_proto::LANGUAGE,
            tree_sitter_proto::NODE_TYPES
        ),
    )
};

const REGEX: Language = Language {
    aliases: &["regexp"],
    extensions: &["regex"],
    contexts: &[context(Expression, "", "", "(a|b)+")],
    ..Language::new(
        "regex",
        compiled!(
            "lang-regex",
            tree_sitter_regex::LANGUAGE,
            tree_sitter_regex::NODE_TYPES
        ),
    )
};

const SQL: Language = Language {
    aliases: &["postgresql", "postgres", "mysql", "sqlite", "psql"],
    extensions: &["sql", "ddl", "dml", "psql", "pgsql"],
    contexts: &[
        context(Statement, "", ";\n", "UPDATE $T SET $C = $V"),
        context(
            Statement,
            "SELECT z FROM (",
            ") z;\n",
            "SELECT $$$C FROM $T WHERE $X = 1",
        ),
        context(Statement, "", "\n", "DELETE FROM $T;"),
        context(Expression, "SELECT ", ";\n", "COUNT($X)"),
        context(Clause, "SELECT z FROM z AS z ", ";\n", "WHERE $X = 1"),
        context(Clause, "SELECT z FROM z GROUP BY z ", ";\n", "HAVING $C"),
        context(Clause, "SELECT z ", ";\n", "FROM $T"),
        context(Clause, "INSERT INTO z ", ";\n", "VALUES ($$$V)"),
        context(
            Arm,
            "SELECT CASE WHEN z THEN z ",
            " END;\n",
            "WHEN $A THEN $B",
        ),
        context(Field, "CREATE TABLE z (z INT, ", ");\n", "$N TEXT NOT NULL"),
    ],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "alter",
            "case",
            "create",
            "cross",
            "delete",
            "distinct",
            "drop",
            "else",
            "end",
            "foreign",
            "from",
            "full",
            "group",
            "having",
            "inner",
            "insert",
            "into",
            "join",
            "left",
            "limit",
            "on",
            "order",
            "primary",
            "returning",
            "right",
            "select",
            "set",
            "then",
            "union",
            "unique",
            "update",
            "values",
            "when",
            "where",
            "with",
        ],
    }],
    fillers: &["@ INT", "SELECT @", "1"],
    slot_edges: &["LIMIT", "OFFSET", "limit", "offset"],
    ignores_case: true,
    ..Language::new(
        "sql",
        compiled!(
            "lang-sql",
            tree_sitter_sequel::LANGUAGE,
            tree_sitter_sequel::NODE_TYPES
        ),
    )
};

const TOML: Language = Language {
    extensions: &["toml"],
    basenames: &[
        "Cargo.lock",
        "Pipfile",
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
    ],
    contexts: &[
        context(Statement, "", "\n", "[$T]\nname = $V"),
        context(Pair, "z = {", "}\n", "version = $V, features = $F"),
        context(Expression, "z = ", "\n", "{ version = $V }"),
    ],
    holes: &[Quoted, Upper, Lower],
    fillers: &["@ = 0"],
    ..Language::new(
        "toml",
        compiled!(
            "lang-toml",
            tree_sitter_toml_ng::LANGUAGE,
            tree_sitter_toml_ng::NODE_TYPES
        ),
    )
};

const XML: Language = Language {
    aliases: &["svg"],
    extensions: &[
        "xml",
        "svg",
        "xsd",
        "xsl",
        "xslt",
        "wsdl",
        "plist",
        "pom",
        "csproj",
        "fsproj",
        "vbproj",
        "vcxproj",
        "props",
        "targets",
        "nuspec",
        "resx",
        "xaml",
        "rss",
        "atom",
        "storyboard",
    ],
    contexts: &[
        context(Expression, "<z>", "</z>\n", "<$T a=\"1\">$$$C</$T>"),
        context(Declaration, "", "\n", "<?xml version=\"1.0\"?>\n<a/>"),
        context(Attribute, "<z ", "/>\n", "name=$V"),
    ],
    holes: &[Upper, Lower, Quoted],
    fillers: &["@=\"\""],
    slot_edges: &[" ", "/>", "</", ">"],
    text_kinds: &["AttValue", "CData", "Comment", "PI"],
    ..Language::new(
        "xml",
        compiled!(
            "lang-xml",
            tree_sitter_xml::LANGUAGE_XML,
            tree_sitter_xml::XML_NODE_TYPES
        ),
    )
};

const YAML: Language = Language {
    aliases: &["yml"],
    extensions: &["yaml", "yml", "eyaml"],
    basenames: &[".clang-format", ".clang-tidy", ".clangd", "CITATION.cff"],
    contexts: &[
        context(Pair, "z: 0\n", "\nz: 0\n", "key: $V"),
        context(Arm, "- z\n", "\n- z\n", "- $X"),
        context(Expression, "", "\n", "{ a: $V }"),
        context(Pair, "{", "}\n", "a: $V"),
    ],
    fillers: &["@: 0"],
    text_kinds: &["block_scalar", "double_quote_scalar", "single_quote_scalar"],
    ..Language::new(
        "yaml",
        compiled!(
            "lang-yaml",
            tree_sitter_yaml::LANGUAGE,
            tree_sitter_yaml::NODE_TYPES
        ),
    )
};
