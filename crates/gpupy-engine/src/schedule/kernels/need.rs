//! Resource needs: how much of a device's limits a piece of a walk takes, and whether it fits.
//!
//! Owns the upper bounds, which are summed from the leaves, and the exact question to the driver, which is asked where
//! a bound exceeds a limit.
//!
//! Not here: cutting a piece that does not fit (`partition.rs`).

use crate::memory::access;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::Partition;
use crate::schedule::kernels::room::RoomOfPieces;
use crate::schedule::lowering::operation_lowering::{OperationLowering, method_dtype};
use crate::schedule::program::emit;
use crate::schedule::program::kernel::{
    Emitted, Kernel, KernelPiece, KernelTarget, emission_order,
};
use crate::schedule::walk::{Applied, Child, Role, WalkNode, nodes_of};
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::{Form, LOOP_STEPS};
use gpupy_core::op::Op;
use gpupy_core::shape::{contiguous_strides, size_of};
use gpupy_core::{DType, Result};

impl OpenDevice {
    /// Whether it takes a kernel of these needs with a destination.
    fn takes(&self, mut need: Resources, dest: &Resources) -> bool {
        self.driver.resource_add(&mut need, dest);
        self.driver.resource_check(&need)
    }
}

impl Partition {
    /// A bound of the needs of the piece below a node now. What was collapsed since it was found is read in the place
    /// of being computed, which may take one operand more.
    fn bound(&self, device: &OpenDevice, node: u32) -> Resources {
        let mut need = self.need[node as usize];
        let is_computed = matches!(self.walk.nodes[node as usize].role, Role::Apply(..));
        if is_computed && !self.collapsed[node as usize] {
            let mut since = self.cut;
            device.driver.resource_sub(&mut since, &self.cut_before[node as usize]);
            device.driver.resource_add(&mut need, &since);
        }
        need
    }

    /// Notes a bound of the needs of the piece below a node.
    fn bind(&mut self, node: u32, need: Resources) {
        (self.need[node as usize], self.cut_before[node as usize]) = (need, self.cut);
    }

    /// The upper bound of the needs of the piece below a node: its own and its children's.
    pub(super) fn add_up(&mut self, device: &OpenDevice, node: u32) {
        if self.collapsed[node as usize] {
            return;
        }
        let dtype = self.walk.nodes[node as usize].value.dtype();
        let driver = &device.driver;
        let (applied, children) = match &self.walk.nodes[node as usize].role {
            Role::Leaf | Role::Table => {
                let need = driver.resource_get(Part::Operand(dtype));
                self.own[node as usize] = need;
                self.bind(node, need);
                return;
            }
            Role::Index(_) => {
                let need = driver.resource_get(Part::Index);
                self.own[node as usize] = need;
                self.bind(node, need);
                self.size[node as usize] = 1;
                return;
            }
            Role::InPieces(own) => {
                let (operations, scalars) = own.size();
                let mut need = driver.resource_get(Part::Index);
                for _ in 0..operations {
                    for part in [
                        Part::Index,
                        Part::Op(Op::Piece, DType::I32),
                        Part::Op(Op::Choose, DType::I32),
                    ] {
                        driver.resource_add(&mut need, &driver.resource_get(part));
                    }
                }
                for _ in 0..scalars {
                    driver.resource_add(&mut need, &driver.resource_get(Part::Param(DType::I32)));
                }
                self.own[node as usize] = need;
                self.bind(node, need);
                self.size[node as usize] = operations;
                return;
            }
            Role::Apply(applied, children) => (applied.clone(), children.clone()),
        };
        let (mut own, mut size) = self.own_need(device, &applied, node);
        for child in &children {
            if let Child::Scalar(scalar) = child {
                driver.resource_add(&mut own, &driver.resource_get(Part::Param(scalar.dtype)));
            }
        }
        let mut need = own;
        for (i, child) in children.iter().enumerate() {
            if let Child::Node(number) = child
                // An operand that stands twice is one node.
                && !children[..i].contains(child)
            {
                driver.resource_add(&mut need, &self.bound(device, *number));
                size = size.saturating_add(self.size[*number as usize]);
            }
        }
        self.own[node as usize] = own;
        self.bind(node, need);
        if let Some(room) = &mut self.room {
            room.join(node, &children);
        }
        self.size[node as usize] = size;
    }

