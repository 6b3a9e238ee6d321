// Package strand has what parallel parts of a program share without a lock: reducers and holders.
package strand
