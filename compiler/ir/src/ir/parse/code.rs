//! Blocks, instructions and terminators of the text form.

use super::super::lex::{Pos, Token};
use super::super::*;
use super::resolve::{Body, LITERALS, Literal, PendingBlock, PendingTerm};
use super::{MAX_NUMBER, Parser, Result, entity_number};
use lockstep_protocol::variables::Global;
use std::sync::Arc;

impl Parser {
    pub(super) fn function(&mut self) -> Result<Function> {
        let mut body = Body::default();
        loop {
            if self.take_sign('}') {
                return body.finish();
            }
            let (number, pos) = self.entity("b", "a block or `}`")?;
            let mut block = PendingBlock::default();
            if self.take_sign('(') {
                block.params = self.list(')', |p| p.definition(&mut body))?;
            }
            if self.take_word("mask") {
                block.mask = Some(self.operand(&mut body)?);
            }
            self.sign(':')?;
            while block.term.is_none() {
                self.line(&mut body, &mut block)?;
            }
            body.blocks.push((number, pos, block));
        }
    }

    /// `v3: i32`, a value's definition.
    fn definition(&mut self, body: &mut Body) -> Result<Value> {
        let (n, pos) = self.entity("v", "a value")?;
        self.sign(':')?;
        let ty = self.ty()?;
        if body.values.insert(n, (ty, pos)).is_some() {
            return pos.error(format!("v{n} is defined twice"));
        }
        Ok(Value::from_u32(n))
    }

    /// One instruction or terminator.
    fn line(&mut self, body: &mut Body, block: &mut PendingBlock) -> Result<()> {
        let mut results = Vec::new();
        if entity_number(self.peek_word(), "v").is_some() {
            results.push(self.definition(body)?);
            while self.take_sign(',') {
                results.push(self.definition(body)?);
            }
            self.sign('=')?;
        }
        let (word, pos) = self.word("an instruction")?;
        if results.is_empty()
            && let Some(term) = self.terminator(&word, body)?
        {
            block.term = Some((term, pos));
            return Ok(());
        }
        let data = self.instruction(&word, pos, body)?;
        let mut loc = SourceLoc::default();
        if self.take_sign('@') {
            loc.line = self.number()?;
            self.sign(':')?;
            loc.column = self.number()?;
        }
        block.insts.push((data, results, loc));
        Ok(())
    }

    fn operand(&mut self, body: &mut Body) -> Result<Value> {
        let (token, pos) = self.next();
        let text = match token {
            Token::Word(word) => {
                if let Some(n) = entity_number(&word, "v") {
                    if n >= MAX_NUMBER {
                        return pos.error(format!("the number of `{word}` is too large"));
                    }
                    let value = Value::from_u32(n);
                    body.value_uses.push((value, pos));
                    return Ok(value);
                }
                if !matches!(word.as_str(), "true" | "false" | "null" | "inf") {
                    return pos.error(format!("expected an operand, found `{word}`"));
                }
                word
            }
            Token::Number(text) => text,
            token => return pos.error(format!("expected an operand, found {token}")),
        };
        let ty = if self.take_sign(':') { Some(self.ty()?) } else { None };
        body.literals.push(Literal { text, ty, pos });
        Ok(Value::from_u32(LITERALS + body.literals.len() as u32 - 1))
    }

    fn operands<const N: usize>(&mut self, body: &mut Body) -> Result<[Value; N]> {
        let mut args = [Value::from_u32(0); N];
        for (i, arg) in args.iter_mut().enumerate() {
            if i > 0 {
                self.sign(',')?;
            }
            *arg = self.operand(body)?;
        }
        Ok(args)
    }

    fn block_call(&mut self, body: &mut Body) -> Result<BlockCall> {
        let (n, pos) = self.entity("b", "a block")?;
        let block = Block::from_u32(n);
        body.block_uses.push((block, pos));
        let args = if self.take_sign('(') { self.list(')', |p| p.operand(body))? } else { Vec::new() };
        Ok(BlockCall { block, args })
    }

