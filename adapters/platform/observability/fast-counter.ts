/** A counter that is told of more than a thousand things a second: added up beside it, since its labels cost ten times as much. */
import { Counter, type CounterConfiguration } from 'prom-client';

/** By service. The counter comes to it whenever it is asked for. */
export function createTally(
  about: Pick<CounterConfiguration<'service'>, 'name' | 'help' | 'registers'>,
): (service: string) => (count?: number) => void {
  const untold = new Map<string, number>();
  new Counter({
    ...about,
    labelNames: ['service'],
    collect() {
      for (const [service, count] of untold) this.inc({ service }, count);
      untold.clear();
    },
  });
  return (service) =>
    (count = 1) =>
      void untold.set(service, (untold.get(service) ?? 0) + count);
}
