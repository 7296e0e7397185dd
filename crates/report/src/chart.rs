//! Histograms as pictures.

use trommel::statistics::ValuesSummary;
use trommel_answer::figures::rounded;
use trommel_base::text::grouped;

use crate::html::Html;

/// The size of a histogram, in units of the picture.
const WIDTH: u64 = 480;
const HEIGHT: u64 = 80;

/// A bar: the bounds and the count of a bucket, and its place.
struct Bar {
    bounds: String,
    count: u64,
    left: f64,
    width: f64,
}

/// Appends the histograms of a path, if there are any.
pub(crate) fn histograms(values: &ValuesSummary, html: &mut Html) {
    if let Some(times) = &values.time_histogram {
        let buckets = times.buckets.iter().map(|bucket| {
            let bounds = format!("{} to {}", bucket.from, bucket.to);
            (bounds, bucket.count, bucket.from.0 as f64, bucket.to.0 as f64)
        });
        figure("Times", buckets.collect(), html);
    }
    if let Some(numbers) = &values.histogram {
        figure(title("Numbers", numbers.scale), doubles(&numbers.buckets, numbers.scale), html);
    }
    if let Some(lengths) = &values.length_histogram
        && values.time_histogram.is_none()
    {
        figure(title("Characters", lengths.scale), doubles(&lengths.buckets, lengths.scale), html);
    }
}

fn title(of: &'static str, scale: &str) -> &'static str {
    match (of, scale) {
        ("Numbers", "log") => "Numbers, on a logarithmic scale",
        ("Characters", "log") => "Characters, on a logarithmic scale",
        (of, _) => of,
    }
}

type Ranges = Vec<(String, u64, f64, f64)>;

fn doubles(buckets: &[trommel::statistics::histogram::Bucket<f64>], scale: &str) -> Ranges {
    // Buckets of a logarithmic scale have about the same ratio, so they are drawn with one width.
    let place = |number: usize, bound: f64| if scale == "log" { number as f64 } else { bound };
    let ranges = buckets.iter().enumerate().map(|(number, bucket)| {
        let bounds = if bucket.from.total_cmp(&bucket.to).is_eq() {
            rounded(bucket.from)
        } else {
            format!("{} to {}", rounded(bucket.from), rounded(bucket.to))
        };
        (bounds, bucket.count, place(number, bucket.from), place(number + 1, bucket.to))
    });
    ranges.collect()
}

/// Appends one histogram. Nothing for a single bucket, which shows nothing.
fn figure(title: &'static str, ranges: Ranges, html: &mut Html) {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return };
    let (start, span) = (first.2, last.3 - first.2);
    if ranges.len() < 2 || span.is_nan() || span <= 0.0 || span.is_infinite() {
        return;
    }
    let (from, to) = (first.0.clone(), last.0.clone());
    let scale = WIDTH as f64 / span;
    let bars = ranges.into_iter().map(|(bounds, count, left, right)| Bar {
        bounds,
        count,
        left: (left - start) * scale,
        width: ((right - left) * scale - 0.5).max(0.5),
    });
    let bars: Vec<Bar> = bars.collect();
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(1).max(1);
    html.raw("<figure class=\"histogram\"><figcaption>").text(title);
    html.raw("</figcaption><svg viewBox=\"0 0 ").number(WIDTH).raw(" ").number(HEIGHT);
    html.raw("\" role=\"img\" aria-label=\"")
        .text(&format!("{title}: {} buckets from {from} to {to}", bars.len()));
    html.raw("\">");
    for bar in &bars {
        // A bucket that is not empty has a visible bar.
        let height = (bar.count as f64 / most as f64 * HEIGHT as f64).max(1.0);
        html.raw("<rect x=\"").text(&format!("{:.1}", bar.left)).raw("\" y=\"");
        html.text(&format!("{:.1}", HEIGHT as f64 - height)).raw("\" width=\"");
        html.text(&format!("{:.1}", bar.width)).raw("\" height=\"").text(&format!("{height:.1}"));
        html.raw("\"><title>").text(&bar.bounds).raw(": ").text(&grouped(bar.count)).raw("</title></rect>");
    }
    html.raw("</svg><div class=\"bounds\"><span>").text(&from).raw("</span><span>").text(&to);
    html.raw("</span></div></figure>\n");
}
