-- Custom objects and their definitions: the same requests to the simulator and to the real server give the same codes
-- and bodies.
local cjson = require "cjson"
local await = require "spec.support.await"
local bad_definitions = require "spec.support.bad_definitions"
local both_servers = require "spec.support.both_servers"
local crds = require "spec.support.crds"

local DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
local MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
local GROUP = "ratchets.example.com"

-- Schemas before and after the definition has become stricter.
local LOOSE = [[{"type":"object","properties":{
  "spec":{"type":"object","properties":{
    "word":{"type":"string"},"other":{"type":"string"},"replicas":{"type":"integer"},
    "inner":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}},
    "map":{"type":"object","additionalProperties":{"type":"string"}},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
    "maps":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
      "items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}},
    "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "list":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}},
  "status":{"type":"object","properties":{"word":{"type":"string"},"replicas":{"type":"integer"}}}}}]]
local STRICT = [[{"properties":{
  "spec":{"required":["needed"],"properties":{"needed":{"type":"string"},
    "word":{"enum":["good"]},
    "inner":{"required":["b"],"properties":{"a":{"maxLength":2}}},
    "map":{"additionalProperties":{"pattern":"^good"}},
    "free":{"maxProperties":1,"properties":{"x":{"type":"string","maxLength":1}}},
    "maps":{"items":{"properties":{"n":{"maximum":5}}}},
    "set":{"items":{"maxLength":3},"maxItems":2},
    "list":{"items":{"properties":{"n":{"maximum":5}}}}}},
  "status":{"properties":{"word":{"enum":["good"]}}}}}]]

local function merge(into, from)
  for key, value in pairs(from) do
    if type(value) == "table" and type(into[key]) == "table" then merge(into[key], value) else into[key] = value end
  end
  return into
end

