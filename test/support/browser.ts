/** A real browser for pages, without a network: what it asks of other hosts fails, and is seen. */
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

const { CHROMIUM } = process.env;

/** The packaged browser is for one platform; CHROMIUM is the path of another one. */
export const hasBrowser = CHROMIUM !== undefined || (process.platform === 'linux' && process.arch === 'x64');

/** Rejects when this machine lacks a library that it needs. */
export async function startBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: CHROMIUM ?? (await chromium.executablePath()),
    // Not the package's own arguments: some turn off what pages are protected by.
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    headless: true,
  });
}
