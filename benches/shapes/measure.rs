//! Measures one cell: plans it, checks the answer, and lets it run in turn with its ceilings, the crate argminmax and
//! the plain form of itself. Knows neither the grid nor the targets.

use crate::cell::{Cell, Geometry, Options, Size};
use crate::data::{Buffer, bytes_of, fill, rotate, seeded};
use crate::element::Sample;
use crate::evict::evict;
use crate::pattern::Pattern;
use crate::subject::{By, IS_VERSUS, New, Old};
use crate::timer::{Limits, in_turn};
use crate::{ceiling, check};
use anyhow::Result;
use rand::rngs::SmallRng;

/// Up to here a cell is measured on data that is in the caches, from here on on data that is not: it is flushed in
/// between.
pub const CACHED_BYTES: usize = 20 << 20;

/// A timed call of fewer bytes is repeated: 128 KiB are read in a microsecond, and the clock costs 20 ns.
const TIMED_BYTES: usize = 128 << 10;

/// Who runs. `Plain` is the same shape on random data with no options; `Io` is `read` while the outputs are written;
/// `Old` is the library of another commit, beside which no other runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Ours,
    Read,
    Max,
    Io,
    Peer,
    Plain,
    Old,
}

impl Who {
    pub const ALL: [Who; 7] = [Who::Ours, Who::Read, Who::Max, Who::Io, Who::Peer, Who::Plain, Who::Old];
}

/// What came of a cell.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub cell: Cell,
    pub geometry: Geometry,
    pub input_bytes: usize,
    pub output_bytes: usize,
    /// Seconds of each of [`Who::ALL`] that ran.
    seconds: [Option<f64>; Who::ALL.len()],
    /// The same in units of ours.
    ratios: [Option<f64>; Who::ALL.len()],
    /// How sure the ratio to `read` is.
    pub spread: f64,
    pub strategy: String,
    /// What was wrong with an answer, ours or the peer's.
    pub mistake: Option<String>,
}

impl Outcome {
    pub fn seconds(&self, who: Who) -> Option<f64> {
        self.seconds[who as usize]
    }

    /// Our speed over that of another: 2 for twice as fast.
    pub fn ratio(&self, who: Who) -> Option<f64> {
        self.ratios[who as usize]
    }

    /// What the cell was scaled to, or how large it is where it was not.
    pub fn size(&self) -> String {
        let size = self.cell.size;
        (if size == Size::Own { Size::Bytes(self.input_bytes) } else { size }).to_string()
    }

    /// The time over that of the plain cell, and that over what the bytes say: of other outputs.
    pub fn price(&self) -> Option<[f64; 2]> {
        let is_plain = matches!(self.cell.options, Options::Plain | Options::Ignore | Options::ArgMin);
        let time = 1.0 / self.ratio(Who::Plain).filter(|_| self.cell.pattern == Pattern::Random && !is_plain)?;
        Some([time, time / self.bytes_of_plain()])
    }

    /// The bytes of input and output over those of the plain cell, with packed indices as `u32`.
    pub fn bytes_of_plain(&self) -> f64 {
        let bytes = |output| (self.input_bytes + output) as f64;
        bytes(self.output_bytes) / bytes(self.geometry.outputs * size_of::<u32>())
    }

    pub fn gb_per_s(&self) -> f64 {
        let bytes = (self.input_bytes + self.output_bytes) as f64;
        self.seconds(Who::Ours).map_or(0.0, |seconds| bytes / seconds / 1e9)
    }
}

/// The memory of all cells of a type: values are made once.
pub struct Stage<T> {
    /// Random values, shared by all cells, of any shape: rotated, but never made anew.
    random: Buffer<T>,
    /// The values of any other pattern, made for a cell.
    special: Buffer<T>,
    values: Vec<T>,
    indices: Vec<u32>,
    wide_indices: Vec<i64>,
    rng: SmallRng,
    made: usize,
}

impl<T: Sample> Stage<T> {
    pub fn new() -> Self {
        let (random, special) = (Buffer::default(), Buffer::default());
        let (values, indices, wide_indices) = (Vec::new(), Vec::new(), Vec::new());
        Stage { random, special, values, indices, wide_indices, rng: seeded(), made: 0 }
    }

    /// Makes the values of a cell where they are not there yet.
    fn prepare(&mut self, cell: &Cell, geometry: &Geometry) {
        let len = geometry.layout.required_len();
        self.random.grow_to(len);
        if self.made < len {
            fill(Pattern::Random, geometry.row, &mut self.rng, &mut self.random[self.made..]);
            self.made = len;
        }
        if cell.pattern != Pattern::Random {
            self.special.grow_to(len);
            fill(cell.pattern, geometry.row, &mut self.rng, &mut self.special[..len]);
        }
        let places = cell.output_layout(geometry).required_len();
        self.indices.resize(self.indices.len().max(places), 0);
        if cell.options.is_wide() {
            self.wide_indices.resize(self.wide_indices.len().max(places), 0);
        }
        if cell.options.has_values() {
            self.values.resize(self.values.len().max(geometry.outputs), T::default());
        }
    }
}

