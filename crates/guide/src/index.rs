//! The index: points in long containers, and the names between them.

use std::cmp::Ordering;

use trommel::reader::{ContainerEnd, Guide, Limits, NameOrder, NameRange, Waypoint};

use crate::error::{Error, Result};
use crate::filters::Filters;
use crate::names::{hash, may_contain};

/// The number of members of an object whose names may have any order.
pub(crate) const ORDERED_FROM: u64 = 64;

/// No container: outside all of them.
pub(crate) const NONE: u32 = u32::MAX;

/// A container that has a point in it, or in a container within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Offset of the opening bracket.
    pub(crate) start: u64,
    /// Offset after the closing bracket.
    pub(crate) end: u64,
    /// Offset of its name in an object, else of itself.
    pub(crate) child_start: u64,
    /// The number of children before it in the container around it.
    pub(crate) index: u64,
    pub(crate) children: u64,
    /// The container around it. Its number is lower.
    pub(crate) parent: u32,
    /// 1 for the outermost container.
    pub(crate) depth: u32,
    pub(crate) object: bool,
    /// The order of its names, except those of the first members.
    pub(crate) order: Option<NameOrder>,
}

/// An offset before a child of a container, and the names up to the next point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) offset: u64,
    pub(crate) container: u32,
    /// The number of children before it.
    pub(crate) index: u64,
    /// The first word of its filter. The filter ends where the next one begins.
    pub(crate) filter: u32,
    pub(crate) probes: u32,
}

/// The index of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub(crate) length: u64,
    pub(crate) records: u64,
    pub(crate) max_depth: u32,
    /// In the order of their starts.
    pub(crate) containers: Vec<Container>,
    /// In the order of their offsets. The first one is at 0.
    pub(crate) points: Vec<Point>,
    pub(crate) filters: Filters,
}

impl Index {
    /// The index of an input of which only the shape is known: reading begins at its start.
    pub(crate) fn without_points(length: u64, records: u64, max_depth: u32) -> Self {
        let points = vec![Point { offset: 0, container: NONE, index: 0, filter: 0, probes: 0 }];
        let filters = Filters::new(Vec::new());
        Self { length, records, max_depth, containers: Vec::new(), points, filters }
    }

    /// True if reading can begin at other offsets than the start.
    pub fn has_points(&self) -> bool {
        self.points.len() > 1
    }

    /// The length of the input in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The number of containers that are open at once at most.
    pub fn max_depth(&self) -> u32 {
        self.max_depth
    }

    /// The number of containers that are described.
    pub fn containers(&self) -> usize {
        self.containers.len()
    }

    /// True if the names of an object ascend, which is then searched by halves.
    pub fn knows_order(&self) -> bool {
        self.containers.iter().any(|container| container.order.is_some())
    }

    /// The number of points at which reading can begin.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// The last known record with at most `number` records before it.
    pub fn record_before(&self, number: u64) -> Waypoint {
        let count = self.points.partition_point(|point| self.record_of(point).index <= number);
        count
            .checked_sub(1)
            .map_or(Waypoint { offset: 0, index: 0 }, |last| self.record_of(&self.points[last]))
    }

    /// The last waypoint at or before an offset: in the container that is open at a depth around
    /// `at`, or among the records if the depth is 0.
    pub fn waypoint_before(&self, at: u64, depth: u32, offset: u64) -> Option<Waypoint> {
        let point = &self.points[self.block(offset)];
        let waypoint = match depth {
            0 => self.record_of(point),
            _ => self.waypoint_in(point, self.container(at, depth)?)?,
        };
        Some(waypoint).filter(|waypoint| waypoint.offset <= offset && (depth == 0 || waypoint.offset > at))
    }

    /// The record that a point is in.
    fn record_of(&self, point: &Point) -> Waypoint {
        let mut waypoint = Waypoint { offset: point.offset, index: point.index };
        let mut number = point.container;
        while let Some(container) = self.containers.get(number as usize) {
            waypoint = Waypoint { offset: container.child_start, index: container.index };
            number = container.parent;
        }
        waypoint
    }

