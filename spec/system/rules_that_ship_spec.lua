-- scripts/rules: each rule finds what its example that fails says, nothing in the one that passes, and none of them
-- raises an error whatever an object looks like.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local odd_objects = require "spec.support.odd_objects"
local rules = require "spec.support.rules"
local temp = require "spec.support.temp"

-- As the examples say that they are meant.
local PARAMS = { "--param", "image-registry.registries=ghcr.io/acme,registry:5000", "--param",
  "deprecated-api.kubernetes=1.31" }

-- What others get wrong, and the finding of an example that shows how it is here; nil: it passes.
local TRAPS = {
  { "reads what is in a list of the kind List", "image-tag", "Pod/web spec.containers[0].image" },
  { "takes the port of a registry for no tag", "image-tag", "Pod/web spec.initContainers[0].image" },
  { "looks at init containers", "privileged", "Pod/web spec.initContainers[0].securityContext.privileged" },
  { "looks at ephemeral containers", "privileged", "Pod/web spec.ephemeralContainers[0].securityContext.privileged" },
  { "finds the pod spec of a cron job", "memory-limits",
    "CronJob/report spec.jobTemplate.spec.template.spec.containers[0].resources" },
  { "lets a container's security context win", "run-as-non-root",
    "Pod/web spec.containers[0].securityContext.runAsUser" },
  { "lets the pod's security context count", "run-as-non-root" },
  { "leaves out what is optional", "configmap-missing" },
  { "looks at projected volumes", "configmap-missing",
    "CronJob/report spec.jobTemplate.spec.template.spec.volumes[1].projected.sources[1].configMap.name" },
  { "looks at whole environments", "secret-missing", "Pod/web spec.containers[0].envFrom[0].secretRef.name" },
  { "looks at what pulls images", "secret-missing", "Pod/web spec.imagePullSecrets[0].name" },
  { "looks at certificates of Ingresses", "secret-missing", "Ingress/web spec.tls[0].secretName" },
  { "leaves out services without a selector, and other names", "service-selects-nothing" },
}

local folder, ids, files
local objects_of  -- the objects of an example, by file
local found = {}  -- what its own rule says of an example, by file
local owners = {} -- the file of an object and its name there, by what a report calls it

local function file_of(id, which) return ("%s/%s/%s.yaml"):format(rules.examples, id, which) end

local function called(object)
  return ("%s %s/%s"):format(object.kind, object.metadata.namespace or "", object.metadata.name)
end

