"""A seccomp filter that closes kernel doors no exercise needs.

bubblewrap loads it from a file descriptor. It matters most for root,
where `--disable-userns` is not available: a new user namespace would
hand student code capabilities over a fresh mount or network namespace.
It also refuses memory that belongs to no process, which no limit counts:
memfd, and System V's shared memory, semaphores and queues.

Sources: seccomp(2), linux/bpf_common.h, linux/audit.h, syscall tables.
"""

import errno
import platform
import struct

# One instruction: code u16, jump-true u8, jump-false u8, operand u32.
LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_ABOVE = 0x35  # BPF_JMP | BPF_JGE | BPF_K
JUMP_BITS = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

ALLOW = 0x7FFF0000
KILL = 0x80000000
REFUSE = 0x00050000  # | errno
SYSCALL, ARCH, FIRST_ARGUMENT = 0, 4, 16  # offsets in seccomp_data

NEW_NAMESPACES = 0x7E020000  # CLONE_NEW{USER,PID,NET,IPC,UTS,CGROUP,NS}

# architecture: (audit number, clone, clone3, refused)
MACHINES = {
    "x86_64": (
        0xC000003E,
        56,
        435,
        {
            "shmget": 29, "semget": 64, "msgget": 68,
            "ptrace": 101, "pivot_root": 155, "mount": 165, "umount2": 166,
            "swapon": 167, "reboot": 169, "init_module": 175,
            "kexec_load": 246, "add_key": 248, "request_key": 249,
            "keyctl": 250, "unshare": 272, "perf_event_open": 298,
            "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
            "finit_module": 313, "memfd_create": 319, "bpf": 321,
            "userfaultfd": 323, "io_uring_setup": 425, "open_tree": 428,
            "move_mount": 429, "fsopen": 430, "fsmount": 432,
            "mount_setattr": 442, "memfd_secret": 447,
        },
    ),
    "aarch64": (
        0xC00000B7,
        220,
        435,
        {
            "umount2": 39, "mount": 40, "pivot_root": 41, "unshare": 97,
            "kexec_load": 104, "init_module": 105, "ptrace": 117,
            "reboot": 142, "msgget": 186, "semget": 190, "shmget": 194,
            "add_key": 217, "request_key": 218, "keyctl": 219, "swapon": 224,
            "perf_event_open": 241, "setns": 268,
            "process_vm_readv": 270, "process_vm_writev": 271,
            "finit_module": 273, "memfd_create": 279, "bpf": 280,
            "userfaultfd": 282, "io_uring_setup": 425, "open_tree": 428,
            "move_mount": 429, "fsopen": 430, "fsmount": 432,
            "mount_setattr": 442, "memfd_secret": 447,
        },
    ),
}  # fmt: skip


def program():
    """Return the filter's bytes; empty on a machine we have no table for."""
    if platform.machine() not in MACHINES:
        return b""
    arch, clone, clone3, refused = MACHINES[platform.machine()]
    lines = [
        (LOAD_WORD, 0, 0, ARCH),
        (JUMP_EQUAL, 1, 0, arch),
        (RETURN, 0, 0, KILL),
        (LOAD_WORD, 0, 0, SYSCALL),
        # the x32 calls share the audit number of x86_64
        (JUMP_ABOVE, 0, 1, 0x40000000),
        (RETURN, 0, 0, KILL),
        # its flags lie behind a pointer: claim an older kernel instead
        (JUMP_EQUAL, 0, 1, clone3),
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),
    ]
    for number in refused.values():
        lines.append((JUMP_EQUAL, 0, 1, number))
        lines.append((RETURN, 0, 0, REFUSE | errno.EPERM))
    lines += [
        (JUMP_EQUAL, 0, 3, clone),
        (LOAD_WORD, 0, 0, FIRST_ARGUMENT),
        (JUMP_BITS, 0, 1, NEW_NAMESPACES),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)
