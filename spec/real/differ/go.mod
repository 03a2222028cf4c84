module kubelua.spec/real/differ

go 1.24