-- All examples as one list, each set apart.
local function all_examples()
  local all = {}
  for i, file in ipairs(files) do
    local names = {}
    for j, object in ipairs(objects_of[file]) do names[j] = object.kind .. "/" .. object.metadata.name end
    rules.set_apart(objects_of[file], i)
    for j, object in ipairs(objects_of[file]) do
      assert(not owners[called(object)], "two are called " .. called(object))
      owners[called(object)] = { file = file, name = names[j] }
      all[#all + 1] = object
    end
  end
  return all
end

local function take(row)
  local owner = owners[("%s %s/%s"):format(row.kind, row.namespace or "", row.name)]
  local is_own = owner.file:match "([^/]+)/%a+%.yaml$" == row.rule
  if is_own and row.result ~= "skip" then
    table.insert(found[owner.file], (("%s %s"):format(owner.name, row.path or ""):gsub("%s*$", "")))
  end
end

local function audit_all(name, items)
  local path = folder .. "/" .. name
  temp.write(path, '{"apiVersion":"v1","kind":"List","items":[' .. table.concat(items, ",\n") .. "]}")
  return rules.audit("-f", rules.folder, "--from", path, unpack(PARAMS))
end

local function errors_of(report)
  local errors = {}
  for _, row in ipairs(report.results) do
    if row.result == "error" then errors[#errors + 1] = ("%s: %s: %s"):format(row.rule, row.name, row.message) end
  end
  return errors
end

describe("a rule that ships", function()
  local report

  setup(function()
    folder, ids, files = temp.folder(), rules.ids(), {}
    for _, id in ipairs(ids) do
      for _, which in ipairs { "pass", "fail" } do
        files[#files + 1] = file_of(id, which)
        found[files[#files]] = {}
      end
    end
    objects_of = rules.objects(files)
    local items = {}
    for i, object in ipairs(all_examples()) do items[i] = cjson.encode(object) end
    report = audit_all("examples.json", items)
    for _, row in ipairs(report.results) do take(row) end
    for _, list in pairs(found) do table.sort(list) end
  end)

  teardown(function() temp.remove(folder) end)

  it("has an example that passes and one that fails, and there are many", function()
    assert.are.equal(report.summary.rules, #ids)
    assert.is_true(#ids >= 60)
    for _, file in ipairs(files) do assert.is_true(#objects_of[file] > 0, file) end
  end)

  it("describes each of its parameters", function()
    local p = cluster.kubelua { "check", "--explain", "-o", "json", "-f", rules.folder }
    assert.are.equal(0, p:wait())
    local described, lacking = 0, {}
    for _, param in ipairs(cjson.decode(p.streams.out.text)) do
      local has_help = type(param.help) == "string" and param.help ~= ""
      if has_help then described = described + 1 else lacking[#lacking + 1] = param.rule .. "." .. param.name end
    end
    assert.are.same({}, lacking)
    assert.is_true(described > 30)
  end)

  it("finds what its example expects, there and nowhere else", function()
    for _, id in ipairs(ids) do
      local expected = rules.expected(file_of(id, "fail"))
      assert.is_true(#expected > 0, id)
      assert.are.same(expected, found[file_of(id, "fail")], id)
    end
  end)

  for _, trap in ipairs(TRAPS) do
    local does, id, finding = unpack(trap)
    it(does .. ": " .. id, function()
      if not finding then assert.are.same({}, found[file_of(id, "pass")]) return end
      local is_found = {}
      for _, text in ipairs(found[file_of(id, "fail")]) do is_found[text] = true end
      assert.is_true(is_found[finding])
    end)
  end

  it("finds nothing in its example that passes", function()
    for _, id in ipairs(ids) do assert.are.same({}, found[file_of(id, "pass")], id) end
  end)

  it("raises no error for its examples, nor those of others", function()
    assert.are.same({}, errors_of(report))
  end)

  it("raises no error whatever the object, but to report which path is of another type", function()
    local items, count = {}, 0
    for i, file in ipairs(files) do
      local objects, mark = objects_of[file], ("%%-%d\""):format(i)
      odd_objects.each(objects, function(replace)
        count = count + 1
        for _, object in ipairs(objects) do
          -- Set apart from the others, by the mark that the example has, as what it names stands beside it.
          items[#items + 1] = replace(cjson.encode(object)):gsub(mark, ('-%d-%d"'):format(i, count))
        end
      end)
    end
    assert.is_true(count > 1500)
    local odd = audit_all("odd.json", items)
    for i = #odd.results, 1, -1 do
      local row = odd.results[i]
      local of_type = row.message
        and (row.message:match "^%S+ must be a %a+, not [%a ]+$" or row.message:match "^%S+ is %a+$")
      if row.result == "error" and of_type then table.remove(odd.results, i) end
    end
    assert.are.same({}, errors_of(odd))
  end)

  it("takes what has no namespace for one of default, with what it names there", function()
    local pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"%s},"spec":{"containers":[{"image":"a:1",'
      .. '"envFrom":[{"configMapRef":{"name":"c"}}]}]}}'
    local map = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"%s}}'
    local function missing(of_pod, of_map)
      local count = 0
      for _, row in ipairs(audit_all("ns.json", { pod:format(of_pod), map:format(of_map) }).results) do
        if row.rule == "configmap-missing" and row.result == "fail" then count = count + 1 end
      end
      return count
    end
    local default, shop = ',"namespace":"default"', ',"namespace":"shop"'
    assert.are.same({ 0, 0, 0, 1 },
      { missing("", ""), missing("", default), missing(default, ""), missing("", shop) })
  end)

  it("lets no object pass whose fields are of other types than they should be", function()
    local pods = {
      { '{"containers":[{"name":"a","image":true}]}', "spec.containers[0].image must be a string, not a boolean" },
      { '{"containers":{"a":{"image":"nginx"}}}', "spec.containers must be a list, not a map" },
      { '{"containers":"nginx"}', "spec.containers must be a list, not a string" },
      { '{"containers":[],"initContainers":["nginx"]}', "spec.initContainers[0] must be a map, not a string" },
      { '{"container":[{"name":"a","image":"nginx"}]}', "spec.containers is missing" },
      { '{"containers":[]}', "spec.containers is empty" },
      { "null", "spec is missing" },
      { "[5]", "spec must be a map, not a list" },
    }
    local items = {}
    for i, pod in ipairs(pods) do
      items[i] = ('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d"},"spec":%s}'):format(i, pod[1])
    end
    local told, count = {}, 0
    for _, row in ipairs(audit_all("types.json", items).results) do
      if row.rule == "image-tag" or row.rule == "privileged" then
        local expected = pods[tonumber(row.name:match "%d")][2]
        assert.are.same({ row.rule, "error", expected }, { row.rule, row.result, row.message })
        told[row.rule] = (told[row.rule] or 0) + 1
      end
      count = count + 1
    end
    assert.are.same({ ["image-tag"] = #pods, privileged = #pods }, told)
    assert.is_true(count > 20 * #pods)
  end)

  it("knows the cluster roles that each server makes, and no others", function()
    local binding = '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"%s"},'
      .. '"roleRef":{"kind":"%s","name":"%s"}}'
    local items, told = {}, {}
    for _, name in ipairs { "cluster-admin", "admin", "edit", "view", "system:node", "views", "systems" } do
      items[#items + 1] = binding:format(name, "ClusterRole", name)
    end
    items[#items + 1] = binding:format("own", "Role", "view")
    for _, row in ipairs(audit_all("made.json", items).results) do
      if row.rule == "dangling-binding" then told[#told + 1] = row.name .. " " .. row.result end
    end
    table.sort(told)
    assert.are.same({ "own fail", "systems fail", "views fail" }, told)
  end)

  it("never prints a secret", function()
    for _, row in ipairs(report.results) do
      local text = cjson.encode(row)
      assert.is_nil(text:find("not-to-be-shown", 1, true) or text:find("bm90LXRvLWJlLXNob3du", 1, true), text)
    end
  end)
end)
