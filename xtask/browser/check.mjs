// Opens pages in a browser without a network, and checks what people do with them.
// Arguments: the folder of packages, the browser, the folder of pages, the folder for pictures.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, executablePath, pages, pictures] = process.argv.slice(2);
const require = createRequire(join(modules, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let failures = 0;
const check = (condition, text) => {
  if (!condition) {
    failures += 1;
    console.log(`FAILED: ${text}`);
  }
};

const browser = await chromium.launch({ executablePath, args: flags });

// A page that reports its messages, and has no network. The content security policy would forbid
// the tester's own scripts, so those that need one bypass it; the policy is checked without.
const open = async (name, { hash = '', prepare, ...options } = {}) => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, offline: true, ...options });
  const page = await context.newPage();
  page.messages = [];
  page.on('console', message => page.messages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', error => page.messages.push(`error: ${error.message}`));
  page.on('request', request => {
    if (request.url() !== pathToFileURL(join(pages, name)).href + hash) page.messages.push(`request: ${request.url()}`);
  });
  if (prepare) await page.addInitScript(prepare);
  const start = performance.now();
  await page.goto(pathToFileURL(join(pages, name)).href + hash);
  page.loaded = performance.now() - start;
  return page;
};
const close = page => page.context().close();

const tile = page => page.evaluate(() => document.activeElement.getAttribute('aria-label'));

// The times of zooms into an object, and back to all tiles by a click on the one that contains
// them, with pauses of 20 ms: a number of zooms, or as many as there are until all rows are shown.
const timesOfZooms = (page, number) =>
  page.evaluate(async number => {
    const times = [];
    const isLate = () => document.documentElement.classList.contains('later');
    while (number ? times.length < number : isLate()) {
      const containers = document.querySelectorAll('.tile.object');
      const before = document.querySelectorAll('.tile').length;
      const start = performance.now();
      containers[times.length % 2 ? 0 : 1 + (times.length % 20)].dispatchEvent(new MouseEvent('click', { bubbles: true }));
      document.querySelector('#tiles').getBoundingClientRect();
      times.push(performance.now() - start);
      if (document.querySelectorAll('.tile').length === before) throw new Error(`zoom ${times.length} changed nothing`);
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    return times;
  }, number);

const treemap = async () => {
  const page = await open('report.html');
  check(page.messages.length === 0, `no message and no request: ${page.messages}`);
  check(page.loaded < 1000, `opens in under a second: ${page.loaded.toFixed(0)} ms`);
  const tiles = () => page.locator('.tile').count();
  const first = await tiles();
  check(first > 10, `tiles are drawn: ${first}`);
  // Keys alone: into a container, among its tiles, and back.
  await page.locator('.tile[tabindex="0"]').focus();
  const root = await tile(page);
  await page.keyboard.press('ArrowDown');
  const below = await tile(page);
  check(below && below !== root, `an arrow key moves: ${below}`);
  await page.keyboard.press('Enter');
  check((await page.locator('#crumbs button').count()) > 1, 'Enter zooms in');
  check((await page.locator('#selected').textContent()).length > 10, 'the selected tile is described');
  await page.keyboard.press('Escape');
  while ((await page.locator('#crumbs button').count()) > 1) await page.keyboard.press('Escape');
  check((await tiles()) === first, 'Escape goes back');
  // A zoom by a click, timed in the page.
  const milliseconds = await page.evaluate(() => {
    const container = [...document.querySelectorAll('.tile.object, .tile.array')].at(-1);
    const start = performance.now();
    container.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    document.querySelector('#tiles').getBoundingClientRect();
    return performance.now() - start;
  });
  check(milliseconds < 50, `a zoom takes under 50 ms: ${milliseconds.toFixed(1)}`);
  await page.locator('#crumbs button').first().click();
  check((await page.locator('#crumbs button').count()) === 1, 'a click on the path goes back');
  await close(page);
  // As many paths as fit a page.
  const openings = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const opening = await open('wide.html');
    openings.push(opening.loaded);
    await close(opening);
  }
  const wide = await open('wide.html');
  const zooms = await timesOfZooms(wide, 20);
  const slowest = Math.max(...zooms);
  const opened = Math.max(...openings);
  check(opened < 1000, `the largest page opens in under a second each time: ${opened.toFixed(0)} ms`);
  check(slowest < 50, `a zoom among many paths takes under 50 ms: ${slowest.toFixed(1)}`);
  await close(wide);
  console.log(`wide: opened in ${openings.map(time => time.toFixed(0)).join(', ')} ms, slowest zoom ${slowest.toFixed(1)} ms`);
  console.log(`treemap: ${first} tiles, opened in ${page.loaded.toFixed(0)} ms, zoom ${milliseconds.toFixed(1)} ms`);
};

