/*** head ***/
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

/*** departs ***/
/* What a known driver does here otherwise than the page says; the case ends with it. */
__attribute__((noreturn)) static void departs(int line, const char *id)
{
	stop(PASSED, "KNOWN %s:%d: %s", CASE_FILE, line, id);
}

/*** now ***/
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/*** open_device ***/
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

/*** dv_attr ***/
static struct mlx5dv_context dv_attr;

/*** query_mlx5 ***/
static void query_mlx5(void)
{
	dv_attr.comp_mask = MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD | MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH |
			    MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD | MLX5DV_CONTEXT_MASK_DCI_STREAMS;
	mlx5dv_query_device(device, &dv_attr);
}

/*** needs ***/
static void needs(bool met, const char *what)
{
	if (!met)
		stop(SKIPPED, "SKIPPED: the device lacks %s", what);
}

/*** GUARD ***/
#define GUARD 64 /* bytes on either side of a buffer, inside its MR, which nobody may write */

/*** buffer ***/
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

/*** make_buffer ***/
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

/*** at ***/
static uint64_t at(const struct buffer *b, int64_t offset)
{
	return (uint64_t)(uintptr_t)b->bytes + (uint64_t)offset;
}

/*** put ***/
/* The host writes. */
static void put(struct buffer *b, size_t start, const void *data, size_t length)
{
	memcpy(b->bytes + start, data, length);
	memcpy(b->kept + GUARD + start, data, length);
	memset(b->any + GUARD + start, 0, length);
}

/*** let_be ***/
/* These bytes may have become any others. */
static void let_be(struct buffer *b, size_t start, size_t length)
{
	memset(b->any + GUARD + start, 1, length);
}

/*** counter ***/
static void counter(uint8_t *to, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		to[i] = (uint8_t)(i + (i >> 8));
}

/*** pcg64 ***/
/* Random bytes: PCG64 (XSL-RR 128/64) from this state, 64 bits at a time, little endian. */
static void pcg64(uint8_t *to, size_t length, const uint64_t state[2], const uint64_t increment[2])
{
	const unsigned __int128 multiplier = (unsigned __int128)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645;
	unsigned __int128 s = (unsigned __int128)state[0] << 64 | state[1];
	unsigned __int128 more = (unsigned __int128)increment[0] << 64 | increment[1];
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < length; i++) {
		if (i % 8 == 0) {
			unsigned turn;

			s = s * multiplier + more;
			number = (uint64_t)(s >> 64) ^ (uint64_t)s;
			turn = (unsigned)(s >> 122);
			number = number >> turn | number << (-turn & 63);
		}
		to[i] = (uint8_t)(number >> 8 * (i % 8));
	}
}

/*** framed ***/
/* After each block of data, its field. */
static void framed(uint8_t *to, const uint8_t *data, size_t blocks, size_t block, const uint8_t *fields, size_t field)
{
	size_t i;

	for (i = 0; i < blocks; i++) {
		memcpy(to + i * (block + field), data + i * block, block);
		memcpy(to + i * (block + field) + block, fields + i * field, field);
	}
}

/*** repeated ***/
static void repeated(uint8_t *to, const uint8_t *data, size_t length, size_t times)
{
	while (times--)
		memcpy(to + times * length, data, length);
}

/*** number_in ***/
/* The number in `size` bytes. */
static uint64_t number_in(const uint8_t *bytes, size_t size, bool big)
{
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < size; i++)
		number = number << 8 | bytes[big ? i : size - 1 - i];
	return number;
}

/*** wide ***/
/* A number that the compiler does not see: all numbers of the other side may be below it. */
static uint64_t wide(uint64_t number)
{
	return number;
}

/*** set_number ***/
/* A number as `size` bytes. */
static void set_number(uint8_t *bytes, size_t size, bool big, uint64_t number)
{
	size_t i;

	for (i = 0; i < size; i++)
		bytes[big ? size - 1 - i : i] = (uint8_t)(number >> 8 * i);
}

/*** is_there ***/
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

/*** look ***/
/* What is there is what is expected from now on. */
static void look(struct buffer *b, size_t start, size_t length)
{
	memcpy(b->kept + GUARD + start, b->bytes + start, length);
	memset(b->any + GUARD + start, 0, length);
}

/*** differs ***/
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

/*** check ***/
/* Waits, and no longer than needed, until the bytes are as they should be; else says where they differ. */
static void check(int line, struct buffer *b, size_t start, const uint8_t *want, const uint8_t *mask, size_t length)
{
	double end = now() + 0.1;

	while (!is_there(b, start, want, mask, length) && now() < end)
		usleep(100);
	differs(line, b, start, want, mask, length);
	look(b, start, length);
}

/*** is_kept ***/
static bool is_kept(const struct buffer *b, size_t start, size_t length)
{
	size_t i;

	for (i = GUARD + start; i < GUARD + start + length; i++)
		if (!b->any[i] && b->bytes[i - GUARD] != b->kept[i])
			return false;
	return true;
}

