//! Whether a place was accessed on every path to a block, or can be loaded where it was not: a question goes backward along the
//! edges, and its answers come forward.
//!
//! Requires: the region's flow, a load, and what earlier questions have put into parameters.
//! Ensures: nodes that are available have a value on each edge, or a load may be inserted at the end of the edge's source.
//! Phases: nodes, a place at the beginning of a block each, at most two of a block; then the greatest solution, from which nodes drop out
//! that lack a value on some edge and may not have a load there.
//! Source: Fukuhara & Takimoto 2021, section 4.2 and Algorithm 1 (A.1), with a fixed point over what the question reaches in the place of
//! answers that depend on the order of the walk.

use super::anticipation::Anticipation;
use super::flow::Flow;
use super::memory_events::{Effect, MemoryAccess, Place, effect_of};
use super::rewriting::Rewriting;
use crate::analysis::affine_address::address_on_edge;
use crate::analysis::loops::Loop;
use crate::ir::{Block, BlockCall, Function, Value};

/// Blocks and places that one question goes to.
const MOST_NODES: usize = 48;
/// Places that one question asks a block for, the first one included: so far it goes back through iterations.
const MOST_VISITS: usize = 2;

/// What answers a question on an edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// These values are what is there.
    Values(Vec<Value>),
    /// What is there at the beginning of the edge's source.
    Node(usize),
    /// Nothing that is known tells what is there.
    Unknown,
}

/// An edge to a block, from the end of its source.
#[derive(Clone, Debug)]
pub(super) struct QuestionEdge {
    pub(super) source: Block,
    /// The place, told at the end of the source.
    pub(super) place: Place,
    pub(super) answer: Answer,
}

/// A place that is asked for at the beginning of a block.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) block: Block,
    pub(super) place: Place,
    pub(super) edges: Vec<QuestionEdge>,
    /// Whether what is there is known, with loads on the edges that have no answer.
    available: bool,
    /// Whether some path comes from an access.
    real: bool,
    /// Whether every path from here accesses the place; nothing before somebody asked.
    anticipated: Option<bool>,
    /// Why no loads may be inserted on the edges without an answer.
    refusal: Option<Refusal>,
}

/// Why a load stays of which some paths know the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// On some path nobody accesses the place.
    NotAnticipated,
    /// The address is not known where a load is missing.
    UnknownAddress,
    /// A load would be inserted where lanes part.
    Divergent,
    /// The load would run as often elsewhere.
    NoGain,
    /// The loop carries many values already.
    ManyCarried,
}

impl Refusal {
    /// What the report says.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Refusal::NotAnticipated => "where its value is missing, not every path reads it",
            Refusal::UnknownAddress => "where its value is missing, its address is not known yet",
            Refusal::Divergent => "where its value is missing, lanes have parted",
            Refusal::NoGain => "where its value is missing, a load would run as often",
            Refusal::ManyCarried => "the loop carries as many values as registers hold",
        }
    }
}

/// What came back to who asked.
pub(super) enum Availability {
    /// These values answer the question on every way.
    Values(Vec<Value>),
    /// What the nodes say, of which the first one is the question.
    Nodes(Vec<Node>),
    /// Nothing is known; a reason, if some path knows.
    Unknown(Option<Refusal>),
}

/// What questions about one load have in common.
pub(super) struct Question<'a> {
    pub(super) flow: &'a Flow<'a>,
    pub(super) function: &'a Function,
    pub(super) rewriting: &'a Rewriting,
    pub(super) access: &'a MemoryAccess,
    /// Loads may be inserted only where all lanes come or none.
    pub(super) keeps_uniform: bool,
    /// Loads may be inserted only in fewer loops than this.
    pub(super) depth: u32,
    /// A loop that is taken to be never left.
    pub(super) endless: Option<Loop>,
}

