//! `demo`: shows the device, then renders a picture through the ICD loader and
//! checks every pixel.
//!
//! The kernel and the Rust reference do the same IEEE single-precision
//! operations in the same order, and contraction is off, so the two have to
//! agree to the last bit: one differing pixel is a wrong driver.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::driver::VENDORS;
use crate::opencl::{Device, first_device};
use crate::progress::step;
use crate::{driver, process, setup, workspace};

const WIDTH: usize = 1920;
const HEIGHT: usize = 1080;
const ITERATIONS: u32 = 400;
/// The picture's left edge, upper edge, and the side of a pixel.
const LEFT: f32 = -2.25;
const TOP: f32 = 1.0125;
const PIXEL: f32 = 0.001875;
const ROUNDS: usize = 5;

const SOURCE: &str = r"
#pragma OPENCL FP_CONTRACT OFF
kernel void mandelbrot(global uint *steps, float left, float top, float pixel, uint limit)
{
    size_t column = get_global_id(0), row = get_global_id(1);
    float cx = left + (float)column * pixel;
    float cy = top - (float)row * pixel;
    float x = 0.0f, y = 0.0f;
    uint n = 0;
    for (; n < limit; ++n) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
    }
    steps[row * get_global_size(0) + column] = n;
}
";

/// The whole demonstration.
pub fn run() -> Result<()> {
    setup::run()?;
    driver::build()?;
    let vendors = workspace::vendors();
    let listing = step("clinfo -l");
    process::run(Command::new("clinfo").arg("-l").env(VENDORS, &vendors))?;
    listing.done();
    let render = step("render the Mandelbrot set through the ICD loader");
    let ourselves = std::env::current_exe().context("cannot find xtask's own program")?;
    let mut child = Command::new(ourselves);
    child.args(["demo-render", "--picture"]).arg(workspace::root().join("target/mandelbrot.png"));
    process::run(child.env(VENDORS, &vendors))?;
    render.done();
    Ok(())
}

/// What the child is told.
#[derive(clap::Args)]
pub struct RenderOptions {
    /// The file for the picture
    #[arg(long, value_name = "FILE")]
    picture: PathBuf,
}

/// The child's part: everything that talks OpenCL.
pub fn render_picture(options: &RenderOptions) -> Result<()> {
    let device: Device = first_device()?;
    println!("    device:    {} ({})", device.name()?, device.platform_name()?);
    println!("    version:   {}", device.version()?);

    let session = device.session()?;
    let start = Instant::now();
    let kernel = session.kernel(SOURCE, c"", c"mandelbrot")?;
    println!("    build:     {:.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let picture = session.buffer(WIDTH * HEIGHT * size_of::<u32>())?;
    kernel.set_buffer(0, &picture)?;
    kernel.set(1, &LEFT)?;
    kernel.set(2, &TOP)?;
    kernel.set(3, &PIXEL)?;
    kernel.set(4, &ITERATIONS)?;
    let mut times = Vec::new();
    // The first launch also generates the code; it is told apart.
    for _ in 0..=ROUNDS {
        let start = Instant::now();
        session.launch(&kernel, &[WIDTH, HEIGHT])?;
        session.finish()?;
        times.push(start.elapsed().as_secs_f64());
    }
    let first = times.remove(0);
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!("    1st run:   {:.1} ms (with code generation)", first * 1e3);
    #[expect(clippy::cast_precision_loss, reason = "a picture has few pixels")]
    let pixels = (WIDTH * HEIGHT) as f64;
    println!(
        "    run:       {:.1} ms, {:.1} Mpixel/s ({WIDTH}x{HEIGHT}, at most {ITERATIONS} steps, median of {ROUNDS})",
        median * 1e3,
        pixels / median / 1e6
    );

    let mut steps = vec![0u32; WIDTH * HEIGHT];
    session.read(&picture, &mut steps)?;
    let start = Instant::now();
    let reference = reference();
    println!("    reference: {:.1} ms (Rust, one thread)", start.elapsed().as_secs_f64() * 1e3);
    compare(&steps, &reference)?;
    println!("    all {} pixels equal the Rust reference", steps.len());

    write_png(&options.picture, &steps)?;
    println!("    picture:   {}", options.picture.display());
    Ok(())
}

fn reference() -> Vec<u32> {
    let mut steps = Vec::with_capacity(WIDTH * HEIGHT);
    for row in 0..HEIGHT {
        for column in 0..WIDTH {
            #[expect(clippy::cast_precision_loss, reason = "small whole numbers, exact in f32")]
            let (cx, cy) = (LEFT + column as f32 * PIXEL, TOP - row as f32 * PIXEL);
            steps.push(escape_steps(cx, cy));
        }
    }
    steps
}

/// The kernel's loop, operation for operation.
fn escape_steps(cx: f32, cy: f32) -> u32 {
    let (mut x, mut y) = (0.0f32, 0.0f32);
    for n in 0..ITERATIONS {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return n;
        }
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
    }
    ITERATIONS
}

fn compare(steps: &[u32], reference: &[u32]) -> Result<()> {
    ensure!(steps.len() == reference.len(), "the picture has a wrong size");
    let wrong = steps.iter().zip(reference).filter(|(a, b)| a != b).count();
    if let Some(first) = steps.iter().zip(reference).position(|(a, b)| a != b) {
        bail!(
            "{wrong} of {} pixels are wrong; the first is column {}, row {}: {} steps instead of {}",
            steps.len(),
            first % WIDTH,
            first / WIDTH,
            steps[first],
            reference[first]
        );
    }
    Ok(())
}

/// Black inside the set, a smooth cycle of colours outside.
fn colour(steps: u32) -> [u8; 3] {
    if steps >= ITERATIONS {
        return [0, 0, 0];
    }
    let wave = |speed: u32, phase: u32| {
        // A triangle wave over 0..=255.
        let position = (steps * speed + phase) % 512;
        u8::try_from(position.min(511 - position)).unwrap_or(u8::MAX)
    };
    [wave(5, 0), wave(7, 40), wave(11, 120)]
}

fn write_png(path: &Path, steps: &[u32]) -> Result<()> {
    let file = std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), u32::try_from(WIDTH)?, u32::try_from(HEIGHT)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let bytes: Vec<u8> = steps.iter().flat_map(|&n| colour(n)).collect();
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_points_escape_when_they_should() {
        // The origin and -1 (a cycle of two) never leave; 1 goes 1, 2, 5; 2+2i at once.
        assert_eq!(escape_steps(0.0, 0.0), ITERATIONS);
        assert_eq!(escape_steps(-1.0, 0.0), ITERATIONS);
        assert_eq!(escape_steps(1.0, 0.0), 3);
        assert_eq!(escape_steps(2.0, 2.0), 1);
    }

    #[test]
    fn one_wrong_pixel_is_found_and_named() {
        let reference = vec![7u32; WIDTH * 2];
        assert!(compare(&reference, &reference).is_ok());
        let mut wrong = reference.clone();
        wrong[WIDTH + 3] = 8;
        let message = compare(&wrong, &reference).expect_err("differs").to_string();
        assert!(message.contains("column 3, row 1: 8 steps instead of 7"), "{message}");
    }

    #[test]
    fn the_inside_is_black_and_colours_are_in_range() {
        assert_eq!(colour(ITERATIONS), [0, 0, 0]);
        assert!((0..ITERATIONS).all(|n| colour(n) != [0, 0, 0] || n == 0));
    }
}
