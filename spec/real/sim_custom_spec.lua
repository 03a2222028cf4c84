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
      local status, lines = cjson.decode(text), {}
      for j, cause in ipairs(status.details and status.details.causes or {}) do
        lines[j] = ("%s %s: %s"):format(cause.reason, cause.field, cause.message)
      end
      table.sort(lines)
      answers[i] = code < 300 and { code } or { code, status.reason, #lines > 1 and #status.message or status.message,
        lines }
    end
    assert.same(answers[1], answers[2], table.concat({ ... }, " ", 1, 3))
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

  it("are defined as a server allows it", function()
    local refused, all = 0, bad_definitions.all()
    for _, body in ipairs(all) do
      local code = try("POST", DEFINITIONS .. "?dryRun=All&fieldValidation=Strict", body)
      refused = refused + (code == 422 and 1 or 0)
    end
    assert.is_true(refused > 200 and #all - refused > 50, refused .. " of " .. #all)
  end)
end)
