//! What every parallel kernel needs besides its data.

use super::{InstructionSet, ThreadPool};

/// The threads that kernels run on and the instructions that they use.
#[derive(Debug)]
pub struct CpuContext {
    pub threads: ThreadPool,
    pub instructions: InstructionSet,
}
