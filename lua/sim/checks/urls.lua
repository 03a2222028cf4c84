-- URLs, in the parts of Go's net/url, and those that webhooks may have.
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
