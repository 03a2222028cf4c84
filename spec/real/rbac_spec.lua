-- What `kubelua rbac` prints is enough, and none of it can go: a user of the real API server who has just these roles
-- runs the script; without any one rule the engine says which right is missing.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local rights = require "spec.support.rights"

local script = [[
  local k8s = require "k8s"
  k8s.reads { "nodes:list", "secrets:get", "pods/log:get", "/apis/apps/v1/namespaces/*/deployments", "/logs" }
  k8s.writes { "services:create", "services:delete", "namespaces/status:patch", "configmaps:patch",
    "limitranges:apply" }
  k8s.leader { lease = "own" }
  local settings = k8s.params { token = { type = "secret", from = "secret:default/only/token", required = true } }
  local kept = k8s.state("kept", { keep = "configmap" })
  local spaces = k8s.informer("namespaces")
  local maps = k8s.informer("configmaps", { namespaces = { "default", "kube-system" }, metadata_only = true })
  k8s.main(function()
    assert(k8s.list "nodes")
    local none, err = k8s.get("secrets", "default/none")
    if none or err.reason ~= "NotFound" then error(err) end
    assert(k8s.raw { path = "/apis/apps/v1/namespaces/default/deployments" })
    none, err = k8s.raw { path = "/logs" } -- the server's own, which it does not have here
    if none or err.code ~= 404 then error(err) end
    none, err = k8s.logs "default/none"
    if none or err.reason ~= "NotFound" then error(err) end
    local service = {
      apiVersion = "v1", kind = "Service", metadata = { name = "own", namespace = "default" },
      spec = { ports = { { port = 80 } } },
    }
    assert(k8s.create(service))
    assert(k8s.delete(service))
    local map = { kind = "configmaps", namespace = "default", name = "kube-root-ca.crt" }
    local patched
    patched, err = k8s.patch(map, { metadata = { labels = { a = "b" } } })
    if not patched and err.reason ~= "NotFound" then error(err) end
    assert(k8s.patch(spaces:lister():get "default", { status = { phase = "Active" } }, { subresource = "status" }))
    -- One that is not there yet: the server wants both verbs, whichever of them is missing.
    local limits = { kind = "limitranges", namespace = "default", name = ("own-%d"):format(k8s.now() * 1000) }
    local limit = { type = "Container", max = { cpu = "1" } }
    assert(k8s.apply(limits, { spec = { limits = { limit } } }))
    assert(k8s.apply(limits, { spec = { limits = { limit } }, metadata = { labels = { a = "b" } } }))
    k8s.event(assert(spaces:lister():get "default"), "Normal", "Seen", "hello")
    assert(settings.token == "open sesame")
    kept.runs = (kept.runs or 0) + 1
    assert(kept:sync())
    local patience = k8s.now() + 3
    while not k8s.is_leader() and k8s.now() < patience do k8s.sleep(0.05) end
    assert(k8s.is_leader(), "it does not lead")
    print("done", spaces:lister():count() > 0, maps:lister():count() > 0)
  end)
]]

local where = "--leader-elect-resource-namespace=kube-system"

