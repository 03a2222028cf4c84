-- Module "http": requests to the servers that the operator allows by --allow-http.
local raw = ...

local blocking = require("k8s.task").blocking
local freeze = require("k8s.frozen").freeze
local header_pairs = require "k8s.header_pairs"
local options = require "k8s.options"

local OPTIONS = { url = "string", method = "string", headers = "table", body = "bytes", timeout = "duration" }

local turn_of, send = blocking(raw.http.turn), blocking(raw.http.send)

-- Sends the request when the script may send again.
local function send_in_turn(...)
  local turn, err = turn_of(...)
  if not turn then
    return nil, err
  end
  return send(...)
end

-- http.request { url = "https://example.com/hook", method = "POST", body = "...", headers = { ... }, timeout = "5s" }:
-- { status, headers, body }, or nil, err. Waits.
local function request(given)
  local own = options.check("http.request", given, OPTIONS)
  if not own.url then
    raw.raise "http.request: url is missing"
  end
  local method = own.method or (own.body and "POST" or "GET")
  local headers = header_pairs("http.request: headers", own.headers)
  return send_in_turn(method, own.url, own.timeout, own.body, unpack(headers))
end

return freeze("http", { request = request })
