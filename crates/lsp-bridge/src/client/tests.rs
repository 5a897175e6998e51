//! The client against a peer that is written out by hand.

use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};

use super::*;

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Peer for Heard {
    fn answer(&self, method: &str, _: &Value) -> Result<Value, ResponseError> {
        match method {
            "known" => Ok(json!([null])),
            other => Err(ResponseError::new(message::METHOD_NOT_FOUND, other)),
        }
    }

    fn hear(&self, method: &str, _: Value) {
        self.0.lock().unwrap().push(method.to_owned());
    }
}

struct Server {
    reader: FrameReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Server {
    async fn next(&mut self) -> Value {
        let frame = self.reader.next().await.unwrap().unwrap();
        serde_json::from_slice(&frame).unwrap()
    }

    async fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let frame = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.writer.write_all(frame.as_bytes()).await.unwrap();
    }
}

fn pair(size: usize) -> (Arc<Client>, Server, Arc<Heard>) {
    let (ours, theirs) = duplex(size);
    let (reader, writer) = split(ours);
    let heard = Arc::new(Heard::default());
    let client = Client::start(reader, writer, Arc::clone(&heard) as Arc<dyn Peer>);
    let (reader, writer) = split(theirs);
    let reader = FrameReader::new(reader, Framing::ContentLength);
    (Arc::new(client), Server { reader, writer }, heard)
}

async fn why_closed(client: &Client) -> Arc<str> {
    let mut closed = client.closed();
    let why = closed.wait_for(Option::is_some).await.unwrap();
    why.clone().unwrap()
}

fn in_ms(milliseconds: u64) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds)
}

#[tokio::test]
async fn pitfall_1_requests_of_the_server_are_answered_while_ours_waits() {
    let (client, mut server, _) = pair(4096);
    let asking = tokio::spawn(async move {
        let reply = client.request("ours", &Value::Null, in_ms(5000)).await;
        (client, reply)
    });
    assert_eq!(server.next().await["method"], "ours");
    for id in [json!(1), json!("one")] {
        server.send(&json!({ "id": id, "method": "known" })).await;
        let answer = server.next().await;
        assert_eq!((&answer["id"], &answer["result"]), (&id, &json!([null])));
    }
    server.send(&json!({ "id": 9, "method": "unknown" })).await;
    assert_eq!(server.next().await["error"]["code"], -32601);
    server.send(&json!({ "id": 1, "result": "done" })).await;
    assert_eq!(asking.await.unwrap().1.unwrap(), "done");
}

