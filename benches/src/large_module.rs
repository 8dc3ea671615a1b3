//! SPIR-V modules of any size: kernels of loops over arithmetic, loads and stores, as many as the size takes.

/// What one kernel does in its loop, so many times.
const UNITS: u32 = 100;

const MAGIC: u32 = 0x0723_0203;
/// The version word of a module's head: 1.2 of SPIR-V.
const VERSION: u32 = 0x0001_0200;
/// The number of `GlobalInvocationId` among the built-in variables.
const GLOBAL_INVOCATION_ID: u32 = 28;

/// The numbers of instructions in the SPIR-V specification.
mod op {
    pub const MEMORY_MODEL: u32 = 14;
    pub const ENTRY_POINT: u32 = 15;
    pub const CAPABILITY: u32 = 17;
    pub const TYPE_VOID: u32 = 19;
    pub const TYPE_BOOL: u32 = 20;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_FLOAT: u32 = 22;
    pub const TYPE_VECTOR: u32 = 23;
    pub const TYPE_POINTER: u32 = 32;
    pub const TYPE_FUNCTION: u32 = 33;
    pub const CONSTANT: u32 = 43;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_PARAMETER: u32 = 55;
    pub const FUNCTION_END: u32 = 56;
    pub const VARIABLE: u32 = 59;
    pub const LOAD: u32 = 61;
    pub const STORE: u32 = 62;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
    pub const DECORATE: u32 = 71;
    pub const COMPOSITE_EXTRACT: u32 = 81;
    pub const I_ADD: u32 = 128;
    pub const F_ADD: u32 = 129;
    pub const F_MUL: u32 = 133;
    pub const SELECT: u32 = 169;
    pub const U_LESS_THAN: u32 = 176;
    pub const F_ORD_LESS_THAN: u32 = 184;
    pub const PHI: u32 = 245;
    pub const LABEL: u32 = 248;
    pub const BRANCH: u32 = 249;
    pub const BRANCH_CONDITIONAL: u32 = 250;
    pub const RETURN: u32 = 253;
}

/// The ids that all kernels use.
#[derive(Clone, Copy)]
struct Shared {
    void: u32,
    bool: u32,
    size: u32,
    float: u32,
    vector: u32,
    pointer: u32,
    function: u32,
    one: u32,
    count: u32,
    factor: u32,
    global_id: u32,
}

/// A module of about so many bytes. Its kernels are called `work_0`, `work_1` and so on.
pub fn write_module(bytes: usize) -> Vec<u8> {
    let kernel_bytes = measure_kernel();
    let kernels = (bytes / kernel_bytes).max(1);
    let mut writer = Writer::default();
    let functions: Vec<u32> = (0..kernels).map(|_| writer.new_id()).collect();
    let shared = writer.write_head(&functions);
    for &function in &functions {
        writer.write_kernel(function, shared);
    }
    writer.into_bytes()
}

/// The bytes of one kernel, its name among them.
fn measure_kernel() -> usize {
    let mut writer = Writer::default();
    let function = writer.new_id();
    let shared = writer.write_head(&[function]);
    let head = writer.words.len();
    writer.write_kernel(function, shared);
    const ENTRY_POINT_WORDS: usize = 6;
    4 * (writer.words.len() - head + ENTRY_POINT_WORDS)
}

#[derive(Default)]
struct Writer {
    words: Vec<u32>,
    last_id: u32,
}

impl Writer {
    fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn write(&mut self, opcode: u32, operands: &[u32]) {
        self.words.push((operands.len() as u32 + 1) << 16 | opcode);
        self.words.extend_from_slice(operands);
    }

    /// Writes an instruction whose only result is an id without a type.
    fn declare(&mut self, opcode: u32, operands: &[u32]) -> u32 {
        let id = self.new_id();
        self.write(opcode, &[&[id], operands].concat());
        id
    }

    /// Writes an instruction with a value of a type.
    fn compute(&mut self, opcode: u32, value_type: u32, operands: &[u32]) -> u32 {
        let id = self.new_id();
        self.write(opcode, &[&[value_type, id], operands].concat());
        id
    }

