-- `kubelua test`: busted in this process. It gives "passed", "failed" or "not run".

-- What its runner ends with instead of os.exit, so that everything is closed in good order.
local END = {}

local function complain(text)
  io.stderr:write("kubelua test: ", text, "\n")
  return "not run"
end

local function ended(code)
  error(setmetatable({ code = code }, END), 0)
end

-- A file of busted's is found as any module: by package.path, which on Debian names its folder.
local function load_runner()
  local found, compatibility = pcall(_G.require, "busted.compatibility")
  if not found then
    return nil, "busted is not installed: the Debian package lua-busted has it (apt install lua-busted)"
  end
  compatibility.exit = ended
  local loaded, runner = pcall(_G.require, "busted.runner")
  if not loaded then
    return nil, "busted cannot be loaded: " .. tostring(runner)
  end
  return runner
end

-- busted names itself after the chunk that calls its runner.
local function call_runner(runner)
  local chunk = assert(loadstring("local runner = ... runner { standalone = false } return true", "@kubelua test"))
  return pcall(chunk, runner)
end

return function(files, arguments)
  local runner, problem = load_runner()
  if not runner then
    return complain(problem)
  end
  _G.arg = { [0] = "kubelua test" }
  for _, list in ipairs { arguments, files } do
    for _, word in ipairs(list) do
      _G.arg[#_G.arg + 1] = word
    end
  end
  local ok, reason = call_runner(runner)
  if ok then
    return "passed"
  elseif getmetatable(reason) ~= END then
    return complain(tostring(reason))
  end
  return reason.code == 0 and "passed" or "failed"
end
