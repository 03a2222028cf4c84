-- Engines with webhooks, certificates for them, and callers.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local M = {}

M.FLAGS = { "--webhook-bind-address", "127.0.0.1:0" }

-- Waits until the engine serves webhooks; returns where.
function M.address(engine) return engine:wait_error 'Serving webhooks.* address="([^"]+)"' end

-- An engine with these scripts, by name, and where it serves webhooks.
function M.start(place, sim, scripts, flags)
  for name, text in pairs(scripts) do place:write(name, text) end
  local all = { unpack(M.FLAGS) }
  for _, flag in ipairs(flags or {}) do all[#all + 1] = flag end
  local engine = cluster.run(sim.server, place.path .. "/scripts", all)
  return engine, M.address(engine)
end

-- A certificate for 127.0.0.1 that is its own authority, and its key: FOLDER/NAME.crt, FOLDER/NAME.key.
function M.certificate(folder, name)
  local text, code = temp.run(("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    .. " -subj /CN=%s -addext subjectAltName=IP:127.0.0.1 -keyout %s/%s.key -out %s/%s.crt"):format(name, folder, name,
    folder, name))
  assert(code == 0, text)
end

local function words(address, path, flags)
  local all = { "curl", "-sk", "--max-time", "30", "-w", "\n%{http_code}" }
  for _, flag in ipairs(flags) do all[#all + 1] = flag end
  all[#all + 1] = "https://" .. address .. path
  return all
end

-- Begins a request; `wait()` of it returns code and body.
function M.begin(address, path, ...)
  local process = proc.spawn(words(address, path, { ... }))
  return {
    process = process,
    wait = function()
      process:wait(40)
      local body, code = process:out():match "^(.*)\n(%d+)$"
      return tonumber(code), body
    end,
  }
end

-- Code and body of a request with more flags of curl.
function M.call(address, path, ...) return M.begin(address, path, ...).wait() end

-- TCP sockets on which the process listens.
function M.listening(pid)
  local _, count = temp.run(("ss -Hltnp | grep -F 'pid=%d,'"):format(pid)):gsub("LISTEN", "")
  return count
end

return M