describe("custom objects", function()
  local both, ask = both_servers.begin(setup, teardown)

  -- Like `ask`, for what several causes may be found in: a server's order of fields is random. Returns the code.
  local function try(...)
    local answers = {}
    for i, api in ipairs { both.real:api(), both.sim.api } do
      local code, text = api:curl(...)
      text = text:gsub("%x+%-%x+%-%x+%-%x+%-%x+", "a uid"):gsub("object meta: %d+", "object meta: a version")
      local ok, status = pcall(cjson.decode, text)
      local lines = {}
      if not ok then status = { message = text } end
      for j, cause in ipairs(status.details and status.details.causes or {}) do
        lines[j] = ("%s %s: %s"):format(cause.reason, cause.field, cause.message)
      end
      table.sort(lines)
      answers[i] = code < 300 and { code } or { code, status.reason, #lines > 1 and #status.message or status.message,
        lines }
    end
    assert.same(answers[1], answers[2], table.concat({ ... }, " ", 1, math.min(3, select("#", ...))))
    return answers[1][1]
  end

  -- A definition whose schema accepts all that is in `loose`.
  local function define(plural, loose)
    local body = crds.of(plural, GROUP)
    body.spec.versions[1].schema.openAPIV3Schema = cjson.decode(loose)
    body.spec.versions[1].subresources = { status = cjson.decode "{}", scale = { specReplicasPath = ".spec.replicas",
      statusReplicasPath = ".status.replicas" } }
    for _, api in ipairs { both.real:api(), both.sim.api } do
      api:create(DEFINITIONS, cjson.encode(body))
      await(function() return api:curl("GET", crds.objects(plural, GROUP)) == 200 end, plural, 30)
    end
    return body
  end

  -- Makes the schema stricter, and waits until a body is refused.
  local function tighten(body, strict, odd)
    local plural = body.spec.names.plural
    merge(body.spec.versions[1].schema.openAPIV3Schema, cjson.decode(strict))
    local path = DEFINITIONS .. "/" .. body.metadata.name
    for _, api in ipairs { both.real:api(), both.sim.api } do
      local code, text = api:curl("PATCH", path, cjson.encode { spec = body.spec }, MERGE)
      assert.equal(200, code, text)
      await(function()
        return api:curl("POST", crds.objects(plural, GROUP) .. "?dryRun=All", cjson.encode(odd)) == 422
      end, "the stricter schema", 30)
    end
  end

  it("keep what has become invalid as long as it is not changed", function()
    local body = define("olds", LOOSE)
    local path = crds.objects("olds", GROUP)
    local function object(name) return { apiVersion = GROUP .. "/v1", kind = "Old", metadata = { name = name } } end
    local old = object "old"
    old.spec = cjson.decode [[{"word":"bad","other":"x","replicas":1,"inner":{"a":"long"},"map":{"a":"bad","b":"good"},
      "free":{"x":"long"},"maps":[{"name":"a","n":9},{"name":"b","n":1}],"set":["long","b"],
      "list":[{"n":9},{"n":1}]}]]
    ask("POST", path, old)
    local unknown = object "unknown" -- what a schema does not name is never as it was
    unknown.spec = { free = { y = 1, z = 1 } }
    ask("POST", path, unknown)
    ask("PATCH", path .. "/old/status", { status = { word = "bad", replicas = 1 } }, MERGE)
    local new = object "new"
    new.spec = { word = "bad" }
    tighten(body, STRICT, new)
    local function scale(n)
      return try("PUT", path .. "/old/scale", cjson.encode { apiVersion = "autoscaling/v1", kind = "Scale",
        metadata = { name = "old" }, spec = { replicas = n } })
    end
    local codes = {}
    for _, spec in ipairs {
      [[{"other":"y"}]], [[{"needed":"x","other":"y"}]], [[{"word":"worse"}]], [[{"word":"good"}]],
      [[{"inner":{"a":"longer"}}]], [[{"inner":{"b":"x"}}]], [[{"inner":{"a":"ab"}}]], [[{"inner":null}]],
      [[{"map":{"b":"gooder"}}]], [[{"map":{"c":"bad"}}]], [[{"map":{"a":null}}]], [[{"free":{"x":"longer"}}]],
      [[{"free":null}]], [[{"free":{"x":"long"}}]], [[{"maps":[{"name":"b","n":1},{"name":"a","n":9}]}]],
      [[{"maps":[{"name":"a","n":9},{"name":"c","n":2}]}]], [[{"maps":[{"name":"a","n":8}]}]],
      [[{"maps":[{"name":"c","n":9}]}]], [[{"set":["long"]}]], [[{"set":["long","b"]}]], [[{"set":["a","b"]}]],
      [[{"set":["a","b","c"]}]], [[{"list":[{"n":9}]}]], [[{"list":[{"n":9},{"n":1}]}]], [[{"list":[{"n":1}]}]],
      [[{"replicas":2}]], [[{}]],
    } do
      local fields = cjson.decode(spec)
      codes[#codes + 1] = try("PATCH", path .. "/old?dryRun=All", cjson.encode { spec = fields }, MERGE)
      fields.needed = fields.needed or "x"
      codes[#codes + 1] = try("PATCH", path .. "/old?dryRun=All", cjson.encode { spec = fields }, MERGE)
    end
    assert.equal(422, try("PATCH", path .. "/unknown", '{"spec":{"other":"x"}}', MERGE))
    assert.equal(200, try("PATCH", path .. "/old?dryRun=All", '{"metadata":{"labels":{"a":"b"}}}', MERGE))
    assert.equal(27 * 2, #codes)
    for i, status in ipairs { { replicas = 2 }, { word = "worse" }, { word = "good" }, { word = cjson.null } } do
      local answer = ask("PATCH", path .. "/old/status?dryRun=All", { status = status }, MERGE)
      assert.equal(i == 2 and 422 or 200, answer.code or 200)
    end
    ask("PATCH", path .. "/old/status?dryRun=All", { status = cjson.null }, MERGE)
    scale(3)
    try("PATCH", path .. "/old", cjson.encode { metadata = { labels = { a = "c" } },
      spec = { needed = "x" } }, MERGE)
    scale(4)
    for _, spec in ipairs { { word = "bad" }, { word = "worse" }, { other = "z" }, { inner = { a = "long" } } } do
      local applied = object "old"
      applied.spec = spec
      try("PATCH", path .. "/old?fieldManager=x&force=true&dryRun=All", (cjson.encode(applied):gsub("\\/", "/")), APPLY)
    end
    local refused = 0
    for _, code in ipairs(codes) do refused = refused + (code == 422 and 1 or 0) end
    assert.is_true(refused > 20 and refused < 50, refused)
    for _, api in ipairs { both.real:api(), both.sim.api } do crds.remove(api, "olds", GROUP) end
  end)

  it("have resources in them whose metadata is read as Go does", function()
    define("boxes", [[{"type":"object","properties":{
      "template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
      "spec":{"type":"object","properties":{"set":{"type":"array","x-kubernetes-list-type":"set",
        "items":{"type":"string"}}}}}}]])
    local path, codes = crds.objects("boxes", GROUP), {}
    for i, metadata in ipairs {
      '{"labels":{"a":1}}', '{"annotations":{"a":1}}', '{"finalizers":[1]}', '{"labels":{"a":null}}',
      '{"labels":["x"]}', '{"name":5}', '{"name":"x","foo":1,"labels":{"b":null,"a":"x"}}', '{"uid":7}',
      '{"labels":{"a":1,"b":true},"name":6}', '{"ownerReferences":{}}', '{"ownerReferences":[5]}',
      '{"ownerReferences":[{"controller":"yes"}]}', '{"generation":"a"}', '{"generation":1.5}',
      '{"deletionTimestamp":"bad"}', '{"creationTimestamp":null,"name":"x"}', '"text"', "null", "[]",
      '{"finalizers":[null,"x"]}', '{"ownerReferences":[{"apiVersion":"a/b/c","kind":"K","name":"n","uid":"u"}]}',
      '{"name":"bad/name","labels":{"a b":"c d"}}', '{"finalizers":["nope"]}',
    } do
      local body = ('{"apiVersion":"%s/v1","kind":"Boxe","metadata":{"name":"b%d"},"spec":{"set":["a","a"]},'
        .. '"template":{"apiVersion":"v1","kind":"Pod","metadata":%s}}'):format(GROUP, i, metadata)
      local code = try("POST", path .. "?dryRun=All", body)
      codes[code] = (codes[code] or 0) + 1
      try("POST", path .. "?dryRun=All&fieldValidation=Strict", body)
      try("POST", path .. "?dryRun=All", (body:gsub('%["a","a"%]', '["a"]')))
    end
    assert.same({ [400] = 15, [422] = 8 }, codes)
    local odd = { apiVersion = GROUP .. "/v1", kind = "Boxe", metadata = { name = "odd" },
      template = { apiVersion = 5, kind = "Pod" } }
    try("POST", path, (cjson.encode(odd):gsub("\\/", "/")))
    odd.template = { apiVersion = "v1", kind = "Pod", metadata = { foo = 1, labels = { a = cjson.null },
      annotations = cjson.decode "{}", creationTimestamp = cjson.null,
      ownerReferences = { { kind = "K", name = "n", uid = "u", apiVersion = "v1", bar = 5, controller = false } } } }
    ask("POST", path, odd)
    for _, api in ipairs { both.real:api(), both.sim.api } do -- their messages have the whole object
      local code, text = api:curl("PATCH", path .. "/odd", '{"template":{"metadata":{"labels":{"a":1}}}}', MERGE)
      assert.equal(422, code)
      assert.matches("template.metadata: .*: json: cannot unmarshal number into Go struct field ObjectMeta.labels of "
        .. "type string", text)
    end
    ask("GET", path .. "/odd")
    for _, api in ipairs { both.real:api(), both.sim.api } do crds.remove(api, "boxes", GROUP) end
  end)

  it("are defined as a server allows it", function()
    local refused, all = 0, bad_definitions.all()
    for _, body in ipairs(all) do
      local code = try("POST", DEFINITIONS .. "?dryRun=All&fieldValidation=Strict", body)
      refused = refused + (code == 422 and 1 or 0)
    end
    assert.is_true(refused > 200 and #all - refused > 50, refused .. " of " .. #all)
  end)

  local function wait_for(path, until_)
    for _, api in ipairs { both.real:api(), both.sim.api } do
      await(function()
        local code, text = api:curl("GET", path)
        return until_(code, text)
      end, path, 90)
    end
  end

  it("end before their definition does", function()
    local body = define("ends", LOOSE)
    local path, at = crds.objects("ends", GROUP), DEFINITIONS .. "/ends." .. GROUP
    local function object(name, finalizers)
      return { apiVersion = GROUP .. "/v1", kind = "End", metadata = { name = name, finalizers = finalizers } }
    end
    ask("POST", path, object("a", { "example.com/f" }))
    ask("POST", path, object "b")
    for _, preconditions in ipairs { { uid = "x" }, { resourceVersion = "1" } } do
      assert.equal(409, try("DELETE", at, cjson.encode { preconditions = preconditions }))
    end
    assert.is_truthy(ask("DELETE", at .. "?dryRun=All").metadata.deletionTimestamp)
    assert.is_truthy(ask("DELETE", at).metadata.deletionTimestamp)
    wait_for(path .. "/b", function(code) return code == 404 end)
    wait_for(at, function(_, text) return text:find "InstanceDeletionInProgress" end)
    wait_for("/apis/" .. GROUP .. "/v1", function(_, text)
      return not text:gsub('.*"name":"ends"', ""):gsub("%].*", ""):find "create"
    end)
    ask("GET", at)
    ask("GET", "/apis/" .. GROUP .. "/v1")
    assert.is_truthy(ask("GET", path .. "/a").metadata.deletionTimestamp)
    assert.equal(403, ask("POST", path, object "c").code)
    local applied = cjson.encode(object "c"):gsub("\\/", "/")
    assert.equal(403, ask("PATCH", path .. "/c?fieldManager=x", applied, APPLY).code)
    assert.equal(404, ask("PATCH", path .. "/c", { metadata = { labels = { a = "b" } } }, MERGE).code)
    assert.is_nil(ask("PATCH", path .. "/a", { metadata = { labels = { a = "b" } } }, MERGE).code)
    ask("DELETE", at)
    assert.equal(409, try("POST", DEFINITIONS, cjson.encode(body)))
    assert.is_nil(ask("PATCH", path .. "/a", { metadata = { finalizers = cjson.null } }, MERGE).code)
    wait_for(at, function(code) return code == 404 end)
    wait_for(path, function(code) return code == 404 end)
  end)

  it("are kept where no version of their definition is served", function()
    local body = crds.of("kepts", GROUP)
    local path, at = crds.objects("kepts", GROUP), DEFINITIONS .. "/kepts." .. GROUP
    body.spec.versions[2] = cjson.decode(cjson.encode(body.spec.versions[1]))
    body.spec.versions[2].name, body.spec.versions[2].storage = "v2", false
    for _, api in ipairs { both.real:api(), both.sim.api } do api:create(DEFINITIONS, cjson.encode(body)) end
    wait_for(path, function(code) return code == 200 end)
    ask("POST", path, { apiVersion = GROUP .. "/v1", kind = "Kept", metadata = { name = "a" } })
    local function change(served, stored)
      for i, version in ipairs(body.spec.versions) do version.served, version.storage = served, stored == i end
      local changed = ask("PATCH", at, { spec = { versions = body.spec.versions } }, MERGE)
      return changed.status.storedVersions
    end
    assert.same({ "v1", "v2" }, change(true, 2))
    assert.same({ "v1", "v2" }, change(true, 1))
    assert.same({ "v1", "v2" }, change(false, 1))
    wait_for(path, function(code) return code == 404 end)
    wait_for("/apis/" .. GROUP .. "/v2", function(code) return code == 404 end)
    for _, method in ipairs { "GET", "DELETE" } do
      assert.equal(404, try(method, path .. "/a"))
      assert.equal(404, try(method, path))
    end
    wait_for("/apis", function(_, text) return not text:find(GROUP, 1, true) end)
    ask("GET", at)
    change(true, 2)
    wait_for(path .. "/a", function(code) return code == 200 end)
    ask("GET", path .. "/a")
    change(false, 1)
    wait_for(path, function(code) return code == 404 end)
    ask("DELETE", at)
    wait_for(at, function(code) return code == 404 end)
  end)

  it("have numbers as Go writes them", function()
    local body = define("numbers", [[{"type":"object","properties":{"spec":{"type":"object",
      "x-kubernetes-preserve-unknown-fields":true,"properties":{"whole":{"type":"integer"}}}}}]])
    local path = crds.objects("numbers", GROUP)
    local text = [[{"apiVersion":"%s/v1","kind":"Number","metadata":{"name":"one"},"spec":{"a":0.1,"b":1e3,"c":0.000001,
      "d":1e-7,"e":0.30000000000000004,"f":1e21,"g":123456789012345678901,"h":9223372036854775807,"i":-0.5,"j":[2.50],
      "k":12345678901234567890,"whole":3.0}}]]
    local answers = {}
    for i, api in ipairs { both.real:api(), both.sim.api } do
      local code, created = api:curl("POST", path, text:format(GROUP))
      assert.equal(201, code, created)
      local _, got = api:curl("GET", path .. "/one")
      answers[i] = {}
      for j, whole in ipairs { created, got } do answers[i][j] = whole:gsub("%s", ""):match '"spec":(%b{})' end
      crds.remove(api, body.spec.names.plural, GROUP)
    end
    assert.same(answers[1], answers[2])
  end)

  it("are not served while another definition has their names", function()
    local group = "names.example.com"
    local function body(plural, kind, short)
      local one = crds.of(plural, group)
      one.spec.names.kind, one.spec.names.listKind, one.spec.names.shortNames = kind, plural .. "List", short
      return one
    end
    ask("POST", DEFINITIONS, body("ones", "One", { "o", "n" }))
    wait_for(DEFINITIONS .. "/ones." .. group, function(_, text) return text:find "InitialNamesAccepted" end)
    for name, other in pairs { twos = body("twos", "One", { "t" }), threes = body("threes", "Three", { "n", "o", "h" }),
      fours = body("fours", "Four", { "ones" }), fives = body("fives", "onesList") } do
      ask("POST", DEFINITIONS, other)
      wait_for(DEFINITIONS .. "/" .. name .. "." .. group, function(_, text) return text:find "NotAccepted" end)
      ask("GET", DEFINITIONS .. "/" .. name .. "." .. group)
      wait_for(crds.objects(name, group), function(code) return code == 404 end)
    end
    local renamed = { spec = { names = { shortNames = { "o", "more" }, categories = { "all" } } } }
    ask("PATCH", DEFINITIONS .. "/ones." .. group, renamed, MERGE)
    wait_for(DEFINITIONS .. "/ones." .. group, function(_, text)
      return text:gsub('.*"acceptedNames"', ""):find "more"
    end)
    ask("GET", DEFINITIONS .. "/ones." .. group)
    for _, api in ipairs { both.real:api(), both.sim.api } do crds.remove(api, "ones", group) end
    for _, name in ipairs { "twos", "threes", "fours", "fives" } do
      wait_for(crds.objects(name, group), function(code) return code == 200 end)
      ask("GET", DEFINITIONS .. "/" .. name .. "." .. group)
      for _, api in ipairs { both.real:api(), both.sim.api } do crds.remove(api, name, group) end
    end
  end)
end)
