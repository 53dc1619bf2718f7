//! What the planner and the executor know the batch join by.

use std::ffi::CStr;

/// The name of the node in plans.
pub(super) const NAME: &CStr = c"NearJoin";

/// Methods that the server only reads.
pub(super) struct Methods<T>(pub T);
// SAFETY: nothing in it changes, and the name is a constant.
unsafe impl<T> Sync for Methods<T> {}
