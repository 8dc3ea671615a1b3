//! Blocks, instructions and terminators of the text form.

use super::super::lex::{Pos, Token};
use super::super::*;
use super::resolve::{Body, LITERALS, Literal, PendingBlock, PendingTerm};
use super::{MAX_NUMBER, Parser, Result, entity_number};
use lockstep_protocol::variables::Global;
use std::sync::Arc;

impl Parser {
    pub(super) fn parse_function(&mut self) -> Result<Function> {
        let mut function_text = Body::default();
        loop {
            if self.take_sign('}') {
                return function_text.resolve_function();
            }
            let (number, position) = self.parse_entity("b", "a block or `}`")?;
            let mut block = PendingBlock::default();
            if self.take_sign('(') {
                block.params = self.parse_list(')', |parser| parser.parse_definition(&mut function_text))?;
            }
            if self.take_word("mask") {
                block.mask = Some(self.parse_operand(&mut function_text)?);
            }
            self.expect_sign(':')?;
            while block.terminator.is_none() {
                self.parse_line(&mut function_text, &mut block)?;
            }
            function_text.blocks.push((number, position, block));
        }
    }

    /// `v3: i32`, a value's definition.
    fn parse_definition(&mut self, function_text: &mut Body) -> Result<Value> {
        let (number, position) = self.parse_entity("v", "a value")?;
        self.expect_sign(':')?;
        let value_type = self.parse_type()?;
        if function_text.values.insert(number, (value_type, position)).is_some() {
            return position.error_at(format!("v{number} is defined twice"));
        }
        Ok(Value::from_u32(number))
    }

    /// One instruction or terminator.
    fn parse_line(&mut self, function_text: &mut Body, block: &mut PendingBlock) -> Result<()> {
        let mut results = Vec::new();
        if entity_number(self.peek_word(), "v").is_some() {
            results.push(self.parse_definition(function_text)?);
            while self.take_sign(',') {
                results.push(self.parse_definition(function_text)?);
            }
            self.expect_sign('=')?;
        }
        let (word, position) = self.expect_word("an instruction")?;
        if results.is_empty()
            && let Some(terminator) = self.parse_terminator(&word, function_text)?
        {
            block.terminator = Some((terminator, position));
            return Ok(());
        }
        let inst_data = self.parse_instruction(&word, position, function_text)?;
        let mut location = SourceLoc::default();
        if self.take_sign('@') {
            location.line = self.parse_number()?;
            self.expect_sign(':')?;
            location.column = self.parse_number()?;
        }
        block.insts.push((inst_data, results, location));
        Ok(())
    }

    fn parse_operand(&mut self, function_text: &mut Body) -> Result<Value> {
        let (token, position) = self.next();
        let text = match token {
            Token::Word(word) => {
                if let Some(number) = entity_number(&word, "v") {
                    if number >= MAX_NUMBER {
                        return position.error_at(format!("the number of `{word}` is too large"));
                    }
                    let value = Value::from_u32(number);
                    function_text.value_uses.push((value, position));
                    return Ok(value);
                }
                if !matches!(word.as_str(), "true" | "false" | "null" | "inf") {
                    return position.error_at(format!("expected an operand, found `{word}`"));
                }
                word
            }
            Token::Number(text) => text,
            token => return position.error_at(format!("expected an operand, found {token}")),
        };
        let literal_type = if self.take_sign(':') { Some(self.parse_type()?) } else { None };
        function_text.literals.push(Literal { text, ty: literal_type, position });
        Ok(Value::from_u32(LITERALS + function_text.literals.len() as u32 - 1))
    }

    fn parse_operands<const N: usize>(&mut self, function_text: &mut Body) -> Result<[Value; N]> {
        let mut arguments = [Value::from_u32(0); N];
        for (index, argument) in arguments.iter_mut().enumerate() {
            if index > 0 {
                self.expect_sign(',')?;
            }
            *argument = self.parse_operand(function_text)?;
        }
        Ok(arguments)
    }

    fn block_call(&mut self, function_text: &mut Body) -> Result<BlockCall> {
        let (number, position) = self.parse_entity("b", "a block")?;
        let block = Block::from_u32(number);
        function_text.block_uses.push((block, position));
        let arguments = if self.take_sign('(') {
            self.parse_list(')', |parser| parser.parse_operand(function_text))?
        } else {
            Vec::new()
        };
        Ok(BlockCall { block, arguments })
    }

    fn parse_terminator(&mut self, word: &str, function_text: &mut Body) -> Result<Option<PendingTerm>> {
        Ok(Some(PendingTerm::Ready(match word {
            "jump" => Terminator::Jump(self.block_call(function_text)?),
            "br" => {
                let condition = self.parse_operand(function_text)?;
                self.expect_sign(',')?;
                let then_to = self.block_call(function_text)?;
                self.expect_sign(',')?;
                let else_to = self.block_call(function_text)?;
                Terminator::Branch { condition, then_to, else_to }
            }
            "switch" => {
                let value = self.parse_operand(function_text)?;
                self.expect_sign('[')?;
                let cases = self.parse_list(']', |parser| parser.parse_case(function_text))?;
                self.expect_keyword("default")?;
                let default = self.block_call(function_text)?;
                return Ok(Some(PendingTerm::Switch(value, cases, default)));
            }
            "return" => Terminator::Return,
            "exit" => Terminator::Exit(Region::from_u32(self.parse_entity("r", "a region")?.0)),
            "unreachable" => Terminator::Unreachable,
            _ => return Ok(None),
        })))
    }

