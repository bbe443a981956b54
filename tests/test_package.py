"""What `import mha_lib` costs and offers. Each import runs in a new interpreter."""

import ast
import inspect
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import mha_lib

ROOT = Path(mha_lib.__file__).parents[1]
STEPS = [
    "hyperparameters",
    "input_layers",
    "linear_layers",
    "splitting_heads",
    "attention_scores",
    "merging_heads",
    "masks",
]


@cache
def modules_after(code: str) -> frozenset[str]:
    """Names of all modules that a fresh interpreter has loaded after `code`."""
    program = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return frozenset(done.stdout.split())


def top_level(modules: frozenset[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


TORCH = "import torch"
OURS = """
import torch
torch.manual_seed(7)
before = torch.get_rng_state()
import mha_lib
assert torch.equal(before, torch.get_rng_state()), "importing draws random numbers"
assert torch.get_default_dtype() == torch.float32
"""


def test_import_brings_in_torch_and_jaxtyping_and_nothing_else() -> None:
    with_torch, ours = modules_after(TORCH), modules_after(OURS)
    packages = top_level(ours) - top_level(with_torch)
    # jaxtyping lays out its messages with wadler_lindig.
    allowed = {"mha_lib", "jaxtyping", "wadler_lindig"} | set(sys.stdlib_module_names)
    assert packages <= allowed, sorted(packages - allowed)
    assert {"mha_lib", "jaxtyping"} <= packages
    for absent in ("matplotlib", "ipywidgets", "IPython", "safetensors", "beartype", "jupyterlab"):
        assert absent not in top_level(ours)
    # torch alone loads more than a thousand modules.
    assert len(ours - with_torch) < 0.15 * len(with_torch)


def test_import_loads_the_steps_and_neither_figures_nor_exercises() -> None:
    loaded = {name for name in modules_after(OURS) if name.startswith("mha_lib.")}
    assert {f"mha_lib.{step}" for step in STEPS} <= loaded
    parts = {name.split(".")[1] for name in loaded}
    assert not parts & {"figures", "exercises", "reference", "running_example"}


def defining_steps() -> list[str]:
    return [getattr(mha_lib, name).__module__.split(".")[1] for name in mha_lib.__all__]


def test_names_stand_in_teaching_order() -> None:
    steps = defining_steps()
    assert list(dict.fromkeys(steps))[: len(STEPS)] == STEPS
    # Names of one step stand together.
    assert len(list(dict.fromkeys(steps))) == sum(
        a != b for a, b in zip(steps, [None, *steps], strict=False)
    )


def test_names_are_complete() -> None:
    assert len(set(mha_lib.__all__)) == len(mha_lib.__all__)
    for step in STEPS:
        # Not mha_lib.attention_scores: there the function of that name stands.
        module = import_module(f"mha_lib.{step}")
        public = {
            name
            for name, value in vars(module).items()
            if not name.startswith(("_", "check_"))
            and (inspect.isfunction(value) or inspect.isclass(value))
            and value.__module__ == module.__name__
        }
        offered = {
            name
            for name, where in zip(mha_lib.__all__, defining_steps(), strict=True)
            if where == step
        }
        assert public == offered, step


def test_every_offered_name_is_documented_with_an_example() -> None:
    for name in mha_lib.__all__:
        text = inspect.getdoc(getattr(mha_lib, name)) or ""
        for part in (">>> ", "Args:", "Raises:", "Source:"):
            assert part in text, f"{name} has no {part}"


def test_no_star_imports_and_no_keyword_catch_alls() -> None:
    for path in (ROOT / "mha_lib").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert all(alias.name != "*" for alias in node.names), path.name
            if isinstance(node, ast.FunctionDef) and path.stem in STEPS:
                assert node.args.kwarg is None, f"{path.name}: {node.name}"
