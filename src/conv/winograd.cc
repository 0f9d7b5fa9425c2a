// winograd: fewer multiplications in float32 for kernels of size 2 to 7 with stride 1 and any
// dilation.
//
//   for each block of tiles                               as many as the L2 holds transformed
//     V[p] = (B^T d B)[p]           for every point p     winograd_transforms.cc
//     M[p] = V[p] * U[p]            one product a point   the microkernels of gemm.h
//     y = A^T M A, then the stages  for every tile        a microkernel that multiplies nothing
//
// U = G w G^T is computed once for all tiles. If there are so few tiles that all of them are one
// block, the threads share each of the three steps; otherwise each thread has blocks of its own. An
// element of M is the sum over the input channels in one chain, so that neither blocks nor threads
// change a bit of the result.
#include "conv/winograd.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "conv/cost.h"
#include "conv/epilogue.h"
#include "fbg/core/isa.h"
#include "gemm/tile_loop.h"

namespace fbg {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kChannels = WinogradTransforms::kChannels;

// G w G^T in double precision, rounded once: [point][input channel][output channel].
PackedB<Float32> transform_weights(const PackedConv& weights, int ty, int tx) {
  const ConvGeometry& g = weights.geometry();
  const std::int64_t inputs = g.in_channels, outputs = g.out_channels, points = ty * tx;
  const int ky = static_cast<int>(g.kernel[1]), kx = static_cast<int>(g.kernel[2]);
  const auto factor = [](int t, int k, int row, int column) {
    return t == 1 ? 1.0 : winograd::weights(t, k, row, column).value();
  };
  std::vector<double> both(static_cast<std::size_t>(points * ky * kx));  // [point][tap]
  for (int p = 0; p < points; ++p)
    for (int tap = 0; tap < ky * kx; ++tap)
      both[static_cast<std::size_t>(p * ky * kx + tap)] =
          factor(ty, ky, p / tx, tap / kx) * factor(tx, kx, p % tx, tap % kx);

  std::vector<float> u(static_cast<std::size_t>(points * inputs * outputs));
  std::vector<double> line(static_cast<std::size_t>(inputs));
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t p = 0; p < points; ++p) {
      std::ranges::fill(line, 0.0);
      for (std::int64_t tap = 0; tap < ky * kx; ++tap) {
        const double f = both[static_cast<std::size_t>(p * ky * kx + tap)];
        const float* const w = weights.weights<float>() + (o * ky * kx + tap) * inputs;
        if (f != 0)
          for (std::int64_t i = 0; i < inputs; ++i) line[static_cast<std::size_t>(i)] += f * w[i];
      }
      std::copy(line.begin(), line.end(), u.begin() + (o * points + p) * inputs);
    }
  const std::int64_t depth = points * inputs;
  return PackedB<Float32>::pack({u.data(), depth, outputs, 1, depth});
}

class WinogradStep final : public ConvStep {
 public:
  WinogradStep(const ConvProblem& p, int n)
      : geometry_(p.geometry),
        tiling_(p.geometry, p.shape, n),
        transforms_(tiling_, p.features),
        tile_(choose_geometry(GemmType::float32, p.features)),
        stages_(p, tile_),
        threads_(p.threads) {
    const std::int64_t tiles = tiling_.tiles(), mr = tile_.max_rows;
    const std::int64_t row_bytes =
        tiling_.points() * (geometry_.in_channels + geometry_.out_channels) * kFloat;
    // Threads share the tiles of one block if those of a single thread would not fill a tile of the
    // microkernel. Each then reads only a part of the weights, but also tiles that other threads
    // have transformed.
    shared_ =
        threads_ > 1 && tiles < threads_ * mr && tiles * row_bytes <= policy::winograd::kMaxShared;
    const std::int64_t fits = cpu_info().l2_bytes / 2 / row_bytes / mr * mr;
    block_tiles_ =
        shared_ ? tiles : std::min(std::max(fits, policy::winograd::kFewTiles * mr), tiles);
    source_ = PointMatrices::lay_out(block_tiles_, geometry_.in_channels);
    product_ = PointMatrices::lay_out(block_tiles_, geometry_.out_channels);
    block_bytes_ = source_.bytes(tiling_.points()) + product_.bytes(tiling_.points());

    const int ty = static_cast<int>(tiling_.y.t), tx = static_cast<int>(tiling_.x.t);
    const std::string name = "winograd " + std::to_string(ty) + "x" + std::to_string(tx);
    weights_ = &p.weights.form_of(name, [&] { return transform_weights(p.weights, ty, tx); });
    const KernelKey plain = make_kernel_key(tile_, GemmType::float32, {}, false, false, false);
    products_ = KernelTable(tile_, plain, geometry_.out_channels, 1, block_tiles_);
  }

