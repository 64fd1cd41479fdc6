"""Amounts as people read them: three digits and a prefix."""

PREFIXES = {"P": 10**15, "T": 10**12, "G": 10**9, "M": 10**6, "k": 10**3}
PARTS_OF_A_SECOND = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def with_prefix(amount: float, unit: str) -> str:
    """``amount`` to three digits, with the largest decimal prefix that leaves at least 1."""
    amount = _rounded(amount)
    prefix = next((name for name, size in PREFIXES.items() if amount >= size), "")
    return f"{three_digits(amount / PREFIXES.get(prefix, 1))} {prefix}{unit}"


def seconds(amount: float) -> str:
    """A time to three digits, down to nanoseconds; 0 as it is."""
    if not amount:
        return "0"
    amount = _rounded(amount)
    unit = next((name for name, size in PARTS_OF_A_SECOND.items() if amount >= size), "ns")
    return f"{three_digits(amount / PARTS_OF_A_SECOND[unit])} {unit}"


def three_digits(amount: float) -> str:
    """Three digits, without an exponent; an integer without a decimal point."""
    amount = _rounded(amount)
    decimals = max(0, 3 - len(str(int(amount))))
    return f"{amount:.0f}" if amount.is_integer() else f"{amount:.{decimals}f}"


def is_number(text: str) -> bool:
    """Whether a cell of a table is one amount."""
    return text.lstrip("~<")[:1].isdigit() and ", " not in text


def _rounded(amount: float) -> float:
    return float(f"{min(amount, 1e300):.3g}")
