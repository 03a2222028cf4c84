# Compiles the files of core/schema/data and core/schema/rules into the binary: each as a zstd frame of its own, in a
# table of base/embedded_file.h's struct embedded_file. Run with -P it packs one file; included, it gives kubelua_embed_schema.
if(CMAKE_SCRIPT_MODE_FILE)
  get_filename_component(name ${FILE} NAME)
  get_filename_component(folder ${FILE} DIRECTORY)
  file(ARCHIVE_CREATE OUTPUT ${OUTPUT} PATHS ${FILE} FORMAT raw COMPRESSION Zstd COMPRESSION_LEVEL 9)
  return()
endif()

function(kubelua_embed_schema target folder)
  file(GLOB files RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/data/*.txt ${folder}/rules/*.txt)
  set(pairs "")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/schema)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    set(packed ${CMAKE_BINARY_DIR}/schema/${name}.zst)
    add_custom_command(
      OUTPUT ${packed}
      COMMAND ${CMAKE_COMMAND} -DFILE=${folder}/${file} -DOUTPUT=${packed} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      DEPENDS ${folder}/${file} ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
    list(APPEND pairs ${name}=${packed})
  endforeach()
  kubelua_embed_files(${target} schema_files ${pairs})
endfunction()
