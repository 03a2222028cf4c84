-- `kubelua query`: one expression of the prompt on a running engine's caches.

-- A kind is all its objects.
local AS_JSON = [[
local function one(...) return ... end
local value = one(%s
)
if getmetatable(value) == "kind" then value = value:list() end
if value == nil then value = k8s.null end
print(k8s.json.encode(value))
]]

-- Errors of the syntax are Lua's, and say little to who took the expression for another language.
local function cause_of(why)
  local hint = why:find " near '[^\n]+'$" and "; an expression is Lua, such as pods:count()" or ""
  return why:gsub("^repl:%d+: ", "") .. hint
end

return function(command)
  local expression = command.arguments[1]
  if not expression or command.arguments[2] then
    command.fail(command.USAGE, "expected one expression: kubelua query 'pods:count()'")
  end
  local session, why = command.session(command.flags["admin-socket"])
  if not session then command.fail(command.USAGE, why) end
  local form, view = command.flags.output, command.view
  local text = form == "table" and "return " .. expression or AS_JSON:format(expression)
  local lines, result = session:eval(text, not command.flags["show-secrets"], view.width, view.colours)
  if not lines then command.fail(command.FINDINGS, cause_of(result)) end
  if form == "yaml" then lines = command.yaml(lines) end
  if form == "table" and result ~= "" then lines = lines .. result .. "\n" end
  command.write(lines)
  return command.OK
end
