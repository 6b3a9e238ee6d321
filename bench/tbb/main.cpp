// The programs of the suite on oneTBB. It reads lines from standard input: "load <program>
// <size> <workers>", then any number of "serial" and "run"; each is answered by one line, of
// nanoseconds and an answer.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

using i64 = int64_t;
using u64 = uint64_t;
using u32 = uint32_t;

static u64 serialFib(u64 n) { return n < 2 ? n : serialFib(n - 1) + serialFib(n - 2); }

static u64 fib(u64 n) {
	if (n < 2) return n;
	u64 a, b;
	tbb::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
	return a + b;
}

static u64 serialQueens(u32 free, u32 left, u32 right) {
	if (free == 0) return 1;
	u64 n = 0;
	for (u32 todo = free & ~(left | right); todo; todo &= todo - 1) {
		u32 q = todo & -todo;
		n += serialQueens(free ^ q, (left | q) << 1, (right | q) >> 1);
	}
	return n;
}

// queens forks the places of the next row that are in todo, but for the first.
static u64 queens(u32 free, u32 left, u32 right, u32 todo) {
	if (free == 0) return 1;
	if (todo == 0) return 0;
	u32 q = todo & -todo, rest = todo ^ q;
	auto place = [=] {
		u32 f = free ^ q, l = (left | q) << 1, r = (right | q) >> 1;
		return queens(f, l, r, f & ~(l | r));
	};
	if (rest == 0) return place();
	u64 a, b;
	tbb::parallel_invoke([&] { a = place(); }, [&] { b = queens(free, left, right, rest); });
	return a + b;
}

static u64 serialSky(u64 first, u64 size) {
	if (size == 1) return first;
	size /= 10;
	u64 sum = 0;
	for (int i = 0; i < 10; i++, first += size) sum += serialSky(first, size);
	return sum;
}

// sky forks all but the first of so many children, each with size leaves.
static u64 sky(u64 first, u64 size, int children) {
	if (children > 1) {
		u64 a, b;
		tbb::parallel_invoke([&] { a = sky(first, size, 1); }, [&] { b = sky(first + size, size, children - 1); });
		return a + b;
	}
	return size == 1 ? first : sky(first, size / 10, 10);
}

static double f(double x) { return (x * x + 1) * x; }

template <bool parallel>
static double integral(double x0, double x1, double y0, double y1) {
	double half = (x1 - x0) / 2, x = x0 + half, y = f(x);
	double a = (y0 + y) / 2 * half, b = (y + y1) / 2 * half;
	if (std::fabs(a + b - (y0 + y1) * half) < 1e-9) return a + b;
	if (!parallel) return integral<false>(x0, x, y0, y) + integral<false>(x, x1, y, y1);
	double p, q;
	tbb::parallel_invoke([&] { p = integral<true>(x0, x, y0, y); }, [&] { q = integral<true>(x, x1, y, y1); });
	return p + q;
}

struct State {
	unsigned char b[20];
};

static u32 rotate(u32 x, int n) { return x << n | x >> (32 - n); }

// sha1 of at most 55 bytes: one block.
static State sha1(const unsigned char *data, size_t n) {
	unsigned char block[64] = {};
	std::memcpy(block, data, n);
	block[n] = 0x80;
	block[62] = static_cast<unsigned char>(n * 8 >> 8);
	block[63] = static_cast<unsigned char>(n * 8);
	u32 w[80];
	for (int i = 0; i < 16; i++)
		w[i] = u32(block[4 * i]) << 24 | u32(block[4 * i + 1]) << 16 | u32(block[4 * i + 2]) << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	const u32 h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	u32 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
	auto step = [&](u32 m, u32 k, int i) {
		u32 t = rotate(a, 5) + m + e + k + w[i];
		e = d, d = c, c = rotate(b, 30), b = a, a = t;
	};
	for (int i = 0; i < 20; i++) step((b & c) | (~b & d), 0x5a827999, i);
	for (int i = 20; i < 40; i++) step(b ^ c ^ d, 0x6ed9eba1, i);
	for (int i = 40; i < 60; i++) step((b & c) | (b & d) | (c & d), 0x8f1bbcdc, i);
	for (int i = 60; i < 80; i++) step(b ^ c ^ d, 0xca62c1d6, i);
	const u32 out[5] = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
	State s;
	for (int i = 0; i < 20; i++) s.b[i] = static_cast<unsigned char>(out[i / 4] >> (24 - 8 * (i % 4)));
	return s;
}

static State child(const State &s, u32 i) {
	unsigned char b[24];
	std::memcpy(b, s.b, 20);
	for (int k = 0; k < 4; k++) b[20 + k] = static_cast<unsigned char>(i >> (24 - 8 * k));
	return sha1(b, 24);
}

