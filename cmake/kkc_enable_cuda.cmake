# kkc_enable_cuda(): nvcc as a language of the calling directory, C++20, for the GPUs that kkc serves, with the run-time
# linked statically.
macro(kkc_enable_cuda)
  set(CMAKE_CUDA_ARCHITECTURES 90-real)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  enable_language(CUDA)
  # CMake before 3.26 does not know how nvcc is asked for C++20.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  find_package(CUDAToolkit 12 REQUIRED)
endmacro()
