//! The table against a peer that writes down what it is told.

use std::sync::Mutex;

use host::framing::{FrameReader, Framing};
use tempfile::TempDir;
use tokio::io::{DuplexStream, duplex, split};

use super::*;
use crate::client::{Peer, ResponseError};

struct Nobody;

impl Peer for Nobody {
    fn answer(&self, _: &str, _: &Value) -> Result<Value, ResponseError> {
        Ok(Value::Null)
    }

    fn hear(&self, _: &str, _: Value) {}
}

struct Setting {
    folder: TempDir,
    client: Client,
    sync: Sync,
    seen: Seen,
    server: Mutex<FrameReader<DuplexStream>>,
}

impl Setting {
    fn new(saves: Save) -> Self {
        let (ours, theirs) = duplex(1 << 20);
        let (reader, writer) = split(ours);
        Self {
            folder: tempfile::tempdir().unwrap(),
            client: Client::start(reader, writer, Arc::new(Nobody)),
            sync: Sync {
                opens: true,
                changes: true,
                saves,
            },
            seen: Seen::new(PathBuf::from("/root"), Value::Null),
            server: Mutex::new(FrameReader::new(theirs, Framing::ContentLength)),
        }
    }

    fn wire(&self) -> Wire<'_> {
        Wire {
            client: &self.client,
            sync: self.sync,
            seen: &self.seen,
        }
    }

    fn write(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns what the server was told so far, shortly.
    #[expect(clippy::await_holding_lock, reason = "one task only")]
    async fn told(&self) -> Vec<String> {
        self.client.notify("end", &Value::Null).unwrap();
        let mut server = self.server.lock().unwrap();
        let mut told = Vec::new();
        loop {
            let frame = server.next().await.unwrap().unwrap();
            let message: Value = serde_json::from_slice(&frame).unwrap();
            let method = message["method"].as_str().unwrap();
            if method == "end" {
                return told;
            }
            told.push(short(method, &message["params"]));
        }
    }
}

fn short(method: &str, params: &Value) -> String {
    let method = method.rsplit('/').next().unwrap();
    let name = |uri: &Value| {
        let path = uri::to_path(uri.as_str().unwrap()).unwrap();
        path.file_name().unwrap().to_string_lossy().into_owned()
    };
    if let Some(changes) = params["changes"].as_array() {
        let changes = changes.iter();
        let changes = changes.map(|c| format!("{}={}", name(&c["uri"]), c["type"]));
        return format!("{method} {}", changes.collect::<Vec<_>>().join(" "));
    }
    let document = &params["textDocument"];
    let mut line = format!("{method} {}", name(&document["uri"]));
    if let Some(version) = document["version"].as_i64() {
        line.push_str(&format!(" v{version}"));
    }
    let text = [
        &document["text"],
        &params["text"],
        &params["contentChanges"][0]["text"],
    ];
    if let Some(text) = text.iter().find_map(|text| text.as_str()) {
        line.push_str(&format!(" {text:?}"));
    }
    line
}

#[tokio::test]
async fn pitfall_10_a_document_is_opened_once_and_closed_only_when_open() {
    let setting = Setting::new(Save::No);
    let path = setting.write("a.py", b"a\r\n");
    let mut documents = Documents::default();
    for _ in 0..2 {
        documents.open(&path, "python", &setting.wire()).unwrap();
    }
    documents
        .close(&path.with_extension("x"), &setting.wire())
        .unwrap();
    documents.close(&path, &setting.wire()).unwrap();
    documents.close(&path, &setting.wire()).unwrap();
    assert_eq!(
        setting.told().await,
        ["didOpen a.py v1 \"a\\r\\n\"", "didClose a.py"]
    );
}

