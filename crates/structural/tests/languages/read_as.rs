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
}
