// Package processor tells on which processor of the machine code runs.
package processor

// Unknown is what Current returns where the system does not tell.
const Unknown = -1