describe("the roles that kubelua rbac prints", function()
  local nobody, roles

  setup(function()
    nobody = rights.start(script)
    nobody.server:apply {
      apiVersion = "v1", kind = "Secret", metadata = { name = "only", namespace = "default" },
      stringData = { token = "open sesame" },
    }
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if nobody then nobody:stop() end
  end)

  -- The documents as kubectl reads them.
  local function printed()
    local list = {}
    local json = rights.with_file(nobody:printed(where), function(file)
      return nobody.server:kubectl("create --dry-run=client -o json -f " .. file)
    end)
    for document in json:gmatch "%b{}" do list[#list + 1] = cjson.decode(document) end
    return list
  end

  -- Waits until the server's authorizer has heard of it.
  local function await_right(rule, namespace, allowed)
    local path = rule.nonResourceURLs and rule.nonResourceURLs[1]
    local resource, subresource = (path or rule.resources[1]):match "^([^/]*)/?(.*)$"
    local review = {
      apiVersion = "authorization.k8s.io/v1", kind = "SelfSubjectAccessReview",
      spec = {
        nonResourceAttributes = path and { verb = rule.verbs[1], path = path },
        resourceAttributes = not path and {
          namespace = namespace, verb = rule.verbs[1], group = rule.apiGroups[1], resource = resource,
          name = (rule.resourceNames or {})[1], subresource = subresource ~= "" and subresource or nil,
        } or nil,
      },
    }
    await(function()
      local reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
      local answer = nobody.server:api("nobody"):create(reviews, review)
      return answer.status.allowed == allowed
    end)
  end

  -- Leftovers of a run need no create the next time.
  local function forget()
    for _, role in ipairs(roles) do
      for _, rule in ipairs(role.rules) do
        local resource = (rule.resources or {})[1]
        if rule.resourceNames and (resource == "configmaps" or resource == "leases") then
          nobody.server:kubectl(("delete --ignore-not-found -n %s %s %s"):format(role.metadata.namespace, resource,
            rule.resourceNames[1]))
        end
      end
    end
  end

  local function run()
    forget()
    local p = cluster.kubelua {
      "exec", "--kubeconfig", nobody.server.kubeconfig, "--context", "nobody", "--sync-timeout", "3s", where,
      nobody.path,
    }
    p:wait(30)
    return p
  end

  it("are enough", function()
    roles = printed()
    for _, role in ipairs(roles) do
      nobody:put(role, role.rules)
      nobody:bind(role)
      for _, rule in ipairs(role.rules) do await_right(rule, role.metadata.namespace, true) end
    end
    local p = run()
    assert.are.equal("done\ttrue\ttrue\n", p:out(), p:report())
    assert.is_nil(p:err():find "forbidden", p:report())
    assert.are.equal(0, p.exit_code)
  end)

  it("have both verbs that an apply needs which makes its object", function()
    for _, role in ipairs(roles) do
      for i, rule in ipairs(role.rules) do
        for j, verb in ipairs(rule.resources and rule.resources[1] == "limitranges" and rule.verbs or {}) do
          local less, one = {}, { apiGroups = rule.apiGroups, resources = rule.resources, verbs = { verb } }
          for k, other in ipairs(role.rules) do less[k] = other end
          less[i] = { apiGroups = rule.apiGroups, resources = rule.resources, verbs = { rule.verbs[3 - j] } }
          nobody:put(role, less)
          await_right(one, role.metadata.namespace, false)
          local p = run()
          assert.has_match(('cannot %s resource \\"limitranges'):format(verb), p:err())
          nobody:put(role, role.rules)
          await_right(one, role.metadata.namespace, true)
        end
      end
    end
  end)

  it("are the least: without any one rule the engine reports the missing permission", function()
    local removed = 0
    for _, role in ipairs(roles) do
      for i, rule in ipairs(role.rules) do
        local less = {}
        for j, other in ipairs(role.rules) do
          if j ~= i then less[#less + 1] = other end
        end
        nobody:put(role, less)
        await_right(rule, role.metadata.namespace, false)
        local p = run()
        local missing
        for _, path in ipairs(rule.nonResourceURLs or {}) do
          missing = missing or p:err():find('cannot get path \\"' .. path .. '\\"', 1, true)
        end
        for _, resource in ipairs(rule.resources or {}) do
          local plural = resource:match "^[^/]*"
          missing = missing or p:err():find('cannot %l+ resource \\*"' .. plural:gsub("%-", "%%-") .. '[\\"/]')
        end
        assert.is_truthy(missing, table.concat(rule.resources or rule.nonResourceURLs, " ") .. ": " .. p:report())
        removed = removed + 1
        nobody:put(role, role.rules)
        await_right(rule, role.metadata.namespace, true)
      end
    end
    assert.is_true(removed >= 5)
  end)
end)
