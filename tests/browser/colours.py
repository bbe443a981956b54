"""Reads from a page whether text stands out from what lies behind it."""

from playwright.sync_api import Locator

# For each text of an element: its colour, and the nearest background that is not transparent.
# The sum is WCAG 2's. A canvas turns any colour of CSS into red, green and blue.
_LOWEST_CONTRAST = """
box => {
  const brush = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data];
  };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const light = colour => {
    const [r, g, b] = colour.slice(0, 3).map(v => v / 255).map(
      v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = e => {
    const pair = [light(rgba(getComputedStyle(e).color)), light(behind(e))].sort((a, b) => b - a);
    return (pair[0] + 0.05) / (pair[1] + 0.05);
  };
  const texts = [...box.querySelectorAll('*')].filter(e =>
    [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.textContent.trim()));
  return Math.min(...texts.map(contrast));
}
"""
# A picture that lets the page through in places would lose its dark words on a dark page.
_IS_OPAQUE = """
async image => {
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const brush = canvas.getContext('2d');
  brush.drawImage(image, 0, 0);
  const pixels = brush.getImageData(0, 0, canvas.width, canvas.height).data;
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return false;
  return pixels.length > 0;
}
"""


def lowest_contrast(box: Locator) -> float:
    """Return the lowest contrast ratio of any text in an element; 4.5 is enough to read."""
    return float(box.evaluate(_LOWEST_CONTRAST))


def is_opaque(image: Locator) -> bool:
    """Say whether a picture hides everything behind it."""
    return bool(image.evaluate(_IS_OPAQUE))
