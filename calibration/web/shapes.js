// Zones while they are drawn: corners in mm, and which of them are the betting line's. No page in here.

/** From the file's form (µm) to the drawing's (mm): {kind, seat, corners: [[x, y]], line: [indices]}. */
export function fromFile(zones) {
  return {
    dealer: [zones.dealer.x_um / 1000, zones.dealer.y_um / 1000],
    shapes: zones.zones.map((zone) => {
      const corners = zone.outline.map((p) => [p.x_um / 1000, p.y_um / 1000]);
      const line = zone.line.map((p) => nearest(corners, [p.x_um / 1000, p.y_um / 1000]));
      return { kind: zone.kind, seat: zone.seat, corners, line: [...new Set(line)] };
    }),
  };
}

/** Back to the file's form. */
export function toFile(drawing) {
  const point = ([x, y]) => ({ x_um: Math.round(x * 1000), y_um: Math.round(y * 1000) });
  return {
    dealer: point(drawing.dealer),
    zones: drawing.shapes.map((shape) => ({
      kind: shape.kind, seat: shape.seat, outline: shape.corners.map(point), line: shape.line.map((i) => point(shape.corners[i])),
    })),
  };
}

export function nearest(corners, [x, y]) {
  let best = 0;
  corners.forEach((c, i) => { if (distance(c, [x, y]) < distance(corners[best], [x, y])) best = i; });
  return best;
}

export const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

export function middle(corners) {
  const sum = corners.reduce((s, c) => [s[0] + c[0], s[1] + c[1]], [0, 0]);
  return [sum[0] / corners.length, sum[1] / corners.length];
}

/** The place moved on a grid of `grid` mm, or on a corner of another zone within `reach` mm. */
export function snap(drawing, self, place, grid = 5, reach = 12) {
  let best = null;
  for (const shape of drawing.shapes) {
    if (shape === self) continue;
    for (const corner of shape.corners) {
      const far = distance(corner, place);
      if (far <= reach && (!best || far < best.far)) best = { far, at: [...corner] };
    }
  }
  return best ? best.at : [Math.round(place[0] / grid) * grid, Math.round(place[1] / grid) * grid];
}

export function move(shape, dx, dy) {
  shape.corners = shape.corners.map(([x, y]) => [x + dx, y + dy]);
}

export function turn(shape, degrees) {
  const [mx, my] = middle(shape.corners), a = (degrees * Math.PI) / 180, c = Math.cos(a), s = Math.sin(a);
  shape.corners = shape.corners.map(([x, y]) => [mx + (x - mx) * c - (y - my) * s, my + (x - mx) * s + (y - my) * c]);
}

/** A new corner after corner `i`; one between two of the line's belongs to it. */
export function addCorner(shape, i, place) {
  const next = (i + 1) % shape.corners.length;
  const within = shape.line.includes(i) && shape.line.includes(next) && Math.abs(shape.line.indexOf(i) - shape.line.indexOf(next)) === 1;
  const at = Math.max(shape.line.indexOf(i), shape.line.indexOf(next));
  shape.corners.splice(i + 1, 0, place);
  shape.line = shape.line.map((k) => (k > i ? k + 1 : k));
  if (within) shape.line.splice(at, 0, i + 1);
  return i + 1;
}

export function removeCorner(shape, i) {
  if (shape.corners.length <= 3) return false;
  shape.corners.splice(i, 1);
  shape.line = shape.line.filter((k) => k !== i).map((k) => (k > i ? k - 1 : k));
  return true;
}

/** Put a corner on the betting line or take it off; the line follows the outline. */
export function toggleLine(shape, i) {
  const n = shape.corners.length;
  const on = new Set(shape.line);
  if (on.has(i)) on.delete(i); else on.add(i);
  // One run along the outline: begin after a corner that is not on the line.
  let start = [...Array(n).keys()].find((k) => !on.has(k));
  if (start === undefined) start = n - 1;
  shape.line = [...Array(n).keys()].map((k) => (start + 1 + k) % n).filter((k) => on.has(k));
}

/** A new zone of 250 x 120 mm about a place. */
export function fresh(kind, seat, [x, y]) {
  return { kind, seat, corners: [[x - 125, y - 60], [x + 125, y - 60], [x + 125, y + 60], [x - 125, y + 60]], line: kind === "bet" ? [0, 1] : [] };
}
