package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/gateway"
	"github.com/sallyport-mcp/sallyport/server/pins"
)

// pinFlags are the flags of schemas pin.
type pinFlags struct {
	lock       string
	upstream   string
	toolsLists []string
	approve    []string
	approveAll bool
	full       bool
	server     serverFlags
	format     choice
}

func newSchemasPin(s streams) *cobra.Command {
	f := &pinFlags{format: choice{value: "text", allowed: []string{"text", "json"}}}
	cmd := &cobra.Command{
		Use:   "pin --lock FILE (--tools-list FILE... | URL | -- COMMAND [ARG...])",
		Short: "Show how the tools of a server differ from what was approved, and approve them",
		Long: `Show how the tools of a server differ from what was approved, and approve them.

A lock file has each approved tool as a whole: name, title, description, schemas,
annotations and all else but icons. Each tool that is listed is pinned (as it was
approved), new, drifted (not as it was approved) or unreadable; one that is pinned
and no longer listed is gone. New, drifted and unreadable tools are to be withheld.

A change has a severity: severe (annotations by which clients decide whether to ask
somebody before a call), widened, narrowed and changed (of schemas, as in
'sallyport schemas diff'), description (texts alone; models read them all the same).
--full shows the definitions themselves, with escapes for what does not show itself.

--approve TOOL@DIGEST approves a tool as it was when it was shown with this digest
(32 characters of it will do), and nothing else. --approve TOOL approves what a file
has. A server that is asked anew may answer something else than was looked at: there
the digest is needed, and --approve-all is for servers without pins. Approving a tool
that is gone forgets its pin.

Exit code 0: all tools are pinned; 1: some are not, or are gone; 2: the work could not
be done.`,
		Example: `  sallyport schemas pin --lock pins.lock --tools-list answer.json
  sallyport schemas pin --lock pins.lock --tools-list page1.json --tools-list page2.json --full
  sallyport schemas pin --lock pins.lock --tools-list answer.json --approve search --approve fetch
  sallyport schemas pin --lock pins.lock --tools-list answer.json --upstream notes --approve-all
  sallyport schemas pin --lock pins.lock --approve search@0314cb0fec8641d9b5ebdcd9400c6922 -- ./server`,
		Args: withHint(f.checkArgs),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	f.register(cmd)
	return cmd
}

func (f *pinFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.lock, "lock", "", "file with the pins")
	flags.StringArrayVar(&f.toolsLists, "tools-list", nil, "file with a server's answer to tools/list; one for each page, in their order")
	flags.StringVar(&f.upstream, "upstream", "", "name of the server in the lock file (default: the only one in it, else "+defaultUpstream+")")
	flags.StringArrayVar(&f.approve, "approve", nil, "tool to approve, as TOOL or TOOL@DIGEST; may be repeated")
	flags.BoolVar(&f.approveAll, "approve-all", false, "approve all tools as they are listed, and forget those that are gone")
	flags.BoolVar(&f.full, "full", false, "show whole definitions, and where they differ")
	f.server.register(cmd)
	f.format.register(cmd, "output", "form of the report")
	_ = cmd.MarkFlagFilename("lock")
	_ = cmd.MarkFlagFilename("tools-list", "json")
	_ = cmd.RegisterFlagCompletionFunc("approve", f.completeApproval)
	_ = cmd.RegisterFlagCompletionFunc("upstream", f.completeUpstream)
}

// defaultUpstream is what the gateway calls a server that it was given no name for.
const defaultUpstream = "server"

func (f *pinFlags) checkArgs(cmd *cobra.Command, args []string) error {
	switch {
	case f.lock == "":
		return errors.New("--lock is missing: which file has the pins?")
	case f.approveAll && len(f.approve) > 0:
		return errors.New("--approve and --approve-all cannot be given together")
	case len(f.toolsLists) > 0 && len(args) > 0:
		return errors.New("give either --tools-list or a server")
	case len(f.toolsLists) == 0 && len(args) == 0:
		return errors.New("there are no tools to look at: give --tools-list, one URL, or a command after --")
	case len(args) > 0:
		return oneServer(cmd, args)
	}
	return nil
}

func (f *pinFlags) run(cmd *cobra.Command, s streams, args []string) error {
	tools, err := f.tools(cmd, s, args)
	if err != nil {
		return err
	}
	lock := pins.Open(f.lock)
	r, err := f.report(lock, tools)
	if err != nil {
		return err
	}
	if err := r.write(s.out, f.format.value); err != nil {
		return err
	}
	if r.open() {
		return errRefused
	}
	return nil
}

