-- A genuine kube-apiserver with etcd for a spec file (see spec/real/apiserver/): apiserver.start() gives a server with
-- its kubeconfig, kubectl, requests by curl and what one may do to its history. It takes some seconds to start, so one
-- serves a whole file: start it in setup, stop it in teardown. It ends with the spec's process in any case.
local api = require "spec.support.api"
local cjson = require "cjson"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local apiserver = {}
apiserver.__index = apiserver

local start_seconds, stop_seconds = 60, 30

-- options: dir (take up an earlier server's folder; it is kept), flags (more flags of kube-apiserver).
function apiserver.start(options)
  options = options or {}
  local self = setmetatable({ dir = options.dir or temp.folder(), keep = options.dir ~= nil }, apiserver)
  self.audit_file = self.dir .. "/audit.log"
  local command = { "build/real/apiserver", "--dir", self.dir, "--audit", self.audit_file, "--" }
  for _, flag in ipairs(options.flags or {}) do command[#command + 1] = flag end
  command.stderr = self.dir .. "/server.log"
  self.process = proc.spawn(command)
  self.kubeconfig = self.process:wait_line("^ready kubeconfig=(.*)$", start_seconds)
  self.url = "https://" .. temp.read(self.dir .. "/address")
  self.ca, self.cert, self.key = self.dir .. "/ca.crt", self.dir .. "/admin.crt", self.dir .. "/admin.key"
  self.tokens = {}
  for _, user in ipairs { "admin", "nobody" } do
    self.tokens[user] = temp.read(self.dir .. "/" .. user .. ".token"):match("%S+")
  end
  return self
end

-- Ends it as an operator would; the exit code.
function apiserver:stop()
  self.process:kill("TERM")
  local code = self.process:wait(stop_seconds)
  if not self.keep then temp.remove(self.dir) end
  return code
end

-- kubectl as admin, or in another context of the kubeconfig by --context. Raises when it fails.
function apiserver:kubectl(arguments)
  local output, code = self:try_kubectl(arguments)
  if code ~= 0 then error(("kubectl %s: exit code %d: %s"):format(arguments, code, output), 2) end
  return output
end

-- Output (stdout and stderr) and exit code, whatever they are.
function apiserver:try_kubectl(arguments)
  return temp.run(("build/real/kubectl --kubeconfig '%s' %s"):format(self.kubeconfig, arguments))
end

-- Creates or changes an object, given as a table, as `kubectl apply` does.
function apiserver:apply(object)
  local file = temp.name()
  temp.write(file, cjson.encode(object))
  local output, code = self:try_kubectl("apply --filename " .. file)
  os.remove(file)
  if code ~= 0 then error("kubectl apply: " .. output, 2) end
  return output
end

-- Requests as spec.support.api has them: by the admin's certificate, or by the token of `user`.
function apiserver:api(user)
  local options = { server = self.url, ca = self.ca }
  if user then
    options.token = self.tokens[user]
  else
    options.cert, options.key = self.cert, self.key
  end
  return api.new(options)
end

local function admin(self, path)
  local socket = self.dir .. "/admin.sock"
  local output, code = temp.run(("curl --silent --show-error --fail-with-body --max-time 60 --request POST"
    .. " --unix-socket '%s' 'http://localhost%s'"):format(socket, path))
  if code ~= 0 then error(path .. ": " .. output, 3) end
  return output
end

-- Forgets the history: list versions and continue tokens of before are too old. Watches do not notice.
function apiserver:compact() return admin(self, "/compact") end

-- Takes etcd away from the API server for some time; returns at once.
function apiserver:cut(ms) return admin(self, "/cut?ms=" .. ms) end

-- Makes every resourceVersion given out so far too old, for watches too; open watches end. Returns when it is so.
function apiserver:expire() return admin(self, "/expire") end

-- The requests so far, one decoded audit event each, that fit: { verb = "watch", resource = "pods", user = "nobody" }.
function apiserver:requests(filter)
  local list = {}
  for line in temp.read(self.audit_file):gmatch "([^\n]+)\n" do -- the last one may be half written
    local event = cjson.decode(line)
    local fields = { verb = event.verb, user = event.user.username, resource = (event.objectRef or {}).resource }
    local fits = true
    for key, wanted in pairs(filter or {}) do fits = fits and fields[key] == wanted end
    if fits then list[#list + 1] = event end
  end
  return list
end

return apiserver
