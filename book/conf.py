"""Settings of Sphinx for the book; `tools/book.py` calls it and puts the sources together."""

from typing import Any

from sphinx.application import Sphinx

from tools.navigation import launch_link, lessons, place

PLACE = place()

project = "Multi-head attention, step by step"
html_title = project
html_last_updated_fmt = None
language = "en"
# Quotes stay as the lessons have them; only the dashes that autodoc writes are turned.
smartquotes_action = "D"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["README.md"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

# The stored outputs are shown; nothing is run. Widgets would ask a CDN for their code, and each
# has a figure beside it that shows the same.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}

# A docstring says `x` for code; Args, Returns and Raises are Google's, Source is ours.
default_role = "code"
napoleon_custom_sections = ["Source"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
# Otherwise torch's text on nn.Module.forward stands under our own forward.
autodoc_inherit_docstrings = False
add_module_names = False
# On lines of their own, parameters become a list without terms, which a screen reader can't read.
python_maximum_signature_line_length = 10_000

# One file that holds its fonts as outlines: it works from the file system, with no other request.
mathjax_path = "mathjax/tex-svg-full.js"

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_selector = "div.cell_input pre, :not(div.cell_output) > div.highlight pre"

# No page leads to it; the search and the API page do its work.
html_use_index = False
html_theme = "sphinx_book_theme"
html_css_files = ["book.css"]
# The summaries are fetched page by page, which a browser refuses from the file system.
html_show_search_summary = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "repository_url": f"https://github.com/{PLACE['owner']}/{PLACE['repository']}",
    "repository_branch": PLACE["branch"],
    "path_to_docs": "",
    "launch_buttons": {
        "binderhub_url": "https://mybinder.org",
        "notebook_interface": "jupyterlab",
    },
    "use_repository_button": True,
    "use_issues_button": True,
    "home_page_in_toc": True,
    "show_toc_level": 2,
    "navbar_persistent": [],
    "footer_content_items": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def adapt_docstring(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Let `(*B, L, E)` be a shape, not the start of an emphasis, and Returns be one sentence."""
    lines[:] = [line.replace("(*B", r"(\*B") for line in lines]
    for number, line in enumerate(lines[:-1]):
        if line.strip() in ("Returns:", "Yields:"):
            # Napoleon takes what stands before a colon for a type; here it stands in the signature.
            after = lines[number + 1]
            lines[number + 1] = f"{after[: len(after) - len(after.lstrip())]}: {after.lstrip()}"


def launch_series(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give a page that is no lesson the launch button of the first lesson."""
    if not pagename.startswith("notebooks/"):
        link = {"type": "link", "text": "Binder", "tooltip": "Launch lesson 1 on Binder"}
        link |= {"url": launch_link(lessons()[0]), "icon": "_static/images/logo_binder.svg"}
        group = {"type": "group", "icon": "fas fa-rocket", "label": "launch-buttons"}
        group |= {"tooltip": "Launch the series", "buttons": [link]}
        context["header_buttons"].insert(0, group)


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", adapt_docstring, priority=400)  # before napoleon
    app.connect("html-page-context", launch_series, priority=502)
