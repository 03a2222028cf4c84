-- A page in headless Chromium, driven by its DevTools protocol: sizes, colour schemes, keys, and what JavaScript finds.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local readers = require "spec.support.readers"

local browser = {}
browser.__index = browser

-- The result of a call; `params` may be nil.
function browser:ask(method, params)
  self.id = self.id + 1
  self.process:write(cjson.encode {
    id = self.id, method = method, sessionId = self.session, params = params or {},
  } .. "\n")
  local reply = cjson.decode(self.process:wait_line(('^{"id":%d,.*$'):format(self.id)))
  if reply.error then error(method .. ": " .. tostring(reply.error.message), 2) end
  return reply.result
end

-- Opens an address; nil and why where there is no browser. cluster.stop_all ends it.
function browser.open(address)
  local version, why = readers.run("browser", "--version")
  if not version then
    assert(not os.getenv "KUBELUA_REQUIRE_REAL", why) -- CI has one
    return nil, why
  end
  local self = setmetatable({ id = 0, process = cluster.start { "spec/support/readers", "driven" } }, browser)
  local target = self:ask("Target.createTarget", { url = "about:blank" }).targetId
  self.session = self:ask("Target.attachToTarget", { targetId = target, flatten = true }).sessionId
  self:ask("Page.navigate", { url = address })
  return self
end

-- The value of an expression in the page.
function browser:eval(expression)
  local reply = self:ask("Runtime.evaluate", { expression = expression, returnByValue = true, awaitPromise = true })
  if reply.exceptionDetails then error(expression .. ": " .. cjson.encode(reply.exceptionDetails), 2) end
  return reply.result.value
end

-- Waits until the expression is true in the page.
function browser:await(expression)
  return await(function() return self:eval(expression) == true end, function()
    return expression .. " in " .. self:eval "document.body.innerText"
  end)
end

-- Pixels of the window; the page has seen them.
function browser:size(width, height)
  self:ask("Emulation.setDeviceMetricsOverride",
    { width = width, height = height or 900, deviceScaleFactor = 1, mobile = false })
  self:eval "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
end

-- "dark" or "light"
function browser:scheme(name)
  self:ask("Emulation.setEmulatedMedia", { features = { { name = "prefers-color-scheme", value = name } } })
end

-- Writes a picture of all of the page.
function browser:picture(path)
  local data = self:ask("Page.captureScreenshot", { captureBeyondViewport = true }).data
  local file = assert(io.popen("base64 -d > '" .. path .. "'", "w"))
  file:write(data)
  file:close()
end

local CODES = { Tab = 9, Enter = 13 }

-- Presses "Tab" or "Enter".
function browser:press(key)
  local event = { key = key, code = key, windowsVirtualKeyCode = CODES[key], text = key == "Enter" and "\r" or nil }
  event.type = event.text and "keyDown" or "rawKeyDown"
  self:ask("Input.dispatchKeyEvent", event)
  self:ask("Input.dispatchKeyEvent", { type = "keyUp", key = key, code = key, windowsVirtualKeyCode = CODES[key] })
end

return browser
