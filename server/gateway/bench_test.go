package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-mcp/sallyport/server"
)

// BenchmarkCalls is what one call takes without the gateway and with it, as p50 and p99,
// with 1 and with 16 callers at a time.
func BenchmarkCalls(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("http/%d/direct", callers), func(b *testing.B) {
			back := httptest.NewServer(&upstream{})
			defer back.Close()
			overHTTP(b, back.URL+"/mcp", callers)
		})
		b.Run(fmt.Sprintf("http/%d/gateway", callers), func(b *testing.B) {
			overHTTP(b, proxied(b, &upstream{}, "/mcp").url, callers)
		})
		b.Run(fmt.Sprintf("stdio/%d/direct", callers), func(b *testing.B) {
			c, err := fakeCommand("usual").start()
			if err != nil {
				b.Fatal(err)
			}
			defer c.stop(nil)
			overLines(b, c.stdin, c.stdout, callers)
		})
		b.Run(fmt.Sprintf("stdio/%d/gateway", callers), func(b *testing.B) {
			fromClient, in := io.Pipe()
			out, toClient := io.Pipe()
			j := newJudge(b)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = Stdio(context.Background(), fakeCommand("usual"), fromClient, toClient, func() (*server.Judge, error) { return j, nil })
			}()
			overLines(b, in, out, callers)
			_ = in.Close()
			<-ended
		})
	}
}

// report reports percentiles of what calls took.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

// inTurns has callers make b.N calls in all.
func inTurns(b *testing.B, callers int, one func(caller, n int)) {
	took := make([]time.Duration, b.N)
	next := make(chan int, b.N)
	for n := range b.N {
		next <- n
	}
	close(next)
	one(0, b.N) // has the list learnt
	b.ResetTimer()
	var wait sync.WaitGroup
	for caller := range callers {
		wait.Go(func() {
			for n := range next {
				start := time.Now()
				one(caller, n)
				took[n] = time.Since(start)
			}
		})
	}
	wait.Wait()
	b.StopTimer()
	report(b, took)
}

func overHTTP(b *testing.B, url string, callers int) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	inTurns(b, callers, func(_, n int) {
		response, err := client.Post(url, "application/json", strings.NewReader(call(n, "echo", `{"text":"a"}`)))
		if err != nil {
			b.Error(err)
			return
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if !strings.Contains(string(text), `"result"`) {
			b.Errorf("%s", text)
		}
	})
}

func overLines(b *testing.B, in io.Writer, out io.Reader, callers int) {
	answers := make([]chan string, callers)
	for i := range answers {
		answers[i] = make(chan string, 1)
	}
	go func() {
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			var caller, n int
			if _, err := fmt.Sscanf(scanner.Text(), `{"jsonrpc":"2.0","id":%d`, &n); err == nil {
				caller = n % callers
				answers[caller] <- scanner.Text()
			}
		}
	}()
	var writing sync.Mutex
	inTurns(b, callers, func(caller, n int) {
		id := n*callers + caller
		writing.Lock()
		_, err := io.WriteString(in, call(id, "echo", `{"text":"a"}`)+"\n")
		writing.Unlock()
		if err != nil {
			b.Error(err)
			return
		}
		if text := <-answers[caller]; !strings.Contains(text, fmt.Sprintf(`"id":%d,"result"`, id)) {
			b.Errorf("%d: %s", id, text)
		}
	})
}

// BenchmarkMemory is the resident memory of the gateway: at rest, and after calls of 1,000
// sessions. It measures the command itself.
func BenchmarkMemory(b *testing.B) {
	back := httptest.NewServer(&upstream{})
	defer back.Close()
	program := b.TempDir() + "/sallyport"
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/sallyport").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for range b.N {
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, program, "gateway", "--log-format", "console", "--listen", "127.0.0.1:0", "--upstream", back.URL+"/mcp")
		log, err := cmd.StderrPipe()
		if err != nil {
			b.Fatal(err)
		}
		started := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(log)
		address := ""
		for address == "" && lines.Scan() {
			if _, rest, found := strings.Cut(lines.Text(), `"address": "`); found {
				address, _, _ = strings.Cut(rest, `"`)
			}
		}
		b.ReportMetric(float64(time.Since(started).Milliseconds()), "start-ms")
		b.ReportMetric(resident(b, cmd.Process.Pid), "rest-MB")
		f := &front{t: b, url: "http://" + address + "/mcp", header: http.Header{}}
		for n := range 1000 {
			f.with("Mcp-Session-Id", fmt.Sprint("session-", n)).want(call(n, "echo", `{"text":"a"}`), 200, `"result"`)
		}
		b.ReportMetric(resident(b, cmd.Process.Pid), "sessions-MB")
		cancel()
		_ = cmd.Wait()
	}
}

// resident returns VmRSS in MB, 0 where the system does not tell.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var kb float64
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			break
		}
	}
	return kb / 1024
}
