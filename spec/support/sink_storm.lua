-- A storm for a sink: engines publish events of many keys, as fast as they can, and are killed; the target goes and
-- comes back, and the disk is full for a moment. Afterwards each event that was acknowledged must be there, the first
-- time in the order of its key, and what came twice must have the same id.
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local storm = {}

-- In CI a short one; ./dev prove sinks has more events.
storm.EVENTS = tonumber(os.getenv "KUBELUA_SINK_EVENTS" or 3000)
storm.KILLS = tonumber(os.getenv "KUBELUA_SINK_KILLS" or 3)

local KEYS, STUCK_SECONDS, FULL_SECONDS = 100, 60, 0.5

local SCRIPT = [[
  local k8s = require "k8s"
  local text = { type = "string", default = "" }
  local settings = k8s.params {
    to = { type = "string", required = true }, from = "", last = 1,
    user = text, password = text, mechanism = text, ca = text,
  }
  local sink = k8s.sink {
    name = "out", to = settings.to, type = "t", batch = 500, timeout = "10s", user = settings.user,
    password = settings.password, mechanism = settings.mechanism, ca = settings.ca,
  }
  local keys = k8s.queue { name = "keys", workers = 100 }
  local from = {}
  for n in settings.from:gmatch "%d+" do from[#from + 1] = tonumber(n) end
  local left = #from
  keys:run(function(key)
    for n = from[tonumber(key)], settings.last do
      local id = "k" .. key .. "/" .. n
      local ok, err = sink:publish({ data = { id = id } }, { key = "k" .. key, id = id, timeout = "10m" })
      print(ok and "stored " .. id or "failed " .. err.message)
    end
    left = left - 1
    if left == 0 then print "done" end
  end)
  k8s.main(function()
    for i = 1, #from do keys:add(tostring(i)) end
  end)
]]

local Storm = {}
Storm.__index = Storm

-- sim, folder, to; `trouble(i)`: what happens to the target of engine i; `calm()`: from now on it works; `args`: more
-- of the engines; `most`, `kills`: no more events, and no more engines that are killed.
function storm.new(given)
  local self = setmetatable(given, Storm)
  self.last, self.stored, self.told = math.ceil(math.min(storm.EVENTS, given.most or math.huge) / KEYS), {}, {}
  self.count, self.kills = 0, math.min(storm.KILLS, given.kills or math.huge)
  for i = 1, KEYS do self.stored[i] = 0 end
  self.seed = tonumber(os.getenv "SEED" or os.time())
  self.calm = given.calm or function() end
  math.randomseed(self.seed)
  temp.write(given.folder .. "/it.lua", SCRIPT)
  return self
end

function Storm:start()
  local from = {}
  for i, n in ipairs(self.stored) do from[i] = n + 1 end
  temp.write(self.folder .. "/params.json", ('{"last": %d, "from": "%s"}'):format(self.last, table.concat(from, " ")))
  local words = {
    os.getenv "KUBELUA_BIN" or "build/release/kubelua", "run", "--server=" .. self.sim.server, "-f",
    self.folder .. "/it.lua", "--params", self.folder .. "/params.json", "--param", "to=" .. self.to, "--state-dir",
    self.folder .. "/states", "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--admin-socket", "0",
    "--shutdown-timeout", "60s",
  }
  for _, word in ipairs(self.args or {}) do words[#words + 1] = word end
  self.engine = proc.spawn(words)
  self.is_done = false
end

function Storm:report()
  return ("SEED=%d, %d events were acknowledged\n%s\n%s"):format(self.seed, self.count, table.concat(self.told, "\n"),
    self.engine:report())
end

-- Takes what the engine acknowledged, and forgets the text, which grows large.
function Storm:take()
  local out = self.engine.streams.out
  local whole = out.text:match "^.*\n" or ""
  out.text = out.text:sub(#whole + 1)
  for key, n in whole:gmatch "stored k(%d+)/(%d+)\n" do
    key, n = tonumber(key), tonumber(n)
    -- The engine drops lines while nobody reads; a key's later one tells of those before it.
    if n > self.stored[key] then self.stored[key], self.count = n, self.count + n - self.stored[key] end
  end
  if whole:find "failed " then error(whole:match "failed [^\n]*" .. "\n" .. self:report()) end
  self.is_done = self.is_done or whole:find "done\n" ~= nil
end

function Storm:look(seconds)
  self.engine:pump(proc.now() + seconds)
  self:take()
end

-- Until so many events are acknowledged, or all of them.
function Storm:reach(count)
  local last, since = self.count, proc.now()
  while self.count < count and not self.is_done do
    self:look(0.5)
    if self.count > last then last, since = self.count, proc.now() end
    if not self.engine.streams.out.fd then error("the engine ended\n" .. self:report()) end
    if proc.now() - since > STUCK_SECONDS then error("nothing was stored for a while\n" .. self:report()) end
  end
end

function Storm:note_end(i)
  local engine = self.engine
  self:take() -- all of it, as it was waited for
  self.told[i] = ("engine %d: up to %d\n%s"):format(i, self.count, engine:err())
  if engine:err():find "damaged" then error("the spool was damaged\n" .. self:report()) end
end

-- No file of the engine may grow for a moment, as on a disk that is full.
function Storm:fill_disk()
  local function limit(bytes)
    local text, code = temp.run(("prlimit --pid %d --fsize=%s:"):format(self.engine.pid, bytes))
    assert(code == 0, text)
  end
  limit "1"
  local deadline = proc.now() + FULL_SECONDS * (0.5 + math.random())
  while proc.now() < deadline do self:look(deadline - proc.now()) end
  limit "unlimited"
  self.full = (self.full or 0) + 1
end

-- Ends the engine as an operator does; false: it could not deliver what it stored.
function Storm:finish(i)
  self.engine:kill "TERM"
  local code = self.engine:wait(90)
  self:note_end(i)
  assert(code == 0, self:report())
  return not self.engine:err():find "Events stay in the spool"
end

-- An engine that ends at once has not looked at its spool.
function Storm:wait_a_second()
  local deadline = proc.now() + 1
  while proc.now() < deadline do self:look(deadline - proc.now()) end
end

-- The engines, of which all but the last are killed. Returns seconds.
function Storm:rage()
  local begin, kills = proc.now(), self.kills
  for i = 1, kills + 1 do
    local function part(share) return (i - 1 + share) * self.last * KEYS / (kills + 1) end
    self:start()
    self:reach(part(0.2 + 0.2 * math.random()))
    self.trouble(i)
    self:reach(part(0.5 + 0.1 * math.random()))
    if i % 2 == 0 then self:fill_disk() end
    self:reach(i <= kills and part(0.8 + 0.2 * math.random()) or math.huge)
    if i <= kills then
      self.engine:kill "KILL"
      self.engine:wait()
      self:note_end(i)
    end
  end
  self.calm()
  local i = kills + 1
  while not self:finish(i) do
    i = i + 1
    assert(i < kills + 8, self:report())
    self:start()
    self:reach(math.huge)
    self:wait_a_second()
  end
  return proc.now() - begin
end

-- `ids`: what the target has, in the order of each key. Prints and returns how many came twice.
function Storm:check(name, ids, seconds)
  local seen, last, twice = {}, {}, 0
  for _, id in ipairs(ids) do
    local key, n = id:match "^k(%d+)/(%d+)$"
    if not n then error("unknown is " .. id) end
    key, n = tonumber(key), tonumber(n)
    if seen[id] then
      twice = twice + 1
    else
      if n ~= (last[key] or 0) + 1 then
        error(("%s came after %d; %s"):format(id, last[key] or 0, self:report()))
      end
      last[key], seen[id] = n, true
    end
  end
  for key = 1, KEYS do
    if (last[key] or 0) < self.stored[key] or self.stored[key] ~= self.last then
      error(("of k%d %d were acknowledged and %d are there; %s"):format(key, self.stored[key], last[key] or 0,
        self:report()))
    end
  end
  print(("# %-14s %7d events of %d keys, %d engines killed, disk full %d times: none lost, none out of order, %d came"
    .. " twice, %d s"):format(name, self.last * KEYS, KEYS, self.kills, self.full or 0, twice, seconds))
  return twice
end

return storm
