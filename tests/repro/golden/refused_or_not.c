/*
 * tests/repro/golden/golden.mks::refused_or_not
 *
 * What a key grants whose access nobody has set is left open.
 *
 * verifies ACC-07
 *
 * cc -Wall -Wextra -Werror repro.c -libverbs -lmlx5 && ./a.out [DEVICE]
 *
 * Exit code: 0 passed, 1 failed, 2 could not be set up, 77 the device lacks something.
 * Numbers of lines are those of tests/repro/golden/golden.mks.
 */

#define CASE_ID "tests/repro/golden/golden.mks::refused_or_not"
#define CASE_FILE "tests/repro/golden/golden.mks"
#define LAST_LINE 32
#define DEADLINE 5.0 /* seconds that anything may take */

#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PASSED = 0, FAILED = 1, SET_UP_FAILED = 2, SKIPPED = 77 };
enum side { OWNER, PEER };

static struct ibv_context *device;
static struct ibv_device_attr device_attr;
static struct ibv_port_attr port_attr;
static union ibv_gid port_gid;
static uint8_t port_number, gid_index;
static struct ibv_pd *pds[2]; /* of the owner, and of the peer */
static int failures;

/* What differs from the case, at a line of its file; the program goes on. */
__attribute__((format(printf, 2, 3))) static void fail(int line, const char *text, ...)
{
	va_list list;

	failures++;
	printf("FAIL %s:%d: ", CASE_FILE, line);
	va_start(list, text);
	vprintf(text, list);
	va_end(list);
	printf("\n");
}

/* The program can't go on. */
__attribute__((format(printf, 2, 3), noreturn)) static void stop(int code, const char *text, ...)
{
	va_list list;

	va_start(list, text);
	vprintf(text, list);
	va_end(list);
	printf("\n");
	exit(failures ? FAILED : code);
}

/* What a known driver does here otherwise than the page says; the case ends with it. */
__attribute__((noreturn)) static void departs(int line, const char *id)
{
	stop(PASSED, "KNOWN %s:%d: %s", CASE_FILE, line, id);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void open_device(const char *name)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	int count = 0, i, port, index;
	struct ibv_device **list = ibv_get_device_list(&count);

	for (i = 0; i < count && !device; i++)
		if (mlx5dv_is_supported(list[i]) && (!name || !strcmp(name, ibv_get_device_name(list[i]))))
			device = mlx5dv_open_device(list[i], &attr);
	if (!device)
		stop(SET_UP_FAILED, "no mlx5 device %s can be opened with DEVX", name ? name : "");
	ibv_query_device(device, &device_attr);
	for (port = 1; port <= device_attr.phys_port_cnt && !port_number; port++)
		if (!ibv_query_port(device, (uint8_t)port, &port_attr) && port_attr.state == IBV_PORT_ACTIVE)
			port_number = (uint8_t)port;
	if (!port_number)
		stop(SET_UP_FAILED, "no port of %s is active", ibv_get_device_name(device->device));
	for (index = 0; port_attr.link_layer == IBV_LINK_LAYER_ETHERNET && index < port_attr.gid_tbl_len; index++)
		if (!ibv_query_gid(device, port_number, index, &port_gid) && (port_gid.global.subnet_prefix || port_gid.global.interface_id))
			break;
	gid_index = (uint8_t)index;
	pds[OWNER] = ibv_alloc_pd(device);
	pds[PEER] = ibv_alloc_pd(device);
	printf("%s on %s, firmware %s\n", CASE_ID, ibv_get_device_name(device->device), device_attr.fw_ver);
	ibv_free_device_list(list);
}

#define GUARD 64 /* bytes on either side of a buffer, inside its MR, which nobody may write */

struct buffer {
	const char *name;
	enum side side;
	size_t length;
	int access;
	unsigned misaligned; /* bytes that the MR begins after a page */
	struct ibv_pd **pd;
	uint8_t *bytes; /* the first one, after the guard */
	uint8_t *kept;	/* what these bytes, guards included, should be */
	uint8_t *any;	/* 1: of this byte nothing is known */
	struct ibv_mr *mr;
};

