"""Derives the Python signature of a built-in function from its manual: clamp(x, lo [, hi]), zeros(n, ...) or
zeros(size).  A built-in with several results, [y, i] = sort(x), returns the first, and with nargout=2 a tuple of two.

tools/stubs.py imports this file alone, so it imports nothing of the package."""
import keyword, re
from inspect import Parameter, Signature

NARGOUT = Parameter("nargout", Parameter.KEYWORD_ONLY, default=1)
ANY = Signature([Parameter("args", Parameter.VAR_POSITIONAL)])


def _parameters(inner):
    """Returns the parameters of one form; None: some arguments cannot be named in Python."""
    optional, parameters = False, []
    for part in re.findall(r"\[|\]|[^,\[\]\s][^,\[\]]*", inner):
        part = part.strip()
        if part in "[]":
            optional = optional or part == "["
        elif part.endswith("...") and part.rstrip(".").isidentifier() or part == "...":  # the rest is variadic
            return parameters + [Parameter(part.rstrip(".") or "args", Parameter.VAR_POSITIONAL)]
        elif part.isidentifier():
            name = part + "_"*keyword.iskeyword(part)  # a keyword cannot be passed by name
            parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD,
                                        default=None if optional else Parameter.empty))
        else:
            return None
    return parameters


def signature_of(text):
    """Returns the form with the most parameters; (*args) if it does not cover all forms."""
    signature = _of_forms(text)
    if "] = " not in text:
        return signature
    return signature.replace(parameters=[*signature.parameters.values(), NARGOUT])


def _of_forms(text):
    text = re.sub(r"\bx\.(\w+)\(\)", r"\1(x)", text)
    forms = [_parameters(inner) for inner in re.findall(r"(?<!\w)[a-z_]\w*\(([^()]*)\)", text)]
    if not forms or None in forms:
        return ANY
    least = min(sum(p.default is p.empty and p.kind != p.VAR_POSITIONAL for p in f) for f in forms)
    most = max(forms, key=lambda f: (len(f) + 99*any(p.kind == p.VAR_POSITIONAL for p in f)))
    names = [p.name for p in most]
    if len(set(names)) < len(names) or any(names[:1] != [p.name for p in f][:1] for f in forms):
        return ANY
    made = [p if p.kind == p.VAR_POSITIONAL or n < least else p.replace(default=None) for n, p in enumerate(most)]
    try:
        return Signature(made)
    except ValueError:
        return ANY
