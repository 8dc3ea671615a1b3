//! Programs whose top level is a random graph, reducible or not, that all items of a group walk together.

use super::kernels::Generator;
use crate::analysis::cfg::build_cfg;
use crate::ir::*;
use lockstep_protocol::types::Type;

impl Generator {
    /// The whole program behind the prologue. Each node takes all variables as parameters, and fuel, so
    /// that every walk ends.
    pub(super) fn graph_program(&mut self) {
        let types: Vec<Type> =
            std::iter::once(Type::I32).chain(self.variables.iter().map(|variable| variable.ty)).collect();
        let node_count = 4 + self.random.below(6);
        let mut nodes = Vec::new();
        for _ in 0..=node_count {
            let node = self.builder_here().new_block(&types);
            for (variable, &parameter) in self.variables.iter().zip(&node.1[1..]) {
                self.uniform_values[parameter] = variable.uniform;
            }
            self.uniform_values[node.1[0]] = true;
            nodes.push(node);
        }
        let remaining_fuel = self.random.below(14) as i128 + 2;
        let remaining_fuel = self.builder_here().int(Type::I32, remaining_fuel);
        let arguments = self.all_values(remaining_fuel);
        self.builder_here().jump(nodes[0].0, &arguments);
        let visible_count = self.visible.len();
        let (last, inner) = nodes.split_last().expect("there is one more than `node_count`");
        for (block, parameters) in inner {
            self.enter_node(*block, parameters);
            self.visible.truncate(visible_count);
            self.budget = self.shape.statements / node_count + 1;
            if self.emit_statements(1) {
                self.move_on(parameters[0], &nodes);
            }
        }
        self.enter_node(last.0, &last.1);
        self.finish_item();
        let flow_graph = build_cfg(&self.function);
        self.function.layout.retain(|&block| flow_graph.is_reachable(block));
    }

    fn enter_node(&mut self, block: Block, parameters: &[Value]) {
        self.block = block;
        for (variable, &parameter) in self.variables.iter_mut().zip(&parameters[1..]) {
            variable.value = parameter;
        }
    }

    fn all_values(&self, remaining_fuel: Value) -> Vec<Value> {
        std::iter::once(remaining_fuel).chain(self.variables.iter().map(|variable| variable.value)).collect()
    }

    /// To some other node, or to the last one when the fuel is used up.
    fn move_on(&mut self, remaining_fuel: Value, nodes: &[(Block, Vec<Value>)]) {
        let condition = self.random_condition(true);
        let value = self.pick_value(Type::I32, true);
        let mut builder = self.builder_here();
        let one = builder.int(Type::I32, 1);
        let remaining_fuel = builder.binary(BinaryOp::Sub, remaining_fuel, one);
        let three = builder.int(Type::I32, 3);
        let value = builder.binary(BinaryOp::And, value, three);
        let zero = builder.int(Type::I32, 0);
        let has_fuel = builder.icmp(IntCc::Sgt, remaining_fuel, zero);
        let next_block = builder.new_block(&[]).0;
        let arguments = self.all_values(remaining_fuel);
        let last_block = nodes[nodes.len() - 1].0;
        self.builder_here().branch(has_fuel, (next_block, &[]), (last_block, &arguments));
        self.block = next_block;
        let [first_block, second_block, third_block] = [(); 3].map(|()| nodes[self.random.below(nodes.len() - 1)].0);
        let edge_to = |block: Block| BlockCall { block, arguments: arguments.clone() };
        let terminator = match self.random.below(8) {
            0 => Terminator::Jump(edge_to(first_block)),
            1..=3 => Terminator::Switch {
                value,
                cases: vec![(0, edge_to(first_block)), (2, edge_to(second_block))],
                default: edge_to(third_block),
            },
            _ => Terminator::Branch { condition, then_to: edge_to(first_block), else_to: edge_to(second_block) },
        };
        self.builder_here().terminate(terminator);
    }
}
