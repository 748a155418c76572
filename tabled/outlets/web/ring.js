// The ring: seats, bets and whose turn it is, as the state has them.

import { $, el, fill, icon } from "/dom.js";

export function drawRing(s, now, w, lang) {
  fill($("ring"), JSON.stringify([s, now.acting, now.toAct, now.chip, lang]), () => {
    if (!s) return [];
    const parts = [el("div", "felt"), middle(s, w), at(el("div", "dealer", w.dealer), 50, 95)];
    s.seats.forEach((seat, n) => {
      const angle = ((n + 1) / (s.seats.length + 1)) * 2 * Math.PI; // clockwise from the dealer, who looks from below
      const place = (r) => [50 - Math.sin(angle) * r * 0.96, 50 + Math.cos(angle) * r];
      const box = seatBox(seat, s, now, w);
      box.classList.toggle("far", Math.cos(angle) < -0.3); // its label goes outward, clear of the bet
      parts.push(at(box, ...place(42)));
      const ruled = now.chip?.seat === seat.seat && now.chip.to > seat.bet ? now.chip : null;
      const bet = ruled ? ruled.to : seat.bet;
      const look = `bet ${ruled?.open ? "dashed" : ""} ${bet > 99_999 ? "wide" : ""}`;
      if (bet > 0) parts.push(at(el("div", look, String(bet)), ...place(reach(angle))));
    });
    return parts;
  });
}

/** How far from the middle a bet lies: the seats at the far end sit side by side, and their bets one behind the other. */
function reach(angle) {
  if (Math.cos(angle) > -0.9) return 26;
  return Math.sin(angle) > -0.01 ? 31 : 24;
}

function at(node, x, y) {
  node.style.left = `${x}%`;
  node.style.top = `${y}%`;
  return node;
}

function middle(s, w) {
  const street = s.hand_id === null ? w.phases.idle : w.streetName(s.street);
  const bet = s.bet_to > 0 ? w.bet(s.bet_to) : null;
  return at(el("div", "middle", el("b", "", street), bet && el("span", "", bet)), 50, 50);
}

function seatBox(seat, s, now, w) {
  const acting = seat.seat === now.acting;
  const turn = acting ? "acting" : seat.seat === now.toAct ? "next" : "";
  const out = seat.status === "folded" || seat.status === "empty";
  const box = el("div", `seat ${seat.status} ${turn}`, el("b", "", seat.seat));
  const label = [w.seat(seat.seat)];
  const tell = (text) => {
    box.append(el("small", "", text));
    label.push(text);
  };
  if (turn) tell(w[turn]);
  if (seat.status === "folded") tell(w.fold);
  if (seat.status === "all_in") tell(w.allIn);
  if (!out && !seat.may_raise && seat.status === "in") {
    const lock = el("i", "lock", icon("lock"));
    lock.title = w.noRaise(seat.seat);
    box.append(lock);
    label.push(w.noRaise(seat.seat));
  }
  if (seat.seat === s.button) {
    const button = el("i", "button", "D");
    button.title = w.button;
    box.append(button);
    label.push(w.button);
  }
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", label.join(", "));
  return box;
}
