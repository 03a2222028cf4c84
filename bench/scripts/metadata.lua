-- The metadata of pods only, as the server sends it: what is compared with metadata informers.
require("subject").start { metadata_only = true }
