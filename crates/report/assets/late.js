// Laying out a long table delays opening the page, so its rows from the 201st on are shown when the
// page is open and the browser is idle. They are hidden by this script, so that all rows are there
// without it.
'use strict';
(() => {
  // Showing the rows moves the content below, to which a link or the browser may have scrolled.
  const isNew = performance.getEntriesByType('navigation')[0]?.type === 'navigate';
  if (location.hash || !isNew) return;
  const { classList } = document.documentElement;
  const show = () => classList.remove('later');
  classList.add('later');
  addEventListener('load', () => {
    if (globalThis.requestIdleCallback) requestIdleCallback(show, { timeout: 1000 });
    else setTimeout(show);
  });
  addEventListener('hashchange', show);
  addEventListener('input', show, true);
})();
