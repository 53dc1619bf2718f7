//! The loops that are written or compiled for instructions which not every processor has. Each loop
//! is listed with a portable loop that returns the same answers; [`instructions`] chooses one of
//! them when the program runs.

pub mod ascii;
pub mod columns;
pub mod instructions;
pub mod planes;
pub mod popcount;
pub mod prefetch;
pub mod shared_blocks;
pub mod sketch_loops;
pub mod sorting_network;
pub mod spread;
