"""Take from this process, for good, what an answer never needs: files, processes, the network.

A filter in the kernel (seccomp) answers these calls with "not permitted". It is written here as
the few instructions that the kernel takes, so that no further program or package is needed.
"""

import ctypes
import errno
import platform
import struct
import sys

# Numbers of the calls: include/uapi/asm-generic/unistd.h (aarch64), asm/unistd_64.h (x86_64).
X86 = {
    "processes": (57, 58, 59, 322, 435, 109, 112),  # fork vfork execve* clone3 setpgid setsid
    "signals": (62, 129, 200, 234, 297, 424, 434, 438),  # kill, t(g)kill, rt_*sigqueueinfo, pidfd_*
    "network": (41, 53, 425, 426, 427),  # socket socketpair io_uring_*
    "memory of others": (101, 310, 311, 440),  # ptrace process_vm_* process_madvise
    # shm* semget msgget mq_open memfd_*, keys
    "memory that stays": (29, 30, 64, 68, 240, 319, 447, 248, 249, 250),
    # setpriority sched_set* ioprio_set set_mempolicy migrate_pages move_pages
    "order of processes": (141, 142, 144, 203, 251, 314, 238, 256, 279),
    "the machine": (153, 159, 163, 164, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179, 227, 246,
                    300, 304, 305, 313, 320),
    "names of files": (76, 77, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94, 133, 258, 259, 260,
                       132, 188, 189, 190, 197, 198, 199, 235, 261, 263, 264, 265, 266, 268, 280,
                       316, 437, 452, 463, 466),
    "namespaces": (165, 166, 272, 308, 428, 429, 430, 431, 432, 442, 321, 298, 155, 161),
}  # fmt: skip
ARM = {
    "processes": (221, 281, 435, 154, 157),
    "signals": (129, 130, 131, 138, 240, 424, 434, 438),
    "network": (198, 199, 425, 426, 427),
    "memory of others": (117, 270, 271, 440),
    "memory that stays": (194, 196, 190, 186, 180, 279, 447, 217, 218, 219),
    "order of processes": (140, 118, 119, 122, 30, 274, 237, 238, 239),
    "the machine": (58, 60, 89, 104, 105, 106, 112, 142, 161, 162, 170, 171, 224, 225, 262, 265,
                    266, 273, 294),
    "names of files": (5, 6, 7, 14, 15, 16, 33, 34, 35, 36, 37, 38, 45, 46, 52, 53, 54, 55, 88,
                       276, 437, 452, 463, 466),
    "namespaces": (39, 40, 97, 268, 428, 429, 430, 431, 432, 442, 280, 241, 41, 51),
}  # fmt: skip
# Architecture -> (its mark, refused calls, numbers of clone, open (or None), openat, prlimit64,
# ioctl, fcntl).
MACHINES = {
    "x86_64": (0xC000003E, X86, 56, 2, 257, 302, 16, 72),
    "aarch64": (0xC00000B7, ARM, 220, None, 56, 261, 29, 25),
}
SET_FLAGS = 4  # of an open file, by fcntl: the wire must wait for what it reads
CLONE_THREAD = 0x10000
TO_WRITE = 0o1 | 0o2 | 0o100 | 0o1000 | 0o20000000  # WRONLY RDWR CREAT TRUNC TMPFILE
LOAD, JUMP_IF_EQUAL, JUMP_IF_ANY_BIT, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
ALLOW, REFUSE, NOT_THERE = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
NO_TERMINAL = 0x50000 | errno.ENOTTY
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # places in the kernel's struct seccomp_data


def available() -> bool:
    """Say whether this machine has a filter written for it."""
    return sys.platform == "linux" and platform.machine() in MACHINES


def program(machine: str) -> bytes:
    """Return the filter's instructions."""
    mark, refused, clone, open_, openat, prlimit, ioctl, fcntl = MACHINES[machine]
    lines: list[tuple[int, ...]] = [
        (LOAD, 0, 0, MACHINE),
        (JUMP_IF_EQUAL, 1, 0, mark),
        (RETURN, 0, 0, REFUSE),  # calls in another machine's numbers
        (LOAD, 0, 0, NUMBER),
        (JUMP_IF_AT_LEAST, 0, 1, 0x40000000),
        (RETURN, 0, 0, REFUSE),  # the same, x32
    ]
    for number in sorted({number for numbers in refused.values() for number in numbers}):
        # Told that there is no clone3, the C library starts its threads by clone.
        answer = NOT_THERE if number in (435, 437) else REFUSE
        lines += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]
    # Python asks by ioctl whether a file is a terminal; flags of files on disk are set by it, too.
    lines += [(JUMP_IF_EQUAL, 0, 1, ioctl), (RETURN, 0, 0, NO_TERMINAL)]
    lines += _refuse(fcntl, 1, (JUMP_IF_EQUAL, 0, 1, SET_FLAGS))
    lines += _refuse(clone, 0, (JUMP_IF_ANY_BIT, 1, 0, CLONE_THREAD))  # threads may start
    lines += _refuse(openat, 2, (JUMP_IF_ANY_BIT, 0, 1, TO_WRITE))
    lines += _refuse(prlimit, 0, (JUMP_IF_EQUAL, 1, 0, 0))  # 0: this process's own limits
    if open_ is not None:
        lines += _refuse(open_, 1, (JUMP_IF_ANY_BIT, 0, 1, TO_WRITE))
    lines.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _refuse(call: int, argument: int, test: tuple[int, int, int, int]) -> list[tuple[int, ...]]:
    """Look at a call's argument; the test jumps over one line where the call may go through."""
    return [
        (JUMP_IF_EQUAL, 0, 4, call),
        (LOAD, 0, 0, ARGUMENTS + 8 * argument),
        test,
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]


def lock() -> None:
    """Put the filter on this process. There is no way back."""
    if not available():
        return
    instructions = program(platform.machine())
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    head = struct.pack("@HxxxxxxP", len(instructions) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for request in ((38, 1, 0, 0, 0), (22, 2, ctypes.create_string_buffer(head), 0, 0)):
        # 38: PR_SET_NO_NEW_PRIVS, 22: PR_SET_SECCOMP with a filter
        if libc.prctl(*request):
            raise OSError(ctypes.get_errno(), "the kernel took no filter")
