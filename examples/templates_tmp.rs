#[path = "../tests/common/pages.rs"]
mod pages;
use neardup::features::imatch::IdfRange;
use neardup::features::units::signatures::Features;
use neardup::files::MemoryFiles;
use neardup::methods::corpus::Corpus;
use neardup::methods::documents::Quiet;
use neardup::methods::passages::search;
use neardup::methods::reading::Reading;
use neardup::passages::Parameters;
use neardup::resources::Resources;
use neardup::workers::PlainThreads;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let kind = &args[0];
    let counts: Vec<u64> = args[1..].iter().map(|a| a.parse().unwrap()).collect();
    for frame in [10u64, 50, 90] {
        for &count in &counts {
            let mut texts = pages::pages(count, 200, frame);
            if kind.starts_with("varied") {
                // Each sentence of the frame says which page it is of.
                texts =
                    texts.iter().enumerate().map(|(n, t)| t.replace(". ", &format!(" page {n}. "))).collect();
            }
            for (name, p) in [
                (
                    "default",
                    Parameters { features: Features::Imatch(IdfRange::default()), ..Parameters::default() },
                ),
                (
                    "2-shingles",
                    Parameters {
                        features: Features::Shingles(2),
                        threshold: 0.5,
                        min_sentences: 1,
                        ..Parameters::default()
                    },
                ),
            ] {
                if kind.ends_with("default") != (name == "default") {
                    continue;
                }
                let workers = PlainThreads(1);
                let began = Instant::now();
                let (mut corpus, mut quiet) = (Corpus::of_texts(&texts), Quiet);
                let mut reading = Reading::new(
                    &mut corpus,
                    &mut quiet,
                    Resources { files: &MemoryFiles, budget: 1 << 30, workers: &workers },
                );
                let mut s = search(&p, &mut reading).unwrap();
                let joined = began.elapsed().as_secs_f64();
                let mut n = 0usize;
                while let Some(b) = s.next_batch(&workers).unwrap() {
                    n += b.len();
                }
                println!(
                    "{kind} frame {frame} pages {count} {name}: {:.2} s ({joined:.2} joined), passages {n}, pairs {}, verified {}, candidates {} capped {:?}",
                    began.elapsed().as_secs_f64(),
                    s.account.pairs,
                    s.account.counts.verified,
                    s.account.counts.candidates,
                    s.account.capped
                );
            }
        }
    }
}
