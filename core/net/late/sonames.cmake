# The names by which core/net/late opens libraries, as the linker would have written them into the program.
function(kubelua_late_library target name file)
  execute_process(COMMAND ${CMAKE_READELF} -d ${file} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${file} has no SONAME")
  endif()
  target_compile_definitions(${target} PRIVATE ${name}="${CMAKE_MATCH_1}")
endfunction()
