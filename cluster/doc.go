// Package cluster runs tasks of package filch on several machines, by NATS JetStream.
package cluster
