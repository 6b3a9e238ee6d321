// The programs of the suite on rayon. It reads lines from standard input: "load <program>
// <size> <workers>", then any number of "serial" and "run"; each is answered by one line, of
// nanoseconds and an answer.
use rayon::prelude::*;
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

fn serial_fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    serial_fib(n - 1) + serial_fib(n - 2)
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn serial_queens(free: u32, left: u32, right: u32) -> u64 {
    if free == 0 {
        return 1;
    }
    let mut n = 0;
    let mut todo = free & !(left | right);
    while todo != 0 {
        let q = todo & todo.wrapping_neg();
        n += serial_queens(free ^ q, (left | q) << 1, (right | q) >> 1);
        todo &= todo - 1;
    }
    n
}

// queens forks the places of the next row that are in todo, but for the first.
fn queens(free: u32, left: u32, right: u32, todo: u32) -> u64 {
    if free == 0 {
        return 1;
    }
    if todo == 0 {
        return 0;
    }
    let q = todo & todo.wrapping_neg();
    let rest = todo ^ q;
    let place = || {
        let (f, l, r) = (free ^ q, (left | q) << 1, (right | q) >> 1);
        queens(f, l, r, f & !(l | r))
    };
    if rest == 0 {
        return place();
    }
    let (a, b) = rayon::join(place, || queens(free, left, right, rest));
    a + b
}

fn serial_sky(mut first: u64, mut size: u64) -> u64 {
    if size == 1 {
        return first;
    }
    size /= 10;
    let mut sum = 0;
    for _ in 0..10 {
        sum += serial_sky(first, size);
        first += size;
    }
    sum
}

// sky forks all but the first of so many children, each with size leaves.
fn sky(first: u64, size: u64, children: u64) -> u64 {
    if children > 1 {
        let (a, b) = rayon::join(|| sky(first, size, 1), || sky(first + size, size, children - 1));
        return a + b;
    }
    if size == 1 {
        return first;
    }
    sky(first, size / 10, 10)
}

fn f(x: f64) -> f64 {
    (x * x + 1.0) * x
}

fn serial_integral(x0: f64, x1: f64, y0: f64, y1: f64) -> f64 {
    let half = (x1 - x0) / 2.0;
    let x = x0 + half;
    let y = f(x);
    let (a, b) = ((y0 + y) / 2.0 * half, (y + y1) / 2.0 * half);
    if (a + b - (y0 + y1) * half).abs() < 1e-9 {
        return a + b;
    }
    serial_integral(x0, x, y0, y) + serial_integral(x, x1, y, y1)
}

fn integral(x0: f64, x1: f64, y0: f64, y1: f64) -> f64 {
    let half = (x1 - x0) / 2.0;
    let x = x0 + half;
    let y = f(x);
    let (a, b) = ((y0 + y) / 2.0 * half, (y + y1) / 2.0 * half);
    if (a + b - (y0 + y1) * half).abs() < 1e-9 {
        return a + b;
    }
    let (p, q) = rayon::join(|| integral(x0, x, y0, y), || integral(x, x1, y, y1));
    p + q
}

// sha1 of at most 55 bytes: one block.
fn sha1(data: &[u8]) -> [u8; 20] {
    let mut block = [0u8; 64];
    block[..data.len()].copy_from_slice(data);
    block[data.len()] = 0x80;
    block[56..].copy_from_slice(&(8 * data.len() as u64).to_be_bytes());
    let mut w = [0u32; 80];
    for i in 0..16 {
        w[i] = u32::from_be_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]]);
    }
    for i in 16..80 {
        w[i] = (w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]).rotate_left(1);
    }
    let h = [0x67452301u32, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    let [mut a, mut b, mut c, mut d, mut e] = h;
    for i in 0..80 {
        let (k, m) = match i / 20 {
            0 => (0x5a827999, (b & c) | (!b & d)),
            1 => (0x6ed9eba1, b ^ c ^ d),
            2 => (0x8f1bbcdc, (b & c) | (b & d) | (c & d)),
            _ => (0xca62c1d6u32, b ^ c ^ d),
        };
        let t = a.rotate_left(5).wrapping_add(m).wrapping_add(e).wrapping_add(k).wrapping_add(w[i]);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, t);
    }
    let mut out = [0u8; 20];
    for (i, v) in [a, b, c, d, e].iter().enumerate() {
        out[4 * i..4 * i + 4].copy_from_slice(&h[i].wrapping_add(*v).to_be_bytes());
    }
    out
}

type State = [u8; 20];

fn child(s: &State, i: u32) -> State {
    let mut b = [0u8; 24];
    b[..20].copy_from_slice(s);
    b[20..].copy_from_slice(&i.to_be_bytes());
    sha1(&b)
}

