# Compiles lua/**/*.lua into the binary: each file becomes one C string, in a table that script/embedded.h declares.
# Run with -P it writes the table; included, it gives kubelua_embed_lua.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/*.lua)
  list(SORT files)
  set(text "/* Generated from lua/ by lua/embed.cmake. */\n#include \"script/embedded.h\"\n")
  set(rows "")
  set(number 0)
  foreach(file ${files})
    file(READ ${SOURCE_DIR}/${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "\\.lua$" "" module ${file})
    string(REPLACE "/" "." module ${module})
    string(REGEX REPLACE "\\.init$" "" module ${module})
    string(APPEND text "static const char source_${number}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${module}\", \"=lua/${file}\", source_${number}, sizeof source_${number} - 1},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  string(APPEND text "const struct embedded_module embedded_modules[] = {\n${rows}    {NULL, NULL, NULL, 0},\n};\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

function(kubelua_embed_lua target source_dir)
  set(output ${CMAKE_BINARY_DIR}/embedded_lua.c)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${source_dir}/*.lua)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${source_dir} -DOUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/lua/embed.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/lua/embed.cmake
    COMMENT "Embedding lua/")
  target_sources(${target} PRIVATE ${output})
endfunction()
