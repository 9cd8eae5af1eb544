/** Schemas of the answers of the console's routes. */
const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const time = { type: 'string', format: 'date-time' } as const;
const list = <Item>(items: Item) => ({ type: 'array', items }) as const;

const header = {
  position: { ...text, description: 'Position in the log' },
  stream: text,
  revision: { ...text, description: 'Number within the stream, from 0' },
  id: text,
  type: { ...text, description: 'Stored type, for example `chat.MessagePosted.v1`' },
  recordedAt: time,
} as const;
const required = ['position', 'stream', 'revision', 'id', 'type', 'recordedAt'];
const listed = { ...header, actor: text, correlationId: text } as const;

export const eventPage = {
  type: 'object',
  required: ['events', 'scanned'],
  properties: {
    events: list({ type: 'object', required, properties: listed }),
    scanned: { ...count, description: 'Number of events that were looked at' },
    next: { ...text, description: '`before` of the next page; absent on the last one' },
  },
} as const;

export const storedEvent = {
  type: 'object',
  required: [...required, 'data', 'metadata'],
  properties: { ...header, data: {}, metadata: {} },
} as const;

export const relatedEvents = {
  type: 'object',
  required: ['events', 'scanned', 'complete'],
  properties: {
    correlationId: text,
    events: list({ type: 'object', required: [...required, 'depth'], properties: { ...listed, depth: count } }),
    scanned: count,
    complete: { type: 'boolean', description: 'Whether the whole log was looked at' },
  },
} as const;

export const reindexRun = {
  type: 'object',
  required: ['projection', 'kind', 'state', 'startedAt', 'events'],
  properties: {
    projection: text,
    kind: { type: 'string', enum: ['rebuild', 'check'] },
    state: { type: 'string', enum: ['running', 'done', 'failed'] },
    startedAt: time,
    endedAt: time,
    events: { ...count, description: 'Number of events read so far' },
    position: { ...text, description: 'Position in the log that is reached' },
    until: { ...text, description: 'Position at which it ends' },
    differences: { ...count, description: 'Of a check: number of rows that differ from their rebuild' },
    error: text,
  },
} as const;

export const reindexRuns = {
  type: 'object',
  required: ['runs'],
  properties: { runs: list(reindexRun) },
} as const;

const bytes = { ...count, description: 'Bytes' } as const;

export const nodeDescription = {
  type: 'object',
  required: ['node', 'release', 'uptimeSec', 'services', 'nodes', 'stores', 'engines', 'eventTypes'],
  properties: {
    node: { ...text, description: 'Name of this node, as leases have it' },
    release: text,
    uptimeSec: count,
    services: list({ type: 'object', required: ['name', 'url'], properties: { name: text, url: text } }),
    nodes: { ...list(text), description: 'Names of this node and of those that it is connected to' },
    stores: { ...text, description: 'Which servers hold the data' },
    engines: list({ type: 'object', required: ['name'], properties: { name: text, memory: bytes, disk: bytes } }),
    disk: { type: 'object', required: ['free', 'size'], properties: { free: bytes, size: bytes } },
    eventTypes: { type: 'object', additionalProperties: list(text) },
  },
} as const;

export const leaseList = {
  type: 'object',
  required: ['leases'],
  properties: {
    leases: list({ type: 'object', required: ['name', 'owner'], properties: { name: text, owner: text } }),
  },
} as const;

const slice = {
  type: 'object',
  required: ['at', 'requests', 'failures', 'events'],
  properties: {
    at: time,
    requests: count,
    failures: count,
    events: count,
    p95: { type: 'number', description: 'Upper bound of the latency of 95 % of the requests, ms' },
  },
} as const;

export const activityHistory = {
  type: 'object',
  required: ['sliceMs', 'slices'],
  properties: { sliceMs: count, slices: list(slice) },
} as const;