static const double logP = std::log(1 - 1 / 5.0);

// children is that of the tree T1: geometric and fixed, b0 = 4, depth 10, seed 19.
static u32 children(const State &s, u32 height) {
	if (height >= 10) return 0;
	u32 v = (u32(s.b[16]) << 24 | u32(s.b[17]) << 16 | u32(s.b[18]) << 8 | s.b[19]) & 0x7fffffff;
	return u32(std::log(1 - v / 2147483648.0) / logP);
}

struct Count {
	u64 nodes, leaves, depth;
	Count operator+(const Count &o) const { return {nodes + o.nodes, leaves + o.leaves, std::max(depth, o.depth)}; }
};

static Count serialUTS(const State &s, u32 height) {
	u32 n = children(s, height);
	Count c{1, n == 0, height};
	for (u32 i = 0; i < n; i++) c = c + serialUTS(child(s, i), height + 1);
	return c;
}

static Count uts(const State &s, u32 height);

static Count utsFrom(const State &s, u32 height, u32 i, u32 n) {
	if (i + 1 == n) return uts(child(s, i), height + 1);
	Count a, b;
	tbb::parallel_invoke([&] { a = uts(child(s, i), height + 1); }, [&] { b = utsFrom(s, height, i + 1, n); });
	return a + b;
}

static Count uts(const State &s, u32 height) {
	u32 n = children(s, height);
	Count c{1, n == 0, height};
	return n == 0 ? c : c + utsFrom(s, height, 0, n);
}

constexpr size_t tile = 64;
using Panel = double[tile][4];

static void rows(const double *x, const double *y, const Panel &p, double *s, double *t) {
	double u[4] = {}, v[4] = {};
	for (size_t k = 0; k < tile; k++)
		for (int q = 0; q < 4; q++) {
			u[q] += x[k] * p[k][q];
			v[q] += y[k] * p[k][q];
		}
	for (int q = 0; q < 4; q++) {
		s[q] += u[q];
		t[q] += v[q];
	}
}

static void multiplyTile(double *a, const double *b, const double *c, size_t n, size_t i0, size_t j0) {
	static thread_local Panel panels[tile / 4];
	for (size_t k0 = 0; k0 < n; k0 += tile) {
		for (size_t k = 0; k < tile; k++)
			for (size_t j = 0; j < tile; j++) panels[j / 4][k][j % 4] = c[(k0 + k) * n + j0 + j];
		for (size_t i = i0; i < i0 + tile; i += 2)
			for (size_t j = 0; j < tile; j += 4)
				rows(b + i * n + k0, b + (i + 1) * n + k0, panels[j / 4], a + i * n + j0 + j, a + (i + 1) * n + j0 + j);
	}
}

struct Lcg {
	u64 x = 1;
	u64 next() {
		x = x * 6364136223846793005u + 1442695040888963407u;
		return x ^ x >> 29;
	}
};

// Work is a program with its input.
struct Work {
	std::string name;
	u64 n;
	std::vector<i64> input, a;
	std::vector<double> x, y, z;

	bool is(const char *what) const { return name == what; }
	bool sorts() const { return is("sort-random") || is("sort-nearly"); }

	Work(const std::string &name, u64 n) : name(name), n(n) {
		Lcg rng;
		if (sorts() || is("sum") || is("prefix")) input.resize(n);
		if (is("sort-random"))
			for (auto &v : input) v = i64(rng.next());
		if (is("sort-nearly")) {
			for (u64 i = 0; i < n; i++) input[i] = 16 * i64(i);
			for (u64 k = 0; k < n / 100; k++) {
				u64 i = rng.next() % n, j = rng.next() % n;
				std::swap(input[i], input[j]);
			}
		}
		if (is("sum") || is("prefix"))
			for (u64 i = 0; i < n; i++) input[i] = i64(i % 1000);
		if (sorts() || is("prefix")) a.resize(n);
		if (is("matmul")) {
			x.resize(n * n), y.resize(n * n), z.resize(n * n);
			for (auto *m : {&y, &z})
				for (auto &v : *m) v = double(rng.next() >> 11) / 9007199254740992.0;
		}
	}

	void reset() {
		if (sorts()) a = input;
		std::fill(x.begin(), x.end(), 0);
	}

