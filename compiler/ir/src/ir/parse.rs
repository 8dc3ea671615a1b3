//! The text form of the IR (`.pir`), read. Its grammar is what `print` writes; blanks and line ends
//! mean nothing, `;` starts a comment.
//!
//! Values and blocks get the numbers they have in the text. Where numbers are left out, constants or
//! entities that nothing refers to take their places, so a text keeps its numbers when printed again.

use super::lex::{ParseError, Pos, Token, lex};
use super::*;
use lockstep_protocol::parameters::{Input, KernelAttrs, Param, ParamKind};
use lockstep_protocol::types::{Space, Type};
use lockstep_protocol::variables::{FormatData, Global, GlobalData};

/// Values and blocks must have smaller numbers.
const MAX_NUMBER: u32 = 1 << 22;
/// Bytes of globals' contents in one text.
const MAX_INIT: u64 = 1 << 28;

mod code;
mod resolve;

type Result<T> = std::result::Result<T, ParseError>;

/// Reads a module.
pub fn parse_module(text: &str) -> Result<Module> {
    let mut parser = Parser { tokens: lex(text)?, at: 0 };
    parser.parse_module()
}

struct Parser {
    tokens: Vec<(Token, Pos)>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn pos(&self) -> Pos {
        self.tokens[self.at].1
    }

    fn next(&mut self) -> (Token, Pos) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn expect_sign(&mut self, character: char) -> Result<()> {
        match self.next() {
            (Token::Sign(digit), _) if character == digit => Ok(()),
            (token, position) => position.error_at(format!("expected `{character}`, found {token}")),
        }
    }

