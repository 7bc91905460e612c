package main

import (
	"io"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logFlags say what goes into the log of a command that runs on. It goes to stderr:
// standard output may belong to a protocol.
type logFlags struct {
	format choice
	level  choice
}

func (f *logFlags) register(cmd *cobra.Command) {
	f.format = choice{value: "json", allowed: []string{"json", "console"}}
	f.format.register(cmd, "log-format", "form of the log, on standard error")
	f.level = choice{value: "info", allowed: []string{"debug", "info", "warn", "error"}}
	f.level.register(cmd, "log-level", "what is logged, from this level on")
}

func (f *logFlags) logger(w io.Writer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(f.level.value)
	if err != nil {
		return nil, err
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewJSONEncoder(config)
	if f.format.value == "console" {
		encoder = zapcore.NewConsoleEncoder(config)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)), nil
}
