/** Shows the progress of long work: a bar on a terminal, elsewhere nothing. */
import { SingleBar } from 'cli-progress';

export interface EventProgress {
  readonly events: number;
  readonly position: bigint;
}

/** Creates a progress bar for work on the events of the log up to a position. */
export function progressBar(name: string) {
  const bar = new SingleBar({
    format: '{name} {bar} {percentage}% | {events} events | {rate}/s | {eta_formatted} left',
    hideCursor: true,
  });
  const started = performance.now();
  return {
    update({ events, position }: EventProgress, until: bigint) {
      if (!process.stderr.isTTY) return;
      const rate = Math.round(events / ((performance.now() - started) / 1000));
      if (!bar.isActive) bar.start(Number(until), 0, { name, events, rate });
      bar.setTotal(Number(until));
      bar.update(Number(position < until ? position : until), { name, events, rate });
    },
    stop() {
      if (bar.isActive) bar.stop();
    },
  };
}