    fn take_sign(&mut self, character: char) -> bool {
        let is_next = *self.peek() == Token::Sign(character);
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect_word(&mut self, expected: &str) -> Result<(String, Pos)> {
        match self.next() {
            (Token::Word(word), position) => Ok((word, position)),
            (token, position) => position.error_at(format!("expected {expected}, found {token}")),
        }
    }

    fn peek_word(&self) -> &str {
        match self.peek() {
            Token::Word(word) => word,
            _ => "",
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_word() == word;
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect_keyword(&mut self, keyword: &str) -> Result<()> {
        let (word, position) = self.expect_word(&format!("`{keyword}`"))?;
        if word == keyword { Ok(()) } else { position.error_at(format!("expected `{keyword}`, found `{word}`")) }
    }

    fn parse_number<T: TryFrom<i128>>(&mut self) -> Result<T> {
        match self.next() {
            (Token::Number(text), position) => {
                let number = parse_integer(&text).and_then(|integer| T::try_from(integer).ok());
                number.map_or_else(|| position.error_at(format!("`{text}` is no number for this place")), Ok)
            }
            (token, position) => position.error_at(format!("expected a number, found {token}")),
        }
    }

    fn parse_bytes(&mut self) -> Result<Vec<u8>> {
        match self.next() {
            (Token::Str(bytes), _) => Ok(bytes),
            (token, position) => position.error_at(format!("expected a string, found {token}")),
        }
    }

    fn parse_string(&mut self) -> Result<String> {
        let position = self.pos();
        String::from_utf8(self.parse_bytes()?).or_else(|_| position.error_at("this string is not UTF-8"))
    }

    fn parse_type(&mut self) -> Result<Type> {
        let (word, position) = self.expect_word("a type")?;
        type_from_name(&word).map_or_else(|| position.error_at(format!("`{word}` is no type")), Ok)
    }

    /// A word `prefix` + number, as entities are written.
    fn parse_entity(&mut self, prefix: &str, expected: &str) -> Result<(u32, Pos)> {
        let (word, position) = self.expect_word(expected)?;
        match entity_number(&word, prefix) {
            Some(n) if n < MAX_NUMBER => Ok((n, position)),
            Some(_) => position.error_at(format!("the number of `{word}` is too large")),
            None => position.error_at(format!("expected {expected}, found `{word}`")),
        }
    }

    /// An entity whose number must be the next one of its kind.
    fn next_entity(&mut self, prefix: &str, expected: &str, entity_count: usize) -> Result<()> {
        let (number, position) = self.parse_entity(prefix, expected)?;
        if number as usize == entity_count {
            Ok(())
        } else {
            position.error_at(format!("expected `{prefix}{entity_count}`, found `{prefix}{number}`"))
        }
    }

    fn parse_list<T>(
        &mut self,
        closing_sign: char,
        mut parse_item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.take_sign(closing_sign) {
            return Ok(items);
        }
        loop {
            items.push(parse_item(self)?);
            if !self.take_sign(',') {
                self.expect_sign(closing_sign)?;
                return Ok(items);
            }
        }
    }

    /// ` + 4`, ` - 4` or nothing.
    fn parse_offset(&mut self) -> Result<i64> {
        let position = self.pos();
        let number = if self.take_sign('+') {
            i128::from(self.parse_number::<u64>()?)
        } else if self.take_sign('-') {
            -i128::from(self.parse_number::<u64>()?)
        } else {
            0
        };
        i64::try_from(number).or_else(|_| position.error_at("this offset is too large"))
    }

    fn parse_align(&mut self) -> Result<u32> {
        self.expect_keyword("align")?;
        self.parse_number()
    }

    /// How a slot lies, if not apart.
    fn parse_layout(&mut self) -> Result<SlotLayout> {
        if self.take_word("shared") {
            return Ok(SlotLayout::Shared);
        }
        if !self.take_word("interleaved") {
            return Ok(SlotLayout::Apart);
        }
        let element = self.parse_number()?;
        self.expect_keyword("lanes")?;
        Ok(SlotLayout::Interleaved { element, lanes: self.parse_number()? })
    }

    fn parse_module(&mut self) -> Result<Module> {
        let mut module = Module::default();
        let mut init_left = MAX_INIT;
        loop {
            match self.next() {
                (Token::End, _) => return Ok(module),
                (Token::Word(word), _) if word == "global" => {
                    self.next_entity("g", "a global", module.globals.len())?;
                    let global = self.parse_global(&mut init_left)?;
                    module.globals.push(global);
                }
                (Token::Word(word), _) if word == "format" => {
                    self.next_entity("fmt", "a format", module.formats.len())?;
                    let text = self.parse_bytes()?;
                    self.expect_sign('(')?;
                    let arguments = self.parse_list(')', |parser| {
                        let value_type = parser.parse_type()?;
                        Ok((value_type, if parser.take_word("x") { parser.parse_number()? } else { 1 }))
                    })?;
                    let is_failure = self.take_word("failure");
                    module.formats.push(FormatData { text, args: arguments, is_failure });
                }
                (Token::Word(word), _) if word == "kernel" => {
                    let kernel = self.parse_kernel()?;
                    module.kernels.push(kernel);
                }
                (Token::Word(word), _) if word == "function" => {
                    self.next_entity("fn", "a function", module.functions.len())?;
                    let function = self.parse_kernel()?;
                    module.functions.push(function);
                }
                (token, position) => {
                    let expected = "`global`, `format`, `function` or `kernel`";
                    return position.error_at(format!("expected {expected}, found {token}"));
                }
            }
        }
    }

    fn parse_global(&mut self, init_left: &mut u64) -> Result<GlobalData> {
        let name = self.parse_string()?;
        let (word, position) = self.expect_word("an address space")?;
        let Some(address_space) = space_from_name(&word) else {
            return position.error_at(format!("`{word}` is no address space"));
        };
        let alignment = self.parse_align()?;
        let constant = self.take_word("constant");
        self.expect_keyword("size")?;
        let position = self.pos();
        let size: u64 = self.parse_number()?;
        if size > *init_left {
            return position.error_at("globals larger than 256 MiB have no text form");
        }
        *init_left -= size;
        let mut initial = vec![0; size as usize];
        if self.take_word("init") {
            let (token, position) = self.next();
            let Token::Number(text) = token else {
                return position.error_at(format!("expected hexadecimal bytes, found {token}"));
            };
            let Some(bytes) = hex_bytes(&text) else {
                return position.error_at("expected `0x` and two hexadecimal digits per byte");
            };
            if bytes.len() > initial.len() {
                return position.error_at("more bytes than the global's size");
            }
            initial[..bytes.len()].copy_from_slice(&bytes);
        }
        let mut relocs = Vec::new();
        if self.take_word("relocs") {
            self.expect_sign('[')?;
            relocs = self.parse_list(']', Parser::parse_reloc)?;
        }
        Ok(GlobalData { name, space: address_space, align: alignment, init: initial, relocs, constant })
    }

    /// The offset of an address in a global, and what it is the address of.
    fn parse_reloc(&mut self) -> Result<(u64, Global, i64)> {
        let offset = self.parse_number()?;
        self.expect_sign(':')?;
        let (target, _) = self.parse_entity("g", "a global")?;
        Ok((offset, Global::from_u32(target), self.parse_offset()?))
    }

    fn parse_size3(&mut self) -> Result<[u32; 3]> {
        self.expect_sign('(')?;
        let x = self.parse_number()?;
        self.expect_sign(',')?;
        let y = self.parse_number()?;
        self.expect_sign(',')?;
        let z = self.parse_number()?;
        self.expect_sign(')')?;
        Ok([x, y, z])
    }

    fn parse_kernel(&mut self) -> Result<Kernel> {
        let mut kernel = Kernel {
            name: self.parse_string()?,
            params: Vec::new(),
            args_size: 0,
            inputs: Vec::new(),
            results: Vec::new(),
            slots: Default::default(),
            locals: Default::default(),
            live: Default::default(),
            regions: Default::default(),
            combines: Default::default(),
            attrs: KernelAttrs::default(),
            definition: None,
        };
        self.expect_sign('{')?;
        loop {
            if self.take_sign('}') {
                return Ok(kernel);
            }
            let (word, position) = self.expect_word("a part of the kernel or `}`")?;
            match word.as_str() {
                "args" => kernel.args_size = self.parse_number()?,
                "param" => {
                    let parameter = self.parse_param()?;
                    kernel.params.push(parameter);
                }
                "reqd_work_group_size" => kernel.attrs.reqd_work_group_size = Some(self.parse_size3()?),
                "work_group_size_hint" => kernel.attrs.work_group_size_hint = Some(self.parse_size3()?),
                "vec_type_hint" => kernel.attrs.vec_type_hint = Some(self.parse_string()?),
                "reqd_sub_group_size" => {
                    self.expect_sign('(')?;
                    kernel.attrs.reqd_sub_group_size = Some(self.parse_number()?);
                    self.expect_sign(')')?;
                }
                "attributes" => kernel.attrs.text = self.parse_string()?,
                "input" => {
                    let (kind, position) = self.expect_word("`value`, `address` or `passed`")?;
                    self.expect_sign('(')?;
                    let param = self.parse_number()?;
                    let input = match kind.as_str() {
                        "value" => {
                            self.expect_sign(',')?;
                            let offset = self.parse_number()?;
                            Input::Value { param, offset }
                        }
                        "address" => Input::Address { param },
                        "passed" => Input::Passed { position: param },
                        _ => return position.error_at(format!("`{kind}` is no kind of input")),
                    };
                    self.expect_sign(')')?;
                    self.expect_sign(':')?;
                    let value_type = self.parse_type()?;
                    kernel.inputs.push((input, value_type));
                }
                "result" => kernel.results.push(self.parse_type()?),
                "slot" => {
                    self.next_entity("ss", "a slot", kernel.slots.len())?;
                    self.expect_keyword("size")?;
                    let size = self.parse_number()?;
                    let alignment = self.parse_align()?;
                    let layout = self.parse_layout()?;
                    kernel.slots.push(SlotData { size, align: alignment, layout });
                }
                "local" => {
                    self.next_entity("lv", "a local variable", kernel.locals.len())?;
                    self.expect_keyword("size")?;
                    let size = self.parse_number()?;
                    let alignment = self.parse_align()?;
                    kernel.locals.push(LocalData { size, align: alignment, counters: None });
                }
                "live" => {
                    self.next_entity("ls", "a live slot", kernel.live.len())?;
                    self.expect_sign(':')?;
                    let value_type = self.parse_type()?;
                    let shared = self.take_word("shared");
                    kernel.live.push(LiveData { ty: value_type, shared });
                }
                "region" => {
                    self.next_entity("r", "a region", kernel.regions.len())?;
                    let combine = if self.take_word("combines") { Some(self.parse_combine()?) } else { None };
                    self.expect_sign('{')?;
                    let function = self.parse_function()?;
                    let region = kernel.regions.push(function);
                    if combine.is_some() {
                        kernel.combines[region] = combine;
                    }
                }
                _ => return position.error_at(format!("`{word}` is no part of a kernel")),
            }
        }
    }

    fn parse_combine(&mut self) -> Result<Combine> {
        let (word, position) = self.expect_word("a collective operation")?;
        let parts = word
            .split_once('.')
            .map(|(combined, operation)| (Collect::from_name(combined), BinaryOp::from_name(operation)));
        let Some((Some(collective), Some(opcode))) = parts else {
            return position.error_at(format!("`{word}` is no collective operation"));
        };
        let live_slot = LiveSlot::from_u32(self.parse_entity("ls", "a live slot")?.0);
        Ok(Combine { collective, opcode, live_slot })
    }

    fn parse_param(&mut self) -> Result<Param> {
        let name = self.parse_string()?;
        let (word, position) = self.expect_word("a kind of parameter")?;
        let kind = match word.as_str() {
            "value" => ParamKind::Value,
            "local" => ParamKind::Local,
            "image" => ParamKind::Image,
            "sampler" => ParamKind::Sampler,
            _ => match word.strip_prefix("pointer.").and_then(space_from_name) {
                Some(address_space) => ParamKind::Pointer(address_space),
                None => return position.error_at(format!("`{word}` is no kind of parameter")),
            },
        };
        let type_name = self.parse_string()?;
        self.expect_keyword("size")?;
        let size = self.parse_number()?;
        let alignment = self.parse_align()?;
        self.expect_keyword("offset")?;
        let offset = self.parse_number()?;
        let access = if self.take_word("access") { self.parse_string()? } else { String::new() };
        let qualifiers = if self.take_word("qualifiers") { self.parse_string()? } else { String::new() };
        Ok(Param {
            name,
            type_name,
            kind,
            size,
            align: alignment,
            offset,
            access,
            qualifiers,
            readonly: self.take_word("readonly"),
            restrict: self.take_word("restrict"),
        })
    }
}

fn parse_integer(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if digits.len() % 2 != 0 {
        return None;
    }
    let digit = |character: u8| char::from(character).to_digit(16);
    digits.chunks(2).map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}

fn entity_number(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    if digits.is_empty() || !digits.bytes().all(|character| character.is_ascii_digit()) {
        return None;
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    digits.parse().ok().or(Some(u32::MAX))
}

fn space_from_name(name: &str) -> Option<Space> {
    Space::ALL.into_iter().find(|address_space| address_space.name() == name)
}

/// The type with this name in text.
fn type_from_name(name: &str) -> Option<Type> {
    match name {
        "f16" => Some(Type::F16),
        "f32" => Some(Type::F32),
        "f64" => Some(Type::F64),
        _ => {
            if let Some(space_name) = name.strip_prefix("ptr.") {
                return space_from_name(space_name).map(Type::Ptr);
            }
            match entity_number(name, "i") {
                Some(w @ 1..=128) => Some(Type::Int(w as u16)),
                _ => None,
            }
        }
    }
}
