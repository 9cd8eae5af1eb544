/** Spec of a catalog: events of deciders match its schemas, and every version ever written can still be read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { Catalog, DomainEvent } from '../../domain/shared/decider.js';

const ajv = new Ajv2020({ strict: false });

const folderOf = (service: string) => join(process.cwd(), 'test/fixtures', service);

/** The data of an event as it was written, for example `golden('rooms', 'RoomBurned.v1')`. */
export const golden = (service: string, name: string) =>
  JSON.parse(readFileSync(join(folderOf(service), `${name}.json`), 'utf8'));

/** Returns whether data matches the schema of a version of an event. */
export const fitting =
  (events: Catalog['events']) =>
  (type: string, version: number, data: unknown): boolean =>
    ajv.validate(events[type]?.versions[version - 1]?.schema ?? false, data);

/** Expects a readable fixture for every version of every event. */
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

export interface Emitted {
  readonly catalog: Catalog;
  /** Each event of the catalog at least once, as deciders make it. */
  readonly emitted: readonly DomainEvent[];
  /** Subject of the key that seals the secret of an event. */
  readonly subjectOf: (data: DomainEvent['data']) => string;
  /** Types of events that destroy a key. */
  readonly ending: readonly string[];
  /** Members that events may lack, by type. */
  readonly optional?: { readonly [type: string]: readonly string[] };
}

/** Expects that events are refused without any of their members that is not optional. */
export function expectRequired(
  events: Catalog['events'],
  emitted: Emitted['emitted'],
  optional: Emitted['optional'] = {},
): void {
  const fits = fitting(events);
  for (const { type, data } of emitted) {
    for (const member of Object.keys(data).filter((each) => !optional[type]?.includes(each))) {
      const rest = Object.fromEntries(Object.entries(data).filter(([name]) => name !== member));
      expect(fits(type, 1, rest), `${type} without ${member}`).to.equal(false);
    }
  }
}

/** To be called within `describe`. */
export function specifyCatalog({ catalog, emitted, subjectOf, ending, optional = {} }: Emitted): void {
  const { events } = catalog;
  const fits = fitting(events);

  it('has every event that is ever emitted, and no other', () => {
    expect(Object.keys(events)).to.have.members([...new Set(emitted.map(({ type }) => type))]);
  });

  for (const { type, data } of emitted) {
    it(`fits ${type} as it is emitted`, () => {
      expect(fits(type, events[type]?.versions.length ?? 0, data)).to.equal(true);
    });
  }

  it('refuses an event that lacks something', () => expectRequired(events, emitted, optional));

  it('seals secrets only, under the key of their subject, with fallbacks that match the schema', () => {
    for (const { type, data } of emitted) {
      const sealing = events[type]?.sealed;
      expect(!!sealing, type).to.equal('secret' in data);
      if (!sealing) continue;
      expect(sealing.subject(data), type).to.equal(subjectOf(data));
      expect(fits(type, 1, { ...data, secret: sealing.erased }), type).to.equal(true);
    }
  });

  it('says which events end a key', () => {
    const erasing = Object.entries(events).filter(([, { erases }]) => erases);
    expect(erasing.map(([type]) => type)).to.have.members(ending);
  });

  it('has a fixture of every version ever written, which can still be read', () => expectGoldens(catalog));
}
