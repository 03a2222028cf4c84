-- k8s.webhook on k8s.test: who may call, what the function gets, what the caller gets, and what a mistake says.
local load = require("spec.testing.support").load

local HEAD = 'local k8s = require "k8s"\n'

local ALERTS = HEAD .. [[
  local settings = k8s.params { token = { type = "secret", required = true } }
  k8s.webhook {
    path = "/hooks/alerts",
    token = settings.token,
    fn = function(request)
      print(request.method, request.path, request.query.a, request.headers["x-from"])
      k8s.sleep "2s"
      return { status = 202, headers = { ["X-Id"] = 7 }, body = { got = k8s.json.decode(request.body).n } }
    end,
  }
]]

-- The response of a webhook with this function (its body in Lua).
local function respond(body, options)
  local env = load(HEAD .. ("k8s.webhook { path = '/x', public = true, fn = function(request) %s end }"):format(body),
    options)
  return env:call_webhook "/x", env
end

describe("k8s.webhook", function()
  it("gets the request, may wait, and responds", function()
    local env = load(ALERTS, { params = { token = "t0p" } })
    local before = env:now()
    local response = env:call_webhook("/hooks/alerts", {
      token = "t0p", query = { a = "1" }, headers = { ["X-From"] = "spec" }, body = { n = 5 },
    })
    assert.same({ status = 202, headers = { ["X-Id"] = "7" }, body = { got = 5 } }, response)
    assert.printed(env, "POST\t/hooks/alerts\t1\tspec")
    assert.are.equal(before + 2, env:now())
  end)

  it("is not called without the token, by another path or another method", function()
    local env = load(ALERTS, { params = { token = "t0p" } })
    for _, given in ipairs { {}, { token = "t0" }, { token = "t0p0" }, { headers = { Authorization = "t0p" } } } do
      assert.are.equal(401, env:call_webhook("/hooks/alerts", given).status)
    end
    assert.are.equal(404, env:call_webhook("/hooks", { token = "t0p" }).status)
    assert.are.equal(405, env:call_webhook("/hooks/alerts", { token = "t0p", method = "GET" }).status)
    assert.same({}, env.prints)
  end)

  it("asks a function for the token of each request", function()
    local env = load(HEAD .. [[
      local token = "one"
      k8s.command("turn", function(text) token = text ~= "" and text or nil end)
      k8s.webhook { path = "/x", token = function() return token end, fn = function() return "yes" end }
    ]])
    assert.are.equal("yes", env:call_webhook("/x", { token = "one" }).body)
    env:call("turn", "two")
    assert.are.equal(401, env:call_webhook("/x", { token = "one" }).status)
    assert.are.equal("yes", env:call_webhook("/x", { token = "two" }).body)
    env:call("turn", "")
    assert.are.equal(401, env:call_webhook("/x", { token = "" }).status)
  end)

  it("checks signatures as GitHub makes them", function()
    local env = load(HEAD .. [[
      k8s.webhook {
        path = "/github", signature = { header = "X-Hub-Signature-256", secret = "It's a Secret to Everybody" },
        fn = function(request) return request.body end,
      }
      k8s.webhook {
        path = "/other", signature = { header = "X-Sign", secret = function() return "s" end, algorithm = "sha1" },
        fn = function(request) return request.body end,
      }
    ]])
    -- The example of GitHub's documentation.
    local sign = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    local function call(value, body)
      local request = { headers = { ["x-hub-signature-256"] = value }, body = body or "Hello, World!" }
      return env:call_webhook("/github", request).status
    end
    assert.are.equal(200, call("sha256=" .. sign))
    assert.are.equal(200, call(sign:upper()))
    assert.are.equal(401, call("sha256=" .. sign, "Hello, World?"))
    for _, wrong in ipairs { "", "sha256=", "sha1=" .. sign, "sha256=" .. sign:sub(2), sign .. "00", ("z"):rep(64) } do
      assert.are.equal(401, call(wrong), wrong)
    end
    assert.are.equal("a", env:call_webhook("/other", { secret = "s", body = "a" }).body)
    assert.are.equal(401, env:call_webhook("/other", { secret = "t", body = "a" }).status)
  end)

  it("makes a response of what the function returns", function()
    assert.same({ status = 204, headers = {}, body = "" }, (respond ""))
    assert.same({ status = 200, headers = {}, body = "hi" }, (respond "return 'hi'"))
    assert.same({ status = 200, headers = {}, body = "" }, (respond "return {}"))
    assert.same({ status = 404, headers = {}, body = "no" }, (respond "return { status = 404, body = 'no' }"))
    assert.same({ status = 200, headers = {}, body = { 1, 2 } }, (respond "return { body = { 1, 2 } }"))
  end)

  it("tells the log of failures, and the caller nothing of them", function()
    for body, text in pairs {
      ["error 'secret'"] = "secret",
      ["return nil, 'refused'"] = "refused",
      ["return 5"] = "k8s.webhook: fn must return a table, a string or nil, not a number",
      ["return { stauts = 5 }"] = 'unknown option "stauts", did you mean "status"?',
      ["return { status = 99 }"] = "k8s.webhook: status must be an integer from 200 to 599",
      ["return { headers = { ['a b'] = 1 } }"] = 'k8s.webhook: the header "a b" cannot be set',
      ["return { headers = { Connection = 'close' } }"] = 'k8s.webhook: the header "Connection" cannot be set',
      ["return { headers = { a = 'b\\r\\nc: d' } }"] = "the value of header a contains a control character",
      ["while true do end"] = "over the limit handler-cpu",
    } do
      local response, env = respond(body, { failures = "collect" })
      assert.same({ status = 500, headers = {}, body = "the webhook failed\n" }, response, body)
      assert.are.equal("webhook", env.failures[1].call)
      assert.has_match(text, env.failures[1].error, 1, true)
    end
  end)

  it("is given up after its timeout", function()
    local env = load(HEAD .. [[
      k8s.webhook {
        path = "/x", public = true, timeout = "3s",
        fn = function() pcall(k8s.sleep, "1h") print "woken" end,
      }
    ]])
    local before = env:now()
    assert.are.equal(504, env:call_webhook("/x").status)
    assert.are.equal(before + 3, env:now())
    env:advance "2h"
    assert.same({}, env.prints)
  end)

  it("refuses bodies that are larger than max_body", function()
    local env = load(HEAD .. [[
      k8s.webhook { path = "/x", public = true, max_body = "1Ki", fn = function(r) return tostring(#r.body) end }
    ]])
    assert.are.equal("1024", env:call_webhook("/x", { body = ("a"):rep(1024) }).body)
    assert.are.equal(413, env:call_webhook("/x", { body = ("a"):rep(1025) }).status)
  end)

  it("is called on the leader alone", function()
    local env = load(HEAD .. [[
      k8s.leader {}
      k8s.webhook { path = "/x", public = true, leader = true, fn = function() k8s.sleep "1s" return "led" end }
    ]])
    assert.are.equal("led", env:call_webhook("/x").body)
    env:lead(false)
    local response = env:call_webhook "/x"
    assert.are.equal(503, response.status)
    assert.are.equal("1", response.headers["Retry-After"])
    assert.has_match("not the leader", response.body, 1, true)
    env:lead(true)
    assert.are.equal("led", env:call_webhook("/x").body)
  end)

  it("is the new generation's after a reload", function()
    local text = HEAD .. "k8s.webhook { path = '/x', public = true, fn = function() return 'one' end }"
    local env = load(text)
    assert.are.equal("one", env:call_webhook("/x").body)
    assert.is_truthy(env:reload((text:gsub("one", "two"))))
    assert.are.equal("two", env:call_webhook("/x").body)
    assert.is_truthy(env:reload(HEAD))
    assert.are.equal(404, env:call_webhook("/x").status)
  end)

  it("says what is wrong with a call", function()
    for options, text in pairs {
      ["path = '/x'"] = "k8s.webhook: path and fn are required",
      ["path = '/x', fn = print"] =
        "k8s.webhook: token or signature is required; public = true takes calls from anybody",
      ["path = '/x', fn = print, token = ''"] = "k8s.webhook: token must not be empty",
      ["path = '/x', fn = print, token = 'a', public = true"] =
        "k8s.webhook: public and a token or signature are mutually exclusive",
      ["path = 'x', fn = print, public = true"] = 'k8s.webhook: path must begin with /',
      ["path = '/../x', fn = print, public = true"] = 'k8s.webhook: path must begin with /',
      ["path = '/x', fn = print, public = true, methods = { 'post' }"] =
        'k8s.webhook: methods has "post", use GET, POST, PUT, PATCH or DELETE',
      ["path = '/x', fn = print, public = true, methods = {}"] = "k8s.webhook: methods is empty",
      ["path = '/x', fn = print, public = true, max_body = '1Gi'"] = "k8s.webhook: max_body must be between 0 and 16Mi",
      ["path = '/x', fn = print, public = true, max_body = 'x'"] =
        'k8s.webhook: max_body must be a number of bytes or a quantity, such as "64Ki", not "x"',
      ["path = '/x', fn = print, public = true, max_body = ''"] =
        'k8s.webhook: max_body must be a number of bytes or a quantity, such as "64Ki", not ""',
      ["path = '/x', fn = print, public = true, timeout = 0"] = "k8s.webhook: timeout must be greater than 0",
      ["path = '/x', fn = print, pubic = true"] = 'k8s.webhook: unknown option "pubic", did you mean "public"?',
      ["path = '/x', fn = print, signature = { header = 'X' }"] =
        "k8s.webhook: signature: header and secret are required",
      ["path = '/x', fn = print, signature = { header = 'X', secret = 's', algorithm = 'md5' }"] =
        "k8s.webhook: signature: algorithm must be sha1, sha256 or sha512",
    } do
      local ok, err = pcall(load, HEAD .. "k8s.webhook { " .. options .. " }")
      assert.is_false(ok, options)
      assert.has_match(text, tostring(err), 1, true)
      assert.has_match("script.lua:2", tostring(err), 1, true)
    end
    for options, text in pairs {
      ["token = settings.hook"] = "k8s.webhook: token or signature is required: the setting hook has no value; public",
      ["signature = { header = 'X', secret = settings.hook }"] =
        "k8s.webhook: signature: header and secret are required: the setting hook has no value",
    } do
      local _, err = pcall(load, HEAD .. "local settings = k8s.params { hook = { type = 'secret' } } "
        .. "k8s.webhook { path = '/x', fn = print, " .. options .. " }")
      assert.has_match(text, tostring(err), 1, true)
    end
    local twice = "k8s.webhook { path = '/x', public = true, fn = print }\n"
    local _, err = pcall(load, HEAD .. twice .. twice)
    assert.has_match('script.lua:3: k8s.webhook: the path "/x" is already registered', tostring(err), 1, true)
  end)
end)
