"""Random chat templates: the text that Jinja makes of them, or a refusal in bounded time.

Half of the templates are small programs, whose text must be that of Jinja's own sandbox with the
settings of transformers. The others grow values by doubling, nesting and repeating them, and then
make text of them, compare them or look them up.
"""

from __future__ import annotations

import json
import resource
import time

from jinja2 import pass_context
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fbg.text.chat_template import render_chat_template
from helpers.random_cases import Different, Kind

SECONDS = 4.0  # of CPU time
MEMORY = 1 << 30  # beyond what the process has when a case begins
NAMES = ("a", "b", "c", "n.x", "messages", "m")
FILTERS = (
    *("capitalize", "count", "default('x')", "first", "float", "int", "items", "last", "length"),
    *("list", "lower", "map('string')", "map('upper')", "map(attribute='role')", "reject('none')"),
    *("rejectattr('role')", "reverse", "safe", "select", "selectattr('role', 'eq', 'user')"),
    *("sort", "string", "title", "trim", "trim('a')", "unique", "upper", "join('-')", "join(a)"),
    *("replace('a', b)", "tojson", "tojson(indent=2)", "dictsort", "select('in', c)"),
    *("map('replace', 'a', 'bb')", "map('list')", "sort(attribute='role')"),
)
METHODS = (
    *("strip()", "strip(b)", "split()", "split('a')", "upper()", "title()", "items()", "keys()"),
    *("values()", "get('role')", "get(a)", "count('a')", "find('a')", "startswith('a')"),
    *("rsplit('a', 1)", "removeprefix('a')", "rfind(b)", "splitlines()", "index('a')", "lower"),
)
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">=", "and", "or", "in")
TESTS = ("defined", "none", "string", "mapping", "iterable", "number", "odd", "eq(a)", "in(c)")
GROWTH = (
    *("{0} ~ {0}", "{0} + {0}", "[{0}, {0}]", "({0}, {0})", "dict(x={0}, y={0})", "[{0}] * 3"),
    *("{{'k': {0}, 'l': {0}}}", "namespace(x=[{0}, {0}])", "{0} * 9", "{0} | replace('a', {0})"),
    *("[{0}, {0}] | join({0})", "{0} | list", "[{0}] | map('string') | list", "{0} | tojson"),
    *("range(999) | list", "{0} | string", "({0}) ** 9", "[{0}] | sort", "{0}.split('a')"),
    *("{0}.items() | list", "namespace(x={0})", "[{0}] | unique | list", "{0} | safe"),
)
USES = (
    *(
        "{{{{ {0} }}}}",
        "{{{{ {0} ~ '' }}}}",
        "{{{{ {0} | tojson(indent=8) }}}}",
        "{{{{ {0} == {0} }}}}",
    ),
    *(
        "{{{{ {{}}[{0}] }}}}",
        "{{{{ {{}}[{0}].x }}}}",
        "{{{{ [{0}] | join }}}}",
        "{{{{ {0} | length }}}}",
    ),
    *("{{{{ {0} in [{0}, 1] }}}}", "{{{{ raise_exception({0}) }}}}", "{{{{ {0}.upper }}}}"),
    *(
        "{{% for i in {0} %}}{{{{ {0} }}}}{{% endfor %}}",
        "{{{{ [{0}] | select('in', [{0}]) | list }}}}",
    ),
    *(
        "{{{{ {0} | map(attribute='x.y') | list }}}}",
        "{{{{ {0}.rfind({0} ~ 'b') }}}}",
        "{{{{ {0} | trim({0}) }}}}",
    ),
    *(
        "{{% set a %}}{{{{ {0} }}}}{{% endset %}}{{{{ a }}}}",
        "{{% filter upper %}}{{{{ {0} }}}}{{% endfilter %}}",
    ),
)
MESSAGES = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": " an apple?\n", "parts": [1, 2.5, None, True]},
    {"role": "tool", "content": [{"type": "text", "text": "ü\u2028<b>"}]},
]


def expression(rng, depth):
    if depth == 0:
        simple = (
            rng.choice(NAMES),
            str(rng.randrange(-3, 9)),
            "'a b'",
            "'aXa'",
            "none",
            "1.5",
            "[]",
        )
        return rng.choice(simple)

    def part():
        return expression(rng, depth - 1)

    forms = (
        lambda: f"({part()} {rng.choice(OPERATORS)} {part()})",
        lambda: f"({part()} | {rng.choice(FILTERS)})",
        lambda: f"({part()}).{rng.choice(METHODS)}",
        lambda: f"({part()} is {rng.choice(TESTS)})",
        lambda: f"({part()} if {part()} else {part()})",
        lambda: f"({part()})[{rng.choice((part(), '0', '-1', ':2', '1:', '::-1'))}]",
        lambda: f"[{part()}, {part()}]",
        lambda: f"{{'role': {part()}, {part()}: 2}}",
        lambda: f"not {part()}",
        lambda: f"f({part()})",
        lambda: f"range({rng.randrange(5)})",
    )
    return rng.choice(forms)()


