# Finds the Python interpreter of tests and examples. The first python3 on the PATH may be one that the distribution's
# packages do not serve, so one that has NumPy and pytest is preferred.
if(NOT DEFINED Python3_EXECUTABLE AND NOT DEFINED CACHE{Python3_EXECUTABLE})
  foreach(candidate python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import sys, numpy, pytest; print(sys.executable)" RESULT_VARIABLE status
      OUTPUT_VARIABLE executable OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(status EQUAL 0)
      set(Python3_EXECUTABLE ${executable})
      break()
    endif()
  endforeach()
endif()
find_package(Python3 COMPONENTS Interpreter)
