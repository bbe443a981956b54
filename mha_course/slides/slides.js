// Starts the slides, and makes a slide smaller that holds more than fits.
const WIDTH = 1280, HEIGHT = 720, FOOT = 24, SMALLEST = 0.5;

function fit(slide) {
  const room = HEIGHT - FOOT;
  slide.style.zoom = 1;
  for (let zoom = 0.95; zoom >= SMALLEST && tall(slide) > room; zoom -= 0.05) {
    slide.style.zoom = zoom;
  }
}

function tall(slide) {
  return slide.scrollHeight * Number(slide.style.zoom);
}

Reveal.initialize({
  width: WIDTH, height: HEIGHT, margin: 0.03, center: false,
  hash: true, slideNumber: "c/t", transition: "none",
}).then(() => {
  fit(Reveal.getCurrentSlide());
  Reveal.on("slidechanged", (event) => fit(event.currentSlide));
  // An answer that is unfolded needs room, too.
  document.addEventListener("toggle", () => fit(Reveal.getCurrentSlide()), true);
});
