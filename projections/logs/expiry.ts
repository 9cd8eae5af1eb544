/** Takes out of a build of the record index what is no longer kept: by instant, and by receipt. */
import type { RecordedEvent } from '../../application/ports.js';
import { dayName } from '../../domain/logs/instant.js';
import type { RecordsExpired } from '../../domain/logs/retention.js';
import { type Build, longOf } from '../projection.js';
import { HOURS, KEEPINGS, readPart } from './parts.js';
import type { BlockRow, HourRow, KeepingRow } from './rows.js';

/** Days that are over go as whole collections; what a later day holds of a receipt that is over goes row by row. */
export async function expire(build: Build, event: RecordedEvent): Promise<void> {
  const expired = event.data as RecordsExpired['data'];
  const untouched = { _at: { $lt: longOf(event.position) } };
  for (const name of await build.parts()) {
    const part = readPart(name);
    if (!part) continue;
    const before = part.audit ? expired.auditBefore : expired.before;
    if (part.to < before) await build.drop(name);
    else {
      const blocks = build.collection<BlockRow>(name);
      await blocks.deleteMany({ received: { $lt: dayName(before) }, ...untouched });
      if (part.from < before) await blocks.deleteMany({ to: { $lt: before }, ...untouched });
    }
  }
  const hours = build.collection<HourRow>(HOURS);
  const keepings = build.collection<KeepingRow>(KEEPINGS);
  for (const audit of [false, true]) {
    const before = audit ? expired.auditBefore : expired.before;
    await hours.deleteMany({ audit, hour: { $lt: before }, ...untouched });
    await hours.deleteMany({ audit, received: { $lt: dayName(before) }, ...untouched });
    await keepings.deleteMany({ audit, received: { $lt: dayName(before) }, ...untouched });
  }
}
