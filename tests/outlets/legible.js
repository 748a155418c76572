(floor) => {
  const linear = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const colour = (text) => {
    const p = text.match(/[\d.]+/g).map(Number);
    return { rgb: p.slice(0, 3), alpha: p[3] ?? 1 };
  };
  const ground = (node) => {
    for (let n = node; n; n = n.parentElement) {
      const c = colour(getComputedStyle(n).backgroundColor);
      if (c.alpha === 1) return c.rgb;
    }
    return [0, 0, 0];
  };
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || node.closest("[hidden], .unseen, noscript, script")) continue;
    const style = getComputedStyle(node);
    const [light, dark] = [luminance(colour(style.color).rgb), luminance(ground(node))].sort((x, y) => y - x);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 7) faults.push(`${text}: contrast ${ratio.toFixed(1)}`);
    if (node.closest("#ruling") && parseFloat(style.fontSize) < floor) faults.push(`${text}: ${style.fontSize}`);
  }
  for (const key of document.querySelectorAll("button")) {
    const box = key.getBoundingClientRect();
    if (box.width && (box.width < 64 || box.height < 64)) faults.push(`${key.textContent}: ${box.width}x${box.height}`);
  }
  for (const box of [document.documentElement, ...document.querySelectorAll("#ruling, #side")]) {
    const over = box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;
    if (over) faults.push(`${box.id || "page"} overflows`);
  }
  return faults;
}
