// Laying out a long table delays opening the page, so its rows from the 201st on are shown when the
// page is open and the browser is idle, a few at a time, so that a click need not wait. They are
// hidden by this script, so that all rows are there without it.
'use strict';
(() => {
  // Showing the rows moves the content below, to which a link or the browser may have scrolled.
  const isNew = performance.getEntriesByType('navigation')[0]?.type === 'navigate';
  if (location.hash || !isNew) return;
  const { classList } = document.documentElement;
  const showAll = () => classList.remove('later');
  const next = () => {
    const rows = [...document.querySelectorAll('.later #rows tbody tr:nth-child(n+201):not(.shown)')];
    if (!rows.length) return showAll();
    rows.slice(0, 50).forEach(row => row.classList.add('shown'));
    // The layout is computed here, so that it does not become a part of the next click.
    document.body.getBoundingClientRect();
    whenIdle();
  };
  const whenIdle = () => {
    if (globalThis.requestIdleCallback) requestIdleCallback(next, { timeout: 1000 });
    else setTimeout(next);
  };
  classList.add('later');
  addEventListener('load', whenIdle);
  addEventListener('hashchange', showAll);
  addEventListener('input', showAll, true);
})();
