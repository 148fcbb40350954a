# SPDX-License-Identifier: Apache-2.0
# Flags that all of Gyre is compiled with, and the functions by which folders declare what they hold.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_FLAGS_RELEASE "-O2 -g -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
if(GYRE_SANITIZE) # whose reports name functions and lines, which -g1 has
  set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
endif()

add_library(gyre_flags INTERFACE)
target_compile_definitions(gyre_flags INTERFACE _GNU_SOURCE)
target_compile_options(gyre_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wundef -Wvla -Wcast-qual
  -Wwrite-strings -Wpointer-arith -Wformat=2 -Wdouble-promotion
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<BOOL:${GYRE_WERROR}>:-Werror>
  -fvisibility=hidden -fno-omit-frame-pointer
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=" # __FILE__ reads src/..., on every machine,
  "-Wa,-I${PROJECT_SOURCE_DIR}") # where the assembler finds the behaviours that it embeds
if(GYRE_SANITIZE)
  target_compile_options(gyre_flags INTERFACE -fsanitize=${GYRE_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(gyre_flags INTERFACE -fsanitize=${GYRE_SANITIZE})
  # for LLVMFuzzerTestOneInput as for everything else
  if(GYRE_FUZZ)
    target_compile_options(gyre_flags INTERFACE -fsanitize=fuzzer-no-link)
  endif()
endif()

# gyre_library(NAME OBJECTS): libNAME.a and libNAME.so from one set of position-independent objects,
# with the version script beside the objects' folder and SONAME = major version.
function(gyre_library name objects)
  add_library(${name}_static STATIC $<TARGET_OBJECTS:${objects}>)
  add_library(${name}_shared SHARED $<TARGET_OBJECTS:${objects}>)
  set_target_properties(${name}_static ${name}_shared PROPERTIES
    OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C)
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/${name}.map)
  target_link_options(${name}_shared PRIVATE -Wl,--version-script=${script} -Wl,-z,relro,-z,now
    -Wl,--as-needed -Wl,-z,nodelete) # the trace's thread exits call into it to the end
  if(NOT GYRE_SANITIZE) # whose runtime is linked into programs only
    target_link_options(${name}_shared PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${name}_shared PROPERTIES LINK_DEPENDS ${script})
  target_link_libraries(${name}_shared PRIVATE gyre_flags)
  foreach(target ${name}_static ${name}_shared)
    target_include_directories(${target} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
endfunction()

# The lab reads run files with jansson and keeps its history with SQLite: libgyrelab.so with the
# shared ones, whatever is linked with libgyrelab.a with the archives where there are some. Without
# one of the two, libgyre and its tests are still built.
set(GYRE_LAB ON)
set(gyre_tested gyrelab_static)
foreach(library jansson sqlite3)
  string(TOUPPER ${library} name)
  find_path(GYRE_${name}_INCLUDE ${library}.h)
  find_library(GYRE_${name} ${library})
  find_library(GYRE_${name}_ARCHIVE NAMES lib${library}.a ${library})
  mark_as_advanced(GYRE_${name}_INCLUDE GYRE_${name} GYRE_${name}_ARCHIVE)
  if(NOT GYRE_${name}_INCLUDE OR NOT GYRE_${name} OR NOT GYRE_${name}_ARCHIVE)
    set(GYRE_LAB OFF)
    set(gyre_tested gyre_static)
    message(STATUS "The lab, the gyre command and their tests are left out: "
                   "there is no ${library} for ${CMAKE_SYSTEM_PROCESSOR}")
  endif()
endforeach()

# Tests run with every setting at its default, whatever the developer's environment says.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/base/settings.h rows REGEX "^ *ROW\\([A-Z_]+, \"")
set(gyre_clean_environment)
foreach(row ${rows})
  string(REGEX REPLACE "^ *ROW\\([A-Z_]+, \"([A-Z_]+)\".*" "\\1" setting "${row}")
  list(APPEND gyre_clean_environment "${setting}=unset:")
endforeach()

# Kernels that were compiled for one preset are there for the tests of the others.
set(GYRE_TEST_KERNELS ${PROJECT_BINARY_DIR}/kernels CACHE PATH "Where tests keep compiled kernels")
mark_as_advanced(GYRE_TEST_KERNELS)

# The leak sanitizer knows that what drivers keep is theirs.
set(gyre_sanitizer_options "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0")

# gyre_test(FILE [LABELS label...] [LIBRARIES target...]): a *_test.c is one program and one test.
# Label `concurrent` marks those that the thread sanitizer runs; target gyre_concurrent_programs builds
# all of them.
add_custom_target(gyre_concurrent_programs)
function(gyre_test file)
  if(NOT GYRE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS;LIBRARIES")
  cmake_path(GET file STEM name)
  add_executable(${name} ${file})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
                                             ${PROJECT_SOURCE_DIR}/lab)
  target_link_libraries(${name} PRIVATE gyre_flags ${arg_LIBRARIES} ${gyre_tested})
  if("concurrent" IN_LIST arg_LABELS)
    add_dependencies(gyre_concurrent_programs ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS "${arg_LABELS}"
    ENVIRONMENT "${gyre_sanitizer_options}" ENVIRONMENT_MODIFICATION "${gyre_clean_environment}")
endfunction()

# gyre_fuzz(FILE CORPUS [LIBRARIES target...]): a *_fuzz.c replays tests/corpus/CORPUS as a test, and
# is a libFuzzer program in the fuzz preset. Target gyre_fuzz_programs builds all of them.
add_custom_target(gyre_fuzz_programs)
function(gyre_fuzz file corpus)
  if(NOT GYRE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
  cmake_path(GET file STEM name)
  if(GYRE_FUZZ)
    add_executable(${name} ${file})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(arguments -runs=0)
  else()
    add_executable(${name} ${file} ${PROJECT_SOURCE_DIR}/tests/replay.c)
    set(arguments)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/lab)
  target_link_libraries(${name} PRIVATE gyre_flags ${arg_LIBRARIES} ${gyre_tested})
  add_test(NAME ${name} COMMAND ${name} ${arguments} ${PROJECT_SOURCE_DIR}/tests/corpus/${corpus})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS fuzz)
  add_dependencies(gyre_fuzz_programs ${name})
endfunction()

# gyre_script_test(FILE [LABELS label...]): a *_test.sh, run with the build folder as its argument.
function(gyre_script_test file)
  if(NOT GYRE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS")
  string(REGEX REPLACE "[.]sh$" "" name "${file}")
  string(REPLACE "/" "_" name "${name}")
  add_test(NAME ${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS "${arg_LABELS}"
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};SANITIZED=${GYRE_SANITIZE};KERNELS=${GYRE_TEST_KERNELS};${gyre_sanitizer_options}")
endfunction()
