/** `npm run bench -- [eventstore] [mongo] [logs] [rooms] [chat] [files] [--quick]`: measures, beside ceilings of the same machine in the same run. */
import { bench as chat } from './chat.js';
import { bench as eventstore } from './eventstore.js';
import { bench as files } from './files.js';
import { bench as logs } from './logs.js';
import { bench as mongo } from './mongo.js';
import { bench as rooms } from './rooms.js';

const benches = { eventstore, mongo, logs, rooms, chat, files };

const given = process.argv.slice(2);
const quick = given.includes('--quick');
const chosen = Object.entries(benches).filter(
  ([name]) => !given.some((each) => each in benches) || given.includes(name),
);
for (const [name, bench] of chosen) {
  console.log(`# ${name}`);
  await bench(console.log, { quick });
}
