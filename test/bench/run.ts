/** `npm run bench -- [analytics] [eventstore] [mongo] [logs] [rooms] [chat] [meeting] [files] [streams] [replay] [--quick] [--rooms=N] [--hits=N] [--stored=N]`: measures, beside ceilings of the same machine in the same run. */
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

const given = process.argv.slice(2);
const quick = given.includes('--quick');
const number = (flag: string) =>
  Number(given.find((each) => each.startsWith(`${flag}=`))?.slice(flag.length + 1)) || undefined;
/** Of meetings: eight people are in each. */
const rooms = number('--rooms');
/** Stored, before reports of analytics are asked for. */
const hits = number('--hits');
/** Messages that a chat holds already. */
const stored = number('--stored');
const chosen = Object.entries(benches).filter(
  ([name]) => !given.some((each) => each in benches) || given.includes(name),
);
for (const [name, bench] of chosen) {
  console.log(`# ${name}`);
  const amounts = { ...(rooms && { rooms }), ...(hits && { hits }), ...(stored && { stored }) };
  await bench(console.log, { quick, ...amounts });
}
