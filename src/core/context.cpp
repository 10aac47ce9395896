#include "context.hpp"

#include <nlohmann/json.hpp>

#include "log.hpp"
#include "scratch.hpp"

namespace kkc {
namespace {

using Json = nlohmann::ordered_json;

std::shared_ptr<Queue> open_queue(Device device, int32_t device_id, const Options& options) {
  QueueSettings settings;
  options.allow_only("kkc_context_create", {"threads", "scalars"});
  settings.threads = static_cast<int32_t>(options.integer("threads", 0, 1, 512));
  require(!options.has("threads") || device == Device::openmp || settings.threads == 1, KKC_STATUS_INVALID_ARGUMENT,
          "options: \"threads\" is ", settings.threads, " for device ", name(device), ", expected device openmp");
  Backend& devices = backend(device);
  const int32_t count = devices.count();
  require(device_id >= 0 && device_id < count, KKC_STATUS_INVALID_ARGUMENT, "device_id is ", device_id,
          ", expected 0 to ", count - 1, " for device ", name(device));
  std::shared_ptr<Queue> queue;
  devices.run([&] { queue = devices.open(device_id, settings); });
  return queue;
}

template <class... Ts>
Json names_of(TypeList<Ts...>, uint32_t mask) {
  Json names = Json::array();
  uint32_t bit = 1;
  const auto take = [&](const char* text) {
    if (mask & bit) names.push_back(text);
    bit <<= 1;
  };
  if constexpr (std::is_same_v<TypeList<Ts...>, AllScalars>)
    (take(name(scalar_of<Ts>)), ...);
  else
    (take(name(index_pair_of<Ts>)), ...);
  return names;
}

Json json_of(const Info& info) {
  Json json = Json::object();
  for (const auto& [key, value] : info.entries()) std::visit([&, &key = key](const auto& v) { json[key] = v; }, value);
  return json;
}

}  // namespace

Context::Context(Device device, int32_t device_id, std::shared_ptr<Allocator> allocator, const Options& options)
    : Object(kind_tag),
      memory_(std::make_shared<Memory>(open_queue(device, device_id, options), std::move(allocator))),
      scratch_(memory_, own_space(device), scratch_bytes),
      device_scalars_(options.choice("scalars", {"host", "device"}) == "device") {
  const std::string zeros(scratch_bytes, '\0');
  copy_and_wait(queue(), scratch_.data(), zeros.data(), scratch_bytes);
  const DeviceTable& table = queue().table();
  for (int32_t i = 0; i < table.count; ++i)
    for (int32_t k = 0; k < table.operations[i].count; ++k)
      if (const auto prepare = table.operations[i].entries[k]->prepare; prepare != nullptr)
        queue().run([&] { prepare(queue()); });
  log(LogLevel::info, "context on ", describe());
}

std::string Context::describe() const {
  Info info;
  queue().run([&] { queue().describe(info); });
  Json json;
  json["device"] = name(device());
  json["device_id"] = queue().device_id();
  json.update(json_of(info));
  json["scalars"] = names_of(AllScalars{}, queue().table().scalar_mask);
  json["index_pairs"] = names_of(AllIndexPairs{}, queue().table().index_pair_mask);
  json["kkc"] = cat(KKC_VERSION_MAJOR, '.', KKC_VERSION_MINOR, '.', KKC_VERSION_PATCH);
  return json.dump();
}

void copy_and_wait(Queue& queue, void* destination, const void* source, size_t bytes) {
  if (bytes == 0) return;
  queue.run([&] {
    queue.copy(destination, source, bytes);
    queue.synchronize();
  });
}

std::string to_json(const Info& info) { return json_of(info).dump(); }

std::string tuning_to_json(const Context& context) {
  Json choices = Json::array();
  for (const auto& [key, implementation] : context.tuning)
    choices.push_back({{"case", key}, {"implementation", implementation}});
  return Json{{"kkc_tuning", 1}, {"choices", choices}}.dump();
}

void tuning_from_json(Context& context, const char* text) {
  require(text != nullptr, KKC_STATUS_NULL_POINTER, "json is NULL, expected what kkc_tuning_export gave");
  std::map<std::string, std::string> taken = context.tuning;
  try {
    const Json json = Json::parse(text);
    require(json.is_object() && json.value("kkc_tuning", 0) == 1, KKC_STATUS_PARSE,
            "json is not a kkc tuning record, expected an object with \"kkc_tuning\": 1");
    require(json.at("choices").is_array(), KKC_STATUS_PARSE,
            "json is not a kkc tuning record: \"choices\" is of JSON type ", json.at("choices").type_name(),
            ", expected an array");
    for (const auto& choice : json.at("choices"))
      taken[choice.at("case").get<std::string>()] = choice.at("implementation").get<std::string>();
  } catch (const Json::exception& e) {
    fail(KKC_STATUS_PARSE, "json is not a kkc tuning record: ", e.what());
  }
  context.tuning = std::move(taken);
}

Device valid_device(int32_t device, const char* argument) {
  require(device >= KKC_DEVICE_SERIAL && device <= KKC_DEVICE_HIP, KKC_STATUS_INVALID_ARGUMENT, argument, " is ",
          device, ", expected KKC_DEVICE_SERIAL (1), _OPENMP (2), _CUDA (3) or _HIP (4)");
  return static_cast<Device>(device);
}

Op valid_op(int32_t op, const char* argument) {
  require(op >= KKC_OP_NONE && op <= KKC_OP_HERMITIAN, KKC_STATUS_INVALID_ARGUMENT, argument, " is ", op,
          ", expected KKC_OP_NONE (1), _TRANSPOSE (2), _CONJUGATE (3) or _HERMITIAN (4)");
  return static_cast<Op>(op);
}

Uplo valid_uplo(int32_t uplo) {
  require(uplo == KKC_UPLO_LOWER || uplo == KKC_UPLO_UPPER, KKC_STATUS_INVALID_ARGUMENT, "uplo is ", uplo,
          ", expected KKC_UPLO_LOWER (1) or _UPPER (2)");
  return static_cast<Uplo>(uplo);
}

Diag valid_diag(int32_t diag) {
  require(diag == KKC_DIAG_STORED || diag == KKC_DIAG_UNIT, KKC_STATUS_INVALID_ARGUMENT, "diag is ", diag,
          ", expected KKC_DIAG_STORED (1) or _UNIT (2)");
  return static_cast<Diag>(diag);
}

}  // namespace kkc
