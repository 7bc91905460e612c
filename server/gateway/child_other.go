//go:build !unix

package gateway

import (
	"os"
	"os/exec"
)

// There are no signals to a group of processes here: both ways end the command itself.
var (
	terminate = os.Kill
	kill      = os.Kill
)

func ownGroup(*exec.Cmd) {}

func (c *child) signal(s os.Signal) { _ = c.cmd.Process.Signal(s) }

func signalOf(*os.ProcessState) (number int, bySignal bool) { return 0, false }
