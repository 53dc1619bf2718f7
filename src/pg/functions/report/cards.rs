//! The clusters of a report: selects the clusters to show and reads the data for them.

use std::collections::HashMap;

use super::arguments::ReportArguments;
use super::documents::{Digest, ReportDocuments, with_room};
use crate::pg::functions::clusters::near_duplicate_clusters::{Chains, is_chain};
use crate::pg::server::error::Result;
use neardup_core::clusters::grouping::{Cluster, Clusters, Homes};
use neardup_core::clusters::strongest::Link;
use neardup_core::clusters::summary::Summary;
use neardup_core::executor::{self, Executor};
use neardup_core::memory;
use neardup_core::report::cluster::{ClusterLine, Entry, Shown, Version};
use neardup_core::report::page::ReportPage;
use neardup_core::report::pair::{MOST_CHARACTERS, ShownDocument};

/// The maximum number of listed documents over all clusters of a page, and the range of the maximum
/// for a single cluster.
const LISTED: usize = 4_000;
const LISTED_OF_ONE: [usize; 2] = [20, 1_000];
/// The maximum number of versions of a cluster that are read and compared: the page has no room for
/// more.
const MOST_COMPARED: usize = 200;

/// All clusters with the data about them.
pub(super) struct Cards<'a> {
    /// The clusters.
    pub clusters: &'a Clusters,
    /// The summary of each cluster.
    pub summaries: &'a [Summary],
    /// The documents of the clusters.
    pub documents: &'a ReportDocuments<'a>,
    /// The contents that the caller asks for.
    pub asked: &'a ReportArguments,
}

