/* Shared receive queues: made, changed, destroyed. The walk is queue.c's. */
#include <errno.h>
#include <stdlib.h>

#include "engine.h"

int srq_create(struct context *context, const struct srq_attr *attr, struct srq **out) {
    struct srq *srq = calloc(1, sizeof *srq);
    if (!srq) return ENOMEM;
    int error = table_add(&nic.srqs, srq, &srq->number);
    if (error) {
        free(srq);
        return error;
    }
    srq->attr = *attr;
    attr->pd->object.users++;
    object_link(&srq->object, KIND_SRQ, context);
    *out = srq;
    return 0;
}

int srq_modify(struct srq *srq, uint32_t limit) {
    if (limit > srq->attr.entries) return EINVAL;
    srq->attr.limit = limit;
    return 0;
}

int srq_destroy(struct srq *srq, uint32_t *async_events) {
    if (srq->object.users) return EBUSY;
    *async_events = srq->async_events -
                    event_retract(srq->attr.async ? srq->attr.async : srq->object.context->async,
                                  srq->attr.user_handle);
    srq->attr.pd->object.users--;
    table_remove(&nic.srqs, srq->number);
    object_unlink(&srq->object);
    free(srq);
    return 0;
}
