package system

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
)

// resident returns the greatest resident size of the program once it has judged one
// call, in bytes; 0 where the system has no /proc. It asks while the program waits for
// its next call: what wait4(2) reports afterwards counts the memory of this process
// too, from the time between fork and exec.
func resident(ctx context.Context, program string, good peers.Case) (size int64, err error) {
	command := exec.CommandContext(ctx, program, "check", "-")
	in, err := command.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := command.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close(), command.Wait()) }()
	call := map[string]any{"name": good.Tool, "arguments": json.RawMessage(good.Payload)}
	if err := json.NewEncoder(in).Encode(call); err != nil {
		return 0, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return 0, fmt.Errorf("sallyport check: %w", err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return highWater(string(status))
}

// highWater reads VmHWM of proc_pid_status(5), which is in KiB.
func highWater(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("/proc/<pid>/status has no VmHWM")
}
