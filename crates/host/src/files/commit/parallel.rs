//! Waits for the disk with several files at once: a disk that is asked for one
//! file at a time takes many times as long.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that are worth a thread of their own.
const ITEMS_PER_THREAD: usize = 4;
/// More waits than this at once do not make a disk faster.
const MAX_THREADS: usize = 8;

/// Returns `work` of every item, in their order.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = (items.len() / ITEMS_PER_THREAD).min(MAX_THREADS);
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            match items.get(index) {
                Some(item) => done.push((index, work(item))),
                None => return done,
            }
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    });
    all.sort_by_key(|&(index, _)| index);
    all.into_iter().map(|(_, result)| result).collect()
}
