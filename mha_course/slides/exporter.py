"""nbconvert's slides, with everything that they need inside the file."""

from pathlib import Path
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from latex2mathml.converter import convert
from nbconvert import SlidesExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

FOLDER = Path(__file__).parent


class MathRenderer(IPythonRenderer):
    """Writes formulas as MathML, which a browser draws by itself: MathJax needs a network."""

    def block_math(self, body: str) -> str:
        return convert(body, display="block")

    def multiline_math(self, text: str) -> str:
        return convert(text.strip().strip("$"), display="block")

    def inline_math(self, body: str) -> str:
        return convert(body)


class OfflineSlides(SlidesExporter):
    """Slides in one file."""

    def _template_name_default(self) -> str:
        return "mha_slides"

    @pass_context
    def markdown2html(self, context: Context, source: str) -> str:
        renderer = MathRenderer(escape=False, exclude_anchor_links=True)
        return MarkdownWithMath(renderer=renderer).render(source)

    def _init_resources(self, resources: dict[str, Any]) -> dict[str, Any]:
        resources = super()._init_resources(resources)
        for name in ("reveal/reveal.js", "reveal/reveal.css", "slides.css", "slides.js"):
            text = (FOLDER / name).read_text(encoding="utf-8")
            resources[name.replace("/", "_").replace(".", "_")] = text
        return resources


def to_html(notebook: NotebookNode, title: str) -> str:
    """Return the slides as HTML.

    Args:
        notebook: Its cells are marked as slides.
        title: For the browser's window.
    """
    exporter = OfflineSlides(extra_template_basedirs=[str(FOLDER / "templates")])
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    return str(html)
