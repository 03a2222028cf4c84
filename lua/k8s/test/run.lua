-- `kubelua test`: busted in this process. It gives "passed", "failed" or "not run".

-- Error that ends the runner instead of os.exit, so that everything is closed in good order.
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
    return nil, "busted is not installed (apt install lua-busted)"
  end
  compatibility.exit = ended
  local loaded, runner = pcall(_G.require, "busted.runner")
  if not loaded then
    return nil, "busted cannot be loaded: " .. tostring(runner)
  end
  return runner
end

-- So many engines may wait for the garbage collector, which does not see how large they are.
local OPEN_MAX = 8

-- A spec that passes though what it wants to try did not happen proves nothing.
local function report_unmet(envs, unmet)
  for env in pairs(envs) do
    for _, text in ipairs(env.touched and unmet(env) or {}) do
      io.stderr:write("kubelua test: ", text, "\n")
    end
  end
end

-- How many tests the filters let through.
local function count_tests(busted)
  local count = 0
  for _, kind in ipairs { "it", "pending" } do
    busted.subscribe({ "register", kind }, function()
      count = count + 1
      return nil, true
    end)
  end
  return function() return count end
end

-- Nothing was tried: a filter that is misspelt must not look like success.
local function explain_none(arguments)
  local filters = {}
  for _, word in ipairs(arguments) do
    if word:find "^%-%-filter" or word:find "^%-%-tags=" or word:find "^%-%-exclude%-tags=" then
      filters[#filters + 1] = word
    end
  end
  return #filters == 0 and "the specs contain no tests" or "no test matches " .. table.concat(filters, " ")
end

local function forget(envs)
  local count = 0
  for env in pairs(envs) do
    env.touched = false
    count = count + 1
  end
  if count > OPEN_MAX then
    collectgarbage()
    collectgarbage()
  end
end

-- busted's core: what a failing spec tells ends with what happened in its environments. Gives what tells how many tests
-- there were.
local function prepare_core()
  local tests = function() return 0 end
  local envs, records = require("k8s.test.env").all, require "k8s.test.records"
  local unmet = require("k8s.test.faults").unmet
  local new_core = _G.require "busted.core"
  package.loaded["busted.core"] = function()
    local busted = new_core()
    tests = count_tests(busted)
    local rewrite = busted.rewriteMessage
    function busted.rewriteMessage(...)
      local message = rewrite(...)
      for env in pairs(envs) do
        if env.touched then
          message = message .. "\n\n" .. records.describe(env)
        end
      end
      return message
    end
    busted.subscribe({ "test", "end" }, function(_, _, status)
      if status == "success" then
        report_unmet(envs, unmet)
      end
      forget(envs)
      return nil, true
    end)
    return busted
  end
  return function() return tests() end
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
  local tests = prepare_core()
  _G.arg = { [0] = "kubelua test" }
  for _, list in ipairs { arguments, files } do
    for _, word in ipairs(list) do
      _G.arg[#_G.arg + 1] = word
    end
  end
  local ok, reason = call_runner(runner)
  if not ok and getmetatable(reason) ~= END then
    return complain(tostring(reason))
  elseif not ok and reason.code ~= 0 then
    return "failed"
  end
  return tests() > 0 and "passed" or complain(explain_none(arguments))
end
