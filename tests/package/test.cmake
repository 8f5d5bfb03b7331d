# Installs the build tree BUILD into a fresh place, builds names.cpp against that and runs it on FILE.
# Usage: cmake -DBUILD=... -DWORK=... -DFILE=... -DCOMPILER=... -P test.cmake
file(REMOVE_RECURSE ${WORK})
foreach(step IN ITEMS
    "${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix"
    "${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}"
    "${CMAKE_COMMAND} --build ${WORK}/build"
    "${WORK}/build/names ${FILE}")
  separate_arguments(command UNIX_COMMAND "${step}")
  execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${step}\n${output}")
  endif()
endforeach()
if(NOT output MATCHES "fc\\.weight \\[3, 4\\]")
  message(FATAL_ERROR "unexpected output:\n${output}")
endif()