static void make_buffer(struct buffer *b)
{
	static uint32_t canary = 0x6d6b6579;
	size_t size = b->length + 2 * GUARD, i;
	uint8_t *pages = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	b->kept = malloc(size);
	b->any = calloc(1, size);
	if (pages == MAP_FAILED || !b->kept || !b->any)
		stop(SET_UP_FAILED, "no memory for %s", b->name);
	b->bytes = pages + b->misaligned + GUARD;
	for (i = 0; i < size; i++) {
		canary = canary * 1664525 + 1013904223;
		b->bytes[i - GUARD] = (uint8_t)(canary >> 24);
	}
	memcpy(b->kept, b->bytes - GUARD, size);
	b->mr = ibv_reg_mr(b->pd ? *b->pd : pds[b->side], b->bytes - GUARD, size, b->access);
	if (!b->mr)
		stop(SET_UP_FAILED, "ibv_reg_mr of %s: %s", b->name, strerror(errno));
}

static uint64_t at(const struct buffer *b, int64_t offset)
{
	return (uint64_t)(uintptr_t)b->bytes + (uint64_t)offset;
}

/* The host writes. */
static void put(struct buffer *b, size_t start, const void *data, size_t length)
{
	memcpy(b->bytes + start, data, length);
	memcpy(b->kept + GUARD + start, data, length);
	memset(b->any + GUARD + start, 0, length);
}

static void counter(uint8_t *to, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		to[i] = (uint8_t)(i + (i >> 8));
}

/* Whether bytes are these; `mask` NULL: all bits of all of them. */
static bool is_there(const struct buffer *b, size_t start, const uint8_t *want, const uint8_t *mask, size_t length)
{
	const volatile uint8_t *got = b->bytes + start;
	size_t i;

	for (i = 0; i < length; i++)
		if ((got[i] ^ want[i]) & (mask ? mask[i] : 0xff))
			return false;
	return true;
}

/* What is there is what is expected from now on. */
static void look(struct buffer *b, size_t start, size_t length)
{
	memcpy(b->kept + GUARD + start, b->bytes + start, length);
	memset(b->any + GUARD + start, 0, length);
}

static void differs(int line, const struct buffer *b, size_t start, const uint8_t *want, const uint8_t *mask, size_t length)
{
	const uint8_t *got = b->bytes + start;
	size_t i, first = length, count = 0;

	for (i = 0; i < length; i++)
		if ((got[i] ^ want[i]) & (mask ? mask[i] : 0xff)) {
			first = first < length ? first : i;
			count++;
		}
	if (!count)
		return;
	fail(line, "%zu of %zu bytes of %s differ, first at offset %zu", count, length, b->name, start + first);
	printf("  expected");
	for (i = first; i < length && i < first + 16; i++)
		printf(" %02x", want[i]);
	printf("\n  got     ");
	for (i = first; i < length && i < first + 16; i++)
		printf(" %02x", got[i]);
	printf("\n");
}

/* Waits, and no longer than needed, until the bytes are as they should be; else says where they differ. */
static void check(int line, struct buffer *b, size_t start, const uint8_t *want, const uint8_t *mask, size_t length)
{
	double end = now() + 0.1;

	while (!is_there(b, start, want, mask, length) && now() < end)
		usleep(100);
	differs(line, b, start, want, mask, length);
	look(b, start, length);
}

static bool is_kept(const struct buffer *b, size_t start, size_t length)
{
	size_t i;

	for (i = GUARD + start; i < GUARD + start + length; i++)
		if (!b->any[i] && b->bytes[i - GUARD] != b->kept[i])
			return false;
	return true;
}

/* No byte that no statement names, and no guard, was written. */
static void nothing_else_changed(int line, struct buffer *b)
{
	size_t i, count = 0, first = 0;

	for (i = 0; i < b->length + 2 * GUARD; i++)
		if (!b->any[i] && b->bytes[i - GUARD] != b->kept[i]) {
			first = count++ ? first : i;
		}
	if (count)
		fail(line, "%zu bytes of %s changed that no statement names, first at offset %zd: expected %02x, got %02x",
		     count, b->name, (ssize_t)first - GUARD, b->kept[first], b->bytes[first - GUARD]);
}

struct queue {
	struct ibv_cq *cq;
	struct ibv_wc *got; /* that came and were not asked for yet, from `first` on */
	size_t first, count, room;
};

struct end {
	const char *name;
	struct ibv_qp *qp;
	struct ibv_qp_ex *ibv;
	struct mlx5dv_qp_ex *mlx5;
	struct ibv_srq *srq; /* of the receiving end of DC */
	struct ibv_ah *ah;   /* of UD and DC: the way to the other end */
	uint32_t inline_room;
	struct queue sends, receives;
};

