use std::pin::Pin;
use std::task::{Context, Poll};

use proptest::prelude::*;
use tokio::io::ReadBuf;

use super::*;

/// A stream that gives its bytes in pieces of the given sizes, over and over.
struct Pieces {
    bytes: Vec<u8>,
    sizes: Vec<usize>,
    turn: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let turn = self.turn;
        self.turn += 1;
        if turn % 3 == 1 {
            context.waker().wake_by_ref(); // not ready now and then
            return Poll::Pending;
        }
        let size = self.sizes[turn % self.sizes.len()];
        let count = size.min(self.bytes.len()).min(buffer.remaining());
        let piece: Vec<u8> = self.bytes.drain(..count).collect();
        buffer.put_slice(&piece);
        Poll::Ready(Ok(()))
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Reads all of `bytes`; an error ends the list unless reading can go on.
fn read_all(
    framing: Framing,
    limit: usize,
    bytes: &[u8],
    sizes: &[usize],
) -> (Vec<Result<String, String>>, Option<Skipped>) {
    let stream = Pieces {
        bytes: bytes.to_vec(),
        sizes: sizes.to_vec(),
        turn: 0,
    };
    let mut reader = FrameReader::with_limit(stream, framing, limit);
    let mut found = Vec::new();
    block_on(async {
        loop {
            match reader.next().await {
                Ok(None) => break,
                Ok(Some(message)) => found.push(Ok(String::from_utf8(message).unwrap())),
                Err(error) => {
                    let can_go_on = matches!(error, FrameError::TooLarge { .. });
                    found.push(Err(error.to_string()));
                    if !can_go_on {
                        break;
                    }
                }
            }
        }
    });
    (found, reader.take_skipped())
}

#[track_caller]
fn check(framing: Framing, limit: usize, stream: &str, expected: &[Result<&str, &str>]) {
    let expected: Vec<Result<String, String>> = expected
        .iter()
        .map(|item| item.map(str::to_owned).map_err(str::to_owned))
        .collect();
    for size in [1, 2, 3, 7, 100_000] {
        let (found, _) = read_all(framing, limit, stream.as_bytes(), &[size]);
        assert_eq!(found, expected, "in pieces of {size}");
    }
}

#[test]
fn headers_are_read_leniently() {
    for stream in [
        "Content-Length: 2\r\n\r\n{}",
        "Content-Length: 2\n\n{}",
        "content-length:2\r\n\r\n{}",
        "CONTENT-LENGTH:   2  \r\n\r\n{}",
        "Content-Type: application/x; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\nX-Trace: 1\r\nContent-Type: y\r\n\r\n{}",
        "X-Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "\r\n\n\r\nContent-Length: 2\r\n\r\n{}",
        "\u{feff}Content-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\n\r\n{}\r\n",
    ] {
        check(Framing::ContentLength, 100, stream, &[Ok("{}")]);
    }
}

#[test]
fn noise_between_messages_is_skipped_and_reported() {
    let stream = "starting up\nlistening on: 1\r\n\r\nContent-Length: 1\r\n\r\n1oops, Content-Length: 1\r\n\r\n2bye";
    let (found, skipped) = read_all(Framing::ContentLength, 10, stream.as_bytes(), &[5, 1]);
    assert_eq!(found, [Ok("1".to_owned()), Ok("2".to_owned())]);
    let skipped = skipped.unwrap();
    assert_eq!(
        skipped.first_lines,
        ["starting up", "listening on: 1", "oops,", "bye"]
    );
    assert_eq!(skipped.lines, 4);
}

#[test]
fn much_noise_is_counted_but_not_kept() {
    let stream = format!("{}\n", "x".repeat(1000)).repeat(500);
    let (found, skipped) = read_all(Framing::ContentLength, 10, stream.as_bytes(), &[999]);
    assert_eq!(found, []);
    let skipped = skipped.unwrap();
    assert_eq!((skipped.lines, skipped.bytes), (500, 500_000));
    assert_eq!(skipped.first_lines.len(), 20);
    assert!(skipped.first_lines.iter().all(|line| line.len() == 200));
}

#[test]
fn an_empty_message_is_a_message() {
    let stream = "Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1";
    check(Framing::ContentLength, 10, stream, &[Ok(""), Ok("1")]);
}

#[test]
fn a_message_over_the_limit_is_named_and_reading_goes_on() {
    let message = "cannot transfer a message: it has 4 bytes or more, the limit is 3";
    let stream = "Content-Length: 4\r\n\r\n1234Content-Length: 3\r\n\r\n123";
    check(
        Framing::ContentLength,
        3,
        stream,
        &[Err(message), Ok("123")],
    );
    check(
        Framing::NewlineJson,
        3,
        "1234\n123\r\n12\n",
        &[Err(message), Ok("123"), Ok("12")],
    );
}

#[test]
fn a_length_that_does_not_fit_in_memory_is_over_the_limit() {
    let stream = "Content-Length: 18446744073709551615\r\n\r\n1";
    let (found, _) = read_all(Framing::ContentLength, 10, stream.as_bytes(), &[8]);
    assert_eq!(
        found,
        [
            Err("cannot transfer a message: it has 18446744073709551615 bytes or more, the limit is 10".to_owned()),
            Err("cannot read a message: the stream ended inside it, after 0 bytes".to_owned()),
        ]
    );
}

#[test]
fn a_line_far_over_the_limit_is_skipped_without_keeping_it() {
    let stream = format!("{}\n1\n", "9".repeat(300_000));
    let (found, _) = read_all(Framing::NewlineJson, 10, stream.as_bytes(), &[1000]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].as_ref().unwrap_err().ends_with("the limit is 10"));
    assert_eq!(found[1], Ok("1".to_owned()));
}

