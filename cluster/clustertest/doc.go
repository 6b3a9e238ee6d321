// Package clustertest has what tests of programs on package cluster need: NATS servers and nodes that are processes of
// their own, and so can be killed and stopped, and connections that can be cut and slowed down.
//
// Processes are the test binary itself, started again. So a package that uses them says in TestMain what they can be:
//
//	func TestMain(m *testing.M) {
//		clustertest.Main(m, clustertest.Programs{"worker": worker})
//	}
//
// [Server] starts one server, and [Three] starts three that form a cluster. All of it uses the loopback interface
// only. Processes end with the test, and with the process that has started them.
package clustertest
