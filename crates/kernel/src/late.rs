//! Output that comes after its cell has ended: of threads and children that
//! live on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinSet;

use crate::clean::{Cleaner, Piece};
use crate::output::Ends;

/// What earlier cells have written since they ended.
#[derive(Debug, Default)]
pub(crate) struct Late {
    outputs: Vec<(u64, Arc<Mutex<Output>>)>,
    readers: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Output {
    text: Ends,
    is_closed: bool,
}

impl Late {
    /// Goes on reading the output of `cell`, which has ended, for as long as
    /// anybody can write to it.
    pub(crate) fn watch(&mut self, cell: u64, pipe: pipe::Receiver, token: &str) {
        let output = Arc::new(Mutex::new(Output::default()));
        self.outputs.push((cell, Arc::clone(&output)));
        let cleaner = Cleaner::new(token);
        self.readers.spawn(read(pipe, cleaner, output));
        while self.readers.try_join_next().is_some() {}
    }

    /// Takes what came since, with the number of the cell that wrote it.
    pub(crate) fn take(&mut self) -> Vec<(u64, String)> {
        let mut texts = Vec::new();
        self.outputs.retain(|(cell, output)| {
            let mut output = lock(output);
            if !output.text.is_empty() {
                let text = std::mem::take(&mut output.text);
                texts.push((*cell, text.to_text("")));
            }
            !output.is_closed
        });
        texts
    }
}

async fn read(mut pipe: pipe::Receiver, mut cleaner: Cleaner, output: Arc<Mutex<Output>>) {
    let mut buffer = vec![0; 4 * 1024];
    loop {
        match pipe.read(&mut buffer).await {
            Ok(0) | Err(_) => {
                lock(&output).is_closed = true;
                return;
            }
            Ok(count) => {
                let mut output = lock(&output);
                cleaner.feed(buffer.get(..count).unwrap_or_default(), |piece| {
                    if let Piece::Text(text) = piece {
                        output.text.push(text);
                    }
                });
            }
        }
    }
}

/// Nothing panics while it holds the lock, and the bytes are sound regardless.
fn lock(output: &Mutex<Output>) -> MutexGuard<'_, Output> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}
