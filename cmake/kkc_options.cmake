# Flags that every target of kkc shares, through the interface targets kkc_flags (all) and kkc_internal (the library
# and its modules).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON) # a build folder can be moved, and bundled
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# Decided when a folder is first configured: a launcher that is installed later would compile everything anew.
if(NOT DEFINED KKC_CCACHE)
  find_program(KKC_CCACHE ccache)
endif()
if(KKC_CCACHE)
  foreach(language C CXX CUDA)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${KKC_CCACHE})
  endforeach()
endif()

if(KKC_CPU STREQUAL "native")
  set(KKC_CPU_FLAG -march=native)
elseif(KKC_CPU MATCHES "^x86-64-v[234]$")
  set(KKC_CPU_FLAG -march=${KKC_CPU})
else()
  message(FATAL_ERROR "KKC_CPU is '${KKC_CPU}', expected native, x86-64-v2, x86-64-v3 or x86-64-v4")
endif()

# Names to the bit masks of src/core/types.hpp.
function(kkc_mask result names all)
  set(mask 0)
  foreach(name IN LISTS ${names})
    list(FIND ${all} ${name} bit)
    if(bit LESS 0)
      message(FATAL_ERROR "${names} has '${name}', expected some of ${${all}}")
    endif()
    math(EXPR mask "${mask} | (1 << ${bit})")
  endforeach()
  if(mask EQUAL 0)
    message(FATAL_ERROR "${names} is empty, expected some of ${${all}}")
  endif()
  set(${result} ${mask} PARENT_SCOPE)
endfunction()
set(kkc_all_scalars f32 f64 c64 c128)
set(kkc_all_index_pairs 32_32 32_64 64_64)
kkc_mask(KKC_SCALAR_MASK KKC_SCALARS kkc_all_scalars)
kkc_mask(KKC_INDEX_PAIR_MASK KKC_INDEX_PAIRS kkc_all_index_pairs)

# kkc_flags_of_callers: what else a program that only calls the library needs; its own code is never instrumented.
add_library(kkc_flags_of_callers INTERFACE)
set(warnings -Wall -Wextra $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas> $<$<BOOL:${KKC_WERROR}>:-Werror>)
target_compile_options(kkc_flags_of_callers INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>)

add_library(kkc_flags INTERFACE)
target_link_libraries(kkc_flags INTERFACE kkc_flags_of_callers)
target_compile_options(kkc_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:${KKC_CPU_FLAG}>
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler=${KKC_CPU_FLAG}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler=-Wall,-Wextra>")
if(KKC_SANITIZE STREQUAL "address")
  # AddressSanitizer sees what the two that are left out look for.
  target_compile_options(kkc_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=null,object-size
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(kkc_flags_of_callers INTERFACE -fsanitize=address,undefined)
elseif(KKC_SANITIZE STREQUAL "thread")
  target_compile_options(kkc_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(kkc_flags_of_callers INTERFACE -fsanitize=thread)
endif()
if(KKC_FUZZ)
  target_compile_options(kkc_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(kkc_internal INTERFACE)
target_link_libraries(kkc_internal INTERFACE kkc_flags)
target_include_directories(kkc_internal INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(kkc_internal INTERFACE
  KKC_SCALAR_MASK=${KKC_SCALAR_MASK} KKC_INDEX_PAIR_MASK=${KKC_INDEX_PAIR_MASK})
# nodelete: the OpenMP run-time's workers and the exit handlers outlive a dlclose.
target_link_options(kkc_internal INTERFACE -Wl,-z,nodelete -Wl,--as-needed)
if(NOT KKC_SANITIZE AND NOT KKC_FUZZ)
  target_link_options(kkc_internal INTERFACE -Wl,-z,defs)
endif()
