---@meta k8s.regex
-- luacheck: ignore 241
-- Regular expressions: docs/lua-api.md, "Regular expressions".

---@class k8s
local k8s = {}

---A compiled regular expression.
---@class k8s.Regex
local Regex = {}

---Returns where the first match begins and ends, and its captures; nil without a match.
---@param text string
---@param init? integer where the search begins, 1 by default
---@return integer? first
---@return integer last
---@return string|false ... captures; false for one that took no part
function Regex:find(text, init) end

---Returns the captures of the first match, or all of it if the pattern has none; nil without a match.
---@param text string
---@param init? integer where the search begins, 1 by default
---@return string|false|nil ...
function Regex:match(text, init) end

---Returns an iterator over the matches: the captures of each, or all of it.
---@param text string
---@return fun(): string|false|nil
function Regex:gmatch(text) end

---Returns the text with its matches replaced, and their number.
---@param text string
---@param repl string|table|fun(...: string|false): string|number|false|nil as for string.gsub: %0 to %9 in a string
---@param n? integer replaces so many at most
---@return string
---@return integer
function Regex:gsub(text, repl, n) end

---Compiles a regular expression of PCRE2. Raises an error for one that is wrong.
---@param pattern string
---@return k8s.Regex
function k8s.regex(pattern) end

return k8s
