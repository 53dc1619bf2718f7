//! Numbers as people read them.

use std::fmt;

/// A whole number with a comma between groups of three digits.
#[derive(Debug, Clone, Copy)]
pub struct Number(pub u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let first = match digits.len() % 3 {
            0 => 3,
            first => first,
        };
        let (head, rest) = digits.split_at(first.min(digits.len()));
        f.write_str(head)?;
        (0..rest.len()).step_by(3).try_for_each(|at| write!(f, ",{}", &rest[at..at + 3]))
    }
}

/// A whole number where there is little room: from 100,000 on in thousands or millions.
#[derive(Debug, Clone, Copy)]
pub struct Short(pub u64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            number if number < 100_000 => write!(f, "{}", Number(number)),
            number if number < 1_000_000 => write!(f, "{}k", number / 1000),
            number if number < 100_000_000 => write!(f, "{:.1}M", number as f64 / 1e6),
            number => write!(f, "{}M", Number(number / 1_000_000)),
        }
    }
}

/// A count of things whose name is a regular noun: 1 pair, 1,200 pairs.
#[derive(Debug, Clone, Copy)]
pub struct CountOf(pub u64, pub &'static str);

impl fmt::Display for CountOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", Number(self.0), self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// A similarity or a threshold with three decimals. A number below 1 is never rounded up to 1.
#[derive(Debug, Clone, Copy)]
pub struct Ratio(pub f64);

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if self.0 < 1.0 { self.0.min(0.999) } else { self.0 };
        write!(f, "{shown:.3}")
    }
}

/// A time in milliseconds, shown in a suitable unit.
#[derive(Debug, Clone, Copy)]
pub struct Time(pub f64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            time if time < 1_000.0 => write!(f, "{time:.0} ms"),
            time if time < 100_000.0 => write!(f, "{:.1} s", time / 1_000.0),
            time => {
                let seconds = (time / 1_000.0) as u64;
                write!(f, "{} min {} s", Number(seconds / 60), seconds % 60)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_nouns_their_number() {
        let of = [0, 7, 12, 999, 1_000, 12_345, 123_456, 1_234_567].map(|number| Number(number).to_string());
        assert_eq!(of, ["0", "7", "12", "999", "1,000", "12,345", "123,456", "1,234,567"]);
        let short = [99_999, 123_456, 1_234_567, 1_234_567_890].map(|number| Short(number).to_string());
        assert_eq!(short, ["99,999", "123k", "1.2M", "1,234M"]);
        let pairs = [0, 1, 2, 1_001].map(|number| CountOf(number, "pair").to_string());
        assert_eq!(pairs, ["0 pairs", "1 pair", "2 pairs", "1,001 pairs"]);
    }

    #[test]
    fn shares_and_times_are_short() {
        let shares = [0.8, 0.99951, 0.9994, 1.0].map(|share| Ratio(share).to_string());
        assert_eq!(shares, ["0.800", "0.999", "0.999", "1.000"]);
        let times = [0.4, 812.0, 1_234.0, 61_000.0, 3_725_000.0].map(|time| Time(time).to_string());
        assert_eq!(times, ["0 ms", "812 ms", "1.2 s", "61.0 s", "62 min 5 s"]);
    }
}
