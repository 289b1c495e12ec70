//! Placement: which of two devices computes which value of one evaluation.
//!
//! Owns [`DeviceOrder`] (the devices of an evaluation) and [`ValuePlacement`] (the device of each value), with the
//! model of the cost of transfers. Where the chosen device can do everything, it does. Where it lacks an operation, the
//! pending graph is shared between it and the host driver before anything is computed: a value that only one of them
//! can compute is placed there, and the rest where operations and transfers together cost least, by the model. A walk
//! needs values of the other device to be computed before it begins. Invariants: a value has one home at a time; it
//! leaves it only after a failure there, and never comes back, so an evaluation ends.
//!
//! Not here: the cost of an operation (`cost.rs`), the operations of a device (`lowering.rs`), when all drivers are
//! tried in turn (`driver_selection.rs`).

use crate::graph::value::{Value, ValueId, ValueKind};
use crate::memory::ranges::Ranges;
use crate::schedule::cost::{operations, placed_operation_cost, transfer_costs};
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::pending_graph::{InputSource, PendingGraph};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The devices of one evaluation, by position in the registry; their places here are *ranks*.
#[derive(Clone, Default)]
pub(crate) struct DeviceOrder {
    /// The chosen one first.
    pub devices: SmallVec<[usize; 4]>,
    /// Whether the second is the host driver, which shares the work with the first.
    pub shares: bool,
    /// Whether a value that failed on one device may be tried on the next.
    pub falls: bool,
}

/// Where the values of one evaluation are computed, as ranks. A value without an entry is computed where it is asked
/// for.
pub(crate) struct ValuePlacement {
    pub order: DeviceOrder,
    homes: FxHashMap<ValueId, usize>,
    /// The ranks at which a value failed.
    failed: FxHashMap<ValueId, SmallVec<[usize; 4]>>,
}

impl ValuePlacement {
    /// Where the values of an evaluation are computed: where they are asked for, so far.
    pub fn new(order: &DeviceOrder) -> ValuePlacement {
        let (homes, failed) = Default::default();
        ValuePlacement { order: order.clone(), homes, failed }
    }

    /// Places values on these sides that have no home yet, and tells all devices about all values.
    pub fn place_again(&mut self, devices: &mut [Option<OpenDevice>], sides: &Sides) {
        for (value, rank) in sides {
            self.homes.entry(*value).or_insert(*rank);
        }
        for (value, rank) in self.homes.clone() {
            self.place(devices, value, rank);
        }
    }

    /// The rank at which a value is computed, when one of rank `asking` asks for it.
    pub fn rank(&self, value: &Value, asking: usize) -> usize {
        self.homes.get(&value.id()).copied().unwrap_or(asking)
    }

    /// Whether a value is computed elsewhere than where it was to be, because that failed.
    pub fn has_moved(&self, value: &Value) -> bool {
        self.failed.contains_key(&value.id())
    }

    /// Gives a value that failed at a rank to the next one that can do it; false when there is none.
    pub fn move_on(
        &mut self,
        devices: &mut [Option<OpenDevice>],
        value: &Value,
        rank: usize,
    ) -> bool {
        let failed = self.failed.entry(value.id()).or_default();
        failed.push(rank);
        let count = self.order.devices.len();
        let next = (rank + 1..count).chain(0..rank).find(|next| {
            let device = devices.get(self.order.devices[*next]).and_then(Option::as_ref);
            !failed.contains(next) && device.is_some_and(|device| device.does(value))
        });
        match next {
            Some(next) => self.place(devices, value.id(), next),
            None => return false,
        }
        true
    }

    /// Makes a rank the home of a value.
    fn place(&mut self, devices: &mut [Option<OpenDevice>], value: ValueId, home: usize) {
        self.homes.insert(value, home);
        for (rank, position) in self.order.devices.iter().enumerate() {
            let Some(Some(device)) = devices.get_mut(*position) else { continue };
            if rank == home {
                device.flush.elsewhere.remove(&value);
            } else {
                device.flush.elsewhere.insert(value);
            }
        }
    }
}

/// Of pending values, the rank that computes each; of none, where there is nothing to share.
pub(crate) type Sides = Vec<(ValueId, usize)>;

