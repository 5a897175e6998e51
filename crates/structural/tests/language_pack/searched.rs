//! What a loaded grammar can do.

use serde_json::json;
use structural::languages::table;
use structural::{GrammarSource as _, Pattern, search_text};

use crate::grammars::{Place, text};

const ZIG: &str = "\
const std = @import(\"std\");
pub fn main() !void {
    const name = try read();
    std.debug.print(\"{s}\", .{name});
    if (name.len == 0) return;
}
";

const GDSCRIPT: &str = "\
extends Node
var speed = 4
func _ready():
\tenemy.queue_free()
\tif speed > limit(speed):
\t\tself.queue_free()
func _process(delta):
\tmove(speed * delta, delta)
";

#[test]
fn a_language_of_the_table_is_read_as_if_it_were_compiled_in() {
    let Some(place) = Place::new().grammar("zig") else {
        return;
    };
    let pack = place.open().unwrap();
    let row = table().iter().find(|row| row.id == "zig").unwrap();
    assert!(row.grammar.is_none(), "the grammar is linked in");
    assert!(pack.languages().by_id("zig").is_some());
    let grammar = pack.grammar("zig").unwrap();
    // The row as it is, not one with contexts added.
    assert_eq!(grammar.language().contexts.len(), row.contexts.len());
    for context in row.contexts {
        Pattern::compile(context.example, &grammar)
            .unwrap_or_else(|error| panic!("{:?}: {error:?}", context.example));
    }
}

#[test]
fn files_of_a_loaded_language_are_found_by_their_names() {
    let Some(place) = Place::new().grammar("zig") else {
        return;
    };
    let place = place
        .file("a.zig", ZIG)
        .file("b.rs", "fn f() { g().h(); }\n");
    for (pattern, lines) in [
        ("std.debug.print($$$A)", vec![4]),
        ("const $N = try $X;", vec![3]),
        ("if ($X.len == 0) return;", vec![5]),
        ("const $N = $X;", vec![1, 3]),
    ] {
        assert_eq!(place.lines(pattern, "zig"), lines, "{pattern}");
    }
    // Both languages at once, by file name.
    let output = place.search(json!({ "pattern": "$X.$M($$$A)" })).unwrap();
    let searched = &output.details["searched"];
    assert_eq!(
        searched,
        &json!({ "rust": 1, "zig": 1 }),
        "{}",
        text(&output)
    );
}

#[test]
fn a_language_without_a_row_is_read_in_general_contexts() {
    let Some(place) = Place::new().grammar("gdscript") else {
        return;
    };
    let place = place.file("player.gd", GDSCRIPT);
    for (pattern, lines) in [
        ("$X.queue_free()", vec![4, 6]),
        ("limit($A)", vec![5]),
        ("$A * $B", vec![8]),
        ("move($$$A, delta)", vec![8]),
        ("var $N = $V", vec![2]),
        ("if $C:\n\tself.queue_free()", vec![5]),
        ("func $N($$$A):\n\tmove($$$B)", vec![7]),
        ("$X.no_such()", vec![]),
    ] {
        assert_eq!(place.lines(pattern, "gdscript"), lines, "{pattern}");
    }
    // Without a language the ending says it, and names are as free as others'.
    let output = place
        .search(json!({ "pattern": "$X.queue_free()" }))
        .unwrap();
    assert_eq!(output.details["total"], json!(2), "{}", text(&output));
    for name in ["GDScript", ".gd", "gd"] {
        assert_eq!(place.lines("limit($A)", name), [5], "{name}");
    }
}

#[test]
fn what_is_compiled_in_is_not_replaced() {
    let place = Place::new()
        .bytes("rust", b"junk")
        .file("a.rs", "fn f() { g(1); }\n");
    assert_eq!(place.lines("g($X)", "rust"), [1]);
}

#[test]
fn a_grammar_is_loaded_once_for_all_threads() {
    let Some(place) = Place::new().grammar("zig") else {
        return;
    };
    let pack = place.open().unwrap();
    let grammars: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| pack.grammar("zig")))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap().unwrap())
            .collect()
    });
    let pattern = Pattern::compile("const $N = $X;", &grammars[0]).unwrap();
    assert_eq!(search_text(&grammars[7], &pattern, ZIG).unwrap().len(), 2);
    for grammar in &grammars {
        assert!(std::sync::Arc::ptr_eq(grammar, &grammars[0]));
    }
    // What was loaded outlives the source it came from.
    drop(pack);
    assert_eq!(search_text(&grammars[0], &pattern, ZIG).unwrap().len(), 2);
}
