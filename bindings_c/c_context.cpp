// kkc.h sections 3 and 4: contexts and memory.
#include "core/catalogue.hpp"
#include "core/loans.hpp"
#include "guard.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_device_count(kkc_device_t device, int32_t* count) {
  return guard([&] { *count = device_count(valid_device(device, "device")); }, out(count, "count"));
}

kkc_status_t kkc_context_create(kkc_device_t device, int32_t device_id, kkc_allocator_t* allocator,
                                const kkc_options_t* options, kkc_context_t** ctx) {
  return guard(
      [&] {
        give(std::make_shared<Context>(valid_device(device, "device"), device_id,
                                       as_optional<Allocator>(allocator, "allocator"), *options_or_none(options)),
             ctx);
      },
      out(ctx, "ctx"));
}

kkc_status_t kkc_context_destroy(kkc_context_t* ctx) { return destroy<Context>(ctx, "ctx"); }

kkc_status_t kkc_context_set_stream(kkc_context_t* ctx, void* stream) {
  return guard([&] {
    const auto context = as<Context>(ctx, "ctx");
    Queue& queue = context->queue();
    queue.run([&] { queue.set_stream(stream); });
  });
}

kkc_status_t kkc_context_synchronize(kkc_context_t* ctx) {
  return guard([&] {
    const auto context = as<Context>(ctx, "ctx");
    Queue& queue = context->queue();
    queue.run([&] { queue.synchronize(); });
  });
}

kkc_status_t kkc_context_info(kkc_context_t* ctx, const char** json) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        context->info_text = context->describe();
        *json = context->info_text.c_str();
      },
      out(json, "json"));
}

kkc_status_t kkc_allocator_create(kkc_alloc_fn alloc, kkc_free_fn free, void* user, kkc_allocator_t** allocator) {
  return guard(
      [&] {
        require(alloc != nullptr, KKC_STATUS_NULL_POINTER, "alloc is NULL, expected a function");
        require(free != nullptr, KKC_STATUS_NULL_POINTER, "free is NULL, expected a function");
        give(std::make_shared<Allocator>(alloc, free, user), allocator);
      },
      out(allocator, "allocator"));
}

kkc_status_t kkc_allocator_destroy(kkc_allocator_t* allocator) { return destroy<Allocator>(allocator, "allocator"); }

kkc_status_t kkc_malloc(kkc_context_t* ctx, size_t bytes, void** ptr) {
  return guard([&] { *ptr = loan_memory(as<Context>(ctx, "ctx")->memory(), bytes); }, out(ptr, "ptr"));
}

kkc_status_t kkc_free(kkc_context_t* ctx, void* ptr) {
  return guard([&] { return_memory(as<Context>(ctx, "ctx")->queue(), ptr); });
}

kkc_status_t kkc_copy(kkc_context_t* ctx, void* dst, const void* src, size_t bytes, kkc_direction_t direction) {
  return guard([&] { copy_bytes(as<Context>(ctx, "ctx")->queue(), dst, src, bytes, direction); });
}

kkc_status_t kkc_tuning_export(kkc_context_t* ctx, const char** json) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        context->tuning_text = tuning_to_json(*context);
        *json = context->tuning_text.c_str();
      },
      out(json, "json"));
}

kkc_status_t kkc_tuning_import(kkc_context_t* ctx, const char* json) {
  return guard([&] { tuning_from_json(*as<Context>(ctx, "ctx"), json); });
}

}  // extern "C"