/// What a walk back through a block finds.
pub(super) enum Scan {
    /// An access that tells what is in the place.
    Values(Vec<Value>),
    /// What may change the place, or computes where it is.
    Ended,
    /// Nothing of these.
    Through,
}

impl Question<'_> {
    /// Asks for the place of the access in front of a position of a block.
    pub(super) fn ask(&self, block: Block, position: usize) -> Availability {
        match self.scan_block(block, position, &self.access.place) {
            Scan::Values(values) => return Availability::Values(values),
            Scan::Ended => return Availability::Unknown(None),
            Scan::Through => {}
        }
        let mut nodes = self.explore(block);
        self.solve(&mut nodes);
        if nodes[0].available {
            return Availability::Nodes(nodes);
        }
        let last_refusal = nodes.iter().rev().find_map(|node| node.refusal);
        Availability::Unknown(last_refusal)
    }

    /// All nodes that the question goes to from the beginning of a block.
    fn explore(&self, block: Block) -> Vec<Node> {
        let mut nodes = vec![new_node(block, self.access.place.clone())];
        let mut next = 0;
        while next < nodes.len() {
            let (block, place) = (nodes[next].block, nodes[next].place.clone());
            let edges = self.edges_to(block).into_iter().map(|(source, edge)| {
                let Some(edge) = edge else {
                    return QuestionEdge { source, place: place.clone(), answer: Answer::Unknown };
                };
                let place = place_on_edge(self.function, &place, edge);
                let answer = self.answer_at_end(source, &place, &mut nodes);
                QuestionEdge { source, place, answer }
            });
            nodes[next].edges = edges.collect();
            next += 1;
        }
        nodes
    }

    /// The sources of a block's edges, and the edge if it is the only one from there.
    pub(super) fn edges_to(&self, block: Block) -> Vec<(Block, Option<&BlockCall>)> {
        let sources = self.flow.edges.predecessors(block).iter();
        sources
            .map(|&source| {
                let targets = self.function.blocks[source].terminator.targets();
                let mut edges = targets.into_iter().filter(|target| target.block == block);
                let first_edge = edges.next();
                (source, if edges.next().is_none() { first_edge } else { None })
            })
            .collect()
    }

    /// The answer at the end of a block; a node more where the question goes on.
    fn answer_at_end(&self, block: Block, place: &Place, nodes: &mut Vec<Node>) -> Answer {
        if !self.flow.spend_visit(block) {
            return Answer::Unknown;
        }
        if let Some(values) = self.rewriting.loaded_at_end(block, place) {
            return Answer::Values(values);
        }
        match self.scan_block(block, usize::MAX, place) {
            Scan::Values(values) => Answer::Values(values),
            Scan::Ended => Answer::Unknown,
            Scan::Through => {
                if let Some(values) = self.rewriting.known_at_start(block, place) {
                    return Answer::Values(values);
                }
                if let Some(known) = nodes.iter().position(|node| node.block == block && node.place == *place) {
                    return Answer::Node(known);
                }
                let visits = nodes.iter().filter(|node| node.block == block).count();
                if visits >= MOST_VISITS || nodes.len() >= MOST_NODES || block == self.function.entry_block() {
                    return Answer::Unknown;
                }
                nodes.push(new_node(block, place.clone()));
                Answer::Node(nodes.len() - 1)
            }
        }
    }

    /// Looks for who tells what is in a place, from a position of a block backward.
    pub(super) fn scan_block(&self, block: Block, position: usize, place: &Place) -> Scan {
        let defined = self.flow.memory.definitions_in(self.function, block, place).filter(|&at| at < position).max();
        let events = self.flow.memory.events[block].iter().rev().skip_while(|event| event.position >= position);
        for event in events.take_while(|event| defined.is_none_or(|defined| event.position > defined)) {
            match effect_of(self.function, event, place, &self.access.memory) {
                Effect::Tells => {
                    return event.access.as_ref().map_or(Scan::Ended, |access| Scan::Values(access.values.clone()));
                }
                Effect::Ends => return Scan::Ended,
                Effect::Passes => {}
            }
        }
        if defined.is_some() { Scan::Ended } else { Scan::Through }
    }

    /// Finds which nodes are available: the most that agree with each other, where loads are inserted only for what some path knows.
    fn solve(&self, nodes: &mut [Node]) {
        loop {
            mark_real(nodes);
            let Some(lost) = (0..nodes.len()).find(|&index| nodes[index].available && !self.is_available(nodes, index))
            else {
                break;
            };
            nodes[lost].available = false;
        }
    }

    fn is_available(&self, nodes: &mut [Node], index: usize) -> bool {
        let missing = |edge: &&QuestionEdge| !is_answered(nodes, &edge.answer);
        if nodes[index].edges.is_empty() {
            return false;
        }
        if !nodes[index].edges.iter().any(|edge| missing(&edge)) {
            return true;
        }
        if !nodes[index].real {
            return false;
        }
        let refusal = self.refuse_insertion(nodes[index].edges.iter().filter(missing));
        let refusal =
            refusal.or_else(|| (!self.is_node_anticipated(&mut nodes[index])).then_some(Refusal::NotAnticipated));
        nodes[index].refusal = refusal;
        refusal.is_none()
    }

    /// Why loads may not stand at the ends of these edges' sources, if not for what follows.
    fn refuse_insertion<'b>(&self, edges: impl Iterator<Item = &'b QuestionEdge>) -> Option<Refusal> {
        let Question { flow, function, .. } = self;
        edges.into_iter().find_map(|edge| {
            let targets = function.blocks[edge.source].terminator.targets();
            if targets.len() != 1 || !flow.is_known_at_end(function, edge.source, &edge.place) {
                Some(Refusal::UnknownAddress)
            } else if flow.loops.loop_depth(edge.source) >= self.depth {
                Some(Refusal::NoGain)
            } else if self.keeps_uniform && flow.dependent_blocks.contains(edge.source) {
                Some(Refusal::Divergent)
            } else {
                None
            }
        })
    }

    fn is_node_anticipated(&self, node: &mut Node) -> bool {
        *node.anticipated.get_or_insert_with(|| self.anticipation().holds_at_start(node.block, &node.place))
    }

    /// The question whether loads of places of the same memory may be inserted.
    pub(super) fn anticipation(&self) -> Anticipation<'_> {
        let &Question { flow, function, access, endless, .. } = self;
        Anticipation { flow, function, memory: &access.memory, align: access.align, endless }
    }
}

