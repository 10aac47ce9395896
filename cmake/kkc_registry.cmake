# The registry: src/ops/*/CMakeLists.txt say which implementations exist, here they become one translation unit per
# (algorithm, device) and one explicit table per device.

# kkc_op(<op> [SOURCES file...] [MODULE_SOURCES file...])
# An operation. <op>.cpp, where it exists, and SOURCES belong to libkkc; MODULE_SOURCES to libkkc and every module.
function(kkc_op op)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;MODULE_SOURCES")
  set(folder ${CMAKE_CURRENT_LIST_DIR})
  set_property(GLOBAL APPEND PROPERTY KKC_OPERATIONS ${op})
  set_property(GLOBAL PROPERTY KKC_${op}_FOLDER ${folder})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/CMakeLists.txt)
  if(EXISTS ${folder}/${op}.cpp)
    list(PREPEND arg_SOURCES ${op}.cpp)
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${folder}/)
  list(TRANSFORM arg_MODULE_SOURCES PREPEND ${folder}/)
  set_property(GLOBAL APPEND PROPERTY KKC_HOST_SOURCES ${arg_SOURCES} ${arg_MODULE_SOURCES})
  set_property(GLOBAL APPEND PROPERTY KKC_MODULE_SOURCES ${arg_MODULE_SOURCES})
endfunction()

# kkc_impl(<op> <algorithm> DEVICES serial openmp cuda hip|host [SOURCE file] [RAW] [TRIAL] [UNFUSED]
#          [PARTS part...])
# An implementation, in order of priority. DEVICES host: Serial and OpenMP, without Kokkos and compiled once for both.
# UNFUSED: its host unit rounds products before it adds them (-ffp-contract=off), everywhere in the same way.
# RAW: it launches raw GPU kernels only and is compiled without Kokkos' headers. TRIAL: its tests have not run on its
# device yet, so only builds with KKC_TRIAL hold it. PARTS: what takes long to compile, <op>_<algorithm>_<part>.hpp each,
# defined in a translation unit of its own. Without SOURCE, <op>_<algorithm>.hpp defines
# template <class Dev> constexpr Implementation <algorithm>(); with SOURCE, that file defines <algorithm>_<device>.
function(kkc_impl op algorithm)
  cmake_parse_arguments(PARSE_ARGV 2 arg "RAW;TRIAL;UNFUSED" "SOURCE" "DEVICES;PARTS")
  if((arg_TRIAL AND NOT KKC_TRIAL) OR op IN_LIST KKC_WITHOUT)
    return()
  endif()
  get_property(folder GLOBAL PROPERTY KKC_${op}_FOLDER)
  if(arg_SOURCE)
    set(file ${folder}/${arg_SOURCE})
  else()
    set(file ${folder}/${op}_${algorithm}.hpp)
  endif()
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${op} ${algorithm}: ${file} does not exist")
    return()
  endif()
  if(arg_DEVICES STREQUAL "host" AND NOT arg_SOURCE)
    set(arg_DEVICES serial openmp)
    set(arg_SOURCE ${op}_${algorithm}.cpp)
    set(file ${PROJECT_BINARY_DIR}/generated/host/${arg_SOURCE})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/host_unit.in ${file} @ONLY)
    if(arg_UNFUSED)
      set_property(GLOBAL APPEND PROPERTY KKC_UNFUSED_SOURCES ${file})
    endif()
  endif()
  foreach(device IN LISTS arg_DEVICES)
    set_property(GLOBAL APPEND PROPERTY KKC_${op}_${device} ${algorithm})
    set_property(GLOBAL PROPERTY KKC_${op}_${algorithm}_${device}_RAW ${arg_RAW})
    set_property(GLOBAL PROPERTY KKC_${op}_${algorithm}_${device}_PARTS ${arg_PARTS})
    if(arg_SOURCE)
      set_property(GLOBAL PROPERTY KKC_${op}_${algorithm}_${device}_SOURCE ${file})
    endif()
  endforeach()
endfunction()

set(kkc_tag_serial Serial)
set(kkc_tag_openmp OpenMP)
set(kkc_tag_cuda Cuda)
set(kkc_tag_hip Hip)

# Writes a file only when its text changes, so that a new configure rebuilds nothing.
function(kkc_write path text)
  if(EXISTS ${path})
    file(READ ${path} old)
    if(old STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE ${path} "${text}")
endfunction()