    /// Fails if the names by block, which are read when they are first asked for, are damaged.
    pub(crate) fn check_names(&self) -> Result<()> {
        match self.filters.words() {
            Some(_) => Ok(()),
            None => Err(Error::damaged("the checksum of the names is wrong")),
        }
    }

    /// The reason why references or offsets contradict each other, if they do. Without one, every
    /// lookup ends, even if the index describes another input.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let Self { length, containers, points, filters, .. } = self;
        let around = |number: u32| containers.get(number as usize);
        let is_inside = |(number, container): (usize, &Container)| {
            let bounds = container.start < container.end && container.end <= *length;
            let parent = match around(container.parent) {
                None => container.parent == NONE && container.depth == 1,
                Some(parent) => {
                    (container.parent as usize) < number
                        && parent.depth + 1 == container.depth
                        && parent.start < container.child_start
                        && container.end < parent.end
                }
            };
            let order = container.object || container.order.is_none();
            bounds && parent && order && container.child_start <= container.start
        };
        if !containers.iter().enumerate().all(is_inside) {
            return Some("a container is not in the one around it");
        }
        if !containers.is_sorted_by(|one, next| one.start < next.start) {
            return Some("containers are not in order");
        }
        let is_within = |point: &Point| match around(point.container) {
            None => point.container == NONE && point.offset <= *length,
            Some(container) => container.start < point.offset && point.offset < container.end,
        };
        if points.first().is_none_or(|point| point.offset > 0) || !points.iter().all(is_within) {
            return Some("a point is not in its container");
        }
        let in_order = |one: &Point, next: &Point| one.offset < next.offset && one.filter <= next.filter;
        if !points.is_sorted_by(in_order)
            || points.last().is_some_and(|last| last.filter as usize > filters.len())
        {
            return Some("points are not in order");
        }
        None
    }

    /// The container at a depth that is open around an offset.
    fn container(&self, at: u64, depth: u32) -> Option<u32> {
        let number = self.containers.partition_point(|container| container.start < at).checked_sub(1)?;
        let mut number = number as u32;
        loop {
            // Containers that are open around the offset and start before this one are around it.
            let container = self.containers.get(number as usize)?;
            if container.depth < depth {
                return None;
            }
            if container.depth == depth {
                return (at < container.end).then_some(number);
            }
            number = container.parent;
        }
    }

    /// The waypoint of a point in a container around it: before the child that contains it.
    fn waypoint_in(&self, point: &Point, container: u32) -> Option<Waypoint> {
        let mut waypoint = Waypoint { offset: point.offset, index: point.index };
        let mut number = point.container;
        while number != container {
            let Container { child_start: offset, index, parent, .. } =
                *self.containers.get(number as usize)?;
            (waypoint, number) = (Waypoint { offset, index }, parent);
        }
        Some(waypoint)
    }

    /// The number of the last point at or before an offset.
    fn block(&self, at: u64) -> usize {
        self.points.partition_point(|point| point.offset <= at).saturating_sub(1)
    }

    fn may_have(&self, block: usize, hashes: &[u64]) -> bool {
        let Some(words) = self.filters.words() else { return true };
        let point = &self.points[block];
        let end = self.points.get(block + 1).map_or(words.len(), |next| next.filter as usize);
        let words = &words[point.filter as usize..end];
        hashes.iter().any(|hash| may_contain(words, point.probes, *hash))
    }
}

impl Guide for Index {
    fn is_within(&self, limits: &Limits) -> bool {
        // The pass that built the index had the default limits.
        limits.depth >= self.max_depth && limits.token_bytes >= Limits::default().token_bytes
    }

    fn end(&self, at: u64, depth: u32) -> Option<ContainerEnd> {
        let Container { end, children, .. } = self.containers[self.container(at, depth)? as usize];
        Some(ContainerEnd { offset: end, children })
    }

