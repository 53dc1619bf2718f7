//! What happens while memory is short, in a process of its own: the flag is one for all threads.

use neardup_core::error::Error;
use neardup_core::executor::{self, PlainThreads, Stop};
use neardup_core::memory;

fn is_out_of_memory<T: std::fmt::Debug>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::OutOfMemory { .. }))
}

/// Small requests too: many of them would use up what is kept for those that cannot fail.
#[test]
fn whatever_can_fail_does_while_memory_is_short() {
    let mut vec = vec![1_u8];
    vec.shrink_to_fit();
    let mut text = String::new();
    let mut pieces = vec![0_u32; 100];
    memory::set_short(true);
    assert!(is_out_of_memory(memory::push(&mut vec, 2, "testing")));
    assert!(is_out_of_memory(memory::extend(&mut vec, &[2], "testing")));
    assert!(is_out_of_memory(memory::reserve(&mut vec, 1, "testing")));
    assert!(is_out_of_memory(memory::reserve_text(&mut text, 1, "testing")));
    assert!(is_out_of_memory(memory::filled(0_u8, 1, "testing")));
    assert!(is_out_of_memory(Stop::default().check()));
    let count = |piece: &mut u32, stop: &Stop| {
        *piece += 1;
        stop.check()
    };
    assert!(is_out_of_memory(executor::each(&PlainThreads(4), &mut pieces, count)));
    assert_eq!(vec, [1]);

    memory::set_short(false);
    memory::push(&mut vec, 2, "testing").unwrap();
    executor::each(&PlainThreads(4), &mut pieces, count).unwrap();
    assert_eq!(vec, [1, 2]);
    assert!(pieces.iter().all(|&times| times >= 1));
}