impl Cards<'_> {
    /// Adds the largest clusters: with their texts as long as there is room, and the rest in one
    /// line each. `links` are the links that hold the clusters together, the strongest first.
    pub(super) fn add_to(
        &self,
        page: &mut ReportPage,
        links: &[Link],
        executor: &dyn Executor,
    ) -> Result<()> {
        const LINES_AT_ONCE: usize = 128;
        const BEGINNING: usize = 200;
        let mut largest: Vec<usize> = (0..self.clusters.len()).collect();
        largest.sort_by_key(|&number| std::cmp::Reverse(self.clusters.range(number).len()));
        largest.truncate(self.asked.clusters);
        let [least, most] = LISTED_OF_ONE;
        let listed = (LISTED / largest.len().max(1)).clamp(least, most);
        let mut weak = self.weak_links(&largest, links, executor)?;
        let mut rest = &largest[..];
        while let [number, others @ ..] = rest
            && page.has_room_for_clusters()
        {
            let links = weak.remove(number).unwrap_or_default();
            let shown = self.shown(*number, listed, &links)?;
            executor::one(executor, page, |page, stop| with_room(|| page.add_cluster(&shown, stop))?)?;
            rest = others;
        }
        for numbers in rest.chunks(LINES_AT_ONCE) {
            if !page.has_room_for_lines() {
                break;
            }
            let representative = |number: usize| self.clusters.get(number).representative;
            let mut texts =
                self.documents.beginnings(numbers.iter().map(|&number| representative(number)), BEGINNING)?;
            for &number in numbers {
                if !page.has_room_for_lines() {
                    break;
                }
                let cluster = self.clusters.get(number);
                with_room(|| {
                    page.add_line(&ClusterLine {
                        id: self.documents.id(cluster.id),
                        representative: texts.remove(&cluster.representative).unwrap_or_default(),
                        size: cluster.members.len(),
                        summary: self.summaries[number],
                    })
                })?;
            }
        }
        Ok(())
    }

    /// Prepares a cluster for display with at most `listed` of its documents.
    fn shown(&self, number: usize, listed: usize, links: &[Link]) -> Result<Shown> {
        let cluster = self.clusters.get(number);
        let groups = self.by_text(&cluster, listed)?;
        let chosen: Vec<u32> = groups
            .iter()
            .skip(1)
            .take(self.asked.members.min(MOST_COMPARED))
            .map(|group| group.first)
            .collect();
        let mut texts = self
            .documents
            .beginnings(chosen.iter().copied().chain([cluster.representative]), MOST_CHARACTERS)?;
        Ok(Shown {
            id: self.documents.id(cluster.id),
            representative: texts.remove(&cluster.representative).unwrap_or_else(|| ShownDocument {
                id: self.documents.id(cluster.representative),
                ..ShownDocument::default()
            }),
            versions: groups
                .into_iter()
                .map(|group| Version {
                    documents: group.entries,
                    similarity: group.similarity,
                    text: texts.remove(&group.first),
                })
                .collect(),
            size: cluster.members.len(),
            summary: self.summaries[number],
            is_chain: is_chain(&cluster),
            links: links
                .iter()
                .map(|link| {
                    let [left, right] =
                        [link.edge.left, link.edge.right].map(|vertex| self.documents.id(vertex));
                    (left, right, link.edge.similarity, link.parts)
                })
                .collect(),
        })
    }

    /// Groups the documents of a cluster by their text: first the text of the representative, then
    /// the texts that differ most from it.
    fn by_text(&self, cluster: &Cluster<'_>, listed: usize) -> Result<Vec<EqualDocuments>> {
        let mut places: Vec<usize> = memory::collect(0..cluster.members.len(), "grouping documents")?;
        let likeness = |place: usize| (cluster.similarity[place] * 1e15) as i64;
        places.sort_by_key(|&place| {
            let is_other = cluster.members[place] != cluster.representative;
            (is_other, cluster.similarity[place].is_nan(), likeness(place))
        });
        places.truncate(listed);
        let mut read = self.documents.digests(places.iter().map(|&place| cluster.members[place]))?;
        let mut groups: Vec<EqualDocuments> = Vec::new();
        let mut of_digest: HashMap<Digest, usize> = HashMap::new();
        for place in places {
            let vertex = cluster.members[place];
            let (title, digest) = read.remove(&vertex).unwrap_or_default();
            let entry = Entry { id: self.documents.id(vertex), title };
            let known = digest.as_ref().and_then(|digest| of_digest.get(digest).copied());
            if let Some(group) = known {
                groups[group].entries.push(entry);
                continue;
            }
            of_digest.extend(digest.map(|digest| (digest, groups.len())));
            let similarity = Some(cluster.similarity[place]).filter(|similarity| !similarity.is_nan());
            groups.push(EqualDocuments { first: vertex, similarity, entries: vec![entry] });
        }
        Ok(groups)
    }

    /// Finds the weakest links of each large cluster whose number is in `numbers`. Takes O(links)
    /// time.
    fn weak_links(
        &self,
        numbers: &[usize],
        links: &[Link],
        executor: &dyn Executor,
    ) -> Result<HashMap<usize, Vec<Link>>> {
        const LINKS: usize = 5;
        const PIECE: usize = 1 << 16;
        let large = numbers.iter().filter(|&&number| self.clusters.range(number).len() >= Chains::LARGE);
        let mut weak: HashMap<usize, Vec<Link>> = large.map(|&number| (number, Vec::new())).collect();
        if weak.is_empty() {
            return Ok(weak);
        }
        let homes = Homes::new(self.clusters, self.documents.vertices.len())?;
        for links in links.rchunks(PIECE) {
            executor.check_interrupts()?;
            for link in links.iter().rev() {
                homes.for_each_common(link.edge, |cluster, _| {
                    if let Some(found) = weak.get_mut(&(cluster as usize)).filter(|found| found.len() < LINKS)
                    {
                        found.push(*link);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(weak)
    }
}

/// Documents with the same text.
struct EqualDocuments {
    /// The first document of the group.
    first: u32,
    similarity: Option<f64>,
    entries: Vec<Entry>,
}
