//! Values that a frame needs and that take time proportional to a text or a vocabulary, kept until
//! what they were computed from changes.

use std::sync::{Arc, Mutex, PoisonError};

use egui::{Context, Id};

/// The values of the keys that were asked for last.
#[derive(Debug)]
pub struct Memo<K, V> {
    /// The key asked for last comes first.
    known: Vec<(K, Arc<V>)>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    /// Returns the value of a key, and computes it only if it is not among the `n_kept` values that
    /// were asked for last.
    pub fn get(&mut self, n_kept: usize, key: K, compute: impl FnOnce() -> V) -> Arc<V> {
        let entry = match self.known.iter().position(|(known, _)| *known == key) {
            Some(index) => self.known.remove(index),
            None => (key, Arc::new(compute())),
        };
        let value = Arc::clone(&entry.1);
        self.known.insert(0, entry);
        self.known.truncate(n_kept.max(1));
        value
    }
}

/// Returns the value of a key from the memo with this name, which lasts as long as the window.
/// `compute` must not use the window.
pub fn remembered<K, V>(
    ctx: &Context,
    name: &'static str,
    n_kept: usize,
    key: K,
    compute: impl FnOnce() -> V,
) -> Arc<V>
where
    K: PartialEq + Send + 'static,
    V: Send + Sync + 'static,
{
    type Shared<K, V> = Arc<Mutex<Memo<K, V>>>;
    let memo = ctx.data_mut(|data| {
        let memo: &mut Shared<K, V> = data.get_temp_mut_or_default(Id::unique(name));
        Arc::clone(memo)
    });
    // A panic while computing left the memo as it was.
    let mut memo = memo.lock().unwrap_or_else(PoisonError::into_inner);
    memo.get(n_kept, key, compute)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Memo;

    #[test]
    fn a_value_is_computed_again_only_once_others_have_taken_its_place() {
        let mut memo = Memo::default();
        let n_computed = Cell::new(0);
        let mut get = |key: u32| {
            let value = memo.get(2, key, || {
                n_computed.set(n_computed.get() + 1);
                key * 10
            });
            (*value, n_computed.get())
        };
        assert_eq!(get(1), (10, 1));
        assert_eq!(get(1), (10, 1));
        assert_eq!(get(2), (20, 2));
        assert_eq!(get(1), (10, 2));
        // The value of 2 was asked for least recently.
        assert_eq!(get(3), (30, 3));
        assert_eq!(get(1), (10, 3));
        assert_eq!(get(2), (20, 4));
    }
}