// children is that of the tree T1: geometric and fixed, b0 = 4, depth 10, seed 19.
fn children(s: &State, height: u32, log_p: f64) -> u32 {
    if height >= 10 {
        return 0;
    }
    let v = u32::from_be_bytes([s[16], s[17], s[18], s[19]]) & 0x7fffffff;
    ((1.0 - v as f64 / 2147483648.0).ln() / log_p) as u32
}

type Count = (u64, u64, u32);

fn plus(a: Count, b: Count) -> Count {
    (a.0 + b.0, a.1 + b.1, a.2.max(b.2))
}

fn serial_uts(s: &State, height: u32, log_p: f64) -> Count {
    let n = children(s, height, log_p);
    let mut c = (1, (n == 0) as u64, height);
    for i in 0..n {
        c = plus(c, serial_uts(&child(s, i), height + 1, log_p));
    }
    c
}

fn uts(s: &State, height: u32, log_p: f64) -> Count {
    let n = children(s, height, log_p);
    let c = (1, (n == 0) as u64, height);
    if n == 0 {
        return c;
    }
    plus(c, uts_from(s, height, log_p, 0, n))
}

fn uts_from(s: &State, height: u32, log_p: f64, i: u32, n: u32) -> Count {
    let one = || uts(&child(s, i), height + 1, log_p);
    if i + 1 == n {
        return one();
    }
    let (a, b) = rayon::join(one, || uts_from(s, height, log_p, i + 1, n));
    plus(a, b)
}

fn uts_answer(c: Count) -> String {
    format!("{} nodes, {} leaves, depth {}", c.0, c.1, c.2)
}

const TILE: usize = 64;

type Panel = [[f64; 4]; TILE];

// tile adds to the rows of a, which begin at row i0 and column j0, the product of b and c.
fn tile(a: &mut [f64], b: &[f64], c: &[f64], n: usize, i0: usize, j0: usize) {
    let mut panels = [[[0f64; 4]; TILE]; TILE / 4];
    for k0 in (0..n).step_by(TILE) {
        for k in 0..TILE {
            for j in 0..TILE {
                panels[j / 4][k][j % 4] = c[(k0 + k) * n + j0 + j];
            }
        }
        for i in (0..TILE).step_by(2) {
            let x = &b[(i0 + i) * n + k0..][..TILE];
            let y = &b[(i0 + i + 1) * n + k0..][..TILE];
            for j in 0..TILE / 4 {
                let (s, t) = rows(x, y, &panels[j]);
                for q in 0..4 {
                    a[i * n + j0 + 4 * j + q] += s[q];
                    a[(i + 1) * n + j0 + 4 * j + q] += t[q];
                }
            }
        }
    }
}

fn rows(x: &[f64], y: &[f64], p: &Panel) -> ([f64; 4], [f64; 4]) {
    let (mut s, mut t) = ([0f64; 4], [0f64; 4]);
    for k in 0..TILE {
        for q in 0..4 {
            s[q] += x[k] * p[k][q];
            t[q] += y[k] * p[k][q];
        }
    }
    (s, t)
}

struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 ^ (self.0 >> 29)
    }
}

// Work is a program with its input.
struct Work {
    name: String,
    n: u64,
    input: Vec<i64>,
    a: Vec<i64>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

impl Work {
    fn load(name: &str, n: u64) -> Work {
        let mut w = Work { name: name.into(), n, input: vec![], a: vec![], x: vec![], y: vec![], z: vec![] };
        let mut rng = Lcg(1);
        match name {
            "sort-random" => w.input = (0..n).map(|_| rng.next() as i64).collect(),
            "sort-nearly" => {
                w.input = (0..n as i64).map(|i| 16 * i).collect();
                for _ in 0..n / 100 {
                    let (i, j) = (rng.next() % n, rng.next() % n);
                    w.input.swap(i as usize, j as usize);
                }
            }
            "sum" | "prefix" => w.input = (0..n as i64).map(|i| i % 1000).collect(),
            "matmul" => {
                let mut number = || (rng.next() >> 11) as f64 / 9007199254740992.0;
                w.y = (0..n * n).map(|_| number()).collect();
                w.z = (0..n * n).map(|_| number()).collect();
                w.x = vec![0.0; (n * n) as usize];
            }
            _ => {}
        }
        if name.starts_with("sort") || name == "prefix" {
            w.a = vec![0; n as usize];
        }
        w
    }

    fn reset(&mut self) {
        if self.name.starts_with("sort") {
            self.a.copy_from_slice(&self.input);
        }
        self.x.fill(0.0);
    }

