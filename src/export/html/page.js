"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const card = document.getElementById("card");
  const xray = document.getElementById("xray");
  let pin = null;

  const node = (name, kind, text) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const percent = (value) => {
    if (value >= 99.95) return value >= 100 ? "100 %" : "> 99.9 %";
    if (value >= 10) return value.toFixed(1) + " %";
    if (value >= 0.01) return value.toFixed(2) + " %";
    return "< 0.01 %";
  };
  const bits = (value) => value.toFixed(2) + " bits";

  // A step: [piece, before %, after %, rank, entropy bits, coin, below, tokens left, how it was picked,
  // [tokens left by each stage], [entropy after each stage], [piece, % at each column …, …]].
  const step = (at) => {
    const pane = data.panes[at.pane];
    const [piece, before, after, rank, entropy, coin, below, left, how, kept, entropies, cells] = pane.steps[at.step];
    const width = pane.columns.length + 1;
    const rows = [];
    for (let i = 0; i < cells.length; i += width) {
      rows.push({ piece: cells[i], probs: cells.slice(i + 1, i + width) });
    }
    return { pane, piece, before, after, rank, entropy, coin, below, left, how, kept, entropies, rows };
  };
  // White space alone would be an empty cell.
  const shown = (piece) => {
    const text = data.pieces[piece];
    return /\S/.test(text) ? text : text.replace(/ /g, "·").replace(/\t/g, "⇥").replace(/\r?\n/g, "↵");
  };
  const word = (piece) => "‘" + shown(piece).replace(/^ +(?=\S)/, "") + "’";
  const summary = (s) => {
    if (s.before === null) return "the server reported no probability";
    const cut = s.after !== null && s.after <= 0;
    const end = s.after === null ? "unknown after" : cut ? "cut by the settings" : percent(s.after) + " after";
    const rank = s.rank === null ? "unknown" : s.rank.toLocaleString("en");
    return percent(s.before) + " before, " + end + " · rank " + rank;
  };
  const bar = (value, largest) => {
    const fill = node("span", "fill");
    fill.style.setProperty("--share", value / largest);
    return fill;
  };

  const texts = [...document.querySelectorAll(".text")];
  const tokens = texts.map((text) => [...text.querySelectorAll(".t")]);
  const place = new Map();
  tokens.forEach((list, pane) => list.forEach((token, index) => {
    place.set(token, { pane, step: index });
    token.removeAttribute("title");
  }));
  const tokenAt = (at) => at && tokens[at.pane] && tokens[at.pane][at.step];

  const showCard = (token) => {
    const s = step(place.get(token));
    card.replaceChildren(node("strong", "", word(s.piece)), node("p", "small quiet", summary(s)));
    const table = node("table", "small");
    for (const row of s.rows.slice(0, 6)) {
      const line = node("tr", row.piece === s.piece ? "chosen" : "");
      line.append(node("td", "word", shown(row.piece)));
      const value = node("td", "num");
      const known = row.probs[0] !== null;
      if (known) value.append(bar(row.probs[0], s.rows[0].probs[0] || 1), percent(row.probs[0]));
      line.append(value);
      table.append(line);
    }
    card.append(table);
    card.hidden = false;
    const box = token.getClientRects()[0] || token.getBoundingClientRect();
    const left = Math.min(box.left, root.clientWidth - card.offsetWidth - 8);
    const under = box.bottom + 6 + card.offsetHeight < innerHeight;
    const top = under ? box.bottom + 6 : box.top - card.offsetHeight - 6;
    card.style.left = Math.max(8, left) + scrollX + "px";
    card.style.top = top + scrollY + "px";
  };

  // The tokens left, each as wide as it is probable, with a mark where the coin falls.
  const coinBar = (s) => {
    const line = node("div", "coin");
    const kept = s.rows.filter((row) => row.probs.at(-1) > 0);
    kept.sort((a, b) => b.probs.at(-1) - a.probs.at(-1));
    let left = 0;
    for (const row of kept) {
      const own = row.piece === s.piece;
      const part = node("i", own ? "own" : "");
      part.style.left = (own ? 100 * s.below : left) + "%";
      part.style.width = row.probs.at(-1) + "%";
      part.title = word(row.piece) + " " + percent(row.probs.at(-1));
      line.append(part);
      left += row.probs.at(-1);
    }
    if (s.coin >= 0) {
      const mark = node("b");
      mark.style.left = 100 * s.coin + "%";
      line.append(mark);
    }
    return line;
  };
  const drawn = (s) => {
    if (s.how === "given") {
      const cut = s.after > 0 ? "" : " These settings could not have written it.";
      return "The text was given: " + word(s.piece) + "." + cut;
    }
    if (s.how === "by_hand") return "Picked by hand: " + word(s.piece) + ".";
    if (s.how === "by_beams") return "Beam search took " + word(s.piece) + " for the total of its text.";
    if (s.how === "by_ratio") return "Speculative sampling took " + word(s.piece) + " as a draft, or in place of one.";
    if (s.how === "by_server") return "The server’s own sampler took " + word(s.piece) + ".";
    if (s.coin < 0) return "No single coin: " + word(s.piece) + " was taken.";
    if (s.after === null) return "Coin " + s.coin.toFixed(3) + " falls on " + word(s.piece) + ", as far as the server reports.";
    return "Coin " + s.coin.toFixed(3) + " falls on " + word(s.piece) + ", between " + s.below.toFixed(3) +
      " and " + Math.min(1, s.below + s.after / 100).toFixed(3) + ".";
  };
  // Unknown if a server does not report its vocabulary.
  const left = (s) => (s.left === null ? "" : " · " + s.left.toLocaleString("en") + " tokens left");
  const showXray = (at) => {
    const s = step(at);
    const title = node("h2", "", "X-ray of token " + (at.step + 1) + " of ");
    title.append(node("span", "badge p" + s.pane.color, s.pane.letter), " " + word(s.piece));
    const table = node("table");
    const head = node("tr");
    head.append(node("th", "", "Token"));
    s.pane.columns.forEach((column, index) => {
      const left = s.kept[index];
      head.append(node("th", "num", column + (left == null ? "" : " · " + left.toLocaleString("en"))));
    });
    table.append(head);
    for (const row of s.rows) {
      const line = node("tr", row.piece === s.piece ? "chosen" : "");
      line.append(node("td", "wrap", shown(row.piece)));
      row.probs.forEach((prob) => {
        // Unknown: the record follows only the most likely tokens.
        const known = prob !== null;
        const cell = node("td", known && prob < 0 ? "num gone" : "num", known ? undefined : "–");
        if (known && prob >= 0) cell.append(bar(prob, 100), percent(prob));
        line.append(cell);
      });
      table.append(line);
    }
    const foot = node("tr", "quiet");
    foot.append(node("td", "", "entropy"));
    s.pane.columns.forEach((_, index) => {
      const value = s.entropies[index];
      foot.append(node("td", "num", value == null ? "" : bits(value)));
    });
    table.append(foot);
    const scroll = node("div", "scroll");
    scroll.append(table);
    xray.replaceChildren(grip(), closer(), title, node("p", "quiet", summary(s) + left(s)),
      scroll, coinBar(s), node("p", "", drawn(s)));
  };

  // On a small screen, the X-ray is a sheet: dragging its upper edge resizes it, or closes it.
  const grip = () => {
    const edge = node("div", "grip");
    edge.addEventListener("pointerdown", (down) => {
      edge.setPointerCapture(down.pointerId);
      const before = xray.offsetHeight;
      edge.onpointermove = (move) => {
        xray.style.setProperty("--sheet", Math.max(60, before + down.clientY - move.clientY) + "px");
      };
      edge.onpointerup = edge.onpointercancel = () => {
        edge.onpointermove = null;
        if (xray.offsetHeight < 110) setPin(null);
      };
    });
    return edge;
  };
  const closer = () => {
    const button = node("button", "close", "×");
    button.type = "button";
    button.setAttribute("aria-label", "Close the X-ray");
    button.addEventListener("click", () => setPin(null));
    return button;
  };
  const hint = () => {
    const words = node("p", "quiet");
    words.append(node("span", "can-hover", "Click"), node("span", "no-hover", "Tap"), " a token to see how it was chosen.");
    return words;
  };

  const setPin = (at) => {
    document.querySelectorAll(".t.pin, .t.same").forEach((token) => token.classList.remove("pin", "same"));
    pin = at && tokenAt(at) ? at : null;
    root.classList.toggle("pinned", pin !== null);
    if (!pin) {
      xray.style.removeProperty("--sheet");
      xray.replaceChildren(node("h2", "", "X-ray"), hint());
      history.replaceState(null, "", location.pathname + location.search);
      return;
    }
    tokens.forEach((list, pane) => {
      const token = list[pin.step];
      if (token) token.classList.add(pane === pin.pane ? "pin" : "same");
    });
    showXray(pin);
    tokenAt(pin).scrollIntoView({ block: "nearest" });
    history.replaceState(null, "", "#" + data.panes[pin.pane].letter + (pin.step + 1));
  };

  document.addEventListener("pointerover", (event) => {
    // A finger hides the card, and what it touches opens the X-ray.
    const token = event.pointerType !== "touch" && event.target.closest(".t");
    if (token) showCard(token); else card.hidden = true;
  });
  document.addEventListener("click", (event) => {
    const token = event.target.closest(".t");
    if (!token) return;
    const at = place.get(token);
    const again = pin && pin.pane === at.pane && pin.step === at.step;
    setPin(again ? null : at);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("select, button") || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const focused = texts.indexOf(document.activeElement);
    if (event.key === "Escape") setPin(null);
    else if (event.key === "Enter" && focused >= 0) setPin({ pane: focused, step: 0 });
    else if (move && pin) {
      const at = { pane: pin.pane + move[0], step: pin.step + move[1] };
      if (tokenAt(at)) setPin(at);
    } else return;
    event.preventDefault();
  });

  document.getElementById("tint").addEventListener("change", (event) => { root.dataset.tint = event.target.value; });
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  root.classList.add("scripted");
  const linked = /^#([A-Z]+)(\d+)$/.exec(location.hash);
  setPin(linked ? { pane: data.panes.findIndex((pane) => pane.letter === linked[1]), step: linked[2] - 1 } : null);
})();
