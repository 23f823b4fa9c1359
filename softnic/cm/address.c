/* Addresses and ports. The NIC has every IP address of its machine, as if each network interface
 * were its own. A port belongs to a port space of a fabric: a name (engine/names.c), which one
 * process can hold. */
#include "cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "engine/engine.h"

enum { PORT_FIRST = 32768, PORT_COUNT = 28232 }; /* as net.ipv4.ip_local_port_range */

socklen_t cm_address_size(const union cm_address *address) {
    switch (address->any.sa_family) {
    case AF_INET: return sizeof address->v4;
    case AF_INET6: return sizeof address->v6;
    default: return 0;
    }
}

bool cm_address_is_any(const union cm_address *address) {
    if (address->any.sa_family == AF_INET) return address->v4.sin_addr.s_addr == htonl(INADDR_ANY);
    return !memcmp(&address->v6.sin6_addr, &in6addr_any, sizeof in6addr_any);
}

bool cm_address_same(const union cm_address *a, const union cm_address *b) {
    if (a->any.sa_family != b->any.sa_family) return false;
    if (a->any.sa_family == AF_INET) return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return !memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr);
}

uint16_t cm_address_port(const union cm_address *address) {
    return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
}

void cm_address_set_port(union cm_address *address, uint16_t port) {
    if (address->any.sa_family == AF_INET) address->v4.sin_port = htons(port);
    else address->v6.sin6_port = htons(port);
}

/* Only an address of this machine can be bound to. */
bool cm_address_is_local(const union cm_address *address) {
    union cm_address copy = *address;
    int fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool local;

    cm_address_set_port(&copy, 0);
    local = fd >= 0 && !bind(fd, &copy.any, cm_address_size(&copy));
    if (fd >= 0) close(fd);
    return local;
}

bool cm_address_source(const union cm_address *to, union cm_address *from) {
    union cm_address copy = *to;
    socklen_t length = sizeof *from;
    int fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool fine;

    cm_address_set_port(&copy, 1); /* any will do: connect() of a datagram socket sends nothing */
    fine = fd >= 0 && !connect(fd, &copy.any, cm_address_size(&copy)) &&
           !getsockname(fd, &from->any, &length);
    if (fd >= 0) close(fd);
    return fine;
}

/* ---- ports ------------------------------------------------------------------------------- */

enum { NAME_ROOM = 24 };

static uint64_t place(uint16_t port_space, uint16_t port) {
    return 1ull << 32 | (uint32_t)port_space << 16 | port;
}

static void port_name(uint16_t port_space, uint16_t port, char out[NAME_ROOM]) {
    snprintf(out, NAME_ROOM, "cm-%x-%u", port_space, port);
}

socklen_t cm_port_address(uint16_t port_space, uint16_t port, struct sockaddr_un *out) {
    char name[NAME_ROOM];

    port_name(port_space, port, name);
    return names_address(name, out);
}

/* The locks of names.c are between processes. */
static bool is_taken_here(uint16_t port_space, uint16_t port) {
    for (const struct cm_id *id = cm_first(); id; id = id->next)
        if (id->port >= 0 && id->port_space == port_space && cm_address_port(&id->source) == port)
            return true;
    return false;
}

static int take(int fd, uint16_t port_space, uint16_t port) {
    struct sockaddr_un address;
    char name[NAME_ROOM];
    int error = is_taken_here(port_space, port) ? EADDRINUSE : 0;

    port_name(port_space, port, name);
    if (!error) error = names_take(place(port_space, port), name);
    if (error) return error;
    if (!bind(fd, (struct sockaddr *)&address, names_address(name, &address))) return 0;
    error = errno;
    names_give(place(port_space, port), name);
    return error;
}

int cm_port_take(uint16_t port_space, union cm_address *address, int *out) {
    uint16_t port = cm_address_port(address), first = 0;
    int fd, error = names_start();

    if (error) return error;
    fd = fd_high(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0) return errno;
    if (port) {
        error = take(fd, port_space, port);
    } else {
        if (getrandom(&first, sizeof first, GRND_NONBLOCK) != sizeof first)
            first = (uint16_t)getpid();
        error = EADDRINUSE;
        for (unsigned i = 0; i < PORT_COUNT && error == EADDRINUSE; i++) {
            port = (uint16_t)(PORT_FIRST + (first + i) % PORT_COUNT);
            error = take(fd, port_space, port);
        }
    }
    if (error) {
        close(fd);
        return error;
    }
    cm_address_set_port(address, port);
    *out = fd;
    return 0;
}

void cm_port_give(struct cm_id *id) {
    char name[NAME_ROOM];
    uint16_t port = cm_address_port(&id->source);

    if (id->port < 0) return;
    port_name(id->port_space, port, name);
    names_give(place(id->port_space, port), name);
    close(id->port);
    id->port = -1;
}
