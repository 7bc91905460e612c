package system

import "testing"

func TestHighWater(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		want   int64
		fails  bool
	}{
		"as Linux writes it": {"Name:\tsallyport\nVmPeak:\t 1234 kB\nVmHWM:\t   28756 kB\nVmRSS:\t   100 kB\n", 28756 << 10, false},
		"absent":             {"Name:\tsallyport\n", 0, true},
		"another unit":       {"VmHWM:\t 3 MB\n", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := highWater(c.status)
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("%d, %v; want %d, an error: %t", got, err, c.want, c.fails)
			}
		})
	}
}
