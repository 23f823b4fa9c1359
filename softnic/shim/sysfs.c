/* The directory in which libibverbs and its users find the device: a private copy of the few files of /sys/class/infiniband that anybody
 * reads. Its name is fixed and exported as SYSFS_PATH when the library is loaded, which costs nothing; the files come into being when the
 * first program looks for them, since most processes that inherit LD_PRELOAD (ls, sh) never do. */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "mkeyspec-softnic-"
#define IB "class/infiniband/" DEVICE_NAME
#define UVERBS "class/infiniband_verbs"
#define PORT IB "/ports/1"

const uint8_t NODE_GUID[8] = { 0x0c, 0x42, 0xa1, 0x03, 0x00, 0x01, 0x00, 0x01 };
const uint8_t NODE_MAC[NODE_MAC_SIZE] = { 0x0c, 0x42, 0xa1, 0x01, 0x00, 0x01 };

static char directory[PATH_ROOM - 128];
static pid_t owner;
static bool inherited;                  /* from this process before its exec; it may have been another personality's */

/* ---- addresses ------------------------------------------------------------------------------------------------------------------ */

bool gid_entry(unsigned index, struct ib_uverbs_gid_entry *entry) {
    bool roce = personality() && personality()->roce;
    uint8_t gid[16];

    if (!personality_gid(index, gid))
        return false;
    memset(entry, 0, sizeof(*entry));
    memcpy(entry->gid, gid, 16);
    entry->gid_index = index;
    entry->port_num = 1;
    entry->gid_type = !roce ? IB_UVERBS_GID_TYPE_IB : index % 2 ? IB_UVERBS_GID_TYPE_ROCE_V2 : IB_UVERBS_GID_TYPE_ROCE_V1;
    return true;
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------- */

static const char *const directories[] = {
    "", "class", "class/infiniband", IB, IB "/device", IB "/ports", PORT, PORT "/gids", PORT "/gid_attrs", PORT "/gid_attrs/types",
    PORT "/pkeys", UVERBS, UVERBS "/" UVERBS_NAME,
};

static void put(const char *base, const char *name, const char *text) {
    char path[PATH_ROOM];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", base, name);
    fd = libc_real()->open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return;
    if (dprintf(fd, "%s\n", text) < 0)
        unlink(path);
    libc_real()->close(fd);
}

static void put_gids(const char *base) {
    static const char *const types[] = { "IB/RoCE v1", "IB/RoCE v1", "RoCE v2" };      /* as sysfs words them; by ib_uverbs_gid_type */

    for (unsigned i = 0; i < GID_TABLE_SIZE; i++) {
        struct ib_uverbs_gid_entry entry = { .gid_type = IB_UVERBS_GID_TYPE_IB };
        bool there = gid_entry(i, &entry);
        char name[96], text[48];
        int at = 0;

        for (unsigned word = 0; word < 8; word++) {
            const uint8_t *byte = (const uint8_t *)entry.gid + 2 * word;

            at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%02x%02x", word ? ":" : "", byte[0], byte[1]);
        }
        snprintf(name, sizeof(name), PORT "/gids/%u", i);
        put(base, name, text);
        if (!there)
            continue;
        snprintf(name, sizeof(name), PORT "/gid_attrs/types/%u", i);
        put(base, name, types[entry.gid_type]);
    }
}

static void put_all(const char *base) {
    const struct personality *p = personality();
    bool roce = p && p->roce;
    char text[96];

    /* /dev/zero stands in for the char device: 1:5 is what fstat says of it. */
    put(base, UVERBS "/abi_version", "6");
    put(base, UVERBS "/" UVERBS_NAME "/dev", "1:5");
    put(base, UVERBS "/" UVERBS_NAME "/ibdev", DEVICE_NAME);
    put(base, UVERBS "/" UVERBS_NAME "/abi_version", "1");
    put(base, IB "/node_type", "1: CA");
    snprintf(text, sizeof(text), "%02x%02x:%02x%02x:%02x%02x:%02x%02x", NODE_GUID[0], NODE_GUID[1], NODE_GUID[2], NODE_GUID[3],
             NODE_GUID[4], NODE_GUID[5], NODE_GUID[6], NODE_GUID[7]);
    put(base, IB "/node_guid", text);
    put(base, IB "/sys_image_guid", text);
    put(base, IB "/node_desc", "mkeyspec software NIC");
    put(base, IB "/fw_ver", p ? p->fw_ver : "0.0.0");
    put(base, IB "/board_id", p ? p->board_id : "none");
    snprintf(text, sizeof(text), "MT%u", p ? p->vendor_part_id : 0);
    put(base, IB "/hca_type", text);
    put(base, IB "/hw_rev", "0");
    /* The provider is chosen by this line. */
    snprintf(text, sizeof(text), "pci:v000015B3d%08Xsv000015B3sd00000058bc02sc07i00", p ? p->vendor_part_id : 0x1021);
    put(base, IB "/device/modalias", text);
    put(base, IB "/device/vendor", "0x15b3");
    snprintf(text, sizeof(text), "0x%04x", p ? p->vendor_part_id : 0x1021);
    put(base, IB "/device/device", text);
    put(base, IB "/device/numa_node", "-1");
    put(base, PORT "/state", "4: ACTIVE");
    put(base, PORT "/phys_state", "5: LinkUp");
    put(base, PORT "/rate", "400 Gb/sec (4X NDR)");
    put(base, PORT "/lid", roce ? "0x0" : "0x1");
    put(base, PORT "/sm_lid", roce ? "0x0" : "0x1");
    put(base, PORT "/link_layer", roce ? "Ethernet" : "InfiniBand");
    put(base, PORT "/pkeys/0", "0xffff");
    put_gids(base);
}

/* Everything below `path`, then itself. Follows no link; the depth is that of our own tree. */
static void remove_tree(const char *path, int depth) {
    DIR *stream = depth ? opendir(path) : NULL;
    struct dirent *entry;
    char below[PATH_ROOM + 256];

    while (stream && (entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
            if (unlink(below))
                remove_tree(below, depth - 1);
        }
    if (stream)
        closedir(stream);
    rmdir(path);
}

/* ---- the directory's name --------------------------------------------------------------------------------------------------------- */

static const char *temporary(void) {
    const char *place = getenv("TMPDIR");

    return place && *place == '/' && strlen(place) < sizeof(directory) - 96 ? place : "/tmp";
}

/* The namespace of the pid in a name: two containers may share /tmp. */
static unsigned long pid_namespace(void) {
    char link[64] = "";
    unsigned long number = 0;
    ssize_t length = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

    if (length > 0)
        sscanf(link, "pid:[%lu]", &number);
    return number;
}

static bool name_parts(const char *name, unsigned long *space, int *pid) {
    return !strncmp(name, PREFIX, sizeof(PREFIX) - 1) && sscanf(name + sizeof(PREFIX) - 1, "%lu-%d-", space, pid) == 2;
}

/* Directories of processes that were killed before they could clean up. */
static void sweep(void) {
    const char *place = temporary();
    unsigned long here = pid_namespace(), space;
    DIR *stream = opendir(place);
    struct dirent *entry;
    char path[PATH_ROOM + 256];
    struct stat status;
    int pid, left = 4096;

    while (stream && left-- && (entry = readdir(stream))) {
        if (!name_parts(entry->d_name, &space, &pid) || space != here || pid <= 0 || !kill(pid, 0) || errno != ESRCH)
            continue;
        snprintf(path, sizeof(path), "%s/%s", place, entry->d_name);
        if (!fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) && S_ISDIR(status.st_mode) && status.st_uid == geteuid())
            remove_tree(path, 8);
    }
    if (stream)
        closedir(stream);
}

__attribute__((constructor)) static void choose(void) {
    const char *set = getenv("SYSFS_PATH"), *name = set ? strrchr(set, '/') : NULL;
    unsigned long space, random = 0;
    int pid;

    owner = getpid();
    if (set && !(name && name_parts(name + 1, &space, &pid)))
        return;                         /* the user has another directory in mind */
    if (set && pid == owner && space == pid_namespace() && strlen(set) < sizeof(directory)) {
        strcpy(directory, set);
        inherited = true;
        return;
    }
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        random = (unsigned long)(uintptr_t)&random;
    snprintf(directory, sizeof(directory), "%s/" PREFIX "%lu-%d-%016lx", temporary(), pid_namespace(), owner, random);
    setenv("SYSFS_PATH", directory, 1);
}

/* Built aside and moved into place: children of one parent that had not published may all do it at once. Neither name aside begins with
 * the directory's own, which path_redirect would stop at. */
static void publish(void) {
    char path[PATH_ROOM], base[PATH_ROOM - 96], old[PATH_ROOM - 96];
    int stem = (int)(strrchr(directory, '-') - directory);

    sweep();
    snprintf(base, sizeof(base), "%.*s-new%d", stem, directory, getpid());
    snprintf(old, sizeof(old), "%.*s-old%d", stem, directory, getpid());
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
        snprintf(path, sizeof(path), "%s/%s", base, directories[i]);
        if (mkdir(path, i ? 0755 : 0700) && errno != EEXIST)
            return;
    }
    put_all(base);
    if (inherited && getpid() == owner && !rename(directory, old))
        remove_tree(old, 8);
    if (rename(base, directory))
        remove_tree(base, 8);           /* another was first */
}