  std::string kernel() const override {
    const std::int64_t rows = std::clamp<std::int64_t>(block_tiles_, 1, tile_.max_rows);
    const std::int64_t columns =
        std::min<std::int64_t>(geometry_.out_channels, tile_columns(tile_, rows));
    return kernel_name(
        products_.find(rows, ceil_div(columns, tile_.lanes), columns % tile_.lanes != 0).key);
  }
  int phases() const noexcept override { return shared_ ? 3 : 1; }
  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>((shared_ ? 1 : threads_) * block_bytes_ +
                                    threads_ * transforms_.scratch_bytes());
  }

  void run(const ConvRun& run, std::byte* workspace, int phase, int thread_id,
           int num_threads) const noexcept override {
    const std::int64_t blocks = shared_ ? 1 : threads_;
    Work work{source_,
              product_,
              reinterpret_cast<float*>(workspace + blocks * block_bytes_ +
                                       thread_id * transforms_.scratch_bytes()),
              {},
              0,
              1};
    std::byte* const block = workspace + (shared_ ? 0 : thread_id) * block_bytes_;
    work.source.data = reinterpret_cast<float*>(block);
    work.product.data = reinterpret_cast<float*>(block + source_.bytes(tiling_.points()));
    const std::int64_t tiles = tiling_.tiles();
    if (shared_) {
      work.tiles = {0, tiles};
      work.thread = thread_id;
      work.threads = num_threads;
      if (phase == 0) transform_source(run, work);
      if (phase == 1) multiply(work);
      if (phase == 2) transform_output(run, work);
      return;
    }
    const Range share{tiles * thread_id / num_threads, tiles * (thread_id + 1) / num_threads};
    const BalancedSplit split = BalancedSplit::split(share.size(), block_tiles_);
    for (std::int64_t i = 0; i < split.count; ++i) {
      work.tiles = {share.begin + split[i].begin, share.begin + split[i].end};
      transform_source(run, work);
      multiply(work);
      transform_output(run, work);
    }
  }

 private:
  // A block and a thread's part of it.
  struct Work {
    PointMatrices source, product;
    float* scratch;
    Range tiles;
    int thread, threads;
  };

  // Calls use(run of tiles, its first row, channels) for the part of a block that a thread has.
  template <class Use>
  void for_each_run(const Work& work, std::int64_t most, std::int64_t channels, Use use) const {
    const std::int64_t columns = tiling_.x.tiles(), rows = tiling_.y.tiles();
    std::int64_t index = 0;
    for (std::int64_t i = work.tiles.begin; i < work.tiles.end;) {
      const std::int64_t line = i / columns, x = i % columns;
      const std::int64_t count = std::min({most, columns - x, work.tiles.end - i});
      for (std::int64_t c = 0; c < channels; c += kChannels)
        if (index++ % work.threads == work.thread)
          use(TileRun{line / rows, line % rows, x, count}, i - work.tiles.begin,
              Range{c, std::min(c + kChannels, channels)});
      i += count;
    }
  }

  void transform_source(const ConvRun& run, const Work& work) const noexcept {
    for_each_run(work, transforms_.source_tiles(), geometry_.in_channels,
                 [&](const TileRun& tiles, std::int64_t row, Range channels) {
                   transforms_.transform_source(run, tiles, channels, work.source, row,
                                                work.scratch);
                 });
  }

  // Computes M[p] = V[p] U[p], a group of columns at a time.
  void multiply(const Work& work) const noexcept {
    const BalancedSplit tiles = BalancedSplit::split(work.tiles.size(), tile_.max_rows);
    const Range columns{0, geometry_.out_channels};
    const std::int64_t inputs = geometry_.in_channels;
    const std::int64_t units =
        tiling_.points() * ceil_div(columns.end, tile_columns(tile_, tiles.largest));
    const Range share{units * work.thread / work.threads, units * (work.thread + 1) / work.threads};
    BlockPair pair{nullptr, work.source.row * kFloat, nullptr, weights_->panel_bytes(), inputs};
    TileArgs args;
    args.set_blocks({&pair, 1});
    args.ldc = work.product.row * kFloat;
    std::int64_t unit = 0;
    for (std::int64_t point = 0; point < tiling_.points(); ++point)
      for_each_column_group(tile_, tiles.largest, columns, [&](const ColumnGroup& group) {
        if (unit++ < share.begin || unit > share.end) return;
        const std::byte* const panel =
            weights_->panels() + group.col / kPanelColumns * weights_->panel_bytes() +
            point * inputs * Float32::format.b_group() + group.col % kPanelColumns * kFloat;
        // The panel of the next group, or of the next point.
        const bool more = group.col + group.columns < columns.end;
        args.prefetch = more ? panel + group.columns / kPanelColumns * weights_->panel_bytes()
                             : panel + inputs * Float32::format.b_group();
        args.columns = group.columns;
        pair.a = work.source.data + point * work.source.point;
        pair.b = panel;
        float* tile = work.product.data + point * work.product.point + group.col;
        for_each_row_tile(tiles, {&pair, 1}, [&](std::int64_t rows) {
          args.c = tile;
          run_tile(products_, group, rows, args);
          tile += rows * work.product.row;
          args.prefetch = static_cast<const std::byte*>(args.prefetch) + inputs / 2 * 64;
        });
      });
  }

  void transform_output(const ConvRun& run, const Work& work) const noexcept {
    const auto &y = tiling_.y, &x = tiling_.x;
    TilePlace place(run.stages, run.c, run.grid.step[2] * x.dilation);
    for_each_run(work, transforms_.output_tiles(), geometry_.out_channels,
                 [&](const TileRun& tiles, std::int64_t row, Range channels) {
                   transforms_.transform_output(
                       work.product, row, tiles, channels, work.scratch,
                       [&](std::int64_t line, const float* pixels) {
                         const WinogradTiling::Plane at = tiling_.plane(tiles.plane);
                         const std::int64_t first = tiles.x * x.n;
                         const std::int64_t count =
                             std::min(tiles.count * x.n, x.outputs(at.x) - first);
                         if (count <= 0) return;
                         const std::int64_t pixel = run.grid.row(
                             at.image, at.z, at.y + line * y.dilation, at.x + first * x.dilation);
                         stages_.run(pixels, kChannels, count, pixel, channels, place);
                       });
                 });
  }

  const ConvGeometry geometry_;
  const WinogradTiling tiling_;
  const WinogradTransforms transforms_;
  const Geometry tile_;
  const SumsEpilogue stages_;
  const int threads_;
  bool shared_;
  std::int64_t block_tiles_, block_bytes_;
  PointMatrices source_, product_;
  const PackedB<Float32>* weights_;
  KernelTable products_;
};

