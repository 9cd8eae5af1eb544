/** A real browser for pages, without a network: what it asks of other hosts fails, and is seen. */
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

/** Rejects when this machine can't run it. */
export async function startBrowser(): Promise<Browser> {
  chromium.setGraphicsMode = false;
  return driver.launch({
    executablePath: await chromium.executablePath(),
    // Not all of the package's own arguments: some turn off what pages are protected by.
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    headless: true,
  });
}
