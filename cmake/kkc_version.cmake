# KKC_VERSION as the public header says it.
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/include/kkc.h version_lines REGEX "#define KKC_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3" KKC_VERSION "${version_lines}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/kkc.h)
