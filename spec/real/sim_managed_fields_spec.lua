-- Owners of fields and server-side apply in `kubelua sim` are those of a kube-apiserver: the same random applies,
-- updates and patches by several managers leave the same objects and the same managedFields, and conflict alike.
local cjson = require "cjson"
local api = require "spec.support.api"
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

local SEED = tonumber(os.getenv "SEED") or os.time()
local STEPS = tonumber(os.getenv "STEPS") or 250
local TYPES = {
  apply = "application/apply-patch+yaml", merge = "application/merge-patch+json",
  strategic = "application/strategic-merge-patch+json",
}

local function pick(list) return list[math.random(#list)] end
local function maybe(value) return math.random(2) == 1 and value or nil end

local function map(keys, values)
  local result = {}
  for _, key in ipairs(keys) do result[key] = maybe(pick(values)) end
  return next(result) and result or nil
end

-- One element for each of some names, in any order.
local function list(names, element)
  local result, left = {}, {}
  for i, name in ipairs(names) do left[i] = name end
  for _ = 1, math.random(#names) do result[#result + 1] = element(table.remove(left, math.random(#left))) end
  return result
end

local function container(name)
  return { name = name, image = pick { "a:1", "b:2" },
    env = maybe(list({ "X", "Y" }, function(key) return { name = key, value = pick { "1", "2" } } end)),
    ports = maybe(list({ 80, 81 }, function(port)
      return { containerPort = port, hostIP = maybe "10.0.0.1", protocol = port == 81 and "UDP" or nil }
    end)),
    resources = maybe { requests = map({ "cpu", "memory" }, { "1", "2" }) },
    command = maybe { pick { "a", "b" } }, livenessProbe = maybe { tcpSocket = { port = pick { 80, 81 } } } }
end

local CRD = { apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
  metadata = { name = "widgets.example.com" },
  spec = { group = "example.com", scope = "Namespaced",
    names = { plural = "widgets", singular = "widget", kind = "Widget", listKind = "WidgetList" },
    versions = { { name = "v1", served = true, storage = true, subresources = { status = { ["" ] = nil } },
      schema = { openAPIV3Schema = { type = "object", properties = {
        status = { type = "object", properties = { phase = { type = "string" }, n = { type = "integer" } } },
        spec = { type = "object", properties = {
          name = { type = "string" },
          atomic = { type = "object", ["x-kubernetes-map-type"] = "atomic",
            additionalProperties = { type = "string" } },
          granular = { type = "object", additionalProperties = { type = "string" } },
          set = { type = "array", ["x-kubernetes-list-type"] = "set", items = { type = "string" } },
          plain = { type = "array", items = { type = "string" } },
          any = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true },
          keyed = { type = "array", ["x-kubernetes-list-type"] = "map",
            ["x-kubernetes-list-map-keys"] = { "port", "protocol" },
            items = { type = "object", required = { "port" }, properties = {
              port = { type = "integer" }, protocol = { type = "string", default = "TCP" },
              note = { type = "string" } } } },
        } } } } } } } } }
CRD.spec.versions[1].subresources.status = cjson.decode "{}"

-- Kinds with a generator of parts of their objects.
local kinds = {
  { path = "/api/v1/namespaces/default/configmaps", apiVersion = "v1", kind = "ConfigMap", strategic = true,
    part = function()
      return { data = map({ "a", "b", "c" }, { "1", "2" }), binaryData = map({ "d" }, { "MQ==" }) }
    end },
  { path = "/apis/apps/v1/namespaces/default/deployments", apiVersion = "apps/v1", kind = "Deployment",
    strategic = true,
    status = function()
      return { observedGeneration = maybe(1), conditions = maybe(list({ "A", "B" }, function(name)
        return { type = name, status = pick { "True", "False" } }
      end)) }
    end,
    needs = function()
      return { spec = { selector = { matchLabels = { app = "x" } }, template = {
        metadata = { labels = { app = "x" } }, spec = { containers = { { name = "main", image = "a:1" } } } } } }
    end,
    part = function()
      return { spec = { replicas = maybe(math.random(3)), paused = maybe(true), template = maybe { spec = {
        containers = maybe(list({ "main", "side" }, container)), nodeSelector = map({ "n" }, { "1", "2" }),
        terminationGracePeriodSeconds = maybe(math.random(30)),
        securityContext = maybe { runAsUser = maybe(math.random(2)) } } } } }
    end },
  { path = "/api/v1/namespaces/default/services", apiVersion = "v1", kind = "Service", strategic = true,
    needs = function() return { spec = { ports = { { port = 80, name = "p80" } } } } end,
    part = function()
      return { spec = { selector = map({ "s", "t" }, { "1", "2" }),
        ports = maybe(list({ 80, 81 }, function(port)
          return { port = port, name = "p" .. port, targetPort = maybe(pick { 90, 91 }) }
        end)) } }
    end },
  { path = "/apis/example.com/v1/namespaces/default/widgets", apiVersion = "example.com/v1", kind = "Widget",
    status = function() return { phase = maybe(pick { "a", "b" }), n = maybe(math.random(2)) } end,
    part = function()
      local words = { "x", "y", "z" }
      local function self(word) return word end
      return { spec = maybe { name = maybe(pick(words)), atomic = map(words, { "1", "2" }),
        granular = map(words, { "1", "2" }), set = maybe(list(words, self)), plain = maybe(list(words, self)),
        any = maybe { a = map(words, { "1", 2 }), b = maybe(list(words, self)) },
        keyed = maybe(list({ 1, 2, 3 }, function(port)
          return { port = port, protocol = maybe(pick { "TCP", "UDP" }), note = maybe(pick(words)) }
        end)) } }
    end },
}

-- Lists as a whole; what is there stays if `added` is true.
local function merged(into, from, added)
  for key, value in pairs(from) do
    if type(value) == "table" and not value[1] and type(into[key]) == "table" and not into[key][1] then
      merged(into[key], value, added)
    elseif into[key] == nil or not added then
      into[key] = value
    end
  end
  return into
end

local function copy(value) return cjson.decode(cjson.encode(value)) end

local function body(kind, name, part)
  part.apiVersion, part.kind = kind.apiVersion, kind.kind
  part.metadata = { name = name, labels = map({ "l", "m" }, { "1", "2" }), annotations = map({ "n" }, { "1", "2" }),
    finalizers = nil }
  return part
end

-- Without what cannot be the same: times, versions, addresses.
local function normal(value)
  if type(value) ~= "table" then return value end
  local metadata = value.metadata
  if type(metadata) == "table" then
    for _, key in ipairs { "uid", "resourceVersion", "creationTimestamp", "time" } do metadata[key] = nil end
    for _, entry in ipairs(metadata.managedFields or {}) do
      assert.equal("string", type(entry.time or ""))
      entry.time = entry.time and "set"
    end
    table.sort(metadata.managedFields or {}, function(a, b)
      local function key(e) return e.manager .. e.operation .. (e.subresource or "") end
      return key(a) < key(b)
    end)
  end
  if value.kind == "Service" and value.spec then
    for _, key in ipairs { "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy" } do value.spec[key] = nil end
  end
  local status = value.status
  for _, condition in ipairs(type(status) == "table" and status.conditions or {}) do
    condition.lastTransitionTime, condition.lastUpdateTime = nil, nil
  end
  local details = value.details
  if type(details) == "table" then
    details.uid = nil
    table.sort(details.causes or {}, function(a, b) return a.field .. a.message < b.field .. b.message end)
  end
  return value
end

local function text_of(answer) return type(answer.body) == "table" and answer.body.message or "" end

-- Places where two values differ, with both.
local function differences(a, b, path, found)
  if type(a) ~= "table" or type(b) ~= "table" then
    if a ~= b then
      found[#found + 1] = ("%s: real %s, sim %s"):format(path, cjson.encode(a == nil and cjson.null or a),
        cjson.encode(b == nil and cjson.null or b))
    end
    return found
  end
  local keys = {}
  for key in pairs(a) do keys[key] = true end
  for key in pairs(b) do keys[key] = true end
  for key in pairs(keys) do differences(a[key], b[key], path .. "." .. tostring(key), found) end
  return found
end

describe("server-side apply of kubelua sim #real", function()
  local server, sim, sides

  setup(function()
    server = apiserver.start()
    sim = cluster.sim()
    sides = { server:api(), api.new { server = sim.server } }
    for _, side in ipairs(sides) do
      side:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
    end
    await(function()
      return (sides[1]:curl("GET", "/apis/example.com/v1/namespaces/default/widgets")) == 200
    end, "the custom kind is served", 20)
  end)
  teardown(function()
    cluster.stop_all()
    if server then server:stop() end
  end)

  -- Sends it to both; their answers must be the same.
  local function both(what, method, path, make, content_type)
    local answers, bodies = {}, {}
    for i, side in ipairs(sides) do
      bodies[i] = type(make) == "function" and make(side) or make
      local sent = bodies[i] and cjson.encode(bodies[i]):gsub("\\/", "/") -- which is no YAML
      local code, text = side:curl(method, path, sent, content_type)
      local ok, value = pcall(cjson.decode, text)
      answers[i] = { code = code, body = ok and normal(value) or text }
    end
    local found = differences(answers[1], answers[2], "", {})
    if answers[1].code == 422 and text_of(answers[1]):find ': "null"$' then
      -- Taking the last part out of a map or a list leaves a null there, which the schema forbids; not here.
      for _, side in ipairs(sides) do side:curl("DELETE", (path:gsub("%?.*", ""):gsub("/status$", ""))) end
      return answers[1]
    end
    if os.getenv "EXPLORE" and #found > 0 then
      print(("%s: %s %s %s"):format(what, method, path, cjson.encode(bodies[2] or cjson.null)))
      table.sort(found)
      for i = 1, math.min(8, #found) do print("    " .. found[i]) end
      for _, side in ipairs(sides) do side:curl("DELETE", (path:gsub("%?.*", ""):gsub("/status$", ""))) end
      return answers[1]
    end
    assert.same({}, found, ("%s: %s %s %s"):format(what, method, path, cjson.encode(bodies[2] or cjson.null)))
    return answers[1]
  end

  local function live(kind, name)
    return function(side, part)
      local code, text = side:curl("GET", kind.path .. "/" .. name)
      local object = cjson.decode(text)
      return code == 200 and merged(object, copy(part)) or copy(part)
    end
  end

  local counts

  local function step(n)
    local kind, name = pick(kinds), pick { "one", "two" }
    local manager = pick { "alice", "bob", "carol" }
    local part = body(kind, name, kind.part())
    local path = ("%s/%s?fieldManager=%s"):format(kind.path, name, manager)
    local how = math.random(12)
    if kind.needs then merged(part, kind.needs(), true) end
    local what = ("seed %d, step %d"):format(SEED, n)
    local answer
    if how <= 5 then
      answer = both(what, "PATCH", path .. pick { "", "", "&force=true" }, part, TYPES.apply)
    elseif how == 6 then
      answer = both(what, "PATCH", path, part, TYPES.merge)
    elseif how == 7 and kind.strategic then
      answer = both(what, "PATCH", path, part, TYPES.strategic)
    elseif how == 8 then
      local get = live(kind, name)
      answer = both(what, "PUT", path, function(side) return get(side, part) end)
    elseif how == 9 then
      answer = both(what, "POST", kind.path .. "?fieldManager=" .. manager, part)
    elseif how >= 11 and kind.status then
      local form = pick { "apply", "merge" }
      local status = body(kind, name, { status = kind.status() })
      path = path:gsub("%?", "/status?")
      answer = both(what, "PATCH", path .. pick { "", form == "apply" and "&force=true" or "" }, status, TYPES[form])
    elseif how == 10 and math.random(3) == 1 then
      answer = both(what, "DELETE", kind.path .. "/" .. name)
    end
    if answer then counts[tostring(answer.code)] = (counts[tostring(answer.code)] or 0) + 1 end
  end

  it("leaves the same objects and owners after random writes", function()
    math.randomseed(SEED)
    counts = {}
    for n = 1, STEPS do step(n) end
    print(("seed %d: %s"):format(SEED, cjson.encode(counts)))
    assert.is_true((counts["200"] or 0) > 20 and (counts["409"] or 0) > 5, cjson.encode(counts))
  end)
end)