    fn write_head(&mut self, functions: &[u32]) -> Shared {
        // Addresses, Kernel, Int64, Linkage.
        for capability in [4, 6, 11, 5] {
            self.write(op::CAPABILITY, &[capability]);
        }
        // Physical64, OpenCL.
        self.write(op::MEMORY_MODEL, &[2, 2]);
        for (number, &function) in functions.iter().enumerate() {
            let name = spell_text(&format!("work_{number}"));
            self.write(op::ENTRY_POINT, &[&[6, function], &name[..]].concat());
        }
        let global_id = self.new_id();
        // BuiltIn.
        self.write(op::DECORATE, &[global_id, 11, GLOBAL_INVOCATION_ID]);
        let void = self.declare(op::TYPE_VOID, &[]);
        let bool = self.declare(op::TYPE_BOOL, &[]);
        let size = self.declare(op::TYPE_INT, &[64, 0]);
        let float = self.declare(op::TYPE_FLOAT, &[32]);
        let vector = self.declare(op::TYPE_VECTOR, &[size, 3]);
        // CrossWorkgroup, then Input.
        let pointer = self.declare(op::TYPE_POINTER, &[5, float]);
        let input = self.declare(op::TYPE_POINTER, &[1, vector]);
        let function = self.declare(op::TYPE_FUNCTION, &[void, pointer]);
        let one = self.compute(op::CONSTANT, size, &[1, 0]);
        let count = self.compute(op::CONSTANT, size, &[16, 0]);
        let factor = self.compute(op::CONSTANT, float, &[1.25_f32.to_bits()]);
        self.write(op::VARIABLE, &[input, global_id, 1]);
        Shared { void, bool, size, float, vector, pointer, function, one, count, factor, global_id }
    }

    fn write_kernel(&mut self, function: u32, shared: Shared) {
        let Shared { void, bool, size, float, one, count, .. } = shared;
        self.write(op::FUNCTION, &[void, function, 0, shared.function]);
        let data = self.compute(op::FUNCTION_PARAMETER, shared.pointer, &[]);
        let entry = self.declare(op::LABEL, &[]);
        let ids = self.compute(op::LOAD, shared.vector, &[shared.global_id]);
        let place = self.compute(op::COMPOSITE_EXTRACT, size, &[ids, 0]);
        let address = self.compute(op::IN_BOUNDS_PTR_ACCESS_CHAIN, shared.pointer, &[data, place]);
        let start = self.compute(op::LOAD, float, &[address, 2, 4]);
        let [head, exit, next_step, next_sum] = [(); 4].map(|()| self.new_id());
        self.write(op::BRANCH, &[head]);
        self.write(op::LABEL, &[head]);
        let step = self.compute(op::PHI, size, &[place, entry, next_step, head]);
        let sum = self.compute(op::PHI, float, &[start, entry, next_sum, head]);
        let mut value = sum;
        for _ in 0..UNITS {
            value = self.write_unit(shared, data, step, value);
        }
        self.write(op::F_ADD, &[float, next_sum, value, sum]);
        self.write(op::I_ADD, &[size, next_step, step, one]);
        let continues = self.compute(op::U_LESS_THAN, bool, &[next_step, count]);
        self.write(op::BRANCH_CONDITIONAL, &[continues, head, exit]);
        self.write(op::LABEL, &[exit]);
        self.write(op::STORE, &[address, next_sum, 2, 4]);
        self.write(op::RETURN, &[]);
        self.write(op::FUNCTION_END, &[]);
    }

    /// Arithmetic on a value and on what is in memory; gives the new value.
    fn write_unit(&mut self, shared: Shared, data: u32, step: u32, value: u32) -> u32 {
        let Shared { bool, size, float, one, factor, .. } = shared;
        let place = self.compute(op::I_ADD, size, &[step, one]);
        let address = self.compute(op::IN_BOUNDS_PTR_ACCESS_CHAIN, shared.pointer, &[data, place]);
        let read = self.compute(op::LOAD, float, &[address, 2, 4]);
        let product = self.compute(op::F_MUL, float, &[value, factor]);
        let sum = self.compute(op::F_ADD, float, &[product, read]);
        let is_less = self.compute(op::F_ORD_LESS_THAN, bool, &[sum, value]);
        let chosen = self.compute(op::SELECT, float, &[is_less, sum, product]);
        self.write(op::STORE, &[address, chosen, 2, 4]);
        chosen
    }

    fn into_bytes(self) -> Vec<u8> {
        let header = [MAGIC, VERSION, 0, self.last_id + 1, 0];
        header.iter().chain(&self.words).flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// A text as words, with the null that ends it.
fn spell_text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes.as_chunks::<4>().0.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_have_about_the_size_that_is_asked_for() {
        for size in [100_000, 1 << 20] {
            let length = write_module(size).len();
            assert!(length <= size + 1000 && length + 25_000 > size, "{length} of {size}");
        }
    }

    #[test]
    fn texts_end_with_a_null() {
        assert_eq!(spell_text("work"), [u32::from_le_bytes(*b"work"), 0]);
        assert_eq!(spell_text("ab"), [0x6261]);
    }
}
