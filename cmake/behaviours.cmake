# SPDX-License-Identifier: Apache-2.0
# Every behaviour of the tree, once: what C, C++, NVRTC and OpenCL's compilers are given, each file as
# its own. A file that is missing here fails tests/behaviours_listed_test.sh.
set(gyre_behaviours_tree
  lab/suites/behaviours/echo_block.c
  lab/suites/behaviours/echo_quad.c
  lab/suites/behaviours/echo_warp.c
  lab/suites/behaviours/relu_block.c
  lab/suites/behaviours/relu_warp.c
  lab/suites/behaviours/sum_payload.c
  lab/suites/behaviours/tally_block.c
  lab/suites/behaviours/tally_quad.c
  lab/suites/behaviours/wave_step.c
  tests/conformance/behaviours/blend.c
  tests/conformance/behaviours/chatter.c
  tests/conformance/behaviours/echo.c
  tests/conformance/behaviours/ledger.c
  tests/conformance/behaviours/rank.c
  tests/conformance/behaviours/rogue.c
  tests/conformance/behaviours/soak.c
  tests/conformance/behaviours/soak_order.c
  tests/conformance/behaviours/speaker.c
  tests/conformance/behaviours/timer.c
  tests/conformance/behaviours/waiter.c)

# Whole programs, one of which has a name that is in the other list as well.
set(gyre_behaviours_examples
  examples/actors/adopt.c
  examples/actors/echo.c
  examples/actors/key_value.c
  examples/actors/vector_add.c)

list(JOIN gyre_behaviours_tree "\n" tree)
list(JOIN gyre_behaviours_examples "\n" examples)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/behaviours.txt CONTENT "${tree}\n${examples}\n" @ONLY)

# gyre_behaviours(GROUP): object libraries behaviours_GROUP_c, which has them all in the array
# `behaviours` too, and behaviours_GROUP_cpp where there is a C++ compiler.
function(gyre_behaviours group)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/behaviours_${group})
  set(languages c)
  if(CMAKE_CXX_COMPILER)
    list(APPEND languages cpp)
  endif()
  foreach(language ${languages})
    add_library(behaviours_${group}_${language} OBJECT)
    target_include_directories(behaviours_${group}_${language}
      PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(behaviours_${group}_${language} PRIVATE gyre_flags)
  endforeach()
  set(lenient_c "#pragma GCC diagnostic ignored \"-Wmissing-prototypes\"\n") # of that main
  set(lenient_cpp "")
  set(declared "")
  set(listed "")
  foreach(file ${gyre_behaviours_${group}})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${file} line REGEX "^GYRE_BEHAVIOUR[(]")
    if(NOT line MATCHES "^GYRE_BEHAVIOUR[(]([A-Za-z0-9_]+),[^;]*$")
      message(FATAL_ERROR "${file} has not one behaviour, or its line does not begin with GYRE_BEHAVIOUR(")
    endif()
    set(name ${CMAKE_MATCH_1})
    string(APPEND declared "extern const gyre_behaviour ${name};\n")
    string(APPEND listed "    &${name},\n")
    foreach(language ${languages})
      file(CONFIGURE OUTPUT ${folder}/${name}.${language} @ONLY
        CONTENT "${lenient_${language}}#define main main_of_${name}\n#include \"${file}\"\n")
      target_sources(behaviours_${group}_${language} PRIVATE ${folder}/${name}.${language})
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/all.c @ONLY
    CONTENT "#include \"tests/behaviours.h\"\n\n${declared}\nconst gyre_behaviour *const behaviours[] = {\n${listed}    NULL,\n};\n")
  target_sources(behaviours_${group}_c PRIVATE ${folder}/all.c)
endfunction()
