module github.com/filch-go/filch/examples/migrate

go 1.26.0

require (
	github.com/alitto/pond/v2 v2.7.1
	github.com/filch-go/filch v0.1.0
	github.com/panjf2000/ants/v2 v2.12.1
	golang.org/x/sync v0.24.0
)
