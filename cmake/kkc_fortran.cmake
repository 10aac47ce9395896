# Target kkc_fortran: the Fortran module over the C API, when there is a Fortran compiler. Its sources are installed: a
# module file belongs to one compiler.
file(GLOB KKC_FORTRAN_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bindings_c/fortran/*.f90)
install(FILES ${KKC_FORTRAN_SOURCES} DESTINATION ${CMAKE_INSTALL_DATADIR}/kkc/fortran)

if(NOT KKC_SANITIZE AND NOT KKC_FUZZ)
  include(CheckLanguage)
  check_language(Fortran)
endif()
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  add_library(kkc_fortran STATIC ${KKC_FORTRAN_SOURCES})
  set_target_properties(kkc_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/fortran)
  target_include_directories(kkc_fortran PUBLIC ${PROJECT_BINARY_DIR}/fortran)
  target_link_libraries(kkc_fortran PUBLIC kkc::kkc)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    target_compile_options(kkc_fortran PRIVATE -std=f2018 -Wall -Wextra -Wno-unused-dummy-argument)
  endif()
endif()
