//! The server's temporary files: they are in its temporary tablespaces, counted in temp_file_limit,
//! and removed by the server, no matter how the transaction ends.

use std::cell::Cell;

use pgrx::pg_sys;

use super::contexts::in_context;
use super::guard::guard;
use neardup_core::error::{Error, Result};
use neardup_core::storage::files::{TempFile, TempFiles};

thread_local! {
    /// The number of bytes in all files, and the greatest number since [`watch_space`].
    static SPACE: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
    /// Set if the server is ending the transaction and closes the files itself.
    static ABANDONED: Cell<bool> = const { Cell::new(false) };
}

/// Begins to watch the space that temporary files take. Returns the number of bytes in files now.
pub(crate) fn watch_space() -> u64 {
    let [bytes, _] = SPACE.get();
    SPACE.set([bytes; 2]);
    bytes
}

/// Returns the greatest number of bytes that were in files at a time since [`watch_space`].
pub(crate) fn most_space() -> u64 {
    SPACE.get()[1]
}

/// A maker of temporary files whose buffers live in one memory context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerFiles(pg_sys::MemoryContext);

impl ServerFiles {
    /// Makes files whose buffers live in the current memory context, which has to outlive them.
    pub(crate) fn in_current_context() -> Self {
        // SAFETY: reads a variable of the backend.
        Self(unsafe { pg_sys::CurrentMemoryContext })
    }
}

impl TempFiles for ServerFiles {
    fn create(&self) -> Result<Box<dyn TempFile>> {
        // SAFETY: a file of this transaction only, made in a context that outlives the file.
        let file = unsafe { in_context(self.0, || pg_sys::BufFileCreateTemp(false)) };
        Ok(Box::new(ServerFile { file, context: self.0, written: 0 }))
    }
}

/// A temporary file.
#[derive(Debug)]
struct ServerFile {
    file: *mut pg_sys::BufFile,
    context: pg_sys::MemoryContext,
    written: u64,
}

impl ServerFile {
    fn seek(&mut self, at: u64) -> Result<()> {
        /// The maximum size of each file in the file system in which the server stores a part of a
        /// temporary file (MAX_PHYSICAL_FILESIZE in buffile.c).
        const SEGMENT: u64 = 1 << 30;
        // SAFETY: an open file; the position is within the written bytes.
        let sought = unsafe {
            pg_sys::BufFileSeek(
                self.file,
                (at / SEGMENT) as i32,
                (at % SEGMENT) as pg_sys::off_t,
                libc::SEEK_SET,
            )
        };
        if sought == 0 { Ok(()) } else { Err(Error::File { doing: "seek in" }) }
    }
}

impl TempFile for ServerFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let context = self.context;
        let write = || {
            self.seek(self.written)?;
            // SAFETY: an open file; the server copies the bytes and changes none of them.
            unsafe { pg_sys::BufFileWrite(self.file, bytes.as_ptr().cast_mut().cast(), bytes.len()) };
            Ok(())
        };
        // SAFETY: the context of the file.
        unsafe { in_context(context, write)? };
        self.written += bytes.len() as u64;
        let [all, most] = SPACE.get();
        let all = all + bytes.len() as u64;
        SPACE.set([all, most.max(all)]);
        Ok(())
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let context = self.context;
        let read = || {
            self.seek(at)?;
            // SAFETY: an open file; the bytes fit into the slice.
            Ok(unsafe { pg_sys::BufFileRead(self.file, bytes.as_mut_ptr().cast(), bytes.len()) })
        };
        // SAFETY: the context of the file.
        let read = unsafe { in_context(context, read)? };
        if read == bytes.len() { Ok(()) } else { Err(Error::File { doing: "read from" }) }
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        let [all, most] = SPACE.get();
        SPACE.set([all.saturating_sub(self.written), most]);
        if !std::thread::panicking() && !ABANDONED.get() {
            // SAFETY: an open file, closed once; after an error the server has closed it.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

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
    /// If the value is still there when its memory context is freed, the query ended with an error,
    /// and the server itself closes the temporary files that the value may hold.
    fn drop(&mut self) {
        ABANDONED.set(true);
        drop(self.0.take());
        ABANDONED.set(false);
    }
}

/// Drops a held value. The server calls it when the query, or its part that needs the value, ends
/// without an error.
///
/// # Safety
/// The argument is a `Held<T>`, whose memory context has not been freed.
pub(super) unsafe extern "C-unwind" fn end_held<T>(argument: pg_sys::Datum) {
    // SAFETY: the outermost frame; the caller's promise.
    unsafe {
        guard(|| {
            let held: *mut Held<T> = argument.cast_mut_ptr();
            drop((*held).take());
            Ok(())
        });
    }
}
