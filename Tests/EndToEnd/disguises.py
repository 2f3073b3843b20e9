# SPDX-License-Identifier: Apache-2.0
"""A search for secrets in what was put out, in every form in which one may stand there. Python's standard library and
grep, which looks for many thousand words at once."""
import base64
import json
import os
import re
import subprocess
import tempfile
import urllib.parse

# Shorter forms cannot be told from chance.
SHORTEST = 4


def pieces(value):
    """The longest part of a value that stands on one line."""
    return max(re.split(rb"[\0\r\n]", value), key=len)


def disguises(value):
    """The value as it is, in hexadecimal, escaped for a URL, a form or JSON, and in base64 at each of the three places
    that it may have in a group, and in UTF-16 less its NULs: files are searched without theirs too."""
    text = value.decode("utf-8", "replace")
    yield pieces(value)
    for encoding in ("utf-16-le", "utf-16-be"):
        yield pieces(text.encode(encoding).replace(b"\0", b""))
    yield value.hex().encode()
    yield value.hex().upper().encode()
    quoted = urllib.parse.quote(value, safe="")
    yield quoted.encode()
    yield re.sub("%..", lambda escape: escape.group().lower(), quoted).encode()
    yield urllib.parse.quote_plus(value, safe="").encode()
    for is_ascii in (True, False):
        inner = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
        yield inner.encode()
        yield inner.replace("/", "\\/").encode()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + value).rstrip(b"=")
        # What the bytes before and after the value have a part in says nothing of it.
        inner = encoded[-(-shift * 8 // 6):len(encoded) - (1 if (shift + len(value)) % 3 else 0)]
        if len(inner) >= 6:
            yield inner
            yield inner.replace(b"+", b"-").replace(b"/", b"_")


def search(values, paths):
    """Which of the values (bytes) can be read in these files.

    Returns a list of (value, path, some of what stands before it), and the number of bytes searched."""
    forms = {}
    for value in values:
        for form in disguises(value):
            if len(form) >= SHORTEST:
                forms.setdefault(form, value)
    found, size = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/forms", "wb") as file:
            file.write(b"\n".join(sorted(forms)) + b"\n")
        for path in paths:
            with open(path, "rb") as file:
                content = file.read()
            size += len(content)
            for candidate in (content, content.replace(b"\0", b"")):
                for form in matches(candidate, folder):
                    place = candidate.find(form)
                    found.setdefault((forms[form], path), candidate[max(0, place - 80):place])
    return [(value, path, before) for (value, path), before in found.items()], size


def matches(content, folder):
    """The forms that stand in it."""
    with open(f"{folder}/content", "wb") as file:
        file.write(content)
    done = subprocess.run(["grep", "-aoF", "-f", f"{folder}/forms", f"{folder}/content"], capture_output=True,
                          env={**os.environ, "LC_ALL": "C"})
    if done.returncode > 1:
        raise OSError(done.stderr.decode())
    return set(done.stdout.split(b"\n")) - {b""}


def describe(found):
    """A line for each finding, which does not say the secret itself."""
    return [f"{value[:4].decode('utf-8', 'replace')}... ({len(value)} bytes) in {os.path.basename(path)}, after "
            f"{before.decode('utf-8', 'replace')!r}" for value, path, before in found]
