package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine/workshop"
)

func newPolicyNew(s streams) *cobra.Command {
	folder := "."
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write the first lines of a rule, with its test",
		Long: `Write the first lines of a rule of your own, and a test of it, into a folder. Both
pass all checks as they are. A file that exists is never written over.`,
		Example: `  sallyport policy new no_http --dir rules
  sallyport policy test rules`,
		Args: withHint(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := workshop.NewRule(args[0])
			if err != nil {
				return err
			}
			names := slices.Sorted(maps.Keys(files))
			for _, name := range names {
				if _, err := os.Lstat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("%s exists; choose another name, or remove it", showName(filepath.Join(folder, name)))
				}
			}
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			for _, name := range names {
				if err := writeNew(filepath.Join(folder, name), files[name]); err != nil {
					return err
				}
				if _, err := fmt.Fprintln(s.out, showName(filepath.Join(folder, name))); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringVar(&folder, "dir", folder, "folder to write to")
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}

// writeNew writes a file that does not exist.
func writeNew(name, text string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
