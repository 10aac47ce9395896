#include "view_files.hpp"

#include "matrix_market_read.hpp"
#include "matrix_market_write.hpp"

namespace kkc {

std::shared_ptr<View> read_dense(const Context& context, const std::string& path, int32_t scalar, int32_t layout) {
  require(layout == KKC_LAYOUT_LEFT || layout == KKC_LAYOUT_RIGHT, KKC_STATUS_INVALID_ARGUMENT, "layout is ", layout,
          ", expected KKC_LAYOUT_LEFT (1) or _RIGHT (2)");
  const HostDense read =
      read_matrix_market_dense(path, valid_element(scalar, "scalar"), static_cast<Layout>(layout), context.memory());
  const bool host = is_host(context.device());
  const int64_t extents[2] = {read.rows, read.cols};
  auto view = View::create(context, scalar, 2, extents, layout, host ? KKC_SPACE_HOST : KKC_SPACE_DEVICE);
  copy_and_wait(context.queue(), view->data(), read.data.data(), read.data.bytes());
  return view;
}

void write_dense(const Context& context, const View& view, const std::string& path) {
  require_on_device(view, context.queue(), "view");
  require(view.rank() == 1 || view.rank() == 2, KKC_STATUS_INVALID_ARGUMENT, "view has rank ", view.rank(),
          ", expected 1 or 2");
  require_data(view, "view");
  DenseRef dense = view.ref();
  const auto [first, last] = view.bytes();
  std::unique_ptr<char[]> fetched;
  if (view.space() == Space::device) {
    // The gaps between strided elements travel too: the file's order does not depend on them.
    fetched.reset(new char[last - first]);
    copy_and_wait(context.queue(), fetched.get(), dense.data, last - first);
    dense.data = fetched.get();
  } else {
    // Enqueued work may still write what the host reads.
    context.queue().run([&] { context.queue().synchronize(); });
  }
  write_matrix_market_dense(dense, path, context.memory());
}

}  // namespace kkc
