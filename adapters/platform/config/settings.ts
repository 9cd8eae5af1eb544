/** Settings that do not belong to a single service. */
import { integer, port, type Settings, strings, tokenOf } from '../../../application/config/setting.js';
import { SECRET_CHARACTERS } from '../../crypto/wrapping.js';

/** Syntax of a listening address. */
const listenAddress = {
  type: 'string',
  pattern: '^[A-Za-z\\d._:%-]+$',
  form: 'an address or a name of this machine, without a port or brackets',
} as const;

export const commonSettings = {
  dataDir: {
    type: 'string',
    minLength: 1,
    default: './data',
    description: 'Directory for the embedded engines and everything created at the first start',
  },
  secret: {
    type: 'string',
    minLength: SECRET_CHARACTERS,
    secret: true,
    description:
      'Secret that wraps all keys, the same on all nodes; if not set, one is generated and stored in the data directory',
  },
  host: {
    ...listenAddress,
    default: '127.0.0.1',
    description: 'Address all services listen on',
  },
  'eventStore.url': {
    type: 'string',
    pattern: '^esdb(\\+discover)?://',
    form: 'an address like esdb://host:2113 or esdb+discover://host:2113',
    description: 'EventStoreDB to use instead of the embedded engine, esdb://...',
  },
  'mongo.url': {
    type: 'string',
    pattern: '^mongodb(\\+srv)?://',
    form: 'an address like mongodb://host/ or mongodb+srv://host/',
    description: 'MongoDB to use instead of the embedded engine, mongodb://...',
  },
  'mongo.database': {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]{1,38}$',
    form: '1 to 38 letters, digits, - or _',
    default: 'annals',
    description: 'Database of the read models; beside it are one with the suffix _keys and one with _audit',
  },
  'mesh.host': {
    ...listenAddress,
    default: '127.0.0.1',
    description: 'Address on which a node accepts connections of other nodes, never of clients',
  },
  'mesh.port': port(0, 'Port on which a node accepts connections of other nodes; 0 picks a free one'),
  'mesh.address': {
    type: 'string',
    pattern: '^(?:[^\\s:/\\[\\]]+|\\[[0-9A-Fa-f:.]+\\])(?::\\d{1,5})?$',
    form: 'a host, or host:port; IPv6 in brackets',
    description: 'Address that other nodes connect to; default mesh.host and its port',
  },
  'operations.port': port(3009, 'Port for health, metrics and projections; 0 picks a free one'),
  'operations.token': {
    ...tokenOf(16),
    secret: true,
    description: 'Bearer token for the operations port; if not set, only this machine has access',
  },
  'log.level': {
    type: 'string',
    enum: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    description: 'Minimum level of log lines',
  },
  'log.format': {
    type: 'string',
    enum: ['auto', 'json', 'pretty'],
    default: 'auto',
    description: 'auto is pretty on a terminal and json elsewhere',
  },
  'telemetry.url': {
    type: 'string',
    pattern: '^https?://',
    form: 'an address like http://localhost:4318/v1/traces',
    description: 'Collector that OpenTelemetry traces are posted to (OTLP over HTTP); without it nothing is traced',
  },
  'telemetry.percent': {
    type: 'number',
    minimum: 0,
    maximum: 100,
    default: 100,
    description: 'Share of requests that are traced, of those without a traceparent that says so',
  },
  'audit.enabled': {
    type: 'boolean',
    default: true,
    description: 'Append every event to the transparency log, which proves that none was changed or removed',
  },
  'audit.name': {
    type: 'string',
    pattern: '^[^\\s+]{1,200}$',
    form: 'up to 200 characters without spaces and +',
    default: 'annals',
    description: 'Name of the transparency log in its checkpoints, for example example.com/annals',
  },
  'audit.witnesses': strings(
    [],
    'Witnesses that must cosign checkpoints, more than half of them: "https://w.example name+hash+key" each (C2SP tlog-witness)',
  ),
  'backup.directory': {
    type: 'string',
    minLength: 1,
    description: 'Directory for scheduled backups, outside of the data directory; without it none are made',
  },
  'backup.everyHours': integer(24, 'Hours between scheduled backups'),
  'backup.keep': integer(7, 'Scheduled backups to keep; the oldest are removed'),
  'server.connections': integer(
    10_000,
    'Maximum client connections to all services; fewer if the limit of open files is low',
  ),
  'server.trustedProxies': strings([], 'Addresses and CIDR blocks of proxies whose X-Forwarded-For is trusted'),
} as const satisfies Settings;