/// A cell that is ready to run.
struct Job<'a, T: Sample> {
    cell: &'a Cell,
    geometry: &'a Geometry,
    plans: <T as By<New>>::Plans,
    /// Of the plain cell, where this one differs from it.
    plain: Option<<T as By<New>>::Plans>,
    /// Of the old library, where that has such a cell, and answers it as the new one does.
    old: Option<<T as By<Old>>::Plans>,
    len: usize,
    has_values: bool,
    /// As many indices reach from the first to the last that is written.
    places: usize,
    /// How often a timed call runs: more than once where it would be too short for the clock.
    repeats: usize,
}

/// Measures a cell that has this geometry.
pub fn measure<T: Sample>(cell: &Cell, geometry: Geometry, limits: &Limits, stage: &mut Stage<T>) -> Result<Outcome> {
    stage.prepare(cell, &geometry);
    let mut job = Job::new(cell, &geometry)?;
    job.add_old(stage);
    let contenders = job.contenders();
    let mistake = contenders.iter().find_map(|&who| job.mistake(who, stage));

    let refresh = |stage: &mut Stage<T>| job.refresh(stage);
    let before = |stage: &mut Stage<T>, who| job.before(who, stage);
    let call = |stage: &mut Stage<T>, who| (0..job.repeats).for_each(|_| job.call(who, stage));
    let trials = in_turn(stage, &contenders, refresh, before, call, limits);

    let mut outcome = Outcome {
        cell: *cell,
        input_bytes: geometry.touched * size_of::<T>(),
        output_bytes: job.output_bytes(),
        seconds: [None; Who::ALL.len()],
        ratios: [None; Who::ALL.len()],
        spread: trials.spread(0, 1),
        strategy: job.strategy(),
        mistake,
        geometry: geometry.clone(),
    };
    for (n, &who) in contenders.iter().enumerate() {
        outcome.seconds[who as usize] = Some(trials.seconds(n) / job.repeats as f64);
        outcome.ratios[who as usize] = Some(trials.ratio(n, 0));
    }
    Ok(outcome)
}

/// Answers one cell, once, and says so: `tools/limits` counts the instructions of that, by the name of [`answer`].
pub fn once<T: Sample>(cell: &Cell, geometry: &Geometry, stage: &mut Stage<T>) -> Result<()> {
    stage.prepare(cell, geometry);
    let job = Job::new(cell, geometry)?;
    answer(&job, stage);
    println!("{cell}: {}", job.strategy());
    Ok(())
}

#[inline(never)]
fn answer<T: Sample>(job: &Job<'_, T>, stage: &mut Stage<T>) {
    job.call(Who::Ours, stage);
}

impl<'a, T: Sample> Job<'a, T> {
    fn new(cell: &'a Cell, geometry: &'a Geometry) -> Result<Self> {
        Ok(Job {
            cell,
            geometry,
            plans: <T as By<New>>::plans(cell, geometry)?,
            plain: cell.plain().map(|plain| <T as By<New>>::plans(&plain, geometry)).transpose()?,
            old: None,
            len: geometry.layout.required_len(),
            has_values: cell.options.has_values(),
            places: cell.output_layout(geometry).required_len(),
            repeats: (TIMED_BYTES / (geometry.touched * size_of::<T>())).max(1),
        })
    }

    /// Lets the old library run too, if it can do this cell; if not, says why.
    fn add_old(&mut self, stage: &mut Stage<T>) {
        if IS_VERSUS {
            let said = <T as By<Old>>::plans(self.cell, self.geometry).map(|plans| self.old = Some(plans));
            let reason = said.err().map(|error| format!("{error:#}")).or_else(|| self.mistake(Who::Old, stage));
            if let Some(reason) = reason {
                eprintln!("left out: {}: {reason}", self.cell);
                self.old = None;
            }
        }
    }

    /// Those that can do this cell, ours first.
    fn contenders(&self) -> Vec<Who> {
        if self.old.is_some() {
            return vec![Who::Ours, Who::Old];
        }
        let (Cell { options, .. }, geometry) = (self.cell, self.geometry);
        let has_large_output = self.output_bytes() * 16 >= geometry.touched * size_of::<T>();
        let can = |who: &Who| match who {
            Who::Ours | Who::Read | Who::Max => true,
            Who::Io => has_large_output && self.has_u32_only(),
            Who::Peer => geometry.peer_row.is_some() && *options != Options::Decreasing && self.has_u32_only(),
            Who::Plain => self.plain.is_some(),
            Who::Old => false,
        };
        Who::ALL.into_iter().filter(can).collect()
    }

