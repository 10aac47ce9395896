# kkc_find_kokkos(<variant>): makes Kokkos::kokkos for a device (host, cuda, hip) visible in the calling directory.
# Order: an installed Kokkos that fits, else the one that tools/kokkos builds into the cache.
macro(kkc_find_kokkos variant)
  set(kkc_kokkos_args CONFIG QUIET)
  find_package(Kokkos 4.7...<6 ${kkc_kokkos_args})
  if(NOT Kokkos_FOUND)
    message(FATAL_ERROR "Kokkos not found")
  endif()
  message(STATUS "Kokkos ${Kokkos_VERSION} for ${variant}: ${Kokkos_DIR}")
  kkc_strip_arch_flags()
endmacro()

# Kokkos hands its users -march flags; ours alone decide (KKC_CPU), and levels must never mix.
function(kkc_strip_arch_flags)
  foreach(property INTERFACE_COMPILE_OPTIONS INTERFACE_LINK_OPTIONS)
    get_target_property(options Kokkos::kokkoscore ${property})
    if(options)
      string(REGEX REPLACE "-m(arch|tune)=[A-Za-z0-9_.-]+;?" "" options "${options}")
      set_target_properties(Kokkos::kokkoscore PROPERTIES ${property} "${options}")
    endif()
  endforeach()
endfunction()
