/** Runs faults on three nodes under load and checks what must never happen: `npm run faults -- --help`. */
import { Command, InvalidArgumentError } from 'commander';
import { faults } from './rounds/faults.js';
import { startInstallation } from './rounds/installation.js';
import { runRound } from './rounds/rounds.js';

interface Options {
  readonly rounds: number;
  readonly nodes: number;
  readonly seconds: number;
  readonly seed: number;
  readonly fault?: string;
  readonly eventStoreUrl?: string;
  readonly mongoUrl?: string;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('expected a whole number of at least 1');
  return Number(text);
}

/** Returns whole numbers below `n`, the same ones for the same seed (mulberry32). */
function picker(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

await new Command('npm run faults --')
  .description(
    'Runs faults on nodes under load. After each, nothing acknowledged may be lost or stored twice, read models must\n' +
      'equal their rebuilds, event streams must have no gap, and each read model one owner. Ends with 1 otherwise.',
  )
  .option('--rounds <n>', 'number of faults', count, faults.length)
  .option('--nodes <n>', 'nodes of the installation', count, 3)
  .option('--seconds <n>', 'how long a fault lasts at most', count, 30)
  .option('--seed <n>', 'repeats the order and targets of another run', count, Date.now() % 1e9)
  .option('--fault <name>', `only this one: ${faults.map(({ name }) => name).join('; ')}`)
  .option('--event-store-url <url>', 'these servers instead of engines; only nodes fail then')
  .option('--mongo-url <url>', 'as above')
  .action(async ({ rounds, nodes, seconds, seed, fault, eventStoreUrl, mongoUrl }: Options) => {
    const given = eventStoreUrl && mongoUrl ? { eventStoreUrl, mongoUrl } : undefined;
    const possible = faults.filter((each) => (!given || !each.engines) && (!fault || each.name === fault));
    if (possible.length === 0) throw new InvalidArgumentError(`no fault named ${fault} is possible here`);
    const pick = picker(seed);
    console.log(`seed ${seed}, ${nodes} nodes on ${given ? 'given servers' : 'engines of their own'}`);
    const installation = await startInstallation(nodes, given);
    const offset = pick(possible.length);
    let [violations, acknowledged] = [0, 0];
    try {
      for (let round = 1; round <= rounds; round++) {
        // Each fault as often as the others.
        const chosen = possible[(offset + round) % possible.length]!;
        const result = await runRound(installation, chosen, { ms: seconds * 1000, pick });
        acknowledged += result.acknowledged;
        violations += result.violations.length;
        const summary = `${result.acknowledged} writes, ${result.seconds.toFixed(0)} s`;
        console.log(`${round}. ${chosen.name}: ${summary}, ${result.violations.length || 'no'} violations`);
        for (const each of result.violations) console.log(`   ${each}`);
      }
    } finally {
      await installation.stop();
    }
    console.log(`${rounds} rounds, ${acknowledged} acknowledged writes, ${violations} violations`);
    process.exitCode = violations === 0 ? 0 : 1;
  })
  .parseAsync();
