module github.com/filch-go/filch

go 1.26
