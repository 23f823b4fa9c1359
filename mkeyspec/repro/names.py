"""Names that an object of a case can't have in a program."""

from __future__ import annotations

import builtins
import keyword
import re

_WORDS = """
post_marker
told dek_told login_told wqe
ANY_ERROR False GUARD None QKEY STATUS True a64l abort abs accept access acct alarm and argc argv as assert async at
atexit atof atoi atol auto await await_event basename basic_ops bcmp bcopy be32toh bind bool break brk bsearch buffer
bzero calloc case char chdir check check_kept check_record chown chroot class clock close close_end completes confstr
connect connect_to const continue cos count counter crypt ctime cut daemon daylight def default del departs device
device_attr differs difftime dirname div do double dprintf drop_errors dup dup2 dv_attr ecvt elif else end enum
environ errno except execl execv exit exp expect extern fail failures false fclose fcvt feof ferror ffs finally float
fopen for fork fputs framed free from fsync gcvt getc getenv gethostname getline getlogin getopt getpid gets gid_index
global gmtime got goto head htobe16 htobe32 htole32 ibv if import in index inline int is is_kept is_record is_there
isatty j0 j1 jn kill known l64a labs lambda last_wc ldiv let_be link linux listen lockf log log_in long look lseek
main make_again make_buffer make_dct make_dek make_end make_mkey make_pair make_targets malloc mblen memchr memcmp
memcpy memmem memmove memset mktime mlock mlx5 mmap mprotect munmap needs next_event nice no_events no_signature_error
nonlocal not nothing_else_changed nothing_left now number_in open open_device optarg opterr optind optopt or pair pass
path pathconf pause pcg64 pds perror pipe poll poll_cq port_attr port_gid port_number post_local_inv post_recv pow
ppoll pread printf pselect put putc puts pwrite qsort query_mlx5 queue raise rand random read readlink realloc record
record_text recv register remove rename repeated restrict result result_is return rewind rindex rmdir select send
set_number set_tag setuid short signal signed sin sizeof sleep srand static stderr stdin stdout stop strcat strchr
strcmp strcpy strdup strerror strlen strncpy strspn strstr strtod strtok struct swab switch symlink sync syscall
system tail targets time timezone tmpfile true truncate try ttyname typedef tzset ualarm ungetc union unix unlink
unsigned usleep vfork void volatile wait wait_for want wanted while wide with write y0 y1 yield yn
"""
"""Words of C and Python, names of a program's own parts, and those of the headers that it includes."""

_PYTHON = """
AH AHAttr ALL_ACCESS BASIC_OPS Buffer CASE_FILE CASE_ID CQ DEADLINE DataBuffer End FAILED GlobalRoute LAST_LINE MR
Mlx5Context Mlx5CryptoAttr Mlx5CryptoExtLoginAttr Mlx5CryptoLogin Mlx5CryptoLoginAttr Mlx5DCIStreamInitAttr Mlx5DEK
Mlx5DEKInitAttr Mlx5DVContextAttr Mlx5DVDCInitAttr Mlx5DVQPInitAttr Mlx5Mkey Mlx5MkeyConfAttr Mlx5MrInterleaved Mlx5QP
Mlx5SigBlockAttr Mlx5SigBlockDomain Mlx5SigCrc Mlx5SigT10Dif OWNER PASSED PD PEER Pair PyverbsRDMAError
PyverbsUserError QPAttr QPCap QPInitAttrEx Queue RECORDS RecvWR SET_UP_FAILED SGE SKIPPED SRQ SendWR SrqAttr SrqInitAttr
Wqe attempt attr cancel conf crash crypto ctypes different encoded errno events_fd get_device_list got_text known_mask
mem_domain mem_sig mmap open_port os pairs poll_all port_route qp_attr random select socket sys time wire_domain
wire_sig wr_complete
"""
"""Those of a program in Python."""

TAKEN = frozenset({*_WORDS.split(), *_PYTHON.split(), *keyword.kwlist, *dir(builtins)})

_MADE = re.compile(r"(bytes|live|wc|taken|accepted|cancelled)_\d+|errno_of_\w+|\w+_entries|\w+_[lr]key_\d+")
"""What a writer calls its own variables."""


def is_taken(name: str) -> bool:
    """Whether an object of a case has to be called otherwise."""
    return name in TAKEN or _MADE.fullmatch(name) is not None
