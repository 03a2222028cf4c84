-- Forms of texts that are rare: functions that return what is wrong with one, sentences joined by "; ", or nil. Those
-- that every request needs are C (core/sim/validate/rule_form.c).
local bit = require "bit"
local jsonpath = require "sim.jsonpath"

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

-- --- addresses

local function is_v4(ip)
  local parts = {}
  for part in ip:gmatch "[^.]+" do parts[#parts + 1] = tonumber(part:match "^%d+$") or 256 end
  local gap = ip:find "^%." or ip:find "%.%." or ip:find "%.$"
  return #parts == 4 and not gap and math.max(unpack(parts)) < 256
end

-- How many groups of 16 bits there are between colons; nil of what is none. The end may be an IPv4 address.
local function count_groups(source, is_end)
  local n, over = 0, false
  for group in (source ~= "" and source .. ":" or ""):gmatch "(.-):" do
    local embedded = is_end and group:find(".", 1, true) and is_v4(group)
    if over or not embedded and not group:find "^%x%x?%x?%x?$" then return end
    n, over = n + (embedded and 2 or 1), embedded
  end
  return n
end

-- A gap stands for at least one group.
local function is_v6(ip)
  local head, tail = ip:match "^(.-)::(.*)$"
  if not head then return count_groups(ip, true) == 8 end
  local before, after = count_groups(head, false), count_groups(tail, true)
  return before ~= nil and after ~= nil and before + after < 8
end

function forms.is_address(ip)
  if ip:find(":", 1, true) then return is_v6(ip) end
  return is_v4(ip)
end

function forms.address(text)
  return not forms.is_address(text) and "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)" or nil
end

local function bits_set(ip, bits)
  local number = 0
  for part in ip:gmatch "%d+" do number = number * 256 + part end
  return bits < 32 and bit.band(bit.tobit(number), bit.rshift(-1, bits)) ~= 0
end

function forms.cidr(text)
  local ip, bits = text:match "^(.*)/(%d%d?%d?)$"
  local most = ip and (ip:find(":", 1, true) and 128 or 32)
  if ip and forms.is_address(ip) and tonumber(bits) <= most then return end
  return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
end

-- As newer fields have it: without leading zeros or bits that are not of the network.
forms["network"] = function(text)
  local ip, bits = text:match "^([%d.]+)/(%d+)$"
  local wrong = forms.cidr(text)
  if wrong or not ip then return wrong end
  if text:find "%f[%d]0%d" then return "must not have leading 0s in IP or prefix length" end
  return bits_set(ip, tonumber(bits)) and "must not have bits set beyond the prefix length" or nil
end

-- --- hosts and domains

function forms.host(text)
  if forms.is_address(text) then return "must be a DNS name, not an IP address" end
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
  return not (text:sub(1, 1) == "." and jsonpath.valid(text)) and "must be a simple json path starting with ." or nil
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

return forms