void sysfs_publish(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int saved = errno;

    if (*directory)
        pthread_once(&once, publish);
    errno = saved;
}

__attribute__((destructor)) static void tidy(void) {
    /* rmdir() passes no interposer. Any other look at a directory that is not there would make it, in each process that ends. */
    if (*directory && getpid() == owner && rmdir(directory) && errno != ENOENT)
        remove_tree(directory, 8);
}

/* A child of fork() reads its parent's files, writes them if the parent had no need of them, and leaves them alone when it ends. */

/* ---- paths -------------------------------------------------------------------------------------------------------------------------- */

static const char *after(const char *path, const char *start) {
    size_t length = strlen(start);

    return !strncmp(path, start, length) && (path[length] == '/' || !path[length]) ? path + length : NULL;
}

bool path_is_uverbs(const char *path) {
    return path && !strcmp(path, "/dev/infiniband/" UVERBS_NAME);
}

const char *path_redirect(const char *path, char *room) {
    static const char *const classes[] = { "class/infiniband", "class/infiniband_verbs" };

    if (!path || path[0] != '/' || !*directory)
        return path;
    if (path_is_uverbs(path))
        return "/dev/zero";
    if (!strncmp(path, "/dev/infiniband/uverbs", 22))
        return "/dev/infiniband/nowhere";
    if (!strncmp(path, directory, strlen(directory)))
        sysfs_publish();
    if (strncmp(path, "/sys/", 5))
        return path;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        const char *rest = after(path + 5, classes[i]);

        if (!rest || strlen(directory) + strlen(classes[i]) + strlen(rest) + 2 > PATH_ROOM)
            continue;
        sysfs_publish();
        snprintf(room, PATH_ROOM, "%s/%s%s", directory, classes[i], rest);
        return room;
    }
    return path;
}
