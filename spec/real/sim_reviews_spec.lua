-- What is refused of reviews and of requests for certificates: the simulator and the real server say the same.
local both_servers = require "spec.support.both_servers"
local cjson = require "cjson"
local good_bodies = require "spec.support.good_bodies"
local same_answers = require "spec.support.same_answers"
local temp = require "spec.support.temp"

local MERGE = "application/merge-patch+json"
local AUTHORIZATION = "/apis/authorization.k8s.io/v1/"
local REVIEWS = { SelfSubjectAccessReview = "selfsubjectaccessreviews", SubjectAccessReview = "subjectaccessreviews",
  LocalSubjectAccessReview = "namespaces/default/localsubjectaccessreviews" }
local REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

local function encoded(text)
  local file = temp.name()
  temp.write(file, text)
  local output = temp.run("base64 --wrap=0 " .. file)
  os.remove(file)
  return output
end

local function block(kind, inner) return ("-----BEGIN %s-----\n%s-----END %s-----\n"):format(kind, inner, kind) end

describe("the simulator as a real server", function()
  local both, ask = both_servers.begin(setup, teardown)

  -- Both refuse it with the same causes, but for the times in them.
  local function refused(path, body)
    local function outcome(api)
      local code, text = api:curl("POST", path, body)
      return code, same_answers.tidy((text:gsub('\\"time\\":\\".-\\"', "")))
    end
    local code, wanted = outcome(both.real:api())
    local sim_code, got = outcome(both.sim.api)
    assert.equal("422 422", code .. " " .. sim_code)
    assert.same(wanted, got)
  end

  for kind, plural in pairs(REVIEWS) do
    local function review(metadata, selectors)
      local attributes = { namespace = "default", verb = "get", resource = "pods" }
      for name, value in pairs(selectors or {}) do attributes[name] = value end
      return { apiVersion = "authorization.k8s.io/v1", kind = kind, metadata = metadata,
        spec = { resourceAttributes = attributes, user = kind ~= "SelfSubjectAccessReview" and "u" or nil } }
    end

    it("refuses metadata of a " .. kind, function()
      for _, metadata in ipairs { { name = "x" }, { generateName = "x", labels = { a = "b" } },
        { finalizers = { "x" }, annotations = { x = "y" }, generation = 3, resourceVersion = "1", uid = "u",
          ownerReferences = { { apiVersion = "v1", kind = "A", name = "b", uid = "c" } } } } do
        refused(AUTHORIZATION .. plural, review(metadata))
      end
    end)

    it("takes metadata of a " .. kind .. " in which nothing is", function()
      local body = cjson.encode(review {}):gsub('"metadata":{}',
        '"metadata":{"finalizers":[],"ownerReferences":[],"labels":{},"name":""}')
      for _, api in ipairs { both.real:api(), both.sim.api } do
        assert.equal(201, (api:curl("POST", AUTHORIZATION .. plural, body)))
      end
    end)

    it("refuses wrong selectors of a " .. kind, function()
      for _, requirement in ipairs { { key = "a", operator = "In" }, { key = "", operator = "NotIn" },
        { key = "a", operator = "Exists", values = { "b" } } } do
        for _, name in ipairs { "labelSelector", "fieldSelector" } do
          refused(AUTHORIZATION .. plural, review(nil, { [name] = { requirements = { requirement } } }))
        end
      end
      refused(AUTHORIZATION .. plural, review(nil, { labelSelector = { requirements = { { key = "a b", operator = "Odd",
        values = { "b c", "d" } } } } }))
    end)
  end

  local request = cjson.decode(good_bodies[1].body)

  it("refuses wrong requests for certificates", function()
    for _, spec in ipairs { { signerName = "" }, { signerName = "x" }, { signerName = "a/b" },
      { signerName = "A.b/c..d" }, { signerName = "kubernetes.io/legacy-unknown" },
      { usages = { "client auth", "odd", "client auth" } } } do
      local body = cjson.decode(good_bodies[1].body)
      for name, value in pairs(spec) do body.spec[name] = value end
      assert.equal(422, ask("POST", REQUESTS .. "?dryRun=All", body).code)
    end
  end)

  it("refuses wrong conditions and certificates of such a request", function()
    ask("POST", REQUESTS, request)
    local place = REQUESTS .. "/" .. request.metadata.name
    local function patch(sub, status, dry)
      return ask("PATCH", place .. "/" .. sub .. dry, { status = status }, MERGE)
    end
    local function condition(type, status) return { type = type, status = status or "True" } end
    for _, sub in ipairs { "status", "approval" } do
      for _, conditions in ipairs { { condition "" }, { condition "Approved", condition "Denied" },
        { condition("Approved", "False") }, { condition("x", "Odd") }, { condition("x", "") },
        { condition "x", condition "x" }, { condition("Failed", "Unknown") }, { { type = "x" } } } do
        assert.equal(422, patch(sub, { conditions = conditions }, "?dryRun=All").code)
      end
    end
    local good = temp.read(both.real.ca)
    for _, certificate in ipairs { "x", block("FOO", "YQ==\n"), block("CERTIFICATE", "a: b\n\nYQ==\n") } do
      assert.equal(422, patch("status", { certificate = encoded(certificate) }, "?dryRun=All").code)
    end
    patch("status", { certificate = encoded(good) }, "")
    assert.equal(422, patch("status", { certificate = encoded(good .. good) }, "?dryRun=All").code)
    assert.equal(422, patch("status", { certificate = cjson.null }, "?dryRun=All").code)
  end)
end)
