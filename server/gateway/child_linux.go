package gateway

import "syscall"

// endWithParent has the kernel ask the child to end where we are killed.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
