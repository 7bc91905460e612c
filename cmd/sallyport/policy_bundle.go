package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine/workshop"
	"github.com/sallyport-mcp/sallyport/server/config"
)

func newPolicyBundle(s streams) *cobra.Command {
	var settings engineFlags
	var revision, out, keyFile, keyID string
	algorithm := choice{allowed: config.BundleAlgorithms()}
	cmd := &cobra.Command{
		Use:   "bundle DIR",
		Short: "Make an OPA bundle of a folder of rules",
		Long: `Make an OPA bundle, a gzipped tar archive, of the rules in a folder and its
data.json, without the tests. Rules that "sallyport policy check" has something
against are not bundled. "opa inspect" shows what is in it; what "opa build" and "opa
sign" make of such a folder can be loaded as well.

A gateway that polls a service takes signed bundles only, and only with a revision
past that of the one in force: a time (RFC 3339), or a whole number.`,
		Example: `  sallyport policy bundle rules --out rules.tar.gz
  sallyport policy bundle rules --out rules.tar.gz --signing-key private.pem
  sallyport policy bundle rules --out rules.tar.gz --revision 42 --signing-key private.pem --signing-algorithm ES256
  sallyport policy check --bundle rules.tar.gz --bundle-key public.pem`,
		Args: withHint(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := isFolder(args[0]); err != nil {
				return err
			}
			if keyFile == "" && (keyID != "" || algorithm.value != "") {
				return errors.New("--signing-algorithm and --signing-key-id stand without --signing-key")
			}
			signing, err := readSigning(keyFile, keyID, algorithm.value)
			if err != nil {
				return err
			}
			if revision == "" {
				revision = time.Now().UTC().Format(time.RFC3339)
			}
			given, sources, err := settings.sources(s.err)
			if err != nil {
				return err
			}
			archive, err := workshop.Bundle(cmd.Context(), os.DirFS(args[0]), revision, signing, sources...)
			if err != nil {
				return startError(err, append(given, showName(args[0])))
			}
			if err := os.WriteFile(out, archive, 0o644); err != nil {
				return err
			}
			signed := "not signed"
			if signing != nil {
				signed = "signed with " + signing.Algorithm
			}
			_, err = fmt.Fprintf(s.out, "%s: revision %s, %s, %d bytes\n", showName(out), revision, signed, len(archive))
			return err
		},
	}
	settings.registerSchemas(cmd)
	cmd.Flags().StringVar(&out, "out", "bundle.tar.gz", "file to write")
	cmd.Flags().StringVar(&revision, "revision", "", "revision in its manifest (default: this moment, as RFC 3339 has it)")
	cmd.Flags().StringVar(&keyFile, "signing-key", "", "file with the private key in PEM, or the shared secret, to sign with")
	cmd.Flags().StringVar(&keyID, "signing-key-id", "", "name of that key, for verifiers that have several")
	algorithm.register(cmd, "signing-algorithm", "signature algorithm of that key (default "+config.BundleAlgorithms()[0]+")")
	_ = cmd.MarkFlagFilename("out", "gz")
	_ = cmd.MarkFlagFilename("signing-key")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}

// readSigning reads the key, nil where the bundle is not to be signed.
func readSigning(name, id, algorithm string) (*workshop.Signing, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no signature is a setting
	}
	key, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--signing-key: %w", err)
	}
	if algorithm == "" {
		algorithm = config.BundleAlgorithms()[0]
	}
	return &workshop.Signing{Key: string(key), Algorithm: algorithm, KeyID: id}, nil
}
