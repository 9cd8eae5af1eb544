/** Runs the benchmarks beside the upper bounds of the same machine: `npm run bench -- --help`. */
import { Argument, Command, InvalidArgumentError } from 'commander';
import { bench as analytics } from './analytics.js';
import { bench as chat } from './chat.js';
import { bench as eventstore } from './eventstore.js';
import { bench as files } from './files.js';
import { bench as logs } from './logs.js';
import { bench as meeting } from './meeting.js';
import { bench as mongo } from './mongo.js';
import { bench as replay } from './replay.js';
import { bench as encrypted } from './rooms.js';
import { bench as streams } from './streams.js';

const benches = {
  analytics,
  eventstore,
  mongo,
  logs,
  rooms: encrypted,
  chat,
  meeting,
  files,
  streams,
  replay,
};

interface Options {
  readonly quick: boolean;
  readonly rooms?: number;
  readonly hits?: number;
  readonly stored?: number;
  readonly beside?: string;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('expected a whole number of at least 1');
  return Number(text);
}

await new Command('npm run bench --')
  .description('Runs benchmarks beside the upper bounds of the same machine.')
  .addArgument(new Argument('[benches...]', 'all of them by default').choices(Object.keys(benches)))
  .option('--quick', 'smaller and shorter runs', false)
  .option('--rooms <n>', 'meeting: number of rooms, eight participants in each', count)
  .option('--hits <n>', 'analytics: number of hits stored before reports are measured', count)
  .option('--stored <n>', 'chat: number of messages stored beforehand', count)
  .option('--beside <directory>', 'chat: another build, measured in alternation with this one')
  .action(async (chosen: readonly string[], options: Options) => {
    for (const [name, bench] of Object.entries(benches)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      console.log(`# ${name}`);
      await bench(console.log, options);
    }
  })
  .parseAsync();
