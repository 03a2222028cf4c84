-- A simulated cluster and engines on it, for the specs of whole runs. Everything that was started here is stopped by
-- cluster.stop_all, which belongs into an after_each.
local proc = require "spec.support.proc"
local api = require "spec.support.api"
local cuts = require "spec.support.cuts"
local temp = require "spec.support.temp"

local cluster = {}

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local running = {}
local sims = {} -- by address

local function start(words)
  local p = proc.spawn(words)
  running[#running + 1] = p
  return p
end

-- Of a CustomResourceDefinition: its objects may have any fields.
cluster.any_schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } }

-- `kubelua sim` with these arguments; gives the process and its address. `port` 0 picks one.
function cluster.sim(args, port)
  local all = { binary, "sim", "--port", tostring(port or 0) }
  for _, arg in ipairs(args or {}) do all[#all + 1] = arg end
  local p = start(all)
  p.server = p:wait_line("Serving on (http://[%d.:]+)", 60)
  p.api = api.new { server = p.server }
  sims[p.server] = true
  -- One step of a scenario (docs/sim.md), at once.
  function p:play(step) self.api:request("POST", "/sim/scenario", { step }) end
  -- Lists and watches of a resource, in one namespace or anywhere, are forbidden until { do = "clear" }.
  function p:forbid(resource, message, namespace)
    for _, verb in ipairs { "list", "watch" } do
      self:play {
        ["do"] = "fault", verb = verb, resource = resource, namespace = namespace, what = "status", code = 403,
        reason = "Forbidden", message = message, times = 0,
      }
    end
  end
  return p
end

-- Many engines run side by side: none listens, unless a spec says where (the last of a flag counts).
local quiet = { "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--admin-socket", "0" }

-- `kubelua VERB ...` on a server; args.env: more environment.
function cluster.kubelua(args)
  local all = { binary, args[1], env = args.env }
  for _, arg in ipairs(args[1] == "run" and quiet or {}) do all[#all + 1] = arg end
  for i = 2, #args do all[#all + 1] = args[i] end
  if args[1] == "run" and cuts.wanted() then return cuts.start(start, all, sims) end
  return start(all)
end

-- `kubelua run -f SCRIPT` on `server` ("http://..." or "--kubeconfig=..."), with more arguments.
function cluster.run(server, script, args)
  local where = server:find "^%-%-" and server or "--server=" .. server
  local all = { "run", where, "-f", script }
  for _, arg in ipairs(args or {}) do all[#all + 1] = arg end
  return cluster.kubelua(all)
end

-- Ends an engine as an operator does and gives its exit code; raises when it took longer than `seconds`.
function cluster.terminate(p, seconds)
  p:kill "TERM"
  return p:wait(seconds or 20)
end

function cluster.stop_all()
  for i = #running, 1, -1 do
    local p = running[i]
    if not p.exit_code then
      p:kill "KILL"
      p:wait(20)
    end
    running[i] = nil
  end
end

-- A script in a temporary file; gives its path.
function cluster.script(text)
  local path = temp.name() .. ".lua"
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

cluster.binary = binary
-- A process of these words, whatever it is.
cluster.start = start

return cluster