/*** check_kept ***/
/* Nothing has written there. */
static void check_kept(int line, struct buffer *b, size_t start, size_t length)
{
	if (!is_kept(b, start, length))
		differs(line, b, start, b->kept + GUARD + start, NULL, length);
	look(b, start, length);
}

/*** nothing_else_changed ***/
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

/*** queue ***/
struct queue {
	struct ibv_cq *cq;
	struct ibv_wc *got; /* that came and were not asked for yet, from `first` on */
	size_t first, count, room;
};

/*** end ***/
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

/*** poll_cq ***/
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

/*** wanted ***/
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

/*** last_wc ***/
static struct ibv_wc last_wc; /* what `completes` returned last */

/*** wait_for ***/
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

/*** STATUS ***/
#define STATUS(name) (1u << IBV_WC_##name)

/*** ANY_ERROR ***/
#define ANY_ERROR (~1u & ~(1u << IBV_WC_WR_FLUSH_ERR))

/*** completes ***/
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

/*** drop_errors ***/
/* What a failure leaves in a queue: errors, and nothing else. */
static void drop_errors(int line, struct queue *q, bool failed)
{
	poll_cq(q);
	for (; q->first < q->count; q->first++)
		if (!failed || !q->got[q->first].status)
			fail(line, "a completion is left over: id %" PRIu64 ", %s", q->got[q->first].wr_id, ibv_wc_status_str(q->got[q->first].status));
	q->first = q->count = 0;
}

/*** nothing_left ***/
static void nothing_left(struct end *end)
{
	drop_errors(LAST_LINE, &end->sends, false);
	drop_errors(LAST_LINE, &end->receives, false);
}

/*** result_is ***/
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

/*** pair ***/
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

/*** basic_ops ***/
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

/*** make_end ***/
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

/*** path ***/
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

/*** QKEY ***/
#define QKEY 0x11111111

/*** connect_to ***/
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

/*** targets ***/
static struct end targets = {.name = "the DC targets"}; /* an SRQ, and DCTs on it */

/*** make_targets ***/
static void make_targets(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 64, .max_sge = 4}};

	if (targets.srq)
		return;
	targets.receives.cq = ibv_create_cq(device, 80, NULL, NULL, 0);
	targets.srq = ibv_create_srq(pds[PEER], &attr);
	if (!targets.srq || !targets.receives.cq)
		stop(SET_UP_FAILED, "ibv_create_srq: %s", strerror(errno));
}

/*** make_dct ***/
static struct ibv_qp *make_dct(uint64_t key)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pds[PEER],
	};
	struct mlx5dv_qp_init_attr more = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = key},
	};
	struct ibv_qp_attr state = {
		.qp_state = IBV_QPS_INIT,
		.port_num = port_number,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IBV_MTU_1024,
		.ah_attr = path(),
		.min_rnr_timer = 12,
	};
	struct ibv_qp *dct;

	make_targets();
	attr.srq = targets.srq;
	attr.send_cq = attr.recv_cq = targets.receives.cq;
	dct = mlx5dv_create_qp(device, &attr, &more);
	if (!dct || ibv_modify_qp(dct, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		stop(SET_UP_FAILED, "a DCT can't be made: %s", strerror(errno));
	state.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(dct, &state, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER))
		stop(SET_UP_FAILED, "a DCT can't be made ready: %s", strerror(errno));
	return dct;
}

/*** make_pair ***/
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

/*** close_end ***/
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

/*** make_again ***/
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

/*** post_recv ***/
static void post_recv(int line, struct end *end, uint64_t id, struct ibv_sge *sges, int count)
{
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = sges, .num_sge = count}, *bad;
	int result = end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad) : ibv_post_recv(end->qp, &wr, &bad);

	if (result)
		stop(FAILED, "FAIL %s:%d: ibv_post_recv: %s", CASE_FILE, line, strerror(result));
}

/*** post_marker ***/
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

/*** post_local_inv ***/
static int post_local_inv(struct ibv_qp *qp, uint64_t id, unsigned flags, uint32_t rkey)
{
	struct ibv_send_wr wr = {.wr_id = id, .opcode = IBV_WR_LOCAL_INV, .send_flags = flags, .invalidate_rkey = rkey}, *bad;

	return ibv_post_send(qp, &wr, &bad);
}

/*** make_mkey ***/
/* NULL and errno if it is refused. */
static struct mlx5dv_mkey *make_mkey(struct ibv_pd *pd, uint32_t flags, uint16_t entries, uint16_t *granted)
{
	struct mlx5dv_mkey_init_attr attr = {.pd = pd, .create_flags = flags, .max_entries = entries};
	struct mlx5dv_mkey *made = mlx5dv_create_mkey(&attr);