#[test]
fn lengths_that_are_no_numbers_are_errors() {
    for (value, shown) in [
        ("abc", "abc"),
        ("-1", "-1"),
        ("+1", "+1"),
        ("1 2", "1 2"),
        ("", ""),
        ("99999999999999999999", "99999999999999999999"),
        ("1\r\nContent-Length: 2", "1, 2"),
    ] {
        check(
            Framing::ContentLength,
            10,
            &format!("Content-Length: {value}\r\n\r\n{{}}"),
            &[Err(&format!(
                "cannot read a message: `{shown}` is no content length"
            ))],
        );
    }
}

#[test]
fn a_header_line_without_end_is_an_error_not_a_leak() {
    let stream = "x".repeat(70_000);
    check(
        Framing::ContentLength,
        10,
        &stream,
        &[Err(
            "cannot read a message: a header line is longer than 65536 bytes",
        )],
    );
}

#[test]
fn a_stream_that_ends_inside_a_message_is_an_error() {
    for (stream, bytes) in [
        ("Content-Length: 5\r\n\r\n{}", 2),
        ("Content-Length: 5\r\n\r\n", 0),
        ("Content-Length: 5\r\n", 0),
        ("Content-Length: 5", 17),
        ("Conten", 6),
    ] {
        check(
            Framing::ContentLength,
            10,
            stream,
            &[Err(&format!(
                "cannot read a message: the stream ended inside it, after {bytes} bytes"
            ))],
        );
    }
    check(
        Framing::NewlineJson,
        100,
        "1\n{\"a\": ",
        &[
            Ok("1"),
            Err("cannot read a message: the stream ended inside it, after 6 bytes"),
        ],
    );
}

#[test]
fn lines_may_be_blank_end_in_either_way_and_lack_the_last_break() {
    check(
        Framing::NewlineJson,
        10,
        "\u{feff}1\n\n  \r\n2\r\n{not json}\n3",
        &[Ok("1"), Ok("2"), Ok("{not json}"), Ok("3")],
    );
    check(Framing::NewlineJson, 10, "", &[]);
    check(Framing::NewlineJson, 10, "\n\n", &[]);
}