# kkc_device_sources(<result> <device>): the device's translation units and its table, table_<device>.
function(kkc_device_sources result device)
  set(folder ${PROJECT_BINARY_DIR}/generated/${device})
  set(extension cpp)
  if(device STREQUAL "cuda")
    set(extension cu)
  endif()
  get_property(operations GLOBAL PROPERTY KKC_OPERATIONS)
  set(sources)
  set(includes)
  set(declarations)
  set(lists)
  set(rows)
  set(count 0)
  foreach(op IN LISTS operations)
    get_property(algorithms GLOBAL PROPERTY KKC_${op}_${device})
    if(NOT algorithms)
      continue()
    endif()
    set(names)
    set(pointers)
    foreach(algorithm IN LISTS algorithms)
      set(entry ${algorithm}_${device})
      get_property(source GLOBAL PROPERTY KKC_${op}_${algorithm}_${device}_SOURCE)
      if(NOT source)
        set(source ${folder}/${op}_${entry}.${extension})
        set(tag ${kkc_tag_${device}})
        get_property(raw GLOBAL PROPERTY KKC_${op}_${algorithm}_${device}_RAW)
        set(device_header ${device})
        if(raw)
          set(device_header ${device}_tag)
        endif()
        configure_file(${PROJECT_SOURCE_DIR}/cmake/translation_unit.in ${source} @ONLY)
        get_property(parts GLOBAL PROPERTY KKC_${op}_${algorithm}_${device}_PARTS)
        foreach(part IN LISTS parts)
          set(part_source ${folder}/${op}_${algorithm}_${part}_${device}.${extension})
          kkc_write(${part_source}
"// Written by cmake/kkc_registry.cmake.
#include \"device/${device_header}.hpp\"
#include \"ops/${op}/${op}_${algorithm}_${part}.hpp\"
")
          list(APPEND sources ${part_source})
        endforeach()
      endif()
      list(APPEND sources ${source})
      list(APPEND names ${entry})
      list(APPEND pointers "&${op}::${entry}")
    endforeach()
    list(JOIN names ", " names)
    list(JOIN pointers ", " pointers)
    list(LENGTH algorithms length)
    string(APPEND includes "#include \"ops/${op}/${op}.hpp\"\n")
    string(APPEND declarations "namespace ${op} {\nextern const Implementation ${names};\n}\n")
    string(APPEND lists "const Entry* const ${op}_entries[] = {${pointers}};\n")
    string(APPEND rows "    {\"${op}\", ${op}_entries, ${length}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  if(count EQUAL 0)
    set(operations_array)
    set(operations_name nullptr)
  else()
    set(operations_array "const OperationTable operations[] = {\n${rows}};\n")
    set(operations_name operations)
  endif()
  kkc_write(${folder}/registry_${device}.cpp
"// Written by cmake/kkc_registry.cmake from src/ops/*/CMakeLists.txt.
#include \"core/registry.hpp\"
${includes}
namespace kkc {
${declarations}
namespace {
${lists}${operations_array}}  // namespace

extern const DeviceTable table_${device};
const DeviceTable table_${device} = {${operations_name}, ${count}, KKC_SCALAR_MASK, KKC_INDEX_PAIR_MASK};

}  // namespace kkc
")
  set(${result} ${sources} ${folder}/registry_${device}.cpp PARENT_SCOPE)
endfunction()

# generated/core/build_config.hpp. The build id is the same for a library and its modules exactly when they agree on
# the contracts (headers of the core and of the operations) and on the types.
function(kkc_write_build_config)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/core/*.hpp)
  list(APPEND headers ${PROJECT_SOURCE_DIR}/include/kkc.h)
  get_property(operations GLOBAL PROPERTY KKC_OPERATIONS)
  foreach(op IN LISTS operations)
    list(APPEND headers ${PROJECT_SOURCE_DIR}/src/ops/${op}/${op}.hpp)
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(hashes "${PROJECT_VERSION} ${KKC_SCALAR_MASK} ${KKC_INDEX_PAIR_MASK}")
  foreach(header IN LISTS headers)
    file(SHA256 ${header} hash)
    string(APPEND hashes " ${hash}")
  endforeach()
  string(SHA256 id "${hashes}")
  string(SUBSTRING ${id} 0 16 id)
  kkc_write(${PROJECT_BINARY_DIR}/generated/core/build_config.hpp
"// Written by cmake/kkc_registry.cmake.
#pragma once

namespace kkc {

/// The same for a library and its modules exactly when they agree on contracts and types.
inline constexpr char build_id[] = \"${PROJECT_VERSION}-${id}\";
inline constexpr char build_cpu[] = \"${KKC_CPU}\";

}  // namespace kkc
")
endfunction()
