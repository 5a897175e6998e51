//! Spreads work over threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` for each number below `count`, on up to `threads` threads, and
/// returns the results in order.
///
/// Each thread has a state of its own from `start`. Returns `None` once `work`
/// does: then not every number was worked on.
pub(crate) fn map<S, T: Send>(
    count: usize,
    threads: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let next = AtomicUsize::new(0);
    let has_ended = AtomicBool::new(false);
    let results = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<T>>>());
    let run = || {
        let mut state = start();
        while !has_ended.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let Some(result) = work(&mut state, at) else {
                has_ended.store(true, Ordering::Relaxed);
                return;
            };
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(slot) = results.get_mut(at) {
                *slot = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        for threads in [0, 1, 2, 7] {
            let squares = map(100, threads, || (), |(), n| Some(n * n));
            let wanted: Vec<usize> = (0..100).map(|n| n * n).collect();
            assert_eq!(squares, Some(wanted));
        }
        assert_eq!(map(0, 2, || (), |(), n| Some(n)), Some(Vec::new()));
    }

    #[test]
    fn nothing_is_returned_once_the_work_ends_early() {
        let done = map(100, 2, || (), |(), n| (n != 50).then_some(n));
        assert_eq!(done, None);
    }
}