    /// The needs of these nodes of a piece together, each counted once.
    fn sum(&self, device: &OpenDevice, order: &[Emitted]) -> Resources {
        let mut sum = Resources::default();
        for Emitted { node, .. } in order {
            let node = *node as usize;
            let need = if self.collapsed[node] { &self.need[node] } else { &self.own[node] };
            device.driver.resource_add(&mut sum, need);
        }
        sum
    }

    /// Adds a node to those that pieces to come may have.
    pub(super) fn add_open(&mut self, device: &OpenDevice, node: u32) {
        self.open.add(node, &self.walk.nodes[node as usize]);
        let need = if self.collapsed[node as usize] { &self.need } else { &self.own };
        device.driver.resource_add(&mut self.open.need, &need[node as usize]);
    }

    /// A bound of the needs of all pieces to come.
    fn open_need(&mut self, device: &OpenDevice, dest: &Resources) -> Resources {
        if !device.takes(self.open.need, dest)
            && let Some(roots) = self.open.roots()
        {
            let (collapsed, size) = (&self.collapsed, &self.size);
            let all = emission_order(&self.walk, &roots, collapsed, size, &mut self.marks);
            let need = self.sum(device, &all);
            self.open.count(&all, need);
        }
        self.open.need
    }

    /// The needs of an operation without its operands, and the number of its operations.
    pub(super) fn own_need(
        &self,
        device: &OpenDevice,
        applied: &Applied,
        node: u32,
    ) -> (Resources, u32) {
        let op = match applied {
            Applied::Op(op) => *op,
            Applied::Call(called) => {
                return match device.way_of(&called.function) {
                    OperationLowering::Inlined(own) | OperationLowering::Expanded(own) => {
                        (own.need, own.operations)
                    }
                    OperationLowering::Native | OperationLowering::Absent => Default::default(),
                };
            }
        };
        let node = &self.walk.nodes[node as usize];
        let first = match &node.role {
            Role::Apply(_, children) => children.first(),
            _ => None,
        };
        let first = first.map(|child| match child {
            Child::Node(child) => self.walk.nodes[*child as usize].value.dtype(),
            Child::Scalar(scalar) => scalar.dtype,
        });
        let dtype = node.value.dtype();
        if op == Op::Choose
            && let Role::Apply(_, children) = &node.role
        {
            let each = device.driver.resource_get(Part::Op(op, dtype));
            let mut need = Resources::default();
            children.iter().skip(1).for_each(|_| device.driver.resource_add(&mut need, &each));
            return (need, children.len() as u32 - 1);
        }
        match device.way(op, method_dtype(op, dtype, first)) {
            OperationLowering::Inlined(lowered) | OperationLowering::Expanded(lowered) => {
                (lowered.need, lowered.operations)
            }
            OperationLowering::Native | OperationLowering::Absent => {
                (device.driver.resource_get(Part::Op(op, dtype)), 1)
            }
        }
    }

    /// Whether the piece below a node fits: its needs, and all that it reads.
    pub(super) fn fits(&mut self, device: &mut OpenDevice, node: u32) -> Result<bool> {
        let points = size_of(&self.walk.space);
        Ok(self.has_room(node, points) && self.fits_limits(device, node)?)
    }

    /// Whether the needs of the piece below a node fit: by a bound, the cheapest one first, or exactly. What is found
    /// to fit replaces the bound.
    pub(super) fn fits_limits(&mut self, device: &mut OpenDevice, node: u32) -> Result<bool> {
        let dtype = self.walk.nodes[node as usize].value.dtype();
        let dest = device.driver.resource_get(Part::Dest(dtype));
        if !self.ends_in_time(node) {
            return Ok(false);
        }
        if device.takes(self.bound(device, node), &dest) {
            return Ok(true);
        }
        let mut need = self.open_need(device, &dest);
        if !device.takes(need, &dest) {
            let order = self.order_below(node);
            need = self.sum(device, &order);
            if !device.takes(need, &dest) {
                let kernel = self.contiguous(device, &[Child::Node(node)], &order, Form::Map);
                let check = device.driver.check_ir(&kernel.program)?;
                if !check.fits {
                    return Ok(false);
                }
                need = check.resources;
                device.driver.resource_sub(&mut need, &dest);
            }
        }
        self.bind(node, need);
        Ok(true)
    }

