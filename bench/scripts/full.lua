-- Whole pods, every field of them: what is compared with informers of whole objects.
require("subject").start {}
