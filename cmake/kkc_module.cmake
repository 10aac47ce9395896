# kkc_add_module(<device> <architecture> libraries...): target kkc_<device>, file libkkc_<device>_<architecture>.so.
function(kkc_add_module device architecture)
  set(prefix_cuda cu)
  set(prefix_hip roc)
  set(sources)
  foreach(pattern src/device/gpu_*.cpp src/device/${device}*.cpp src/device/${device}*.cu src/vendor/${prefix_${device}}*/*.cpp
                  src/vendor/${prefix_${device}}*/*.cu)
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${pattern})
    list(APPEND sources ${files})
  endforeach()
  # The few sources of the core that kernels' drivers call; they hold no state.
  foreach(name memory types)
    if(EXISTS ${PROJECT_SOURCE_DIR}/src/core/${name}.cpp)
      list(APPEND sources ${PROJECT_SOURCE_DIR}/src/core/${name}.cpp)
    endif()
  endforeach()
  get_property(operation_sources GLOBAL PROPERTY KKC_MODULE_SOURCES)
  kkc_device_sources(generated ${device})

  add_library(kkc_${device} MODULE ${sources} ${operation_sources} ${generated})
  set_target_properties(kkc_${device} PROPERTIES
    OUTPUT_NAME kkc_${device}_${architecture} SKIP_BUILD_RPATH ON INSTALL_RPATH "" LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/module.map)
  target_link_libraries(kkc_${device} PRIVATE kkc_internal ${ARGN} ${CMAKE_DL_LIBS})
  target_link_options(kkc_${device} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/module.map)
  install(TARGETS kkc_${device} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
