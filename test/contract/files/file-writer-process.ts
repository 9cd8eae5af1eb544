/** A process that writes files into a directory and is killed in the middle: `<directory>`. Tells what it has begun. */
import { createDirectoryStore } from '../../../adapters/filesystem/directory-store.js';

const store = createDirectoryStore(process.argv[2]!);
const half = await store.begin();
await half.write(Buffer.from('half of it'));
const whole = await store.begin();
await whole.write(Buffer.from('all of it'));
await whole.keep('somebody');
process.send?.({ half: half.stored, whole: whole.stored });
setInterval(() => {}, 1000);
