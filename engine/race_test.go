//go:build race

package engine_test

// raceDetector says that everything takes some ten times as long.
const raceDetector = true