static void poll_cq(struct queue *q)
{
	struct ibv_wc wc;
	int empty = 0;

	/* libmlx5 returns 0 from the poll that takes the entry of a signature error, so one 0 is no end. */
	while (q->cq && empty < 4) {
		if (ibv_poll_cq(q->cq, 1, &wc) <= 0) {
			empty++;
			continue;
		}
		empty = 0;
		if (q->count == q->room) {
			q->room = 2 * q->room + 16;
			q->got = realloc(q->got, q->room * sizeof(*q->got));
		}
		q->got[q->count++] = wc;
	}
}

struct wanted {
	uint64_t id;
	int opcode;
	uint32_t errors;     /* the statuses beside success that it may have, a bit each */
	bool must_fail;	     /* success is none of them */
	bool any_order;	     /* others may come before it */
	unsigned byte_lens;  /* how many are admitted; 0: it is not compared */
	uint32_t byte_len[2];
	bool is_received;    /* what follows is compared */
	bool has_imm;
	uint32_t imm;
	uint32_t rkey;	     /* that was invalidated; 0: none */
	uint32_t known;	     /* statuses of a known departure */
	const char *departure;
};

static struct ibv_wc last_wc; /* what `completes` returned last */

/* Whether a completion comes in time: with this id, or the first one. */
static bool wait_for(struct queue *q, uint64_t id, bool any_order, size_t *found)
{
	double end = now() + DEADLINE;
	bool late;

	do {
		late = now() > end;
		poll_cq(q);
		for (*found = q->first; *found < q->count; ++*found)
			if (!any_order || q->got[*found].wr_id == id)
				return true;
		usleep(20);
	} while (!late);
	return false;
}

#define STATUS(name) (1u << IBV_WC_##name)

/* Waits for a completion, and compares it; whether it is success. */
static bool completes(int line, struct queue *q, struct wanted want)
{
	struct ibv_wc *wc = &last_wc;
	size_t i;

	if (!wait_for(q, want.id, want.any_order, &i)) {
		fail(line, "the completion with id %" PRIu64 " did not come", want.id);
		stop(FAILED, "FAILED");
	}
	*wc = q->got[i];
	memmove(q->got + i, q->got + i + 1, (q->count - i - 1) * sizeof(*q->got));
	q->count--;
	if (want.known & 1u << wc->status)
		departs(line, want.departure);
	if (wc->wr_id != want.id && want.departure)
		departs(line, want.departure);
	if (wc->wr_id != want.id) {
		fail(line, "expected the completion of %" PRIu64 ", got that of %" PRIu64 " (%s)", want.id, wc->wr_id, ibv_wc_status_str(wc->status));
		stop(FAILED, "FAILED");
	}
	if (wc->status ? !(want.errors & 1u << wc->status) : want.must_fail) {
		fail(line, "the completion of %" PRIu64 " has the status %s, vendor error %#x", wc->wr_id, ibv_wc_status_str(wc->status), wc->vendor_err);
		stop(FAILED, "FAILED");
	}
	if (wc->status)
		return false;
	if ((int)wc->opcode != want.opcode)
		fail(line, "the completion of %" PRIu64 " has the opcode %d, not %d", wc->wr_id, wc->opcode, want.opcode);
	if (want.byte_lens && wc->byte_len != want.byte_len[0] && (want.byte_lens < 2 || wc->byte_len != want.byte_len[1]))
		fail(line, "the completion of %" PRIu64 " has byte_len %u, not %u", wc->wr_id, wc->byte_len, want.byte_len[0]);
	if (want.is_received && (!!(wc->wc_flags & IBV_WC_WITH_IMM) != want.has_imm || (want.has_imm && be32toh(wc->imm_data) != want.imm)))
		fail(line, "the completion of %" PRIu64 " has the immediate %#x, not %#x", wc->wr_id, be32toh(wc->imm_data), want.imm);
	if (want.is_received && ((wc->wc_flags & IBV_WC_WITH_INV) ? wc->invalidated_rkey : 0) != want.rkey)
		fail(line, "the completion of %" PRIu64 " has not invalidated the rkey %#x", wc->wr_id, want.rkey);
	if (failures)
		stop(FAILED, "FAILED");
	return true;
}

/* What a failure leaves in a queue: errors, and nothing else. */
static void drop_errors(int line, struct queue *q, bool failed)
{
	poll_cq(q);
	for (; q->first < q->count; q->first++)
		if (!failed || !q->got[q->first].status)
			fail(line, "a completion is left over: id %" PRIu64 ", %s", q->got[q->first].wr_id, ibv_wc_status_str(q->got[q->first].status));
	q->first = q->count = 0;
}