#[tokio::test]
async fn pitfall_3_noise_and_split_packets_are_read() {
    let (client, mut server, heard) = pair(64);
    let noise = b"a line of noise\ncontent-type: x\r\nCONTENT-length: 14\r\n\r\n{\"method\":\"a\"}Content-Length: 5\r\n\r\nwrongContent-Length: 14\r\n\r\n{\"method\":\"b\"}";
    for byte in noise {
        server.writer.write_all(&[*byte]).await.unwrap();
        server.writer.flush().await.unwrap();
    }
    server.writer.shutdown().await.unwrap();
    assert_eq!(&*why_closed(&client).await, "it closed its output");
    assert_eq!(*heard.0.lock().unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn pitfall_4_a_server_that_writes_before_it_reads_is_no_deadlock() {
    let (client, mut server, heard) = pair(1024);
    let text = "x".repeat(1 << 20);
    client.notify("big", &json!({ "text": text })).unwrap();
    server
        .send(&json!({ "method": "bigger", "params": text }))
        .await;
    assert_eq!(server.next().await["method"], "big");
    assert_eq!(*heard.0.lock().unwrap(), ["bigger"]);
}

#[tokio::test]
async fn pitfall_4_a_server_that_does_not_read_fills_no_memory() {
    let (client, _server, _) = pair(1024);
    let text = json!("x".repeat(16 << 20));
    let error = loop {
        if let Err(error) = client.notify("big", &text) {
            break error;
        }
    };
    assert!(matches!(error, RequestError::NotReading { .. }), "{error}");
}

#[tokio::test]
async fn pitfall_5_a_deadline_cancels_and_a_late_reply_is_dropped() {
    let (client, mut server, _) = pair(4096);
    let error = client.request("slow", &Value::Null, in_ms(20)).await;
    assert!(matches!(error, Err(RequestError::Timeout { .. })));
    let id = server.next().await["id"].clone();
    let cancelled = server.next().await;
    assert_eq!(cancelled["method"], "$/cancelRequest");
    assert_eq!(cancelled["params"]["id"], id);
    server.send(&json!({ "id": id, "result": "late" })).await;

    let asking = client.request("quick", &Value::Null, in_ms(5000));
    let answering = async {
        let id = server.next().await["id"].clone();
        server.send(&json!({ "id": id, "result": "now" })).await;
    };
    assert_eq!(tokio::join!(asking, answering).0.unwrap(), "now");
    assert_eq!(client.in_flight(), 0);
}

#[tokio::test]
async fn pitfall_5_a_dropped_request_is_cancelled() {
    let (client, mut server, _) = pair(4096);
    let asking = {
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.request("slow", &Value::Null, in_ms(60_000)).await })
    };
    let id = server.next().await["id"].clone();
    asking.abort();
    assert_eq!(server.next().await["params"]["id"], id);
}

#[tokio::test]
async fn pitfall_6_changed_contents_are_asked_again_inside_the_deadline() {
    let (client, mut server, _) = pair(4096);
    let asking = client.request("m", &Value::Null, in_ms(5000));
    let answering = async {
        for code in [-32801, -32802, -32800] {
            let id = server.next().await["id"].clone();
            let error = json!({ "code": code, "message": "later" });
            server.send(&json!({ "id": id, "error": error })).await;
        }
        let id = server.next().await["id"].clone();
        server.send(&json!({ "id": id, "result": 1 })).await;
    };
    assert_eq!(tokio::join!(asking, answering).0.unwrap(), 1);

    // At the deadline it is an error, never an empty answer.
    let asking = client.request("m", &Value::Null, in_ms(120));
    let answering = async {
        for _ in 0..2 {
            let id = server.next().await["id"].clone();
            let error = json!({ "code": -32801, "message": "later" });
            server.send(&json!({ "id": id, "error": error })).await;
        }
    };
    let (refused, ()) = tokio::join!(asking, answering);
    assert!(matches!(refused, Err(RequestError::Refused(error)) if error.code == -32801));
}

#[tokio::test]
async fn pitfall_46_a_closed_stream_ends_every_request_at_once() {
    let (client, mut server, _) = pair(4096);
    let asking = {
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.request("slow", &Value::Null, in_ms(60_000)).await })
    };
    server.next().await;
    drop(server);
    let error = asking.await.unwrap();
    assert!(
        matches!(error, Err(RequestError::Closed { .. })),
        "{error:?}"
    );
    assert!(client.is_closed());
    let error = client.request("next", &Value::Null, in_ms(60_000)).await;
    assert!(matches!(error, Err(RequestError::Closed { .. })));
}

#[tokio::test]
async fn garbage_instead_of_a_header_ends_the_conversation_with_a_reason() {
    let (ours, mut theirs) = duplex(4096);
    let (reader, writer) = split(ours);
    let client = Client::start(reader, writer, Arc::new(Heard::default()));
    let garbage = tokio::spawn(async move {
        // It may be hung up on in the middle.
        let _ = theirs.write_all(&[b'g'; 200_000]).await;
        let _ = theirs.read_to_end(&mut Vec::new()).await;
    });
    let why = why_closed(&client).await;
    assert!(why.contains("a header line is longer"), "{why}");
    drop(client);
    garbage.await.unwrap();
}
