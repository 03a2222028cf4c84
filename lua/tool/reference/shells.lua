-- The scripts of `kubelua completion`: each calls `kubelua __complete` with the words so far (complete.lua).
local shells = {}

-- What Bash takes for a word ends at "=" and ":": candidates are without what stands before.
shells.bash = [==[
# Completion of kubelua for Bash: source <(kubelua completion bash)
_kubelua() {
  local line=${COMP_LINE:0:COMP_POINT} current head= answer
  local -a words
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  current=${words[${#words[@]} - 1]}
  [[ $current != *[=:]* ]] || head=${current%"${current##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r answer; do
    case $answer in
      :files | :directories)
        compopt -o filenames
        local kind=-f
        [[ $answer != :directories ]] || kind=-d
        while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen "$kind" -- "${current#"$head"}")
        ;;
      :none) ;;
      *)
        answer=${answer%%$'\t'*}
        COMPREPLY+=("${answer#"$head"}")
        ;;
    esac
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:/] ]]; then compopt -o nospace; fi
}
complete -F _kubelua kubelua
]==]

shells.zsh = [==[
#compdef kubelua
# Completion of kubelua for Zsh: source <(kubelua completion zsh)
_kubelua() {
  local -a lines described begun
  local line name
  lines=("${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${(@)lines[1,-2]}"; do
    name=${${line%%$'\t'*}//:/\\:}
    if [[ $name == *= ]]; then begun+=("$name"); continue; fi
    [[ $line == *$'\t'* ]] && name+=":${line#*$'\t'}"
    described+=("$name")
  done
  (( ! $#described )) || _describe -V kubelua described
  (( ! $#begun )) || compadd -S '' -a begun
  case $lines[-1] in
    :files) _files ;;
    :directories) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _kubelua ]]; then _kubelua "$@"; else compdef _kubelua kubelua; fi
]==]

shells.fish = [==[
# Completion of kubelua for fish: kubelua completion fish | source
function __kubelua_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] 2>/dev/null)
  test (count $lines) -gt 0; or return
  string match -v ':*' -- $lines
  switch $lines[-1]
    case :files
      __fish_complete_path (commandline -ct)
    case :directories
      __fish_complete_directories (commandline -ct)
  end
end
complete -c kubelua -f -a '(__kubelua_complete)'
]==]

return function(command)
  local name = command.arguments[1]
  if not name then command.fail(command.USAGE, "no shell given; there are: bash, zsh, fish") end
  if command.arguments[2] then
    command.fail(command.USAGE, ('unexpected argument "%s"'):format(command.arguments[2]))
  end
  if not shells[name] then
    local near = command.host.nearest(name, { "bash", "zsh", "fish" })
    command.fail(command.USAGE, ('no shell "%s"%s; there are: bash, zsh, fish'):format(name,
      near and (', did you mean "%s"?'):format(near) or ""))
  end
  return command.write(shells[name]) and command.OK or command.USAGE
end
