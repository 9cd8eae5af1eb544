/** Measures what Annals does, beside ceilings of the same machine in the same run: `npm run bench -- --help`. */
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
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 on.');
  return Number(text);
}

await new Command('npm run bench --')
  .description('Measures, beside ceilings of the same machine in the same run.')
  .addArgument(new Argument('[benches...]', 'all of them by default').choices(Object.keys(benches)))
  .option('--quick', 'less of everything', false)
  .option('--rooms <n>', 'meeting: so many rooms, eight people in each', count)
  .option('--hits <n>', 'analytics: so many are stored before reports are asked for', count)
  .option('--stored <n>', 'chat: so many messages are there already', count)
  .action(async (chosen: readonly string[], options: Options) => {
    for (const [name, bench] of Object.entries(benches)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      console.log(`# ${name}`);
      await bench(console.log, options);
    }
  })
  .parseAsync();
