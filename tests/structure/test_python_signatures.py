"""Are Python signatures split right, whatever they contain?"""

import pytest

from asterism.structure.python.references import bases, names_in, parameters, returned


@pytest.mark.parametrize(
    ("signature", "expected", "result"),
    [
        ("def f()", [], None),
        ("def f(self, a, b=1)", [], None),
        ("def f(a: int, /, *, b: str = 'x, y: z') -> None", [("a", "int"), ("b", "str")], "None"),
        (
            "async def f(*a: A, **k: 'B | None') -> list['C']",
            [("a", "A"), ("k", "'B | None'")],
            "list['C']",
        ),
        (
            "def f[T: (int, str)](x: Callable[[T], dict[str, T]] = {}) -> T",
            [("x", "Callable[[T], dict[str, T]]")],
            "T",
        ),
        ("def f(x: Literal[')', '->'] = ')') -> 'a'", [("x", "Literal[')', '->']")], "'a'"),
        ("def f(", [], None),
        ("f = lambda x: x", [], None),
    ],
)
def test_functions(signature: str, expected: list[tuple[str, str]], result: str | None) -> None:
    assert parameters(signature) == expected
    assert returned(signature) == result


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("class A", []),
        ("class A()", []),
        ("class A(B, c.D, metaclass=M)", ["B", "c.D"]),
        ("class A[T](Generic[T], B[int, str], *C, made(D))", ["Generic", "B"]),
    ],
)
def test_classes(signature: str, expected: list[str]) -> None:
    assert bases(signature) == expected


def test_names() -> None:
    found = names_in('dict[str, "a.B | None"] | Literal["x"] | list[C . D]')
    assert list(found) == ["dict", "str", "a.B", "list", "C.D"]