def statement(rng, depth):
    value = expression(rng, rng.randrange(4))
    if depth == 0:
        name = rng.choice(("a", "b", "c", "n.x"))
        return rng.choice(
            (f"{{{{ {value} }}}}", f"{{% set {name} = {value} %}}", "text\n  ", "ab ")
        )

    def body():
        return "".join(statement(rng, depth - 1) for _ in range(rng.randrange(1, 4)))

    return rng.choice(
        (
            f"{{% for m in {value} %}}{{{{ loop.index }}}}{body()}{{% else %}}-{{% endfor %}}",
            f"{{% for m in messages if {value} %}}{body()}{{% if m %}}{{% break %}}{{% endif %}}"
            f"{{% endfor %}}",
            f"{{% if {value} %}}{body()}{{% elif a %}}{body()}{{% else %}}{body()}{{%- endif %}}\n",
            f"{{% set b %}}{body()}{{% endset %}}",
            f"{{% filter {rng.choice(('upper', 'trim', 'title'))} %}}{body()}{{% endfilter %}}",
            f"{{% macro f(m, k=1) %}}{body()}{{% endmacro %}}",
            f"{{% with a = {value} %}}{body()}{{% endwith %}}",
            f"{{%- call f({value}) -%}}{body()}{{%- endcall -%}}",
        )
    )


def program(rng):
    begin = "{% set n = namespace(x='a') %}{% macro f(m) %}<{{ m }}>{% endmacro %}"
    return begin + "".join(statement(rng, rng.randrange(3)) for _ in range(rng.randrange(1, 7)))


def bomb(rng):
    start = rng.choice(
        ("'aaaa'", "[1]", "(1,)", "{'x': 'aa'}", "namespace(x='a')", "7", "'ā' * 999")
    )
    text = f"{{% set v = {start} %}}{{% set n = namespace(x=v) %}}"
    for _ in range(rng.randrange(1, 5)):
        name = rng.choice(("v", "v", "n.x"))
        step = f"{{% set {name} = {rng.choice(GROWTH).format(rng.choice(('v', 'n.x')))} %}}"
        times = rng.choice((1, 2, 5, 12, 40))
        if name == "n.x" and rng.random() < 0.5:
            text += f"{{% for i in range({rng.choice((9, 999))}) %}}{step}{{% endfor %}}"
        else:
            text += step * times
    use = "".join(rng.choice(USES).format(rng.choice(("v", "n.x"))) for _ in range(2))
    if rng.random() < 0.3:
        use = f"{{% for i in range({rng.choice((99, 9999))}) %}}{use}{{% endfor %}}"
    return text + use


def plain(source, values):
    """Render as transformers does (utils/chat_template_utils.py)."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.loopcontrols"],
        # Constants are computed where they stand: before, Jinja computes some of them otherwise.
        optimized=False,
        finalize=pass_context(lambda context, value: value),
    )

    def tojson(x, ensure_ascii=False, indent=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, sort_keys=sort_keys)

    def raise_exception(message):
        raise TemplateError(message)

    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    return environment.from_string(source).render(values)


def run(rng):
    grows = rng.random() < 0.5
    source = bomb(rng) if grows else program(rng)
    values = {"messages": MESSAGES, "a": "abc", "c": [1, "a", "abc"]}
    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, hard))
    begin = time.process_time()
    text = failure = None
    try:
        text = render_chat_template(source, ("a" * 99,), values)
    except ValueError as error:
        failure = error.__context__
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    seconds = time.process_time() - begin
    if seconds > SECONDS or isinstance(failure, MemoryError):
        raise Different(f"{seconds:.1f} s, {failure!r}: {source}")
    if isinstance(failure, SecurityError) or (grows and failure is not None):
        return "beyond the budget"
    if grows:
        return "within the budget"
    try:
        wanted = plain(source, values)
    except Exception as error:
        if failure is None:
            raise Different(f"{text!r}, but Jinja raises {error!r}: {source}") from None
        return "refused by both"
    if failure is not None:
        raise Different(f"{failure!r}, but Jinja makes {wanted!r}: {source}")
    if text != wanted and " at 0x" not in wanted.lower():
        raise Different(f"{text!r} and not {wanted!r}: {source}")
    return "same"


KIND = Kind("differential.chat_templates", run, cases=50)