static void nothing_left(struct end *end)
{
	drop_errors(LAST_LINE, &end->sends, false);
	drop_errors(LAST_LINE, &end->receives, false);
}

/* What a call returned, against the errnos that the case admits (0 ends them; -1: any); whether it succeeded. */
static bool result_is(int line, const char *call, int result, bool may_succeed, const int *errors)
{
	int given = result < 0 ? -result : result;

	for (; *errors && given; errors++)
		if (*errors == -1 || *errors == given)
			return false;
	if (!given && may_succeed)
		return true;
	fail(line, "%s returned %d (%s)", call, given, given ? strerror(given) : "success");
	stop(given == EOPNOTSUPP && may_succeed && !strstr(call, "complete") ? SKIPPED : FAILED, "the case ends here");
}

struct pair {
	const char *name;
	enum ibv_qp_type type;
	struct ibv_qp_cap cap;
	uint64_t ops;	      /* MLX5DV_QP_EX_WITH_… */
	uint32_t create_flags; /* MLX5DV_QP_CREATE_… */
	int sq_sig_all;
	unsigned streams;     /* of a DCI */
	struct ibv_pd **pd;
	enum side pd_side;
	struct end owner, peer;
};

static uint64_t basic_ops(enum ibv_qp_type type)
{
	uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	uint64_t atomics = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	uint64_t keys = IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV;

	switch (type) {
	case IBV_QPT_RC:
		return sends | writes | IBV_QP_EX_WITH_RDMA_READ | atomics | keys;
	case IBV_QPT_UC:
		return sends | writes | keys;
	case IBV_QPT_UD:
		return sends;
	case IBV_QPT_RAW_PACKET:
		return IBV_QP_EX_WITH_SEND;
	case IBV_QPT_XRC_SEND:
		return sends | writes | IBV_QP_EX_WITH_RDMA_READ;
	default:
		return sends | writes | IBV_QP_EX_WITH_RDMA_READ | atomics;
	}
}

/* A QP with a CQ for each of its queues; an errno. */
static int make_end(struct pair *p, struct end *end, enum side side)
{
	bool dc = p->type == IBV_QPT_DRIVER;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = p->type,
		.sq_sig_all = p->sq_sig_all,
		.cap = p->cap,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = p->pd && p->pd_side == side ? *p->pd : pds[side],
		.send_ops_flags = basic_ops(p->type),
	};
	struct mlx5dv_qp_init_attr more = {
		.comp_mask = (p->create_flags ? MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS : 0) |
			     (p->ops ? MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS : 0) | (dc ? MLX5DV_QP_INIT_ATTR_MASK_DC : 0) |
			     (p->streams ? MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS : 0),
		.create_flags = p->create_flags,
		.send_ops_flags = p->ops,
		.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI,
	};

	if (p->streams) {
		while (1u << more.dc_init_attr.dci_streams.log_num_concurent < p->streams)
			more.dc_init_attr.dci_streams.log_num_concurent++;
		more.dc_init_attr.dci_streams.log_num_errored = more.dc_init_attr.dci_streams.log_num_concurent;
	}
	if (dc)
		attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
	attr.send_cq = end->sends.cq = ibv_create_cq(device, (int)(2 * p->cap.max_send_wr + 16), NULL, NULL, 0);
	attr.recv_cq = end->receives.cq = ibv_create_cq(device, (int)(p->cap.max_recv_wr + 16), NULL, NULL, 0);
	if (!attr.send_cq || !attr.recv_cq)
		return errno;
	end->qp = mlx5dv_create_qp(device, &attr, &more);
	if (!end->qp)
		return errno;
	end->inline_room = attr.cap.max_inline_data;
	end->ibv = ibv_qp_to_qp_ex(end->qp);
	end->mlx5 = mlx5dv_qp_ex_from_ibv_qp_ex(end->ibv);
	return 0;
}

static struct ibv_ah_attr path(void)
{
	struct ibv_ah_attr attr = {.dlid = port_attr.lid, .port_num = port_number};

	if (port_attr.link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.is_global = 1;
		attr.grh.dgid = port_gid;
		attr.grh.sgid_index = gid_index;
		attr.grh.hop_limit = 1;
	}
	return attr;
}

#define QKEY 0x11111111

