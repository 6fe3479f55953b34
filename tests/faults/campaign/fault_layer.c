/* A layer between a program and its C library that makes the n-th call on files below a directory
   fail, or kills the process there. Built by layer.py, loaded with LD_PRELOAD, armed through
   faults_arm() or by the variables FAULTS_DIRECTORY, FAULTS_AT, FAULTS_ERROR, FAULTS_READS and FAULTS_STAYS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KILL = -1 };

static char directory[PATH_MAX];
static size_t directory_length;
static atomic_long count;      /* calls on files below the directory, of the chosen class */
static atomic_long failed;     /* how many of them were made to fail */
static long at;                /* which one is to fail; 0: none */
static int error_number;       /* with what, or KILL */
static int reads;              /* whether calls that read count, rather than those that write */
static int stays;              /* whether all later ones fail too */
static char last_name[64];

void faults_arm(const char *below, long which, int error, int counts_reads, int for_good) {
    strncpy(directory, below, sizeof directory - 1);
    directory_length = strlen(directory);
    atomic_store(&count, 0);
    atomic_store(&failed, 0);
    at = which;
    error_number = error;
    reads = counts_reads;
    stays = for_good;
}

void faults_disarm(void) { directory_length = 0; }
long faults_count(void) { return atomic_load(&count); }
long faults_failed(void) { return atomic_load(&failed); }
const char *faults_name(void) { return last_name; }

__attribute__((constructor)) static void from_environment(void) {
    const char *below = getenv("FAULTS_DIRECTORY");
    const char *which = getenv("FAULTS_AT"), *error = getenv("FAULTS_ERROR");
    if (below && which && error)
        faults_arm(below, atol(which), atoi(error), getenv("FAULTS_READS") != NULL,
                   getenv("FAULTS_STAYS") != NULL);
}

static int is_below(const char *path) {
    return directory_length && !strncmp(path, directory, directory_length) &&
           (path[directory_length] == '/' || path[directory_length] == 0);
}

