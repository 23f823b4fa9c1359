/* Memory regions and windows. */
#include "shim.h"

#include <errno.h>

enum {
    ACCESS_KNOWN = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
        IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | IB_UVERBS_ACCESS_MW_BIND |
        IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB |
        IB_UVERBS_ACCESS_OPTIONAL_RANGE,
};

static int check_access(uint32_t access) {
    if (access & ~(uint32_t)ACCESS_KNOWN) return EINVAL;
    /* Who may be written by others must be writable to begin with (InfiniBand Architecture
     * Specification, 11.2.8.2). */
    if (access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC) &&
        !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
        return EINVAL;
    return access & IB_UVERBS_ACCESS_ON_DEMAND ? EOPNOTSUPP : 0;
}

/* The kernel pins the pages for writing if any right is one to change them (ib_umem_get). */
static bool pins_for_writing(uint32_t access) {
    return access & (IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
                     IB_UVERBS_ACCESS_REMOTE_ATOMIC | IB_UVERBS_ACCESS_MW_BIND);
}

static int check_range(uint64_t start, uint64_t length, uint64_t iova, uint32_t access) {
    if (!length || start + length < start || iova + length < iova) return EINVAL;
    if ((start ^ iova) & (PAGE_BYTES - 1)) return EINVAL;
    return user_is_allowed(start, length, pins_for_writing(access)) ? 0 : EFAULT;
}

int reg_mr(struct command *command) {
    struct ib_uverbs_reg_mr request;
    struct ib_uverbs_reg_mr_resp response;
    struct key *key;
    struct pd *pd;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    if (attr_room(command, UVERBS_ATTR_CORE_OUT) < sizeof(response)) return ENOSPC;
    error = check_access(request.access_flags);
    if (error) return error;
    pd = handle_get(command->file, request.pd_handle, KIND_PD);
    if (!pd) return ENOENT;
    error = check_range(request.start, request.length, request.hca_va, request.access_flags);
    if (!error)
        error = mr_create(pd, request.start, request.length, request.hca_va, request.access_flags,
                          &key);
    if (error) return error;
    error = handle_add(command->file, key);
    if (error) {
        key_destroy(key);
        return error;
    }
    response.mr_handle = key->object.handle;
    response.lkey = response.rkey = key_value(key);
    error = attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error) {
        handle_drop(command->file, key->object.handle);
        key_destroy(key);
    }
    return error;
}

/* A key of the right type, or NULL: MRs, windows and mkeys share a kind. */
static struct key *find(const struct file *file, uint32_t handle, enum key_type type) {
    struct key *key = handle_get(file, handle, KIND_KEY);

    return key && key->type == type ? key : NULL;
}

int rereg_mr(struct command *command) {
    struct ib_uverbs_rereg_mr request;
    struct ib_uverbs_rereg_mr_resp response;
    struct key *key;
    struct pd *pd = NULL;
    uint32_t access;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    if (attr_room(command, UVERBS_ATTR_CORE_OUT) < sizeof(response)) return ENOSPC;
    if (!request.flags || request.flags & ~(uint32_t)(MR_TRANSLATION | MR_PD | MR_ACCESS))
        return EINVAL;
    key = find(command->file, request.mr_handle, KEY_MR);
    if (!key) return ENOENT;
    access = request.flags & MR_ACCESS ? request.access_flags : mr_access(key);
    error = check_access(access);
    if (!error && request.flags & MR_TRANSLATION)
        error = check_range(request.start, request.length, request.hca_va, access);
    else if (!error && request.flags & MR_ACCESS)
        error = check_range(key->base, key->length, key->base, access);
    if (error) return error;
    if (request.flags & MR_PD) {
        pd = handle_get(command->file, request.pd_handle, KIND_PD);
        if (!pd) return ENOENT;
    }
    error = mr_modify(key, request.flags, pd, request.start, request.length, request.hca_va,
                      request.access_flags);
    if (error) return error;
    response.lkey = response.rkey = key_value(key);
    return attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

static int destroy(struct command *command, uint16_t id, enum key_type type) {
    struct key *key;
    uint32_t handle;
    int error = attr_object(command, id, KIND_KEY, &key);

    if (error) return error;
    if (key->type != type) return ENOENT;
    handle = key->object.handle;
    error = key_destroy(key);
    if (!error) handle_drop(command->file, handle);
    return error;
}

int destroy_mr(struct command *command) {
    return destroy(command, UVERBS_ATTR_DESTROY_MR_HANDLE, KEY_MR);
}

int destroy_mw(struct command *command) {
    return destroy(command, UVERBS_ATTR_DESTROY_MW_HANDLE, KEY_MW);
}

int query_mr(struct command *command) {
    struct key *key;
    int error = attr_object(command, UVERBS_ATTR_QUERY_MR_HANDLE, KIND_KEY, &key);

    if (error) return error;
    if (key->type != KEY_MR) return ENOENT;
    error =
        attr_out_number(command, UVERBS_ATTR_QUERY_MR_RESP_LKEY, key_value(key), sizeof(uint32_t));
    if (!error)
        error = attr_out_number(command, UVERBS_ATTR_QUERY_MR_RESP_RKEY, key_value(key),
                                sizeof(uint32_t));
    if (!error)
        error = attr_out_number(command, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, key->length,
                                sizeof(uint64_t));
    return error ? error
                 : attr_out_number(command, UVERBS_ATTR_QUERY_MR_RESP_IOVA, key->start,
                                   sizeof(uint64_t));
}

int alloc_mw(struct command *command) {
    struct ib_uverbs_alloc_mw request;
    struct ib_uverbs_alloc_mw_resp response;
    struct key *key;
    struct pd *pd;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    if (attr_room(command, UVERBS_ATTR_CORE_OUT) < sizeof(response)) return ENOSPC;
    if (request.mw_type != 1 && request.mw_type != 2) return EINVAL;
    pd = handle_get(command->file, request.pd_handle, KIND_PD);
    if (!pd) return ENOENT;
    error = mw_create(pd, request.mw_type, &key);
    if (error) return error;
    error = handle_add(command->file, key);
    if (error) {
        key_destroy(key);
        return error;
    }
    response.mw_handle = key->object.handle;
    response.rkey = key_value(key);
    error = attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error) {
        handle_drop(command->file, key->object.handle);
        key_destroy(key);
    }
    return error;
}