    fn waypoint(&self, at: u64, depth: u32, index: u64) -> Option<Waypoint> {
        if depth == 0 {
            return Some(self.record_before(index)).filter(|waypoint| waypoint.offset > at);
        }
        let number = self.container(at, depth)?;
        let end = self.containers[number as usize].end;
        let from = self.points.partition_point(|point| point.offset <= at);
        let to = self.points.partition_point(|point| point.offset < end);
        let points = self.points.get(from..to)?;
        let is_before =
            |point: &Point| self.waypoint_in(point, number).is_some_and(|waypoint| waypoint.index <= index);
        let last = points.partition_point(is_before).checked_sub(1)?;
        self.waypoint_in(&points[last], number).filter(|waypoint| waypoint.offset > at)
    }

    fn waypoint_before(&self, at: u64, depth: u32, offset: u64) -> Option<Waypoint> {
        self.waypoint_before(at, depth, offset)
    }

    fn name_range(
        &self,
        at: u64,
        depth: u32,
        compare: &mut dyn FnMut(NameOrder, u64) -> Option<Ordering>,
    ) -> Option<NameRange> {
        let number = self.container(at, depth)?;
        let container = &self.containers[number as usize];
        let order = container.order?;
        // The points in the container, from the first ordered member on.
        let until = |offset| self.points.partition_point(|point| point.offset < offset);
        let points = self.points.get(until(container.start)..until(container.end))?;
        let waypoint = |point: &Point| self.waypoint_in(point, number);
        let first =
            points.partition_point(|point| waypoint(point).is_none_or(|first| first.index < ORDERED_FROM));
        let points = &points[first..];
        // The members before it may have any name.
        if points.first().and_then(waypoint).is_none_or(|first| first.offset > at) {
            return None;
        }
        let (mut low, mut high) = (0, points.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match compare(order, waypoint(&points[middle])?.offset)? {
                Ordering::Greater => high = middle,
                Ordering::Less | Ordering::Equal => low = middle + 1,
            }
        }
        let from = waypoint(&points[low.checked_sub(1)?])?;
        if from.offset > at {
            return Some(NameRange::From(from));
        }
        let next = points[low..].iter().filter_map(waypoint).find(|next| next.offset > from.offset);
        match next {
            Some(next) if next.offset > at => Some(NameRange::Before(next.offset)),
            // The name was passed, or is in the last part.
            Some(_) => waypoint(points.last()?).filter(|last| last.offset > at).map(NameRange::From),
            None => None,
        }
    }

    fn names_until(&self, at: u64, names: &[&str]) -> Option<u64> {
        let hashes: Vec<u64> = names.iter().map(|name| hash(name.as_bytes())).collect();
        let here = self.block(at);
        let next = self.points.get(here + 1)?;
        self.may_have(here, &hashes).then_some(next.offset)
    }

    fn before_names(&self, at: u64, floor: u32, deepest: u32, names: &[&str]) -> Option<(u32, Waypoint)> {
        let end = self.containers[self.container(at, floor)? as usize].end;
        let hashes: Vec<u64> = names.iter().map(|name| hash(name.as_bytes())).collect();
        let here = self.block(at);
        let to = self.points.partition_point(|point| point.offset < end);
        let has_name = |block: &usize| self.may_have(*block, &hashes);
        // The block that has a name, or else the last one that begins in the container.
        let block = (here..to).find(has_name).unwrap_or(to.saturating_sub(1));
        if block <= here {
            return None;
        }
        let point = &self.points[block];
        let mut waypoint = Waypoint { offset: point.offset, index: point.index };
        let mut number = point.container;
        loop {
            let container = self.containers.get(number as usize)?;
            if container.start < at && container.depth <= deepest {
                return Some((container.depth, waypoint)).filter(|(_, waypoint)| waypoint.offset > at);
            }
            waypoint = Waypoint { offset: container.child_start, index: container.index };
            number = container.parent;
        }
    }
}
