-- Engines of specs whose connections to a simulated server break off at random (spec/support/prove-cut): with
-- KUBELUA_CUT, a seed, each engine that cluster.kubelua starts on a server reaches it through a relay that cuts. When a
-- spec ends such an engine it is at rest first: its caches are what the server has. What was seen goes into the file
-- KUBELUA_CUT_LOG.
local await = require "spec.support.await"
local cjson = require "cjson"
local proc = require "spec.support.proc"
local relay = require "spec.support.relay"
local temp = require "spec.support.temp"

local cuts = {}

local seed = tonumber(os.getenv "KUBELUA_CUT")
local CUTS_MAX, REST_SECONDS = 4, 60
local METADATA = "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
local crashes = { [132] = "SIGILL", [134] = "SIGABRT", [135] = "SIGBUS", [136] = "SIGFPE", [139] = "SIGSEGV" }
local engines = 0

function cuts.wanted() return seed ~= nil end

local function note(what, text)
  local file = assert(io.open(os.getenv "KUBELUA_CUT_LOG" or "/dev/stderr", "a"))
  file:write(what, " ", (tostring(text):gsub("\n", " ")), "\n")
  file:close()
end

-- What a command of kubelua prints; nil when it is not done within 20 s, or fails.
local function ask(self, words, input)
  local all = { "timeout", "20", self.binary }
  for _, word in ipairs(words) do all[#all + 1] = word end
  all[#all + 1], all[#all + 2] = "--admin-socket", self.socket
  local p = proc.spawn(all)
  if input then p:write(input) end
  p:close_input()
  local code = p:wait(30)
  return code == 0 and p.streams.out.text or nil
end

-- What it reads: all namespaces, or one, or some.
local function namespaces_of(informer)
  local list = {}
  for i, part in ipairs(informer.parts or { informer }) do list[i] = part.namespace end
  return list
end

-- As a prompt calls the cache.
local function cache_name(informer)
  return (informer.name:gsub("in %d+ namespaces", "in " .. table.concat(namespaces_of(informer), ", ")))
end

-- The version of each key that the cache has; nil when the engine does not tell. An evaluation may not take long.
local function cached(self, informer)
  local lines, at_once = { ("objects = kind(%q)()"):format(cache_name(informer)) }, 300
  for first = 1, informer.objects + at_once, at_once do
    lines[#lines + 1] = ([[for i = %d, math.min(%d, #objects) do
      print("=", objects[i]:key(), objects[i]:resource_version()) end]]):format(first, first + at_once - 1)
  end
  lines[#lines + 1] = 'print("= all", #objects)\n'
  local text = ask(self, { "repl", "--engine" }, table.concat(lines, "\n"))
  local versions, count = {}, 0
  for key, version in (text or ""):gmatch "=\t(%S+)\t(%S+)" do
    versions[key], count = tonumber(version) or version, count + 1
  end
  return text and tonumber(text:match "= all\t(%d+)") == count and versions or nil
end

local function escaped(text)
  return (text:gsub("[^%w]", function(c) return ("%%%02X"):format(c:byte()) end))
end

-- Adds what the server has in a namespace; false when it does not tell.
local function add_served(self, informer, namespace, versions)
  local path = (informer.apiVersion:find "/" and "/apis/" or "/api/") .. informer.apiVersion
  if namespace ~= "" then path = path .. "/namespaces/" .. namespace end
  local url = ("%s%s/%s?labelSelector=%s&fieldSelector=%s"):format(self.server, path, informer.resource:match "^[^.]+",
    escaped(informer.selector), escaped(informer.fieldSelector))
  local pipe = io.popen(("curl --silent --fail --max-time 30 --header '%s' '%s'"):format(METADATA, url))
  local ok, list = pcall(cjson.decode, pipe:read "*a")
  pipe:close()
  for _, item in ipairs(ok and list.items or {}) do
    local meta = item.metadata
    local version = meta.resourceVersion
    versions[(meta.namespace and meta.namespace .. "/" or "") .. meta.name] = tonumber(version) or version
  end
  return ok
end

-- The same of what the server has for that cache; nil when it does not tell.
local function served(self, informer)
  local versions = {}
  for _, namespace in ipairs(namespaces_of(informer)) do
    if not add_served(self, informer, namespace, versions) then return nil end
  end
  return versions
end

-- What is wrong with what is known of a key, when the server had it as `before` and then as `after`; nil: nothing.
local function judge(key, known, before, after)
  local stale = known and before and known < before
  local unheard = known and (not after or known > after) and not (before and known >= before)
  local missing = not known and before and after
  if not (stale or unheard or missing) then return nil end
  return ("%s is %s in the cache, and on the server %s and then %s"):format(key, known, before, after)
end

-- What differs between a cache and what the server has, before and after the cache was read; nil: nothing, and whether
-- they were compared. A server may not tell, and what a transform made is its script's alone.
local function differs(self, informer)
  local before = served(self, informer)
  if not before then return nil end
  if informer.state ~= "synced" then return informer.name .. " is " .. informer.state .. ": " .. informer.cause end
  if informer.name:find(", transformed by ", 1, true) or informer.refused > 0 then return nil end
  local known = cached(self, informer)
  if not known then return informer.name .. ": the engine does not tell what it has" end
  local after = served(self, informer)
  for _, versions in ipairs { known, before, after or before } do
    for key in pairs(versions) do
      local wrong = judge(key, known[key], before[key], (after or before)[key])
      if wrong then return informer.name .. ": " .. wrong end
    end
  end
  return nil, after ~= nil
end

-- What differs of all its caches, nil: nothing; and how many were compared.
local function compare(self, status)
  local equal = 0
  for _, informer in ipairs(cjson.decode(status).informers) do
    local wrong, compared = differs(self, informer)
    if wrong then return wrong end
    equal = equal + (compared and 1 or 0)
  end
  return nil, equal
end

local function check(self)
  self.checked = true
  note("cuts", self.relay:calm())
  local status, wrong, equal = ask(self, { "status", "-o", "json" }), nil, nil
  if not status then return note("unasked", self.process.command) end
  local ok, problem = pcall(await, function()
    status = ask(self, { "status", "-o", "json" }) or status
    wrong, equal = compare(self, status)
    return equal
  end, "equal caches", REST_SECONDS)
  if ok then return note("equal", equal) end
  note("unequal", wrong or problem)
  error("the cache is not what the server has: " .. (wrong or problem) .. self.process:report(), 0)
end

-- Before an end that a spec gives it; and whatever ends it is looked at.
local function attach(self)
  local p = self.process
  function p.kill(process, signal)
    if not process.exit_code and not self.checked and (signal == "TERM" or signal == "KILL" or not signal) then
      local ok, problem = pcall(check, self)
      proc.kill(process, signal)
      if not ok then error(problem, 0) end
      return
    end
    proc.kill(process, signal)
  end
  function p.wait(process, seconds)
    local code = proc.wait(process, seconds)
    if not self.ended then
      self.ended = true
      if not self.checked then note("cuts", self.relay:calm()) end
      self.relay:stop()
      if crashes[code] then
        note("crash", crashes[code] .. " " .. process.command)
        error("the engine ended by " .. crashes[code] .. process:report(), 0)
      end
    end
    return code
  end
end

-- Starts the words by `start`, with a relay in the place of a server that they name, if its address is in `sims`.
function cuts.start(start, words, sims)
  local sim, socket
  for i, word in ipairs(words) do
    for server in pairs(sims) do
      if word == server or word == "--server=" .. server then sim = { at = i, server = server } end
    end
    socket = words[i - 1] == "--admin-socket" and word or word:match "^--admin%-socket=(.*)$" or socket
  end
  if not sim then return start(words) end
  engines = engines + 1
  if socket == "0" then
    socket = temp.name()
    words[#words + 1], words[#words + 2] = "--admin-socket", socket
  end
  local way = relay.start(sim.server)
  words[sim.at] = words[sim.at]:gsub("http://.*", way.url)
  way:storm(seed * 1000 + engines, CUTS_MAX)
  local self = { process = start(words), relay = way, socket = socket, server = sim.server, binary = words[1] }
  note("engine", self.process.command)
  attach(self)
  return self.process
end

return cuts
