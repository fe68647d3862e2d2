//! A measurement of the KV cache as plain tables.

use super::words::milliseconds;
use super::{CacheLab, Line};
use crate::analysis::replay::logit_gap;
use crate::generation::ByteSize;
use crate::generation::formatting::{grouped, speed};

/// A table of formatted cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheTable {
    pub title: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl CacheTable {
    fn new<const N: usize>(title: &str, head: [&str; N]) -> Self {
        Self {
            title: title.to_owned(),
            head: Vec::from(head.map(str::to_owned)),
            rows: Vec::new(),
        }
    }

    fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(Vec::from(cells));
    }

    /// Returns a row as a sentence for screen readers: "Length 40: cache on 0.34 ms, …".
    pub fn sentence(&self, row: &[String]) -> String {
        let mut cells = self.head.iter().zip(row);
        let first = cells.next().map(|(name, cell)| format!("{name} {cell}"));
        let rest: Vec<String> = cells.map(|(name, cell)| format!("{name} {cell}")).collect();
        format!("{}: {}", first.unwrap_or_default(), rest.join(", "))
    }
}

impl CacheLab {
    /// Returns a table for each part of the measurement that has results.
    pub fn tables(&self) -> Vec<CacheTable> {
        let tables = [
            self.times_table(),
            self.lines_table(),
            self.memory_table(),
            self.reads_table(),
            self.panes_table(),
        ];
        let filled = tables.into_iter().filter(|table| !table.rows.is_empty());
        filled.collect()
    }

    fn times_table(&self) -> CacheTable {
        let head = [
            "Length",
            "cache on",
            "cache off",
            "logit difference",
            "same token",
        ];
        let mut table = CacheTable::new("Time per token", head);
        for off in &self.off {
            let on = self.on.iter().find(|on| on.length == off.length);
            table.row([
                grouped(off.length as f64),
                on.map_or_else(|| "–".to_owned(), |on| milliseconds(on.secs * 1e3)),
                milliseconds(off.secs * 1e3),
                logit_gap(off.largest_difference),
                if off.is_same_token { "yes" } else { "no" }.to_owned(),
            ]);
        }
        // While the text is being generated, nothing has been compared yet.
        if self.off.is_empty() {
            for (length, ms) in self.on_points() {
                let blank = || "–".to_owned();
                let ms = milliseconds(ms);
                table.row([grouped(length), ms, blank(), blank(), blank()]);
            }
        }
        table
    }

    fn lines_table(&self) -> CacheTable {
        let head = ["Cache", "constant", "per 100 tokens"];
        let mut table = CacheTable::new("Fitted lines", head);
        let lines = [("on", self.on_line()), ("off", self.off_line())];
        for (name, line) in lines {
            if let Some(Line { constant, slope }) = line {
                table.row([
                    name.to_owned(),
                    milliseconds(constant),
                    milliseconds(slope * 100.0),
                ]);
            }
        }
        table
    }

    fn memory_table(&self) -> CacheTable {
        let mut table = CacheTable::new("Cache memory", ["Tokens", "formula", "held"]);
        let n_rows = 8;
        let step = self.on.len().div_ceil(n_rows).max(1);
        let last = self.on.len().saturating_sub(1);
        let shown = self
            .on
            .iter()
            .enumerate()
            .filter(|(index, _)| index % step == 0 || *index == last);
        for (_, point) in shown {
            let bytes = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| grouped(n as f64));
            table.row([
                grouped(point.length as f64),
                bytes(self.n_formula_bytes(point.length)),
                bytes(point.n_bytes),
            ]);
        }
        table
    }

    fn reads_table(&self) -> CacheTable {
        let head = [
            "Prompt",
            "in parallel",
            "one by one",
            "tok/s in parallel",
            "tok/s one by one",
        ];
        let mut table = CacheTable::new("Reading a prompt", head);
        for read in &self.reads {
            let per_sec = |secs: f64| {
                if secs > 0.0 {
                    speed(read.length as f64 / secs)
                } else {
                    "–".to_owned()
                }
            };
            table.row([
                grouped(read.length as f64),
                milliseconds(read.parallel_secs * 1e3),
                milliseconds(read.one_by_one_secs * 1e3),
                per_sec(read.parallel_secs),
                per_sec(read.one_by_one_secs),
            ]);
        }
        table
    }

    /// Returns the cost of a prompt for several panes. Also shown beside the picture.
    pub fn panes_table(&self) -> CacheTable {
        let title = format!("{} panes, one prompt", self.facts.n_panes);
        let mut table = CacheTable::new(&title, ["", "shared", "separate"]);
        let Some(panes) = self.panes else {
            return table;
        };
        let both = [panes.shared, panes.apart];
        let [shared, apart] = both.map(|cost| match cost.n_reads {
            1 => "once".to_owned(),
            n => format!("{n} times"),
        });
        let n_prompt = grouped(self.facts.n_prompt as f64);
        table.row([format!("{n_prompt}-token prompt read"), shared, apart]);
        let [shared, apart] = both.map(|cost| milliseconds(cost.secs * 1e3));
        table.row(["Time to read it".to_owned(), shared, apart]);
        let [shared, apart] = both.map(|cost| match cost.n_bytes {
            Some(n) => ByteSize(n).to_string(),
            None => "unknown".to_owned(),
        });
        table.row(["Cache for it".to_owned(), shared, apart]);
        table
    }
}

#[cfg(test)]
mod tests {
    use crate::lab::cache::figures::testing::lab;

    #[test]
    fn every_figure_is_in_a_table() {
        let tables = lab().tables();
        let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Time per token",
                "Fitted lines",
                "Cache memory",
                "Reading a prompt",
                "4 panes, one prompt"
            ]
        );
        for table in &tables {
            let n_columns = table.head.len();
            assert!(table.rows.iter().all(|row| row.len() == n_columns));
        }
        let times = &tables[0];
        assert_eq!(times.rows[0], ["20", "0.32 ms", "6.0 ms", "4e−6", "yes"]);
        assert_eq!(
            times.sentence(&times.rows[0]),
            "Length 20: cache on 0.32 ms, cache off 6.0 ms, logit difference 4e−6, same token yes"
        );
        let reads = &tables[3];
        assert_eq!(reads.rows[2], ["110", "11 ms", "33 ms", "10,000", "3,333"]);
        assert_eq!(tables[4].rows[2], ["Cache for it", "90 kB", "360 kB"]);
    }

    #[test]
    fn a_table_shows_what_is_known_so_far() {
        let mut half = lab();
        half.off.clear();
        half.reads.clear();
        half.panes = None;
        let tables = half.tables();
        assert_eq!(tables.len(), 3);
        assert_eq!(tables[0].rows[0][2], "–");
    }
}
