-- lua/tool/check/rbac_rules.lua and roles.lua: the least rules, how they are written, and what rules allow.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local json = require "tool.json"
local rbac_rules = require "tool.check.rbac_rules"
local roles = require "tool.check.roles"

local function set(verbs)
  local names = {}
  for verb in verbs:gmatch "%a+" do names[verb] = true end
  return names
end

-- Each permission is { namespace, group, resource, verbs, name of the only object }.
local function rules_of(permissions)
  local rules = rbac_rules.new(json.text)
  for _, one in ipairs(permissions) do
    rules:add { ns = one[1], group = one[2], resource = one[3], verbs = set(one[4]), name = one[5] or "" }
  end
  return rules
end

local function yaml_of(permissions) return rules_of(permissions):yaml "kubelua" end

local function document(namespace, ...)
  local head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: kubelua\n%srules:\n"
  local rules = {}
  for i, rule in ipairs { ... } do
    rules[i] = ("  - apiGroups: [%s]\n    resources: [%s]\n    verbs: [%s]\n"):format(unpack(rule))
  end
  return head:format(namespace and "Role" or "ClusterRole", namespace and "  namespace: " .. namespace .. "\n" or "")
    .. table.concat(rules)
end

describe("RBAC rules", function()
  it("are values of the chart", function()
    local permissions = {
      { "", "", "pods", "list" }, { "shop", "", "secrets", "get" }, { "web", "", "secrets", "get" },
    }
    assert.are.equal([[
# Values of the chart: helm upgrade --values FILE
rbac:
  read: false
  rules:
    - apiGroups: [""]
      resources: [pods]
      verbs: [list]
  roles:
    - namespace: shop
      rules:
        - apiGroups: [""]
          resources: [secrets]
          verbs: [get]
    - namespace: web
      rules:
        - apiGroups: [""]
          resources: [secrets]
          verbs: [get]
]], rules_of(permissions):helm())
    assert.has_match("\n  roles:\n    %- namespace: shop\n", rules_of({ permissions[2] }):helm())
  end)

  it("are roles with their bindings in a kustomization", function()
    local text = rules_of({ { "", "", "pods", "list" }, { "shop", "", "secrets", "get" } }):kustomize "kubelua"
    local kinds = {}
    for kind in text:gmatch "kind: (%a+)\nmetadata" do kinds[#kinds + 1] = kind end
    assert.are.same({ "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding" }, kinds)
    assert.has_match("kind: RoleBinding\nmetadata:\n  name: kubelua\n  namespace: shop\nroleRef:\n", text)
  end)

  it("are one for the resources of a group with the same verbs", function()
    assert.are.equal(
      document(nil, { '""', "pods, services", "list, watch" }, { '""', "pods/status", "create, patch" },
        { '""', "secrets", "get" }, { "apps", "deployments", "list, watch" }),
      yaml_of {
        { "", "apps", "deployments", "list watch" }, { "", "", "services", "list watch" }, { "", "", "secrets", "get" },
        { "", "", "pods", "list" }, { "", "", "pods", "watch" }, { "", "", "pods/status", "patch create" },
      })
  end)

  it("are in a role of a namespace as far as they do not apply everywhere", function()
    assert.are.equal(
      document(nil, { '""', "pods", "list, watch" }) .. "---\n" .. document('"5"', { '""', "pods", "get" }) .. "---\n"
        .. document("shop", { '""', "pods", "delete" }, { '""', "services", "list, watch" }),
      yaml_of {
        { "shop", "", "pods", "list watch delete" }, { "shop", "", "services", "list watch" },
        { "", "", "pods", "list watch" }, { "5", "", "pods", "list watch get" },
      })
  end)

  it("do not claim for one kind what applies to every kind", function()
    assert.are.equal(
      document(nil, { '"*"', '"*"', "list, watch" }) .. "---\n" .. document("shop", { '""', "secrets", "update" }),
      yaml_of {
        { "", "*", "*", "list watch" }, { "", "", "pods", "list watch" },
        { "shop", "", "secrets", "list watch update" },
      })
  end)

  it("have the names of objects, by resource, and none for a create", function()
    local function named(resource, names, verbs)
      return ('  - apiGroups: [""]\n    resources: [%s]\n    resourceNames: [%s]\n    verbs: [%s]\n'):format(resource,
        names, verbs)
    end
    assert.are.equal(
      document(nil, { '""', "maps", "create" }) .. named("maps", '"5", a', "get, patch") .. named("maps", "z", "get")
        .. named("secrets", "a", "get, patch"),
      yaml_of {
        { "", "", "maps", "get create patch", "a" }, { "", "", "maps", "create get patch", "5" },
        { "", "", "secrets", "get patch", "a" }, { "", "", "maps", "get", "z" },
      })
  end)

  it("do not claim for one object what applies to all of the kind, or everywhere", function()
    assert.are.equal(
      document(nil, { '""', "pods", "list" }) .. '  - apiGroups: [""]\n    resources: [secrets]\n'
        .. "    resourceNames: [a]\n    verbs: [get]\n---\n" .. document("shop", { '""', "maps", "get, list" }),
      yaml_of {
        { "shop", "", "maps", "list", "a" }, { "shop", "", "maps", "get list" }, { "shop", "", "pods", "list", "a" },
        { "", "", "pods", "list" }, { "", "", "secrets", "get", "a" }, { "shop", "", "secrets", "get", "a" },
      })
  end)

  it("are no text when there are none", function() assert.are.equal("", yaml_of {}) end)
end)

describe("roles of a dump", function()
  local function role(kind, namespace, ...)
    return { kind = kind, metadata = { name = "r", namespace = namespace }, rules = { ... } }
  end

  local function binding(kind, namespace, of, subject)
    return {
      kind = kind, metadata = { name = "b", namespace = namespace }, roleRef = { kind = of, name = "r" },
      subjects = { subject },
    }
  end

  local function allows(list, user, question)
    local review = roles.reviewer(list, { name = user, groups = { "staff" } })
    return review({ question })[1]
  end

  local function question(ns, resource, name)
    return { ns = ns, group = "", resource = resource, name = name or "", verb = "get" }
  end

  local pods = { apiGroups = { "" }, resources = { "pods", "*/status" }, verbs = { "get" } }
  local me = { kind = "User", name = "me" }

  it("apply in the namespace of their binding, or everywhere", function()
    local list = { role("ClusterRole", nil, pods), binding("RoleBinding", "shop", "ClusterRole", me) }
    assert.is_true(allows(list, "me", question("shop", "pods")))
    assert.is_false(allows(list, "you", question("shop", "pods")))
    assert.is_false(allows(list, "me", question("other", "pods")))
    assert.is_false(allows(list, "me", question("", "pods")))
    list[3] = binding("ClusterRoleBinding", nil, "ClusterRole", me)
    assert.is_true(allows(list, "me", question("", "pods")))
    assert.is_false(allows({ role("Role", "a", pods), binding("RoleBinding", "b", "Role", me) }, "me",
      question("b", "pods")))
  end)

  it("know parts of resources, and names", function()
    local one = { apiGroups = { "*" }, resources = { "secrets" }, verbs = { "*" }, resourceNames = { "one" } }
    local list = { role("ClusterRole", nil, pods, one), binding("ClusterRoleBinding", nil, "ClusterRole", me) }
    assert.is_true(allows(list, "me", question("", "nodes/status")))
    assert.is_false(allows(list, "me", question("", "nodes/scale")))
    assert.is_true(allows(list, "me", question("", "secrets", "one")))
    assert.is_false(allows(list, "me", question("", "secrets", "two")))
    assert.is_false(allows(list, "me", question("", "secrets")))
  end)

  it("are of users, of their groups and of service accounts", function()
    local function bound(subject, user)
      local list = { role("Role", "shop", pods), binding("RoleBinding", "shop", "Role", subject) }
      return allows(list, user, question("shop", "pods"))
    end
    local bot = "system:serviceaccount:shop:bot"
    assert.is_true(bound({ kind = "ServiceAccount", name = "bot" }, bot))
    assert.is_true(bound({ kind = "ServiceAccount", name = "bot", namespace = "shop" }, bot))
    assert.is_false(bound({ kind = "ServiceAccount", name = "bot", namespace = "other" }, bot))
    for group, users in pairs {
      staff = { me = true, [bot] = true }, ["system:authenticated"] = { me = true, [bot] = true },
      ["system:serviceaccounts"] = { me = false, [bot] = true }, others = { me = false, [bot] = false },
      ["system:serviceaccounts:shop"] = { me = false, [bot] = true, ["system:serviceaccount:shop2:bot"] = false },
    } do
      for user, expected in pairs(users) do
        assert.are.equal(expected, bound({ kind = "Group", name = group }, user), group .. " " .. user)
      end
    end
    assert.is_true(roles.reviewer({}, { name = "me", groups = { "system:masters" } })({ question("", "pods") })[1])
  end)

  it("may be malformed", function()
    local list = {
      { kind = "ClusterRole", rules = 5 }, { kind = "RoleBinding" },
      { kind = "ClusterRoleBinding", subjects = { 1, false, me }, roleRef = "r" },
      { kind = "ClusterRoleBinding", subjects = { me }, roleRef = { kind = "ClusterRole" } },
    }
    assert.is_false(allows(list, "me", question("", "pods")))
  end)
end)