    fn output_bytes(&self) -> usize {
        let index = if self.cell.options.is_wide() { size_of::<i64>() } else { size_of::<u32>() };
        self.places * index + if self.has_values { self.geometry.outputs * size_of::<T>() } else { 0 }
    }

    /// Whether `u32` indices are all that is answered: what `io` and the peer write.
    fn has_u32_only(&self) -> bool {
        !self.has_values && !self.cell.options.is_wide() && self.places == self.geometry.outputs
    }

    /// Whether what this contender reads are the values that all cells share.
    fn is_random(&self, who: Who) -> bool {
        who == Who::Plain || self.cell.pattern == Pattern::Random
    }

    fn call(&self, who: Who, stage: &mut Stage<T>) {
        let input = if self.is_random(who) { &stage.random[..self.len] } else { &stage.special[..self.len] };
        let touched = &input[..self.geometry.touched];
        let (indices, wide, values) =
            (&mut stage.indices[..self.places], &mut stage.wide_indices[..], &mut stage.values[..]);
        match who {
            Who::Ours => <T as By<New>>::run(&self.plans, input, indices, wide, values),
            Who::Old => {
                self.old.iter().for_each(|old| <T as By<Old>>::run(old, input, indices, wide, values));
            }
            Who::Plain => {
                self.plain.iter().for_each(|plain| <T as By<New>>::run_narrow(plain, input, indices));
            }
            Who::Read => {
                ceiling::read(touched);
                self.read_output(who, stage);
            }
            Who::Max => {
                ceiling::max(touched);
                self.read_output(who, stage);
            }
            Who::Io => ceiling::io(touched, indices),
            Who::Peer => {
                let rows = input.chunks_exact(self.geometry.peer_row.unwrap_or(input.len()));
                T::peer(rows, self.cell.options.function(), self.cell.options.nan_policy(), indices);
            }
        }
    }

    /// The indices that this contender writes, or has to read in their place.
    fn indices<'s>(&self, who: Who, stage: &'s Stage<T>) -> &'s [u8] {
        if self.cell.options.is_wide() && who != Who::Plain {
            bytes_of(&stage.wide_indices[..self.places])
        } else {
            bytes_of(&stage.indices[..if who == Who::Plain { self.geometry.outputs } else { self.places }])
        }
    }

    fn read_output(&self, who: Who, stage: &Stage<T>) {
        ceiling::read(self.indices(who, stage));
        if self.has_values {
            ceiling::read(&stage.values[..self.geometry.outputs]);
        }
    }

    /// What is wrong with the answer of those that are asked for this cell's.
    fn mistake(&self, who: Who, stage: &mut Stage<T>) -> Option<String> {
        if !matches!(who, Who::Ours | Who::Old | Who::Peer) {
            return None;
        }
        self.call(who, stage);
        let input = if self.is_random(who) { &stage.random } else { &stage.special };
        let values = self.has_values.then_some(&stage.values[..]);
        let layout = self.cell.output_layout(self.geometry);
        let index = |output: usize| {
            let place = check::place(&layout, output);
            if self.cell.options.is_wide() { stage.wide_indices[place] as usize } else { stage.indices[place] as usize }
        };
        let mistake = check::mistake(self.geometry, self.cell.options, input, index, values);
        mistake.map(|mistake| format!("{who:?}: {mistake}"))
    }

    fn is_cached(&self) -> bool {
        self.len * size_of::<T>() <= CACHED_BYTES
    }

    /// Other data, see `data.rs`; only what is in the caches can be known to the branch predictor.
    fn refresh(&self, stage: &mut Stage<T>) {
        if self.is_cached() {
            let (row, rng) = (self.geometry.row, &mut stage.rng);
            rotate(Pattern::Random, row, rng, &mut stage.random[..self.len]);
            if !self.is_random(Who::Ours) {
                rotate(self.cell.pattern, row, rng, &mut stage.special[..self.len]);
            }
        }
    }

    /// Leaves the caches as they would be after the call before, of the same contender.
    fn before(&self, who: Who, stage: &mut Stage<T>) {
        let input = if self.is_random(who) { &stage.random[..self.len] } else { &stage.special[..self.len] };
        if self.is_cached() {
            ceiling::read(input);
            self.read_output(who, stage);
        } else {
            evict(bytes_of(input));
            evict(self.indices(who, stage));
            if self.has_values {
                evict(bytes_of(&stage.values[..self.geometry.outputs]));
            }
        }
    }

    /// The last words of the plan: all that follows the sizes.
    fn strategy(&self) -> String {
        let text = self.plans.to_string();
        text.rsplit_once("], ").map_or(text.clone(), |(_, strategy)| strategy.to_string())
    }
}
