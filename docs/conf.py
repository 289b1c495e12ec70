"""The settings of the site, which `cargo xtask site` builds of the pages in `docs/` and at the root.

Owns what makes pages of a repository pages of a site: pages of the root that a page of the site includes, and
links, which are those of the repository. Invariants: a link to another page leads to it on the site too; one
to any other file of the repository becomes the file's name; a link to nothing is a warning, which ends the
build. Not here: the pages, the packages of the environment (`requirements.txt`).
"""

import pathlib
import re

import gpupy

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "gpupy"
author = "the authors of gpupy"
version = release = gpupy._VERSION
project_copyright = "the authors of gpupy"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["requirements.txt"]
# Comments of the contents of code are in single marks.
default_role = "code"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# The notebook runs at each build; a cell that raises ends it.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 60

autodoc_typehints = "none"
napoleon_google_docstring = False

html_theme = "pydata_sphinx_theme"
html_title = "gpupy"
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_copyright = False
copybutton_prompt_text = ">>> |\\.\\.\\. "
copybutton_prompt_is_regexp = True

INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def pages():
    """Every page of the site by the file of the repository that it shows."""
    found = {}
    for page in sorted(DOCS.rglob("*")):
        if page.suffix in (".md", ".ipynb"):
            found[page] = page
            included = INCLUDE.findall(page.read_text(encoding="utf-8")) if page.suffix == ".md" else []
            found |= {(page.parent / name).resolve(): page for name in included}
    return found


PAGES = pages()


def relinked(text, source, page):
    """A file's text as a part of a page of the site: with its links leading there from the page."""

    def link(match):
        is_picture, words, target = match.groups()
        path, hash_mark, anchor = target.partition("#")
        if ":" in target or not path:
            return match[0]
        file = (source.parent / path).resolve()
        if file in PAGES or is_picture:
            there = PAGES.get(file, file)
            return f"{is_picture}[{words}]({_from(page, there)}{hash_mark}{anchor})"
        if not file.exists():
            # Sphinx says that it leads nowhere.
            return match[0]
        name = file.relative_to(ROOT).as_posix()
        return f"`{name}`" if words.strip("`") == name else f"{words} (`{name}`)"

    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(link, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(link, text[end:])])


def _from(page, there):
    """The path from a page to a file."""
    up = [".."] * len(page.parent.relative_to(DOCS).parts)
    return pathlib.PurePath(*up, there.relative_to(DOCS)).as_posix()


def on_source(app, docname, source):
    """Includes pages of the root, and leads links to the pages of the site."""
    page = pathlib.Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return

    def included(match):
        file = (page.parent / match[1]).resolve()
        return relinked(file.read_text(encoding="utf-8"), file, page)

    text, end = "", 0
    for match in INCLUDE.finditer(source[0]):
        text += relinked(source[0][end : match.start()], page, page) + included(match)
        end = match.end()
    source[0] = text + relinked(source[0][end:], page, page)
    if page.name == "README.md":
        # The index of a folder has links to its pages, and no list for the site.
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n*\n```\n"


def on_docstring(*arguments):
    """Shows the examples of docstrings as code: what is indented after an empty line."""
    *_, lines = arguments
    shown = []
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else ""
        is_code = line.startswith("    ") and not before.strip() and not before.startswith("..")
        previous = next((text for text in reversed(lines[:number]) if text.strip()), "")
        if is_code and not previous.startswith((" ", ":", "..")):
            shown += [".. code-block:: python", ""]
        shown.append(line)
    lines[:] = shown


def setup(app):
    app.connect("source-read", on_source)
    app.connect("autodoc-process-docstring", on_docstring, priority=900)
    return {"parallel_read_safe": True}
