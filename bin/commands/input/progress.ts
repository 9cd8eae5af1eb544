/** How an import gets on, on a terminal: a bar where the end is known, and what is said without tearing it. */
import { SingleBar } from 'cli-progress';
import { safe } from '../../../adapters/platform/observability/safe-text.js';
import type { Source } from './source.js';

export interface ImportProgress {
  update(): void;
  say(text: string): void;
  /** Said once for a whole row of failures. */
  retrying(error: Error): void;
  end(): void;
}

const RETRY_NOTICE_MS = 10_000;

/** `tally` is looked at whenever the bar is drawn; `what` is counted. */
export function showProgress(
  { name, size, read }: Pick<Source, 'name' | 'size' | 'read'>,
  tally: { readonly accepted: number },
  what: string,
): ImportProgress {
  const bar = process.stderr.isTTY && size ? startBar(name, size, what) : undefined;
  let noticed = Number.NEGATIVE_INFINITY;
  const update = () => bar?.update(read(), { accepted: tally.accepted.toLocaleString('en') });
  const say = (text: string) => {
    // The bar stands on the last line; it is drawn again below what is said.
    if (bar) process.stderr.write('\r\u001b[K');
    process.stderr.write(`annals: ${safe(text)}\n`);
  };
  return {
    update,
    say,
    retrying(error) {
      if (performance.now() - noticed < RETRY_NOTICE_MS) return;
      noticed = performance.now();
      say(`${error.message}, trying again`);
    },
    end() {
      update();
      bar?.stop();
    },
  };
}

function startBar(name: string, size: number, what: string): SingleBar {
  const bar = new SingleBar({
    format: `${safe(name)} {bar} {percentage}% | {accepted} ${what} | {eta_formatted} left`,
    stream: process.stderr,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
  });
  bar.start(size, 0, { accepted: '0' });
  return bar;
}
