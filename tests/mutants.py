"""Small edits of a function, made by program: what a slip of the hand could do to it."""

import ast
import copy
from collections.abc import Iterator

COMPARE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
BINARY = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd,),
}
NAMES = {
    "sin": "cos",
    "cos": "sin",
    "any": "all",
    "sum": "mean",
    "softmax": "log_softmax",
    "log_softmax": "softmax",
    "zeros": "ones",
    "reshape": "view",
    "sqrt": "exp",
    "inf": "pi",
    "clamp": "add",
}


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield what was changed, and the changed source.

    Args:
        source: Of one function or class.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):  # types do not change what a function does
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.FunctionDef):
            node.returns = None
    seen = {ast.unparse(tree)}
    for place, node in enumerate(ast.walk(tree)):
        for what, replacement in _edits(node, _names(tree)):
            changed = _replaced(tree, place, replacement)
            text = ast.unparse(ast.fix_missing_locations(changed))
            if text not in seen:
                seen.add(text)
                yield f"{what}: {_line(node)}", text


def _line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]


def _names(tree: ast.AST) -> list[str]:
    """Return the names of arguments and variables, which can be mistaken for each other."""
    found = [a.arg for a in ast.walk(tree) if isinstance(a, ast.arg) and a.arg != "self"]
    stored = (n for n in ast.walk(tree) if isinstance(n, ast.Name))
    found += [n.id for n in stored if isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(found))


def _replaced(tree: ast.AST, place: int, replacement: ast.AST) -> ast.AST:
    """Copy the tree and put `replacement` where the node number `place` of the walk stands."""
    changed = copy.deepcopy(tree)
    target = list(ast.walk(changed))[place]

    class Swap(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return replacement if node is target else self.generic_visit(node)

    return Swap().visit(changed)


def _edits(node: ast.AST, names: list[str]) -> Iterator[tuple[str, ast.AST]]:
    kind = type(node)
    if kind in (ast.arg, ast.arguments):
        return
    for edit in (_operators, _constants, _calls, _statements):
        yield from edit(copy.deepcopy(node))
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        for other in names:
            if other != node.id:
                yield f"{node.id} becomes {other}", ast.Name(other, ast.Load())


def _operators(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, COMPARE):
            for other in COMPARE:
                if not isinstance(op, other):
                    yield "comparison", ast.Compare(left, [other()], [right])
        case ast.BinOp(left=left, op=op, right=right):
            for other in BINARY.get(type(op), ()):
                yield "operator", ast.BinOp(left, other(), right)
            if not isinstance(op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
                yield "order", ast.BinOp(right, op, left)
            yield "right term dropped", left
            yield "left term dropped", right
        case ast.UnaryOp(operand=operand):
            yield "sign dropped", operand
        case ast.IfExp(body=body, orelse=orelse):
            yield "always the first", body
            yield "always the second", orelse


def _constants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Constant(value=bool() as value):
            yield "turned round", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            for other in (value + 1, value - 1, -value, value * 2):
                if other != value:
                    yield f"{value} becomes {other}", ast.parse(str(other), mode="eval").body
        case ast.Slice(lower=lower, upper=upper, step=step):
            one = ast.Constant(1)
            if lower is not None:
                yield "slice from the start", ast.Slice(None, upper, step)
                yield "slice starts later", ast.Slice(ast.BinOp(lower, ast.Add(), one), upper, step)
            if upper is not None:
                yield "slice to the end", ast.Slice(lower, None, step)
                yield "slice ends later", ast.Slice(lower, ast.BinOp(upper, ast.Add(), one), step)
        case ast.Attribute(value=value, attr=attr) if isinstance(node.ctx, ast.Load):
            if attr in NAMES:
                yield f"{attr} becomes {NAMES[attr]}", ast.Attribute(value, NAMES[attr], ast.Load())
            if attr in ("T", "mT"):
                yield "not turned", value


def _calls(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            if isinstance(func, ast.Attribute):
                yield f"without .{func.attr}()", func.value
            if args:
                yield "argument instead of the call", args[0]
            for i in range(len(args) - 1):
                swapped = [*args[:i], args[i + 1], args[i], *args[i + 2 :]]
                yield "arguments change places", ast.Call(func, swapped, keywords)
            for i in range(len(args)):
                yield "argument dropped", ast.Call(func, [*args[:i], *args[i + 1 :]], keywords)
            for i in range(len(keywords)):
                rest = [*keywords[:i], *keywords[i + 1 :]]
                yield "keyword dropped", ast.Call(func, args, rest)
        case ast.Tuple(elts=elts, ctx=ast.Load()):
            for i in range(len(elts) - 1):
                swapped = [*elts[:i], elts[i + 1], elts[i], *elts[i + 2 :]]
                yield "elements change places", ast.Tuple(swapped, ast.Load())


def _statements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Raise():
            yield "statement dropped", ast.Pass()
        case ast.If(test=test, body=body, orelse=orelse):
            for what, condition in {
                "always": ast.Constant(True),
                "never": ast.Constant(False),
                "the other way round": ast.UnaryOp(ast.Not(), test),
            }.items():
                yield what, ast.If(condition, body, orelse)
        case ast.For(target=target, iter=ast.Call(func=func, args=[size]), body=body, orelse=rest):
            shorter = ast.Call(func, [ast.BinOp(size, ast.Sub(), ast.Constant(1))], [])
            yield "one round less", ast.For(target, shorter, body, rest)
