//! Values that live until the query ends.

use super::temp_file::drop_abandoned;

/// A value in a memory context of the server. It is taken out when the query no longer needs it.
pub(crate) struct Held<T>(Option<T>);

impl<T> Held<T> {
    /// Holds nothing yet.
    pub(crate) fn empty() -> Self {
        Self(None)
    }

    /// Holds a value.
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Returns the value, if it is still there.
    pub(crate) fn get(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }

    /// Holds another value, where none is left.
    pub(crate) fn put(&mut self, value: T) -> &mut T {
        self.0.insert(value)
    }

    /// Takes the value out.
    pub(crate) fn take(&mut self) -> Option<T> {
        self.0.take()
    }
}

impl<T> Drop for Held<T> {
    /// If the value is still there when its memory context is freed, the query ended with an error.
    fn drop(&mut self) {
        drop_abandoned(self.0.take());
    }
}
