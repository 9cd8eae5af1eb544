/** A real browser without a network: requests to other hosts fail and are recorded. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import chromium from '@sparticuz/chromium';
import { expect } from 'chai';
import { type Browser, chromium as driver, type Page } from 'playwright-core';

const { CHROMIUM } = process.env;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** The packaged browser is for one platform; CHROMIUM is the path of another one. */
export const hasBrowser = CHROMIUM !== undefined || (process.platform === 'linux' && process.arch === 'x64');

/** For pages that connect to each other without a network: over the loopback, without `.local` names. */
export const CONNECTING = ['--allow-loopback-in-peer-connection', '--disable-features=WebRtcHideLocalIpsWithMdns'];

/** A camera with a moving picture and a microphone that beeps, which the page may use without asking. */
export const FAKE_MEDIA = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream=fps=5,device-count=2'];

/** How long an action on a page may take: several browsers share the cores of a test machine. */
const ACTION_MS = 90_000;

/** Rejects when this machine lacks a library that it needs. */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  const browser = await driver.launch({
    executablePath: CHROMIUM ?? (await chromium.executablePath()),
    // Not the package's own arguments: some turn off protections of pages.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-software-rasterizer',
      '--mute-audio',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ...more,
    ],
    headless: true,
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    // Animations would take most of a core where there is no GPU.
    const context = await newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(ACTION_MS);
    return context;
  };
  return browser;
}

/** Requests of a page to other origins, its CSP violations and its errors, updated as they occur. */
export function complaintsOf(page: Page, origin: string): readonly string[] {
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!/^(?:blob|data):/.test(request.url()) && new URL(request.url()).origin !== origin)
      complaints.push(request.url());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedScript|TrustedHTML|not taken/.test(message.text()))
      complaints.push(message.text());
  });
  return complaints;
}

/** Expects no accessibility violations found by axe, but for the rules `except`. */
export async function accessible(page: Page, except: readonly string[] = []): Promise<void> {
  // Once per document: a run after loading axe costs twice as much as a later one.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(await readFile(AXE, 'utf8'));
  const found = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
    'axe.run().then(({ violations }) => violations)',
  );
  const serious = found.filter(({ id, impact }) => ['serious', 'critical'].includes(impact) && !except.includes(id));
  expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).to.deep.equal([]);
}
