/** Shows the progress of an import: a bar on a terminal if the size is known, and messages above it. */
import { SingleBar } from 'cli-progress';
import { escapeControls } from '../../../adapters/platform/observability/safe-text.js';
import { printError } from '../output.js';
import type { Source } from './source.js';

const RETRY_NOTICE_MS = 10_000;
const MAX_REJECTIONS = 20;

/**
 * @param tally Read whenever the bar is drawn.
 * @param unit What is counted, for people.
 */
export function showProgress(
  { name, size, read }: Pick<Source, 'name' | 'size' | 'read'>,
  tally: { readonly accepted: number },
  unit: string,
) {
  const bar = process.stderr.isTTY && size ? startBar(name, size, unit) : undefined;
  let lastNotice = Number.NEGATIVE_INFINITY;
  let rejections = 0;
  const update = () => bar?.update(read(), { accepted: tally.accepted.toLocaleString('en') });
  const print = (text: string) => {
    // Clears the line of the bar, which is drawn again below the message.
    if (bar) process.stderr.write('\r\u001b[K');
    printError(text);
  };
  return {
    update,
    print,
    /** Prints a retry; repeated ones only every 10 s. */
    onRetry(error: Error) {
      if (performance.now() - lastNotice < RETRY_NOTICE_MS) return;
      lastNotice = performance.now();
      print(`${error.message}, trying again`);
    },
    /** Prints why a line was rejected; after some, they are only counted. */
    onRejected(text: string) {
      rejections++;
      if (rejections <= MAX_REJECTIONS) print(text);
      else if (rejections === MAX_REJECTIONS + 1) print('further rejected lines are only counted');
    },
    end() {
      update();
      bar?.stop();
    },
  };
}

function startBar(name: string, size: number, unit: string): SingleBar {
  const bar = new SingleBar({
    format: `${escapeControls(name)} {bar} {percentage}% | {accepted} ${unit} | {eta_formatted} left`,
    stream: process.stderr,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
  });
  bar.start(size, 0, { accepted: '0' });
  return bar;
}
