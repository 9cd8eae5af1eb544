/**
 * Converts between domain events and stored events: names, versions, schemas and encryption; and decodes them exactly as
 * stored, for the transparency log. Only this file knows versions.
 */
import type { JSONEventData, ResolvedEvent } from '@eventstore/db-client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { StoredEvent } from '../../application/audit/index.js';
import type { NewEvent, RecordedEvent, Vault } from '../../application/ports/index.js';
import {
  type Catalog,
  type DomainEvent,
  type EventData,
  type EventSpec,
  serviceOf,
} from '../../domain/shared/index.js';
import { jsonEvent } from './driver.js';
import { firstRecordOf } from './log-positions.js';

export interface Codec {
  /**
   * Returns the stored form of an event of the stream's service, validated and encrypted. Undefined if the
   * subject's key is destroyed. Throws if the event is not in the catalog.
   */
  encode(stream: string, event: NewEvent): Promise<JSONEventData | undefined>;
  /**
   * Returns the events of a stored one in their latest version: several if an upcaster splits it, none if its
   * type is unknown or belongs to another service than its stream. System events (`$streamDeleted`) keep their
   * type and have no data.
   */
  decode(resolved: ResolvedEvent): RecordedEvent[];
}

interface StoredType {
  readonly service: string;
  readonly type: string;
  readonly spec: EventSpec;
  readonly version: number;
}

/** Lists every type name under which events of a catalog were ever stored. */
const storedTypes = ({ service, events }: Catalog): (readonly [string, StoredType])[] =>
  Object.entries(events).flatMap(([type, spec]) =>
    spec.versions.map((_, index) => {
      const version = index + 1;
      return [`${service}.${type}.v${version}`, { service, type, spec, version }] as const;
    }),
  );

/** Compiles each schema once: it finds compiled ones by the schema object. */
const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });

export function createCodec(catalogs: readonly Catalog[], vault: Vault): Codec {
  const byService = new Map(catalogs.map((catalog) => [catalog.service, catalog]));
  const byStoredType = new Map(catalogs.flatMap(storedTypes));

  const check = (name: string, spec: EventSpec, data: object) => {
    const validate = ajv.compile(spec.versions.at(-1)!.schema);
    if (!validate(data)) throw new Error(`${name} does not fit its schema: ${ajv.errorsText(validate.errors)}`);
  };

  const encode: Codec['encode'] = async (stream, { id, event, metadata }) => {
    const service = serviceOf(stream);
    const spec = byService.get(service)?.events[event.type];
    if (!spec) throw new Error(`${event.type} is not in the catalog of ${service}`);
    const type = `${service}.${event.type}.v${spec.versions.length}`;
    check(type, spec, event.data);
    const data = spec.sealed ? await seal(vault, spec, event.data) : event.data;
    return data && jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } });
  };

  const decode: Codec['decode'] = ({ event: stored }) => {
    if (!stored?.position) return [];
    const first = firstRecordOf(stored);
    const common = {
      id: stored.id,
      stream: stored.streamId,
      revision: Number(stored.revision),
      position: first.position,
      recordedAt: first.recordedAt,
    };
    if (stored.type.startsWith('$')) return [{ ...common, type: stored.type, version: 0, data: {}, metadata: {} }];
    const known = byStoredType.get(stored.type);
    if (!known || !isRecord(stored.data)) return [];
    const { spec, version } = known;
    // A copy in another service's stream is not our event.
    if (known.service !== serviceOf(stored.streamId)) return [];
    const metadata = isRecord(first.metadata) ? first.metadata : {};
    const { id, stream, revision, position, recordedAt } = common;
    // Copied by name: a spread is slow, and this runs for every event read.
    return upcast(spec, version, { type: known.type, data: stored.data }).map(({ type, data }) => ({
      id,
      stream,
      revision,
      position,
      recordedAt,
      type,
      version,
      data,
      metadata,
    }));
  };

  return { encode, decode };
}

const isRecord = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

async function seal(vault: Vault, spec: EventSpec, data: EventData & { readonly secret?: object }) {
  const { subject, once } = spec.sealed!;
  const sealed = await vault.seal(subject(data), data.secret ?? {}, once);
  return sealed === undefined ? undefined : { ...data, secret: sealed };
}

function upcast(spec: EventSpec, version: number, stored: DomainEvent): readonly DomainEvent[] {
  let events: readonly DomainEvent[] = [stored];
  for (const { upcast: next } of spec.versions.slice(version - 1)) {
    if (next) events = events.flatMap((event) => next(event));
  }
  return events;
}

/**
 * Returns the event with its type and data unchanged, and with the position, time and metadata of its first record. The
 * client parses JSON; serialised again it is the bytes that this program has stored.
 */
export function decodeStoredEvent({ event }: ResolvedEvent): readonly StoredEvent[] {
  if (!event?.position) return [];
  const { id, streamId: stream, revision, type } = event;
  const { position, recordedAt, metadata } = firstRecordOf(event);
  return [
    {
      id,
      stream,
      revision,
      position,
      type,
      recordedAt,
      data: contentOf(event.data),
      metadata: contentOf(metadata),
    },
  ];
}

const contentOf = (content: unknown): string | Uint8Array =>
  content instanceof Uint8Array ? content : content === undefined ? '' : JSON.stringify(content);
