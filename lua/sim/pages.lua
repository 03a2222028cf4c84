-- Continue tokens in the form of a real server: base64, in the alphabet of URLs, of a small map.
local json = require "sim.json"

local pages = {}

local FORM = "meta.k8s.io/v1"

-- Version -1 is the present one; `after` is the key of the last object that was sent.
function pages.token(version, after)
  local text = json.base64(json.write(json.object("v", FORM, "rv", version, "start", after)))
  return (text:gsub("[+/=]", { ["+"] = "-", ["/"] = "_", ["="] = "" }))
end

-- Returns a list of the version and the key; a text if it is none, in a server's words.
function pages.read(token)
  local n, good = #token, #token:match "^[%w_-]*"
  if good == n and n % 4 == 1 then good = good - 1 end -- a digit that is left over
  local digits = token:gsub("[-_]", { ["-"] = "+", ["_"] = "/" }) .. string.rep("=", -n % 4)
  local text = good == n and json.unbase64(digits)
  if not text then return string.format("illegal base64 data at input byte %d", good < n and good or n - 1) end
  local value, why = json.read(text, "storage.continueToken")
  if why then return why end
  local version, after = json.at(value, "rv"), json.text(value, "start")
  if json.text(value, "v") ~= FORM then
    return "server does not recognize this encoded version " .. json.text(value, "v")
  elseif json.type(version) ~= "integer" or version == 0 then
    return string.format("incorrect encoded start resourceVersion (version %s)", FORM)
  elseif after == "" then
    return string.format("encoded start key empty (version %s)", FORM)
  end
  return { version, after }
end

return pages
