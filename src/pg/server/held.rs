//! Values that live until the query ends.

use super::temp_file::drop_abandoned;

/// A value in a memory context of the server. It is taken out when the query no longer needs it.
pub(crate) struct Held<T>(Option<T>);

impl<T> Held<T> {
    /// Holds a value.
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Returns the value, if it is still there.
    pub(crate) fn get(&mut self) -> Option<&mut T> {
        self.0.as_mut()
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
