/** Rounds of one fault under load, each followed by the invariants that must hold. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { ask } from '../../support/http-spec.js';
import { run } from '../../support/server-process.js';
import type { Fault, FaultOptions } from './faults.js';
import type { Installation } from './installation.js';
import { loads } from './load.js';

export interface RoundResult {
  readonly acknowledged: number;
  readonly seconds: number;
  /** What must never happen; empty when all is well. */
  readonly violations: readonly string[];
}

const LOAD_MS = 2000;
const readyInTime = () => AbortSignal.timeout(90_000);

/** Runs load, the fault, and a little more load; then checks every invariant. */
export async function runRound(at: Installation, fault: Fault, options: FaultOptions): Promise<RoundResult> {
  const started = performance.now();
  const running = await Promise.all(loads.map((load) => load(at)));
  const stop = new AbortController();
  const work = Promise.all(
    running.map((load) =>
      load.run(stop.signal).then(
        () => [],
        (error) => [String(error)],
      ),
    ),
  );
  const faulty = sleep(LOAD_MS)
    .then(() => fault.run(at, options))
    .then(() => sleep(LOAD_MS))
    .finally(() => stop.abort());
  const [failures] = await Promise.all([work, faulty]);
  const violations = [
    ...failures.flat(),
    ...(await nodesReady(at)),
    ...(await Promise.all(running.map((load) => load.violations()))).flat(),
    ...(await oneHolderPerLease(at)),
    ...(await readModelsEqualRebuilds(at)),
  ];
  const acknowledged = running.reduce((sum, load) => sum + load.acknowledged(), 0);
  return { acknowledged, seconds: (performance.now() - started) / 1000, violations };
}

async function nodesReady(at: Installation): Promise<string[]> {
  const found: string[] = [];
  for (const base of at.urls('operations'))
    await eventually(async () => (await fetch(`${base}/health/ready`)).ok, readyInTime()).catch(() =>
      found.push(`node ${base} is not ready`),
    );
  return found;
}

/** Each read model is updated by exactly one node. */
async function oneHolderPerLease(at: Installation): Promise<string[]> {
  let last: string[] = [];
  await eventually(async () => {
    const answers = await Promise.all(at.urls('operations').map((base) => ask(base, 'GET', '/projections')));
    const owners = new Map<string, number>();
    for (const { name, status } of answers.flatMap(({ body }) => body.projections))
      owners.set(name, (owners.get(name) ?? 0) + (status === 'standby' ? 0 : 1));
    last = [...owners].filter(([, count]) => count !== 1).map(([name, count]) => `${name} has ${count} owners`);
    return last.length === 0;
  }, readyInTime()).catch(() => {});
  return last;
}

async function readModelsEqualRebuilds(at: Installation): Promise<string[]> {
  const { code, stdout, stderr } = await run(['reindex', '--check', ...at.storeFlags]);
  return code === 0 ? [] : [`reindex --check ended with ${code}: ${stdout.slice(-500)}${stderr.slice(-500)}`];
}