    fn go(&mut self, parallel: bool) -> String {
        let n = self.n;
        match self.name.as_str() {
            "fib" => (if parallel { fib(n) } else { serial_fib(n) }).to_string(),
            "nqueens" => {
                let all = (1u32 << n) - 1;
                (if parallel { queens(all, 0, 0, all) } else { serial_queens(all, 0, 0) }).to_string()
            }
            "skynet" => (if parallel { sky(0, n, 1) } else { serial_sky(0, n) }).to_string(),
            "integrate" => {
                let x = n as f64;
                let got = if parallel { integral(0.0, x, f(0.0), f(x)) } else { serial_integral(0.0, x, f(0.0), f(x)) };
                let exact = x * x * x * x / 4.0 + x * x / 2.0;
                if (got - exact).abs() > 1e-6 * exact { got.to_string() } else { format!("{:.0}", exact) }
            }
            "uts" => {
                let mut b = [0u8; 20];
                b[16..].copy_from_slice(&19u32.to_be_bytes());
                let (s, log_p) = (sha1(&b), (1.0 - 1.0 / 5.0f64).ln());
                uts_answer(if parallel { uts(&s, 0, log_p) } else { serial_uts(&s, 0, log_p) })
            }
            "matmul" => {
                let n = n as usize;
                let (y, z) = (&self.y, &self.z);
                let strip = |(i, rows): (usize, &mut [f64])| {
                    for j in (0..n).step_by(TILE) {
                        tile(rows, y, z, n, i * TILE, j);
                    }
                };
                if parallel {
                    self.x.par_chunks_mut(n * TILE).enumerate().for_each(strip);
                } else {
                    self.x.chunks_mut(n * TILE).enumerate().for_each(strip);
                }
                format!("trace {:.4e}", (0..n).map(|i| self.x[i * n + i]).sum::<f64>())
            }
            "sort-random" | "sort-nearly" => {
                if parallel {
                    self.a.par_sort_unstable();
                } else {
                    self.a.sort_unstable();
                }
                String::new()
            }
            "sum" => {
                let s: i64 = if parallel { self.input.par_iter().sum() } else { self.input.iter().sum() };
                s.to_string()
            }
            "prefix" => {
                if parallel {
                    prefix(&self.input, &mut self.a);
                } else {
                    serial_prefix(0, &self.input, &mut self.a);
                }
                String::new()
            }
            "tasks" => {
                let count = AtomicU64::new(0);
                if parallel {
                    rayon::scope(|s| {
                        for _ in 0..n {
                            s.spawn(|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        }
                    });
                } else {
                    for _ in 0..n {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
                count.load(Ordering::Relaxed).to_string()
            }
            _ => "unknown program".into(),
        }
    }

    // answer tells what is in the array, of programs that write one. It is not timed.
    fn answer(&self) -> String {
        if self.name.starts_with("sort") {
            let ordered = self.a.windows(2).all(|w| w[0] <= w[1]);
            let sum = self.a.iter().fold(0u64, |s, &v| s.wrapping_add(v as u64));
            return format!("ordered {}, sum {}", ordered, sum);
        }
        if self.name == "prefix" {
            return format!("{} and {}", self.a[self.a.len() / 3], self.a[self.a.len() - 1]);
        }
        String::new()
    }
}

fn serial_prefix(mut sum: i64, from: &[i64], to: &mut [i64]) {
    for (v, t) in from.iter().zip(to) {
        sum += v;
        *t = sum;
    }
}

// prefix sums up blocks, then writes them: rayon has no prefix sums of its own.
fn prefix(from: &[i64], to: &mut [i64]) {
    let size = (from.len() / (8 * rayon::current_num_threads())).max(4096);
    let mut sums: Vec<i64> = from.par_chunks(size).map(|c| c.iter().sum()).collect();
    let mut sum = 0;
    for s in sums.iter_mut() {
        let mine = *s;
        *s = sum;
        sum += mine;
    }
    from.par_chunks(size).zip(to.par_chunks_mut(size)).zip(sums).for_each(|((f, t), s)| serial_prefix(s, f, t));
}

fn main() {
    let mut work: Option<Work> = None;
    let mut pool: Option<rayon::ThreadPool> = None;
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["load", name, size, workers] => {
                work = Some(Work::load(name, size.parse().unwrap_or(0)));
                pool = Some(rayon::ThreadPoolBuilder::new().num_threads(workers.parse().unwrap()).build().unwrap());
                println!("0 loaded");
            }
            [how] => {
                let w = work.as_mut().unwrap();
                w.reset();
                let parallel = *how == "run";
                let begin = Instant::now();
                let mut answer = if parallel { pool.as_ref().unwrap().install(|| w.go(true)) } else { w.go(false) };
                let took = begin.elapsed().as_nanos();
                if answer.is_empty() {
                    answer = w.answer();
                }
                println!("{} {}", took, answer);
            }
            _ => println!("0 what is {}?", line),
        }
        io::stdout().flush().unwrap();
    }
}
