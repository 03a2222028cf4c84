-- k8s.test: http.request of a script under test.
local support = require "spec.testing.support"

local load, pod = support.load, support.pod

local HOOK = [[
  local k8s = require "k8s"
  local http = require "http"
  k8s.informer("pods"):on_add(function(pod)
    local answer, err = http.request {
      url = "https://hooks.example.com/pods", method = "POST", body = k8s.json.encode { pod = pod:name() },
      headers = { ["X-From"] = "test" },
    }
    print(answer and answer.status, answer and answer.body, answer and answer.headers["x-id"], err and err.reason)
  end)
]]

describe("http.request in a test", function()
  it("gets the response of the spec, and is recorded", function()
    local env = load(HOOK)
    env:http {
      url = "https://hooks.example.com/*", method = "POST", status = 201, headers = { ["X-Id"] = "7" },
      body = { ok = true },
    }
    env:add(pod "a")
    assert.same({ '201\t{"ok":true}\t7\tnil' }, env.prints)
    assert.requested(env, { method = "POST", url = "https://hooks.example.com/pods", body = '{"pod":"a"}' })
    assert.requested(env, { headers = { ["X-From"] = "test" } })
    assert.requested(env, "https://hooks.example.com/pods")
    assert.not_requested(env, { method = "GET" })
  end)

  it("gets a late response, and for so many times; the newest response comes first", function()
    local env = load(HOOK)
    env:http { url = "https://hooks.example.com/pods", body = "well" }
    env:http { url = "https://hooks.example.com/pods", status = 503, delay = "5s", times = 1 }
    env:add(pod "a")
    env:advance "4s"
    assert.same({}, env.prints)
    env:advance "1s"
    env:add(pod "b")
    assert.same({ "503\t\tnil\tnil", "200\twell\tnil\tnil" }, env.prints)
  end)

  it("has the method and the body of each request", function()
    local env = load [[
      local k8s = require "k8s"
      local http = require "http"
      k8s.command("go", function()
        for _, method in ipairs { "PUT", "PATCH", "DELETE" } do
          local body = method ~= "DELETE" and '{"on":true}' or nil
          print(method, http.request { url = "https://dns.example.com/zones/a", method = method, body = body }.status)
        end
        local _, why = pcall(http.request, { url = "https://dns.example.com/", method = "put" })
        print(why:match "http%.request.*")
        return "done"
      end)
    ]]
    for method, status in pairs { PUT = 201, PATCH = 200, DELETE = 204 } do
      env:http { url = "https://dns.example.com/*", method = method, status = status }
    end
    assert(env:call "go")
    assert.same({
      "PUT\t201", "PATCH\t200", "DELETE\t204",
      'http.request: invalid method "put"; use, for example, GET or POST',
    }, env.prints)
    assert.requested(env, { method = "PATCH", url = "https://dns.example.com/zones/a", body = '{"on":true}' })
    assert.requested(env, { method = "DELETE", url = "https://dns.example.com/zones/a" })
  end)

  it("finds no server where no response was set", function()
    local env = load(HOOK)
    env:add(pod "a")
    assert.same({ "nil\tnil\tnil\tNotConnected" }, env.prints)
    assert.equal(1, #env.requests)
    assert.is_nil(env.requests[1].status)
  end)
end)