const tables = async () => {
  const page = await open('report.html');
  const column = number => page.$$eval(`#rows tbody tr td:nth-child(${number})`, cells => cells.map(cell => Number(cell.dataset.value || -1)));
  const heading = name => page.locator('#rows th button', { hasText: name });
  await heading('Values').click();
  const descending = await column(5);
  check(descending.every((value, at) => at === 0 || descending[at - 1] >= value), 'a click sorts numbers, the largest first');
  await heading('Values').focus();
  await page.keyboard.press('Enter');
  const ascending = await column(5);
  check(ascending.every((value, at) => at === 0 || ascending[at - 1] <= value), 'Enter sorts the other way');
  check((await page.locator('th[aria-sort=ascending]').count()) === 1, 'the order is announced');
  const all = await page.locator('#rows tbody tr:visible').count();
  await page.fill('#search', 'ACTOR');
  const some = await page.locator('#rows tbody tr:visible').count();
  check(some > 0 && some < all, `search narrows the table: ${some} of ${all}`);
  check((await page.textContent('#found')).startsWith(`${some} of`), 'the number of rows is announced');
  await page.fill('#search', '');
  const link = page.locator('#rows tbody a').nth(3);
  const path = await link.textContent();
  await link.click();
  const opened = page.locator('details.path[open]');
  check((await opened.count()) === 1 && (await opened.locator('summary code').textContent()) === path, 'a link opens its section');
  await opened.locator('.command button').waitFor({ timeout: 5000 });
  check((await opened.locator('.command button').textContent()) === 'Copy', 'commands can be copied');
  check(page.messages.length === 0, `no message: ${page.messages}`);
  await close(page);
};

// Most rows of a long table are shown when the page is open and the browser is idle.
const lateRows = async () => {
  const rows = page => page.locator('#rows tbody tr');
  const isShown = page => rows(page).last().isVisible();
  const start = performance.now();
  const page = await open('wide.html');
  await rows(page).last().waitFor({ timeout: 5000 });
  const shown = performance.now() - start;
  check(shown < 3000, `all rows are shown in under three seconds: ${shown.toFixed(0)} ms`);
  await close(page);
  // To zoom in the meantime takes no longer, because few rows are shown at a time.
  const zoomed = await open('wide.html');
  const zooms = await timesOfZooms(zoomed);
  const slowest = Math.max(...zooms);
  check(zooms.length > 5, `there is time to zoom before all rows are shown: ${zooms.length}`);
  check(slowest < 50, `a zoom before all rows are shown takes under 50 ms: ${slowest.toFixed(1)}`);
  await close(zoomed);
  const neverIdle = () => (globalThis.requestIdleCallback = () => 0);
  const busy = await open('wide.html', { prepare: neverIdle });
  check((await rows(busy).nth(199).isVisible()) && !(await isShown(busy)), 'the first 200 rows are shown before the browser is idle');
  await busy.emulateMedia({ media: 'print' });
  check(await isShown(busy), 'all rows are printed');
  await busy.emulateMedia({ media: 'screen' });
  await busy.fill('#search', (await rows(busy).last().locator('code').textContent()).slice(-10));
  check(await isShown(busy), 'a search finds late rows');
  await close(busy);
  const linked = await open('wide.html', { hash: '#p5', prepare: neverIdle });
  check(await isShown(linked), 'all rows are shown above a section that is linked');
  await close(linked);
  writeFileSync(join(pages, 'blocked.html'), readFileSync(join(pages, 'wide.html'), 'utf8').replace(/script-src [^"]*/, "script-src 'none'"));
  const blocked = await open('blocked.html');
  check(blocked.messages.length > 0 && (await isShown(blocked)), 'all rows are shown if scripts are blocked');
  await close(blocked);
  console.log(`late rows: shown after ${shown.toFixed(0)} ms, slowest of ${zooms.length} zooms before ${slowest.toFixed(1)} ms`);
};

const withoutScripts = async () => {
  const page = await open('report.html', { javaScriptEnabled: false });
  check((await page.locator('#rows tbody tr:visible').count()) > 10, 'the table is there without scripts');
  check(!(await page.locator('#map').isVisible()), 'the map is hidden without scripts');
  check(!(await page.locator('#search').isVisible()), 'the search is hidden without scripts');
  await page.locator('details.path summary').nth(3).click();
  check(await page.locator('details.path').nth(3).locator('dl').isVisible(), 'sections open without scripts');
  check(await page.locator('#schema summary').isVisible(), 'the schema is there without scripts');
  await close(page);
  const wide = await open('wide.html', { javaScriptEnabled: false });
  const rows = wide.locator('#rows tbody tr');
  check((await rows.count()) > 1000 && (await rows.last().isVisible()), 'all rows are there without scripts');
  await close(wide);
};

// The pages of hostile names set a trap: a function that records its calls.
const traps = async () => {
  for (const name of ['hostile.html', 'hostile-rows.html', 'hostile-compare.html']) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, offline: true });
    const page = await context.newPage();
    const calls = [];
    await page.exposeFunction('trap', () => calls.push('called'));
    page.on('dialog', dialog => calls.push(dialog.message()));
    page.on('pageerror', error => calls.push(error.message));
    page.on('console', message => calls.push(message.text()));
    page.on('request', request => request.url().startsWith('file:') || calls.push(request.url()));
    await page.goto(pathToFileURL(join(pages, name)).href);
    // Every element that can react gets its chance.
    await page.evaluate(() => {
      document.querySelectorAll('details').forEach(details => (details.open = true));
      document.querySelectorAll('*').forEach(element => {
        for (const event of ['mouseover', 'focus', 'click', 'error', 'load', 'toggle']) element.dispatchEvent(new Event(event));
      });
    });
    await page.waitForTimeout(200);
    check(calls.length === 0, `${name} runs nothing of its data: ${calls.slice(0, 3)}`);
    check((await page.locator('img, iframe, object, base').count()) === 0, `${name} has no markup of its data`);
    await context.close();
  }
};

