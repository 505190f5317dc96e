//! What messages and exchanges take between ranks here, for `ozfft-lab model scaling --check`: one JSON object on rank 0.
//!
//! `mpirun -n 4 target/release/examples/exchange_probe`: the least of several times for a message of 8 bytes there and back, one of 4 MiB, copies in
//! memory by all ranks at a time, and all-to-all exchanges.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::time::Instant;

/// The least time of the slowest rank.
fn least(world: &SimpleCommunicator, repeats: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    // The first one warms up.
    for number in 0..=repeats {
        world.barrier();
        let start = Instant::now();
        call();
        let own = start.elapsed().as_secs_f64();
        let mut slowest = 0.0;
        world.all_reduce_into(&own, &mut slowest, SystemOperation::max());
        if number > 0 {
            best = best.min(slowest);
        }
    }
    best
}

/// Seconds of a message of so many numbers from rank 0 to rank 1, half of there and back.
fn ping_pong(world: &SimpleCommunicator, numbers: usize, turns: usize, repeats: usize) -> f64 {
    let mut buffer = vec![0u64; numbers];
    let seconds = least(world, repeats, || {
        for _ in 0..turns {
            match world.rank() {
                0 => {
                    world.process_at_rank(1).send(&buffer[..]);
                    world.process_at_rank(1).receive_into(&mut buffer[..]);
                }
                1 => {
                    world.process_at_rank(0).receive_into(&mut buffer[..]);
                    world.process_at_rank(0).send(&buffer[..]);
                }
                _ => {}
            }
        }
    });
    seconds / (2 * turns) as f64
}

fn main() {
    let universe = mpi::initialize().expect("MPI was not initialised before");
    let world = universe.world();
    let ranks = world.size() as usize;
    let (mut latency, mut bandwidth) = (None, None);
    if ranks > 1 {
        let short = ping_pong(&world, 1, 200, 20);
        let long = ping_pong(&world, 1 << 19, 4, 20);
        latency = Some(short);
        bandwidth = Some(f64::from(1 << 22) / (long - short));
    }
    let from = vec![1u64; 1 << 21];
    let mut to = vec![0u64; 1 << 21];
    let copied = least(&world, 15, || {
        to.copy_from_slice(&from);
        std::hint::black_box(&mut to);
    });
    let exchanges: Vec<String> = [1usize, 1 << 14, 1 << 18, 1 << 20]
        .into_iter()
        .map(|numbers| {
            let part = numbers.div_ceil(ranks);
            let sent = vec![1u64; part * ranks];
            let mut received = vec![0u64; part * ranks];
            let seconds = least(&world, 15, || {
                world.all_to_all_into(&sent[..], &mut received[..]);
            });
            format!(
                "{{\"bytes\": {}, \"seconds\": {seconds:e}}}",
                8 * part * ranks
            )
        })
        .collect();
    if world.rank() == 0 {
        let number = |value: Option<f64>| value.map_or("null".into(), |value| format!("{value:e}"));
        println!(
            "{{\"ranks\": {ranks}, \"latency_seconds\": {}, \"bytes_per_second\": {}, \"copy_bytes_per_second\": {:e}, \"exchanges\": [{}]}}",
            number(latency),
            number(bandwidth),
            f64::from(1 << 24) / copied,
            exchanges.join(", ")
        );
    }
}