proptest! {
    #[test]
    fn what_is_written_is_read_however_it_is_cut(
        messages in proptest::collection::vec("[^\r\n]{1,40}", 0..8),
        sizes in proptest::collection::vec(1usize..50, 1..6),
        by_line in any::<bool>(),
    ) {
        let framing = if by_line { Framing::NewlineJson } else { Framing::ContentLength };
        let messages: Vec<String> = messages
            .into_iter()
            .map(|text| serde_json::to_string(&text).unwrap())
            .collect();
        let mut writer = FrameWriter::new(Vec::new(), framing);
        block_on(async {
            for message in &messages {
                writer.write(message.as_bytes()).await.unwrap();
            }
        });
        let (found, skipped) = read_all(framing, DEFAULT_LIMIT, &writer.into_inner(), &sizes);
        prop_assert_eq!(found, messages.into_iter().map(Ok).collect::<Vec<_>>());
        prop_assert_eq!(skipped, None);
    }

    #[test]
    fn cutting_never_changes_what_arbitrary_bytes_mean(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("Content-Length: 3\r\n\r\nabc".to_owned()),
                Just("Content-Length: 9".to_owned()),
                Just("\r\n".to_owned()), Just("\n".to_owned()), Just("-".to_owned()),
                "[ -~]{0,12}",
            ],
            0..12,
        ),
        sizes in proptest::collection::vec(1usize..9, 1..5),
        by_line in any::<bool>(),
    ) {
        let framing = if by_line { Framing::NewlineJson } else { Framing::ContentLength };
        let bytes = pieces.concat().into_bytes();
        let whole = read_all(framing, 8, &bytes, &[usize::MAX]);
        let mut cut = read_all(framing, 8, &bytes, &sizes);
        // How much of an overlong line had come when it was noticed may differ.
        let mut whole = whole;
        for list in [&mut whole.0, &mut cut.0] {
            for item in list.iter_mut() {
                if let Err(text) = item && text.contains("or more") {
                    *text = "too large".to_owned();
                }
            }
        }
        prop_assert_eq!(whole, cut);
    }
}

/// A stream that takes a few bytes and then waits for ever, until it is opened.
struct Valve {
    taken: Vec<u8>,
    room: usize,
}

impl AsyncWrite for Valve {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let count = bytes.len().min(self.room);
        if count == 0 {
            return Poll::Pending;
        }
        self.room -= count;
        self.taken.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_dropped_write_is_completed_by_the_next() {
    let valve = Valve {
        taken: Vec::new(),
        room: 3,
    };
    let mut writer = FrameWriter::new(valve, Framing::NewlineJson);
    block_on(async {
        let mut first = Box::pin(writer.write(b"[1,2]"));
        let polled = std::future::poll_fn(|context| Poll::Ready(first.as_mut().poll(context)));
        assert!(polled.await.is_pending());
        drop(first);
        writer.stream.room = 100;
        writer.write(b"3").await.unwrap();
    });
    assert_eq!(writer.into_inner().taken, b"[1,2]\n3\n");
}

#[test]
fn a_dropped_read_loses_nothing() {
    block_on(async {
        let (mut ours, theirs) = tokio::io::duplex(64);
        let mut reader = FrameReader::new(theirs, Framing::ContentLength);
        for byte in b"Content-Length: 3\r\n\r\nab" {
            ours.write_all(&[*byte]).await.unwrap();
            let mut next = Box::pin(reader.next());
            let polled = std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context)));
            assert!(polled.await.is_pending());
        }
        ours.write_all(b"c").await.unwrap();
        assert_eq!(reader.next().await.unwrap().unwrap(), b"abc");
    });
}

#[test]
fn messages_that_would_break_the_framing_are_not_written() {
    let mut writer = FrameWriter::with_limit(Vec::new(), Framing::NewlineJson, 4);
    block_on(async {
        for (message, text) in [
            (
                &b"1\n2"[..],
                "cannot write a message: it holds a line break, and lines separate messages",
            ),
            (
                b"12345",
                "cannot transfer a message: it has 5 bytes or more, the limit is 4",
            ),
        ] {
            assert_eq!(writer.write(message).await.unwrap_err().to_string(), text);
        }
        writer.write_json(&"ok").await.unwrap();
    });
    assert_eq!(writer.into_inner(), b"\"ok\"\n");
}
