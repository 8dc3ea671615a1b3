//! Both tables as one picture: a dot per kernel and column, on an axis of how many times as fast.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::record::{Evidence, Table};

const WIDTH: u32 = 1000;
const ROW: u32 = 14;
const MARGIN: u32 = 90;
const LABELS: u32 = 190;
const COLOURS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(44, 160, 44),
    RGBColor(148, 103, 189),
    RGBColor(214, 39, 40),
    RGBColor(90, 90, 90),
];

/// The picture as SVG.
pub fn drawn(evidence: &Evidence) -> Result<String, String> {
    let (configurations, drivers) = (evidence.configurations.shown(), evidence.drivers.shown());
    let height = |table: &Table| ROW * table.rows.len() as u32 + MARGIN;
    let (upper, lower) = (height(&configurations), height(&drivers));
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, upper + lower)).into_drawing_area();
        root.fill(&WHITE).map_err(|error| error.to_string())?;
        let (above, below) = root.split_vertically(upper);
        let title = "Configurations: times as fast as one work-item after the other, one thread";
        panel(&above, &configurations, title, |factor| factor)?;
        let ours = drivers.columns.first().map_or("", String::as_str);
        panel(&below, &drivers, &format!("{ours}: times as fast as others, all threads"), |factor| 1.0 / factor)?;
        root.present().map_err(|error| error.to_string())?;
    }
    Ok(text)
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    table: &Table,
    title: &str,
    shown: impl Fn(f64) -> f64,
) -> Result<(), String> {
    let dots = |column: usize| {
        let factor = move |(at, row): (usize, &super::record::Row)| Some((at, row.cells.get(column)?.median_factor()?));
        let dots: Vec<(usize, f64)> = table.rows.iter().enumerate().filter_map(factor).collect();
        dots.into_iter().map(|(at, factor)| (shown(factor), at as f64 + 0.5)).collect::<Vec<_>>()
    };
    let series: Vec<(usize, Vec<(f64, f64)>)> = (1..table.columns.len()).map(|column| (column, dots(column))).collect();
    let values = || series.iter().flat_map(|(_, dots)| dots).map(|(factor, _)| *factor);
    let (least, most) = (values().fold(0.5, f64::min) / 1.2, values().fold(2.0, f64::max) * 1.2);
    let count = table.rows.len();
    let wrong = |error: DrawingAreaErrorKind<_>| error.to_string();
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 19))
        .margin(8)
        .x_label_area_size(28)
        .y_label_area_size(LABELS)
        .build_cartesian_2d((least..most).log_scale(), count.max(1) as f64..0.0)
        .map_err(wrong)?;
    let name = |at: &f64| {
        let row = table.rows.get((at - 0.5).round().max(0.0) as usize);
        row.filter(|_| at.fract() == 0.5).map_or(String::new(), |row| row.name.clone())
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .y_labels(0)
        .x_label_style(("sans-serif", 14))
        .x_label_formatter(&|factor| format!("{factor}"))
        .draw()
        .map_err(wrong)?;
    let black = |at: f64, what: f64| PathElement::new(vec![(what, at), (what, at + count as f64)], BLACK.mix(0.4));
    chart.draw_series([black(0.0, 1.0)]).map_err(wrong)?;
    for at in 0..count {
        let (middle, text) = (at as f64 + 0.5, name(&(at as f64 + 0.5)));
        let line = PathElement::new(vec![(least, middle), (most, middle)], BLACK.mix(0.08));
        chart.draw_series([line]).map_err(wrong)?;
        let (_, y) = chart.backend_coord(&(least, middle));
        let (_, top) = area.get_base_pixel();
        let style = ("sans-serif", 14).into_text_style(area);
        area.draw_text(&text, &style, (12, y - top - 7)).map_err(wrong)?;
    }
    for (column, dots) in series {
        let colour = COLOURS[(column - 1) % COLOURS.len()];
        let circles = dots.into_iter().map(move |dot| Circle::new(dot, 3, colour.mix(0.8).filled()));
        let label = &table.columns[column];
        let drawn = chart.draw_series(circles).map_err(wrong)?;
        drawn.label(label).legend(move |(x, y)| Circle::new((x + 8, y), 4, colour.filled()));
    }
    let mut labels = chart.configure_series_labels();
    labels.label_font(("sans-serif", 14));
    labels.background_style(WHITE.mix(0.9)).border_style(BLACK.mix(0.3)).position(SeriesLabelPosition::LowerRight);
    labels.draw().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{row, table};
    use super::*;

    #[test]
    fn each_kernel_has_its_name_and_a_dot_per_column() {
        let configurations = table(&["scalar", "unicf"], vec![row("dct", &[800, 100]), row("nbody", &[800, 90])]);
        let drivers = table(&["lockstep", "intel", "limit"], vec![row("dct", &[100, 300, 50])]);
        let evidence = Evidence { configurations, drivers, ..Evidence::default() };
        let text = drawn(&evidence).expect("it can be drawn");
        assert!(text.starts_with("<svg") && text.contains("nbody"), "{text}");
        // Four dots and three in the legends.
        assert_eq!(text.matches("<circle").count(), 4 + 3);
    }

    #[test]
    fn nothing_measured_is_an_empty_picture() {
        assert!(drawn(&Evidence::default()).expect("it can be drawn").starts_with("<svg"));
    }
}
