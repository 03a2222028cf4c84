-- What the user nobody of a real API server (spec/support/apiserver.lua) may do: the roles that a spec gives him say it
-- all. rights.start(text) gives a table with such a `server` and the `path` of a script with that text, for a setup;
-- its stop() belongs into the teardown.
local apiserver = require "spec.support.apiserver"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local rights = {}
rights.__index = rights

local GROUP = "rbac.authorization.k8s.io"

function rights.start(text)
  return setmetatable({ server = apiserver.start(), path = cluster.script(text) }, rights)
end

function rights:stop()
  os.remove(self.path)
  self.server:stop()
end

-- The role, { kind =, metadata = }, allows this and no more.
function rights:put(role, rules)
  self.server:apply {
    apiVersion = GROUP .. "/v1", kind = role.kind,
    metadata = { name = role.metadata.name, namespace = role.metadata.namespace },
    rules = #rules > 0 and rules or cjson.null,
  }
end

-- nobody has it.
function rights:bind(role)
  self.server:apply {
    apiVersion = GROUP .. "/v1", kind = role.kind .. "Binding",
    metadata = { name = role.metadata.name, namespace = role.metadata.namespace },
    roleRef = { apiGroup = GROUP, kind = role.kind, name = role.metadata.name },
    subjects = { { apiGroup = GROUP, kind = "User", name = "nobody" } },
  }
end

-- `call` with the path of a file that has this text; gives what it gives.
function rights.with_file(text, call)
  local folder = temp.folder { file = text }
  local result = call(folder .. "/file")
  temp.remove(folder)
  return result
end

-- What `kubelua rbac` prints of the script.
function rights:printed(...)
  local p = cluster.kubelua { "rbac", "--kubeconfig", self.server.kubeconfig, "-f", self.path, ... }
  assert(p:wait(30) == 0, p:report())
  return p:out()
end

return rights