/// How the pending graph is shared between the chosen device and the host driver: not at all, unless the order says so
/// and the chosen one lacks something.
pub(crate) fn sides(
    below: &PendingGraph,
    devices: &[Option<OpenDevice>],
    order: &DeviceOrder,
) -> Sides {
    let open = |rank: usize| {
        let position = order.devices.get(rank).filter(|_| order.shares)?;
        devices.get(*position)?.as_ref()
    };
    match [open(0), open(1)] {
        [Some(chosen), Some(host)] if !below.values.iter().all(|value| chosen.does(value)) => {
            plan(below, [chosen, host])
        }
        _ => Sides::new(),
    }
}

/// The cost of moving work from one device to the other and back, with a value of `bytes` bytes.
fn crossing_cost(device: &OpenDevice, bytes: u64) -> f64 {
    let costs = transfer_costs(&device.caps);
    // Nothing is moved between two that work in host memory.
    let byte = if device.caps.host_memory { 0.0 } else { (costs.upload + costs.download) / 2.0 };
    costs.round_trip + byte * bytes as f64
}

/// A value of the graph that is shared.
#[derive(Clone, Copy)]
struct PlacedValue {
    /// Operations of the graph that read it.
    uses: u32,
    /// The cost of it and of all below it on either side; the cost of a shared value is divided among its readers.
    cost: [f64; 2],
    /// The cost of bringing it to the other side.
    crossing: f64,
    /// The sides on which something reads it.
    wanted: [bool; 2],
}

impl PlacedValue {
    /// The share of a reader on one side.
    fn share(&self, side: usize) -> f64 {
        let [here, there] = [self.cost[side], self.cost[1 - side] + self.crossing];
        here.min(there) / f64::from(self.uses.max(1))
    }
}

/// The side that computes each pending value, by two sweeps over the graph: operands first to sum the costs on either
/// side, then readers first to choose.
fn plan(below: &PendingGraph, devices: [&OpenDevice; 2]) -> Sides {
    let count = below.values.len();
    let all = below.values.iter().chain(&below.leaves);
    let mut items: Vec<PlacedValue> = all.map(|value| item(value, devices)).collect();
    let operands = |number: usize| {
        below.reads[number].iter().filter_map(move |source| match *source {
            InputSource::Scalar | InputSource::Other(_) => None,
            InputSource::Pending(number) => Some(number as usize),
            InputSource::Leaf(number) => Some(count + number as usize),
        })
    };
    for number in 0..count {
        operands(number).for_each(|operand| items[operand].uses += 1);
    }
    for number in 0..count {
        for operand in operands(number) {
            for side in [0, 1] {
                items[number].cost[side] += items[operand].share(side);
            }
        }
    }
    let mut sides = Vec::with_capacity(count);
    for number in (0..count).rev() {
        let PlacedValue { cost, crossing, wanted, .. } = items[number];
        let total = |side: usize| cost[side] + f64::from(u8::from(wanted[1 - side])) * crossing;
        let side = usize::from(total(1) < total(0));
        sides.push((below.values[number].id(), side));
        operands(number).for_each(|operand| items[operand].wanted[side] = true);
    }
    sides
}

/// A value by itself.
fn item(value: &Value, devices: [&OpenDevice; 2]) -> PlacedValue {
    let bytes = match value.0.kind {
        ValueKind::Constant(_) => 0,
        _ => value.byte_len(),
    };
    // The second is the host driver.
    let crossing = crossing_cost(devices[0], bytes);
    let cost = match &value.0.kind {
        ValueKind::Constant(_) => [0.0; 2],
        ValueKind::Expr { op, .. } if !value.is_computed() => {
            let can = devices.map(|device| device.does(value));
            let work = operations(op, value.shape(), value.len());
            let cost = devices.map(|device| work * placed_operation_cost(&device.caps));
            match can {
                // A node that neither device supports costs nothing here; another device computes it.
                [false, false] => [0.0; 2],
                can => [0, 1].map(|side| if can[side] { cost[side] } else { f64::INFINITY }),
            }
        }
        _ => {
            let on_device = !devices[0].tiles(value.id()).is_empty();
            let on_host = value.state().on_host != Ranges::default();
            [on_device, on_host].map(|is_there| if is_there { 0.0 } else { crossing })
        }
    };
    PlacedValue { uses: 0, cost, crossing, wanted: [false; 2] }
}
