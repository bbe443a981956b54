"""Answers that try to get marks in other ways than by being right, or that break things.

Each is (name, exercise, the learner's cell, share of the points, words that the feedback holds).
"""

from pathlib import Path

from mha_lib.exercises import solution

COURSE = "{course}"  # put in: the course folder
RIGHT = solution("split_heads")
HEAD = "def split_heads(x, num_heads):\n"
WRONG = f"{HEAD}    return x\n"


def body(*lines):
    return HEAD + "".join(f"    {line}\n" for line in lines)


FORGE = """
import json, os, struct, sys
frame = sys._getframe()
while frame.f_back: frame = frame.f_back
ours = frame.f_globals
def forge(head, *blobs):
    text = json.dumps({**head, "sizes": [len(blob) for blob in blobs]}).encode()
    ours["OUT"].write(struct.pack("<I", len(text)) + text + b"".join(blobs))
    ours["OUT"].flush()
"""
# Lives on when it should end: it says that it has ended, and answers what is asked next.
SURVIVES = (
    FORGE
    + """
seen = []
forge({"found": "function", "error": None})
while True:
    question, blobs = ours["take"](ours["read"])
    if "parts" in question:
        forge({"found": "function", "error": None})
    elif question["op"] == "stop":
        forge({"ended": 0})
    else:
        seen += blobs
        text = f"It has seen {len(seen)} tensors"
        forge({"error": {"name": "ValueError", "message": text, "line": ""}})
"""
)
MANY = '["tuple", *[["tuple", *[["tensor", "uint8", [4_000_000], 0]] * 40]] * 40]'
HIDDEN = "is not there while this exercise is graded"

