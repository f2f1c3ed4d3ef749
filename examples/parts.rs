//! Parts that merge: a matrix that comes in tiles, in any order, each reduced where it is. What they give is merged to
//! exactly the answer for the whole: also where equals, or NaN, are in several tiles.
//!
//! ```text
//! cargo run --release --example parts
//! ```

use argreduce::{ArgReduce, Error, Layout, Partial};

/// Rows and columns. The columns are reduced.
const WHOLE: [usize; 2] = [6, 1000];

/// Of a tile, or less at the right edge.
const COLUMNS: usize = 64;

type Best = Partial<f32, u32>;

fn main() -> Result<(), Error> {
    let matrix = matrix();
    // As if each tile were on a machine of its own; they come in an order of their own.
    let mut starts: Vec<usize> = (0..WHOLE[1]).step_by(COLUMNS).collect();
    starts.sort_by_key(|start| start * 7 % 64 + start % 3);
    let tiles = starts.into_iter().map(|start| tile(&matrix, start)).collect::<Result<Vec<_>, _>>()?;

    // Nothing seen yet. Any grouping will do: here, one half after the other.
    let plan = ArgReduce::argmax(&Layout::contiguous(&WHOLE)?).axes(&[1]).plan::<f32, u32>()?;
    let merge = plan.merge();
    let (left, right) = tiles.split_at(tiles.len() / 2);
    let [mut best, mut other] = [[Best::NONE; WHOLE[0]]; 2];
    left.iter().try_for_each(|tile| merge.partials(&mut best, tile))?;
    right.iter().try_for_each(|tile| merge.partials(&mut other, tile))?;
    merge.partials(&mut best, &other)?;

    let mut columns = [0; WHOLE[0]];
    plan.finish(&best, &mut columns)?;
    for (row, (column, best)) in columns.iter().zip(best).enumerate() {
        println!("row {row}: {} at column {column}", best.value);
    }
    assert_eq!(plan.collect::<Vec<u32>>(&matrix)?, columns, "as if it had never been cut");
    Ok(())
}

/// The best of each row of a tile, with its column in the whole. Nobody but its machine has the tile.
fn tile(matrix: &[f32], start: usize) -> Result<[Best; WHOLE[0]], Error> {
    let columns = COLUMNS.min(WHOLE[1] - start);
    let rows = matrix.chunks(WHOLE[1]);
    let elements: Vec<f32> = rows.flat_map(|row| &row[start..start + columns]).copied().collect();
    let layout = Layout::contiguous(&[WHOLE[0], columns])?;
    let plan = ArgReduce::argmax(&layout).axes(&[1]).window(&WHOLE, &[0, start]).plan()?;
    let mut best = [Best::NONE; WHOLE[0]];
    plan.run(&elements, &mut best)?;
    Ok(best)
}

/// Few different numbers, so that each row has its largest in many tiles; and two rows with NaN, which is better.
fn matrix() -> Vec<f32> {
    let mut matrix: Vec<f32> = (0..WHOLE[0] * WHOLE[1]).map(|n| (n * n % 23) as f32).collect();
    matrix[2 * WHOLE[1] + 900] = f32::NAN;
    matrix[4 * WHOLE[1] + 300] = f32::NAN;
    matrix[4 * WHOLE[1] + 200] = f32::NAN;
    matrix
}