fn new_node(block: Block, place: Place) -> Node {
    Node { block, place, edges: Vec::new(), available: true, real: false, anticipated: None, refusal: None }
}

/// Where a place of a block is, told at the end of an edge's source.
pub(super) fn place_on_edge(function: &Function, place: &Place, edge: &BlockCall) -> Place {
    let (address, constant) = address_on_edge(function, &place.address, edge);
    Place { address, start: place.start.wrapping_add(constant), ..place.clone() }
}

/// Whether what is there is known on an edge.
pub(super) fn is_answered(nodes: &[Node], answer: &Answer) -> bool {
    match answer {
        Answer::Values(_) => true,
        Answer::Node(source) => nodes[*source].available,
        Answer::Unknown => false,
    }
}

/// Finds which available nodes some path from an access comes to.
fn mark_real(nodes: &mut [Node]) {
    nodes.iter_mut().for_each(|node| node.real = false);
    let is_real = |nodes: &[Node], answer: &Answer| match answer {
        Answer::Values(_) => true,
        Answer::Node(source) => nodes[*source].available && nodes[*source].real,
        Answer::Unknown => false,
    };
    let reached =
        |nodes: &[Node], node: &Node| !node.real && node.edges.iter().any(|edge| is_real(nodes, &edge.answer));
    while let Some(index) = (0..nodes.len()).find(|&index| reached(nodes, &nodes[index])) {
        nodes[index].real = true;
    }
}