    fn terminator(&mut self, word: &str, body: &mut Body) -> Result<Option<PendingTerm>> {
        Ok(Some(PendingTerm::Ready(match word {
            "jump" => Terminator::Jump(self.block_call(body)?),
            "br" => {
                let cond = self.operand(body)?;
                self.sign(',')?;
                let then_to = self.block_call(body)?;
                self.sign(',')?;
                let else_to = self.block_call(body)?;
                Terminator::Branch { cond, then_to, else_to }
            }
            "switch" => {
                let value = self.operand(body)?;
                self.sign('[')?;
                let cases = self.list(']', |p| {
                    let (token, pos) = p.next();
                    let text = match token {
                        Token::Number(text) | Token::Word(text) => text,
                        token => return pos.error(format!("expected a case, found {token}")),
                    };
                    let key = Literal { text, ty: None, pos };
                    p.sign(':')?;
                    Ok((key, p.block_call(body)?))
                })?;
                self.keyword("default")?;
                let default = self.block_call(body)?;
                return Ok(Some(PendingTerm::Switch(value, cases, default)));
            }
            "return" => Terminator::Return,
            "exit" => Terminator::Exit(Region::from_u32(self.entity("r", "a region")?.0)),
            "unreachable" => Terminator::Unreachable,
            _ => return Ok(None),
        })))
    }

