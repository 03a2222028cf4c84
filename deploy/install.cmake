# Run by `cmake --install`: what the program itself writes, completions and man pages, what names the prefix, and the names
# by which kubectl finds it. PROGRAM (a list: an emulator before it, if one is needed), SOURCE, this folder, and DESTINATION,
# the prefix below DESTDIR.
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
# zsh reads other folders below /usr/local than below /usr.
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  kubelua_write(share/zsh/vendor-completions/_kubelua completion zsh)
else()
  kubelua_write(share/zsh/site-functions/_kubelua completion zsh)
endif()
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

# systemd starts the program of this prefix.
file(READ ${SOURCE}/kubelua.service unit)
string(REPLACE /usr/bin/kubelua ${CMAKE_INSTALL_PREFIX}/bin/kubelua unit "${unit}")
file(WRITE ${DESTINATION}/lib/systemd/system/kubelua.service "${unit}")
message(STATUS "Installing: ${DESTINATION}/lib/systemd/system/kubelua.service")

# `kubectl kubelua`, and its completion.
function(kubelua_link path target)
  file(CREATE_LINK ${target} ${DESTINATION}/${path} SYMBOLIC)
  message(STATUS "Installing: ${DESTINATION}/${path}")
endfunction()

kubelua_link(bin/kubectl-kubelua kubelua)
kubelua_link(share/man/man1/kubectl-kubelua.1 kubelua.1)
kubelua_link(share/man/man1/kubectl_complete-kubelua.1 kubelua.1)
