//! What calls may hold. The limit is one for the process, so this test has a process of its own;
//! `count` stands for the allocator.

use neardup_core::allowance::{Allowance, count, has_room, is_kept, slack};
use neardup_core::{Error, Stop, memory};

const MEGABYTE: usize = 1 << 20;
const DOING: &str = "testing";

fn beyond(needed: usize, allowed: usize) -> neardup_core::Result<()> {
    Err(Error::BeyondAllowance { doing: DOING, needed, allowed })
}

#[test]
fn calls_hold_the_sum_of_their_allowances() {
    // Without a call there is no limit.
    count(0, 500 * MEGABYTE);
    assert_eq!(has_room(usize::MAX / 2, DOING), Ok(()));
    assert_eq!(is_kept(DOING), Ok(()));

    // What was held before does not count.
    let first = Allowance::new(10 * MEGABYTE);
    assert_eq!(has_room(10 * MEGABYTE + slack(), DOING), Ok(()));
    assert_eq!(
        has_room(10 * MEGABYTE + slack() + 1, DOING),
        beyond(10 * MEGABYTE + slack() + 1, 10 * MEGABYTE)
    );
    let mut items: Vec<u64> = Vec::new();
    let many = slack() / 8 + 2 * MEGABYTE;
    assert_eq!(memory::reserve(&mut items, many, DOING), beyond(many * 8, 10 * MEGABYTE));
    assert_eq!(memory::filled(0u64, many, DOING).map(drop), beyond(many * 8, 10 * MEGABYTE));
    assert_eq!(memory::zeroed::<u64>(many, DOING).map(drop), beyond(many * 8, 10 * MEGABYTE));
    assert_eq!(memory::reserve_text(&mut String::new(), many * 8, DOING), beyond(many * 8, 10 * MEGABYTE));
    // A vector that grows by an eighth is content with less.
    assert_eq!(memory::reserve(&mut items, slack() / 8, DOING), Ok(()));
    items.resize(slack() / 8, 0);
    count(0, slack());
    assert_eq!(memory::push(&mut items, 0, DOING), Ok(()));

    // A block that cannot be refused makes the next check fail, until enough is freed.
    count(10 * MEGABYTE, 20 * MEGABYTE);
    count(0, 5 * MEGABYTE);
    assert_eq!(is_kept(DOING), beyond(15 * MEGABYTE + slack(), 10 * MEGABYTE));
    assert!(matches!(Stop::default().check(), Err(Error::BeyondAllowance { .. })));
    count(5 * MEGABYTE, 0);
    assert_eq!(is_kept(DOING), Ok(()));

    // A second call has its own allowance, and gives it back.
    let second = Allowance::new(30 * MEGABYTE);
    count(0, 30 * MEGABYTE);
    assert_eq!(is_kept(DOING), Ok(()));
    assert_eq!(has_room(1, DOING), beyond(40 * MEGABYTE + slack() + 1, 40 * MEGABYTE));
    drop(second);
    assert_eq!(is_kept(DOING), beyond(40 * MEGABYTE + slack(), 10 * MEGABYTE));
    count(40 * MEGABYTE + slack(), 0);
    assert_eq!(is_kept(DOING), Ok(()));
    drop(first);
    assert_eq!(has_room(usize::MAX / 2, DOING), Ok(()));

    // Tiny blocks do not count, nor does a block that grows from one of them count twice.
    let _third = Allowance::new(0);
    count(0, 100);
    assert_eq!(has_room(slack(), DOING), Ok(()));
    count(100, 1000);
    assert_eq!(has_room(slack() - 1000, DOING), Ok(()));
    assert!(has_room(slack() - 999, DOING).is_err());
    count(1000, 100);
    count(100, 0);
    assert_eq!(has_room(slack(), DOING), Ok(()));
}