#[tokio::test]
async fn pitfall_11_versions_grow_through_close_and_reopen() {
    let setting = Setting::new(Save::No);
    let path = setting.write("a.py", b"1");
    let mut documents = Documents::default();
    documents.open(&path, "python", &setting.wire()).unwrap();
    setting.write("a.py", b"22");
    documents.refresh(&setting.wire(), Vec::new()).unwrap();
    documents.close(&path, &setting.wire()).unwrap();
    let (document, _) = documents.open(&path, "python", &setting.wire()).unwrap();
    assert_eq!(document.version, 3);
    assert_eq!(
        setting.told().await,
        [
            "didOpen a.py v1 \"1\"",
            "didChangeWatchedFiles a.py=2",
            "didChange a.py v2 \"22\"",
            "didClose a.py",
            "didOpen a.py v3 \"22\"",
        ]
    );
}

#[tokio::test]
async fn pitfall_12_the_server_hears_of_files_before_documents_and_of_saves_last() {
    for (saves, last) in [
        (Save::WithoutText, "didSave a.py"),
        (Save::WithText, "didSave a.py \"22\""),
    ] {
        let setting = Setting::new(saves);
        let path = setting.write("a.py", b"1");
        let mut documents = Documents::default();
        documents.open(&path, "python", &setting.wire()).unwrap();
        setting.write("a.py", b"22");
        let new = setting.write("new.py", b"");
        let changes = vec![(new, Change::Created)];
        documents.refresh(&setting.wire(), changes).unwrap();
        assert_eq!(
            setting.told().await,
            [
                "didOpen a.py v1 \"1\"",
                "didChangeWatchedFiles new.py=1 a.py=2",
                "didChange a.py v2 \"22\"",
                last,
            ]
        );
    }
}

#[tokio::test]
async fn pitfall_13_a_document_whose_file_is_gone_is_closed() {
    let setting = Setting::new(Save::No);
    let path = setting.write("a.py", b"1");
    let mut documents = Documents::default();
    documents.open(&path, "python", &setting.wire()).unwrap();
    // Read again, and the same: nothing is sent.
    setting.write("a.py", b"1");
    documents.refresh(&setting.wire(), Vec::new()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let gone = documents.refresh(&setting.wire(), Vec::new()).unwrap();
    assert_eq!(gone, [path]);
    assert_eq!(
        setting.told().await,
        [
            "didOpen a.py v1 \"1\"",
            "didChangeWatchedFiles a.py=3",
            "didClose a.py"
        ]
    );
}

#[tokio::test]
async fn pitfall_15_marks_are_left_out_and_what_is_no_text_is_refused() {
    let setting = Setting::new(Save::No);
    let marked = setting.write("bom.py", b"\xef\xbb\xbfa\r\x0cb");
    let latin = setting.write("latin.py", b"caf\xe9");
    let large = setting.write("large.py", &vec![b'a'; 2 * 1024 * 1024 + 1]);
    let mut documents = Documents::default();
    let (document, _) = documents.open(&marked, "python", &setting.wire()).unwrap();
    assert_eq!(document.text.text(), "a\r\u{c}b");
    assert_eq!(document.text.line_count(), 2);
    let mut refused = |path| documents.open(path, "python", &setting.wire()).unwrap_err();
    assert!(matches!(refused(&latin), DocumentError::NotUtf8(_)));
    assert!(matches!(
        refused(&large),
        DocumentError::TooLarge { bytes: 2_097_153 }
    ));
    assert!(matches!(
        refused(&large.with_extension("gone")),
        DocumentError::Unreadable(_)
    ));
}

#[tokio::test]
async fn pitfall_17_documents_used_least_recently_are_closed() {
    let setting = Setting::new(Save::No);
    let mut documents = Documents::default();
    let mut closed = Vec::new();
    for number in 0..MAX_OPEN + 2 {
        let path = setting.write(&format!("{number}.py"), b"");
        closed.extend(documents.open(&path, "python", &setting.wire()).unwrap().1);
        // The first stays in use.
        let first = setting.folder.path().join("0.py");
        documents.open(&first, "python", &setting.wire()).unwrap();
    }
    let root = setting.folder.path();
    assert_eq!(closed, [root.join("1.py"), root.join("2.py")]);
    assert_eq!(documents.len(), MAX_OPEN);
}
