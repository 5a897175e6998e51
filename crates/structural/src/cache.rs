//! Keeps the trees of files between the searches of one run, and which files
//! hold no match by their text alone where that takes time to find.
//!
//! Parsing is most of what a search costs, and an agent searches the same tree
//! again and again. A file is read at every search all the same: its bytes
//! decide whether the tree is still right, so that no clock and no file system
//! has to be trusted.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::grammar::Grammar;
use crate::tree::PackedTree;

/// Memory that the trees kept in a run may take by default, in bytes.
pub const DEFAULT_CACHE_BYTES: usize = 128 * 1024 * 1024;

/// Bytes that an entry takes beside its tree and its path, about.
const ENTRY_BYTES: usize = 160;

/// Bytes that the memory of a refused file takes, about.
const REFUSED_BYTES: usize = 48;

/// The trees of the files searched in a run.
#[derive(Default)]
pub(crate) struct TreeCache {
    hasher: RandomState,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// By language id, since a header is parsed as C and as C++.
    trees: HashMap<&'static str, HashMap<PathBuf, Entry>>,
    /// By [`Plan::key`], the contents that it refuses.
    ///
    /// [`Plan::key`]: crate::plan::Plan::key
    refused: HashMap<u64, Refused>,
    bytes: usize,
    budget: usize,
    /// The number of the search that goes on.
    search: u64,
    /// The last search in which room was made.
    swept: u64,
}

#[derive(Default)]
struct Refused {
    contents: HashSet<Fingerprint>,
    /// The last search that used it.
    search: u64,
}

struct Entry {
    tree: Arc<PackedTree>,
    /// Whose kinds the tree speaks of.
    grammar: Arc<Grammar>,
    content: Fingerprint,
    /// The last search that used it.
    search: u64,
}

/// What tells one content of a file from another.
///
/// The hash is keyed at random for each run, so that no file can be made to
/// pass for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint {
    len: usize,
    hash: u64,
}

/// Where the tree of one file is kept.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'c> {
    pub(crate) cache: &'c TreeCache,
    pub(crate) path: &'c Path,
    pub(crate) grammar: &'c Arc<Grammar>,
}

impl TreeCache {
    /// Begins a search with so much memory, in bytes.
    pub(crate) fn begin(&self, budget: usize) {
        let mut kept = self.lock();
        kept.search += 1;
        kept.budget = budget;
    }

    /// Returns the fingerprint of a content.
    pub(crate) fn fingerprint(&self, content: &[u8]) -> Fingerprint {
        Fingerprint {
            len: content.len(),
            hash: self.hasher.hash_one(content),
        }
    }

    /// Whether a plan is known to refuse a content.
    pub(crate) fn is_refused(&self, plan: u64, content: Fingerprint) -> bool {
        let mut kept = self.lock();
        let search = kept.search;
        kept.refused.get_mut(&plan).is_some_and(|refused| {
            refused.search = search;
            refused.contents.contains(&content)
        })
    }