    /// The iterations that a node's function goes through.
    pub(super) fn steps(node: &WalkNode) -> u32 {
        match &node.role {
            Role::Apply(Applied::Call(called), _) => called.function.steps(),
            _ => 0,
        }
    }

    /// Whether the loops of the functions in the piece below a node go through few enough iterations together
    /// (`ir::LOOP_STEPS`).
    fn ends_in_time(&mut self, node: u32) -> bool {
        if !self.has_loops {
            return true;
        }
        let order = self.order_below(node);
        let own = order.iter().filter(|emitted| !emitted.is_loaded);
        let all = own.map(|emitted| Partition::steps(&self.walk.nodes[emitted.node as usize]));
        all.fold(0, u32::saturating_add) <= LOOP_STEPS
    }

    /// Whether a reduction and its map are one kernel.
    pub(super) fn fits_reduced(
        &mut self,
        device: &mut OpenDevice,
        piece: &KernelPiece,
        form: Form,
    ) -> Result<bool> {
        if !self.has_room_reduced(size_of(&form.out_shape(&self.walk.space))) {
            return Ok(false);
        }
        let kernel = self.contiguous(device, &self.walk.roots, &piece.order, form);
        Ok(device.driver.check_ir(&kernel.program)?.fits)
    }

    /// The kernel of a piece with a contiguous destination.
    pub(super) fn contiguous(
        &self,
        device: &OpenDevice,
        roots: &[Child],
        order: &[Emitted],
        form: Form,
    ) -> Kernel {
        let strides = contiguous_strides(&form.out_shape(&self.walk.space));
        let target = KernelTarget { form, further: &[], dests: &[access::access(0, &strides)] };
        emit::build(device, &self.walk, roots, order, &target)
    }
}

impl Partition {
    /// Finds what each leaf reads, where it matters.
    pub(super) fn note_room(&mut self, device: &OpenDevice) {
        if self.room.is_none() {
            self.room = RoomOfPieces::of(device, &self.walk);
        }
    }

    /// Whether there may be room for the piece below a node, with so many results of its dtype.
    pub(super) fn has_room(&mut self, node: u32, results: usize) -> bool {
        let Some(room) = &mut self.room else { return true };
        let size = self.walk.nodes[node as usize].value.dtype().size();
        room.takes(&self.walk, &self.collapsed, node, (results * size) as u64)
    }

    /// Whether there may be room for a reduction to so many results and its map.
    pub(super) fn has_room_reduced(&mut self, results: usize) -> bool {
        match self.walk.roots[..] {
            [Child::Node(map)] => self.has_room(map, results),
            _ => true,
        }
    }

    /// The largest operand of a node that is computed in its piece, where there is no room for that.
    pub(super) fn first_to_store(&mut self, node: u32) -> Option<u32> {
        match self.has_room(node, size_of(&self.walk.space)) {
            true => None,
            false => self.largest_below(node),
        }
    }

    /// The largest operand of a node that is computed in its piece.
    pub(super) fn largest_below(&self, node: u32) -> Option<u32> {
        let Role::Apply(_, children) = &self.walk.nodes[node as usize].role else { return None };
        let computed = nodes_of(children).filter(|child| !self.is_leaf(*child));
        computed.max_by_key(|child| self.size[*child as usize])
    }

    /// The bytes of a node that is stored.
    pub(super) fn stored_bytes(&self, node: u32) -> u64 {
        let size = self.walk.nodes[node as usize].value.dtype().size();
        (size_of(&self.walk.space) * size) as u64
    }
}
