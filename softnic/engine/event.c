/* Events are records in pipes: 8 bytes for a completion (the CQ's user handle), 16 for an
 * asynchronous event (struct ib_uverbs_async_event_desc). The application reads its end directly;
 * libibverbs waits at destroy until it has acknowledged as many as we say were delivered, so those
 * which it never read are taken back out first. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine.h"

struct completion_record {
    uint64_t user_handle;
};
struct async_record {
    uint64_t user_handle;
    uint32_t type, reserved;
};

/* A description of the read end of our own, so that reading from it never blocks whatever the
 * application does with its own. */
static int open_again(int fd) {
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return fd_high(open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

int channel_create(struct context *context, bool async, struct channel **out) {
    struct channel *channel = calloc(1, sizeof *channel);
    int fd[2];
    if (!channel) return ENOMEM;
    if (pipe2(fd, O_CLOEXEC)) {
        int error = errno;
        free(channel);
        return error;
    }
    channel->read_fd = fd[0];
    channel->write_fd = fd_high(fd[1]);
    channel->again_fd = open_again(fd[0]);
    fcntl(channel->write_fd, F_SETFL, O_NONBLOCK);
    fcntl(channel->write_fd, F_SETPIPE_SZ, 1 << 20);
    channel->async = async;
    object_link(&channel->object, KIND_CHANNEL, context);
    if (async && !context->async) context->async = channel;
    channel->chain = nic.channels;
    nic.channels = channel;
    *out = channel;
    return 0;
}

struct channel *channel_find(int read_fd) {
    for (struct channel *channel = nic.channels; channel; channel = channel->chain)
        if (channel->read_fd == read_fd) return channel;
    return NULL;
}

/* CQs and QPs may still name the channel; it goes with its context. */
void channel_closed(int read_fd) {
    struct channel *channel = channel_find(read_fd);
    if (!channel) return;
    channel->read_fd = -1;
    if (channel->again_fd >= 0) close(channel->again_fd);
    close(channel->write_fd);
    channel->again_fd = channel->write_fd = -1;
}

void channel_destroy(struct channel *channel) {
    /* The read end is the application's to close. */
    if (channel->again_fd >= 0) close(channel->again_fd);
    if (channel->write_fd >= 0) close(channel->write_fd);
    for (struct channel **link = &nic.channels; *link; link = &(*link)->chain)
        if (*link == channel) {
            *link = channel->chain;
            break;
        }
    if (channel->object.context->async == channel) channel->object.context->async = NULL;
    object_unlink(&channel->object);
    free(channel);
}

static bool put(struct channel *channel, const void *record, size_t size) {
    return channel && channel->write_fd >= 0 &&
           write(channel->write_fd, record, size) == (ssize_t)size;
}

void event_completion(struct cq *cq) {
    struct completion_record record = {cq->attr.user_handle};
    if (put(cq->attr.channel, &record, sizeof record)) cq->comp_events++;
}

bool event_async(struct context *context, struct channel *channel, uint64_t user_handle,
                 enum async_event type) {
    struct async_record record = {user_handle, type, 0};
    return put(channel ? channel : context->async, &record, sizeof record);
}

void event_qp(struct qp *qp, enum async_event type) {
    late_settle_qp(qp);
    if (event_async(qp->object.context, qp->attr.async, qp->attr.user_handle, type))
        qp->async_events++;
}

uint32_t event_retract(struct channel *channel, uint64_t user_handle) {
    if (!channel || channel->again_fd < 0) return 0;
    size_t size = channel->async ? sizeof(struct async_record) : sizeof(struct completion_record);
    int waiting = 0;
    uint32_t found = 0;
    if (ioctl(channel->again_fd, FIONREAD, &waiting) || waiting < (int)size) return 0;
    uint8_t *records = malloc((size_t)waiting);
    if (!records) return 0;
    ssize_t got = read(channel->again_fd, records, (size_t)waiting / size * size);
    for (ssize_t at = 0; at + (ssize_t)size <= got; at += (ssize_t)size) {
        uint64_t handle;
        memcpy(&handle, records + at, sizeof handle);
        if (handle == user_handle) found++;
        else put(channel, records + at, size);
    }
    free(records);
    return found;
}
