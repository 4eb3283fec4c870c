"""The signature of a built-in function, of what the manual says: clamp(x, lo [, hi]), zeros(n, ...) or zeros(size).
A built-in with several results, [y, i] = sort(x), gives the first, and with nargout=2 a tuple of two.

tools/stubs.py reads this, too: it imports nothing of the package."""
import keyword, re
from inspect import Parameter, Signature

NARGOUT = Parameter("nargout", Parameter.KEYWORD_ONLY, default=1)
ANY = Signature([Parameter("args", Parameter.VAR_POSITIONAL)])


def _parameters(inner):
    """Of one form; None: it has arguments that Python has no names for."""
    optional, parameters = False, []
    for part in re.findall(r"\[|\]|[^,\[\]\s][^,\[\]]*", inner):
        part = part.strip()
        if part in "[]":
            optional = optional or part == "["
        elif part.endswith("...") and part.rstrip(".").isidentifier() or part == "...":  # and what follows
            return parameters + [Parameter(part.rstrip(".") or "args", Parameter.VAR_POSITIONAL)]
        elif part.isidentifier():
            name = part + "_"*keyword.iskeyword(part)  # by name it cannot be given
            parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD,
                                        default=None if optional else Parameter.empty))
        else:
            return None
    return parameters


def signature_of(text):
    """Of several forms the one that has the most arguments; (*args) when that does not say all."""
    signature = _of_forms(text)
    if not text.startswith("["):
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
