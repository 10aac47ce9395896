# cmake -Dlibrary=.../libNAME.so -Dfolder=... -P copy_library.cmake: the shared library under the name that programs ask
# for, libNAME.so.N, into the folder.
file(GLOB versions "${library}.[0-9]*")
if(NOT versions)
  message(FATAL_ERROR "${library} has no version beside it, expected ${library}.N")
endif()
list(SORT versions) # libNAME.so.N before libNAME.so.N.M
list(GET versions 0 version)
get_filename_component(name ${version} NAME)
file(COPY_FILE ${version} ${folder}/${name} ONLY_IF_DIFFERENT)