    /// Notes that a plan refuses a content, if there is room.
    pub(crate) fn refuse(&self, plan: u64, content: Fingerprint) {
        let mut kept = self.lock();
        let search = kept.search;
        if !kept.has_room(REFUSED_BYTES) {
            return;
        }
        let refused = kept.refused.entry(plan).or_default();
        refused.search = search;
        if refused.contents.insert(content) {
            kept.bytes += REFUSED_BYTES;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Returns the tree of the file, if one of this content is kept.
    pub(crate) fn get(&self, content: Fingerprint) -> Option<Arc<PackedTree>> {
        let mut kept = self.cache.lock();
        let search = kept.search;
        let trees = kept.trees.get_mut(self.grammar.language().id)?;
        let entry = trees.get_mut(self.path)?;
        entry.search = search;
        (entry.content == content && Arc::ptr_eq(&entry.grammar, self.grammar))
            .then(|| Arc::clone(&entry.tree))
    }

    /// Keeps a tree if there is room, or if trees that this search and the one
    /// before it did not use make room.
    pub(crate) fn put(&self, content: Fingerprint, tree: PackedTree) {
        let mut kept = self.cache.lock();
        let kept = &mut *kept;
        let id = self.grammar.language().id;
        if let Some(old) = kept.trees.entry(id).or_default().remove(self.path) {
            kept.bytes -= size(self.path, &old.tree);
        }
        let size = size(self.path, &tree);
        if !kept.has_room(size) {
            return;
        }
        kept.bytes += size;
        let entry = Entry {
            tree: Arc::new(tree),
            grammar: Arc::clone(self.grammar),
            content,
            search: kept.search,
        };
        let trees = kept.trees.entry(id).or_default();
        trees.insert(self.path.to_owned(), entry);
    }
}

impl Kept {
    /// Whether so many bytes more may be kept, or what two searches did not use
    /// made room for them.
    fn has_room(&mut self, bytes: usize) -> bool {
        if self.bytes + bytes > self.budget && self.swept < self.search {
            self.forget_unused();
        }
        self.bytes + bytes <= self.budget
    }

    fn forget_unused(&mut self) {
        self.swept = self.search;
        let before = self.search.saturating_sub(1);
        let bytes = &mut self.bytes;
        for trees in self.trees.values_mut() {
            trees.retain(|path, entry| {
                let is_used = entry.search >= before;
                if !is_used {
                    *bytes -= size(path, &entry.tree);
                }
                is_used
            });
        }
        self.refused.retain(|_, refused| {
            let is_used = refused.search >= before;
            if !is_used {
                *bytes -= refused.contents.len() * REFUSED_BYTES;
            }
            is_used
        });
    }
}

fn size(path: &Path, tree: &PackedTree) -> usize {
    ENTRY_BYTES + path.as_os_str().len() + tree.len()
}

#[cfg(all(test, feature = "lang-python"))]
mod tests {
    use tree_sitter::Parser;

    use super::*;
    use crate::grammar::{CompiledGrammars, GrammarSource as _};
    use crate::tree::FlatTree;

    fn tree(grammar: &Grammar, text: &str) -> FlatTree {
        let mut parser = Parser::new();
        parser.set_language(grammar.parser_language()).unwrap();
        FlatTree::whole(&parser.parse(text, None).unwrap())
    }

    /// Searches one file for its tree, as a search does.
    fn visit(cache: &TreeCache, grammar: &Arc<Grammar>, path: &str, text: &str) -> bool {
        let slot = Slot {
            cache,
            path: Path::new(path),
            grammar,
        };
        let content = cache.fingerprint(text.as_bytes());
        let is_kept = slot.get(content).is_some();
        if !is_kept {
            slot.put(content, tree(grammar, text).pack());
        }
        is_kept
    }

    #[test]
    fn a_tree_comes_back_as_it_was() {
        let grammar = CompiledGrammars::new().grammar("python").unwrap();
        let text = "\u{feff}def f(a, b=1):\n    return [x for x in g(a) if x]\n\n(\n";
        let flat = tree(&grammar, text);
        assert!(flat.has_fault());
        let mut again = FlatTree::default();
        again.unpack(&flat.pack());
        assert_eq!(again.nodes(), flat.nodes());
        assert_eq!(again.has_fault(), flat.has_fault());
    }

    #[test]
    fn a_file_of_the_same_size_but_another_content_is_parsed_again() {
        let grammar = CompiledGrammars::new().grammar("python").unwrap();
        let cache = TreeCache::default();
        cache.begin(1_000_000);
        assert!(!visit(&cache, &grammar, "a.py", "f(1)"));
        assert!(visit(&cache, &grammar, "a.py", "f(1)"));
        assert!(!visit(&cache, &grammar, "a.py", "f[1]"));
        assert!(visit(&cache, &grammar, "a.py", "f[1]"));
        assert_eq!(cache.lock().trees["python"].len(), 1);
    }

    #[test]
    fn what_two_searches_did_not_use_makes_room() {
        let grammar = CompiledGrammars::new().grammar("python").unwrap();
        let cache = TreeCache::default();
        let text = "f(1)\n".repeat(10);
        let one = size(Path::new("a.py"), &tree(&grammar, &text).pack());
        cache.begin(2 * one);
        assert!(!visit(&cache, &grammar, "a.py", &text));
        assert!(!visit(&cache, &grammar, "b.py", &text));
        // The first two stay: a tree larger than the memory must not push out
        // at its end what the next search begins with.
        assert!(!visit(&cache, &grammar, "c.py", &text));
        cache.begin(2 * one);
        assert!(visit(&cache, &grammar, "a.py", &text));
        assert!(!visit(&cache, &grammar, "c.py", &text));
        cache.begin(2 * one);
        assert!(visit(&cache, &grammar, "a.py", &text));
        assert!(!visit(&cache, &grammar, "c.py", &text));
        assert!(visit(&cache, &grammar, "c.py", &text));
        assert!(!visit(&cache, &grammar, "b.py", &text));
        assert!(cache.lock().bytes <= 2 * one);
    }

    #[test]
    fn without_memory_nothing_is_kept() {
        let grammar = CompiledGrammars::new().grammar("python").unwrap();
        let cache = TreeCache::default();
        cache.begin(0);
        assert!(!visit(&cache, &grammar, "a.py", "f(1)"));
        assert!(!visit(&cache, &grammar, "a.py", "f(1)"));
        assert_eq!(cache.lock().bytes, 0);
    }

    #[test]
    fn a_content_is_refused_for_the_plan_that_refused_it() {
        let cache = TreeCache::default();
        cache.begin(2 * REFUSED_BYTES);
        let [one, two, three] = ["1", "2", "3"].map(|text| cache.fingerprint(text.as_bytes()));
        cache.refuse(1, one);
        cache.refuse(1, one);
        cache.refuse(2, two);
        assert!(cache.is_refused(1, one) && cache.is_refused(2, two));
        assert!(!cache.is_refused(1, two) && !cache.is_refused(2, one));
        // There is no room until a plan has not been used for two searches.
        cache.refuse(2, three);
        assert!(!cache.is_refused(2, three));
        cache.begin(2 * REFUSED_BYTES);
        assert!(cache.is_refused(2, two));
        cache.begin(2 * REFUSED_BYTES);
        cache.refuse(2, three);
        assert!(cache.is_refused(2, two) && cache.is_refused(2, three));
        assert!(!cache.is_refused(1, one));
    }
}
