//! From the sender's clock to the handler's: the pods of the source carry when they were sent.

use std::time::{SystemTime, UNIX_EPOCH};

pub const SENT: &str = "bench/sent-ns";

#[derive(Default)]
pub struct Latencies {
    nanoseconds: Vec<u64>,
}

impl Latencies {
    /// Takes the time of an update, now, and remembers how long it was under way. A time of zeros was never sent.
    pub fn add(&mut self, sent: Option<&str>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        let sent = sent.and_then(|text| text.parse().ok()).unwrap_or(0);
        if sent != 0 {
            self.nanoseconds.push(now.saturating_sub(sent));
        }
    }

    /// p50, p99, p99.9 and the maximum in microseconds, by the nearest rank; nothing where nothing was measured.
    pub fn take(&mut self) -> Option<[f64; 4]> {
        let mut sorted = std::mem::take(&mut self.nanoseconds);
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let rank = |per_mille: usize| (sorted.len() * per_mille).div_ceil(1000).max(1) - 1;
        Some([rank(500), rank(990), rank(999), last].map(|index| sorted[index] as f64 / 1000.0))
    }
}
