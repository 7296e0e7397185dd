// The treemap, and tables that can be sorted and searched. Without this script, the page has all of
// its tables. Everything that comes from the input is set as text, never as markup.
'use strict';
(() => {
  const byId = id => document.getElementById(id);
  const all = (within, selector) => [...within.querySelectorAll(selector)];
  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  // Tables: a button in each heading sorts.
  const sortable = table => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const order = new Map(rows.map((row, index) => [row, index]));
    all(table, 'thead th').forEach((heading, column) => {
      const button = make('button', heading.textContent);
      button.type = 'button';
      heading.replaceChildren(button);
      const isNumber = rows.some(row => row.cells[column]?.hasAttribute('data-value'));
      const key = row => {
        const cell = row.cells[column];
        if (!isNumber) return cell.textContent;
        const value = cell.getAttribute('data-value');
        return value ? Number(value) : -1;
      };
      button.addEventListener('click', () => {
        const before = heading.getAttribute('aria-sort');
        const descends = before ? before === 'ascending' : isNumber;
        all(table, 'th').forEach(other => other.removeAttribute('aria-sort'));
        heading.setAttribute('aria-sort', descends ? 'descending' : 'ascending');
        const keys = new Map(rows.map(row => [row, key(row)]));
        const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
        rows.sort((a, b) => compare(keys.get(a), keys.get(b)) * (descends ? -1 : 1) || order.get(a) - order.get(b));
        body.append(...rows);
      });
    });
  };
  all(document, 'table.sortable, #rows').forEach(sortable);

  const table = byId('rows');
  const rowOf = table ? [...table.tBodies[0].rows] : [];
  const searchable = all(document, '#rows tbody tr, table.sortable tbody tr');
  const search = byId('search');
  if (search) {
    search.parentElement.hidden = false;
    search.addEventListener('input', () => {
      const wanted = search.value.toLowerCase();
      let found = 0;
      searchable.forEach(row => {
        const matches = row.cells[0].textContent.toLowerCase().includes(wanted);
        row.hidden = !matches;
        found += matches;
      });
      byId('found').textContent = wanted ? `${found} of ${searchable.length}` : '';
    });
  }

  // A link to a section opens it.
  const open = () => {
    const target = location.hash && byId(location.hash.slice(1));
    if (target && target.tagName === 'DETAILS') {
      target.open = true;
      target.querySelector('summary').focus();
    }
  };
  addEventListener('hashchange', open);
  open();

  // The commands of a section can be copied once it is open.
  const addButton = command => {
    if (command.querySelector('button')) return;
    const button = make('button', 'Copy');
    button.type = 'button';
    button.addEventListener('click', async () => {
      const code = command.querySelector('code');
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = 'Copied';
      } catch {
        // Without the permission to copy, the command is selected instead.
        getSelection().selectAllChildren(code);
      }
    });
    command.append(button);
  };
  document.addEventListener('toggle', event => all(event.target, '.command').forEach(addButton), true);

  // The treemap.
  const data = byId('stats');
  if (!data) return;
  const rows = JSON.parse(data.textContent).bytes || [];
  const { parents } = JSON.parse(byId('page').textContent);
  const nodes = rows.map((row, number) => ({
    number,
    size: row.values + row.names,
    kind: rowOf[number].className,
    label: rowOf[number].dataset.label,
    path: rowOf[number].cells[0].textContent,
    sizeText: rowOf[number].cells[2].textContent,
    shareText: rowOf[number].cells[3].textContent.trim(),
    count: row.count,
    children: [],
  }));
  let root;
  nodes.forEach((node, number) => {
    const distance = parents[number];
    if (distance === null || distance === undefined) root = root || node;
    else {
      node.parent = nodes[number - distance];
      node.parent.children.push(node);
    }
  });
  if (!root || !root.size) return;
  nodes.forEach(node => {
    const inner = node.children.reduce((sum, child) => sum + child.size, 0);
    if (node.children.length && node.size > inner) {
      node.children.push({ rest: true, size: node.size - inner, kind: 'rest', parent: node, children: [] });
    }
  });

  const map = byId('map');
  const tiles = byId('tiles');
  map.hidden = false;
  const svgName = 'http://www.w3.org/2000/svg';
  // Skips unchanged attributes: to set them would make the browser compute the layout again.
  const assign = (element, attributes) => {
    for (const key in attributes) {
      const value = String(attributes[key]);
      if (element.getAttribute(key) !== value) element.setAttribute(key, value);
    }
    return element;
  };
  const shape = (name, attributes) => assign(document.createElementNS(svgName, name), attributes);
  // Levels that are drawn at once, the smallest tile in pixels, the width of a character, and the
  // fewest characters of a label that is cut off.
  const LEVELS = 8;
  const SMALLEST = 6;
  const CHARACTER = 7;
  const SHORTEST = 4;
  let current = root;

  // A tile is one element, since each one costs time in every zoom: a polygon, whose points are a
  // plain attribute, while the position of a rectangle is part of its style. Each tile is created
  // once, as a copy of another one of its kind, and kept in its node.
  const kinds = [...new Set(nodes.map(node => node.kind))];
  const templates = new Map([...kinds, 'rest'].map(kind => [kind, shape('polygon', { class: `tile ${kind}`, tabindex: -1, role: 'button' })]));
  const integer = new Intl.NumberFormat('en');

  const restText = node => `rest of ${node.parent.path}: brackets, commas, names not shown`;
  const describe = node =>
    node.rest ? `${restText(node)}, ${integer.format(node.size)} bytes` : `${node.path}, ${node.kind}, ${node.sizeText}, ${node.shareText}`;

  const makeTile = node => {
    const tile = assign(templates.get(node.kind).cloneNode(), { 'aria-label': describe(node) });
    tile.node = node;
    return tile;
  };

  // The tile that the tab key reaches.
  let reached;
  const reach = tile => {
    if (reached) reached.setAttribute('tabindex', -1);
    reached = tile;
    tile.setAttribute('tabindex', 0);
  };

  const select = node => {
    const selected = byId('selected');
    selected.replaceChildren(make('span', describe(node)));
    if (!node.rest) {
      const link = make('a', 'Show its figures');
      link.href = `#p${node.number}`;
      selected.append(' ', link);
    }
  };

  const crumbs = () => {
    const chain = [];
    for (let node = current; node; node = node.parent) chain.unshift(node);
    byId('crumbs').replaceChildren(
      ...chain.flatMap((node, index) => {
        const button = make('button', node.label);
        button.type = 'button';
        if (node === current) button.setAttribute('aria-current', 'true');
        button.addEventListener('click', () => zoom(node));
        return index ? [' › ', button] : [button];
      }),
    );
  };

  const draw = () => {
    const { width, height } = tiles.getBoundingClientRect();
    if (!width || !height) return;
    const hierarchy = d3.hierarchy(current, node => node.children);
    // The size of a leaf is its own; d3 sums them.
    hierarchy.sum(node => (node.children.length ? 0 : node.size));
    d3.treemap().size([width, height]).paddingInner(1).paddingOuter(2).paddingTop(node => (node.depth < LEVELS ? 18 : 0)).round(true)(hierarchy);
    const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Tiles' });
    hierarchy.each(place => {
      const { x0, y0, x1, y1, data: node } = place;
      const [w, h] = [x1 - x0, y1 - y0];
      if (place.depth > LEVELS || w < SMALLEST || h < SMALLEST) return;
      node.tile ||= makeTile(node);
      svg.append(assign(node.tile, { points: `${x0},${y0} ${x1},${y0} ${x1},${y1} ${x0},${y1}` }));
      const fits = Math.floor((w - 8) / CHARACTER);
      const label = node.rest ? 'rest' : node.label;
      if (h >= 16 && fits >= Math.min(label.length, SHORTEST)) {
        const full = node.rest ? label : `${label} ${node.sizeText}`;
        const short = label.length <= fits ? label : `${[...label].slice(0, fits - 1).join('')}…`;
        const shown = full.length <= fits ? full : short;
        node.text ||= shape('text', { 'aria-hidden': true });
        if (node.text.textContent !== shown) node.text.textContent = shown;
        svg.append(assign(node.text, { x: x0 + 4, y: y0 + 13 }));
      }
    });
    tiles.replaceChildren(svg);
    if (current.tile) reach(current.tile);
  };

  function zoom(node) {
    const from = current;
    current = node.children.length ? node : current;
    if (current !== from) {
      crumbs();
      draw();
    }
    select(node);
    const { tile } = node === current && from.parent === node ? from : node;
    if (tile?.isConnected) focus(tile);
  }

  const focus = tile => {
    reach(tile);
    tile.focus({ preventScroll: true });
  };

  const tileOf = target => target.closest?.('.tile');
  tiles.addEventListener('click', event => {
    const tile = tileOf(event.target);
    if (tile) zoom(tile.node === current && current.parent ? current.parent : tile.node);
  });
  tiles.addEventListener('focusin', event => {
    const tile = tileOf(event.target);
    if (tile) select(tile.node);
  });
  tiles.addEventListener('mouseover', event => {
    const tile = tileOf(event.target);
    if (tile) select(tile.node);
  });

  // The nearest tile in a direction, by the distance of centers.
  const neighbor = (tile, dx, dy) => {
    const center = element => {
      const box = element.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = center(tile);
    let best;
    let least = Infinity;
    all(tiles, '.tile').forEach(other => {
      const [ox, oy] = center(other);
      const [along, across] = dx ? [(ox - x) * dx, Math.abs(oy - y)] : [(oy - y) * dy, Math.abs(ox - x)];
      const distance = along + 2 * across;
      if (other !== tile && along > 0 && distance < least) [best, least] = [other, distance];
    });
    return best;
  };
  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  tiles.addEventListener('keydown', event => {
    const tile = tileOf(event.target);
    if (!tile) return;
    const direction = directions[event.key];
    if (direction) {
      const next = neighbor(tile, ...direction);
      if (next) focus(next);
    } else if (event.key === 'Enter' || event.key === ' ') {
      zoom(tile.node);
    } else if (event.key === 'Escape' || event.key === 'Backspace') {
      if (current.parent) zoom(current.parent);
    } else if (event.key === 'Home') {
      zoom(root);
    } else {
      return;
    }
    event.preventDefault();
  });

  byId('legend').replaceChildren(
    ...kinds.map(kind => {
      const item = make('li', undefined, kind);
      item.append(make('span', kind, 'type'));
      return item;
    }),
  );
  let drawn = 0;
  const redraw = () => {
    const { width } = tiles.getBoundingClientRect();
    if (width !== drawn) [drawn] = [width, draw()];
  };
  crumbs();
  redraw();
  addEventListener('resize', redraw);
})();