	*granted = attr.max_entries;
	return made;
}

/*** set_tag ***/
static void set_tag(struct mlx5dv_mkey *mkey, uint8_t tag)
{
	mkey->lkey = (mkey->lkey & ~0xffu) | tag;
	mkey->rkey = (mkey->rkey & ~0xffu) | tag;
}

/*** make_dek ***/
static struct mlx5dv_dek *make_dek(struct mlx5dv_dek_init_attr attr, const void *opaque, const void *key, size_t length)
{
	memcpy(attr.opaque, opaque, sizeof(attr.opaque));
	memcpy(attr.key, key, length);
	return mlx5dv_dek_create(device, &attr);
}

/*** log_in ***/
static int log_in(struct mlx5dv_crypto_login_attr attr, const void *credential)
{
	memcpy(attr.credential, credential, sizeof(attr.credential));
	return mlx5dv_crypto_login(device, &attr);
}

/*** record ***/
struct record {
	enum mlx5dv_mkey_err_type type;
	bool has_offset, has_expected, has_actual;
	uint64_t offset, expected, actual;
};

/*** is_record ***/
static bool is_record(const struct mlx5dv_mkey_err *got, const struct record *want)
{
	const struct mlx5dv_sig_err *sig = &got->err.sig;

	if (got->err_type != want->type)
		return false;
	return (!want->has_offset || sig->offset == want->offset) && (!want->has_expected || sig->expected_value == want->expected) &&
	       (!want->has_actual || sig->actual_value == want->actual);
}

/*** record_text ***/
static void record_text(const struct mlx5dv_mkey_err *got)
{
	static const char *const names[] = {"no error", "bad guard", "bad reference tag", "bad application tag"};

	printf("  got      %s", got->err_type < 4 ? names[got->err_type] : "an unknown type");
	if (got->err_type)
		printf(": offset %" PRIu64 ", expected_value %#" PRIx64 ", actual_value %#" PRIx64, got->err.sig.offset, got->err.sig.expected_value,
		       got->err.sig.actual_value);
	printf("\n");
}

/*** check_record ***/
/* What mlx5dv_mkey_check told is one of these records. */
static void check_record(int line, const char *name, const struct mlx5dv_mkey_err *got, const struct record *want, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (is_record(got, want + i))
			return;
	fail(line, "mlx5dv_mkey_check of %s tells something else", name);
	for (i = 0; i < count; i++) {
		struct mlx5dv_mkey_err one = {.err_type = want[i].type};

		printf("  expected type %d", one.err_type);
		if (want[i].has_offset)
			printf(", offset %" PRIu64, want[i].offset);
		if (want[i].has_expected)
			printf(", expected_value %#" PRIx64, want[i].expected);
		if (want[i].has_actual)
			printf(", actual_value %#" PRIx64, want[i].actual);
		printf("\n");
	}
	record_text(got);
}

/*** no_signature_error ***/
static void no_signature_error(int line, const char *name, struct mlx5dv_mkey *mkey)
{
	struct mlx5dv_mkey_err got = {0};
	int result = mlx5dv_mkey_check(mkey, &got);

	if (result)
		fail(line, "the last mlx5dv_mkey_check of %s returned %d", name, result);
	else if (got.err_type) {
		fail(line, "a signature error of %s is left over", name);
		record_text(&got);
	}
}

/*** expect ***/
/* A number is what it should be. */
static void expect(int line, bool holds, const char *what, uint64_t got)
{
	if (!holds)
		fail(line, "expected %s; it is %" PRIu64 " (%#" PRIx64 ")", what, got, got);
}

/*** next_event ***/
/* The next async event, if one comes in so many seconds. */
static bool next_event(struct ibv_async_event *event, double seconds)
{
	struct pollfd ready = {.fd = device->async_fd, .events = POLLIN};

	if (poll(&ready, 1, (int)(seconds * 1000)) < 1 || ibv_get_async_event(device, event))
		return false;
	ibv_ack_async_event(event);
	return true;
}

/*** await_event ***/
static void await_event(int line, enum ibv_event_type type)
{
	struct ibv_async_event event;

	while (next_event(&event, DEADLINE))
		if (event.event_type == type)
			return;
	fail(line, "the async event %s did not come", ibv_event_type_str(type));
	stop(FAILED, "FAILED");
}

/*** no_events ***/
/* No async event is left over, but for those of a failure that the case claims, and of the port. */
static void no_events(bool failed)
{
	struct ibv_async_event event;

	while (next_event(&event, 0))
		if (event.event_type < IBV_EVENT_SQ_DRAINED ? !failed : event.event_type == IBV_EVENT_SQ_DRAINED || event.event_type == IBV_EVENT_DEVICE_FATAL)
			fail(LAST_LINE, "an async event is left over: %s", ibv_event_type_str(event.event_type));
}

/*** tail ***/
