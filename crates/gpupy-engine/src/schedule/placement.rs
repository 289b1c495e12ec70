//! Placement: which of two devices computes which value of one evaluation.
//!
//! Owns [`Order`] (the devices of an evaluation) and [`Homes`] (who computes what), with the model
//! of what transfers cost. As long as the chosen device can do everything, it does. When it meets what it cannot, the pending graph is shared once between it and the host driver: what only one can do
//! is that one's, and the rest lies where operations and transfers together cost least, by the
//! model. Walks need what lives elsewhere before they begin. Invariants: a value has one home at a
//! time; it leaves it only when it failed there, and never comes back, so an evaluation ends.
//!
//! Not here: what an operation costs (`cost.rs`), what a device can do (`lowering.rs`), when all drivers are asked in turn (`ladder.rs`).

use crate::graph::value::{Kind, Value, ValueId};
use crate::memory::ranges::Ranges;
use crate::schedule::cost::{operation_cost, operations, transfer_costs};
use crate::schedule::device::Device;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The devices of one evaluation, by position in the registry; their places here are *ranks*.
#[derive(Default)]
pub(crate) struct Order {
    /// The chosen one first.
    pub devices: SmallVec<[usize; 4]>,
    /// Whether the second is the host driver, which shares the work with the first.
    pub shares: bool,
    /// Whether what failed on one may be tried on the next.
    pub falls: bool,
}

/// Where the values of one evaluation are computed, as ranks. What has no home here is computed
/// where it is asked for.
pub(crate) struct Homes<'o> {
    pub order: &'o Order,
    homes: FxHashMap<ValueId, usize>,
    /// The ranks at which a value failed.
    failed: FxHashMap<ValueId, SmallVec<[usize; 4]>>,
    shared: bool,
}

impl<'o> Homes<'o> {
    pub fn new(order: &'o Order) -> Homes<'o> {
        let (homes, failed) = Default::default();
        Homes { order, homes, failed, shared: false }
    }

    /// The rank at which a value is computed, when one of rank `asking` asks for it.
    pub fn rank(&self, value: &Value, asking: usize) -> usize {
        self.homes.get(&value.id()).copied().unwrap_or(asking)
    }

    /// Whether a value is computed elsewhere than where it was to be, because that failed.
    pub fn has_moved(&self, value: &Value) -> bool {
        self.failed.contains_key(&value.id())
    }
}

impl Homes<'_> {
    /// Shares the pending graph below a value between the chosen device and the host driver. False
    /// when that was done before, or is not wanted.
    pub fn share(&mut self, devices: &mut [Option<Device>], root: &Value) -> bool {
        if !self.order.shares || std::mem::replace(&mut self.shared, true) {
            return false;
        }
        let [chosen, host] = [self.order.devices[0], self.order.devices[1]];
        let (Some(Some(chosen)), Some(Some(host))) = (devices.get(chosen), devices.get(host))
        else {
            return false;
        };
        for (value, rank) in plan(root, [chosen, host]) {
            self.settle(devices, value, rank);
        }
        true
    }

    /// Gives a value that failed at a rank to the next one that can do it; false when there is none.
    pub fn move_on(&mut self, devices: &mut [Option<Device>], value: &Value, rank: usize) -> bool {
        let failed = self.failed.entry(value.id()).or_default();
        failed.push(rank);
        let count = self.order.devices.len();
        let next = (rank + 1..count).chain(0..rank).find(|next| {
            let device = devices.get(self.order.devices[*next]).and_then(Option::as_ref);
            !failed.contains(next) && device.is_some_and(|device| device.does(value))
        });
        match next {
            Some(next) => self.settle(devices, value.id(), next),
            None => return false,
        }
        true
    }

    /// Makes a rank the home of a value.
    fn settle(&mut self, devices: &mut [Option<Device>], value: ValueId, home: usize) {
        self.homes.insert(value, home);
        for (rank, position) in self.order.devices.iter().enumerate() {
            let Some(Some(device)) = devices.get_mut(*position) else { continue };
            if rank == home {
                device.elsewhere.remove(&value);
            } else {
                device.elsewhere.insert(value);
            }
        }
    }
}