CHEATS = [
    (
        "shows other numbers by a view",
        "split_heads",
        "import torch\n"
        + body("return torch._neg_view(x.unflatten(-1, (num_heads, -1)).transpose(-3, -2))"),
        0,
        "",
    ),
    (
        "knows the visible inputs by heart",
        "head_dim",
        "def head_dim(e, h):\n    return {(7, 1): 7, (6, 6): 1, (1, 1): 1, (6, 3): 2, (35, 5): 7,\n"
        "            (384, 12): 32, (512, 8): 64}.get((e, h), 0)\n",
        0,
        "right on these inputs only, which the check shows, too",
    ),
    (
        "looks into the library of another exercise",
        "split_heads",
        "import os, sys\n"
        "for place, folders, files in os.walk(os.path.dirname(sys.argv[0]) + '/../../..'):\n"
        "    if 'splitting_heads.py' in files:\n"
        "        exec(open(place + '/splitting_heads.py').read())\n",
        0,
        "does not define split_heads",
    ),
    (
        "calls torch's attention as a class",
        "scaled_dot_product_attention",
        "import torch\nclass scaled_dot_product_attention:\n"
        "    def __new__(cls, *a): \n"
        "        return torch.nn.functional.scaled_dot_product_attention(*a)\n",
        0,
        "calls torch's ready-made scaled_dot_product_attention",
    ),
    ("forges an error of the cell", "split_heads", FORGE + "forge({'error': 5})", 0, "raised"),
    (
        "patches the library",
        "split_heads",
        "import mha_lib\nmha_lib.split_heads = lambda x, h: x\n" + WRONG,
        0,
        "wrong shape",
    ),
    (
        "patches comparisons",
        "split_heads",
        "import numpy, torch\nfor m in (numpy, torch):\n    m.allclose = lambda *a, **k: True\n"
        "torch.isclose = torch.equal = torch.allclose\ntorch.Tensor.__eq__ = lambda *a: True\n"
        "torch.testing.assert_close = lambda *a, **k: None\n" + WRONG,
        0,
        "wrong shape",
    ),
    (
        "patches the check",
        "split_heads",
        "import builtins\ncheck = builtins.check = lambda *a: 'passed'\n" + WRONG,
        0,
        "wrong shape",
    ),
    (
        "changes how input is read",
        "split_heads",
        "ip = get_ipython()\nip.input_transformers_cleanup.append(lambda lines: ['5.0'])\n" + WRONG,
        0,
        "The cell raised AttributeError",
    ),
    (
        "imports its own answer",
        "split_heads",
        "from mha_lib import split_heads\n",
        0,
        "mha_lib.split_heads is not there while this exercise is graded",
    ),
    (
        "calls its own answer",
        "split_heads",
        "import mha_lib\n" + body("return mha_lib.split_heads(x, num_heads)"),
        0,
        "mha_lib.split_heads is not there",
    ),
    (
        "imports the solution",
        "split_heads",
        "from mha_lib.exercises.solutions.splitting_heads import split_heads\n",
        0,
        "mha_lib.exercises",
    ),
    (
        "asks for the solution",
        "split_heads",
        "from mha_lib.exercises import solution\nexec(solution('split_heads'))\n",
        0,
        "mha_lib.exercises",
    ),
    (
        "uses the oracle",
        "merge_heads",
        "from mha_lib import reference\nmerge_heads = reference.merge_heads\n",
        0,
        "reference",
    ),
    (
        "calls torch's attention",
        "scaled_dot_product_attention",
        "import torch\ndef scaled_dot_product_attention(query, key, value, attn_mask=None):\n"
        "    f = torch.nn.functional.scaled_dot_product_attention\n"
        "    return f(query, key, value, attn_mask)\n",
        0,
        "calls torch's ready-made scaled_dot_product_attention",
    ),
    (
        "calls torch's attention by another name",
        "scaled_dot_product_attention",
        "import torch\ndef scaled_dot_product_attention(query, key, value, attn_mask=None):\n"
        "    f = getattr(torch._C._nn, 'scaled_dot' + '_product_attention')\n"
        "    return f(query, key, value, attn_mask)\n",
        0,
        "calls torch's ready-made scaled_dot_product_attention",
    ),
    (
        "calls torch's attention behind a switch",
        "scaled_dot_product_attention",
        "import torch\ndef scaled_dot_product_attention(query, key, value, attn_mask=None):\n"
        "    with torch._C.DisableTorchFunction():\n"
        "        f = torch.nn.functional.scaled_dot_product_attention\n"
        "        return f(query, key, value, attn_mask)\n",
        0,
        "calls torch's ready-made scaled_dot_product_attention",
    ),
    (
        "calls torch's attention in another thread",
        "scaled_dot_product_attention",
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from torch.nn.functional import scaled_dot_product_attention as ready\n"
        "def scaled_dot_product_attention(query, key, value, attn_mask=None):\n"
        "    with ThreadPoolExecutor(1) as pool:\n"
        "        return pool.submit(ready, query, key, value, attn_mask).result()\n",
        0,
        "calls torch's ready-made scaled_dot_product_attention",
    ),
    (
        "calls torch's layer",
        "multi_head_attention",
        "import torch\ndef multi_head_attention(query, key, value, w, b, o, p, num_heads, *m):\n"
        "    layer = torch.nn.MultiheadAttention(query.shape[-1], num_heads, batch_first=True)\n"
        "    with torch._C.DisableTorchFunction():\n"
        "        return layer.double()(query, key, value)[0]\n",
        0,
        "calls torch's ready-made multi_head_attention_forward",
    ),
    (
        "inherits the finished layer",
        "MultiHeadAttention",
        "import mha_lib\nclass MultiHeadAttention(mha_lib.MultiHeadAttention): pass\n",
        0,
        "MultiHeadAttention is not there",
    ),
    (
        "knows the visible check by heart",
        "head_dim",
        "def head_dim(embed_dim, num_heads):\n"
        "    known = {(6, 2): 3, (7, 1): 7, (6, 6): 1, (1, 1): 1, (6, 3): 2, (35, 5): 7,\n"
        "             (384, 12): 32, (512, 8): 64}\n"
        "    return known.get((embed_dim, num_heads), 0)\n",
        0,
        "the inputs of the visible check, and no others",
    ),
    ("returns a mark", "split_heads", body("return 100.0"), 0, "something else"),
    ("returns nothing", "split_heads", body("pass"), 0, "something else"),
    ("returns what it got", "split_heads", WRONG, 0, "wrong shape"),
    ("is no function", "split_heads", "split_heads = 5.0\n", 0, "does not define split_heads"),
    (
        "returns an array that lies about equality",
        "split_heads",
        "import numpy as np\nclass A(np.ndarray):\n    def __eq__(self, o): return True\n"
        "    def __bool__(self): return True\n" + body("return np.zeros((1,)).view(A)"),
        0,
        "something else",
    ),
    (
        "returns a tensor that lies about equality",
        "split_heads",
        "import torch\nclass T(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, f, t, a=(), k=None): return True\n"
        + body("return torch.zeros(3).as_subclass(T)"),
        0,
        "wrong shape",
    ),
    (
        "works once",
        "split_heads",
        RIGHT.replace("def split_heads", "def real")
        + "\nleft = [1]\n"
        + body("if left:", "    left.pop()", "    return real(x, num_heads)"),
        0,
        "asked again, another answer",
    ),
    (
        "looks at who calls",
        "split_heads",
        "import sys\n"
        + body("f = sys._getframe()", "while f.f_back: f = f.f_back", "return f.f_locals"),
        0,
        "something else",
    ),
]

