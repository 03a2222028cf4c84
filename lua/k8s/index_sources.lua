-- The indexes of each informer by name: the path or the function of each, for those that follow one from an object.
return setmetatable({}, { __mode = "k" })