bool applies_to(const ConvProblem& p, int n) {
  const ConvGeometry& g = p.geometry;
  const Extent3 ones{1, 1, 1};
  if (g.groups != 1 || g.transposed || g.stride != ones || g.kernel[0] != 1 ||
      p.shape.output[0] != p.shape.input[0] || g.pad_before[0] != 0 ||
      g.kernel[1] * g.kernel[2] == 1)
    return false;
  return std::max(g.kernel[1], g.kernel[2]) + n - 1 <= winograd::kMaxTile;
}

// The cost consists of the products, of reading U, which is too large for the L2 if there are many
// channels, and of both transforms, which are limited by transfers between the L1 and the L2.
double cost_of(const ConvProblem& p, int n) {
  using namespace policy::winograd;
  const WinogradTiling tiling(p.geometry, p.shape, n);
  const Geometry tile = choose_geometry(GemmType::float32, p.features);
  const double points = static_cast<double>(tiling.points());
  const double images = static_cast<double>(std::max<std::int64_t>(p.shape.batch, 1));
  const double tiles = static_cast<double>(tiling.tiles()) / images;
  const double inputs = static_cast<double>(p.geometry.in_channels);
  const double in_vectors = static_cast<double>(ceil_div(p.geometry.in_channels, tile.lanes));
  const double out_vectors = static_cast<double>(ceil_div(p.geometry.out_channels, tile.lanes));
  const double multiply = tiles * points * (inputs + kProduct) * out_vectors;
  const double bytes = points * inputs * static_cast<double>(p.geometry.out_channels) * kFloat;
  const double longer = static_cast<double>(std::max(tiling.y.t, tiling.x.t));
  const double transform =
      tiles * points * (kTilePoint + (in_vectors + out_vectors) / 2 * (kPoint + kTerm * longer));
  const double error = 1 + kError * (n - 2);
  const double all =
      bytes + tiles * points * static_cast<double>(kFloat) *
                  static_cast<double>(p.geometry.in_channels + p.geometry.out_channels);
  const double read = bytes > kManyBytes ? bytes * kFar : read_cost(bytes, all);
  return images * (multiply + read + transform) * error;
}

template <int N>
ConvMethod method() {
  static constexpr const char* kNames[] = {"winograd2", "winograd3", "winograd4", "winograd5",
                                           "winograd6"};
  return {kNames[N - 2],
          false,
          [](const ConvProblem& p) { return applies_to(p, N); },
          [](const ConvProblem& p) { return cost_of(p, N); },
          [](const ConvProblem& p) -> std::unique_ptr<ConvStep> {
            return std::make_unique<WinogradStep>(p, N);
          },
          true,
          true,
          only<GemmType::float32>};
}

}  // namespace

std::array<ConvMethod, 5> winograd_methods() {
  return {method<2>(), method<3>(), method<4>(), method<5>(), method<6>()};
}

}  // namespace fbg