    fn parse_case(&mut self, function_text: &mut Body) -> Result<(Literal, BlockCall)> {
        let (token, position) = self.next();
        let text = match token {
            Token::Number(text) | Token::Word(text) => text,
            token => return position.error_at(format!("expected a case, found {token}")),
        };
        let key = Literal { text, ty: None, position };
        self.expect_sign(':')?;
        Ok((key, self.block_call(function_text)?))
    }

    fn parse_instruction(&mut self, word: &str, position: Pos, function_text: &mut Body) -> Result<InstData> {
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or_default();
        let mut flags = Flags(parts.collect());
        let unknown = || position.error_at(format!("`{word}` is no instruction"));
        let inst_data = if let Some(opcode) = UnaryOp::from_name(name) {
            let fast_math = flags.fast_math();
            let [argument] = self.parse_operands(function_text)?;
            InstData::Unary { opcode, fast_math, argument }
        } else if let Some(opcode) = BinaryOp::from_name(name) {
            let int_flags = IntFlags { nsw: flags.take_flag("nsw"), nuw: flags.take_flag("nuw") };
            InstData::Binary {
                opcode,
                flags: int_flags,
                fast_math: flags.fast_math(),
                arguments: self.parse_operands(function_text)?,
            }
        } else if let Some(opcode) = TernaryOp::from_name(name) {
            InstData::Ternary { opcode, fast_math: flags.fast_math(), arguments: self.parse_operands(function_text)? }
        } else {
            match name {
                "icmp" => {
                    let Some(comparison) = flags.take_named(IntCc::from_name) else {
                        return unknown();
                    };
                    let arguments = self.parse_operands(function_text)?;
                    InstData::Icmp { comparison, arguments }
                }
                "fcmp" => {
                    let Some(comparison) = flags.take_named(FloatCc::from_name) else {
                        return unknown();
                    };
                    InstData::Fcmp {
                        comparison,
                        fast_math: flags.fast_math(),
                        arguments: self.parse_operands(function_text)?,
                    }
                }
                "ptradd" => {
                    let inbounds = flags.take_flag("inbounds");
                    let [base_address, offset] = self.parse_operands(function_text)?;
                    InstData::PtrAdd { base: base_address, offset, inbounds }
                }
                "load" | "store" => {
                    let volatile = flags.take_flag("volatile");
                    let atomic = flags.take_named(Ordering::from_name);
                    let mut arguments = Vec::new();
                    if name == "store" {
                        arguments.push(self.parse_operand(function_text)?);
                        while self.take_sign(',') {
                            arguments.push(self.parse_operand(function_text)?);
                        }
                        self.expect_keyword("to")?;
                    }
                    let pointer = self.parse_operand(function_text)?;
                    let offset = self.parse_offset()?;
                    let access = Access { align: self.parse_align()?, volatile, atomic };
                    if name == "load" {
                        InstData::Load { pointer, offset, access }
                    } else {
                        InstData::Store { pointer, offset, access, arguments }
                    }
                }
                "memcpy" | "memmove" => {
                    let volatile = flags.take_flag("volatile");
                    let [destination, source, length] = self.parse_operands(function_text)?;
                    InstData::MemCopy { destination, source, length, overlap: name == "memmove", volatile }
                }
                "memset" => {
                    let volatile = flags.take_flag("volatile");
                    let [destination, byte, length] = self.parse_operands(function_text)?;
                    InstData::MemSet { destination, byte, length, volatile }
                }
                "atomic_rmw" => {
                    let (Some(opcode), Some(order)) =
                        (flags.take_named(AtomicOp::from_name), flags.take_named(Ordering::from_name))
                    else {
                        return unknown();
                    };
                    let [pointer, argument] = self.parse_operands(function_text)?;
                    InstData::AtomicRmw { opcode, order, align: self.parse_align()?, pointer, argument }
                }
                "atomic_cas" => {
                    let (Some(success), Some(failure)) =
                        (flags.take_named(Ordering::from_name), flags.take_named(Ordering::from_name))
                    else {
                        return unknown();
                    };
                    let [pointer, expected, new_value] = self.parse_operands(function_text)?;
                    InstData::AtomicCas {
                        success,
                        failure,
                        align: self.parse_align()?,
                        pointer,
                        expected,
                        new: new_value,
                    }
                }
                "fence" => match flags.take_named(Ordering::from_name) {
                    Some(order) => InstData::Fence { order },
                    None => return unknown(),
                },
                "query" => match flags.take_named(Query::from_name) {
                    Some(query) => InstData::Query { query, dimension: self.parse_number()? },
                    None => return unknown(),
                },
                "slot_addr" => InstData::SlotAddr { slot: Slot::from_u32(self.parse_entity("ss", "a slot")?.0) },
                "local_addr" => {
                    InstData::LocalAddr { local: LocalVar::from_u32(self.parse_entity("lv", "a local variable")?.0) }
                }
                "global_addr" => {
                    InstData::GlobalAddr { global: Global::from_u32(self.parse_entity("g", "a global")?.0) }
                }
                "barrier" => InstData::Barrier,
                "collective" => {
                    let (Some(collective), Some(opcode)) =
                        (flags.take_named(Collect::from_name), flags.take_named(BinaryOp::from_name))
                    else {
                        return unknown();
                    };
                    InstData::Collective { collective, opcode, argument: self.parse_operand(function_text)? }
                }
                "across" => {
                    let (Some(collective), Some(opcode)) =
                        (flags.take_named(Collect::from_name), flags.take_named(BinaryOp::from_name))
                    else {
                        return unknown();
                    };
                    let clusters = |flag: &str| Cluster::with_lanes(flag.strip_prefix("of")?.parse().ok()?);
                    let cluster = flags.take_named(clusters).unwrap_or_default();
                    InstData::Across { collective, opcode, cluster, argument: self.parse_operand(function_text)? }
                }
                "shuffle" => {
                    let [argument, lane] = self.parse_operands(function_text)?;
                    InstData::Shuffle { argument, lane }
                }
                "gang_barrier" => InstData::GangBarrier,
                "clock" => InstData::Clock,
                "yield" => InstData::Yield,
                "count_iterations" => {
                    let loop_number = self.parse_number()?;
                    self.expect_sign(',')?;
                    InstData::CountIterations { loop_number, argument: self.parse_operand(function_text)? }
                }
                "combined" => InstData::Combined,
                "live_load" => {
                    InstData::LiveLoad { live_slot: LiveSlot::from_u32(self.parse_entity("ls", "a live slot")?.0) }
                }
                "live_store" => {
                    let live_slot = LiveSlot::from_u32(self.parse_entity("ls", "a live slot")?.0);
                    self.expect_sign(',')?;
                    let argument = self.parse_operand(function_text)?;
                    InstData::LiveStore { live_slot, argument }
                }
                "any" => InstData::Any { condition: self.parse_operand(function_text)? },
                "ballot" => InstData::Ballot { condition: self.parse_operand(function_text)? },
                "lane_of" => {
                    let [argument, lane] = self.parse_operands(function_text)?;
                    InstData::LaneOf { argument, lane }
                }
                "put" => {
                    let [into, lane, value] = self.parse_operands(function_text)?;
                    InstData::Put { into, lane, value }
                }
                "call_host" => {
                    let name = Arc::from(self.parse_string()?);
                    self.expect_sign('(')?;
                    let arguments = self.parse_list(')', |parser| parser.parse_operand(function_text))?;
                    InstData::CallHost { name, arguments }
                }
                "call" => {
                    let callee = Callee::from_u32(self.parse_entity("fn", "a function")?.0);
                    self.expect_sign('(')?;
                    let arguments = self.parse_list(')', |parser| parser.parse_operand(function_text))?;
                    InstData::Call { callee, arguments }
                }
                "set_results" => {
                    let mut arguments = vec![self.parse_operand(function_text)?];
                    while self.take_sign(',') {
                        arguments.push(self.parse_operand(function_text)?);
                    }
                    InstData::SetResults { arguments }
                }
                "printf" => {
                    let format = Format::from_u32(self.parse_entity("fmt", "a format")?.0);
                    self.expect_sign('(')?;
                    let arguments = self.parse_list(')', |parser| parser.parse_operand(function_text))?;
                    InstData::Printf { format, arguments }
                }
                _ => return unknown(),
            }
        };
        if let Some(left) = flags.0.first() {
            return position.error_at(format!("`{name}` takes no `.{left}` here"));
        }
        Ok(inst_data)
    }
}

/// The dotted parts behind an operation's name, taken in the order in which they are printed.
struct Flags<'a>(Vec<&'a str>);

impl Flags<'_> {
    fn take_flag(&mut self, flag: &str) -> bool {
        let is_next = self.0.first() == Some(&flag);
        if is_next {
            self.0.remove(0);
        }
        is_next
    }

    fn take_named<T>(&mut self, from_name: impl Fn(&str) -> Option<T>) -> Option<T> {
        let named = self.0.first().and_then(|part| from_name(part));
        if named.is_some() {
            self.0.remove(0);
        }
        named
    }

    fn fast_math(&mut self) -> FastMath {
        let mut bits = 0;
        for (bit, name) in FastMath::NAMES.iter().enumerate() {
            bits |= u8::from(self.take_flag(name)) << bit;
        }
        FastMath(bits)
    }
}
