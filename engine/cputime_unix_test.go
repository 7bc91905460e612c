//go:build unix

package engine_test

import (
	"syscall"
	"time"
)

// work is the processor time that this process has taken, which does not depend on what
// else the machine does.
func work() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
