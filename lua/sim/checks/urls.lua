-- URLs, in the parts of Go's net/url, and those that webhooks may have.
local addresses = require "sim.checks.addresses"
local found = require "sim.checks.found"

local urls = {}

local FORM = "; desired format: https://host[/path]"

local function unescapable(text)
  local at = text:find "%%"
  while at do
    if not text:find("^%%%x%x", at) then return text:sub(at, at + 2) end
    at = text:find("%%", at + 3)
  end
end

local function wrong_port(host)
  local port = host:match "^%[.*%]:(.*)$" or host:match "^[^%[]*:([^:]*)$"
  return port and not port:find "^%d*$" and string.format('invalid port "%s" after host', ":" .. port)
end

-- Returns scheme, user, host, query and fragment; nil and what is wrong.
function urls.parse(url)
  local function fail(why) return nil, string.format('parse "%s": %s', url, why) end
  local rest, fragment = url:match "^([^#]*)#?(.*)$"
  if url:find "[%z\1-\31\127]" then return fail "net/url: invalid control character in URL" end
  if rest:find "^:" then return fail "missing protocol scheme" end
  local scheme, behind = rest:match "^(%a[%w+.-]*):(.*)$"
  if not scheme and rest:match "^[^/?]*:" then return fail "first path segment in URL cannot contain colon" end
  rest = behind or rest
  local query
  rest, query = rest:match "^([^?]*)%??(.*)$"
  local authority, path = rest:match "^//([^/]*)(.*)$"
  local user, host = (authority or ""):match "^(.*)@(.*)$"
  host = host or authority or ""
  local odd = unescapable(host) or unescapable(path or rest) or unescapable(fragment)
  if odd then return fail(string.format('invalid URL escape "%s"', odd)) end
  if host:find " " then return fail 'invalid character " " in host name' end
  if wrong_port(host) then return fail(wrong_port(host)) end
  return { scheme = (scheme or ""):lower(), user = user, host = host, query = query, fragment = fragment,
    path = path or rest }
end

-- --- those of requests

-- Colons of more than one port are left alone where no browser asks.
local function has_good_port(scheme, host)
  local colons = select(2, host:gsub(":", ""))
  local port = host:match((colons > 1 and scheme:find "^https?$") and "^[^:]*(:.*)$" or "^.*(:[^:]*)$")
  return not port or port:find "^:%d*$" ~= nil
end

local function is_literal(host)
  local inner, port = host:match "^%[(.*)%]([^%]]*)$"
  if not inner or not (port == "" or port:find "^:%d*$") then return false end
  local ip, zone = inner:match "^(.-)%%25(.*)$"
  return addresses.is_valid(ip or inner) and inner:find(":", 1, true) and zone ~= ""
end

local function is_host(scheme, host)
  if host:find("[", 2, true) then return false end
  if host:sub(1, 1) == "[" then return is_literal(host) end
  if host:find "[^%w_.~!$&'()*+,;=:%]<>\"%%\128-\255-]" or unescapable(host) then return false end
  for high, low in host:gmatch "%%(%x)(%x)" do
    if high:find "[0-7]" and high .. low ~= "25" then return false end
  end
  return has_good_port(scheme, host)
end

local function is_authority(scheme, authority)
  local user, host = authority:match "^(.*)@(.*)$"
  if user and (user:find "[^%w._:~!$&'()*+,;=%%@-]" or unescapable(user)) then return false end
  return is_host(scheme, host or authority)
end

-- Whether Go's ParseRequestURI takes it: an absolute URI or path.
function urls.is_request(url)
  if url == "*" then return true end
  if url:find "[%z\1-\31\127]" then return false end
  local scheme, behind = url:match "^(%a[%w+.-]*):(.*)$"
  local rest = (behind or url):match "^[^?]*"
  if rest:sub(1, 1) ~= "/" then return scheme ~= nil end
  local authority, path = rest:match "^//([^/]*)(.*)$"
  if scheme and authority then
    if not is_authority(scheme:lower(), authority) then return false end
    rest = path
  end
  return not unescapable(rest)
end

-- --- those of webhooks

function urls.webhook(path, url)
  local problems, parts, why = found.new(), urls.parse(url)
  if not parts then
    problems:required(path, "url must be a valid URL: " .. why .. FORM)
    return problems
  end
  if parts.scheme ~= "https" then
    problems:invalid(path, parts.scheme, "'https' is the only allowed URL scheme" .. FORM)
  end
  if parts.host == "" then problems:invalid(path, parts.host, "host must be specified" .. FORM) end
  if parts.user then problems:invalid(path, parts.user, "user information is not permitted in the URL") end
  if parts.fragment ~= "" then problems:invalid(path, parts.fragment, "fragments are not permitted in the URL") end
  if parts.query ~= "" then problems:invalid(path, parts.query, "query parameters are not permitted in the URL") end
  return problems
end

return urls