static int descriptor_below(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!directory_length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int path_below(int folder, const char *path) {
    if (!directory_length || !path) return 0;
    if (path[0] == '/') return is_below(path);
    if (folder != AT_FDCWD) return descriptor_below(folder);
    char here[PATH_MAX];
    return syscall(SYS_getcwd, here, sizeof here) > 0 && is_below(here);
}

/* Whether this call is to fail; `room` says that it needs space on the disk. */
static int fails(int below, int is_read, int room, const char *name) {
    if (!below || is_read != reads) return 0;
    long number = atomic_fetch_add(&count, 1) + 1;
    int due = at && (number == at || (stays && number > at && (room || error_number == EROFS)));
    if (!due) return 0;
    if (error_number == KILL) kill(getpid(), SIGKILL);
    atomic_fetch_add(&failed, 1);
    strncpy(last_name, name, sizeof last_name - 1);
    errno = error_number;
    return 1;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define OPENING(name, folder)                                                                    \
    mode_t mode = 0;                                                                             \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest);          \
    }                                                                                            \
    if (fails(path_below(folder, path), !(flags & WRITES), flags & O_CREAT, #name)) return -1

int open(const char *path, int flags, ...) { REAL(open); OPENING(open, AT_FDCWD); return real(path, flags, mode); }
int open64(const char *path, int flags, ...) { REAL(open64); OPENING(open64, AT_FDCWD); return real(path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { REAL(openat); OPENING(openat, folder); return real(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { REAL(openat64); OPENING(openat64, folder); return real(folder, path, flags, mode); }
int creat(const char *path, mode_t mode) { REAL(creat); if (fails(path_below(AT_FDCWD, path), 0, 1, "creat")) return -1; return real(path, mode); }

#define ON_DESCRIPTOR(type, name, is_read, room, parameters, arguments)                          \
    type name parameters {                                                                       \
        REAL(name);                                                                              \
        if (fails(descriptor_below(descriptor), is_read, room, #name)) return -1;                \
        return real arguments;                                                                   \
    }
ON_DESCRIPTOR(ssize_t, write, 0, 1, (int descriptor, const void *from, size_t size), (descriptor, from, size))
ON_DESCRIPTOR(ssize_t, pwrite, 0, 1, (int descriptor, const void *from, size_t size, off_t place), (descriptor, from, size, place))
ON_DESCRIPTOR(ssize_t, pwrite64, 0, 1, (int descriptor, const void *from, size_t size, off64_t place), (descriptor, from, size, place))
ON_DESCRIPTOR(ssize_t, writev, 0, 1, (int descriptor, const struct iovec *from, int parts), (descriptor, from, parts))
ON_DESCRIPTOR(ssize_t, pwritev, 0, 1, (int descriptor, const struct iovec *from, int parts, off_t place), (descriptor, from, parts, place))
ON_DESCRIPTOR(ssize_t, pwritev64, 0, 1, (int descriptor, const struct iovec *from, int parts, off64_t place), (descriptor, from, parts, place))
ON_DESCRIPTOR(int, fsync, 0, 0, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, fdatasync, 0, 0, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, ftruncate, 0, 1, (int descriptor, off_t size), (descriptor, size))
ON_DESCRIPTOR(int, ftruncate64, 0, 1, (int descriptor, off64_t size), (descriptor, size))
ON_DESCRIPTOR(int, fallocate, 0, 1, (int descriptor, int mode, off_t place, off_t size), (descriptor, mode, place, size))
ON_DESCRIPTOR(int, fallocate64, 0, 1, (int descriptor, int mode, off64_t place, off64_t size), (descriptor, mode, place, size))
ON_DESCRIPTOR(int, fchmod, 0, 0, (int descriptor, mode_t mode), (descriptor, mode))
ON_DESCRIPTOR(ssize_t, read, 1, 0, (int descriptor, void *to, size_t size), (descriptor, to, size))
ON_DESCRIPTOR(ssize_t, pread, 1, 0, (int descriptor, void *to, size_t size, off_t place), (descriptor, to, size, place))
ON_DESCRIPTOR(ssize_t, pread64, 1, 0, (int descriptor, void *to, size_t size, off64_t place), (descriptor, to, size, place))
ON_DESCRIPTOR(ssize_t, readv, 1, 0, (int descriptor, const struct iovec *to, int parts), (descriptor, to, parts))
ON_DESCRIPTOR(ssize_t, preadv, 1, 0, (int descriptor, const struct iovec *to, int parts, off_t place), (descriptor, to, parts, place))
ON_DESCRIPTOR(ssize_t, preadv64, 1, 0, (int descriptor, const struct iovec *to, int parts, off64_t place), (descriptor, to, parts, place))

/* These say what failed instead of setting errno. */
int posix_fallocate(int descriptor, off_t place, off_t size) { REAL(posix_fallocate); return fails(descriptor_below(descriptor), 0, 1, "posix_fallocate") ? errno : real(descriptor, place, size); }
int posix_fallocate64(int descriptor, off64_t place, off64_t size) { REAL(posix_fallocate64); return fails(descriptor_below(descriptor), 0, 1, "posix_fallocate64") ? errno : real(descriptor, place, size); }

ssize_t copy_file_range(int from, off64_t *here, int to, off64_t *there, size_t size, unsigned flags) { REAL(copy_file_range); return fails(descriptor_below(to), 0, 1, "copy_file_range") ? -1 : real(from, here, to, there, size, flags); }
ssize_t sendfile(int to, int from, off_t *place, size_t size) { REAL(sendfile); return fails(descriptor_below(to), 0, 1, "sendfile") ? -1 : real(to, from, place, size); }
ssize_t sendfile64(int to, int from, off64_t *place, size_t size) { REAL(sendfile64); return fails(descriptor_below(to), 0, 1, "sendfile64") ? -1 : real(to, from, place, size); }

/* Mapping a file for writing needs no room: it may be longer than what is written already. */
#define MAPPING(name, type)                                                                      \
    void *name(void *to, size_t size, int may, int flags, int descriptor, type place) {          \
        REAL(name);                                                                              \
        if (descriptor >= 0 && !(flags & MAP_ANONYMOUS) &&                                       \
            fails(descriptor_below(descriptor), !(may & PROT_WRITE), 0, #name)) return MAP_FAILED; \
        return real(to, size, may, flags, descriptor, place);                                    \
    }
MAPPING(mmap, off_t)
MAPPING(mmap64, off64_t)

#define ON_PATH(name, room, folder, path, parameters, arguments)                                 \
    int name parameters {                                                                        \
        REAL(name);                                                                              \
        if (fails(path_below(folder, path), 0, room, #name)) return -1;                          \
        return real arguments;                                                                   \
    }
ON_PATH(rename, 0, AT_FDCWD, new, (const char *old, const char *new), (old, new))
ON_PATH(renameat, 0, there, new, (int here, const char *old, int there, const char *new), (here, old, there, new))
ON_PATH(renameat2, 0, there, new, (int here, const char *old, int there, const char *new, unsigned flags), (here, old, there, new, flags))
ON_PATH(link, 0, AT_FDCWD, new, (const char *old, const char *new), (old, new))
ON_PATH(linkat, 0, there, new, (int here, const char *old, int there, const char *new, int flags), (here, old, there, new, flags))
ON_PATH(symlink, 1, AT_FDCWD, new, (const char *old, const char *new), (old, new))
ON_PATH(unlink, 0, AT_FDCWD, path, (const char *path), (path))
ON_PATH(unlinkat, 0, folder, path, (int folder, const char *path, int flags), (folder, path, flags))
ON_PATH(rmdir, 0, AT_FDCWD, path, (const char *path), (path))
ON_PATH(mkdir, 1, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(mkdirat, 1, folder, path, (int folder, const char *path, mode_t mode), (folder, path, mode))
ON_PATH(truncate, 1, AT_FDCWD, path, (const char *path, off_t size), (path, size))
ON_PATH(truncate64, 1, AT_FDCWD, path, (const char *path, off64_t size), (path, size))
