# Run by `cmake --install`: what the program itself writes, completions and man pages, and the names
# by which kubectl finds it. PROGRAM (a list: an emulator before it, if one is needed) and DESTINATION, the prefix below DESTDIR.
function(kubelua_write path)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "kubelua ${words}: exit code ${code}")
  endif()
  file(WRITE ${DESTINATION}/${path} "${text}")
  message(STATUS "Installing: ${DESTINATION}/${path}")
endfunction()

kubelua_write(share/bash-completion/completions/kubelua completion bash)
kubelua_write(share/zsh/vendor-completions/_kubelua completion zsh)
kubelua_write(share/fish/vendor_completions.d/kubelua.fish completion fish)
kubelua_write(share/man/man1/kubelua.1 __man)
execute_process(COMMAND ${PROGRAM} __complete "" OUTPUT_VARIABLE names)
string(REGEX MATCHALL "[^\n]+\t" names "${names}")
foreach(name ${names})
  string(STRIP ${name} name)
  if(NOT name STREQUAL help)
    kubelua_write(share/man/man1/kubelua-${name}.1 __man ${name})
  endif()
endforeach()

# `kubectl kubelua`, and its completion.
function(kubelua_link path target)
  file(CREATE_LINK ${target} ${DESTINATION}/${path} SYMBOLIC)
  message(STATUS "Installing: ${DESTINATION}/${path}")
endfunction()

kubelua_link(bin/kubectl-kubelua kubelua)
kubelua_link(share/man/man1/kubectl-kubelua.1 kubelua.1)
kubelua_link(share/man/man1/kubectl_complete-kubelua.1 kubelua.1)