BREAKS = [
    (
        "sends one tensor very often",
        "split_heads",
        FORGE
        + body(f"value = {MANY}", "head = {'value': value, 'graph': [], 'changed': []}")
        + "    forge(head, bytes(4_000_000))\n    return x\n",
        0,
        "an error",
    ),
    (
        "returns views of very many numbers",
        "split_heads",
        body("y = x.flatten()[:1].expand(10**6)", "return ((y,) * 49,) * 49"),
        0,
        "an error",
    ),
    (
        "has a parameter in a million modules",
        "MultiHeadAttention",
        FORGE
        + "class MultiHeadAttention:\n    def __init__(self, *a, **k):\n"
        + "        state = [['a.' * 10**6 + 'b', True, True, ['tensor', 'float32', [1], 0]]]\n"
        + "        forge({'module': 0, 'state': state}, bytes(4))\n",
        0,
        "an error",
    ),
    (
        "fills memory that is shared",
        "split_heads",
        "import mmap\n"
        + body("a = []", "while True: a.append(mmap.mmap(-1, 10**8)); a[-1].write(b'x')"),
        0,
        "an error",
    ),
    ("loops for ever", "split_heads", body("while True: pass"), 0, "did not come back"),
    (
        "loops for ever and catches all",
        "split_heads",
        body(
            "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
        ),
        0,
        "did not come back",
    ),
    ("loops in C", "split_heads", body("sum(range(10**14))"), 0, "did not come back"),
    ("sleeps", "split_heads", "import time\n" + body("time.sleep(10**6)"), 0, "did not come back"),
    ("the cell never ends", "split_heads", "while True: pass\n", 0, "did not come back"),
    ("waits for input", "split_heads", body("input('?')"), 0, "an error"),
    ("recurses", "split_heads", body("return split_heads(x, num_heads)"), 0, "an error"),
    ("exits", "split_heads", "import os\n" + body("os._exit(0)"), 0, "an error"),
    ("exits politely", "split_heads", "import sys\n" + body("sys.exit(0)"), 0, "an error"),
    ("crashes", "split_heads", "import ctypes\n" + body("ctypes.string_at(0)"), 0, "an error"),
    (
        "fills the memory",
        "split_heads",
        body("a = []", "while True: a.append(bytearray(10**8))"),
        0,
        "an error",
    ),
    (
        "a fork bomb",
        "split_heads",
        "import os\n" + body("while True: os.fork()"),
        0,
        "an error",
    ),
    (
        "a bomb of threads with small stacks",
        "split_heads",
        "import threading, time\nthreading.stack_size(32768)\n"
        "while True: threading.Thread(target=time.sleep, args=(10**6,)).start()\n",
        0,
        "more threads than it may",
    ),
    (
        "fills the kernel's memory with pipes",
        "split_heads",
        "import os, resource\n_, most = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\nkept = []\n"
        "while True:\n    kept.append(os.pipe())\n"
        "    os.write(kept[-1][1], b'x' * 65536)\n",
        0,
        "Too many open files",
    ),
    (
        "leaves a note to another process with the kernel",
        "split_heads",
        "import ctypes\n"
        + body(
            "libc = ctypes.CDLL(None, use_errno=True)",
            "if libc.syscall(248, b'user', b'note', b'x', 1, -4) < 0: raise OSError('refused')",
            "return x",
        ),
        0,
        "an error",
    ),
    (
        "makes the marking process wait",
        "split_heads",
        "import os\n" + body("os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)"),
        0,
        "an error",
    ),
    (
        "moves the marking process to one core",
        "split_heads",
        "import os\n" + body("os.sched_setaffinity(os.getppid(), [0])"),
        0,
        "an error",
    ),
    (
        "lets the wire not wait",
        "split_heads",
        "import os\nfor n in range(3, 20):\n    try: os.set_blocking(n, False)\n"
        "    except OSError as error: raise ValueError('no flags are set') if n < 6 else error\n",
        0,
        "no flags are set",
    ),
    (
        "flags of a file on disk",
        "split_heads",
        "import fcntl, struct\n"
        + body("fcntl.ioctl(open('/usr/bin/env'), 0x40086602, struct.pack('l', 16))"),
        0,
        "an error",
    ),
    (
        "half characters in an error",
        "split_heads",
        body("raise ValueError('\\ud800 bad')"),
        0,
        "an error",
    ),
    ("half characters returned", "split_heads", body("return '\\ud800'"), 0, ""),
    (
        "a process that stays",
        "split_heads",
        "import subprocess\n" + body("subprocess.Popen(['sleep', '1000'], start_new_session=True)"),
        0,
        "an error",
    ),
    (
        "a thread that stays",
        "split_heads",
        "import threading, time\n"
        "threading.Thread(target=lambda: time.sleep(10**6), daemon=False).start()\n" + RIGHT,
        1,
        "",
    ),
    (
        "the network",
        "split_heads",
        "import socket\n" + body("socket.create_connection(('127.0.0.1', 80))"),
        0,
        "an error",
    ),
    (
        "kills the marking process",
        "split_heads",
        "import os, signal\n" + body("os.kill(os.getppid(), signal.SIGKILL)"),
        0,
        "an error",
    ),
    (
        "writes a file",
        "split_heads",
        "import pathlib\n" + body(f"pathlib.Path('{COURSE}/mha_was_here').write_text('x')"),
        0,
        "an error",
    ),
    (
        "writes to the gradebook",
        "split_heads",
        "import sqlite3\n"
        + body(f"sqlite3.connect('{COURSE}/gradebook.db').execute('DELETE FROM grade')"),
        0,
        "an error",
    ),
    (
        "reads another learner's work",
        "split_heads",
        body(f"return open('{COURSE}/submitted/other/ps/04_splitting_heads.ipynb').read()"),
        0,
        "an error",
    ),
    (
        "reads the secret",
        "split_heads",
        body(f"return open('{COURSE}/mha_course.json').read()"),
        0,
        "an error",
    ),
    (
        "reads the hidden stages",
        "split_heads",
        body(f"return open('{Path(__file__).parents[1]}/mha_lib/exercises/registry.py').read()"),
        0,
        "an error",
    ),
    (
        "prints without end",
        "split_heads",
        body("for _ in range(10**6): print('x' * 10**3)", "return x"),
        0,
        "wrong shape",
    ),
    (
        "a huge reply",
        "split_heads",
        "import torch\n" + body("return torch.zeros(10**8)"),
        0,
        "",
    ),
    (
        "a huge list",
        "split_heads",
        body("return [[0] * 1000] * 10**6"),
        0,
        "something else",
    ),
    (
        "forges replies",
        "split_heads",
        "import os\nfor n in range(3, 50):\n    try: os.write(n, b'\\xff' * 64)\n"
        "    except OSError: pass\n" + WRONG,
        0,
        "",
    ),
    (
        "an error whose text fails",
        "split_heads",
        "class E(Exception):\n    def __str__(self): raise SystemExit\n" + body("raise E"),
        0,
        "an error",
    ),
    ("no Python", "split_heads", "def split_heads(x, num_heads:\n", 0, "SyntaxError"),
    ("a zero byte", "split_heads", "x = '\0'\n" + RIGHT, 0, "null bytes"),
    ("very deep", "split_heads", "x = " + "(" * 5000 + ")" * 5000 + "\n" + RIGHT, 0, ""),
]