/* From RESET to RTS, towards the QP of this number. */
static int connect_to(struct ibv_qp *qp, enum ibv_qp_type type, uint32_t number)
{
	bool rc = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND, uc = type == IBV_QPT_UC, ud = type == IBV_QPT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = port_number,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = number,
		.ah_attr = path(),
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 12,
		.retry_cnt = 7,
		.rnr_retry = 6,
	};
	int result;

	if (type == IBV_QPT_RAW_PACKET)
		return 0;
	result = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (rc || uc ? IBV_QP_ACCESS_FLAGS : 0) | (ud ? IBV_QP_QKEY : 0));
	if (result)
		return result;
	attr.qp_state = IBV_QPS_RTR;
	result = ibv_modify_qp(qp, &attr, IBV_QP_STATE | (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU) | (rc || uc ? IBV_QP_DEST_QPN | IBV_QP_RQ_PSN : 0) |
					  (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
	if (result)
		return result;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
					(uc || ud ? 0 : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Two connected QPs, or of DC a DCI; an errno. */
static int make_pair(struct pair *p)
{
	bool dc = p->type == IBV_QPT_DRIVER, pathed = dc || p->type == IBV_QPT_UD;
	struct ibv_ah_attr way = path();
	int result = make_end(p, &p->owner, OWNER);

	if (!result && !dc)
		result = make_end(p, &p->peer, PEER);
	if (!result)
		result = connect_to(p->owner.qp, p->type, dc ? 0 : p->peer.qp->qp_num);
	if (!result && !dc)
		result = connect_to(p->peer.qp, p->type, p->owner.qp->qp_num);
	if (!result && pathed) {
		p->owner.ah = ibv_create_ah(pds[OWNER], &way);
		p->peer.ah = ibv_create_ah(pds[PEER], &way);
	}
	return result;
}

static void close_end(struct end *end)
{
	if (end->ah)
		ibv_destroy_ah(end->ah);
	if (end->qp)
		ibv_destroy_qp(end->qp);
	if (end->sends.cq)
		ibv_destroy_cq(end->sends.cq);
	if (end->receives.cq)
		ibv_destroy_cq(end->receives.cq);
	free(end->sends.got);
	free(end->receives.got);
	*end = (struct end){.name = end->name};
}

/* New QPs in place of these: `failed` ones, or those on which a section was refused (libmlx5 keeps its half). */
static void make_again(int line, struct pair *p, bool failed)
{
	struct queue *queues[] = {&p->owner.sends, &p->owner.receives, &p->peer.sends, &p->peer.receives};
	size_t i;

	usleep(500);
	for (i = 0; i < 4; i++)
		drop_errors(line, queues[i], failed);
	close_end(&p->owner);
	close_end(&p->peer);
	if (make_pair(p))
		stop(SET_UP_FAILED, "%s can't be made again: %s", p->name, strerror(errno));
}

/* A message, or a write, without bytes: when it completes, nothing that was posted before it is under way. */
static void post_marker(int line, struct end *end, uint64_t id, bool message)
{
	int result;

	ibv_wr_start(end->ibv);
	end->ibv->wr_id = id;
	end->ibv->wr_flags = IBV_SEND_SIGNALED;
	if (message)
		ibv_wr_send(end->ibv);
	else
		ibv_wr_rdma_write(end->ibv, 0, 0);
	ibv_wr_set_sge_list(end->ibv, 0, NULL);
	result = ibv_wr_complete(end->ibv);
	if (result)
		stop(FAILED, "FAIL %s:%d: ibv_wr_complete: %s", CASE_FILE, line, strerror(result));
}

/* NULL and errno if it is refused. */
static struct mlx5dv_mkey *make_mkey(struct ibv_pd *pd, uint32_t flags, uint16_t entries, uint16_t *granted)
{
	struct mlx5dv_mkey_init_attr attr = {.pd = pd, .create_flags = flags, .max_entries = entries};
	struct mlx5dv_mkey *made = mlx5dv_create_mkey(&attr);

	*granted = attr.max_entries;
	return made;
}

/* The next async event, if one comes in so many seconds. */
static bool next_event(struct ibv_async_event *event, double seconds)
{
	struct pollfd ready = {.fd = device->async_fd, .events = POLLIN};

	if (poll(&ready, 1, (int)(seconds * 1000)) < 1 || ibv_get_async_event(device, event))
		return false;
	ibv_ack_async_event(event);
	return true;
}

/* No async event is left over, but for those of a failure that the case claims, and of the port. */
static void no_events(bool failed)
{
	struct ibv_async_event event;

	while (next_event(&event, 0))
		if (event.event_type < IBV_EVENT_SQ_DRAINED ? !failed : event.event_type == IBV_EVENT_SQ_DRAINED || event.event_type == IBV_EVENT_DEVICE_FATAL)
			fail(LAST_LINE, "an async event is left over: %s", ibv_event_type_str(event.event_type));
}

static uint8_t bytes_1[64]; /* Fill(0, 64) */
static uint8_t bytes_2[64]; /* Counter(64) */
static struct buffer dst = {.name = "dst", .side = OWNER, .length = 64, .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
static struct mlx5dv_mkey *k;
static uint16_t k_entries;
static struct pair qp = {
	.name = "qp",
	.type = IBV_QPT_RC,
	.cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 4, .max_recv_sge = 4, .max_inline_data = 512},
	.ops = MLX5DV_QP_EX_WITH_MR_INTERLEAVED | MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MKEY_CONFIGURE,
	.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
};
static struct buffer the_peer_s_data = {.name = "the peer's data", .side = PEER, .length = 64, .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
static bool accepted_30;
static struct ibv_qp_ex *ibv;
static struct mlx5dv_qp_ex *mlx5;
static int result;

int main(int argc, char **argv)
{
	open_device(argc > 1 ? argv[1] : NULL);
	memset(bytes_1, 0x00, 64);
	counter(bytes_2, 64);

	/* 27: memory dst = fill(0, 64) */
	make_buffer(&dst);
	put(&dst, 0, bytes_1, 64);

	/* 28: mkey k */
	k = make_mkey(pds[OWNER], MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, 4, &k_entries);
	result = k ? 0 : errno;
	result_is(28, "mlx5dv_create_mkey", result, true, (const int[]){0});

	/* 29: configure k { layout list(dst) } */
	result = make_pair(&qp);
	result_is(29, "mlx5dv_create_qp", result, true, (const int[]){0});
	ibv = qp.owner.ibv;
	mlx5 = qp.owner.mlx5;
	ibv_wr_start(ibv);
	ibv->wr_id = 1001;
	ibv->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	mlx5dv_wr_mkey_configure(mlx5, k, 1, &(struct mlx5dv_mkey_conf_attr){.conf_flags = 0});
	mlx5dv_wr_set_mkey_layout_list(mlx5, 1, (struct ibv_sge[]){{at(&dst, 0), 64, dst.mr->lkey}});
	result = ibv_wr_complete(ibv);
	result_is(29, "ibv_wr_complete", result, true, (const int[]){0});
	completes(29, &qp.owner.sends, (struct wanted){.id = 1001, .opcode = MLX5DV_WC_UMR});

	/* 30: receive counter(64) into k by peer_write as r */
	make_buffer(&the_peer_s_data);
	put(&the_peer_s_data, 0, bytes_2, 64);
	post_marker(30, &qp.owner, 1002, false);
	completes(30, &qp.owner.sends, (struct wanted){.id = 1002, .opcode = IBV_WC_RDMA_WRITE});
	ibv = qp.peer.ibv;
	ibv_wr_start(ibv);
	ibv->wr_id = 1003;
	ibv->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ibv, k->rkey, 0);
	ibv_wr_set_sge(ibv, the_peer_s_data.mr->lkey, at(&the_peer_s_data, 0), 64);
	result = ibv_wr_complete(ibv);
	result_is(30, "ibv_wr_complete", result, true, (const int[]){0});
	if (completes(30, &qp.peer.sends, (struct wanted){.id = 1003, .errors = STATUS(REM_INV_REQ_ERR) | STATUS(REM_ACCESS_ERR) | STATUS(REM_OP_ERR), .opcode = IBV_WC_RDMA_WRITE})) {
		accepted_30 = true;
	} else {
		make_again(30, &qp, true);
	}

	/* 32: expect dst in [counter(64), unchanged] */
	usleep(5000);
	if (!(is_there(&dst, 0, bytes_2, NULL, 64) || (!accepted_30 && is_kept(&dst, 0, 64))))
		check(32, &dst, 0, bytes_2, NULL, 64);
	look(&dst, 0, 64);

	/* At the end nothing may be left over that no statement names. */
	post_marker(32, &qp.owner, 1004, false);
	completes(32, &qp.owner.sends, (struct wanted){.id = 1004, .opcode = IBV_WC_RDMA_WRITE});
	usleep(5000);
	nothing_left(&qp.owner);
	nothing_left(&qp.peer);
	no_events(true);
	nothing_else_changed(27, &dst);
	nothing_else_changed(30, &the_peer_s_data);
	printf("%s\n", failures ? "FAILED" : "PASSED");
	return failures ? FAILED : PASSED;
}