// The policy itself: a script and a style that do not belong to the page do not run.
const policy = async () => {
  const page = await open('report.html');
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.intruded = true';
    document.body.append(script);
    return window.intruded === true;
  });
  check(!ran, 'the policy stops other scripts');
  check(page.messages.some(message => message.includes('Content Security Policy')), 'the browser reports the violation');
  await close(page);
};

const accessibility = async () => {
  for (const name of ['report.html', 'compare.html', 'sessions.html', 'hostile.html']) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(name, { colorScheme, bypassCSP: true });
      await page.evaluate(() => [...document.querySelectorAll('details')].slice(0, 10).forEach(details => (details.open = true)));
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      for (const { id, help, nodes } of violations) {
        check(false, `axe, ${name}, ${colorScheme}: ${id}: ${help}: ${nodes.slice(0, 2).map(node => node.html.slice(0, 200)).join(' | ')}`);
      }
      await close(page);
    }
  }
};

const screenshots = async () => {
  const shots = [
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { viewport: { width: 400, height: 800 } }],
    ['wide', { viewport: { width: 1600, height: 1000 } }],
  ];
  for (const [name, options] of shots) {
    const page = await open('report.html', options);
    await page.screenshot({ path: join(pictures, `report-${name}.png`) });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(overflow <= 0, `nothing is cut off at the side (${name}): ${overflow}`);
    await close(page);
  }
  for (const name of ['compare', 'sessions']) {
    const page = await open(`${name}.html`);
    await page.screenshot({ path: join(pictures, `${name}.png`) });
    await close(page);
  }
  // The picture of the documents.
  const picture = await open('report.html', { viewport: { width: 1200, height: 790 }, colorScheme: 'light' });
  await picture.screenshot({ path: join(pictures, 'document.png') });
  await close(picture);
  const page = await open('report.html');
  await page.pdf({ path: join(pictures, 'report.pdf'), printBackground: true });
  await page.emulateMedia({ media: 'print' });
  await page.screenshot({ path: join(pictures, 'report-print.png') });
  await close(page);
};

for (const step of [treemap, tables, lateRows, withoutScripts, traps, policy, accessibility, screenshots]) {
  const before = failures;
  try {
    await step();
  } catch (error) {
    check(false, `${step.name}: ${error.message}`);
  }
  console.log(`${step.name}: ${failures === before ? 'passed' : 'FAILED'}`);
}
await browser.close();
process.exit(failures ? 1 : 0);
