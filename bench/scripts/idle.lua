-- An informer with nothing in its cache.
require("subject").start {}