// report approves what is to be approved, and says how things are then.
func (f *pinFlags) report(lock *pins.Lock, tools [][]byte) (pinReport, error) {
	upstream, err := f.upstreamIn(lock)
	if err != nil {
		return pinReport{}, err
	}
	approvals, err := f.approvals(lock, upstream, tools)
	if err != nil {
		return pinReport{}, err
	}
	var approved []pins.Finding
	if len(approvals) > 0 {
		if approved, err = lock.Approve(upstream, tools, approvals...); err != nil {
			return pinReport{}, err
		}
	}
	findings, err := lock.Check(upstream, tools)
	if err != nil {
		return pinReport{}, err
	}
	return newPinReport(upstream, approved, findings, f.full), nil
}

func (f *pinFlags) approvals(lock *pins.Lock, upstream string, tools [][]byte) ([]pins.Approval, error) {
	var approvals []pins.Approval
	for _, text := range f.approve {
		a, err := pins.ParseApproval(text)
		if err == nil && a.Digest == "" && f.live() {
			err = fmt.Errorf("%s: give the digest that was shown, as TOOL@DIGEST, since the server may list another tool by now", showName(text))
		}
		if err != nil {
			return nil, fmt.Errorf("--approve: %w", err)
		}
		approvals = append(approvals, a)
	}
	if !f.approveAll {
		return approvals, nil
	}
	known, err := lock.Upstreams()
	switch {
	case err != nil:
		return nil, err
	case f.live() && slices.Contains(known, upstream):
		return nil, errors.New("--approve-all: the server may list other tools by now than were looked at; approve each as TOOL@DIGEST, or from a file")
	}
	findings, err := lock.Check(upstream, tools)
	for _, found := range findings {
		if found.State != pins.Pinned && found.State != pins.Unreadable {
			approvals = append(approvals, pins.Approval{Tool: found.Tool, Digest: found.Digest})
		}
	}
	return approvals, err
}

func (f *pinFlags) upstreamIn(lock *pins.Lock) (string, error) {
	if f.upstream != "" {
		return f.upstream, nil
	}
	names, err := lock.Upstreams()
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return defaultUpstream, nil
	case len(names) == 1:
		return names[0], nil
	}
	for i, name := range names {
		names[i] = showName(name)
	}
	return "", fmt.Errorf("%s has pins of several servers; say --upstream %s", showName(f.lock), strings.Join(names, " or "))
}

// live says that the tools come from a server, which may list others the next time.
func (f *pinFlags) live() bool { return len(f.toolsLists) == 0 }

// tools returns the tools of all pages, as the server wrote them.
func (f *pinFlags) tools(cmd *cobra.Command, s streams, args []string) ([][]byte, error) {
	if f.live() {
		list, err := f.server.list(cmd, s, args)
		return list.Raw, err
	}
	list, rest := filePages(f.toolsLists)
	all, _, err := gateway.ListAll(cmd.Context(), list)
	if err != nil {
		return nil, fmt.Errorf("--tools-list: %w", err)
	}
	if file := rest(); file != "" {
		return nil, fmt.Errorf("--tools-list: %s cannot be a page of the list: the one before it says that it is the last", showName(file))
	}
	return all.Raw, nil
}

// filePages lists the tools in files, one for each page (MCP, pagination). rest returns
// the first file that was not asked for.
func filePages(files []string) (list func(context.Context, string) ([]byte, error), rest func() string) {
	next := 0
	list = func(context.Context, string) ([]byte, error) {
		if next == len(files) {
			return nil, fmt.Errorf("%s is one page of a longer list; give the next one, too", showName(files[next-1]))
		}
		next++
		text, err := os.ReadFile(files[next-1])
		if err != nil {
			return nil, err
		}
		if _, err := server.ReadToolsList(text); err != nil {
			return nil, fmt.Errorf("%s: %w", showName(files[next-1]), err)
		}
		return text, nil
	}
	return list, func() string {
		if next < len(files) {
			return files[next]
		}
		return ""
	}
}

// completeApproval completes the names of tools that are not pinned. Digests are left to
// those who have looked.
func (f *pinFlags) completeApproval(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	findings, err := f.findingsForCompletion()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, found := range findings {
		if found.State != pins.Pinned && found.State != pins.Unreadable && !strings.ContainsFunc(found.Tool, unprintable) {
			names = append(names, found.Tool)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// findingsForCompletion takes the pages as they are: some may not be given yet, and cobra
// reads flags twice before it completes, so that each is there twice.
func (f *pinFlags) findingsForCompletion() ([]pins.Finding, error) {
	files := slices.Clone(f.toolsLists)
	slices.Sort(files)
	var tools [][]byte
	for _, file := range slices.Compact(files) {
		page, err := readToolsList(file)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Raw...)
	}
	lock := pins.Open(f.lock)
	upstream, err := f.upstreamIn(lock)
	if err != nil {
		return nil, err
	}
	return lock.Check(upstream, tools)
}

func (f *pinFlags) completeUpstream(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names, err := pins.Open(f.lock).Upstreams()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.ContainsFunc(name, unprintable) }), cobra.ShellCompDirectiveNoFileComp
}
