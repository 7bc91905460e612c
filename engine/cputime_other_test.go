//go:build !unix

package engine_test

import "time"

var began = time.Now()

// work is the time that has passed: other systems tell processor time in other ways.
func work() time.Duration { return time.Since(began) }
