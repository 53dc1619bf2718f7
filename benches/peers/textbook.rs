//! A plain PPJoin as its authors and the C++ comparisons write it (Xiao et al., WWW 2008, algorithm
//! 1 and section 3; Mann, Augsten, Bouros, VLDB 2016): one thread, flat integer arrays, an index
//! that grows with the probes, an early-exit merge. The peer that our join is measured against.

/// Records: ascending tokens, concatenated, in ascending order of size.
pub struct Sets {
    pub tokens: Vec<u32>,
    pub starts: Vec<usize>,
}

impl Sets {
    /// Reads one record a line, as `NAME.sets` has them.
    pub fn read(path: &std::path::Path) -> std::io::Result<Self> {
        let mut sets = Self { tokens: Vec::new(), starts: vec![0] };
        for line in std::fs::read_to_string(path)?.lines() {
            sets.tokens.extend(line.split(' ').map(|token| token.parse::<u32>().expect("a number")));
            sets.starts.push(sets.tokens.len());
        }
        Ok(sets)
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn set(&self, n: usize) -> &[u32] {
        &self.tokens[self.starts[n]..self.starts[n + 1]]
    }
}

/// What the join found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub candidates: u64,
    pub pairs: u64,
}

struct List {
    first: usize,
    postings: Vec<(u32, u32)>,
}

/// The number of pairs with Jaccard >= t. Bounds are rounded with a small allowance, so that ties
/// are not lost.
pub fn join(sets: &Sets, t: f64) -> Found {
    const ALLOW: f64 = 1e-9;
    let largest = sets.tokens.iter().max().map_or(0, |&token| token as usize + 1);
    let mut index: Vec<List> = (0..largest).map(|_| List { first: 0, postings: Vec::new() }).collect();
    let mut overlaps = vec![0i32; sets.len()];
    let mut touched = Vec::new();
    let mut found = Found::default();
    let ceil = |x: f64| (x - ALLOW).ceil() as usize;
    for n in 0..sets.len() {
        let x = sets.set(n);
        let least_size = ceil(t * x.len() as f64);
        let probing = x.len() - least_size + 1;
        let indexing = x.len() - ceil(2.0 * t / (1.0 + t) * x.len() as f64) + 1;
        for (i, &token) in x[..probing].iter().enumerate() {
            let list = &mut index[token as usize];
            while list.first < list.postings.len()
                && sets.set(list.postings[list.first].0 as usize).len() < least_size
            {
                list.first += 1;
            }
            for &(m, j) in &list.postings[list.first..] {
                let y = sets.set(m as usize);
                let overlap = &mut overlaps[m as usize];
                if *overlap == i32::MIN {
                    continue;
                }
                if *overlap == 0 {
                    touched.push(m);
                }
                let need = ceil(t / (1.0 + t) * (x.len() + y.len()) as f64);
                let rest = (x.len() - i).min(y.len() - j as usize);
                *overlap = if *overlap as usize + rest >= need { *overlap + 1 } else { i32::MIN };
            }
        }
        for &m in &touched {
            let overlap = std::mem::take(&mut overlaps[m as usize]);
            if overlap == i32::MIN {
                continue;
            }
            found.candidates += 1;
            let y = sets.set(m as usize);
            let need = ceil(t / (1.0 + t) * (x.len() + y.len()) as f64);
            let indexed = y.len() - ceil(2.0 * t / (1.0 + t) * y.len() as f64) + 1;
            let shared = overlap as usize;
            let (from_x, from_y) =
                if x[probing - 1] < y[indexed - 1] { (probing, shared) } else { (shared, indexed) };
            if merge(&x[from_x..], &y[from_y..], shared, need) {
                found.pairs += 1;
            }
        }
        touched.clear();
        for (i, &token) in x[..indexing].iter().enumerate() {
            index[token as usize].postings.push((n as u32, i as u32));
        }
    }
    found
}

/// Whether two ascending lists bring `shared` up to `need`.
fn merge(x: &[u32], y: &[u32], mut shared: usize, need: usize) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < x.len() && j < y.len() {
        if shared + (x.len() - i).min(y.len() - j) < need {
            return false;
        }
        match x[i].cmp(&y[j]) {
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
        }
    }
    shared >= need
}
