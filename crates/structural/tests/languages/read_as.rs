//! What the contexts make of fragments that people write.

use super::kinds;

/// One test a language, so that each needs only its own grammar. The kinds are
/// those of the readings of all contexts together; siblings are joined by a space.
macro_rules! read_as {
    ($($test:ident: $feature:literal, $language:literal, [$($fragment:literal => $kinds:expr),* $(,)?];)*) => {$(
        #[cfg(feature = $feature)]
        #[test]
        fn $test() {
            $(for kind in $kinds {
                let kinds = kinds($language, $fragment);
                assert!(kinds.iter().any(|k| k == kind), "{:?} reads as {kinds:?}, not as {kind}", $fragment);
            })*
        }
    )*};
}

read_as! {
    c_sharp_fragments_are_read: "lang-c-sharp", "c-sharp", [
        "public $T $N { get; set; }" => ["property_declaration"],
        "$X.Dispose();" => ["expression_statement"],
    ];
    c_fragments_are_read: "lang-c", "c", [
        ".$F = $V" => ["initializer_pair"],
        "free($X); $X = NULL;" => ["expression_statement expression_statement"],
        "#define $N $V" => ["preproc_def"],
    ];
    cpp_fragments_are_read: "lang-cpp", "cpp", [
        "std::string_view $N" => ["declaration", "field_declaration", "parameter_declaration"],
    ];
    dart_fragments_are_read: "lang-dart", "dart", [
        "late final $T $N;" => ["local_variable_declaration", "member_declaration"],
        "@override\nvoid dispose() { $$$B }" => ["local_function_declaration", "member_declaration"],
    ];
    typescript_fragments_are_read: "lang-typescript", "typescript", [
        "a: 123" => ["pair", "labeled_statement"],
        "{ a: $X }" => ["object"],
        "private $N = $V;" => ["public_field_definition ;"],
        "@Input() $X: $T" => ["public_field_definition"],
        "case $X: return $Y;" => ["switch_case"],
    ];
    go_fragments_are_read: "lang-go", "go", [
        "ctx context.Context" => ["parameter_declaration", "field_declaration"],
        "case $X: $$$B" => ["expression_case", "communication_case"],
        "$M($$$A) error" => ["method_elem"],
        "Name: $V" => ["keyed_element"],
    ];
    rust_fragments_are_read: "lang-rust", "rust", [
        "Some($X) => $Y" => ["match_arm"],
        "$N: Option<$T>" => ["field_declaration", "parameter"],
        "Vec<$T>" => ["generic_type"],
        "impl $T for $S { $$$M }" => ["impl_item"],
        "match $X { $$$A }" => ["match_expression"],
        "else { $$$B }" => ["else_clause"],
    ];
    swift_fragments_are_read: "lang-swift", "swift", [
        "case .$A: $$$B" => ["switch_entry"],
        "protocol $P { $$$M }" => ["protocol_declaration"],
        "\"a\": $V" => ["line_string_literal : simple_identifier"],
    ];
    javascript_fragments_are_read: "lang-javascript", "javascript", [
        "<Foo a={$A} />" => ["jsx_self_closing_element"],
        "a={$X}" => ["jsx_attribute"],
        "$N = $V" => ["assignment_expression", "field_definition"],
        "import { $A } from $M" => ["import_statement"],
    ];
    java_fragments_are_read: "lang-java", "java", [
        "@Autowired" => ["modifiers"],
        "class $N { $$$M }" => ["class_declaration"],
        "case $X -> $Y;" => ["switch_rule"],
        "$T $N" => ["formal_parameter", "local_variable_declaration"],
    ];
    kotlin_fragments_are_read: "lang-kotlin", "kotlin", [
        "fun $F($$$A): $T = $B" => ["function_declaration"],
        "is $T -> $X" => ["when_entry"],
        "object $N { $$$M }" => ["object_declaration"],
        "name = $V" => ["value_argument"],
    ];
    scala_fragments_are_read: "lang-scala", "scala", [
        "def $F($$$A): $T = $B" => ["function_definition"],
        "case Some($X) => $Y" => ["case_clause"],
    ];
    css_fragments_are_read: "lang-css", "css", [
        "color: $C" => ["declaration"],
        ".$C > a:hover" => ["selectors"],
        "$S { color: red; }" => ["rule_set"],
    ];
    html_fragments_are_read: "lang-html", "html", [
        "class=\"$X\"" => ["attribute"],
        "<div $$$A>$$$C</div>" => ["element"],
    ];
    bash_fragments_are_read: "lang-bash", "bash", [
        "rm -rf $X" => ["command"],
        "if [ $$$C ]; then $$$B; fi" => ["if_statement"],
        "$F() { $$$B }" => ["function_definition"],
        "start) $$$B ;;" => ["case_item"],
        "elif $C; then $$$B" => ["elif_clause"],
        "$A | $B" => ["pipeline"],
        "$C > $F" => ["redirected_statement"],
        "X=$V" => ["variable_assignment"],
    ];
    cmake_fragments_are_read: "lang-cmake", "cmake", [
        "target_link_libraries($T $$$L)" => ["normal_command"],
        "if($C)\n  $$$B\nendif()" => ["if_condition"],
        "elseif($C)" => ["elseif_command"],
        "PRIVATE $X" => ["argument argument"],
    ];
    dockerfile_fragments_are_read: "lang-dockerfile", "dockerfile", [
        "FROM $X AS $Y" => ["from_instruction"],
        "CMD [$$$A]" => ["cmd_instruction"],
        "EXPOSE $P" => ["expose_instruction"],
        "FROM a\nRUN b" => ["source_file"],
    ];
    elixir_fragments_are_read: "lang-elixir", "elixir", [
        "$A |> Enum.map($F)" => ["binary_operator"],
        "def $F($$$A) do\n  $$$B\nend" => ["call"],
        "{:ok, $X} -> $Y" => ["stab_clause"],
        "key: $V" => ["pair"],
        "rescue\n  $E -> $B" => ["rescue_block"],
        "do\n  $$$B\nend" => ["do_block"],
        "@spec $F($$$A) :: $T" => ["unary_operator"],
        "%{a: $V, $$$R}" => ["map"],
    ];
    erlang_fragments_are_read: "lang-erlang", "erlang", [
        "$M:$F($$$A)" => ["remote"],
        "-export([$$$E])." => ["export_attribute"],
        "$F($$$A) -> $B." => ["fun_decl"],
        "{ok, $X} -> $$$B" => ["cr_clause"],
        "error:$R -> $B" => ["catch_clause"],
        "key => $V" => ["map_field"],
        "$X = $Y,\n$Z = $W" => ["match_expr , match_expr"],
    ];
    fsharp_fragments_are_read: "lang-fsharp", "fsharp", [
        "| Some $X -> $Y" => ["| rule"],
        "member this.$M = $B" => ["member_defn"],
        "type $T = { $$$F }" => ["type_definition"],
        "[<$A>]" => ["attributes"],
        "Map<$K, $V>" => ["generic_type"],
    ];
    gleam_fragments_are_read: "lang-gleam", "gleam", [
        "let $X = $Y" => ["let"],
        "pub fn $F($$$A) -> $T { $$$B }" => ["function"],
        "Ok($X) -> $Y" => ["case_clause"],
        "label: $V" => ["argument"],
        "case $X {\n  $$$B\n}" => ["case"],
    ];
    graphql_fragments_are_read: "lang-graphql", "graphql", [
        "type $T { $$$F }" => ["document"],
        "$N: $T!" => ["field_definition"],
        "$F(id: $I) { $$$S }" => ["field"],
        "query $Q($V: ID!) { $$$S }" => ["document"],
        "@key(fields: $F)" => ["directive"],
        "id: $V" => ["argument"],
    ];
    haskell_fragments_are_read: "lang-haskell", "haskell", [
        "$F $X = $B" => ["function"],
        "$F :: $A -> $B" => ["signature"],
        "$X <- $A\nreturn $Y" => ["bind exp"],
        "Just $X -> $Y\nNothing -> $Z" => ["alternative alternative"],
        "instance $C $T where\n  $$$M" => ["instance"],
        "where $A = $B" => ["where local_binds"],
        "deriving ($$$C)" => ["deriving"],
        "data $T = $C { $$$F }" => ["data_type"],
    ];
    hcl_fragments_are_read: "lang-hcl", "hcl", [
        "resource $T $N { $$$B }" => ["block"],
        "ami = $V" => ["attribute", "object_elem"],
        "aws_instance.$N.id" => ["expression"],
    ];
    json_fragments_are_read: "lang-json", "json", [
        "{\"a\": $V}" => ["document"],
        "\"key\": $V" => ["pair"],
        "\"key\": $V," => ["pair ,"],
        "{ \"a\": $V, $$$R }" => ["document"],
    ];
    julia_fragments_are_read: "lang-julia", "julia", [
        "key=$V" => ["assignment", "named_argument"],
        "function $F($$$A) $$$B end" => ["function_definition"],
        "elseif $C\n  $$$B" => ["elseif_clause"],
        "@show $X" => ["macrocall_expression"],
    ];
    lua_fragments_are_read: "lang-lua", "lua", [
        "function $F($$$A) $$$B end" => ["function_declaration"],
        "if $C then $$$B end" => ["if_statement"],
        "elseif $C then $$$B" => ["elseif_statement"],
        "[$K] = $V" => ["field"],
        "$A .. $B" => ["expression_list"],
    ];
    make_fragments_are_read: "lang-make", "make", [
        "$T: $$$D" => ["rule"],
        "CC = $V" => ["variable_assignment"],
        "$(CC)" => ["variable_reference"],
    ];
    markdown_fragments_are_read: "lang-markdown", "markdown", [
        "# $TITLE" => ["section"],
        "- $X" => ["section"],
    ];
    nix_fragments_are_read: "lang-nix", "nix", [
        "pkgs.$X" => ["select_expression"],
        "$K = $V" => ["binding"],
        "a = 1;\nb = $V;" => ["binding binding"],
        "{ a = $V; $$$R }" => ["attrset_expression"],
        "$N ? $V" => ["formal"],
        "let $$$B in $X" => ["let_expression"],
    ];
    ocaml_fragments_are_read: "lang-ocaml", "ocaml", [
        "let $F $X = $B" => ["value_definition"],
        "| Some $X -> $Y" => ["| match_case"],
        "mutable $N : $T" => ["field_declaration"],
        "method $M = $B" => ["method_definition"],
        "~label:$V" => ["labeled_argument"],
        "$T list" => ["constructed_type"],
        "module type $S = sig $$$B end" => ["module_type_definition"],
    ];
    ocaml_interface_fragments_are_read: "lang-ocaml", "ocaml-interface", [
        "val $N : $T" => ["value_specification"],
    ];
    php_fragments_are_read: "lang-php", "php", [
        "$A = $B;" => ["expression_statement"],
        "$user->name" => ["member_access_expression"],
        "private $T $N;" => ["property_declaration"],
        "'key' => $V" => ["array_element_initializer", "match_conditional_expression"],
        "name: $V" => ["argument"],
        "string $N" => ["simple_parameter"],
        "catch ($T $E) { $$$B }" => ["catch_clause"],
        "case $X: return $Y;" => ["case_statement"],
        "class $A { $$$C }" => ["class_declaration"],
    ];
    powershell_fragments_are_read: "lang-powershell", "powershell", [
        "-Path $P" => ["command_parameter command_argument_sep array_literal_expression"],
        "Name = $V" => ["hash_entry"],
        "elseif ($C) { $$$B }" => ["elseif_clause"],
        "catch { $$$B }" => ["catch_clause"],
        "1 { $$$B }" => ["switch_clause"],
    ];
    proto_fragments_are_read: "lang-proto", "proto", [
        "message $M { $$$F }" => ["message"],
        "string $N = $I;" => ["field"],
        "$V = 0;" => ["enum_field"],
        "rpc $M($A) returns ($B);" => ["rpc"],
    ];
    python_fragments_are_read: "lang-python", "python", [
        "\"key\": $V" => ["pair"],
        "@$D" => ["decorator"],
        "except $E:\n    pass" => ["except_clause"],
        "case $P:\n    $$$B" => ["case_clause"],
        "verify=False" => ["expression_statement", "keyword_argument", "default_parameter"],
        "Optional[$T]" => ["type"],
        "$X = open($F)\n$$$B\n$X.close()" => ["expression_statement expression_statement expression_statement"],
        "else:\n    $$$B" => ["else_clause"],
        "elif $C:\n    $$$B" => ["elif_clause"],
        "numpy as $N" => ["aliased_import"],
        "for $X in $Y if $C" => ["for_in_clause if_clause"],
        "$N: $T" => ["typed_parameter", "pair"],
    ];
    r_fragments_are_read: "lang-r", "r", [
        "na.rm = $V" => ["argument", "parameter", "binary_operator"],
        "$X$name" => ["extract_operator"],
        "else { $$$B }" => ["else braced_expression"],
    ];
    regex_fragments_are_read: "lang-regex", "regex", [
        "(a|b)+" => ["pattern"],
    ];
    ruby_fragments_are_read: "lang-ruby", "ruby", [
        "puts $X" => ["call"],
        "key: $V" => ["pair", "keyword_parameter"],
        "rescue $E => $V\n  $$$B" => ["rescue"],
        "when $X then $Y" => ["when"],
        "elsif $C\n  $$$B" => ["elsif"],
        "{ |$X| $$$B }" => ["block"],
        "&:to_s" => ["block_argument"],
        "|$A, $B|" => ["block_parameters"],
        "{name: $N}" => ["hash", "hash_pattern"],
    ];
    sql_fragments_are_read: "lang-sql", "sql", [
        "SELECT $$$C FROM $T WHERE $X = 1" => ["statement", "select from"],
        "WHERE $X = 1" => ["where"],
        "LIMIT $N" => ["limit"],
        "$N TEXT NOT NULL" => ["column_definition"],
        "COUNT($X)" => ["select_expression"],
        "LEFT JOIN $T ON $A.id = $B.id" => ["join"],
        "FROM $T" => ["from"],
    ];
    toml_fragments_are_read: "lang-toml", "toml", [
        "version = $V" => ["pair"],
        "[package]\nname = $N\n$$$REST" => ["table"],
        "{ version = $V }" => ["inline_table"],
    ];
    xml_fragments_are_read: "lang-xml", "xml", [
        "<$T a=\"1\">$$$C</$T>" => ["content"],
        "name=$V" => ["Attribute"],
        "<bean id=$I $$$A/>" => ["content"],
    ];
    dtd_fragments_are_read: "lang-xml", "dtd", [
        "<!ELEMENT $N EMPTY>" => ["elementdecl"],
    ];
    yaml_fragments_are_read: "lang-yaml", "yaml", [
        "key: $V" => ["block_mapping_pair", "flow_pair"],
        "a: 1\nb: $V" => ["block_mapping_pair block_mapping_pair"],
        "- $X" => ["block_sequence_item"],
        "spec:\n  replicas: $N\n  $$$R" => ["block_mapping_pair"],
    ];
}

#[cfg(all(feature = "lang-dart", feature = "lang-rust", feature = "lang-java"))]
#[test]
fn an_expression_context_has_no_place_for_a_terminator() {
    for language in ["dart", "java", "rust"] {
        for kinds in kinds(language, "foo($X);") {
            assert!(
                !kinds.starts_with("call_expression ;"),
                "{language} reads it as {kinds}"
            );
            assert!(
                !kinds.starts_with("method_invocation ;"),
                "{language} reads it as {kinds}"
            );
        }
    }
}
