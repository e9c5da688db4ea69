/* Runs a program and lets one of its system calls fail that change a file: fault N WHICH FOLDER REPORT PROGRAM ARGS...
 *
 * Of the calls in WHICH ("all", or "sync" for those that write to the disk) that concern FOLDER, call N, counted from
 * 0, ends with EIO; with "N+" all from there on do. With "N!" none does, but before call N the program gets SIGINT, and
 * has a moment for it while the thread that calls is stopped. REPORT then holds the number of the call. The exit code is that of
 * the program. For Linux on x86-64. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Calls with a path, which may be relative, and calls with an open file; how they are told from those that only read. */
static const long by_path[] = {SYS_open, SYS_openat, SYS_creat, SYS_rename, SYS_renameat, SYS_renameat2, SYS_link,
    SYS_linkat, SYS_symlink, SYS_symlinkat, SYS_unlink, SYS_unlinkat, SYS_mkdir, SYS_mkdirat, SYS_rmdir, SYS_chmod,
    SYS_fchmodat, SYS_truncate};
static const long by_file[] = {SYS_write, SYS_pwrite64, SYS_writev, SYS_ftruncate, SYS_fchmod, SYS_fallocate,
    SYS_fsync, SYS_fdatasync};
/* With the open file as another argument. */
static const long copying[] = {SYS_copy_file_range, SYS_sendfile};

#define N(a) (sizeof(a) / sizeof *(a))

static int among(const long *calls, size_t n, long call) {
    for (size_t i = 0; i < n; i++)
        if (calls[i] == call) return 1;
    return 0;
}

static void trace_these(void) {
    struct sock_filter code[2 * 64];
    unsigned short n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    const long *lists[] = {by_path, by_file, copying};
    size_t sizes[] = {N(by_path), N(by_file), N(copying)};
    for (int l = 0; l < 3; l++)
        for (size_t i = 0; i < sizes[l]; i++) {
            code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)lists[l][i], 0, 1);
            code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
        }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) _exit(99);
}

/* Whether an open file lies in a folder, or is it, with a name or without one. */
static int is_within(pid_t pid, long file, const char *folder) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%d/fd/%ld", pid, file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return !strncmp(path, folder, strlen(folder));
}

static int counts(pid_t pid, const struct user_regs_struct *regs, int only_sync, const char *folder) {
    long call = (long)regs->orig_rax;
    if (only_sync) return (call == SYS_fsync || call == SYS_fdatasync) && is_within(pid, (long)regs->rdi, folder);
    if (call == SYS_open) return (regs->rsi & (O_CREAT | __O_TMPFILE | O_TRUNC)) != 0;
    if (call == SYS_openat) return (regs->rdx & (O_CREAT | __O_TMPFILE | O_TRUNC)) != 0;
    if (call == SYS_copy_file_range) return is_within(pid, (long)regs->rdx, folder);
    if (among(by_path, N(by_path), call)) return 1;
    return is_within(pid, (long)regs->rdi, folder);
}

int main(int argc, char **argv) {
    if (argc < 6) return 99;
    long wanted = atol(argv[1]), seen = 0;
    int goes_on = strchr(argv[1], '+') != NULL, interrupts = strchr(argv[1], '!') != NULL, only_sync = !strcmp(argv[2], "sync"), status;
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(99);
        raise(SIGSTOP);
        trace_these();
        execv(argv[5], argv + 5);
        _exit(99);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 99;
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC
        | PTRACE_O_TRACESECCOMP;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options) || ptrace(PTRACE_CONT, child, 0, 0)) return 99;
    pid_t held = 0; /* the thread that is stopped, for so many looks more */
    int looks = 0;
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL | (held ? WNOHANG : 0));
        if (pid == 0) {
            nanosleep(&(struct timespec){0, 2000000}, NULL);
            if (--looks > 0) continue;
            pid = held;
            held = 0;
            ptrace(PTRACE_CONT, pid, 0, 0);
            continue;
        }
        if (pid < 0) return 99;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid != child) continue;
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        long signal = 0;
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
            struct user_regs_struct regs;
            if (!ptrace(PTRACE_GETREGS, pid, 0, &regs) && counts(pid, &regs, only_sync, argv[3])) {
                if (seen == wanted || (goes_on && seen > wanted)) {
                    if (seen == wanted) {
                        FILE *report = fopen(argv[4], "w");
                        if (!report) return 99;
                        fprintf(report, "%lld", (long long)regs.orig_rax);
                        fclose(report);
                    }
                    if (interrupts) {
                        seen++;
                        kill(child, SIGINT);
                        held = pid;
                        looks = 50;
                        continue;
                    }
                    /* No call at all, and this result. */
                    regs.orig_rax = (unsigned long long)-1;
                    regs.rax = (unsigned long long)-EIO;
                    ptrace(PTRACE_SETREGS, pid, 0, &regs);
                }
                seen++;
            }
        } else if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
            signal = WSTOPSIG(status);
        }
        ptrace(PTRACE_CONT, pid, 0, signal);
    }
}
