//! What a cell means.

use crate::support::Notebook;

#[tokio::test]
async fn a_cell_gives_the_value_of_its_last_expression() {
    let notebook = Notebook::open();
    let first = notebook.run("1+1 # c").await;
    assert_eq!(first.value(), Some("2"), "{}", first.text);
    first.has("python 3.");
    let second = notebook.run("print('a')\n_ + 1").await;
    assert_eq!(second.text, "a\nvalue: 3");
    let third = notebook.run("x = 5").await;
    assert_eq!(third.text, "no output");
    let fourth = notebook
        .run("import asyncio\nawait asyncio.sleep(0.01, 7)")
        .await;
    assert_eq!(fourth.value(), Some("7"), "{}", fourth.text);
    let fifth = notebook.run("y = 1\n1/0").await;
    println!("{}", fifth.text);
}
