-- Webhooks and callers that mean harm: slow, large, many and malformed requests cost little, and hold up no other.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"
local webhooks = require "spec.support.webhooks"

local SCRIPT = scripts_folder.HEAD .. [[
  local settings = k8s.params { token = { type = "secret", required = true } }
  k8s.webhook { path = "/x", token = settings.token, fn = function(request) return #request.body .. " bytes" end }
  k8s.webhook { path = "/sleep", public = true, fn = function() k8s.sleep "1h" end }
  k8s.webhook { path = "/head", public = true, methods = { "GET" }, fn = function() return "seen" end }
  k8s.webhook { path = "/loop", public = true, fn = function() while true do local _ = {} end end }
]]

local AUTHORIZED = { "-H", "Authorization: Bearer t", "-d", "hello" }

-- Many TLS connections at once of one program: `first` is sent on each, then `every` each half second. It prints how
-- many were opened, and "N closed" for each that the server ends.
local CROWD = [[
import socket, ssl, sys, time, select
host, port, count, first, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
context = ssl._create_unverified_context()
text = lambda s: s.encode().decode("unicode_escape").encode()
def open_one():
    raw = socket.create_connection((host, port), 10)
    if first == "raw": return raw
    one = context.wrap_socket(raw)
    one.sendall(text(first))
    return one
all = []
for _ in range(count):
    try: all.append(open_one())
    except OSError: pass
print(len(all), "opened", flush=True)
closed = 0
while all:
    ready, _, _ = select.select(all, [], [], 0.5)
    for one in list(all):
        try:
            ended = one in ready and one.recv(4096) == b""
            if not ended and every: one.sendall(text(every))
        except OSError: ended = True
        if ended:
            all.remove(one)
            closed += 1
            print(closed, "closed", flush=True)
]]

describe("callers of webhooks that mean harm", function()
  local place, sim, engine, address
  before_each(function()
    place, sim = scripts_folder.new(), cluster.sim()
    -- Requests that wait for an hour are given up soon.
    engine, address = webhooks.start(place, sim, { ["it.lua"] = SCRIPT },
      { "--param", "token=t", "--shutdown-timeout", "1s" })
    temp.write(place.path .. "/crowd.py", CROWD)
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  local function crowd(count, first, every)
    local host, port = address:match "^(.*):(%d+)$"
    local command = { "python3", place.path .. "/crowd.py", host, port, tostring(count), first, every or "" }
    local process = proc.spawn(command)
    finally(function() process:kill "KILL" process:wait(20) end)
    process:wait_line "opened$"
    return process
  end

  local function assert_served()
    local began = proc.now()
    assert.same({ 200, "5 bytes" }, { webhooks.call(address, "/x", unpack(AUTHORIZED)) })
    assert.is_true(proc.now() - began < 5, "it took " .. proc.now() - began .. " s")
  end

  local function assert_ends_well()
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_no_match("\n[EF]%d%d%d%d ", engine:err())
  end

  it("leave room for others when they open connections and say nothing", function()
    local process = crowd(300, "raw")
    assert_served()
    process:wait_line("^%d+ closed$", 30)
    assert_ends_well()
  end)

  it("have ten seconds for a head and a body", function()
    local head = "POST /x HTTP/1.1\\r\\nHost: a\\r\\nAuthorization: Bearer t\\r\\n"
    local bodies = crowd(20, head .. "Content-Length: 100000\\r\\n\\r\\n", "a")
    local bytes = crowd(1, "\\0\\1\\2\\r\\n\\r\\n")
    assert_served()
    bodies:wait_line("^20 closed$", 30)
    bytes:wait_line("^1 closed$", 30)
    local heads = crowd(250, head, "X-A: b\\r\\n")
    assert_served()
    heads:wait_line("^%d+ closed$", 30)
    assert_served()
    assert_ends_well()
  end)

  it("wait in a bounded number, and others are told to come again", function()
    local process = crowd(100, "POST /sleep HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0\\r\\n\\r\\n")
    local code, text
    repeat code, text = webhooks.call(address, "/sleep", "-i", "-d", "", "-m", "1") until code ~= 0
    assert.are.equal(503, code)
    assert.has_match("100 requests in flight, which is the limit", text, 1, true)
    assert.has_match("Retry-After: 1", text, 1, true)
    process:kill "KILL"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("wait in a bounded number for all scripts together", function()
    local request = "POST /%s HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0\\r\\n\\r\\n"
    place:write("other.lua", scripts_folder.HEAD
      .. 'k8s.webhook { path = "/other", public = true, fn = function() k8s.sleep "1h" end }\nprint "other"')
    engine:wait_line "^other$"
    local first, second = crowd(90, request:format "sleep"), crowd(38, request:format "other")
    local code, text
    repeat code, text = webhooks.call(address, "/other", "-d", "", "-m", "1") until code ~= 0
    assert.are.equal(503, code)
    assert.has_match("128 requests wait for webhooks, which is the limit", text, 1, true)
    first:kill "KILL"
    second:kill "KILL"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  -- The status line of what the server responds to these bytes; nil: it ends the connection.
  local function raw(bytes)
    local path = place.path .. "/bytes"
    temp.write(path, bytes)
    local where = "openssl s_client -quiet -ign_eof -connect " .. address
    return temp.run(("timeout 20 %s <%s 2>/dev/null"):format(where, path)):match "^HTTP/1.1 (%d+)"
  end

  it("get an error for malformed and oversized requests", function()
    local host = "Host: a\r\n"
    assert.are.equal("200", raw("GET /head HTTP/1.1\r\n" .. host .. "Connection: close\r\n\r\n"))
    for _, bad in ipairs {
      "GET\r\n\r\n", "GET /head HTTP/9.9\r\n" .. host .. "\r\n", "GET /head HTTP/1.1\r\n\r\n",
      "GET /head HTTP/1.1\r\n" .. host .. "a b c\r\n\r\n",
      "GET /" .. ("a"):rep(40000) .. " HTTP/1.1\r\n" .. host .. "\r\n",
      "GET /head HTTP/1.1\r\n" .. host .. ("X-A: " .. ("b"):rep(1000) .. "\r\n"):rep(40) .. "\r\n",
      "POST /sleep HTTP/1.1\r\n" .. host .. "Content-Length: -1\r\n\r\n",
      "POST /sleep HTTP/1.1\r\n" .. host .. "Content-Length: 99999999999999999999999\r\n\r\n",
      "POST /sleep HTTP/1.1\r\n" .. host .. "Content-Length: 2000000\r\n\r\n",
      "POST /sleep HTTP/1.1\r\n" .. host .. "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    } do
      local code = raw(bad)
      assert.is_true(code == nil or code:find "^[45]%d%d$" ~= nil, bad:sub(1, 80) .. ": " .. tostring(code))
      assert.are_not.equal("500", code)
    end
    -- A proxy may take another end than the engine does, and what follows for a request of its own.
    for _, ambiguous in ipairs {
      "Content-Length: 2\r\nContent-Length: 7\r\n\r\nhi",
      "Content-Length : 2\r\n\r\nhi",
      "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    } do
      assert.are.equal("400", raw("POST /head HTTP/1.1\r\n" .. host .. ambiguous), ambiguous)
    end
    assert_served()
    assert_ends_well()
  end)

  it("are not TLS, or end in the middle of it", function()
    local host, port = address:match "^(.*):(%d+)$"
    for _, text in ipairs { "GET / HTTP/1.0\r\n\r\n", "\22\3\1\2\0\1\0\1\252\3\3", ("\255"):rep(5000) } do
      temp.write(place.path .. "/bytes", text)
      temp.run(("timeout 5 bash -c 'cat %s/bytes >/dev/tcp/%s/%s'"):format(place.path, host, port))
    end
    assert_served()
    assert_ends_well()
  end)

  it("are refused by a webhook that ran in circles three times", function()
    for _ = 1, 3 do assert.are.equal(500, (webhooks.call(address, "/loop", "-d", ""))) end
    local code, text = webhooks.call(address, "/loop", "-d", "")
    assert.are.equal(503, code)
    assert.has_match("in quarantine", text, 1, true)
    assert_served()
  end)
end)
