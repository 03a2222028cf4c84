-- Forms of texts that are rare: functions that return what is wrong with one, sentences joined by "; ", or nil. Those
-- that every request needs are C (core/sim/validate/rule_form.c).
local addresses = require "sim.checks.addresses"

local forms = {}

local LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
local KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

local function join(...)
  local all = {}
  for i = 1, select("#", ...) do all[#all + 1] = select(i, ...) or nil end
  return #all > 0 and table.concat(all, "; ") or nil
end

local function too_long(text, max)
  return #text > max and string.format("must be no more than %d characters", max)
end

local function is_label(text)
  return text:find "^[a-z0-9][-a-z0-9]*$" ~= nil and text:sub(-1) ~= "-"
end

local function all_parts(text, is)
  for part in (text .. "."):gmatch "(.-)%." do
    if not is(part) then return false end
  end
  return true
end

function forms.label(text)
  local wrong = all_parts(text, is_label) and "must not contain dots"
    or "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "
      .. "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '"
      .. LABEL .. "')"
  return join(too_long(text, 63), not is_label(text) and wrong)
end

local SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
  .. "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '"
  .. LABEL .. "(\\." .. LABEL .. ")*')"

function forms.subdomain(text) return join(too_long(text, 253), not all_parts(text, is_label) and SUBDOMAIN) end

-- A name that is searched, which may have underscores, or a dot alone.
forms["dns search"] = function(text)
  if text == "." then return end
  local wide = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
  local name = text:gsub("%.$", "")
  local good = all_parts(name, function(part)
    return is_label((part:gsub("^_", ""):gsub("_", "-")))
  end)
  return join(too_long(name, 253), not good
    and "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
      .. "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '"
      .. wide .. "(\\." .. wide .. ")*')")
end

forms["DNS-1035 label"] = function(text)
  local good = is_label(text) and text:find "^%a"
  return join(too_long(text, 63), not good
    and "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
      .. "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
      .. "is '[a-z]([-a-z0-9]*[a-z0-9])?')")
end

local KEY_RULE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
  .. "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '"
  .. KEY .. "')"

local function is_name(text) return text:find "^%w[-%w_.]*$" ~= nil and text:find "%w$" ~= nil end

-- A label key: a name, which may have a domain and a slash before it.
function forms.key(text)
  local prefix, name = text:match "^([^/]*)/([^/]*)$"
  name = name or text
  if name:find("/", 1, true) then
    return "a valid label key " .. KEY_RULE .. " with an optional DNS subdomain prefix and '/' (e.g. "
      .. "'example.com/MyName')"
  end
  local above = prefix == "" and "must be non-empty" or prefix and forms.subdomain(prefix)
  return join(above and "prefix part " .. above, name == "" and "name part must be non-empty",
    #name > 63 and "name part must be no more than 63 bytes", not is_name(name) and "name part " .. KEY_RULE)
end

function forms.value(text)
  return join(#text > 63 and "must be no more than 63 bytes", text ~= "" and not is_name(text)
    and "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
      .. "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
      .. "validation is '(" .. KEY .. ")?')")
end

forms["path segment prefix"] = function(text)
  return join(text:find("/", 1, true) and "may not contain '/'", text:find("%", 1, true) and "may not contain '%'")
end

forms["path segment"] = function(text)
  if text == "." or text == ".." then return string.format("may not be '%s'", text) end
  return forms["path segment prefix"](text)
end

-- --- addresses

forms.is_address = addresses.is_valid

local function has_leading_zero(ip)
  local v4 = ip:match "%d+%.%d+%.%d+%.%d+$"
  return v4 and ("." .. v4):find "%.0%d" ~= nil
end

function forms.address(text)
  if not addresses.is_valid(text) then return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)" end
  if has_leading_zero(text) then return "must not have leading 0s" end
  return addresses.is_mapped(text) and "must not be an IPv4-mapped IPv6 address" or nil
end

-- It is looked at a second time for whether it may be an endpoint's.
function forms.endpoint(text)
  local wrong = forms.address(text)
  return wrong and not addresses.is_valid(text) and wrong .. "; must be a valid IP address" or wrong
end

function forms.cidr(text)
  local ip, bits = text:match "^(.*)/(%d+)$"
  local most = ip and (ip:find(":", 1, true) and 128 or 32)
  if not (ip and addresses.is_valid(ip) and tonumber(bits) <= most) then
    return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
  end
  if has_leading_zero(ip) or bits:find "^0%d" then return "must not have leading 0s in IP or prefix length" end
  if addresses.is_mapped(ip) then return "must not have an IPv4-mapped IPv6 address" end
  return addresses.has_bits_behind(ip, tonumber(bits)) and "must not have bits set beyond the prefix length" or nil
end

-- --- hosts and domains

function forms.host(text)
  if forms.is_address(text) then return "must be a DNS name, not an IP address" end
  return forms["host of TLS"](text)
end

forms["host of TLS"] = function(text)
  if not text:find("*", 1, true) then return forms.subdomain(text) end
  return join(too_long(text, 253), (text:sub(1, 2) ~= "*." or forms.subdomain(text:sub(3)))
    and "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
      .. "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. "
      .. "'*.example.com', regex used for validation is '\\*\\." .. LABEL .. "(\\." .. LABEL .. ")*')")
end

-- With at least one dot.
function forms.domain(text)
  return forms.subdomain(text) or not text:find(".", 1, true) and "should be a domain with at least one dot" or nil
end

-- With at least two dots.
forms["qualified name"] = function(text)
  local few = select(2, text:gsub("%.", "")) < 2 and "should be a domain with at least three segments separated by dots"
  return forms.subdomain(text) or few or nil
end

-- --- others

forms["limit type"] = function(text)
  local known = text == "Container" or text == "Pod" or text == "PersistentVolumeClaim"
  return forms.key(text)
    or not (known or text:find("/", 1, true)) and "must be a standard limit type or fully qualified" or nil
end

forms["json path"] = function(text)
  return text:sub(1, 1) ~= "." and "must be a simple json path starting with ." or nil
end

function forms.variable(text)
  local odd = text:find "[^\32-\126]" or text:find("=", 1, true)
  return text == "" and "environment variable name must be non-empty" or odd
    and "a valid environment variable name must consist only of printable ASCII characters other than '='" or nil
end

forms["C identifier"] = function(text)
  return not text:find "^[A-Za-z_][A-Za-z0-9_]*$" and "a valid C identifier must start with alphabetic character or "
    .. "'_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', "
    .. "regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')" or nil
end

function forms.header(text)
  return not text:find "^[-%w]+$" and "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
    .. "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')" or nil
end

-- --- paths of files

local function steps_back(text) return ("/" .. text .. "/"):find("/../", 1, true) and "must not contain '..'" end

forms["path without steps back"] = function(text) return steps_back(text) or nil end

forms["path below"] = function(text)
  return join(text:sub(1, 1) == "/" and "must be a relative path", steps_back(text))
end

-- Likewise, whose name does not look like one of ours.
forms["path of a file"] = function(text)
  return join(text:sub(1, 1) == "/" and "must be a relative path", steps_back(text),
    text:sub(1, 2) == ".." and text:sub(1, 3) ~= "../" and "must not start with '..'")
end

forms["config key"] = function(text)
  return join(too_long(text, 253), not text:find "^[-._%w]+$"
    and "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
      .. "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    (text == "." or text == "..") and string.format("must not be '%s'", text)
      or text:sub(1, 2) == ".." and "must not start with '..'")
end

forms["port name"] = function(text)
  return join(#text > 15 and "must be no more than 15 characters",
    not text:find "^[-a-z0-9]+$" and "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    not text:find "%l" and "must contain at least one letter (a-z)",
    text:find("--", 1, true) and "must not contain consecutive hyphens",
    (text:sub(1, 1) == "-" or text:sub(-1) == "-") and "must not begin or end with a hyphen")
end

function forms.trimmed(text)
  return (text:find "^%s" or text:find "%s$") and "must not have leading or trailing whitespace" or nil
end

return forms
