-- Resync periods of informers that said one, which their handlers have.
return setmetatable({}, { __mode = "k" })