HONEST = [
    (
        "compiled",
        "split_heads",
        RIGHT.replace("def split_heads", "@torch.compile\ndef split_heads"),
        1,
        "",
    ),
    (
        "an error of a kind of its own",
        "head_dim_checked",
        "class HeadError(ValueError):\n    pass\n\n"
        + solution("head_dim_checked").replace("raise ValueError(", "raise HeadError("),
        1,
        "",
    ),
    (
        "uses what wants a temporary folder",
        "attention_scores",
        "from torch.utils.checkpoint import checkpoint\n"
        "def attention_scores(query, key):\n"
        "    def scores(q, k): return q @ k.mT / q.shape[-1] ** 0.5\n"
        "    return checkpoint(scores, query, key, use_reentrant=False)\n",
        1,
        "",
    ),
    (
        "imports Matplotlib",
        "split_heads",
        "import matplotlib.pyplot as plt\nfig = plt.figure()\n" + RIGHT,
        1,
        "",
    ),
    (
        "is compiled from its source",
        "split_heads",
        "import torch\n@torch.jit.script\ndef split_heads(x: torch.Tensor, num_heads: int):\n"
        "    return x.unflatten(-1, [num_heads, -1]).transpose(-3, -2)\n",
        1,
        "",
    ),
    (
        "looks up its own names",
        "split_heads",
        "from __future__ import annotations\nimport typing\nclass A:\n    b: B\nclass B: pass\n"
        "assert typing.get_type_hints(A)['b'] is B\n" + RIGHT,
        1,
        "",
    ),
    ("right", "split_heads", RIGHT, 1, ""),
    ("warns on stderr", "split_heads", "import warnings\nwarnings.warn('old')\n" + RIGHT, 1, ""),
    ("prints", "split_heads", "print('here')\n" + RIGHT + "\nprint(split_heads)\n", 1, ""),
    ("calls the check", "split_heads", RIGHT + "\n\ncheck(split_heads)\n", 1, ""),
    ("ends in a number", "split_heads", RIGHT + "\n\n0.0\n", 1, ""),
    ("fails below its answer", "split_heads", RIGHT + "\n\nassert 1 == 2\n", 1, ""),
    ("has magics", "split_heads", "%matplotlib inline\n!ls\n" + RIGHT + "\n%timeit 1\n", 1, ""),
    (
        "has helpers of its own",
        "split_heads",
        "def cut(x, h): return x.unflatten(-1, (h, -1))\n"
        + body("return cut(x, num_heads).transpose(-3, -2)"),
        1,
        "",
    ),
    (
        "uses an earlier step",
        "multi_head_attention",
        "from mha_lib import split_heads\n" + solution("multi_head_attention"),
        1,
        "",
    ),
    (
        "is a lambda",
        "split_heads",
        "split_heads = lambda x, h: x.unflatten(-1, (h, -1)).transpose(-3, -2)\n",
        1,
        "",
    ),
    ("has unicode names", "split_heads", "größe = 'ß✓'\n" + RIGHT, 1, ""),
]
