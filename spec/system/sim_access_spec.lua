-- `kubelua sim --token-auth-file` and `--authorization rbac`: who sends a request, and whether he may.
local cjson = require "cjson"
local api = require "spec.support.api"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local scratch

local tokens = [[
# people
t-bob,bob,u-1,"dev, ops"
t-carol,carol,u-2

"t-dave","dave",""
]]

local roles = [[
kind: RoleBinding
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: devs, namespace: default}
subjects: [{kind: Group, name: dev, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: ClusterRole, name: view, apiGroup: rbac.authorization.k8s.io}
---
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: impersonator}
rules:
- {apiGroups: [""], resources: [users], resourceNames: [bob], verbs: [impersonate]}
- {apiGroups: [""], resources: [groups], resourceNames: [dev], verbs: [impersonate]}
- {apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]}
---
kind: ClusterRoleBinding
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: carol-impersonates}
subjects: [{kind: User, name: carol, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: ClusterRole, name: impersonator, apiGroup: rbac.authorization.k8s.io}
]]

-- A simulator with these flags; client(token) sends requests with that token, or without.
local function start(...)
  local config, path = scratch .. "/config", scratch .. "/tokens.csv"
  temp.write(path, tokens)
  local words = { cluster.binary, "sim", "--token-auth-file", path, "--write-kubeconfig", config }
  for _, word in ipairs { ... } do words[#words + 1] = word end
  for _, word in ipairs { "--", "sh", "-c", "echo ready; exec cat" } do words[#words + 1] = word end
  local sim = cluster.start(words)
  sim:wait_line "^ready$"
  local text = temp.read(config)
  sim.server, sim.config = text:match "server: (%S+)", config
  sim.admin = text:match 'token: "(%x+)"'
  temp.run(("sed -n 's/.*authority-data: //p' %s | base64 -d >%s/ca.pem"):format(config, scratch))
  function sim:client(token) return api.new { server = self.server, ca = scratch .. "/ca.pem", token = token } end
  return sim
end

local function with_roles()
  temp.write(scratch .. "/roles.yaml", roles)
  return start("--authorization", "rbac", "--load", scratch .. "/roles.yaml")
end

-- The message of a refusal.
local function refused(client, code, method, path, body)
  local got, text = client:curl(method, path, body)
  assert.are.equal(code, got, text)
  return cjson.decode(text).message
end

-- Who somebody is, as `kubectl auth whoami` shows it; `headers`: more flags of curl.
local function whoami(sim, token, headers)
  local text = temp.run(("curl -sS --cacert %s/ca.pem -H 'Authorization: Bearer %s' %s --json '%s' %s%s"):format(
    scratch, token, headers or "", '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}', sim.server,
    "/apis/authentication.k8s.io/v1/selfsubjectreviews"))
  local review = cjson.decode(text)
  return review.message or review.status.userInfo
end

describe("kubelua sim --token-auth-file #threads", function()
  before_each(function() scratch = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(scratch)
  end)

  it("knows users by their tokens, over TLS, and refuses who has none", function()
    local sim = start()
    assert.is_truthy(sim.server:find "^https:")
    assert.are.same({ username = "bob", uid = "u-1", groups = { "dev", "ops", "system:authenticated" } },
      whoami(sim, "t-bob"))
    assert.are.same({ username = "dave", groups = { "system:authenticated" } }, whoami(sim, "t-dave"))
    assert.are.same({ "system:masters", "system:authenticated" }, whoami(sim, sim.admin).groups)
    for _, token in ipairs { "t-nobody", "", "t-bob2" } do
      assert.are.equal("Unauthorized", refused(sim:client(token), 401, "GET", "/api/v1/pods"))
    end
    assert.are.equal("Unauthorized", refused(sim:client(), 401, "GET", "/version"))
    assert.are.equal("NamespaceList", sim:client("t-carol"):get("/api/v1/namespaces").kind)
    local review = sim:client("t-bob"):create("/apis/authentication.k8s.io/v1/tokenreviews",
      { kind = "TokenReview", apiVersion = "authentication.k8s.io/v1", spec = { token = "t-carol" } })
    assert.are.equal("carol", review.status.user.username)
  end)

  it("names the line of a file that is wrong, and never a token", function()
    local path = scratch .. "/bad.csv"
    for text, place in pairs { ["a,b,c\nsecret\n"] = 2, ["secret,\n"] = 1, ["\n\n,bob,1\n"] = 3 } do
      temp.write(path, text)
      local p = cluster.start { cluster.binary, "sim", "--token-auth-file", path }
      assert.are.equal(2, p:wait())
      assert.are.equal(("kubelua sim: %s:%d: expected token,user,uid and optionally \"group1,group2\"\n")
        :format(path, place), p:err())
    end
    local p = cluster.start { cluster.binary, "sim", "--token-auth-file", scratch .. "/none" }
    assert.are.equal(2, p:wait())
    assert.is_truthy(p:err():find("/none: No such file", 1, true))
  end)
end)

describe("kubelua sim --authorization rbac #threads", function()
  before_each(function() scratch = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(scratch)
  end)

  it("allows what roles allow, and says what they do not as kube-apiserver does", function()
    local sim = with_roles()
    local bob = sim:client "t-bob"
    assert.are.equal("PodList", bob:get("/api/v1/namespaces/default/pods").kind)
    assert.are.equal([[pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope]],
      refused(bob, 403, "GET", "/api/v1/pods"))
    assert.are.equal([[pods is forbidden: User "bob" cannot watch resource "pods" in API group "" in the ]]
      .. [[namespace "x"]],
      refused(bob, 403, "GET", "/api/v1/namespaces/x/pods?watch=1"))
    assert.are.equal([[secrets "a" is forbidden: User "bob" cannot get resource "secrets" in API group "" in the ]]
      .. [[namespace "default"]], refused(bob, 403, "GET", "/api/v1/namespaces/default/secrets/a"))
    assert.are.equal([[deployments.apps "a" is forbidden: User "bob" cannot patch resource "deployments/scale" in API ]]
      .. [[group "apps" in the namespace "default"]],
      refused(bob, 403, "PATCH", "/apis/apps/v1/namespaces/default/deployments/a/scale", {}))
    assert.are.equal([[forbidden: User "bob" cannot get path "/metrics"]], refused(bob, 403, "GET", "/metrics"))
    assert.are.equal([[pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the ]]
      .. [[namespace "default"]], refused(sim:client(), 403, "GET", "/api/v1/namespaces/default/pods"))
    assert.are.equal("1", sim:client():get("/version").major)
    assert.are.equal("PodList", sim:client(sim.admin):get("/api/v1/pods").kind)
  end)

  it("follows changes of roles and bindings at once", function()
    local sim = with_roles()
    local admin, carol = sim:client(sim.admin), sim:client "t-carol"
    local group = "/apis/rbac.authorization.k8s.io/v1"
    refused(carol, 403, "GET", "/api/v1/nodes")
    admin:create(group .. "/clusterroles", { kind = "ClusterRole", apiVersion = "rbac.authorization.k8s.io/v1",
      metadata = { name = "nodes" }, rules = { { apiGroups = { "" }, resources = { "nodes" }, verbs = { "list" } } } })
    admin:create(group .. "/clusterrolebindings", { kind = "ClusterRoleBinding",
      apiVersion = "rbac.authorization.k8s.io/v1", metadata = { name = "nodes" },
      subjects = { { kind = "User", name = "carol" } }, roleRef = { kind = "ClusterRole", name = "nodes" } })
    assert.are.equal("NodeList", carol:get("/api/v1/nodes").kind)
    admin:delete(group .. "/clusterroles/nodes")
    refused(carol, 403, "GET", "/api/v1/nodes")
  end)

  it("lets those impersonate who may", function()
    local sim = with_roles()
    assert.are.same({ username = "bob", groups = { "dev", "system:authenticated" } },
      whoami(sim, "t-carol", "-H 'Impersonate-User: bob' -H 'Impersonate-Group: dev'"))
    assert.are.same({ username = "system:serviceaccount:a:b",
      groups = { "system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated" } },
      whoami(sim, "t-carol", "-H 'Impersonate-User: system:serviceaccount:a:b'"))
    assert.are.equal([[users "dave" is forbidden: User "carol" cannot impersonate resource "users" in API group "" ]]
      .. "at the cluster scope", whoami(sim, "t-carol", "-H 'Impersonate-User: dave'"))
    assert.are.equal([[groups "system:masters" is forbidden: User "carol" cannot impersonate resource "groups" in API ]]
      .. [[group "" at the cluster scope]],
      whoami(sim, "t-carol", "-H 'Impersonate-User: bob' -H 'Impersonate-Group: system:masters'"))
    assert.are.equal("dave", whoami(sim, sim.admin, "-H 'Impersonate-User: dave'").username)
  end)

  it("asks for the extra fields and the uid of whom one impersonates, too", function()
    local sim = with_roles()
    local function cannot(resource, name, part)
      return ([[%s.authentication.k8s.io "%s" is forbidden: User "carol" cannot impersonate resource "%s" in API ]]
        .. [[group "authentication.k8s.io" at the cluster scope]]):format(resource, name, part)
    end
    local uid = "-H 'Impersonate-User: bob' -H 'Impersonate-Uid: 7'"
    assert.are.equal(cannot("userextras", "b", "userextras/a/c"),
      whoami(sim, "t-carol", uid .. " -H 'Impersonate-Extra-A%2fc: b'"))
    assert.are.equal(cannot("uids", "7", "uids"), whoami(sim, "t-carol", uid))
    local user = whoami(sim, sim.admin, uid .. " -H 'Impersonate-Extra-a: b'")
    assert.are.same({ username = "bob", uid = "7", groups = { "system:authenticated" }, extra = { a = { "b" } } }, user)
  end)

  it("adds the group of who is known, or is not, once", function()
    local sim = start()
    local function groups(user, ...)
      local headers = "-H 'Impersonate-User: " .. user .. "'"
      for _, group in ipairs { ... } do headers = headers .. " -H 'Impersonate-Group: " .. group .. "'" end
      return whoami(sim, sim.admin, headers).groups
    end
    assert.are.same({ "system:authenticated", "a" }, groups("bob", "system:authenticated", "a"))
    assert.are.same({ "system:unauthenticated" }, groups("bob", "system:unauthenticated"))
    assert.are.same({ "system:unauthenticated" }, groups "system:anonymous")
    assert.are.same({ "a", "system:unauthenticated" }, groups("system:anonymous", "a"))
  end)

  it("lets nobody impersonate a group without a user", function()
    local sim = with_roles()
    assert.are.equal('requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, '
      .. 'Extra:map[string][]string{"a":[]string{"1"}}} without impersonating a user name',
      whoami(sim, sim.admin, "-H 'Impersonate-Group: dev' -H 'Impersonate-Extra-a: 1'"))
    assert.are.equal('requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), '
      .. "Extra:map[string][]string(nil)} without impersonating a user name",
      whoami(sim, sim.admin, "-H 'Impersonate-Uid: u'"))
    local nobody = "-H 'Impersonate-User;' -H 'Impersonate-Uid;' -H 'Impersonate-X: 1'"
    assert.are.equal("kubernetes-admin", whoami(sim, sim.admin, nobody).username)
  end)

  it("takes all headers of an impersonation", function()
    local headers, groups = { "-H 'Impersonate-User: dave'" }, {}
    for i = 1, 60 do
      headers[#headers + 1], groups[i] = ("-H 'Impersonate-Group: g%d'"):format(i), "g" .. i
    end
    groups[61] = "system:authenticated"
    local sim = with_roles()
    assert.are.same(groups, whoami(sim, sim.admin, table.concat(headers, " ")).groups)
    headers[1] = "-H 'Impersonate-User: bob' -H 'Impersonate-Group: dev'"
    assert.has_match('groups "g%d+" is forbidden', whoami(sim, "t-carol", table.concat(headers, " ")))
  end)

  it("lets service accounts in by tokens that it gave them", function()
    local sim = with_roles()
    local accounts = "/api/v1/namespaces/default/serviceaccounts"
    local admin = sim:client(sim.admin)
    admin:create(accounts, { kind = "ServiceAccount", apiVersion = "v1", metadata = { name = "a" } })
    local function token(spec) return admin:create(accounts .. "/a/token", { spec = spec }).status.token end
    local own = token { expirationSeconds = 600 }
    local user = whoami(sim, own)
    assert.are.same({ "system:serviceaccount:default:a", { "system:serviceaccounts", "system:serviceaccounts:default",
      "system:authenticated" } }, { user.username, user.groups })
    assert.has_match('User "system:serviceaccount:default:a" cannot list resource "pods"',
      refused(sim:client(own), 403, "GET", "/api/v1/pods"))
    refused(sim:client(own), 403, "POST", accounts .. "/a/token", { spec = { expirationSeconds = 600 } })
    assert.are.equal("Unauthorized", refused(sim:client(token { audiences = { "x" } }), 401, "GET", "/version"))
    assert.are.equal("Unauthorized", refused(sim:client(own:sub(1, -3)), 401, "GET", "/version"))
    assert.are.equal("Unauthorized", refused(sim:client(own .. "0"), 401, "GET", "/version"))
  end)

  it("reads the request of a token as a server does", function()
    local admin, accounts = cluster.sim().api, "/api/v1/namespaces/default/serviceaccounts"
    admin:create(accounts, { metadata = { name = "a" } })
    local request = { spec = { audiences = cjson.null, expirationSeconds = cjson.null, boundObjectRef = cjson.null } }
    local made = admin:create(accounts .. "/a/token", request)
    assert.are.same({ 3600, "a" }, { made.spec.expirationSeconds, made.metadata.name })
    assert.are.same({ ["f:spec"] = { ["f:expirationSeconds"] = {} } }, made.metadata.managedFields[1].fieldsV1)
    for path, kind in pairs { [accounts .. "/a/token"] = "TokenRequest",
      ["/apis/authentication.k8s.io/v1/tokenreviews"] = "TokenReview" } do
      local status = admin:request("POST", path, "[]", nil, 400)
      assert.has_match("the object provided is unrecognized (must be of type " .. kind .. "): couldn't get version",
        status.message, 1, true)
    end
    assert.are.equal('TokenRequest in version "v1" cannot be handled as a TokenRequest: json: cannot unmarshal string '
      .. "into Go struct field TokenRequestSpec.spec.expirationSeconds of type int64",
      admin:request("POST", accounts .. "/a/token", { spec = { expirationSeconds = "1" } }, nil, 400).message)
  end)

  it("answers reviews by the roles, with the binding", function()
    local sim = with_roles()
    local function review(token, kind, spec)
      local group = "authorization.k8s.io"
      return sim:client(token):create(("/apis/%s/v1/%ss"):format(group, kind:lower()),
        { kind = kind, apiVersion = group .. "/v1", spec = spec }).status
    end
    local list = { verb = "list", resource = "pods", namespace = "default" }
    assert.are.same({ allowed = true, reason = 'RBAC: allowed by RoleBinding "devs/default" of ClusterRole "view" to '
      .. 'User "bob"' }, review("t-bob", "SelfSubjectAccessReview", { resourceAttributes = list }))
    assert.are.same({ allowed = false }, review("t-carol", "SelfSubjectAccessReview", { resourceAttributes = list }))
    assert.is_true(review(sim.admin, "SubjectAccessReview",
      { user = "x", groups = { "dev" }, resourceAttributes = list }).allowed)
    assert.is_false(review(sim.admin, "SubjectAccessReview",
      { user = "x", groups = { "ops" }, resourceAttributes = list }).allowed)
    local rules = review("t-carol", "SelfSubjectRulesReview", { namespace = "default" })
    local paths, names = {}, {}
    for _, rule in ipairs(rules.nonResourceRules) do paths[rule.nonResourceURLs[1]] = true end
    for _, rule in ipairs(rules.resourceRules) do names[(rule.resourceNames or {})[1] or ""] = true end
    assert.is_true(paths["/api"])
    assert.is_true(names.bob)
  end)

  it("shows whether the least role of a script is enough", function()
    local script = scratch .. "/pods.lua"
    temp.write(script, [[
local k8s = require "k8s"
k8s.reads { "Pod:get" }
k8s.main(function()
  local _, err = k8s.get("Pod", "default/none")
  print(err.code)
end)
]])
    local sim = with_roles()
    local function code_as(user)
      local p = cluster.start { cluster.binary, "exec", script, "--kubeconfig", sim.config, "--as", user }
      return p:wait_line "^(%d+)$"
    end
    assert.are.equal("403", code_as "system:serviceaccount:ops:kubelua")
    sim:close_input()
    assert.are.equal(0, sim:wait())
    local role = temp.run(cluster.binary .. " rbac -f " .. script .. " 2>/dev/null")
    temp.write(scratch .. "/least.yaml", role .. [[
---
kind: ClusterRoleBinding
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: kubelua}
subjects: [{kind: ServiceAccount, name: kubelua, namespace: ops}]
roleRef: {kind: ClusterRole, name: kubelua}
]])
    sim = start("--authorization", "rbac", "--load", scratch .. "/least.yaml")
    assert.are.equal("404", code_as "system:serviceaccount:ops:kubelua")
  end)
end)
