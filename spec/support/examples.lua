-- The examples of a page: its ```lua blocks are run on the simulated cluster that the page itself tells to start, and
-- print what it says behind "-->".
local cluster = require "spec.support.cluster"

local examples = {}

-- The blocks of a page in order: language, line, text, and what is to be printed.
function examples.blocks(path)
  local found, block, number = {}, nil, 0
  for line in assert(io.lines(path)) do
    number = number + 1
    if block and line == "```" then
      found[#found + 1], block = block, nil
    elseif block then
      block.text = block.text .. line .. "\n"
      local expected = line:match "%-%-> (.*)$"
      if expected then block.prints = block.prints .. expected .. "\n" end
    elseif line:find "^```" then
      block = { language = line:match "%l+" or "", line = number, text = "", prints = "" }
    end
  end
  return found
end

-- A block that requires k8s is a whole script, or, when it prints nothing, the head of those that follow; these stand
-- in a function given to k8s.main.
local function whole(block, head)
  if block.text:find('require "k8s"', 1, true) then return block.text end
  return head .. "k8s.main(function()\n" .. block.text .. "end)\n"
end

-- An array of scripts: line, text, prints, and `commands`, a ```sh block of kubectl right behind.
function examples.of(path)
  local all, head = {}, nil
  for _, block in ipairs(examples.blocks(path)) do
    if block.language == "lua" and block.prints == "" then
      head = block.text
    elseif block.language == "lua" then
      all[#all + 1] = { line = block.line, text = whole(block, head), prints = block.prints }
    elseif block.language == "sh" and block.text:find "^kubectl " then
      all[#all].commands = block.text
    end
  end
  return all
end

-- Starts the simulator as the page says, on a port of its own.
function examples.sim(path)
  local args = {}
  for _, block in ipairs(examples.blocks(path)) do
    local words = block.text:match "kubelua sim ([^\n#]*)"
    for word in (words or ""):gsub("%-%-port %d+", ""):gmatch "%S+" do args[#args + 1] = word end
    if words then break end
  end
  assert(#args > 0, path .. " does not say how to start the simulator")
  return cluster.sim(args)
end

local function kubectl(sim, commands)
  local pipe = assert(io.popen((commands:gsub("http://127%.0%.0%.1:8001", sim.server)) .. " 2>&1"))
  local said = pipe:read "*a"
  assert(pipe:close(), said)
end

-- Without commands the script ends by itself; else it runs, and is ended when it has printed everything.
function examples.run(sim, example)
  if not example.commands then
    local engine = cluster.kubelua { "exec", "-s", sim.server, cluster.script(example.text) }
    engine:wait(30)
    return engine
  end
  local engine = cluster.run(sim.server, cluster.script(example.text))
  engine:wait_line "^ready$"
  kubectl(sim, example.commands)
  engine:wait_line("^" .. example.prints:match "([^\n]*)\n$":gsub("%p", "%%%0") .. "$")
  cluster.terminate(engine)
  return engine
end

-- What the blocks of a reference take as given.
local GIVEN = [[
local k8s = require "k8s"
k8s.reads { "*:*" }
k8s.writes { "*:*" }
local pods = k8s.informer "pods"
]]

-- Statements that ask the server or look into a cache stand in a function given to k8s.main.
local function waits(text)
  for _, call in ipairs { "k8s%.list%(", "k8s%.patch%(", "k8s%.get%(", "queue:get", "%f[%w]obj%." } do
    if text:find(call) then return true end
  end
end

-- A block of a reference as a script for `kubelua exec`: as it stands where it is whole or declares, with what it takes
-- as given before it.
function examples.reference(block)
  local text, given = block.text:gsub('timeout = "5m"', 'timeout = "100ms"'), GIVEN
  if text:find('require "k8s"', 1, true) then given = "" end
  if not loadstring(text) then text = text:gsub("([^\n]+)\n", "local _ = %1\n") end -- lines of expressions
  if text:find "k8s%.main%(" then return given .. text end
  if not waits(text) then
    return given .. text .. '\nrequire("k8s").main(function() require("k8s").sleep "50ms" end)\n'
  end
  local before = 'local obj = pods:lister():list_all()[1]\nqueue:add "shop/a"\n'
  return given .. 'local queue = k8s.queue { name = "given" }\nk8s.main(function()\n' .. before .. text .. "end)\n"
end

return examples
