/* The first and only process of the emulated machine: runs one program, passes on what it writes (and then a profile, if it leaves one in
   /tmp/profile), tells its exit status, and switches off. The host sees what is written to port 0xe9; ports need no drivers. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void to_host(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) outb(text[i], 0xe9);
}

/* The strings of a file, each ended by a zero byte, as an array that ends with a null pointer. */
static char **strings(const char *path) {
    static char space[1 << 18];
    static char *pointers[1 << 12];
    static size_t used, count;
    char **first = pointers + count;
    int file = open(path, O_RDONLY);
    ssize_t length = file < 0 ? 0 : read(file, space + used, sizeof space - used);
    for (char *s = space + used; s < space + used + length; s += strlen(s) + 1) pointers[count++] = s;
    pointers[count++] = NULL;
    used += length;
    return first;
}

static char buffer[1 << 16];

/* A file as it is, after its size. */
static void file_to_host(const char *path) {
    struct stat about;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &about) != 0) return;
    to_host(buffer, sprintf(buffer, "\n[file %ld]\n", (long)about.st_size));
    for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) to_host(buffer, n);
}

int main(void) {
    iopl(3);
    mkdir("/proc", 0755);
    mkdir("/tmp", 0777);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
    char **arguments = strings("/arguments"), **environment = strings("/environment");
    int ends[2], status;
    if (pipe(ends) != 0) return 1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(0);
        close(ends[0]);
        close(ends[1]);
        open("/dev/null", O_RDONLY);
        chdir("/tmp");
        execve("/program", arguments, environment);
        perror("/program");
        _exit(127);
    }
    close(ends[1]);
    to_host("\n[begin]\n", 9);
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) to_host(buffer, n);
    waitpid(child, &status, 0);
    file_to_host("/tmp/profile");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    to_host(buffer, sprintf(buffer, "\n[end %d]\n", code));
    for (const char *c = "Shutdown"; *c; c++) outb(*c, 0x8900); /* Bochs' own switch */
    for (;;) pause();
}
