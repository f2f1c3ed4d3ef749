//! A picture of one type: how much of `read` is reached in L2, over the length of the reduced axis and the extent
//! inside it. Knows of cells what is in their shapes.

use crate::cell::{Cell, Options, Shape, Size};
use crate::measure::{Outcome, Who};
use crate::pattern::Pattern;
use anyhow::Result;
use argreduce::DataType;
use plotters::prelude::*;
use std::path::Path;

const R: [usize; 14] = [2, 3, 4, 5, 7, 10, 16, 21, 32, 64, 100, 255, 1000, 4096];
/// An inner extent of 1 is rows.
const INNER: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100, 256, 1000];

pub fn cells(data_type: DataType) -> Vec<Cell> {
    let shapes = R.iter().flat_map(|&r| INNER.map(|inner| Shape::Columns { r, inner }));
    let rows = R.map(Shape::Rows);
    let plain = |shape| Cell { data_type, shape, pattern: Pattern::Random, options: Options::Plain, size: Size::L2 };
    rows.into_iter()
        .chain(shapes.filter(|shape| !matches!(shape, Shape::Columns { inner: 1, .. })))
        .map(plain)
        .collect()
}

/// Writes the picture. What was not measured stays blank.
pub fn draw(path: &Path, data_type: DataType, outcomes: &[Outcome]) -> Result<()> {
    let root = SVGBackend::new(path, (880, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let title = format!("{data_type} in L2: speed over that of a plain read");
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d((0..R.len()).into_segmented(), (0..INNER.len()).into_segmented())?;
    let name = |names: &[usize], at: &SegmentValue<usize>| match at {
        SegmentValue::CenterOf(n) => names.get(*n).map_or(String::new(), usize::to_string),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(R.len())
        .y_labels(INNER.len())
        .x_label_formatter(&|at| name(&R, at))
        .y_label_formatter(&|at| name(&INNER, at))
        .x_desc("R: elements reduced to one index")
        .y_desc("inner extent (1: rows)")
        .draw()?;
    for outcome in outcomes {
        let (r, inner) = match outcome.cell.shape {
            Shape::Rows(r) => (r, 1),
            Shape::Columns { r, inner } => (r, inner),
            _ => continue,
        };
        let place = R.iter().position(|&n| n == r).zip(INNER.iter().position(|&n| n == inner));
        let (Some((x, y)), Some(of_read)) = (place, outcome.ratio(Who::Read)) else { continue };
        let corners = [
            (SegmentValue::Exact(x), SegmentValue::Exact(y)),
            (SegmentValue::Exact(x + 1), SegmentValue::Exact(y + 1)),
        ];
        chart.draw_series([Rectangle::new(corners, color(of_read).filled())])?;
        let style = ("sans-serif", 12).into_font().color(if of_read < 0.5 { &WHITE } else { &BLACK });
        let center = (SegmentValue::CenterOf(x), SegmentValue::CenterOf(y));
        let text = EmptyElement::at(center) + Text::new(format!("{of_read:.2}"), (-11, -6), style);
        chart.draw_series([text])?;
    }
    root.present()?;
    Ok(())
}

/// From dark blue at 0 to yellow at 1 and above; even steps look even, also in grey.
fn color(of_read: f64) -> RGBColor {
    let at = of_read.clamp(0.0, 1.0) as f32;
    let (red, green, blue) = ViridisRGB.get_color(at).rgb();
    RGBColor(red, green, blue)
}
