/** Golden fixtures: every version of every event that was ever written, as it stands in the log for ever. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { Catalog } from '../../domain/shared/decider.js';

const ajv = new Ajv2020({ strict: false });

const folderOf = (service: string) => join(process.cwd(), 'test/fixtures', service);

/** The data of an event as it was written, for example `golden('rooms', 'RoomBurned.v1')`. */
export const golden = (service: string, name: string) =>
  JSON.parse(readFileSync(join(folderOf(service), `${name}.json`), 'utf8'));

/** Tells whether data fits the schema of a version of an event. */
export const fitting =
  (events: Catalog['events']) =>
  (type: string, version: number, data: unknown): boolean =>
    ajv.validate(events[type]?.versions[version - 1]?.schema ?? false, data);

/** There is a fixture for every version of every event, and each of them can still be read. */
export function expectGoldens({ service, events }: Catalog): void {
  const fits = fitting(events);
  const names = readdirSync(folderOf(service)).flatMap((file) =>
    file.endsWith('.json') ? file.slice(0, -'.json'.length) : [],
  );
  const versions = Object.entries(events).flatMap(([type, { versions: each }]) =>
    each.map((_, index) => `${type}.v${index + 1}`),
  );
  expect(names).to.include.members(versions);
  for (const name of names) {
    const [type = '', version = ''] = name.split('.');
    expect(fits(type, Number(version.slice(1)), golden(service, name)), name).to.equal(true);
  }
}