/// What it costs that work goes over from one device to the other and comes back, with a value of so
/// many bytes.
fn crossing_cost(device: &Device, bytes: u64) -> f64 {
    let costs = transfer_costs(&device.caps);
    // Nothing is moved between two that work in host memory.
    let byte = if device.caps.host_memory { 0.0 } else { (costs.upload + costs.download) / 2.0 };
    costs.round_trip + byte * bytes as f64
}

/// A value of the graph that is shared.
struct Item {
    value: Value,
    /// Operations of the graph that read it.
    uses: u32,
    /// What it and all below it cost on either side; what several read is divided among them.
    cost: [f64; 2],
    /// What it costs to bring it to the other side.
    crossing: f64,
    /// The sides on which something reads it.
    wanted: [bool; 2],
}

impl Item {
    /// What a reader on a side pays.
    fn share(&self, side: usize) -> f64 {
        let [here, there] = [self.cost[side], self.cost[1 - side] + self.crossing];
        here.min(there) / f64::from(self.uses.max(1))
    }
}

/// The sides of all pending values below `root`: two sweeps over the graph, operands first with what
/// everything costs on either side, then readers first with the choice.
fn plan(root: &Value, devices: [&Device; 2]) -> Vec<(ValueId, usize)> {
    let mut items = collect(root, devices);
    let index: FxHashMap<ValueId, usize> =
        items.iter().enumerate().map(|(i, item)| (item.value.id(), i)).collect();
    let operands = |value: &Value| -> SmallVec<[usize; 3]> {
        let state = value.state();
        let found = state.operands.iter().flatten().filter_map(|operand| index.get(&operand.id()));
        found.copied().collect()
    };
    for i in 0..items.len() {
        for operand in operands(&items[i].value) {
            items[operand].uses += 1;
        }
    }
    for i in 0..items.len() {
        for operand in operands(&items[i].value) {
            for side in [0, 1] {
                items[i].cost[side] += items[operand].share(side);
            }
        }
    }
    let mut sides = Vec::with_capacity(items.len());
    for i in (0..items.len()).rev() {
        let Item { cost, crossing, wanted, .. } = items[i];
        if items[i].value.is_computed() {
            continue;
        }
        let total = |side: usize| cost[side] + f64::from(u8::from(wanted[1 - side])) * crossing;
        let side = usize::from(total(1) < total(0));
        sides.push((items[i].value.id(), side));
        for operand in operands(&items[i].value) {
            items[operand].wanted[side] = true;
        }
    }
    sides
}

/// The pending values below `root` with the leaves that they read, operands first, each with what it
/// costs by itself.
fn collect(root: &Value, devices: [&Device; 2]) -> Vec<Item> {
    let mut found: FxHashMap<ValueId, Value> = FxHashMap::default();
    let mut stack = vec![root.clone()];
    while let Some(value) = stack.pop() {
        if found.contains_key(&value.id()) {
            continue;
        }
        if !value.is_computed() {
            stack.extend(value.state().operands.iter().flatten().cloned());
        }
        found.insert(value.id(), value);
    }
    let mut items: Vec<Item> = found.into_values().map(|value| item(value, devices)).collect();
    items.sort_unstable_by_key(|item| item.value.order());
    items
}

fn item(value: Value, devices: [&Device; 2]) -> Item {
    let bytes = match value.0.kind {
        Kind::Constant(_) => 0,
        _ => value.byte_len(),
    };
    // The second is the host driver.
    let crossing = crossing_cost(devices[0], bytes);
    let cost = match &value.0.kind {
        Kind::Constant(_) => [0.0; 2],
        Kind::Expr { op, .. } if !value.is_computed() => {
            let can = devices.map(|device| device.does(&value));
            let work = operations(op, value.shape(), value.len());
            let cost = devices.map(|device| work * operation_cost(&device.caps));
            match can {
                // What neither can do is somebody else's, and nobody's cost.
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
    Item { value, uses: 0, cost, crossing, wanted: [false; 2] }
}