	std::string go(bool parallel) {
		if (is("fib")) return std::to_string(parallel ? fib(n) : serialFib(n));
		if (is("nqueens")) {
			u32 all = (u32(1) << n) - 1;
			return std::to_string(parallel ? queens(all, 0, 0, all) : serialQueens(all, 0, 0));
		}
		if (is("skynet")) return std::to_string(parallel ? sky(0, n, 1) : serialSky(0, n));
		if (is("integrate")) {
			double x = double(n), got = parallel ? integral<true>(0, x, f(0), f(x)) : integral<false>(0, x, f(0), f(x));
			double exact = x * x * x * x / 4 + x * x / 2;
			char text[64];
			std::snprintf(text, sizeof text, "%.0f", std::fabs(got - exact) > 1e-6 * exact ? got : exact);
			return text;
		}
		if (is("uts")) {
			unsigned char b[20] = {};
			b[19] = 19;
			State s = sha1(b, 20);
			Count c = parallel ? uts(s, 0) : serialUTS(s, 0);
			std::ostringstream out;
			out << c.nodes << " nodes, " << c.leaves << " leaves, depth " << c.depth;
			return out.str();
		}
		if (is("matmul")) {
			auto one = [&](size_t t) { multiplyTile(x.data(), y.data(), z.data(), n, t / (n / tile) * tile, t % (n / tile) * tile); };
			size_t tiles = n / tile * (n / tile);
			if (parallel)
				tbb::parallel_for(size_t(0), tiles, one);
			else
				for (size_t t = 0; t < tiles; t++) one(t);
			double trace = 0;
			for (size_t i = 0; i < n; i++) trace += x[i * n + i];
			int e = int(std::floor(std::log10(trace)));
			char text[64]; // as the others write it: no "+05"
			std::snprintf(text, sizeof text, "trace %.4fe%d", trace / std::pow(10, e), e);
			return text;
		}
		if (sorts()) {
			if (parallel)
				tbb::parallel_sort(a.begin(), a.end());
			else
				std::sort(a.begin(), a.end());
			return "";
		}
		if (is("sum")) {
			auto part = [&](const tbb::blocked_range<size_t> &r, i64 s) { return std::accumulate(&input[0] + r.begin(), &input[0] + r.end(), s); };
			tbb::blocked_range<size_t> all(0, n);
			return std::to_string(parallel ? tbb::parallel_reduce(all, i64(0), part, std::plus<i64>()) : part(all, 0));
		}
		if (is("prefix")) {
			auto part = [&](const tbb::blocked_range<size_t> &r, i64 s, bool last) {
				for (size_t i = r.begin(); i < r.end(); i++) {
					s += input[i];
					if (last) a[i] = s;
				}
				return s;
			};
			tbb::blocked_range<size_t> all(0, n);
			if (parallel)
				tbb::parallel_scan(all, i64(0), part, std::plus<i64>());
			else
				part(all, 0, true);
			return "";
		}
		if (is("tasks")) {
			std::atomic<u64> count{0};
			auto task = [&] { count.fetch_add(1, std::memory_order_relaxed); };
			if (parallel) {
				tbb::task_group g;
				for (u64 i = 0; i < n; i++) g.run(task);
				g.wait();
			} else {
				for (u64 i = 0; i < n; i++) task();
			}
			return std::to_string(count);
		}
		return "unknown program";
	}

	// answer tells what is in the array, of programs that write one. It is not timed.
	std::string answer() const {
		if (sorts()) {
			u64 sum = 0;
			for (i64 v : a) sum += u64(v);
			return std::string("ordered ") + (std::is_sorted(a.begin(), a.end()) ? "true" : "false") + ", sum " + std::to_string(sum);
		}
		return std::to_string(a[a.size() / 3]) + " and " + std::to_string(a.back());
	}
};

int main() {
	std::unique_ptr<Work> work;
	std::unique_ptr<tbb::global_control> limit;
	std::unique_ptr<tbb::task_arena> arena;
	std::string line;
	while (std::getline(std::cin, line)) {
		std::istringstream in(line);
		std::string how, name;
		u64 n;
		int workers;
		in >> how;
		if (how == "load") {
			std::string size;
			in >> name >> size >> workers;
			n = std::strtoull(size.c_str(), nullptr, 10); // uts has a name for it
			work = std::make_unique<Work>(name, n);
			limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, workers);
			arena = std::make_unique<tbb::task_arena>(workers);
			std::cout << "0 loaded" << std::endl;
			continue;
		}
		work->reset();
		bool parallel = how == "run";
		auto begin = std::chrono::steady_clock::now();
		std::string answer = parallel ? arena->execute([&] { return work->go(true); }) : work->go(false);
		auto took = std::chrono::steady_clock::now() - begin;
		if (answer.empty()) answer = work->answer();
		std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(took).count() << " " << answer << std::endl;
	}
}