    fn instruction(&mut self, word: &str, pos: Pos, body: &mut Body) -> Result<InstData> {
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or_default();
        let mut flags = Flags(parts.collect());
        let unknown = || pos.error(format!("`{word}` is no instruction"));
        let data = if let Some(op) = UnaryOp::from_name(name) {
            let fmf = flags.fast_math();
            let [arg] = self.operands(body)?;
            InstData::Unary { op, fmf, arg }
        } else if let Some(op) = BinaryOp::from_name(name) {
            let int_flags = IntFlags { nsw: flags.take("nsw"), nuw: flags.take("nuw") };
            InstData::Binary { op, flags: int_flags, fmf: flags.fast_math(), args: self.operands(body)? }
        } else if let Some(op) = TernaryOp::from_name(name) {
            InstData::Ternary { op, fmf: flags.fast_math(), args: self.operands(body)? }
        } else {
            match name {
                "icmp" => {
                    let Some(cc) = flags.first(IntCc::from_name) else {
                        return unknown();
                    };
                    let args = self.operands(body)?;
                    InstData::Icmp { cc, args }
                }
                "fcmp" => {
                    let Some(cc) = flags.first(FloatCc::from_name) else {
                        return unknown();
                    };
                    InstData::Fcmp { cc, fmf: flags.fast_math(), args: self.operands(body)? }
                }
                "ptradd" => {
                    let inbounds = flags.take("inbounds");
                    let [base, offset] = self.operands(body)?;
                    InstData::PtrAdd { base, offset, inbounds }
                }
                "load" | "store" => {
                    let volatile = flags.take("volatile");
                    let atomic = flags.first(Ordering::from_name);
                    let mut args = Vec::new();
                    if name == "store" {
                        args.push(self.operand(body)?);
                        while self.take_sign(',') {
                            args.push(self.operand(body)?);
                        }
                        self.keyword("to")?;
                    }
                    let ptr = self.operand(body)?;
                    let offset = self.offset()?;
                    let access = Access { align: self.align()?, volatile, atomic };
                    if name == "load" {
                        InstData::Load { ptr, offset, access }
                    } else {
                        InstData::Store { ptr, offset, access, args }
                    }
                }
                "memcpy" | "memmove" => {
                    let volatile = flags.take("volatile");
                    let [dst, src, len] = self.operands(body)?;
                    InstData::MemCopy { dst, src, len, overlap: name == "memmove", volatile }
                }
                "memset" => {
                    let volatile = flags.take("volatile");
                    let [dst, byte, len] = self.operands(body)?;
                    InstData::MemSet { dst, byte, len, volatile }
                }
                "atomic_rmw" => {
                    let (Some(op), Some(order)) = (flags.first(AtomicOp::from_name), flags.first(Ordering::from_name))
                    else {
                        return unknown();
                    };
                    let [ptr, arg] = self.operands(body)?;
                    InstData::AtomicRmw { op, order, align: self.align()?, ptr, arg }
                }
                "atomic_cas" => {
                    let (Some(success), Some(failure)) =
                        (flags.first(Ordering::from_name), flags.first(Ordering::from_name))
                    else {
                        return unknown();
                    };
                    let [ptr, expected, new] = self.operands(body)?;
                    InstData::AtomicCas { success, failure, align: self.align()?, ptr, expected, new }
                }
                "fence" => match flags.first(Ordering::from_name) {
                    Some(order) => InstData::Fence { order },
                    None => return unknown(),
                },
                "query" => match flags.first(Query::from_name) {
                    Some(query) => InstData::Query { query, dim: self.number()? },
                    None => return unknown(),
                },
                "slot_addr" => InstData::SlotAddr { slot: Slot::from_u32(self.entity("ss", "a slot")?.0) },
                "local_addr" => {
                    InstData::LocalAddr { local: LocalVar::from_u32(self.entity("lv", "a local variable")?.0) }
                }
                "global_addr" => InstData::GlobalAddr { global: Global::from_u32(self.entity("g", "a global")?.0) },
                "barrier" => InstData::Barrier,
                "collective" => {
                    let (Some(how), Some(op)) = (flags.first(Collect::from_name), flags.first(BinaryOp::from_name))
                    else {
                        return unknown();
                    };
                    InstData::Collective { how, op, arg: self.operand(body)? }
                }
                "across" => {
                    let (Some(how), Some(op)) = (flags.first(Collect::from_name), flags.first(BinaryOp::from_name))
                    else {
                        return unknown();
                    };
                    let clusters = |flag: &str| Cluster::of(flag.strip_prefix("of")?.parse().ok()?);
                    let cluster = flags.first(clusters).unwrap_or_default();
                    InstData::Across { how, op, cluster, arg: self.operand(body)? }
                }
                "shuffle" => {
                    let [arg, lane] = self.operands(body)?;
                    InstData::Shuffle { arg, lane }
                }
                "gang_barrier" => InstData::GangBarrier,
                "clock" => InstData::Clock,
                "yield" => InstData::Yield,
                "combined" => InstData::Combined,
                "live_load" => InstData::LiveLoad { live: LiveSlot::from_u32(self.entity("ls", "a live slot")?.0) },
                "live_store" => {
                    let live = LiveSlot::from_u32(self.entity("ls", "a live slot")?.0);
                    self.sign(',')?;
                    let arg = self.operand(body)?;
                    InstData::LiveStore { live, arg }
                }
                "any" => InstData::Any { cond: self.operand(body)? },
                "ballot" => InstData::Ballot { cond: self.operand(body)? },
                "lane_of" => {
                    let [arg, lane] = self.operands(body)?;
                    InstData::LaneOf { arg, lane }
                }
                "put" => {
                    let [into, lane, value] = self.operands(body)?;
                    InstData::Put { into, lane, value }
                }
                "call_host" => {
                    let name = Arc::from(self.string()?);
                    self.sign('(')?;
                    let args = self.list(')', |p| p.operand(body))?;
                    InstData::CallHost { name, args }
                }
                "printf" => {
                    let format = Format::from_u32(self.entity("fmt", "a format")?.0);
                    self.sign('(')?;
                    let args = self.list(')', |p| p.operand(body))?;
                    InstData::Printf { format, args }
                }
                _ => return unknown(),
            }
        };
        if let Some(left) = flags.0.first() {
            return pos.error(format!("`{name}` takes no `.{left}` here"));
        }
        Ok(data)
    }
}

/// The dotted parts behind an operation's name, taken in the order in which they are printed.
struct Flags<'a>(Vec<&'a str>);

impl Flags<'_> {
    fn take(&mut self, flag: &str) -> bool {
        let found = self.0.first() == Some(&flag);
        if found {
            self.0.remove(0);
        }
        found
    }

    fn first<T>(&mut self, from_name: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = self.0.first().and_then(|part| from_name(part));
        if found.is_some() {
            self.0.remove(0);
        }
        found
    }

    fn fast_math(&mut self) -> FastMath {
        let mut bits = 0;
        for (bit, name) in FastMath::NAMES.iter().enumerate() {
            bits |= u8::from(self.take(name)) << bit;
        }
        FastMath(bits)
    }
}
